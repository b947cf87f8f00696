/* estimate.c - what a training will need. */
#include "trainer/estimate.h"

#include "base/err.h"
#include "trainer/optimizer.h"

double estimate_flops(const struct config *c, const struct estimate_load *load)
{
	const double H = c->hidden_size, D = config_head_size(c), length = load->sequences > 0 ? load->tokens / load->sequences : 0;
	double forward = 0;

	for (int l = 0; l < c->num_hidden_layers; l++) {
		const double AD = c->layers[l].heads * D;

		forward += load->tokens * (2 * H * 4 * AD + 4 * H * c->layers[l].intermediate_size + 4 * AD * length);
	}
	if (config_has_pooler(c))
		forward += load->sequences * 2 * H * H;
	forward += load->sequences * 2 * H * config_scores(c);
	if (head_infos[c->head].mlm)
		forward += load->predictions * 2 * H * (H + c->vocab_size);
	return 3 * forward;
}

static int64_t count_parameters(const struct params *p)
{
	int64_t n = 0;

	for (int i = 0; i < p->count; i++)
		n += p->items[i].tied < 0 ? p->items[i].count : 0;
	return n;
}

json_t *estimate_report(const struct estimate_plan *p)
{
	const struct model *m = p->model;
	const struct batch_limits limits = sample_source_limits(p->feed->source, p->feed->micro_batch);
	const size_t weights = model_bytes(m), optimizer = optimizer_bytes(m), batches = feed_bytes(p->feed);
	const double batch = p->feed->batch, instances = (double)p->feed->source->size;
	size_t acts;
	json_t *o;

	if (acts_plan(m, &limits, ACTS_TRAIN, &acts))
		return NULL;
	o = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "parameters", (json_int_t)count_parameters(&m->params), "weights_bytes",
		      (json_int_t)weights, "gradients_bytes", (json_int_t)weights, "optimizer_bytes", (json_int_t)optimizer,
		      "activations_bytes", (json_int_t)acts, "batches_bytes", (json_int_t)batches, "total_bytes",
		      (json_int_t)(2 * weights + optimizer + acts + batches));
	if (!o || json_object_set_new(o, "flops_per_step", json_real(estimate_flops(&m->config, &p->load))) ||
	    json_object_set_new(o, "tokens_per_step", json_real(p->load.tokens)) ||
	    json_object_set_new(o, "instances_per_epoch", json_integer((json_int_t)p->feed->source->size)) ||
	    json_object_set_new(o, "steps_per_epoch", json_real(instances / batch)) ||
	    json_object_set_new(o, "steps", json_integer((json_int_t)p->steps)) ||
	    json_object_set_new(o, "epochs", json_real((double)p->steps * batch / instances))) {
		json_decref(o);
		err_memory();
		return NULL;
	}
	return o;
}
