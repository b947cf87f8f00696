/*
 * table_file.h - files of examples: a table as tab-separated text or as JSON lines.
 *
 *	static const struct table_column columns[] = { { "text", true, "--text" }, { "label", false, "--label" } };
 *	struct table_file *t;
 *	struct table_row row;
 *	if (table_file_open(&t, path, &(struct table_opts){ .columns = columns, .n = 2 }))
 *		return -1;
 *	while ((rc = table_file_next(t, &row)) > 0)
 *		... row.cells[0], row.cells[1], row.line
 *	table_file_close(t);			(accepts NULL)
 *
 * A file whose first line begins with "{" is JSON lines: an object a line, whose
 * members are the columns; a cell is a string, or a number or true or false, which
 * is taken as JSON writes it (of a number with a point or an exponent the shortest of 15
 * or 17 digits); null is as if the member were not there. Any other file is
 * tab-separated: no quoting, as GLUE's own files want to be read, a cell is
 * what stands between two tabs; the first line names the columns, unless NO_HEADER.
 *
 * Names match whatever the case of their ASCII letters, if none matches exactly. Blank lines
 * are passed over (base/lines.h; a line of nothing but tabs is one). Packed files are
 * unpacked, ill-formed UTF-8 is replaced.
 *
 * EXIT_CORRUPT, naming file and line: a column that must be there is not (the message lists those
 * that are), a name that fits two columns, a row with more or fewer cells than the first line, a 0 byte,
 * a line that is no JSON object, a member that is no plain value, a member twice, halves of
 * surrogate pairs and \u0000 in JSON, whole numbers beyond 64 bits, a file without a row.
 */
#ifndef FINETUNE_TABLE_FILE_H
#define FINETUNE_TABLE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TABLE_COLUMNS_MAX 8

struct table_column {
	const char *name;
	bool must;			/* else its cells may be absent: NULL */
	const char *option;		/* that names it, for messages ("--text"); NULL: none */
};

struct table_opts {
	const struct table_column *columns;	/* [n] those wanted, in the order of the cells; must outlive the reader */
	int n;				/* at most TABLE_COLUMNS_MAX */
	bool no_header;
	/*
	 * Without a header: a line's cells are columns order[0 .. n_order-1]; or, where FEWER is not 0, only the last
	 * FEWER of these; or, with OTHERS, those and any cells after them. The file's first line decides for all.
	 */
	const int *order;		/* must outlive the reader */
	int n_order, fewer;
	bool others;
	unsigned threads;		/* for unpacking */
};

struct table_row {
	const char *cells[TABLE_COLUMNS_MAX];	/* valid UTF-8, ended by a 0 byte; good until the next call; NULL: no such column */
	uint64_t line;			/* from 1 */
};

struct table_file;
int table_file_open(struct table_file **t, const char *path, const struct table_opts *o);	/* "-" is standard input */
int table_file_next(struct table_file *t, struct table_row *row);	/* 1 a row, 0 the end, -1 failed */
void table_file_close(struct table_file *t);
uint64_t table_file_bad_bytes(const struct table_file *t);		/* ill-formed parts replaced so far */

/* For messages: the file's name with quotes, or "standard input"; and EXIT_CORRUPT, naming file and line of the last row. */
const char *table_file_name(const struct table_file *t);
int table_file_corrupt(const struct table_file *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
