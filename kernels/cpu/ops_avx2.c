/* ops_avx2.c - every op again, for processors with avx2. A new file is added to this list, or the linker misses it. */
#define CPU(name) name##_avx2
#define VL 8
#include "kernels/cpu/vec.h"

#include "kernels/cpu/panels.c"
#include "kernels/cpu/gemm.c"
#include "kernels/cpu/embed.c"
#include "kernels/cpu/linear.c"
#include "kernels/cpu/attention.c"
#include "kernels/cpu/residual_norm.c"
#include "kernels/cpu/dropout_rows.c"
#include "kernels/cpu/rows.c"
#include "kernels/cpu/mlm_loss.c"
#include "kernels/cpu/sumsq_finite.c"
#include "kernels/cpu/adamw.c"
#include "kernels/cpu/lamb.c"
#include "kernels/cpu/elementwise.c"
