/* shapes.c - what the arguments of each op must be, as assertions: wrong ones are our own bugs. */
#include "kernels/host.h"

/* T is given, is [rows, cols], and is of dtype D. */
static bool is(struct tensor t, enum dtype d, int64_t rows, int64_t cols)
{
	return tensor_given(t) && t.dtype == d && t.rows == rows && t.cols == cols;
}

/* T is a vector of N (however folded) of dtype D. */
static bool vec(struct tensor t, enum dtype d, int64_t n)
{
	return tensor_given(t) && t.dtype == d && tensor_count(t) == n;
}

static bool none(struct tensor t) { return !tensor_given(t); }

/* The dtype of statistics beside tensors of D. */
static enum dtype stat(enum dtype d) { return d == DTYPE_F64 ? DTYPE_F64 : DTYPE_F32; }

static bool drops(const struct dropout *drop, const struct packing *seqs)
{
	return drop->rate == 0 || (drop->rate > 0 && dropout_threshold(drop->rate) < 65536 && drop->step && seqs->sample);
}

static bool packs(const struct packing *seqs, int64_t T)
{
	return seqs->B >= 0 && seqs->starts && seqs->S >= 0 && seqs->S < 65536 && seqs->starts[seqs->B] <= T;
}

void embed_fwd_shapes(const struct embed_fwd *a)
{
	const enum dtype d = a->y.dtype;
	const int64_t T = a->y.rows, E = a->y.cols;

	assert(a->ids && a->positions && (none(a->type) || a->types));
	assert(is(a->word, d, a->word.rows, E) && is(a->position, d, a->position.rows, E));
	assert(none(a->type) || is(a->type, d, a->type.rows, E));
	assert(vec(a->gamma, d, E) && vec(a->beta, d, E) && vec(a->mean, stat(d), T) && vec(a->rstd, stat(d), T));
	assert(drops(&a->drop, &a->seqs) && (a->drop.rate == 0 || packs(&a->seqs, T)));
}

void embed_bwd_shapes(const struct embed_bwd *a)
{
	const enum dtype d = a->dy.dtype;
	const int64_t T = a->dy.rows, E = a->dy.cols;

	assert(a->ids && a->positions && (none(a->type) || a->types));
	assert(is(a->word, d, a->word.rows, E) && is(a->position, d, a->position.rows, E));
	assert(vec(a->gamma, d, E) && vec(a->mean, stat(d), T) && vec(a->rstd, stat(d), T));
	assert(vec(a->dword, d, tensor_count(a->word)) && vec(a->dposition, d, tensor_count(a->position)));
	assert(none(a->type) || (is(a->type, d, a->type.rows, E) && vec(a->dtype, d, tensor_count(a->type))));
	assert(vec(a->dgamma, d, E) && vec(a->dbeta, d, E));
	assert(drops(&a->drop, &a->seqs) && (a->drop.rate == 0 || packs(&a->seqs, T)));
}

void linear_fwd_shapes(const struct linear_fwd *a)
{
	const enum dtype d = a->x.dtype;
	const int64_t N = a->x.rows, k = a->x.cols, n = a->w.rows;

	assert(is(a->w, d, n, k) && is(a->y, d, N, n));
	assert(none(a->b) || vec(a->b, d, n));
	assert(none(a->pre) || is(a->pre, d, N, n));
}

void linear_bwd_shapes(const struct linear_bwd *a)
{
	const enum dtype d = a->dy.dtype;
	const int64_t N = a->dy.rows, n = a->dy.cols, k = a->x.cols;

	assert(is(a->x, d, N, k) && is(a->w, d, n, k) && (a->act == ACT_NONE || is(a->pre, d, N, n)));
	assert(none(a->dx) || is(a->dx, d, N, k));
	assert(none(a->dw) || is(a->dw, d, n, k));
	assert(none(a->db) || vec(a->db, d, n));
}

void attention_fwd_shapes(const struct attention_fwd *a)
{
	const enum dtype d = a->qkv.dtype;
	const int64_t T = a->qkv.rows;

	assert(a->A > 0 && a->qkv.cols % (3 * a->A) == 0 && packs(&a->seqs, T));
	assert(is(a->context, d, T, a->qkv.cols / 3) && is(a->lse, stat(d), T, a->A) && drops(&a->drop, &a->seqs));
}

void attention_bwd_shapes(const struct attention_bwd *a)
{
	const enum dtype d = a->qkv.dtype;
	const int64_t T = a->qkv.rows, AD = a->qkv.cols / 3;

	assert(a->A > 0 && a->qkv.cols % (3 * a->A) == 0 && packs(&a->seqs, T));
	assert(is(a->context, d, T, AD) && is(a->lse, stat(d), T, a->A) && drops(&a->drop, &a->seqs));
	assert(is(a->dcontext, d, T, AD) && is(a->dqkv, d, T, 3 * AD));
}

void attention_probs_shapes(const struct attention_probs *a)
{
	const enum dtype d = a->qkv.dtype;
	const int64_t T = a->qkv.rows, S = a->probs.cols;

	assert(a->A > 0 && a->qkv.cols % (3 * a->A) == 0 && packs(&a->seqs, T) && a->seqs.S <= S);
	assert(is(a->lse, stat(d), T, a->A) && is(a->probs, d, a->seqs.B * a->A * S, S));
}

void residual_norm_fwd_shapes(const struct residual_norm_fwd *a)
{
	const enum dtype d = a->x.dtype;
	const int64_t N = a->x.rows, H = a->x.cols;

	assert(is(a->y, d, N, H) && vec(a->gamma, d, H) && vec(a->beta, d, H));
	assert(none(a->h) || (is(a->h, d, N, H) && is(a->sum, d, N, H)));
	assert(vec(a->mean, stat(d), N) && vec(a->rstd, stat(d), N));
	assert(none(a->h) || (drops(&a->drop, &a->seqs) && (a->drop.rate == 0 || packs(&a->seqs, N))));
}

void residual_norm_bwd_shapes(const struct residual_norm_bwd *a)
{
	const enum dtype d = a->dy.dtype;
	const int64_t N = a->dy.rows, H = a->dy.cols;

	assert(is(a->sum, d, N, H) && vec(a->gamma, d, H) && vec(a->mean, stat(d), N) && vec(a->rstd, stat(d), N));
	assert((none(a->dsum) || is(a->dsum, d, N, H)) && is(a->dx, d, N, H) && (none(a->dh) || is(a->dh, d, N, H)));
	assert(vec(a->dgamma, d, H) && vec(a->dbeta, d, H));
	assert(none(a->dh) || (drops(&a->drop, &a->seqs) && (a->drop.rate == 0 || packs(&a->seqs, N))));
}

void dropout_rows_shapes(const struct dropout_rows *a)
{
	assert(is(a->y, a->x.dtype, a->x.rows, a->x.cols) && drops(&a->drop, &a->seqs));
	assert(a->drop.rate == 0 || !a->seqs.starts || packs(&a->seqs, a->x.rows));
}

void rows_gather_shapes(const struct rows_gather *a)
{
	assert(a->rows && is(a->y, a->x.dtype, a->y.rows, a->x.cols));
}

void rows_scatter_add_shapes(const struct rows_scatter_add *a)
{
	assert(a->rows && is(a->y, a->x.dtype, a->y.rows, a->x.cols));
}

static bool goes(const struct loss *l) { return l->sum && l->factor; }

void mlm_loss_shapes(const struct mlm_loss *a)
{
	const enum dtype d = a->h.dtype;
	const int64_t P = a->h.rows, E = a->h.cols, V = a->table.rows;

	assert(a->labels && is(a->table, d, V, E) && V > 0 && (none(a->bias) || vec(a->bias, d, V)));
	assert((none(a->nll) || vec(a->nll, stat(d), P)) && goes(&a->loss));
	assert(none(a->dh) ? none(a->dtable) && none(a->dbias) : is(a->dh, d, P, E) && is(a->dtable, d, V, E));
	assert(none(a->dh) || none(a->bias) == none(a->dbias));
	assert(none(a->dbias) || vec(a->dbias, d, V));
}

void xent_shapes(const struct xent *a)
{
	const enum dtype d = a->logits.dtype;

	assert(a->labels && a->logits.cols > 0 && goes(&a->loss));
	assert(none(a->nll) || vec(a->nll, stat(d), a->logits.rows));
	assert(none(a->dlogits) || is(a->dlogits, d, a->logits.rows, a->logits.cols));
}

void mse_shapes(const struct mse *a)
{
	assert(is(a->target, a->y.dtype, a->y.rows, a->y.cols) && goes(&a->loss));
	assert(none(a->dy) || is(a->dy, a->y.dtype, a->y.rows, a->y.cols));
}

void span_xent_shapes(const struct span_xent *a)
{
	const enum dtype d = a->logits.dtype;

	assert(a->first && a->last && a->logits.cols == 2 && packs(&a->seqs, a->logits.rows) && goes(&a->loss));
	assert(none(a->nll) || vec(a->nll, stat(d), a->seqs.B));
	assert(none(a->dlogits) || is(a->dlogits, d, a->logits.rows, 2));
}

static bool segmented(const struct segment *segments, int n_segments, int64_t n)
{
	return n_segments == 0 || (segments && segments[n_segments - 1].first + segments[n_segments - 1].count <= n);
}

void sumsq_finite_shapes(const struct sumsq_finite *a)
{
	assert(segmented(a->segments, a->n_segments, tensor_count(a->x)) && vec(a->sums, DTYPE_F64, a->n_segments) && a->bad);
}

void grad_scale_shapes(const struct grad_scale *a)
{
	assert(a->sums.dtype == DTYPE_F64 && a->bad && a->step && a->max_norm >= 0);
}

void adamw_shapes(const struct adamw *a)
{
	const int64_t n = tensor_count(a->w);

	assert(vec(a->m, a->w.dtype, n) && vec(a->v, a->w.dtype, n) && tensor_count(a->g) == n && a->step);
	assert((none(a->low) || tensor_count(a->low) == n) && segmented(a->segments, a->n_segments, n));
}

void lamb_direction_shapes(const struct lamb_direction *a)
{
	const int64_t n = tensor_count(a->w);

	assert(vec(a->m, a->w.dtype, n) && vec(a->v, a->w.dtype, n) && vec(a->g, a->w.dtype, n) && vec(a->u, a->w.dtype, n));
	assert(segmented(a->segments, a->n_segments, n) && a->step);
	assert(vec(a->w_sums, DTYPE_F64, a->n_segments) && vec(a->u_sums, DTYPE_F64, a->n_segments));
}

void lamb_apply_shapes(const struct lamb_apply *a)
{
	const int64_t n = tensor_count(a->w);

	assert(vec(a->u, a->w.dtype, n) && (none(a->low) || tensor_count(a->low) == n) && a->step);
	assert(segmented(a->segments, a->n_segments, n));
	assert(vec(a->w_sums, DTYPE_F64, a->n_segments) && vec(a->u_sums, DTYPE_F64, a->n_segments));
}

void cast_shapes(const struct cast *a) { assert(tensor_count(a->x) == tensor_count(a->y)); }
void copy_shapes(const struct copy *a) { assert(vec(a->y, a->x.dtype, tensor_count(a->x))); }
void fill_shapes(const struct fill *a) { assert(tensor_given(a->y) || tensor_count(a->y) == 0); }
void scale_shapes(const struct scale *a) { assert(vec(a->y, a->x.dtype, tensor_count(a->x)) && a->factor); }

void add_shapes(const struct add *a)
{
	assert(vec(a->a, a->y.dtype, tensor_count(a->y)) && vec(a->b, a->y.dtype, tensor_count(a->y)));
}
