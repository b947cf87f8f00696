/* padded_run.c - packs padded sequences, runs them some at a time, and puts rows back where they belong. */
#include "model/padded.h"

#include "base/buf.h"
#include "base/err.h"

#include <assert.h>
#include <inttypes.h>

#define TOKENS 4096				/* of a batch, but for one sequence that is longer */
#define PROBS_BYTES ((size_t)256 << 20)		/* of a batch's attention, but for that of one sequence */

/* A run in progress. */
struct run {
	const struct model *m;
	const struct padded_input *in;
	const struct padded_wanted *wanted;
	struct padded_outputs *out;
	struct batch batch;
	struct acts acts;
	struct tensor *probs;		/* [L] in the backend's memory, or NULL */
	int *places;			/* [T] where each packed row belongs: b S + column */
	int first;			/* the batch's first sequence */
	struct tensor tile;		/* [MODEL_MLM_TILE, V] in the backend's memory */
	float *host;			/* what was downloaded last */
	size_t host_bytes, tile_bytes;
};

/* --- what is put out ---------------------------------------------------------------- */

/* A zero tensor of the given name and shape; 0 ends it. */
static int add_output(struct padded_outputs *out, const char *name, const int64_t shape[4])
{
	struct padded_output *o;
	size_t n = 1;

	if (array_grow(&out->items, &out->cap, out->count + 1, sizeof(*out->items)))
		return -1;
	o = &out->items[out->count];
	*o = (struct padded_output){ .entry.dtype = ST_F32 };
	snprintf(o->name, sizeof(o->name), "%s", name);
	for (int i = 0; i < 4 && shape[i]; i++) {
		o->entry.shape[o->entry.n_dims++] = shape[i];
		if (__builtin_mul_overflow(n, (size_t)shape[i], &n) || n > SIZE_MAX / 2 / sizeof(float))
			return err_memory();
	}
	o->entry.count = (int64_t)n;
	o->data = calloc(n, sizeof(float));
	if (!o->data)
		return err_fail("out of memory: '%s' has %zu numbers", name, n);
	out->count++;
	return 0;
}

static struct padded_output *output(const struct run *r, const char *name)
{
	for (size_t i = 0; i < r->out->count; i++)
		if (!strcmp(r->out->items[i].name, name))
			return &r->out->items[i];
	return NULL;
}

/* Names of the MLM part's and the last layer's outputs, as transformers' classes have them; a span's are two. */
static const char *mlm_name(enum head h) { return h == HEAD_PRETRAINING ? "prediction_logits" : "logits"; }
static const char *scores_name(enum head h) { return h == HEAD_PRETRAINING ? "seq_relationship_logits" : "logits"; }

static int add_head_outputs(const struct run *r)
{
	const struct config *c = &r->m->config;
	const int64_t B = r->in->B, S = r->in->S, H = c->hidden_size, C = config_scores(c);

	if (c->head == HEAD_NONE)
		return add_output(r->out, "last_hidden_state", (const int64_t[4]){ B, S, H }) ||
		       (c->pooler && add_output(r->out, "pooler_output", (const int64_t[4]){ B, H })) ? -1 : 0;
	if (c->head == HEAD_SPAN)
		return add_output(r->out, "start_logits", (const int64_t[4]){ B, S }) ||
		       add_output(r->out, "end_logits", (const int64_t[4]){ B, S }) ? -1 : 0;
	if (head_infos[c->head].mlm && add_output(r->out, mlm_name(c->head), (const int64_t[4]){ B, S, c->vocab_size }))
		return -1;
	if (head_infos[c->head].per_token)
		return add_output(r->out, scores_name(c->head), (const int64_t[4]){ B, S, C });
	return C ? add_output(r->out, scores_name(c->head), (const int64_t[4]){ B, C }) : 0;
}

static int add_outputs(const struct run *r)
{
	const struct config *c = &r->m->config;
	const int64_t B = r->in->B, S = r->in->S;
	char name[32];

	if (add_head_outputs(r))
		return -1;
	for (int l = 0; r->wanted->hidden && l <= c->num_hidden_layers; l++) {
		snprintf(name, sizeof(name), "hidden_states.%d", l);
		if (add_output(r->out, name, (const int64_t[4]){ B, S, c->hidden_size }))
			return -1;
	}
	for (int l = 0; r->wanted->attention && l < c->num_hidden_layers; l++) {
		snprintf(name, sizeof(name), "attentions.%d", l);
		if (add_output(r->out, name, (const int64_t[4]){ B, c->layers[l].heads, S, S }))
			return -1;
	}
	return 0;
}

/* --- bringing back ------------------------------------------------------------------ */

/* The first ROWS rows of T into r->host. */
static int fetch(struct run *r, struct tensor t, int64_t rows)
{
	const size_t bytes = tensor_bytes(tensor_rows(t, 0, rows));

	assert(bytes <= r->host_bytes);
	r->m->k->download(r->m->q, r->host, t.data, bytes);
	return r->m->k->sync(r->m->q);
}

/* Column C of COLS of packed rows FIRST .. FIRST+ROWS-1, which lie in r->host, WIDTH of them, into O. */
static void put_rows(const struct run *r, struct padded_output *o, int first, int rows, int cols, int c, int width)
{
	for (int t = 0; t < rows; t++)
		memcpy(o->data + (size_t)r->places[first + t] * (size_t)width, r->host + (size_t)t * (size_t)cols + c,
		       (size_t)width * sizeof(float));
}

static int bring_rows(struct run *r, const char *name, struct tensor t)
{
	if (fetch(r, t, r->batch.T))
		return -1;
	put_rows(r, output(r, name), 0, r->batch.T, (int)t.cols, 0, (int)t.cols);
	return 0;
}

/* One row a sequence; those without a first token stay zero. */
static int bring_pooled(struct run *r, const char *name, struct tensor t)
{
	const size_t width = (size_t)t.cols;
	struct padded_output *o = output(r, name);

	if (fetch(r, t, r->batch.B))
		return -1;
	for (int b = 0; b < r->batch.B; b++)
		if (r->batch.host.pooled_rows[b] >= 0)
			memcpy(o->data + (size_t)(r->first + b) * width, r->host + (size_t)b * width, width * sizeof(float));
	return 0;
}

static int bring_span(struct run *r)
{
	if (fetch(r, r->acts.scores, r->batch.T))
		return -1;
	put_rows(r, output(r, "start_logits"), 0, r->batch.T, 2, 0, 1);
	put_rows(r, output(r, "end_logits"), 0, r->batch.T, 2, 1, 1);
	return 0;
}

static int bring_mlm(struct run *r)
{
	struct padded_output *o = output(r, mlm_name(r->m->config.head));

	for (int first = 0; first < r->batch.T; first += MODEL_MLM_TILE) {
		const int n = r->batch.T - first < MODEL_MLM_TILE ? r->batch.T - first : MODEL_MLM_TILE;
		const struct tensor scores = tensor_rows(r->tile, 0, n);

		model_mlm_scores(r->m, &r->acts, first, n, scores);
		if (fetch(r, scores, n))
			return -1;
		put_rows(r, o, first, n, (int)scores.cols, 0, (int)scores.cols);
	}
	return 0;
}

/* Probabilities of sequence B's head A, [S', S'] of packed tokens, to the columns where these belong. */
static void put_probs(const struct run *r, struct padded_output *o, int b, int head, int heads)
{
	const size_t S = (size_t)r->in->S;
	const int start = r->batch.host.starts[b], n = r->batch.host.starts[b + 1] - start;
	const int *columns = r->places + start, origin = (r->first + b) * r->in->S;
	const float *from = r->host + ((size_t)b * (size_t)heads + (size_t)head) * S * S;
	float *to = o->data + ((size_t)(r->first + b) * (size_t)heads + (size_t)head) * S * S;

	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			to[(size_t)(columns[i] - origin) * S + (size_t)(columns[j] - origin)] =
				from[(size_t)i * S + (size_t)j];
}

static int bring_attention(struct run *r, int l)
{
	const int heads = r->m->config.layers[l].heads;
	char name[32];

	snprintf(name, sizeof(name), "attentions.%d", l);
	if (fetch(r, r->probs[l], r->probs[l].rows))
		return -1;
	for (int b = 0; b < r->batch.B; b++)
		for (int h = 0; h < heads; h++)
			put_probs(r, output(r, name), b, h, heads);
	return 0;
}

static int bring_all(struct run *r)
{
	const struct config *c = &r->m->config;
	const int L = c->num_hidden_layers;
	char name[32];
	int rc = 0;

	if (c->head == HEAD_NONE)
		rc = bring_rows(r, "last_hidden_state", r->acts.hidden[L]) ||
		     (c->pooler && bring_pooled(r, "pooler_output", r->acts.pooled));
	else if (c->head == HEAD_SPAN)
		rc = bring_span(r);
	else if (head_infos[c->head].per_token)
		rc = bring_rows(r, scores_name(c->head), r->acts.scores);
	else if (head_infos[c->head].scores)
		rc = bring_pooled(r, scores_name(c->head), r->acts.scores);
	if (!rc && head_infos[c->head].mlm)
		rc = bring_mlm(r);
	for (int l = 0; r->wanted->hidden && l <= L && !rc; l++) {
		snprintf(name, sizeof(name), "hidden_states.%d", l);
		rc = bring_rows(r, name, r->acts.hidden[l]);
	}
	for (int l = 0; r->wanted->attention && l < L && !rc; l++)
		rc = bring_attention(r, l);
	return rc ? -1 : 0;
}

/* --- packing ------------------------------------------------------------------------- */

static int tokens_of(const struct padded_input *in, int b)
{
	int n = 0;

	for (int s = 0; s < in->S; s++)
		n += in->mask[(size_t)b * (size_t)in->S + (size_t)s];
	return n;
}

/* Every token's id, type and column must be ones that the model has. */
static int check_input(const struct padded_input *in, const struct config *c)
{
	for (size_t i = 0; i < (size_t)in->B * (size_t)in->S; i++) {
		const int b = (int)(i / (size_t)in->S), s = (int)(i % (size_t)in->S);

		if (!in->mask[i])
			continue;
		if (in->ids[i] < 0 || in->ids[i] >= c->vocab_size)
			return err_fail("'input_ids' [%d, %d] is %d, and this model's ids are 0 to %d", b, s, in->ids[i],
					c->vocab_size - 1);
		if (in->types[i] < 0 || in->types[i] >= c->type_vocab_size)
			return err_fail("'token_type_ids' [%d, %d] is %d, and this model's types are 0 to %d", b, s,
					in->types[i], c->type_vocab_size - 1);
		if (s >= c->max_position_embeddings)
			return err_fail("sequence %d has a token in column %d, and this model's positions are 0 to %d", b, s,
					c->max_position_embeddings - 1);
	}
	return 0;
}

static void pack(struct run *r, int b, int n)
{
	const size_t S = (size_t)r->in->S;
	const struct batch_arrays *h = &r->batch.host;
	const int i = batch_add(&r->batch, n, 0), row = h->starts[i];
	int t = 0;

	for (size_t s = 0; s < S; s++) {
		const size_t at = (size_t)b * S + s;

		if (!r->in->mask[at])
			continue;
		h->ids[row + t] = r->in->ids[at];
		h->types[row + t] = r->in->types[at];
		h->positions[row + t] = (int32_t)s;
		r->places[row + t] = (int)at;
		if (r->batch.max.P)
			batch_add_prediction(&r->batch, i, t, -1);
		t++;
	}
	if (!r->in->mask[(size_t)b * S])
		h->pooled_rows[i] = -1;
}

/* Sequences from r->first on, as many as fit, through the model. */
static int run_batch(struct run *r)
{
	const struct pass pass = { .probs = r->probs };

	batch_clear(&r->batch);
	for (int b = r->first; b < r->in->B; b++) {
		const int n = tokens_of(r->in, b);

		if (!batch_has_room(&r->batch, n, 0))
			break;
		pack(r, b, n);
	}
	if (!r->batch.T)
		return 0;	/* nothing but padding */
	if (batch_finish(&r->batch, &r->m->config))
		return -1;
	batch_upload(&r->batch, r->m->q);
	model_forward(r->m, &r->batch, &pass, &r->acts);
	return bring_all(r);
}

/* --- memory -------------------------------------------------------------------------- */

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

static struct batch_limits limits_of(const struct run *r)
{
	const struct config *c = &r->m->config;
	const int64_t all = (int64_t)r->in->B * r->in->S, most = r->in->S > TOKENS ? r->in->S : TOKENS;
	const int T = (int)(all < most ? all : most);
	const size_t maps = (size_t)c->num_attention_heads * (size_t)c->num_hidden_layers;
	const size_t probs = maps * (size_t)r->in->S * (size_t)r->in->S * sizeof(float);
	size_t B = (size_t)r->in->B;

	if (B > TOKENS)
		B = TOKENS;
	if (r->wanted->attention && B > PROBS_BYTES / probs)
		B = PROBS_BYTES / probs ? PROBS_BYTES / probs : 1;
	return (struct batch_limits){ .B = (int)B, .T = T, .P = head_infos[c->head].mlm ? T : 0 };
}

static int open_probs(struct run *r)
{
	const struct config *c = &r->m->config;

	r->probs = calloc((size_t)c->num_hidden_layers, sizeof(*r->probs));
	if (!r->probs)
		return err_memory();
	for (int l = 0; l < c->num_hidden_layers; l++) {
		const int64_t maps = (int64_t)r->batch.max.B * c->layers[l].heads;
		struct tensor t = tensor_of(NULL, DTYPE_F32, maps * r->in->S, r->in->S);

		if (r->m->k->alloc(&t.data, tensor_bytes(t)))
			return -1;
		r->probs[l] = t;
		r->host_bytes = larger(r->host_bytes, tensor_bytes(t));
	}
	return 0;
}

static int open_run(struct run *r)
{
	const struct config *c = &r->m->config;
	const struct batch_limits max = limits_of(r);
	const size_t width = larger((size_t)c->hidden_size, (size_t)config_scores(c));

	if (batch_open(&r->batch, r->m->k, &max, DTYPE_F32) ||
	    acts_open(&r->acts, r->m, &max, r->wanted->hidden ? ACTS_HIDDEN : ACTS_FORWARD))
		return -1;
	r->host_bytes = width * larger((size_t)r->batch.max.T, (size_t)max.B) * sizeof(float);
	if (r->wanted->attention && open_probs(r))
		return -1;
	if (max.P) {
		r->tile = tensor_of(NULL, DTYPE_F32, MODEL_MLM_TILE, c->vocab_size);
		r->tile_bytes = tensor_bytes(r->tile);
		if (r->m->k->alloc(&r->tile.data, r->tile_bytes))
			return -1;
		r->host_bytes = larger(r->host_bytes, r->tile_bytes);
	}
	r->places = calloc((size_t)r->batch.max.T, sizeof(*r->places));
	return !r->places ? err_memory() : r->m->k->host_alloc((void **)&r->host, r->host_bytes);
}

static void close_run(struct run *r)
{
	const struct kernels *k = r->m->k;

	k->host_free(r->host, r->host_bytes);
	free(r->places);
	k->free(r->tile.data, r->tile_bytes);
	for (int l = 0; r->probs && l < r->m->config.num_hidden_layers; l++)
		k->free(r->probs[l].data, tensor_bytes(r->probs[l]));
	free(r->probs);
	acts_close(&r->acts);
	batch_close(&r->batch);
}

int padded_run(const struct model *m, const struct padded_input *in, const struct padded_wanted *wanted,
	       struct padded_outputs *out)
{
	struct run r = { .m = m, .in = in, .wanted = wanted, .out = out };
	int rc;

	assert(m->dtype == DTYPE_F32);
	*out = (struct padded_outputs){ 0 };
	if (check_input(in, &m->config))
		return -1;
	rc = add_outputs(&r) || open_run(&r) ? -1 : 0;
	while (!rc && r.first < in->B) {
		rc = run_batch(&r);
		r.first += r.batch.B;
	}
	close_run(&r);
	if (rc)
		padded_outputs_release(out);
	return rc;
}
