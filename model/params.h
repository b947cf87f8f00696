/*
 * params.h - the parameters of a model as one table over one flat range of elements.
 *
 *	struct params p;
 *	if (params_plan(&p, &config))
 *		return -1;
 *	... p.total elements; p.items[i].first, .count, .name, .decays
 *	struct weights w;
 *	weights_init(&w, &p, &config, memory, DTYPE_F32)	(views into that memory)
 *	weights_release(&w);
 *	params_release(&p);
 *
 * Gradients, moments, masters and low-precision copies have the same layout, so
 * that one table serves all, and a checkpoint is the table walked once. Parameters
 * stand in the order in which a forward pass meets them; query, key and value of a
 * layer are neighbours, so that their product is one. Between parameters there
 * may be up to PARAMS_ALIGN - 1 elements that belong to none and stay zero.
 *
 * Names and shapes are transformers'. A parameter that is another one by another
 * name (the MLM part's table is the word embeddings) has a line too, tied to that.
 */
#ifndef MODEL_PARAMS_H
#define MODEL_PARAMS_H

#include "base/map.h"
#include "kernels/tensor.h"
#include "model/config.h"

#define PARAMS_ALIGN 16		/* elements: 64 bytes of F32 */
#define PARAM_NAME_MAX 72
#define PARAM_CHUNK 4096	/* elements of a new parameter that one stream of random numbers makes */
#define LAYER_EMBEDDINGS (-1)	/* param.layer; above the last layer it is L */

enum param_init { INIT_NORMAL, INIT_ZERO, INIT_ONE };

struct param {
	char name[PARAM_NAME_MAX];
	int n_dims;			/* 1: [rows], 2: [rows, cols] */
	int64_t rows, cols;		/* cols is 1 for a vector */
	int64_t first, count;		/* elements of the flat range */
	int layer;			/* LAYER_EMBEDDINGS, 0 .. L-1, L */
	bool decays;			/* weight decay: all but biases and LayerNorms */
	int tied;			/* the line that this one is by another name, or -1 */
	bool saved;			/* stands in a model file */
	enum param_init init;
};

struct params {
	struct param *items;
	int count;
	size_t cap;
	int64_t total;			/* elements, a multiple of PARAMS_ALIGN */
	int n_layers;
	struct map lines;		/* name to line */
};

int params_plan(struct params *p, const struct config *c);
void params_release(struct params *p);

/* The line of that name, -1 when there is none. */
int params_find(const struct params *p, const char *name);

/* The elements of all parameters of LAYER, and what lies between them. All layers together are the whole range. */
void params_range(const struct params *p, int layer, int64_t *first, int64_t *count);

/*
 * Training may leave the lower parts of a model as they are. FROZEN is how many, from the bottom: 0 none,
 * 1 the embeddings, 1+n layers 0 .. n-1 too; 1+L is all but the heads. Whether LAYER is one of them.
 */
static inline bool layer_is_frozen(int layer, int frozen) { return layer < frozen - 1; }

/* Views of one layer's parameters. */
struct layer_weights {
	struct tensor qkv, qkv_bias;		/* [3 A D, H] [3 A D] */
	struct tensor out, out_bias;		/* [H, A D] [H]: attention's output */
	struct tensor norm1, norm1_bias;	/* [H] [H]: LayerNorm after attention */
	struct tensor up, up_bias;		/* [F, H] [F] */
	struct tensor down, down_bias;		/* [H, F] [H] */
	struct tensor norm2, norm2_bias;	/* [H] [H] */
};

/* Views of all parameters in one memory: weights, or gradients. Parts that the model lacks are none. */
struct weights {
	struct tensor word, position, type;	/* [V, H] [positions, H] [types, H] */
	struct tensor norm, norm_bias;		/* [H] [H] */
	struct layer_weights *layers;		/* [L] */
	struct tensor pooler, pooler_bias;	/* [H, H] [H] */
	struct tensor mlm, mlm_bias;		/* [H, H] [H] */
	struct tensor mlm_norm, mlm_norm_bias;	/* [H] [H] */
	struct tensor table, table_bias;	/* [V, H] [V]; table may be word */
	struct tensor scores, scores_bias;	/* [C, H] [C] */
};

int weights_init(struct weights *w, const struct params *p, const struct config *c, void *memory, enum dtype dtype);
void weights_release(struct weights *w);

/*
 * COUNT values of a new parameter, from element FIRST of it on, a multiple of PARAM_CHUNK:
 * a pure function of seed, name and place. As google-research/bert has it: normal,
 * cut off at two standard deviations; biases 0, LayerNorms 1 and 0.
 */
void param_fill(const struct param *p, const struct config *c, uint64_t seed, int64_t first, int64_t count, float *values);

#endif
