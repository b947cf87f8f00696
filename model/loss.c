/* loss.c - what the heads' outputs lose against the labels, and the gradients of that. */
#include "model/pass_impl.h"

/* T where gradients are wanted, else none. */
static struct tensor when(bool gradients, struct tensor t) { return gradients ? t : (struct tensor){ 0 }; }

static void mlm_loss(const struct model *m, const struct batch *b, const struct loss *loss, bool gradients, struct acts *a)
{
	m->k->mlm_loss(m->q, &(struct mlm_loss){
		.h = top(a->mlm_h, b->preds), .table = m->w.table, .bias = m->w.table_bias, .labels = b->on.pred_labels,
		.dh = when(gradients, top(a->dmlm_h, b->preds)), .dtable = when(gradients, m->g.table),
		.dbias = when(gradients, m->g.table_bias), .loss = *loss, .space = a->space });
}

static void scores_loss(const struct model *m, const struct batch *b, const struct loss *loss, bool gradients, struct acts *a)
{
	const struct head_info *head = &head_infos[m->config.head];
	const int n = scores_rows(m, b);
	const struct tensor scores = top(a->scores, n), dscores = when(gradients, top(a->dscores, n));

	if (config_is_regression(&m->config))
		m->k->mse(m->q, &(struct mse){ .y = scores, .dy = dscores, .loss = *loss,
			.target = tensor_of(b->on.targets, m->dtype, n, scores.cols) });
	else if (m->config.head == HEAD_SPAN)
		m->k->span_xent(m->q, &(struct span_xent){ .logits = scores, .dlogits = dscores, .first = b->on.first,
			.last = b->on.last, .loss = *loss, .seqs = batch_packing(b) });
	else
		m->k->xent(m->q, &(struct xent){ .logits = scores, .dlogits = dscores, .loss = *loss,
			.labels = head->per_token ? b->on.token_labels : b->on.class_labels });
}

/* Outputs that no loss is asked of have no gradient. */
static void clear(const struct model *m, struct tensor t) { m->k->fill(m->q, &(struct fill){ .y = t }); }

void model_loss(const struct model *m, const struct batch *b, const struct losses *losses, bool gradients, struct acts *a)
{
	if (has_mlm(m, b) && losses->mlm.sum)
		mlm_loss(m, b, &losses->mlm, gradients, a);
	else if (has_mlm(m, b) && gradients)
		clear(m, top(a->dmlm_h, b->preds));
	if (config_scores(&m->config) && losses->scores.sum)
		scores_loss(m, b, &losses->scores, gradients, a);
	else if (config_scores(&m->config) && gradients)
		clear(m, top(a->dscores, scores_rows(m, b)));
}
