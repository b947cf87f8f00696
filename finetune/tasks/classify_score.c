/* classify_score.c - metrics of classify: a file of predictions against one with labels. */
#include "finetune/tasks/classify.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/utf8.h"
#include "finetune/table_file.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* The classes that a file tells, row by row. */
struct column {
	int32_t *numbers;		/* [n] among the labels of struct comparison */
	size_t n, cap;
	uint64_t first_line, last_line;
	uint64_t bad_bytes;
	char *name;			/* the file's, for messages */
};

struct comparison {
	struct column gold, predictions;
	struct labels labels;		/* of both */
	size_t strange;			/* predictions of classes that gold lacks */
	size_t first_strange;		/* the first such row */
};

/* --- reading ---------------------------------------------------------------------------- */

static int add_row(struct column *c, struct labels *l, const struct table_file *t, const struct table_row *row)
{
	const char *name = row->cells[0], *index = row->cells[1];
	char wanted[32];
	int number;

	snprintf(wanted, sizeof(wanted), "%zu", c->n);
	if (index && strcmp(index, wanted))
		return table_file_corrupt(t, CLASSIFY_INDEX " is '%s', but this is row %s", index, wanted);
	if (!*name)
		return table_file_corrupt(t, "the label is empty");
	number = labels_add(l, name);
	if (number < 0)
		return err_prefix("%s, line %" PRIu64, table_file_name(t), row->line);
	if (array_grow(&c->numbers, &c->cap, c->n + 1, sizeof(*c->numbers)))
		return -1;
	if (!c->n)
		c->first_line = row->line;
	c->last_line = row->line;
	c->numbers[c->n++] = number;
	return 0;
}

/* Reads the labels of PATH, the first of the columns wanted; the second, if any, is the rows' number. */
static int read_column(struct column *c, struct labels *l, const char *path, const struct table_opts *o)
{
	struct table_file *t;
	struct table_row row;
	int rc;

	if (table_file_open(&t, path, o))
		return -1;
	while ((rc = table_file_next(t, &row)) > 0 && !add_row(c, l, t, &row))
		;
	c->bad_bytes = table_file_bad_bytes(t);
	c->name = strdup(table_file_name(t));
	table_file_close(t);
	if (!rc && !c->name)
		return err_memory();
	return rc ? -1 : 0;
}

static int read_gold(struct comparison *c, const struct task_opts *o, const char *path)
{
	const struct table_column label = { o->label, true, "--label" };
	static const int order[] = { 0 };

	return read_column(&c->gold, &c->labels, path,
			   &(struct table_opts){ .columns = &label, .n = 1, .no_header = o->no_header, .order = order,
						 .n_order = 1, .others = true, .threads = o->threads });
}

static int read_predictions(struct comparison *c, const struct task_opts *o, const char *path)
{
	static const struct table_column columns[] = { { CLASSIFY_PREDICTION, true, NULL }, { CLASSIFY_INDEX, false, NULL } };
	const int known = c->labels.n;
	struct column *p = &c->predictions;

	if (read_column(p, &c->labels, path, &(struct table_opts){ .columns = columns, .n = 2, .threads = o->threads }))
		return -1;
	for (size_t i = 0; i < p->n; i++)
		if (p->numbers[i] >= known && !c->strange++)
			c->first_strange = i;
	return 0;
}

static const char *predicted_name(const struct comparison *c, size_t row)
{
	return c->labels.names[c->predictions.numbers[row]];
}

static int check(const struct comparison *c)
{
	const struct column *g = &c->gold, *p = &c->predictions;

	if (g->n != p->n)
		return err_corrupt("%s has %zu rows, the last in line %" PRIu64 ", but %s %zu, the last in line %" PRIu64, g->name,
				   g->n, g->last_line, p->name, p->n, p->last_line);
	if (c->strange == p->n)
		return err_corrupt("%s, line %" PRIu64 ": neither '%.200s' nor any other prediction is a label of %s, such as '%.200s'",
				   p->name, p->first_line, predicted_name(c, 0), g->name, c->labels.names[0]);
	return 0;
}

/* --- telling ---------------------------------------------------------------------------- */

json_t *classify_metrics_json(const struct class_metrics *m)
{
	json_t *o = json_pack("{s:f, s:f, s:f}", "accuracy", m->accuracy, "f1", m->f1, "matthews_correlation", m->matthews);

	if (!o)
		err_memory();
	return o;
}

static int warn(json_t *list, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static int warn(json_t *list, const char *fmt, ...)
{
	struct buf text = BUF_INIT;
	char raw[ERR_TEXT_MAX];
	uint64_t bad = 0;
	va_list args;
	int rc;

	va_start(args, fmt);
	vsnprintf(raw, sizeof(raw), fmt, args);
	va_end(args);
	rc = utf8_repair(raw, strlen(raw), &text, &bad);	/* a file's name is any bytes */
	if (!rc)
		rc = json_array_append_new(list, json_stringn(text.data, text.len)) ? err_memory() : 0;
	buf_release(&text);
	return rc;
}

static int warn_of_bytes(json_t *list, const struct column *c)
{
	return c->bad_bytes ? warn(list, "ill-formed UTF-8 was replaced by U+FFFD in %" PRIu64 " place%s of %s", c->bad_bytes,
				   c->bad_bytes == 1 ? "" : "s", c->name) : 0;
}

/* What makes the metrics other than one may think. NULL with the reason set: out of memory. */
static json_t *list_warnings(const struct comparison *c, const struct class_metrics *m)
{
	json_t *list = json_array();
	int rc = list ? 0 : err_memory();

	if (!rc && m->one_class)
		rc = warn(list, "all predictions are '%.200s'", predicted_name(c, 0));
	if (!rc && c->strange)
		rc = warn(list, "%zu prediction%s, the first '%.200s', %s no label of %s", c->strange, c->strange == 1 ? "" : "s",
			  predicted_name(c, c->first_strange), c->strange == 1 ? "is" : "are", c->gold.name);
	if (!rc)
		rc = warn_of_bytes(list, &c->gold);
	if (!rc)
		rc = warn_of_bytes(list, &c->predictions);
	if (!rc)
		return list;
	json_decref(list);
	return NULL;
}

static json_t *list_labels(const struct labels *l)
{
	json_t *list = json_array();

	for (int i = 0; list && i < l->n; i++)
		if (json_array_append_new(list, json_string(l->names[i]))) {
			json_decref(list);
			return NULL;
		}
	return list;
}

static json_t *tell(const struct comparison *c, const struct class_metrics *m)
{
	const struct labels *l = &c->labels;
	json_t *o = classify_metrics_json(m), *warnings = o ? list_warnings(c, m) : NULL;

	if (!warnings) {
		json_decref(o);
		return NULL;
	}
	if (json_object_set_new(o, "examples", json_integer((json_int_t)m->examples)) ||
	    json_object_set_new(o, "majority", json_real(m->majority)) || json_object_set_new(o, "labels", list_labels(l)) ||
	    json_object_set_new(o, "f1_of", json_string(l->n == 2 ? l->names[1] : "macro")) ||
	    json_object_set(o, "warnings", warnings)) {
		json_decref(o);
		o = NULL;
		err_memory();
	}
	json_decref(warnings);
	return o;
}

static void release(struct comparison *c)
{
	free(c->gold.numbers);
	free(c->gold.name);
	free(c->predictions.numbers);
	free(c->predictions.name);
	labels_release(&c->labels);
}

int classify_score(const struct task_opts *o, const char *gold, const char *predictions, json_t **metrics)
{
	struct comparison c = { .labels = LABELS_INIT };
	struct class_metrics m;
	int32_t *by = NULL;

	*metrics = NULL;
	if (read_gold(&c, o, gold) || read_predictions(&c, o, predictions) || check(&c) || labels_sort(&c.labels, &by))
		goto out;
	labels_renumber(c.gold.numbers, c.gold.n, by);
	labels_renumber(c.predictions.numbers, c.predictions.n, by);
	if (!metrics_of_classes(&m, c.gold.numbers, c.predictions.numbers, c.gold.n, c.labels.n))
		*metrics = tell(&c, &m);
out:
	free(by);
	release(&c);
	return *metrics ? 0 : -1;
}
