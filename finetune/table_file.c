#include "finetune/table_file.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/lines.h"
#include "base/utf8.h"

#include <assert.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NOWHERE SIZE_MAX
#define TWICE (SIZE_MAX - 1)
#define LISTED_BYTES 400		/* of the columns' names in a message */
#define LISTED_NAME_BYTES 40		/* of one of them */

struct table_file {
	struct table_opts opts;
	struct buf name;		/* for messages */
	const char *files[1];
	struct lines *lines;
	struct line first;		/* the first one that is not blank */
	bool pending;			/* FIRST is a row, not given yet */
	bool json;
	uint64_t line, rows;

	/* Tab-separated: */
	struct buf row;			/* a line, its tabs made 0 bytes */
	size_t cells;			/* of each line */
	size_t places[TABLE_COLUMNS_MAX];	/* of the wanted ones among them, or NOWHERE */

	json_t *object;			/* JSON: the last row, which owns its cells */
};

/* --- messages ------------------------------------------------------------------ */

int table_file_corrupt(const struct table_file *t, const char *fmt, ...)
{
	char text[ERR_TEXT_MAX];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return err_corrupt("%s, line %" PRIu64 ": %s", t->name.data, t->line, text);
}

/* Adds NAME to a list of columns, which ends with dots when it grows long. */
static int list_name(struct buf *list, const char *name)
{
	size_t len = strlen(name);
	const bool cut = len > LISTED_NAME_BYTES;

	if (list->len > LISTED_BYTES)
		return 0;
	if (cut)
		len = utf8_valid_prefix(name, LISTED_NAME_BYTES);
	if (buf_addf(list, "%s'%.*s%s'", list->len ? ", " : "", (int)len, name, cut ? "..." : ""))
		return -1;
	return list->len > LISTED_BYTES ? buf_adds(list, ", ...") : 0;
}

static int no_column(const struct table_file *t, const struct table_column *c, const struct buf *list)
{
	return table_file_corrupt(t, "no column '%s'%s%s%s; the columns are %s", c->name, c->option ? " (" : "",
				  c->option ? c->option : "", c->option ? ")" : "", list->len ? list->data : "none");
}

static int column_twice(const struct table_file *t, const struct table_column *c)
{
	return table_file_corrupt(t, "more than one column could be '%s'", c->name);
}

/* --- lines --------------------------------------------------------------------- */

/* The next line that is not blank: 1, 0 at the end, -1 failed. */
static int next_line(struct table_file *t, struct line *line)
{
	int rc;

	do {
		rc = lines_next(t->lines, line);
		t->line += rc > 0;
	} while (rc > 0 && line->blank);
	return rc;
}

/* --- tab-separated ------------------------------------------------------------- */

/* Copies LINE to t->row with its cells apart; their number goes to *CELLS. */
static int split(struct table_file *t, const struct line *line, size_t *cells)
{
	char *p, *end;

	if (memchr(line->text, 0, line->len))
		return table_file_corrupt(t, "a 0 byte");
	buf_clear(&t->row);
	if (buf_add(&t->row, line->text, line->len))
		return -1;
	p = t->row.data;
	end = p + t->row.len;
	for (*cells = 1; (p = memchr(p, '\t', (size_t)(end - p))); ++*cells)
		*p++ = 0;
	return 0;
}

/* Where column NAME stands in the header that was split: NOWHERE, TWICE. */
static size_t find_name(const struct table_file *t, const char *name)
{
	size_t same = NOWHERE, alike = NOWHERE;
	const char *cell = t->row.data;

	for (size_t k = 0; k < t->cells; k++, cell += strlen(cell) + 1)
		if (!strcmp(cell, name))
			same = same == NOWHERE ? k : TWICE;
		else if (!strcasecmp(cell, name))
			alike = alike == NOWHERE ? k : TWICE;
	return same != NOWHERE ? same : alike;
}

static int refuse_header(const struct table_file *t, const struct table_column *c)
{
	struct buf list = BUF_INIT;
	const char *cell = t->row.data;
	int rc = 0;

	for (size_t k = 0; !rc && k < t->cells; k++, cell += strlen(cell) + 1)
		rc = list_name(&list, cell);
	if (!rc)
		no_column(t, c, &list);
	buf_release(&list);
	return -1;
}

static int read_header(struct table_file *t)
{
	for (int i = 0; i < t->opts.n; i++) {
		const struct table_column *c = &t->opts.columns[i];

		t->places[i] = find_name(t, c->name);
		if (t->places[i] == TWICE)
			return column_twice(t, c);
		if (t->places[i] == NOWHERE && c->must)
			return refuse_header(t, c);
	}
	return 0;
}

static int refuse_cells(const struct table_file *t)
{
	const struct table_opts *o = &t->opts;
	struct buf list = BUF_INIT;
	int rc = 0;

	for (int i = 0; !rc && i < o->n_order; i++)
		rc = list_name(&list, o->columns[o->order[i]].name);
	if (!rc)
		table_file_corrupt(t, "%zu cell%s; without a header there must be %s%s", t->cells, t->cells == 1 ? "" : "s", list.data,
				   o->others ? " first" : o->fewer ? ", or only the last of these" : "");
	buf_release(&list);
	return -1;
}

/* No header: the first line says how many cells there are, and so which columns. */
static int place_cells(struct table_file *t)
{
	const struct table_opts *o = &t->opts;
	const size_t order = (size_t)o->n_order, fewer = (size_t)o->fewer;
	const bool few = fewer && t->cells == fewer;
	const size_t skip = few ? order - fewer : 0;

	assert(order > 0 && fewer <= order);
	if (!few && t->cells != order && !(o->others && t->cells > order))
		return refuse_cells(t);
	for (int i = 0; i < o->n; i++)
		t->places[i] = NOWHERE;
	for (size_t k = skip; k < order; k++)
		t->places[o->order[k]] = k - skip;
	for (int i = 0; i < o->n; i++)
		if (o->columns[i].must && t->places[i] == NOWHERE)
			return refuse_cells(t);
	return 0;
}

static int read_cells(struct table_file *t, const struct line *line, struct table_row *row)
{
	const char *cell;
	size_t cells;

	if (split(t, line, &cells))
		return -1;
	if (cells != t->cells)
		return table_file_corrupt(t, "%zu cell%s, but the first line has %zu", cells, cells == 1 ? "" : "s", t->cells);
	cell = t->row.data;
	for (size_t k = 0; k < cells; k++, cell += strlen(cell) + 1)
		for (int i = 0; i < t->opts.n; i++)
			if (t->places[i] == k)
				row->cells[i] = cell;
	return 0;
}

/* --- JSON lines ---------------------------------------------------------------- */

/* The name of the member that is column NAME; NULL: none; *TWICE: several could be. */
static const char *find_member(json_t *object, const char *name, bool *twice)
{
	const char *found = NULL;

	*twice = false;
	if (json_object_get(object, name))
		return name;
	for (void *m = json_object_iter(object); m; m = json_object_iter_next(object, m)) {
		if (strcasecmp(json_object_iter_key(m), name))
			continue;
		*twice = found;
		found = json_object_iter_key(m);
	}
	return found;
}

/* VALUE, a number or a truth value, as text, to be freed. */
static char *print_value(const json_t *value)
{
	char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));

	if (text && json_is_real(value) && strtod(text, NULL) != json_real_value(value)) {
		free(text);
		text = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
	}
	return text;
}

/* Puts in place of member NAME, a number or a truth value, the string that it is written as, for the object to own. */
static int make_string(json_t *object, const char *name, const json_t *value)
{
	char *text = print_value(value);
	const int rc = text ? json_object_set_new(object, name, json_string(text)) : -1;

	free(text);
	return rc ? err_memory() : 0;
}

static int refuse_object(const struct table_file *t, const struct table_column *c)
{
	struct buf list = BUF_INIT;
	int rc = 0;

	for (void *m = json_object_iter(t->object); !rc && m; m = json_object_iter_next(t->object, m))
		rc = list_name(&list, json_object_iter_key(m));
	if (!rc)
		no_column(t, c, &list);
	buf_release(&list);
	return -1;
}

static int read_member(struct table_file *t, const struct table_column *c, const char **cell)
{
	bool twice;
	const char *name = find_member(t->object, c->name, &twice);
	const json_t *value = name ? json_object_get(t->object, name) : NULL;

	if (twice)
		return column_twice(t, c);
	if (!value)
		return c->must ? refuse_object(t, c) : 0;
	if (json_is_null(value))
		return c->must ? table_file_corrupt(t, "'%s' is null", name) : 0;
	if (json_is_object(value) || json_is_array(value))
		return table_file_corrupt(t, "'%s' is no string, number or truth value", name);
	if (!json_is_string(value) && make_string(t->object, name, value))
		return -1;
	*cell = json_string_value(json_object_get(t->object, name));
	return 0;
}

static int read_object(struct table_file *t, const struct line *line, struct table_row *row)
{
	json_error_t e;

	json_decref(t->object);
	t->object = json_loadb(line->text, line->len, JSON_REJECT_DUPLICATES, &e);
	if (!t->object && json_error_code(&e) == json_error_out_of_memory)
		return err_memory();
	if (!t->object)
		return table_file_corrupt(t, "not a JSON object: %s", e.text);
	if (!json_is_object(t->object))
		return table_file_corrupt(t, "not a JSON object");
	for (int i = 0; i < t->opts.n; i++)
		if (read_member(t, &t->opts.columns[i], &row->cells[i]))
			return -1;
	return 0;
}

/* --- the file ------------------------------------------------------------------ */

static struct table_file *new_table(const char *path, const struct table_opts *o)
{
	struct table_file *t = calloc(1, sizeof(*t));

	assert(o->n <= TABLE_COLUMNS_MAX);
	if (!t) {
		err_memory();
		return NULL;
	}
	t->opts = *o;
	t->files[0] = path;
	if (strcmp(path, "-") ? buf_addf(&t->name, "'%s'", path) : buf_adds(&t->name, "standard input")) {
		table_file_close(t);
		return NULL;
	}
	return t;
}

static int no_rows(const struct table_file *t)
{
	return err_corrupt("%s has no rows", t->name.data);
}

/* Takes the first line: what kind of file this is, and which columns it has. */
static int begin(struct table_file *t)
{
	const int rc = next_line(t, &t->first);

	if (rc <= 0)
		return rc ? -1 : no_rows(t);
	t->json = t->first.text[0] == '{';
	t->pending = t->json || t->opts.no_header;
	if (t->json)
		return 0;
	if (split(t, &t->first, &t->cells))
		return -1;
	return t->opts.no_header ? place_cells(t) : read_header(t);
}

int table_file_open(struct table_file **result, const char *path, const struct table_opts *o)
{
	struct table_file *t = new_table(path, o);

	*result = NULL;
	if (!t)
		return -1;
	if (lines_open(&t->lines, t->files, 1, &(struct lines_opts){ .threads = o->threads }) || begin(t)) {
		table_file_close(t);
		return -1;
	}
	*result = t;
	return 0;
}

int table_file_next(struct table_file *t, struct table_row *row)
{
	struct line line = t->first;
	const int rc = t->pending ? 1 : next_line(t, &line);

	t->pending = false;
	if (rc < 0)
		return -1;
	if (!rc)
		return t->rows ? 0 : no_rows(t);
	*row = (struct table_row){ .line = t->line };
	if (t->json ? read_object(t, &line, row) : read_cells(t, &line, row))
		return -1;
	t->rows++;
	return 1;
}

void table_file_close(struct table_file *t)
{
	if (!t)
		return;
	lines_close(t->lines);
	buf_release(&t->name);
	buf_release(&t->row);
	json_decref(t->object);
	free(t);
}

uint64_t table_file_bad_bytes(const struct table_file *t)
{
	return lines_bad_bytes(t->lines);
}

const char *table_file_name(const struct table_file *t)
{
	return t->name.data;
}
