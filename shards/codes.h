/*
 * codes.h - ids as codes of one byte and what these leave open: the columns
 * common, code and rest of a block (shards/FORMAT.md, "Shards").
 *
 * A code below `direct` is one of the ids that the block has most often, the
 * common ones. The others are the upper bits of an id, a class; its lower bits go
 * to the rest.
 *
 * Writing, block after block:
 *
 *	struct codes c;
 *	codes_init(&c, vocab_size)
 *	codes_choose(&c, ids, t)			(c.common, c.n: the ids that are common in this block)
 *	n = codes_put(&c, ids, t, out)			(columns code and rest)
 *	codes_release(&c)
 *
 * Reading:
 *
 *	struct codes_shape s = codes_shape(vocab_size);
 *	codes_get(&s, common, n, code, t, rest, bytes, ids)
 */
#ifndef SHARDS_CODES_H
#define SHARDS_CODES_H

#include <stddef.h>
#include <stdint.h>

#define CODES_STRIDE 4			/* what is common is found in every fourth id */
#define CODES_VOCAB_MOST (1 << 20)	/* of larger vocabularies nothing is common, so that tables of all ids stay small */
#define CODES_COMMON_MAX 255

/* What follows from a vocabulary's size. */
struct codes_shape {
	uint32_t vocab_size;
	unsigned bits;			/* k: lower bits of an id, which go to the rest; at most 26 */
	unsigned planes;		/* bytes of them */
	unsigned direct;		/* D: codes from it on are classes, 256 - D of them; at most 255 */
};
struct codes_shape codes_shape(uint32_t vocab_size);

struct codes {
	struct codes_shape shape;
	uint32_t common[CODES_COMMON_MAX];	/* [n], ascending */
	unsigned n;
	unsigned char *code;		/* [vocab_size] of each id; NULL: the vocabulary is too large for that */
	uint32_t *counts;		/* [vocab_size] 0 between calls; NULL likewise */
	uint64_t *chosen;		/* a bit for each id, 0 likewise; NULL likewise */
	uint32_t *found;		/* scratch */
	size_t cap;
};
int codes_init(struct codes *c, uint32_t vocab_size);
void codes_release(struct codes *c);		/* accepts what codes_init left, also on failure */

/* Which of T ids, all below the vocabulary's size, are common. */
int codes_choose(struct codes *c, const uint32_t *ids, size_t t);

/*
 * The columns code and rest at OUT, which has room for T * (1 + planes) bytes. Returns their length, which is
 * T + planes * the number of ids that are not common.
 */
size_t codes_put(const struct codes *c, const uint32_t *ids, size_t t, unsigned char *out);

/*
 * T ids of CODE and REST, which has so many BYTES. EXIT_CORRUPT where these are not as many as the codes need, for a code
 * that is none of the N common ids, which are ascending and below the vocabulary's size, nor a class, and for an
 * id that is not below it.
 */
int codes_get(const struct codes_shape *s, const uint32_t *common, unsigned n, const unsigned char *code, size_t t,
	      const unsigned char *rest, size_t bytes, uint32_t *ids);

#endif
