/* evaluate.c - losses and accuracies over held-out samples. */
#include "trainer/evaluate.h"

#include "base/err.h"

int evaluation_open(struct evaluation *e, struct sample_source *source, struct update *u, int micro_batch)
{
	const struct batch_limits limits = sample_source_limits(source, micro_batch);

	*e = (struct evaluation){ .source = source, .update = u, .micro_batch = micro_batch };
	return batch_open(&e->batch, u->model->k, &limits, u->model->dtype);
}

void evaluation_close(struct evaluation *e)
{
	batch_close(&e->batch);
}

/* Adds a batch's result: losses by their counts. */
static void add(struct update_result *sum, const struct update_result *r, int n)
{
	for (int i = 0; i < n; i++) {
		sum->loss[i] += r->loss[i] * (double)r->counts[i];
		sum->hits[i] += r->hits[i];
		sum->counts[i] += r->counts[i];
	}
	sum->tokens += r->tokens;
	sum->sequences += r->sequences;
}

int evaluation_run(struct evaluation *e, struct update_result *r)
{
	const int losses = e->update->objective->n;

	*r = (struct update_result){ .finite = true };
	for (uint64_t at = 0; at < e->source->size;) {
		struct update_result one;

		batch_clear(&e->batch);
		for (int i = 0; i < e->micro_batch && at < e->source->size; i++, at++)
			if (e->source->add(e->source, 0, at, at, &e->batch))
				return -1;
		if (batch_finish(&e->batch, &e->update->model->config) || update_evaluate(e->update, &e->batch, 1, &one))
			return -1;
		add(r, &one, losses);
	}
	for (int i = 0; i < losses; i++) {
		r->loss[i] = r->counts[i] ? r->loss[i] / (double)r->counts[i] : 0;
		r->total += r->loss[i];
	}
	return 0;
}

static int put(json_t *data, const char *prefix, const char *name, double value)
{
	char key[64];

	snprintf(key, sizeof(key), "%s%s", prefix, name);
	return json_object_set_new(data, key, json_real(value)) ? err_memory() : 0;
}

int evaluation_report(json_t *data, const char *prefix, const struct objective *o, const struct update_result *r)
{
	for (int i = 0; i < o->n; i++) {
		if (!r->counts[i])
			continue;
		if (put(data, prefix, o->loss[i], r->loss[i]) ||
		    (o->accuracy[i] && put(data, prefix, o->accuracy[i], (double)r->hits[i] / (double)r->counts[i])))
			return -1;
	}
	return 0;
}
