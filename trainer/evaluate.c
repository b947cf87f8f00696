/* evaluate.c - losses and accuracies over held-out samples. */
#include "trainer/evaluate.h"

#include "base/buf.h"
#include "base/err.h"

int evaluation_open(struct evaluation *e, struct sample_source *source, struct update *u, int micro_batch,
		    struct evaluation_part *parts, size_t n)
{
	const struct batch_limits limits = sample_source_limits(source, micro_batch);

	*e = (struct evaluation){ .source = source, .update = u, .micro_batch = micro_batch, .parts = parts, .n = n };
	return batch_open(&e->batch, u->model->k, &limits, u->model->dtype);
}

void evaluation_close(struct evaluation *e)
{
	batch_close(&e->batch);
}

/* Adds a result: losses by their counts. */
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

/* Adds the samples FIRST .. FIRST + COUNT - 1 to SUM. */
static int run_part(struct evaluation *e, uint64_t first, uint64_t count, struct update_result *sum)
{
	const uint64_t end = first + count;

	for (uint64_t at = first; at < end;) {
		struct update_result one;

		batch_clear(&e->batch);
		for (int i = 0; i < e->micro_batch && at < end; i++, at++)
			if (e->source->add(e->source, 0, at, at, &e->batch))
				return -1;
		if (batch_finish(&e->batch, &e->update->model->config) || update_evaluate(e->update, &e->batch, 1, &one))
			return -1;
		add(sum, &one, e->update->objective->n);
	}
	return 0;
}

/* Sums to means. */
static void settle(struct update_result *r, int losses)
{
	for (int i = 0; i < losses; i++) {
		r->loss[i] = r->counts[i] ? r->loss[i] / (double)r->counts[i] : 0;
		r->total += r->loss[i];
	}
}

int evaluation_run(struct evaluation *e, struct update_result *r)
{
	const int losses = e->update->objective->n;

	*r = (struct update_result){ .finite = true };
	if (!e->n && run_part(e, 0, e->source->size, r))
		return -1;
	for (size_t k = 0; k < e->n; k++) {
		struct evaluation_part *p = &e->parts[k];

		p->result = (struct update_result){ .finite = true };
		if (run_part(e, p->first, p->count, &p->result))
			return -1;
		settle(&p->result, losses);
		add(r, &p->result, losses);
	}
	settle(r, losses);
	return 0;
}

/* Takes VALUE, also on failure. */
static int put(json_t *data, const char *prefix, const char *name, json_t *value)
{
	struct buf key = BUF_INIT;
	const int rc = value && !buf_addf(&key, "%s%s", prefix, name) && !json_object_set(data, key.data, value) ? 0 : err_memory();

	json_decref(value);
	buf_release(&key);
	return rc;
}

int evaluation_report(json_t *data, const char *prefix, const struct objective *o, const struct update_result *r)
{
	for (int i = 0; i < o->n; i++) {
		if (!r->counts[i])
			continue;
		if (put(data, prefix, o->loss[i], json_real(r->loss[i])) ||
		    (o->accuracy[i] && put(data, prefix, o->accuracy[i], json_real((double)r->hits[i] / (double)r->counts[i]))))
			return -1;
	}
	return 0;
}

int evaluation_report_parts(json_t *data, const struct evaluation *e)
{
	struct buf prefix = BUF_INIT;
	int rc = 0;

	for (size_t k = 0; e->n > 1 && k < e->n && !rc; k++) {
		const struct evaluation_part *p = &e->parts[k];

		buf_clear(&prefix);
		rc = buf_addf(&prefix, "eval_%s/", p->name) || put(data, prefix.data, "loss", json_real(p->result.total)) ||
		     put(data, prefix.data, "instances", json_integer((json_int_t)p->result.sequences)) ||
		     evaluation_report(data, prefix.data, e->update->objective, &p->result) ? -1 : 0;
	}
	buf_release(&prefix);
	return rc;
}
