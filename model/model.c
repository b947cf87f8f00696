/* model.c - a model's memory. */
#include "model/model.h"

#include "base/err.h"

#include <assert.h>

#define STAGE (64 * PARAM_CHUNK)	/* elements that new weights are made and uploaded in */

int model_init(struct model *m, const struct kernels *k, struct queue *q, struct config *config, enum dtype dtype)
{
	assert(config->head != HEAD_UNSAID && (dtype == DTYPE_F32 || dtype == DTYPE_F64));
	*m = (struct model){ .k = k, .q = q, .config = *config, .dtype = dtype };
	*config = (struct config)CONFIG_INIT;
	if (!params_plan(&m->params, &m->config))
		return 0;
	config_release(&m->config);
	*m = (struct model){ 0 };
	return -1;
}

void model_release(struct model *m)
{
	if (!m->k)
		return;
	m->k->free(m->gradients, model_bytes(m));
	m->k->free(m->weights, model_bytes(m));
	weights_release(&m->g);
	weights_release(&m->w);
	params_release(&m->params);
	config_release(&m->config);
	*m = (struct model){ 0 };
}

int model_alloc(struct model *m)
{
	assert(!m->weights);
	if (m->k->alloc(&m->weights, model_bytes(m)))
		return -1;
	return weights_init(&m->w, &m->params, &m->config, m->weights, m->dtype);
}

/* Values of one parameter from the host: staged as F32, uploaded, cast. */
static void put(const struct model *m, const struct param *p, int64_t first, int64_t n, const float *values, void *stage)
{
	const struct tensor x = tensor_of(stage, DTYPE_F32, 1, n);
	const struct tensor y = model_elements(m, p->first + first, n);

	m->k->upload(m->q, stage, values, tensor_bytes(x));
	m->k->cast(m->q, &(struct cast){ .x = x, .y = y });
}

int model_fill(struct model *m, const struct param *p, uint64_t seed)
{
	void *values = NULL, *stage = NULL;
	int rc = -1;

	if (m->k->host_alloc(&values, STAGE * sizeof(float)) || m->k->alloc(&stage, STAGE * sizeof(float)))
		goto out;
	rc = 0;
	for (int64_t at = 0; at < p->count && !rc; at += STAGE) {
		const int64_t n = p->count - at < STAGE ? p->count - at : STAGE;

		param_fill(p, &m->config, seed, at, n, values);
		put(m, p, at, n, values, stage);
		rc = m->k->sync(m->q);
	}
out:
	m->k->free(stage, STAGE * sizeof(float));
	m->k->host_free(values, STAGE * sizeof(float));
	return rc;
}

int model_fresh(struct model *m, uint64_t seed)
{
	if (model_alloc(m))
		return -1;
	for (int i = 0; i < m->params.count; i++)
		if (m->params.items[i].tied < 0 && model_fill(m, &m->params.items[i], seed))
			return -1;
	return 0;
}

int model_add_gradients(struct model *m)
{
	assert(m->weights && !m->gradients);
	if (m->config.head == HEAD_CLASSIFY && m->config.problem_type == PROBLEM_SEVERAL)
		return err_fail("a classifier of several labels at once ('problem_type') can be run, but not trained");
	if (m->k->alloc(&m->gradients, model_bytes(m)))
		return -1;
	return weights_init(&m->g, &m->params, &m->config, m->gradients, m->dtype);
}

void model_clear_gradients(struct model *m)
{
	m->k->fill(m->q, &(struct fill){ .y = tensor_of(m->gradients, m->dtype, 1, m->params.total) });
}
