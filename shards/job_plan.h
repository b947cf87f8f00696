/* job_plan.h - how many shards, and from what: what the job_*.c files share, and nobody else includes. */
#ifndef SHARDS_JOB_PLAN_H
#define SHARDS_JOB_PLAN_H

#include "shards/shard.h"
#include "shards/tokdoc.h"

#include <stddef.h>
#include <stdint.h>

struct job;

struct plan {
	struct tokdoc_totals corpus;
	struct tokdoc_totals *inputs;	/* [n_inputs] */
	size_t n_inputs;
	uint32_t shards;
	uint32_t parts;			/* of the index that is read */
};
struct plan *plan_new(const struct job *j);		/* all zero; NULL: out of memory */
int plan_save(const struct plan *p, const struct job *j);
int plan_load(struct plan **p, const struct job *j);	/* *P NULL and 0: there is none, or a damaged one */
json_t *plan_read(const char *path);			/* as it stands, its digest checked and gone; NULL: EXIT_CORRUPT, or it cannot be read */
int plan_lacks(const struct job *j);			/* -1: why plan_load gave none, and what to do */
void plan_free(struct plan *p);
uint32_t plan_shards(const struct job *j, const struct tokdoc_totals *corpus);
int plan_settle(struct plan *p, const struct job *j);	/* how many shards its corpus makes; -1, and the work is forgotten: it is empty */
uint32_t plan_shards_most(const struct job *j, const struct tokdoc_totals *corpus);	/* with documents enough */

/* FORMAT.md, "How many shards": instances and raw bytes to expect. */
void plan_expect(const struct shard_recipe *r, const struct tokdoc_totals *corpus, uint64_t *instances,
		 uint64_t *bytes);

/* By the size of the input: what is in it; and what SHARD_GOOGLE needs of memory, where that is more than there is, else 0. */
void job_forecast_corpus(const struct job *j, struct tokdoc_totals *corpus);
uint64_t job_forecast_memory(const struct job *j);

#endif
