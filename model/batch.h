/*
 * batch.h - sequences packed one after the other, as every pass over a model takes them.
 *
 *	struct batch b;
 *	const struct batch_limits limits = { .B = 32, .T = 4096, .P = 640, .C = 1 };
 *	if (batch_open(&b, &k, &limits, DTYPE_F32))
 *		return -1;
 *	batch_clear(&b);
 *	while (batch_has_room(&b, n, p)) {
 *		const int i = batch_add(&b, n, key), row = b.host.starts[i];
 *		... b.host.ids[row + j], b.host.types[row + j]
 *		batch_add_prediction(&b, i, place, label); ...
 *		b.host.class_labels[i] = ...
 *	}
 *	if (batch_finish(&b, &config))		(checks, and marks what is not in use)
 *		return -1;
 *	batch_upload(&b, q);
 *	... model_forward(&m, &b, ...)
 *	batch_close(&b);
 *
 * After the embedding everything has T rows; nothing has B x S rows anywhere. The
 * arrays lie on the host; batch_upload copies them to where ops read them (b.on). They
 * may be filled again when what was queued behind the upload is done.
 *
 * Ops are called with T and P rounded up to BATCH_ROUND, so that backends meet
 * few sizes: rows beyond the last sequence have id -1, predictions beyond the
 * last row -1. B is always the capacity: sequences beyond the last are empty.
 */
#ifndef MODEL_BATCH_H
#define MODEL_BATCH_H

#include "kernels/kernels.h"
#include "model/config.h"

#define BATCH_ROUND 16
static inline int batch_round(int n) { return (n + BATCH_ROUND - 1) / BATCH_ROUND * BATCH_ROUND; }

/* What fits. T and P are rounded up. */
struct batch_limits {
	int B, T, P;
	int C;				/* numbers a sequence has as targets */
};

/* The arrays of a batch, on the host or where ops read them. */
struct batch_arrays {
	uint64_t *sample;		/* [B] names a sequence to the dropout, whatever batch it is in */
	int32_t *ids, *types, *positions;	/* [T] */
	int32_t *starts;		/* [B+1] */
	int32_t *pooled_rows;		/* [B] rows that the pooler takes: first tokens, or -1 */
	int32_t *pred_rows, *pred_labels;	/* [P] */
	int32_t *class_labels;		/* [B] or -1; is_next's labels too: 0 it is */
	int32_t *token_labels;		/* [T] or -1 */
	int32_t *first, *last;		/* [B] an answer's first and last token, counted within its sequence, or -1 */
	void *targets;			/* [B, C] of the batch's dtype; NaN: none */
};

struct batch {
	struct batch_limits max;
	int B, T, P;			/* in use */
	int S;				/* the longest sequence */
	int rows, preds;		/* T and P rounded up, once finished */
	struct batch_arrays host;	/* to be filled */
	struct batch_arrays on;		/* for ops */
	/* private */
	const struct kernels *k;
	enum dtype dtype;
	size_t bytes;			/* of each block */
	void *host_block, *block;
};

/* DTYPE: that of the model, which targets have. */
int batch_open(struct batch *b, const struct kernels *k, const struct batch_limits *max, enum dtype dtype);
void batch_close(struct batch *b);
size_t batch_bytes(const struct batch_limits *max, enum dtype dtype);	/* on the backend's side, and as many on the host's */

void batch_clear(struct batch *b);

/* Whether a sequence of N tokens with P predictions fits too. */
bool batch_has_room(const struct batch *b, int n, int p);

/*
 * Makes room for a sequence of N tokens, which must fit: positions 0 .. n-1, types 0,
 * no labels; ids are the caller's to fill. Returns the sequence's number.
 */
int batch_add(struct batch *b, int n, uint64_t sample);

/* Asks for LABEL (or -1: asks, but no loss) at token PLACE of sequence I. */
void batch_add_prediction(struct batch *b, int i, int place, int32_t label);

void batch_set_target(struct batch *b, int i, int c, double value);

/* -1 with the reason set (EXIT_FAILED) where an id, type, position, row or label is not one that C's model has. */
int batch_finish(struct batch *b, const struct config *c);

void batch_upload(struct batch *b, struct queue *q);

/* For ops: which rows are which sequence. */
struct packing batch_packing(const struct batch *b);

#endif
