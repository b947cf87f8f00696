/*
 * order.h - the order of training: which instance is the INDEX-th of an epoch.
 *
 *	struct order *o;
 *	order_open(&o, seed, sets, n)
 *	struct order_window w;
 *	order_window(o, epoch, index, &w)
 *	... the J-th instance of run R of W is number w.first + order_place(&w, r->at + j) of the epoch
 *	... order_find(&w, index) is the instance that has number INDEX
 *	order_close(o);
 *
 * A pure function of (seed, sets, epoch, index): nothing of it is stored, so
 * going on in the middle of an epoch costs what going on anywhere does, and any number of
 * ranks agree on it. Each epoch has of every set its share.
 *
 * It is made for instances that lie in blocks in shards on a disk, of which not
 * all can be open at once. An epoch comes in parts. Each takes the same share of every set; of a set, the
 * shards follow each other in another order every pass, and parts go on in it
 * where the part before ended. A part is as long as its shards may be open together:
 * ORDER_SHARDS of them, and ORDER_DOCUMENTS documents. Within a part, runs of some ORDER_RUN
 * neighbours, whole blocks each, are permuted; ORDER_WINDOW of these, as they come, are shuffled
 * together. So whoever reads by windows reads every block once, and has every
 * shard open once: a set of up to ORDER_SHARDS shards is shuffled as a whole, a larger one as far
 * as shards that are random samples of their corpus, as bert-shard's are, need it.
 *
 * A pass over a set need not end with an epoch (shards/mixture.h). Where a
 * share or a part ends inside a block, this block is read in both.
 */
#ifndef TRAINER_ORDER_H
#define TRAINER_ORDER_H

#include "trainer/permutation.h"

#include <stddef.h>
#include <stdint.h>

#define ORDER_RUN 256		/* instances, about */
#define ORDER_WINDOW 16		/* runs */
#define ORDER_SHARDS 64		/* of a part, about */
#define ORDER_DOCUMENTS ((uint64_t)4 << 20)	/* of a part, about */
#define ORDER_PART ((uint64_t)1 << 24)		/* instances of a part, at most */

/* What the order has to know of a set of shards. */
struct order_set {
	const uint64_t *firsts;		/* [shards + 1]: the number of each shard's first instance; then how many there are, at least 1 */
	size_t shards;
	uint64_t share;			/* instances of an epoch, at least 1 */
	uint64_t documents;		/* that are in memory where all shards are open */
	uint32_t block;			/* instances that are read at once */
};

struct order_run {
	size_t set;
	uint64_t pass, index;		/* of its first instance */
	uint32_t count;
	uint32_t at;			/* instances of the window before it, as it was drawn */
};

struct order_window {
	uint64_t epoch, first;
	uint32_t count;
	unsigned n;
	struct order_run runs[ORDER_WINDOW];	/* in the order in which they lie: by set, pass, index */
	struct permutation shuffle;
};

struct order;
int order_open(struct order **o, uint64_t seed, const struct order_set *sets, size_t n);	/* copies SETS */
uint64_t order_size(const struct order *o);		/* of an epoch */
/*
 * Which rule made it, for runs that go on: 2, or 1 where the rule before, which had all instances in one numbering cut into
 * runs of ORDER_RUN, gives the same, as for one shard of blocks that make such runs. Another rule is another number.
 */
int order_version(const struct order *o);
uint32_t order_window_most(const struct order *o);	/* instances of a window */
/* The window that INDEX < order_size of EPOCH is in. One thread at a time. -1: out of memory. */
int order_window(struct order *o, uint64_t epoch, uint64_t index, struct order_window *w);
/* From what is read to where it comes: the place in the window of the instance AT, run->at + j. */
static inline uint32_t order_place(const struct order_window *w, uint32_t at)
{
	return (uint32_t)permutation_back(&w->shuffle, at);
}
/* And back: the instance at INDEX of the epoch, which is in W, as a run of one. */
struct order_run order_find(const struct order_window *w, uint64_t index);
void order_close(struct order *o);			/* accepts NULL */

#endif
