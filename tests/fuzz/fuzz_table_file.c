/*
 * Arbitrary bytes as a file of examples: the first says how it is read, the rest is the file. What can
 * be read is well formed, and written as JSON lines reads back the same.
 */
#include "base/err.h"
#include "base/utf8.h"
#include "finetune/table_file.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define COLUMNS 3

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static const struct table_column columns[COLUMNS] = {
	{ "text", true, "--text" }, { "label", false, "--label" }, { "text2", false, NULL },
};
static const int order[COLUMNS] = { 1, 0, 2 };

static void need(bool holds)
{
	if (!holds)
		abort();
}

static void add(json_t *list, const char *const *cells)
{
	json_t *o = json_object();

	for (int i = 0; i < COLUMNS; i++)
		if (cells[i])
			need(!json_object_set_new(o, columns[i].name, json_string(cells[i])));
	need(!json_array_append_new(list, o));
}

/* All rows of the file, an object each; NULL: it was refused. */
static json_t *read_rows(const char *path, const struct table_opts *o)
{
	json_t *list = json_array();
	struct table_file *t;
	struct table_row row;
	uint64_t line = 0;
	int rc = table_file_open(&t, path, o) ? -1 : 1;

	while (rc > 0 && (rc = table_file_next(t, &row)) > 0) {
		need(row.line > line);
		line = row.line;
		for (int i = 0; i < COLUMNS; i++) {
			need(row.cells[i] || !columns[i].must);
			need(!row.cells[i] || utf8_valid_prefix(row.cells[i], strlen(row.cells[i])) == strlen(row.cells[i]));
		}
		add(list, row.cells);
	}
	need(rc == 0 || err_code() != EXIT_DONE);
	need(rc < 0 || line > 0);
	table_file_close(t);
	if (rc == 0)
		return list;
	json_decref(list);
	return NULL;
}

static void put(int fd, const void *bytes, size_t n)
{
	need(write(fd, bytes, n) == (ssize_t)n);
}

static void read_again(const json_t *rows)
{
	const int fd = memfd_create("again", MFD_CLOEXEC);
	char path[32];
	json_t *again;

	need(fd >= 0);
	for (size_t i = 0; i < json_array_size(rows); i++) {
		char *text = json_dumps(json_array_get(rows, i), JSON_COMPACT);

		put(fd, text, strlen(text));
		put(fd, "\n", 1);
		free(text);
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = read_rows(path, &(struct table_opts){ .columns = columns, .n = COLUMNS });
	need(again && json_equal(again, rows));
	json_decref(again);
	close(fd);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	struct table_opts o = { .columns = columns, .n = COLUMNS, .order = order };
	char path[32];
	json_t *rows;
	int fd;

	if (size < 1 || size > 4000)
		return 0;
	o.no_header = data[0] & 1;
	o.n_order = data[0] & 2 ? 3 : 2;
	o.fewer = data[0] & 4 ? o.n_order - 1 : 0;
	o.others = data[0] & 8;
	fd = memfd_create("table", MFD_CLOEXEC);
	need(fd >= 0);
	put(fd, data + 1, size - 1);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	rows = read_rows(path, &o);
	if (rows)
		read_again(rows);
	json_decref(rows);
	close(fd);
	return 0;
}
