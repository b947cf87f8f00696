/* classify.c - a class for each text, or for each pair of texts, from the user's own files. */
#include "finetune/tasks/classify.h"

#include "base/err.h"
#include "finetune/class_objective.h"
#include "finetune/metrics.h"
#include "finetune/table_file.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL, TEXT, TEXT2, COLUMNS };
#define NAME_MAX_BYTES 256
#define PAIR_LENGTH_MIN 5		/* [CLS] a [SEP] b [SEP] */

/* What is open while a file is read. */
struct classify_reader {
	struct table_file *table;
	struct table_column columns[COLUMNS];
	char text[NAME_MAX_BYTES], label[NAME_MAX_BYTES];	/* the options' operands, cut at the comma */
	bool pairs;
};

/* --- reading ---------------------------------------------------------------------------- */

/* The columns that the options name: label, text, and text2 where there are two. */
static int name_columns(struct classify_reader *c, const struct task_reader *r)
{
	const struct task_opts *o = r->opts;
	char *comma;

	if (strlen(o->text) >= sizeof(c->text) || strlen(o->label) >= sizeof(c->label))
		return err_usage("a column's name has at most %d bytes", NAME_MAX_BYTES - 1);
	snprintf(c->text, sizeof(c->text), "%s", o->text);
	snprintf(c->label, sizeof(c->label), "%s", o->label);
	comma = strchr(c->text, ',');
	c->pairs = comma != NULL;
	if (comma)
		*comma++ = 0;
	if (!*c->text || !*c->label || (comma && (!*comma || strchr(comma, ','))))
		return err_usage("--text takes NAME or NAME,NAME2, and --label NAME, not '%s' and '%s'", o->text, o->label);
	if (comma && r->features->max_seq_length < PAIR_LENGTH_MIN)
		return err_usage("a max_seq_length of %d has no room for two texts; give %d or more", r->features->max_seq_length, PAIR_LENGTH_MIN);
	c->columns[LABEL] = (struct table_column){ .name = c->label, .must = r->use != LABELS_IGNORE, .option = "--label" };
	c->columns[TEXT] = (struct table_column){ .name = c->text, .must = true, .option = "--text" };
	c->columns[TEXT2] = (struct table_column){ .name = comma, .must = true, .option = "--text" };
	return 0;
}

static int open_file(struct task_reader *r, const char *path)
{
	static const int order[COLUMNS] = { LABEL, TEXT, TEXT2 };
	struct classify_reader *c = calloc(1, sizeof(*c));

	r->own = c;
	if (!c)
		return err_memory();
	if (name_columns(c, r))
		return -1;
	return table_file_open(&c->table, path, &(struct table_opts){
		.columns = c->columns, .n = c->pairs ? COLUMNS : TEXT2, .no_header = r->opts->no_header, .order = order,
		.n_order = c->pairs ? COLUMNS : TEXT2, .fewer = r->use != LABELS_IGNORE ? 0 : c->pairs ? 2 : 1,
		.threads = r->opts->threads });
}

static void close_file(struct task_reader *r)
{
	struct classify_reader *c = r->own;

	if (c)
		table_file_close(c->table);
	free(c);
	r->own = NULL;
}

/* "'Negative', 'Positive'", as many names as there is room for, and "..." for others. */
static void quote_labels(const struct labels *l, char *text, size_t size)
{
	size_t at = 0;

	text[0] = 0;
	for (int i = 0; i < l->n; i++) {
		const size_t need = strlen(l->names[i]) + strlen(", ''");

		if (at + need + strlen(", ...") >= size) {
			snprintf(text + at, size - at, "%s...", i ? ", " : "");
			return;
		}
		at += (size_t)snprintf(text + at, size - at, "%s'%s'", i ? ", " : "", l->names[i]);
	}
}

/* Of a label that is to be learnt or must be known. */
static int check_label(const struct table_file *t, const char *name)
{
	if (!*name)
		return table_file_corrupt(t, "the label is empty");
	if (strpbrk(name, "\t\n\r"))		/* out of JSON: no prediction could be written */
		return table_file_corrupt(t, "the label has a tab or a line end in it");
	return 0;
}

/* The number of ROW's label, -1 for none; -2 with the reason set. */
static int32_t label_of(struct task_reader *r, const struct table_row *row)
{
	const struct table_file *t = ((const struct classify_reader *)r->own)->table;
	const char *name = row->cells[LABEL];
	char known[200];
	int i;

	if (r->use == LABELS_IGNORE && (!name || !*name))
		return -1;
	if (r->use != LABELS_IGNORE && check_label(t, name))
		return -2;
	i = r->use == LABELS_LEARN ? labels_add(r->labels, name) : labels_find(r->labels, name);
	if (i >= 0)
		return i;
	if (r->use == LABELS_LEARN) {
		err_prefix("%s, line %" PRIu64, table_file_name(t), row->line);
		return -2;
	}
	if (r->use == LABELS_IGNORE) {
		if (!r->unknown++)
			r->first_unknown = row->line;
		return -1;
	}
	quote_labels(r->labels, known, sizeof(known));
	table_file_corrupt(t, "no class is named '%s'; there is %s", name, known);
	return -2;
}

static int read_examples(struct task_reader *r, struct sequences *s, size_t limit)
{
	struct classify_reader *c = r->own;
	const uint64_t before = r->examples;
	struct table_row row;
	int rc = 1;

	while (r->examples - before < limit && (rc = table_file_next(c->table, &row)) > 0) {
		const int32_t label = label_of(r, &row);

		if (label < -1 || features_add(r->features, row.cells[TEXT], c->pairs ? row.cells[TEXT2] : NULL, label, s))
			return -1;
		r->examples++;
	}
	r->bad_bytes = table_file_bad_bytes(c->table);
	return rc < 0 ? -1 : r->examples > before;
}

/* --- what a model says -------------------------------------------------------------------- */

static int best(const float *scores, int classes)
{
	int at = 0;

	for (int i = 1; i < classes; i++)
		if (scores[i] > scores[at])
			at = i;
	return at;
}

/* The softmax's share of class AT, the largest. */
static double probability(const float *scores, int classes, int at)
{
	double sum = 0;

	for (int i = 0; i < classes; i++)
		sum += exp((double)scores[i] - (double)scores[at]);
	return 1 / sum;
}

static int measure(const struct sequences *s, const float *scores, const struct labels *l, json_t **metrics, bool *degenerate)
{
	int32_t *predicted = malloc(s->n * sizeof(*predicted));
	struct class_metrics m;
	int rc = -1;

	if (!predicted)
		return err_memory();
	for (size_t i = 0; i < s->n; i++)
		predicted[i] = best(scores + i * (size_t)l->n, l->n);
	if (!metrics_of_classes(&m, s->labels, predicted, s->n, l->n)) {
		*degenerate = m.one_class || m.accuracy <= m.majority;
		*metrics = classify_metrics_json(&m);
		rc = *metrics ? 0 : -1;
	}
	free(predicted);
	return rc;
}

static int write_predictions(struct out *out, const float *scores, size_t n, uint64_t first, const struct labels *l)
{
	if (!first && out_printf(out, CLASSIFY_INDEX "\t" CLASSIFY_PREDICTION "\tprobability\n"))
		return -1;
	for (size_t i = 0; i < n; i++) {
		const float *row = scores + i * (size_t)l->n;
		const int at = best(row, l->n);

		if (out_printf(out, "%" PRIu64 "\t%s\t%.6f\n", first + i, l->names[at], probability(row, l->n, at)))
			return -1;
	}
	return 0;
}

static int describe(const struct sequences *s, const struct labels *l, json_t *about)
{
	uint64_t *counts = calloc((size_t)l->n, sizeof(*counts)), most = 0;
	json_t *names = json_array();
	int rc = counts && names ? 0 : err_memory();

	for (size_t i = 0; i < s->n && !rc; i++)
		if (++counts[s->labels[i]] > most)
			most = counts[s->labels[i]];
	for (int i = 0; i < l->n && !rc; i++)
		rc = json_array_append_new(names, json_string(l->names[i])) ? err_memory() : 0;
	if (!rc && (json_object_set(about, "labels", names) ||
		    json_object_set_new(about, "majority", json_real((double)most / (double)s->n))))
		rc = err_memory();
	json_decref(names);
	free(counts);
	return rc;
}

const struct task task_classify = {
	.name = "classify",
	.what = "a class for each text, or pair of texts",
	.head = HEAD_CLASSIFY,
	.objective = &objective_classification,
	.main_metric = "accuracy",
	.open = open_file,
	.read = read_examples,
	.close = close_file,
	.measure = measure,
	.describe = describe,
	.write = write_predictions,
	.score = classify_score,
};
