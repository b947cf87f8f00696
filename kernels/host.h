/*
 * host.h - what the backends in the host's memory (ref, cpu) have in common. For kernels/ only.
 */
#ifndef KERNELS_HOST_H
#define KERNELS_HOST_H

#include "kernels/dropout.h"
#include "kernels/kernels.h"

#ifdef __FAST_MATH__
#error "kernels/ relies on NaN, infinity and the order of sums: no -ffast-math"
#endif
#ifndef HAVE_DNNL
#define HAVE_DNNL 0		/* oneDNN: see cpu/gemm_dnnl.c */
#endif

/* Nothing that these backends do can fail once it is queued, so there is nothing to remember. */
struct queue {
	unsigned threads;
};

/* Fills in memory, queues and events. */
void host_fill(struct kernels *k, unsigned threads);

/* Fill in the ops; cpu_fill overrides what ref_fill put there. */
void ref_fill(struct kernels *k);
void cpu_fill(struct kernels *k);

/*
 * linear_fwd_shapes(args) and so on: assert that the arguments' shapes and dtypes belong together. linear_fwd_ref and
 * so on: the reference's ops, in F32 and F64.
 */
#define OP(name, by, f32, bf16, cuda, what) \
	void name##_shapes(const struct name *a); \
	void name##_ref(struct queue *q, const struct name *a);
#include "kernels/kernels.def"
#undef OP

/* Adds one loss, and a hit, to where they go. */
static inline void loss_add(const struct loss *l, double nll, bool hit)
{
	*l->sum += *l->factor * nll;
	if (l->hits)
		*l->hits += hit;
}

/* What a gradient of the loss itself is multiplied by. */
static inline double loss_gradient(const struct loss *l) { return *l->factor * (l->scale ? *l->scale : 1); }

/* The dropout of one row. */
struct row_drop {
	struct dropout_stream stream;
	uint32_t row;		/* within the stream */
	uint32_t threshold;	/* 0: everything is kept */
	double scale;
};

/* A row that drops nothing. */
static inline struct row_drop row_drop_none(void) { return (struct row_drop){ .scale = 1 }; }

/* Row I of sequence B. */
static inline struct row_drop row_drop_in(const struct dropout *drop, const struct packing *seqs, int b, uint32_t i)
{
	struct row_drop d = { .row = i, .threshold = dropout_threshold(drop->rate), .scale = dropout_scale(drop->rate) };

	dropout_open(&d.stream, drop->step->seed, drop->step->number, drop->site, seqs->sample[b]);
	return d;
}

/* The sequence that row R of the packed rows belongs to, -1 for none. */
static inline int packing_find(const struct packing *seqs, int64_t r)
{
	int low = 0, high = seqs->B;	/* starts[low] <= r < starts[high], but for what belongs to none */

	if (r >= seqs->starts[seqs->B])
		return -1;
	while (high - low > 1) {
		const int middle = low + (high - low) / 2;

		if (seqs->starts[middle] <= r)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Row R of the packed rows; nothing is dropped in rows of no sequence. Without starts row R is all of sequence R. */
static inline struct row_drop row_drop_at(const struct dropout *drop, const struct packing *seqs, int64_t r)
{
	int b;

	if (drop->rate == 0)
		return row_drop_none();
	if (!seqs->starts)
		return r < seqs->B ? row_drop_in(drop, seqs, (int)r, 0) : row_drop_none();
	b = packing_find(seqs, r);
	return b < 0 ? row_drop_none() : row_drop_in(drop, seqs, b, (uint32_t)(r - seqs->starts[b]));
}

/* What the element in COLUMN is multiplied by: 0 or d->scale. */
static inline double row_drop_factor(const struct row_drop *d, int64_t column)
{
	if (!d->threshold)
		return 1;
	return dropout_draw_at(&d->stream, d->row, (uint32_t)column) < d->threshold ? 0 : d->scale;
}

#endif
