/*
 * import_rows.h - the instances of one foreign file, one after the other, as they stand there.
 *
 *	struct rows *r;
 *	if (rows_open(&r, path))
 *		...
 *	while ((rc = rows_next(r, &row)) > 0)
 *		...			(row's pointers are good until the next call)
 *	rows_close(r);			(accepts NULL)
 *
 * Checked are the file's form and checksums, and that all rows have the same
 * lengths; not what the numbers mean. Reasons name file and row.
 */
#ifndef SHARDS_IMPORT_ROWS_H
#define SHARDS_IMPORT_ROWS_H

#include <stddef.h>
#include <stdint.h>

struct row {
	uint32_t max_seq_length, max_predictions;	/* of the arrays */
	const uint32_t *ids, *mask, *types;		/* [max_seq_length] */
	const uint32_t *positions, *labels;		/* [max_predictions] */
	uint32_t predictions;				/* that count */
	uint32_t label;
};

struct rows;
int rows_open(struct rows **r, const char *path);
int rows_next(struct rows *r, struct row *row);		/* 1, 0 at the end, -1 failed */
void rows_close(struct rows *r);

#endif
