/*
 * model.h - a model in a backend's memory, and the passes over it.
 *
 *	struct model m;
 *	if (model_init(&m, &k, q, &config, DTYPE_F32))		(the plan; takes the config)
 *		return -1;
 *	if (model_fresh(&m, seed))		(new weights; or model_load, model/model_dir.h)
 *		return -1;
 *	if (model_add_gradients(&m))		(to train it)
 *		return -1;
 *	struct acts a;				(memory of a pass: model/acts.h)
 *	...
 *	model_forward(&m, &batch, &pass, &a);
 *	model_loss(&m, &batch, &losses, true, &a);	(values, and gradients of what the heads put out)
 *	model_backward(&m, &batch, &pass, &a);		(adds to m.g)
 *	model_release(&m);
 *
 * Passes queue ops and return at once; they cannot fail (kernels/kernels.h: sync
 * tells). They are written once, over the op table, for every backend, dtype and
 * kind of model.
 */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include "kernels/kernels.h"
#include "model/acts.h"
#include "model/batch.h"
#include "model/config.h"
#include "model/params.h"

struct model {
	const struct kernels *k;
	struct queue *q;		/* all its ops go there */
	struct config config;
	struct params params;
	enum dtype dtype;		/* F32, or F64 on ref */
	void *weights, *gradients;	/* params.total elements each, in the backend's memory; NULL: none yet */
	struct weights w, g;		/* views of these */
};

/* Plans; takes *CONFIG, which is empty then. Its head must be said. */
int model_init(struct model *m, const struct kernels *k, struct queue *q, struct config *config, enum dtype dtype);
void model_release(struct model *m);	/* of a zeroed struct too, which is what a failed model_init leaves */

int model_alloc(struct model *m);	/* weights, zero */
int model_fresh(struct model *m, uint64_t seed);	/* weights, new: a pure function of config and seed */
int model_fill(struct model *m, const struct param *p, uint64_t seed);	/* one parameter's */

/* Gradients, zero. -1 where the config's problem_type has no loss here. */
int model_add_gradients(struct model *m);
void model_clear_gradients(struct model *m);	/* queued */

/* Elements FIRST .. FIRST+N-1 of the weights, as one row. */
static inline struct tensor model_elements(const struct model *m, int64_t first, int64_t n)
{
	return tensor_of((char *)m->weights + (size_t)first * dtype_size(m->dtype), m->dtype, 1, n);
}

static inline size_t model_bytes(const struct model *m) { return (size_t)m->params.total * dtype_size(m->dtype); }

/* What a pass is for. */
struct pass {
	const struct step *step;	/* in the backend's memory: dropout's seed and number; NULL: no dropout */
	/* NULL, or [L] tensors [B A S, S] for each layer's attention: B is the batch's capacity, S at least its longest. */
	const struct tensor *probs;
	/*
	 * Backward: called when the gradients of elements FIRST .. FIRST+COUNT-1 are all queued; in the end for each once,
	 * but for frozen ones, of which nothing is told.
	 */
	void (*grads_ready)(void *ctx, int64_t first, int64_t count);
	void *ctx;
	int frozen;			/* backward: parts from the bottom without gradients (model/params.h); 0: none */
};

/* The dropouts of a model, for the keys of their masks (kernels/dropout.h). They never change. */
enum {
	SITE_EMBEDDING = 0,
	SITE_SCORES = 1,
	SITE_LAYERS = 16,		/* layer 0's: attention, after attention, after FFN */
	SITE_LAYER_STRIDE = 4,
};

/*
 * Hidden states into a->hidden, and what the heads have before their loss: pooled
 * rows, a->scores, and for masked places a->mlm_h, whose scores of the whole
 * vocabulary are never all in memory (model_mlm_scores makes some).
 */
void model_forward(const struct model *m, const struct batch *b, const struct pass *pass, struct acts *a);

/* Scores [count, V] = of masked places FIRST .. FIRST+COUNT-1, after a forward pass; at most MODEL_MLM_TILE of them. */
#define MODEL_MLM_TILE 64
void model_mlm_scores(const struct model *m, const struct acts *a, int first, int count, struct tensor scores);

/*
 * Adds the losses that the batch's labels ask for. GRADIENTS: also leaves their gradients
 * with respect to what the heads put out, and adds those of the MLM part's table.
 * The masked-LM loss is a mean over predictions, the others are over sequences
 * (or tokens): the factors say 1 / how many (kernels/ops.h).
 */
struct losses {
	struct loss mlm;		/* sum NULL: not wanted */
	struct loss scores;
};
void model_loss(const struct model *m, const struct batch *b, const struct losses *losses, bool gradients, struct acts *a);

/*
 * Adds the gradients of all parameters that are not frozen, after model_loss (or who else fills a->dscores and a->dmlm_h),
 * and computes nothing for the others. What model_loss adds to the MLM part's table stands there even where
 * that is the frozen word embeddings.
 */
void model_backward(const struct model *m, const struct batch *b, const struct pass *pass, struct acts *a);

#endif
