/*
 * f64.c - every op again, in double: compiled by themselves the files are the ops in float. A new op is
 * added to this list, or the linker misses it.
 */
#define REAL double
#define REF(name) name##_ref_f64
#include "kernels/ref/ref.h"

#include "kernels/ref/embed.c"
#include "kernels/ref/linear.c"
#include "kernels/ref/attention.c"
#include "kernels/ref/residual_norm.c"
#include "kernels/ref/dropout_rows.c"
#include "kernels/ref/rows.c"
#include "kernels/ref/mlm_loss.c"
#include "kernels/ref/xent.c"
#include "kernels/ref/mse.c"
#include "kernels/ref/span_xent.c"
#include "kernels/ref/sumsq_finite.c"
#include "kernels/ref/grad_scale.c"
#include "kernels/ref/adamw.c"
#include "kernels/ref/lamb.c"
#include "kernels/ref/elementwise.c"
