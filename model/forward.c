/* forward.c - from packed ids to hidden states and scores, block by block. */
#include "model/pass_impl.h"

#include <assert.h>

/* y = act(x W^T + b); PRE is kept where it is given */
static void linear(const struct model *m, const struct acts *a, struct tensor x, struct tensor w, struct tensor b,
		   enum act act, struct tensor pre, struct tensor y)
{
	m->k->linear_fwd(m->q, &(struct linear_fwd){
		.x = x, .w = w, .b = b, .y = y, .pre = pre, .act = act, .space = a->space });
}

static const struct tensor none = { 0 };

/* hidden[0] = dropout(LayerNorm(word + position + type)) */
static void embedding_forward(const struct model *m, const struct batch *b, const struct pass *pass, struct acts *a)
{
	const struct weights *w = &m->w;
	const int T = b->rows;

	m->k->embed_fwd(m->q, &(struct embed_fwd){
		.ids = b->on.ids, .positions = b->on.positions, .types = b->on.types,
		.word = w->word, .position = w->position, .type = w->type, .gamma = w->norm, .beta = w->norm_bias,
		.y = top(a->hidden[0], T), .mean = top(a->embed_mean, T), .rstd = top(a->embed_rstd, T),
		.eps = m->config.layer_norm_eps, .seqs = batch_packing(b),
		.drop = drop_of(pass, m->config.hidden_dropout_prob, SITE_EMBEDDING) });
}

/* y1 = LayerNorm(x + dropout(W attention(x))) */
static void attention_forward(const struct model *m, const struct batch *b, const struct pass *pass, struct acts *a, int l)
{
	const struct config *c = &m->config;
	const struct layer_weights *w = &m->w.layers[l];
	const struct layer_acts *x = &a->layers[l];
	const int T = b->rows;
	const struct tensor in = top(a->hidden[l], T), qkv = top(x->qkv, T), lse = top(x->lse, T),
			    context = top(x->context, T), sum = top(x->sum1, T);
	const struct packing seqs = batch_packing(b);

	linear(m, a, in, w->qkv, w->qkv_bias, ACT_NONE, none, qkv);
	m->k->attention_fwd(m->q, &(struct attention_fwd){
		.qkv = qkv, .context = context, .lse = lse, .A = c->layers[l].heads, .scale = attention_scale(c), .seqs = seqs,
		.drop = drop_of(pass, c->attention_probs_dropout_prob, site_attention(l)), .space = a->space });
	if (pass->probs)
		m->k->attention_probs(m->q, &(struct attention_probs){
			.qkv = qkv, .lse = lse, .probs = pass->probs[l], .A = c->layers[l].heads, .scale = attention_scale(c),
			.seqs = seqs });
	linear(m, a, context, w->out, w->out_bias, ACT_NONE, none, sum);
	m->k->residual_norm_fwd(m->q, &(struct residual_norm_fwd){
		.x = in, .h = sum, .sum = sum, .gamma = w->norm1, .beta = w->norm1_bias, .y = top(x->y1, T),
		.mean = top(x->mean1, T), .rstd = top(x->rstd1, T), .eps = c->layer_norm_eps, .seqs = seqs,
		.drop = drop_of(pass, c->hidden_dropout_prob, site_after_attention(l)) });
}

/* hidden[l+1] = LayerNorm(y1 + dropout(W act(W y1))) */
static void ffn_forward(const struct model *m, const struct batch *b, const struct pass *pass, struct acts *a, int l)
{
	const struct config *c = &m->config;
	const struct layer_weights *w = &m->w.layers[l];
	const struct layer_acts *x = &a->layers[l];
	const int T = b->rows;
	const struct tensor in = top(x->y1, T), act = top(x->act, T), sum = top(x->sum2, T);

	linear(m, a, in, w->up, w->up_bias, c->hidden_act, top(x->pre, T), act);
	linear(m, a, act, w->down, w->down_bias, ACT_NONE, none, sum);
	m->k->residual_norm_fwd(m->q, &(struct residual_norm_fwd){
		.x = in, .h = sum, .sum = sum, .gamma = w->norm2, .beta = w->norm2_bias, .y = top(a->hidden[l + 1], T),
		.mean = top(x->mean2, T), .rstd = top(x->rstd2, T), .eps = c->layer_norm_eps, .seqs = batch_packing(b),
		.drop = drop_of(pass, c->hidden_dropout_prob, site_after_ffn(l)) });
}

void layer_forward(const struct model *m, const struct batch *b, const struct pass *pass, struct acts *a, int l)
{
	attention_forward(m, b, pass, a, l);
	ffn_forward(m, b, pass, a, l);
}

/* pooled = tanh(W hidden[first tokens]) */
static void pooler_forward(const struct model *m, const struct batch *b, struct acts *a)
{
	m->k->rows_gather(m->q, &(struct rows_gather){
		.x = last_hidden(m, b, a), .rows = b->on.pooled_rows, .y = a->first });
	linear(m, a, a->first, m->w.pooler, m->w.pooler_bias, ACT_TANH, a->pooler_pre, a->pooled);
}

/* scores = W dropout(pooled or last hidden) */
static void scores_forward(const struct model *m, const struct batch *b, const struct pass *pass, struct acts *a)
{
	const struct dropout drop = drop_of(pass, config_scores_dropout(&m->config), SITE_SCORES);
	const struct tensor source = scores_source(m, b, a), x = scores_input(source, &drop, a);

	if (drop.rate > 0)
		m->k->dropout_rows(m->q, &(struct dropout_rows){
			.x = source, .y = x, .drop = drop, .seqs = scores_packing(m, b) });
	linear(m, a, x, m->w.scores, m->w.scores_bias, ACT_NONE, none, top(a->scores, x.rows));
}

/* mlm_h = LayerNorm(act(W hidden[masked places])) */
static void mlm_forward(const struct model *m, const struct batch *b, struct acts *a)
{
	const struct weights *w = &m->w;
	const int P = b->preds;
	const struct tensor rows = top(a->mlm_rows, P), act = top(a->mlm_act, P);

	m->k->rows_gather(m->q, &(struct rows_gather){ .x = last_hidden(m, b, a), .rows = b->on.pred_rows, .y = rows });
	linear(m, a, rows, w->mlm, w->mlm_bias, m->config.hidden_act, top(a->mlm_pre, P), act);
	m->k->residual_norm_fwd(m->q, &(struct residual_norm_fwd){
		.x = act, .gamma = w->mlm_norm, .beta = w->mlm_norm_bias, .y = top(a->mlm_h, P),
		.mean = top(a->mlm_mean, P), .rstd = top(a->mlm_rstd, P), .eps = m->config.layer_norm_eps });
}

void model_forward(const struct model *m, const struct batch *b, const struct pass *pass, struct acts *a)
{
	assert(b->rows > 0 && b->rows <= a->max.T && b->preds <= a->max.P && b->max.B == a->max.B);
	embedding_forward(m, b, pass, a);
	for (int l = 0; l < m->config.num_hidden_layers; l++)
		layer_forward(m, b, pass, a, l);
	if (config_has_pooler(&m->config))
		pooler_forward(m, b, a);
	if (config_scores(&m->config))
		scores_forward(m, b, pass, a);
	if (has_mlm(m, b))
		mlm_forward(m, b, a);
}

void model_mlm_scores(const struct model *m, const struct acts *a, int first, int count, struct tensor scores)
{
	assert(count <= MODEL_MLM_TILE);
	linear(m, a, tensor_rows(a->mlm_h, first, count), m->w.table, m->w.table_bias, ACT_NONE, none, scores);
}
