/*
 * compare.h - the first instance in which two sets of shards differ, and why.
 *
 *	struct compare c = { .a = "one", .b = "other" };
 *	if (compare_run(&c))
 *		...
 *	... c.same, c.text ...
 *	compare_release(&c);
 *
 * What is compared is what a trainer gets: ids, types, masks, labels, in order.
 * How they came about may differ: the recipes' first difference is told when
 * the instances differ. When they do not, what names the documents is compared:
 * ids and titles, of those that both sets have, by key, shard by shard.
 */
#ifndef SHARDS_COMPARE_H
#define SHARDS_COMPARE_H

#include "base/buf.h"
#include "base/progress.h"

#include <stdbool.h>
#include <stdint.h>

struct compare {
	const char *a, *b;		/* shards, or folders of them */
	const char *vocab_path;		/* NULL: vocab.txt beside A; without, no tokens are told */
	bool draws;			/* dynamic masks are those of EPOCH; else there are none */
	uint64_t epoch;
	bool unmasked;			/* masks are taken out, and not compared */
	bool instances_only;		/* ids and titles of documents may differ */
	struct progress *progress;	/* may be NULL */
	/* filled */
	bool same;
	uint64_t instances;		/* that are equal, from the first on */
	struct buf text;		/* lines for people: what differs; empty when nothing does */
};
int compare_run(struct compare *c);
void compare_release(struct compare *c);

#endif
