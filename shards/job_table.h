/*
 * job_table.h - a shard's table of documents, and the lengths of their sentences, as blocks.
 *
 *	struct job_table t;
 *	job_table_init(&t, job, put, ctx)
 *	job_table_add(&t, body, len, occurrence)	(tokdoc_split; in the order of the table)
 *	job_table_end(&t)				(all blocks were put)
 *	... t.totals ...
 *	job_table_release(&t)
 */
#ifndef SHARDS_JOB_TABLE_H
#define SHARDS_JOB_TABLE_H

#include "base/buf.h"
#include "shards/shard.h"
#include "shards/tokdoc.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct job;
struct lengths_cut;
/* A block as for frame_add. */
typedef int job_table_put(void *ctx, unsigned type, uint32_t records, const char *raw, size_t n, const struct buf *packed);

struct job_table {
	job_table_put *put;
	void *ctx;
	int level;			/* of zstd */
	unsigned id_bytes;
	uint32_t vocab_size;
	struct shard_totals totals;	/* of the documents so far */
	/* private */
	uint32_t records;		/* in RAW */
	struct buf raw, packed;
	struct tokdoc document;
	bool has_lengths;		/* SHARD_OWN */
	struct buf lengths;		/* of documents that were put, or are in RAW */
	struct lengths_cut *cuts;	/* of these into blocks; the last one is open */
	size_t n_cuts, cap_cuts;
};

void job_table_init(struct job_table *t, const struct job *j, job_table_put *put, void *ctx);
int job_table_add(struct job_table *t, const unsigned char *body, size_t len, uint32_t occurrence);
int job_table_end(struct job_table *t);
void job_table_release(struct job_table *t);

#endif
