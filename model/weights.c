/* weights.c - views of the flat range of parameters, by what they do in the model. */
#include "base/err.h"
#include "model/params.h"

#include <assert.h>

/* One memory laid out by a table. */
struct range {
	const struct params *p;
	char *memory;
	enum dtype dtype;
	const char *prefix;
};

/* The parameter PREFIX MODULE.PART, a vector as one row; none where the model has no such. */
static struct tensor view(const struct range *r, const char *prefix, const char *module, const char *part)
{
	char name[2 * PARAM_NAME_MAX];
	const struct param *p;
	int i;

	snprintf(name, sizeof(name), "%s%s.%s", prefix, module, part);
	i = params_find(r->p, name);
	if (i < 0)
		return (struct tensor){ 0 };
	p = &r->p->items[i];
	return tensor_of(r->memory + (size_t)p->first * dtype_size(r->dtype), r->dtype, p->n_dims == 1 ? 1 : p->rows,
			 p->n_dims == 1 ? p->rows : p->cols);
}

static void pair(const struct range *r, const char *prefix, const char *module, struct tensor *weight, struct tensor *bias)
{
	*weight = view(r, prefix, module, "weight");
	*bias = view(r, prefix, module, "bias");
}

static void view_layer(const struct range *r, int l, struct layer_weights *w)
{
	char prefix[PARAM_NAME_MAX];
	struct tensor value;

	snprintf(prefix, sizeof(prefix), "%sencoder.layer.%d.", r->prefix, l);
	pair(r, prefix, "attention.self.query", &w->qkv, &w->qkv_bias);
	value = view(r, prefix, "attention.self.value", "weight");
	assert((char *)value.data == (char *)w->qkv.data + 2 * tensor_bytes(w->qkv));
	(void)value;
	w->qkv.rows *= 3;
	w->qkv_bias.cols *= 3;
	pair(r, prefix, "attention.output.dense", &w->out, &w->out_bias);
	pair(r, prefix, "attention.output.LayerNorm", &w->norm1, &w->norm1_bias);
	pair(r, prefix, "intermediate.dense", &w->up, &w->up_bias);
	pair(r, prefix, "output.dense", &w->down, &w->down_bias);
	pair(r, prefix, "output.LayerNorm", &w->norm2, &w->norm2_bias);
}

int weights_init(struct weights *w, const struct params *p, const struct config *c, void *memory, enum dtype dtype)
{
	const struct range r = { p, memory, dtype, c->head == HEAD_NONE ? "" : "bert." };

	*w = (struct weights){ .layers = calloc((size_t)c->num_hidden_layers, sizeof(*w->layers)) };
	if (!w->layers)
		return err_memory();
	w->word = view(&r, r.prefix, "embeddings.word_embeddings", "weight");
	w->position = view(&r, r.prefix, "embeddings.position_embeddings", "weight");
	w->type = view(&r, r.prefix, "embeddings.token_type_embeddings", "weight");
	pair(&r, r.prefix, "embeddings.LayerNorm", &w->norm, &w->norm_bias);
	for (int l = 0; l < c->num_hidden_layers; l++)
		view_layer(&r, l, &w->layers[l]);
	pair(&r, r.prefix, "pooler.dense", &w->pooler, &w->pooler_bias);
	pair(&r, "", "cls.predictions.transform.dense", &w->mlm, &w->mlm_bias);
	pair(&r, "", "cls.predictions.transform.LayerNorm", &w->mlm_norm, &w->mlm_norm_bias);
	pair(&r, "", "cls.predictions.decoder", &w->table, &w->table_bias);
	if (head_infos[c->head].scores)
		pair(&r, "", head_infos[c->head].scores, &w->scores, &w->scores_bias);
	return 0;
}

void weights_release(struct weights *w)
{
	free(w->layers);
	*w = (struct weights){ 0 };
}
