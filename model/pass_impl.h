/* pass_impl.h - under model.h: what forward.c, loss.c and backward.c share. */
#ifndef MODEL_PASS_IMPL_H
#define MODEL_PASS_IMPL_H

#include "model/model.h"

#include <math.h>

/* The first N rows, which are those in use. */
static inline struct tensor top(struct tensor t, int64_t n) { return tensor_given(t) ? tensor_rows(t, 0, n) : t; }

static inline struct dropout drop_of(const struct pass *pass, double rate, uint32_t site)
{
	return (struct dropout){ .rate = pass->step ? rate : 0, .site = site, .step = pass->step };
}

/* The dropouts of layer L. */
static inline uint32_t site_attention(int l) { return SITE_LAYERS + SITE_LAYER_STRIDE * (uint32_t)l; }
static inline uint32_t site_after_attention(int l) { return site_attention(l) + 1; }
static inline uint32_t site_after_ffn(int l) { return site_attention(l) + 2; }

static inline double attention_scale(const struct config *c) { return 1 / sqrt(config_head_size(c)); }

static inline struct tensor last_hidden(const struct model *m, const struct batch *b, const struct acts *a)
{
	return top(a->hidden[m->config.num_hidden_layers], b->rows);
}

/* Whether masked places are computed. */
static inline bool has_mlm(const struct model *m, const struct batch *b)
{
	return head_infos[m->config.head].mlm && b->preds > 0;
}

/* --- the last layer, over tokens or over pooled rows --- */

static inline bool scores_tokens(const struct model *m) { return head_infos[m->config.head].per_token; }

static inline int scores_rows(const struct model *m, const struct batch *b) { return scores_tokens(m) ? b->rows : b->max.B; }

/* Which rows are which sequence: a pooled row is one by itself. */
static inline struct packing scores_packing(const struct model *m, const struct batch *b)
{
	struct packing p = batch_packing(b);

	if (!scores_tokens(m))
		p.starts = NULL;
	return p;
}

/* What it reads before dropout, and after. */
static inline struct tensor scores_source(const struct model *m, const struct batch *b, const struct acts *a)
{
	return scores_tokens(m) ? last_hidden(m, b, a) : a->pooled;
}

static inline struct tensor scores_input(struct tensor source, const struct dropout *drop, const struct acts *a)
{
	return drop->rate > 0 ? top(a->dropped, source.rows) : source;
}

/* Layer L, from hidden[l] to hidden[l+1]. */
void layer_forward(const struct model *m, const struct batch *b, const struct pass *pass, struct acts *a, int l);

#endif
