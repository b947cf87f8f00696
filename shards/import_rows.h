/*
 * import_rows.h - the instances of one foreign file, as they stand there: read in batches by one thread, taken apart
 * by any.
 *
 *	struct rows *r;
 *	struct rows_batch b = ROWS_BATCH_INIT;
 *	struct row_parser p = ROW_PARSER_INIT;		(one a thread: scratch)
 *	if (rows_open(&r, path))
 *		...
 *	while ((rc = rows_read(r, &b, 256)) > 0)
 *		for (uint32_t k = 0; k < b.n; k++)
 *			if (rows_parse(r, &b, k, &p, &row))
 *				...		(row's pointers are good until the next call with P, or the batch's end)
 *	row_parser_release(&p), rows_batch_release(&b)
 *	rows_close(r);			(accepts NULL)
 *
 * Checked are the file's form and checksums, and that all rows have the same
 * lengths; not what the numbers mean. Reasons name file and row.
 */
#ifndef SHARDS_IMPORT_ROWS_H
#define SHARDS_IMPORT_ROWS_H

#include "base/buf.h"
#include "shards/example.h"

#include <stddef.h>
#include <stdint.h>

struct row {
	uint32_t max_seq_length, max_predictions;	/* of the arrays */
	const uint32_t *ids, *mask, *types;		/* [max_seq_length] */
	const uint32_t *positions, *labels;		/* [max_predictions] */
	uint32_t predictions;				/* that count */
	uint32_t label;
};

/* Rows in a row, not taken apart yet. */
struct rows_record;
struct rows_batch {
	uint64_t first;			/* number of the first one */
	uint32_t n;
	/* TFRecord: their bytes, one after the other; where each lies */
	struct buf bytes;
	struct rows_record *records;
	size_t cap_records;
	/* HDF5: array after array, each of STRIDE rows */
	uint32_t *values;
	size_t cap_values;
	uint32_t stride;
};
#define ROWS_BATCH_INIT { .bytes = BUF_INIT }
void rows_batch_release(struct rows_batch *b);

struct row_parser {
	struct example example;
	uint32_t *values;
	size_t cap_values;
};
#define ROW_PARSER_INIT { .example = EXAMPLE_INIT }
void row_parser_release(struct row_parser *p);

struct rows;
int rows_open(struct rows **r, const char *path);
int rows_read(struct rows *r, struct rows_batch *b, uint32_t most);	/* B is replaced. 1, 0 at the end, -1 failed */
int rows_parse(const struct rows *r, const struct rows_batch *b, uint32_t k, struct row_parser *p, struct row *row);
void rows_close(struct rows *r);

#endif
