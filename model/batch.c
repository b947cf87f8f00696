/* batch.c - packed sequences. */
#include "model/batch.h"

#include "base/err.h"

#include <assert.h>
#include <math.h>

#define ALIGN 64

/* N items of SIZE bytes at *OFFSET of BLOCK, which may be NULL; *OFFSET goes past them. */
static void *carve(char *block, size_t *offset, size_t n, size_t size)
{
	void *p = block ? block + *offset : NULL;

	*offset += (n * size + ALIGN - 1) / ALIGN * ALIGN;
	return p;
}

static size_t lay_out(struct batch_arrays *a, const struct batch_limits *max, enum dtype dtype, void *block)
{
	const size_t B = (size_t)max->B, T = (size_t)batch_round(max->T), P = (size_t)batch_round(max->P);
	size_t at = 0;

	a->sample = carve(block, &at, B, sizeof(*a->sample));
	a->ids = carve(block, &at, T, sizeof(*a->ids));
	a->types = carve(block, &at, T, sizeof(*a->types));
	a->positions = carve(block, &at, T, sizeof(*a->positions));
	a->starts = carve(block, &at, B + 1, sizeof(*a->starts));
	a->pooled_rows = carve(block, &at, B, sizeof(*a->pooled_rows));
	a->pred_rows = carve(block, &at, P, sizeof(*a->pred_rows));
	a->pred_labels = carve(block, &at, P, sizeof(*a->pred_labels));
	a->class_labels = carve(block, &at, B, sizeof(*a->class_labels));
	a->token_labels = carve(block, &at, T, sizeof(*a->token_labels));
	a->first = carve(block, &at, B, sizeof(*a->first));
	a->last = carve(block, &at, B, sizeof(*a->last));
	a->targets = carve(block, &at, B * (size_t)max->C, dtype_size(dtype));
	return at;
}

size_t batch_bytes(const struct batch_limits *max, enum dtype dtype)
{
	struct batch_arrays a;

	return lay_out(&a, max, dtype, NULL);
}

int batch_open(struct batch *b, const struct kernels *k, const struct batch_limits *max, enum dtype dtype)
{
	assert(max->B > 0 && max->T > 0 && max->T <= INT32_MAX - BATCH_ROUND && max->P >= 0 && max->C >= 0);
	assert(dtype == DTYPE_F32 || dtype == DTYPE_F64);
	*b = (struct batch){ .max = *max, .k = k, .dtype = dtype, .bytes = batch_bytes(max, dtype) };
	b->max.T = batch_round(max->T);
	b->max.P = batch_round(max->P);
	if (k->host_alloc(&b->host_block, b->bytes) || k->alloc(&b->block, b->bytes)) {
		batch_close(b);
		return -1;
	}
	lay_out(&b->host, max, dtype, b->host_block);
	lay_out(&b->on, max, dtype, b->block);
	batch_clear(b);
	return 0;
}

void batch_close(struct batch *b)
{
	if (!b->k)
		return;
	b->k->free(b->block, b->bytes);
	b->k->host_free(b->host_block, b->bytes);
	*b = (struct batch){ 0 };
}

void batch_clear(struct batch *b)
{
	b->B = b->T = b->P = b->S = b->rows = b->preds = 0;
	b->host.starts[0] = 0;
}

bool batch_has_room(const struct batch *b, int n, int p)
{
	return b->B < b->max.B && n <= b->max.T - b->T && p <= b->max.P - b->P;
}

int batch_add(struct batch *b, int n, uint64_t sample)
{
	const struct batch_arrays *h = &b->host;
	const int i = b->B;

	assert(n >= 0 && batch_has_room(b, n, 0));
	h->sample[i] = sample;
	h->pooled_rows[i] = n ? b->T : -1;
	h->class_labels[i] = h->first[i] = h->last[i] = -1;
	for (int c = 0; c < b->max.C; c++)
		batch_set_target(b, i, c, NAN);
	for (int t = 0; t < n; t++) {
		h->ids[b->T + t] = h->token_labels[b->T + t] = -1;
		h->types[b->T + t] = 0;
		h->positions[b->T + t] = t;
	}
	b->T += n;
	b->S = n > b->S ? n : b->S;
	h->starts[++b->B] = b->T;
	return i;
}

void batch_add_prediction(struct batch *b, int i, int place, int32_t label)
{
	assert(i < b->B && place >= 0 && place < b->host.starts[i + 1] - b->host.starts[i] && b->P < b->max.P);
	b->host.pred_rows[b->P] = b->host.starts[i] + place;
	b->host.pred_labels[b->P++] = label;
}

void batch_set_target(struct batch *b, int i, int c, double value)
{
	const size_t at = (size_t)i * (size_t)b->max.C + (size_t)c;

	assert(i < b->max.B && c < b->max.C);
	if (b->dtype == DTYPE_F64)
		((double *)b->host.targets)[at] = value;
	else
		((float *)b->host.targets)[at] = (float)value;
}

/* Each of N values is LOW .. HIGH - 1. */
static int check(const int32_t *values, int n, int low, int high, const char *what)
{
	for (int i = 0; i < n; i++)
		if (values[i] < low || values[i] >= high)
			return err_fail("%s is %d, and this model knows 0 to %d", what, values[i], high - 1);
	return 0;
}

/* Answers lie in their sequences. */
static int check_answers(const struct batch *b)
{
	const struct batch_arrays *h = &b->host;

	for (int i = 0; i < b->B; i++) {
		const int n = h->starts[i + 1] - h->starts[i];

		if (check(&h->first[i], 1, -1, n, "an answer's first token") ||
		    check(&h->last[i], 1, -1, n, "an answer's last token"))
			return -1;
	}
	return 0;
}

static int check_all(const struct batch *b, const struct config *c)
{
	const struct batch_arrays *h = &b->host;
	const int scores = config_scores(c) ? config_scores(c) : 1;

	if (check(h->ids, b->T, 0, c->vocab_size, "a token's id") ||
	    check(h->types, b->T, 0, c->type_vocab_size, "a token's type") ||
	    check(h->positions, b->T, 0, c->max_position_embeddings, "a token's position") ||
	    check(h->pred_labels, b->P, -1, c->vocab_size, "a masked token's id") ||
	    check(h->class_labels, b->B, -1, scores, "a label") ||
	    check(h->token_labels, b->T, -1, scores, "a token's label"))
		return -1;
	return check_answers(b);
}

int batch_finish(struct batch *b, const struct config *c)
{
	const struct batch_arrays *h = &b->host;

	if (b->T == 0)
		return err_fail("a batch without tokens");
	if (check_all(b, c))
		return -1;
	b->rows = batch_round(b->T);
	b->preds = batch_round(b->P);
	for (int t = b->T; t < b->rows; t++) {
		h->ids[t] = h->token_labels[t] = -1;
		h->types[t] = h->positions[t] = 0;
	}
	for (int p = b->P; p < b->preds; p++)
		h->pred_rows[p] = h->pred_labels[p] = -1;
	for (int i = b->B; i < b->max.B; i++) {
		h->sample[i] = 0;
		h->starts[i + 1] = b->T;
		h->pooled_rows[i] = h->class_labels[i] = h->first[i] = h->last[i] = -1;
		for (int j = 0; j < b->max.C; j++)
			batch_set_target(b, i, j, NAN);
	}
	return 0;
}

void batch_upload(struct batch *b, struct queue *q) { b->k->upload(q, b->block, b->host_block, b->bytes); }

struct packing batch_packing(const struct batch *b)
{
	return (struct packing){ .B = b->max.B, .S = b->S, .starts = b->on.starts, .sample = b->on.sample };
}
