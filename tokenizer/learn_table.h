/*
 * learn_table.h - words to counts, for texts that repeat themselves.
 *
 *	struct learn_table t;
 *	learn_table_init(&t)
 *	learn_table_count(&t, &batch, longer, ctx)	(each word once more)
 *	learn_table_put(&t, word, len, n)			(N times more)
 *	struct table_walk walk = { 0 };
 *	while (learn_table_next(&t, &walk))
 *		... walk.word, walk.len, walk.count		(in no order that means anything)
 *	learn_table_restart(&t)					(empty and small again)
 *	learn_table_release(&t)
 *
 * A word of up to 16 bytes lies in its slot, as two numbers beside its count, so that a word met before
 * costs one look into memory, which is asked for a few words ahead. Longer ones, one in a hundred in
 * English, are in a map. Words hold no zero byte.
 */
#ifndef TOKENIZER_LEARN_TABLE_H
#define TOKENIZER_LEARN_TABLE_H

#include "base/map.h"
#include "tokenizer/normalize.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TABLE_WORD_MAX 16	/* bytes of a word in a slot */

struct table_slot {
	uint64_t key[2];		/* the word, and zeros */
	uint64_t count;			/* 0: free */
};

struct learn_table {
	struct table_slot *slots;
	unsigned bits;			/* there are 1 << BITS */
	size_t used;
	struct map longer;		/* of other words */
	size_t longer_bytes;		/* that they take */
};

int learn_table_init(struct learn_table *t);
int learn_table_restart(struct learn_table *t);
void learn_table_release(struct learn_table *t);

/* Words of more than 16 bytes are counted by LONGER, which may put them under another name; -1 if it fails. */
typedef int (*table_longer_fn)(void *ctx, const char *word, size_t len);
int learn_table_count(struct learn_table *t, const struct words *batch, table_longer_fn longer, void *ctx);

int learn_table_put(struct learn_table *t, const char *word, size_t len, uint64_t n);

/* Adds all words of OTHER with their counts. */
int learn_table_join(struct learn_table *t, const struct learn_table *other);

/* Memory that it may hold once there are MORE short words more; while it grows it holds half as much again. */
size_t learn_table_bytes(const struct learn_table *t, size_t more);

struct table_walk {
	const char *word;
	size_t len;
	uint64_t count;
	size_t slot, entry;		/* where to go on */
	char bytes[TABLE_WORD_MAX + 1];
};
bool learn_table_next(const struct learn_table *t, struct table_walk *walk);

#endif
