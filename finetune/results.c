/* results.c - what several seeds gave. */
#include "finetune/results.h"

#include "base/err.h"
#include "finetune/metrics.h"

#include <stdlib.h>
#include <string.h>

static double main_metric(const struct task *task, const json_t *seeds, size_t i)
{
	return json_number_value(json_object_get(json_array_get(seeds, i), task->main_metric));
}

size_t results_best(const struct task *task, const json_t *seeds)
{
	size_t best = 0;

	for (size_t i = 1; i < json_array_size(seeds); i++)
		if (main_metric(task, seeds, i) > main_metric(task, seeds, best))
			best = i;
	return best;
}

/* A metric is a member that is no whole number and no truth value. */
static int add_spreads(json_t *results, json_t *seeds)
{
	const size_t k = json_array_size(seeds);
	double *values = malloc(k * sizeof(*values));
	const char *name;
	json_t *value;
	int rc = values ? 0 : err_memory();

	json_object_foreach(json_array_get(seeds, 0), name, value) {
		struct spread s;

		if (!json_is_real(value) || rc)
			continue;
		for (size_t i = 0; i < k; i++)
			values[i] = json_number_value(json_object_get(json_array_get(seeds, i), name));
		s = metrics_spread(values, k);
		if (json_object_set_new(results, name, json_pack("{s:f, s:f, s:f, s:f}", "mean", s.mean, "sd", s.sd, "min", s.min,
								 "max", s.max)))
			rc = err_memory();
	}
	free(values);
	return rc;
}

static json_int_t count_degenerate(const json_t *seeds)
{
	json_int_t n = 0;

	for (size_t i = 0; i < json_array_size(seeds); i++)
		n += json_is_true(json_object_get(json_array_get(seeds, i), "degenerate"));
	return n;
}

json_t *results_of_seeds(const struct tune_opts *o, const struct tune_data *d, json_t *seeds)
{
	const struct sequences *s = tune_data_measured(d);
	const json_t *best = json_array_get(seeds, results_best(o->task, seeds));
	json_t *r = json_pack("{s:s, s:s, s:I}", "task", o->task->name, "measured_on", d->dev.n ? "dev" : "train", "examples",
			      (json_int_t)s->n);

	if (!r) {
		err_memory();
		return NULL;
	}
	if (o->task->describe(s, &d->labels, r) || add_spreads(r, seeds)) {
		json_decref(r);
		return NULL;
	}
	if (json_object_set_new(r, "degenerate", json_integer(count_degenerate(seeds))) ||
	    json_object_set(r, "best_seed", json_object_get(best, "seed")) || json_object_set(r, "seeds", seeds)) {
		err_memory();
		json_decref(r);
		return NULL;
	}
	return r;
}

char *results_text(const json_t *results)
{
	char *text = json_dumps(results, JSON_INDENT(2) | JSON_SORT_KEYS | JSON_REAL_PRECISION(12));
	char *line = NULL;

	if (!text || asprintf(&line, "%s\n", text) < 0) {
		line = NULL;
		err_memory();
	}
	free(text);
	return line;
}
