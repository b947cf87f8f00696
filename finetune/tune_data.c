/* tune_data.c - the files of a fine-tuning. */
#include "finetune/tune_data.h"

#include "base/err.h"

#include <inttypes.h>
#include <stdlib.h>
#include <xxhash.h>

/* Before all examples of PATH, which TASK makes of it. */
static int read_file(const struct tune_opts *o, struct features *f, struct labels *l, enum labels_use use, const char *path,
		     struct sequences *s)
{
	struct task_reader r = { .opts = &o->data, .features = f, .labels = l, .use = use };
	const uint64_t cut = f->cut, empty = f->empty;
	int rc = o->task->open(&r, path);

	if (!rc && o->task->read(&r, s, SIZE_MAX) < 0)
		rc = -1;
	if (!rc && s->n > INT32_MAX)
		rc = err_fail("'%s' has more examples than can be counted", path);
	if (!rc && r.bad_bytes)
		o->warn("'%s': ill-formed UTF-8 in %" PRIu64 " places was replaced", path, r.bad_bytes);
	if (!rc && f->empty > empty)
		o->warn("'%s': %" PRIu64 " examples have no token", path, f->empty - empty);
	if (!rc)
		o->info("'%s': %zu examples, %" PRIu64 " cut at %d tokens", path, s->n, f->cut - cut, f->max_seq_length);
	o->task->close(&r);
	return rc;
}

/* The numbers of the model's own labels, which are the same names. */
static int take_order(struct tune_data *d, const struct config *c)
{
	int32_t *by = malloc((size_t)d->labels.n * sizeof(*by));
	struct labels l = LABELS_INIT;
	int rc = by ? 0 : err_memory();

	for (int i = 0; i < c->num_labels && !rc; i++)
		rc = labels_add(&l, c->labels[i]) < 0 ? -1 : 0;
	for (int i = 0; i < d->labels.n && !rc; i++)
		by[i] = labels_find(&l, d->labels.names[i]);
	if (!rc) {
		labels_renumber(d->train.labels, d->train.n, by);
		labels_release(&d->labels);
		d->labels = l;
	} else {
		labels_release(&l);
	}
	free(by);
	return rc;
}

static int order_labels(struct tune_data *d, const struct tune_opts *o, const struct config *c)
{
	int32_t *by;

	if (d->labels.n < 2)
		return err_corrupt("'%s': every example is '%s'; there is nothing to tell apart", o->train, d->labels.names[0]);
	if (labels_sort(&d->labels, &by))
		return -1;
	labels_renumber(d->train.labels, d->train.n, by);
	free(by);
	d->same_labels = c->head == o->task->head && labels_same(&d->labels, (const char *const *)c->labels, c->num_labels);
	return d->same_labels ? take_order(d, c) : 0;
}

/* Classes that DEV has no example of are measured by nothing. */
static int check_dev(const struct tune_data *d, const struct tune_opts *o)
{
	bool *seen = calloc((size_t)d->labels.n, sizeof(*seen));

	if (!seen)
		return err_memory();
	for (size_t i = 0; i < d->dev.n; i++)
		seen[d->dev.labels[i]] = true;
	for (int i = 0; i < d->labels.n; i++)
		if (!seen[i])
			o->warn("'%s' has no example of '%s'", o->dev, d->labels.names[i]);
	free(seen);
	return 0;
}

int tune_data_read(struct tune_data *d, const struct tune_opts *o, const struct tuned_on *on, const struct config *config)
{
	const struct tokenizer_opts to = { .model = o->model, .compat = on->compat, .segmenter = o->segmented ? "" : NULL };
	struct features f = { .encoder = NULL };
	struct tokenizer *t = NULL;
	int rc = -1;

	*d = (struct tune_data){ .labels = LABELS_INIT };
	if (tokenizer_open(&t, &to) || features_open(&f, t, on->max_seq_length))
		goto out;
	if (read_file(o, &f, &d->labels, LABELS_LEARN, o->train, &d->train) || order_labels(d, o, config))
		goto out;
	if (o->dev && (read_file(o, &f, &d->labels, LABELS_KNOWN, o->dev, &d->dev) || check_dev(d, o)))
		goto out;
	rc = 0;
out:
	features_close(&f);
	tokenizer_close(t);
	if (rc)
		tune_data_release(d);
	return rc;
}

void tune_data_release(struct tune_data *d)
{
	labels_release(&d->labels);
	sequences_release(&d->train);
	sequences_release(&d->dev);
	*d = (struct tune_data){ .labels = LABELS_INIT };
}

uint64_t tune_data_sum(const struct sequences *s)
{
	uint64_t sum = XXH3_64bits_withSeed(s->ids, s->n ? s->starts[s->n] * sizeof(*s->ids) : 0, s->n);

	sum = XXH3_64bits_withSeed(s->starts, s->n ? (s->n + 1) * sizeof(*s->starts) : 0, sum);
	sum = XXH3_64bits_withSeed(s->first, s->n * sizeof(*s->first), sum);
	return XXH3_64bits_withSeed(s->labels, s->n * sizeof(*s->labels), sum);
}
