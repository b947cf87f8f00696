/*
 * ref.h - the reference backend: every op in plain C, one loop after the other, as the
 * formula has it. A file by itself compiles as the op in float; ref/f64.c includes all
 * of them again, for double. Sums are double in both.
 */
#ifndef KERNELS_REF_REF_H
#define KERNELS_REF_REF_H

#include "kernels/convert.h"
#include "kernels/host.h"

#include <math.h>

enum { REF_COLUMNS = 64 };	/* columns whose sums are made together, where a sum goes over rows */

#ifndef REAL
#define REAL float
#define REF(name) name##_ref_f32
#endif

#define OP(name, by, f32, bf16, cuda, what) \
	void name##_ref_f32(struct queue *q, const struct name *a); \
	void name##_ref_f64(struct queue *q, const struct name *a);
#include "kernels/kernels.def"
#undef OP

#endif
