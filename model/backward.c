/* backward.c - gradients of all parameters: the blocks of forward.c, last first. */
#include "model/pass_impl.h"

#include <assert.h>

/* One linear layer's views, forward and backward. */
struct linear_grads {
	struct tensor w, dw, db;
};

/* Of y = x W^T + b: dx = dy W, dW += dy^T x, db += the sum of dy */
static void linear(const struct model *m, const struct acts *a, struct tensor dy, struct tensor x, struct linear_grads p,
		   struct tensor dx)
{
	m->k->linear_bwd(m->q, &(struct linear_bwd){
		.dy = dy, .x = x, .w = p.w, .dx = dx, .dw = p.dw, .db = p.db, .space = a->space });
}

/* Where the gradient of hidden[l] goes; none where all that it comes from is frozen. */
static struct tensor hidden_grad(const struct batch *b, const struct pass *pass, const struct acts *a, int l)
{
	return layer_is_frozen(l - 1, pass->frozen) ? (struct tensor){ 0 } : top(a->dhidden, b->rows);
}

/* Gradients of the last layer: into DHIDDEN where it scores tokens, else into dpooled. */
static void scores_backward(const struct model *m, const struct batch *b, const struct pass *pass, struct acts *a, struct tensor dhidden)
{
	const struct dropout drop = drop_of(pass, config_scores_dropout(&m->config), SITE_SCORES);
	const struct tensor x = scores_input(scores_source(m, b, a), &drop, a);
	const struct tensor dx = top(scores_tokens(m) ? dhidden : a->dpooled, x.rows);

	linear(m, a, top(a->dscores, x.rows), x, (struct linear_grads){ m->w.scores, m->g.scores, m->g.scores_bias }, dx);
	if (drop.rate > 0 && tensor_given(dx))
		m->k->dropout_rows(m->q, &(struct dropout_rows){
			.x = dx, .y = dx, .drop = drop, .seqs = scores_packing(m, b) });
}

/* T where DHIDDEN is given: what leads to that. */
static struct tensor on_the_way(struct tensor t, struct tensor dhidden) { return tensor_given(dhidden) ? t : dhidden; }

/* Y's rows are added to DHIDDEN's, where that is given. */
static void scatter(const struct model *m, struct tensor y, const int32_t *rows, struct tensor dhidden)
{
	if (tensor_given(dhidden))
		m->k->rows_scatter_add(m->q, &(struct rows_scatter_add){ .y = y, .rows = rows, .x = dhidden });
}

/* From dpooled, added to DHIDDEN's rows of first tokens. */
static void pooler_backward(const struct model *m, const struct batch *b, struct acts *a, struct tensor dhidden)
{
	m->k->linear_bwd(m->q, &(struct linear_bwd){
		.dy = a->dpooled, .x = a->first, .w = m->w.pooler, .pre = a->pooler_pre, .act = ACT_TANH,
		.dx = on_the_way(a->dfirst, dhidden), .dw = m->g.pooler, .db = m->g.pooler_bias, .space = a->space });
	scatter(m, a->dfirst, b->on.pooled_rows, dhidden);
}

/* From dmlm_h, added to DHIDDEN's rows of masked places. */
static void mlm_backward(const struct model *m, const struct batch *b, struct acts *a, struct tensor dhidden)
{
	const int P = b->preds;
	const struct tensor dh = top(a->dmlm_h, P), drows = top(a->dmlm_rows, P);

	m->k->residual_norm_bwd(m->q, &(struct residual_norm_bwd){
		.dy = dh, .sum = top(a->mlm_act, P), .gamma = m->w.mlm_norm, .mean = top(a->mlm_mean, P),
		.rstd = top(a->mlm_rstd, P), .dx = dh, .dgamma = m->g.mlm_norm, .dbeta = m->g.mlm_norm_bias,
		.space = a->space });
	m->k->linear_bwd(m->q, &(struct linear_bwd){
		.dy = dh, .x = top(a->mlm_rows, P), .w = m->w.mlm, .pre = top(a->mlm_pre, P), .act = m->config.hidden_act,
		.dx = on_the_way(drows, dhidden), .dw = m->g.mlm, .db = m->g.mlm_bias, .space = a->space });
	scatter(m, drows, b->on.pred_rows, dhidden);
}

/* dhidden = the gradient of the last hidden states */
static void heads_backward(const struct model *m, const struct batch *b, const struct pass *pass, struct acts *a)
{
	const bool scores = config_scores(&m->config) > 0;
	const struct tensor dhidden = hidden_grad(b, pass, a, m->config.num_hidden_layers);

	if (!scores_tokens(m) && tensor_given(dhidden))
		m->k->fill(m->q, &(struct fill){ .y = dhidden });
	if (scores)
		scores_backward(m, b, pass, a, dhidden);
	if (scores && config_has_pooler(&m->config))
		pooler_backward(m, b, a, dhidden);
	if (has_mlm(m, b))
		mlm_backward(m, b, a, dhidden);
}

/* dhidden: of hidden[l+1], then of y1 */
static void ffn_backward(const struct model *m, const struct batch *b, const struct pass *pass, struct acts *a, int l)
{
	const struct layer_weights *w = &m->w.layers[l], *g = &m->g.layers[l];
	const struct layer_acts *x = &a->layers[l];
	const int T = b->rows;
	const struct tensor d = top(a->dhidden, T), dsum = top(a->dsum, T),
			    dact = tensor_of(a->wide.data, m->dtype, T, w->up.rows);

	m->k->residual_norm_bwd(m->q, &(struct residual_norm_bwd){
		.dy = d, .sum = top(x->sum2, T), .gamma = w->norm2, .mean = top(x->mean2, T), .rstd = top(x->rstd2, T),
		.dx = d, .dh = dsum, .dgamma = g->norm2, .dbeta = g->norm2_bias, .seqs = batch_packing(b), .space = a->space,
		.drop = drop_of(pass, m->config.hidden_dropout_prob, site_after_ffn(l)) });
	linear(m, a, dsum, top(x->act, T), (struct linear_grads){ w->down, g->down, g->down_bias }, dact);
	m->k->linear_bwd(m->q, &(struct linear_bwd){
		.dy = dact, .x = top(x->y1, T), .w = w->up, .pre = top(x->pre, T), .act = m->config.hidden_act,
		.dx = d, .add_dx = true, .dw = g->up, .db = g->up_bias, .space = a->space });
}

/* dhidden: of y1, then of hidden[l] */
static void attention_backward(const struct model *m, const struct batch *b, const struct pass *pass, struct acts *a, int l)
{
	const struct config *c = &m->config;
	const struct layer_weights *w = &m->w.layers[l], *g = &m->g.layers[l];
	const struct layer_acts *x = &a->layers[l];
	const int T = b->rows;
	const struct packing seqs = batch_packing(b);
	const struct tensor d = top(a->dhidden, T), dsum = top(a->dsum, T), context = top(x->context, T),
			    wide = tensor_of(a->wide.data, m->dtype, 4 * (int64_t)T, context.cols), dcontext = top(wide, T),
			    dqkv = tensor_shaped(tensor_rows(wide, T, 3 * (int64_t)T), T, 3 * context.cols);

	m->k->residual_norm_bwd(m->q, &(struct residual_norm_bwd){
		.dy = d, .sum = top(x->sum1, T), .gamma = w->norm1, .mean = top(x->mean1, T), .rstd = top(x->rstd1, T),
		.dx = d, .dh = dsum, .dgamma = g->norm1, .dbeta = g->norm1_bias, .seqs = seqs, .space = a->space,
		.drop = drop_of(pass, c->hidden_dropout_prob, site_after_attention(l)) });
	linear(m, a, dsum, context, (struct linear_grads){ w->out, g->out, g->out_bias }, dcontext);
	m->k->attention_bwd(m->q, &(struct attention_bwd){
		.dcontext = dcontext, .qkv = top(x->qkv, T), .context = context, .lse = top(x->lse, T), .dqkv = dqkv,
		.A = c->layers[l].heads, .scale = attention_scale(c), .seqs = seqs, .space = a->space,
		.drop = drop_of(pass, c->attention_probs_dropout_prob, site_attention(l)) });
	m->k->linear_bwd(m->q, &(struct linear_bwd){
		.dy = dqkv, .x = top(a->hidden[l], T), .w = w->qkv, .dx = hidden_grad(b, pass, a, l), .add_dx = true,
		.dw = g->qkv, .db = g->qkv_bias, .space = a->space });
}

static void embedding_backward(const struct model *m, const struct batch *b, const struct pass *pass, struct acts *a)
{
	const struct weights *w = &m->w, *g = &m->g;
	const int T = b->rows;

	m->k->embed_bwd(m->q, &(struct embed_bwd){
		.dy = top(a->dhidden, T), .ids = b->on.ids, .positions = b->on.positions, .types = b->on.types,
		.word = w->word, .position = w->position, .type = w->type, .gamma = w->norm,
		.mean = top(a->embed_mean, T), .rstd = top(a->embed_rstd, T),
		.dword = g->word, .dposition = g->position, .dtype = g->type, .dgamma = g->norm, .dbeta = g->norm_bias,
		.drop = drop_of(pass, m->config.hidden_dropout_prob, SITE_EMBEDDING), .seqs = batch_packing(b),
		.space = a->space });
}

/* The gradients of LAYER are queued. The word embeddings are the MLM part's table too, so theirs come last. */
static void ready(const struct model *m, const struct pass *pass, int layer)
{
	int64_t first, count;

	if (!pass->grads_ready)
		return;
	params_range(&m->params, layer, &first, &count);
	if (count)
		pass->grads_ready(pass->ctx, first, count);
}

void model_backward(const struct model *m, const struct batch *b, const struct pass *pass, struct acts *a)
{
	const int L = m->config.num_hidden_layers;

	assert(a->mode >= ACTS_RECOMPUTE && m->gradients);
	assert(pass->frozen >= 0 && pass->frozen <= L + 1);
	heads_backward(m, b, pass, a);
	ready(m, pass, L);
	for (int l = L - 1; l >= 0 && !layer_is_frozen(l, pass->frozen); l--) {
		if (a->mode == ACTS_RECOMPUTE)
			layer_forward(m, b, pass, a, l);
		ffn_backward(m, b, pass, a, l);
		attention_backward(m, b, pass, a, l);
		ready(m, pass, l);
	}
	if (layer_is_frozen(LAYER_EMBEDDINGS, pass->frozen))
		return;
	embedding_backward(m, b, pass, a);
	ready(m, pass, LAYER_EMBEDDINGS);
}
