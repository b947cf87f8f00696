/*
 * wordcache.h - the pieces of words met before.
 *
 * Most words of a text are few; the cache answers for them in one look at one
 * cache line. It holds words of up to WORDCACHE_KEY bytes with few pieces. A
 * set has two entries; a new word takes the first place, and what stood there
 * moves to the second. Words of up to WORDCACHE_LONG bytes, which are few in
 * English and many in scripts of two or three bytes a letter, have sets of their
 * own, one word in each, and are asked for when `take` has not found them. Longer
 * ones are never in it. What it holds changes speed, never results.
 *
 * Words are looked up in groups, so that all cache lines are asked for before
 * the first is needed:
 *
 *	struct wordcache_group g;
 *	c->prepare(c, text, starts, ends, n, &g);	(n <= WORDCACHE_GROUP; WORDCACHE_LONG bytes at each start can be read)
 *	while ((i = c->take(c, &g, i, n, &to)) < n)	(room at TO for WORDCACHE_ROOM ids a word)
 *		if (!wordcache_take_long(c, &g, i++, word, len, &to))
 *			... wordcache_put(c, &g, i - 1, word, len, ids, n_ids)	(it is not there)
 */
#ifndef TOKENIZER_WORDCACHE_H
#define TOKENIZER_WORDCACHE_H

#include "tokenizer/pages.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WORDCACHE_KEY 16
#define WORDCACHE_LONG 32
#define WORDCACHE_NARROW 7		/* pieces of an entry, ids up to 65535 */
#define WORDCACHE_WIDE 4		/* the same for wider ids, which are below 2^24 */
#define WORDCACHE_GROUP 128		/* words looked up together */
#define WORDCACHE_ROOM 8		/* ids that may be written for a word, counted or not */

#define WORDCACHE_MIX_LOW 0x9E3779B97F4A7C15u
#define WORDCACHE_MIX_HIGH 0xD1B54A32D192ED03u
#define WORDCACHE_MIX 0x9FB21C651E98DF25u

/* A word as two integers: its bytes, then zeros. No word holds a zero byte, so the length is in it too. */
struct wordkey {
	uint64_t low, high;
};

/* How many there are is in the last number's highest byte. */
union wordcache_ids {
	uint16_t narrow[WORDCACHE_NARROW + 1];
	uint32_t wide[WORDCACHE_WIDE];
};

struct wordcache_set {
	struct wordkey keys[2];		/* both 0: free */
	union wordcache_ids ids[2];
};

/* A word as four integers. No key of a set of two is found here, since none begins with a zero byte. */
struct wordcache_long {
	uint64_t none;			/* 0 */
	uint64_t first_ids;
	uint64_t none_either;		/* 0 */
	uint64_t last_ids;
	uint64_t key[WORDCACHE_LONG / 8];
};

struct wordcache_group {
	struct wordkey keys[WORDCACHE_GROUP];
	uint32_t sets[WORDCACHE_GROUP];	/* bytes from the first set on */
};

struct wordcache {
	/* Finds where N words belong. */
	void (*prepare)(const struct wordcache *c, const char *text, const uint32_t *starts, const uint32_t *ends, size_t n,
			struct wordcache_group *g);
	/* Writes the ids of the words FROM .. TO - 1 at *OUT, which it moves on; stops at the first that is not there, and says which. */
	size_t (*take)(const struct wordcache *c, const struct wordcache_group *g, size_t from, size_t to, uint32_t **out);

	struct pages pages;
	struct wordcache_set *sets;	/* in PAGES, each on a cache line of its own; then NOWHERE, then those of long words */
	unsigned shift;			/* of a 64-bit hash, to leave the number of a set */
	unsigned long_shift;		/* the same for a long word */
	uint32_t nowhere;		/* the place of the set where nothing is: of words that are too long */
	bool wide;
};

/* A cache of about BYTES, at most 1 GiB, and a quarter more for long words. NULL: out of memory. */
struct wordcache *wordcache_new(size_t bytes, bool wide);
void wordcache_free(struct wordcache *c);			/* accepts NULL */

/* Whether word I of a group, WORD, is a long one that is there: its ids are written at *OUT, which is moved on. */
bool wordcache_take_long(const struct wordcache *c, const struct wordcache_group *g, size_t i, const char *word, size_t len,
			 uint32_t **out);

/* Remembers N ids for word I of a group, WORD, which is not there; not when they are too many, or it is too long. */
void wordcache_put(const struct wordcache *c, const struct wordcache_group *g, size_t i, const char *word, size_t len,
		   const uint32_t *ids, size_t n);

/* Where the set of a word of more than WORDCACHE_KEY bytes is. */
uint32_t wordcache_long_place(const struct wordcache *c, const char *word, size_t len);

/* Where a word's set is. */
static inline uint32_t wordcache_place(const struct wordcache *c, uint64_t low, uint64_t high)
{
	const uint64_t a = low * WORDCACHE_MIX_LOW, b = high * WORDCACHE_MIX_HIGH;

	return (uint32_t)((a ^ a >> 32 ^ b ^ b >> 32) * WORDCACHE_MIX >> c->shift) * (uint32_t)sizeof(struct wordcache_set);
}

static inline struct wordcache_set *wordcache_set(const struct wordcache *c, uint32_t place)
{
	return (void *)((char *)c->sets + place);
}

void wordcache_prepare_avx2(const struct wordcache *c, const char *text, const uint32_t *starts, const uint32_t *ends, size_t n,
			    struct wordcache_group *g);
void wordcache_prepare_avx512(const struct wordcache *c, const char *text, const uint32_t *starts, const uint32_t *ends, size_t n,
			      struct wordcache_group *g);
size_t wordcache_take_narrow_avx2(const struct wordcache *c, const struct wordcache_group *g, size_t from, size_t to,
				  uint32_t **out);
size_t wordcache_take_wide_avx2(const struct wordcache *c, const struct wordcache_group *g, size_t from, size_t to,
				uint32_t **out);

#endif
