/*
 * job_trial.h - shards that are made of some documents and thrown away: what they come to. For job_estimate.c.
 *
 *	struct trial t = { .j = j, .budget = job_budget(j), .shards = n };
 *	trial_sorted(&t, spill, under)		(documents that come in the order of their keys)
 *	or trial_init(&t, 0), docset_add(&t.docs, ...), then trial_docs(&t)
 *	docset_release(&t.docs)
 *
 * What does not fit in the budget is made in fewer passes, each for several, and if even one is too much, of the first
 * half of its documents, or of a document's sentences.
 */
#ifndef SHARDS_JOB_TRIAL_H
#define SHARDS_JOB_TRIAL_H

#include "shards/docset.h"
#include "shards/shard.h"

#include <stdbool.h>
#include <stdint.h>

struct job;
struct spill;

struct trial {
	const struct job *j;
	uint64_t budget;		/* bytes that documents and drafts may take */
	uint32_t shards;		/* that these documents make: as many in each as there will be */
	struct docset docs;		/* of the next shard, of --compat google of all; trial_docs releases it */
	/* What was made, as often as the recipe has passes: */
	uint64_t documents, words;	/* of so many documents, and their tokens */
	double instances, tokens, random_next, predictions;
	double raw, packed;		/* bytes of their blocks */
	double table;			/* of one table of the documents, packed */
	double seconds;			/* for all but tables */
	double table_seconds;
	bool less;			/* some of it did not fit */
};

void trial_init(struct trial *t, uint32_t shard);	/* DOCS holds nothing */
int trial_docs(struct trial *t);			/* what DOCS holds, as one shard; of --compat google, as all */

/* Those documents of S, which is sorted, that trial_keeps, a shard after the other. */
int trial_sorted(struct trial *t, struct spill *s, uint64_t under);
/* By the half of the key that decides nothing else. */
bool trial_keeps(const unsigned char *body, uint64_t under);

#endif
