/*
 * wordcache.h - the pieces of words met before.
 *
 * Most words of a text are few; the cache answers for them in one look at one
 * cache line. It holds words of up to WORDCACHE_KEY bytes with few pieces;
 * others are never in it. A set has two entries; a new word takes the first
 * place, and what stood there moves to the second. What it holds changes
 * speed, never results.
 *
 *	struct wordkey k = wordcache_key(word, len);	(len <= WORDCACHE_KEY; as many bytes at WORD can be read)
 *	struct wordcache_entry *set = wordcache_set(c, k);
 *	__builtin_prefetch(set);			(and other work meanwhile)
 *	const struct wordcache_entry *e = wordcache_find(set, k);
 *	if (!e)
 *		... wordcache_put(c, set, k, ids, n);
 */
#ifndef TOKENIZER_WORDCACHE_H
#define TOKENIZER_WORDCACHE_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define WORDCACHE_KEY 16
#define WORDCACHE_NARROW 6		/* pieces of an entry, ids up to 65535 */
#define WORDCACHE_WIDE 3		/* the same for wider ids */

/* A word as two integers: its bytes, then zeros. No word holds a zero byte, so the length is in it too. */
struct wordkey {
	uint64_t low, high;
};

struct wordcache_entry {
	struct wordkey key;		/* both 0: free */
	uint32_t count;
	union {
		uint16_t narrow[WORDCACHE_NARROW];
		uint32_t wide[WORDCACHE_WIDE];
	};
};

struct wordcache {
	struct wordcache_entry (*sets)[2];	/* in MEMORY, each on a cache line of its own */
	char *memory;
	unsigned shift;			/* of a 64-bit hash, to leave the number of a set */
	bool wide;
};

/* A cache of about BYTES. NULL: out of memory. */
struct wordcache *wordcache_new(size_t bytes, bool wide);
void wordcache_free(struct wordcache *c);			/* accepts NULL */

/* Remembers N ids under K, which is not in its SET; nothing happens when they are too many. */
void wordcache_put(const struct wordcache *c, struct wordcache_entry *set, struct wordkey k, const uint32_t *ids, size_t n);

/* LEN is 1 to WORDCACHE_KEY. */
static inline struct wordkey wordcache_key(const char *word, size_t len)
{
	const unsigned low = len < 8 ? 64 - 8 * (unsigned)len : 0;	/* bits that are not the word's */
	const unsigned high = len > 8 ? 128 - 8 * (unsigned)len : 0;
	struct wordkey k;

	memcpy(&k, word, sizeof(k));
	k.low = le64toh(k.low) << low >> low;
	k.high = len > 8 ? le64toh(k.high) << high >> high : 0;
	return k;
}

/* Where K belongs. */
static inline struct wordcache_entry *wordcache_set(const struct wordcache *c, struct wordkey k)
{
	const uint64_t a = k.low * 0x9E3779B97F4A7C15u, b = k.high * 0xD1B54A32D192ED03u;

	return c->sets[(a ^ (b >> 32 | b << 32) ^ a >> 32) * 0x9FB21C651E98DF25u >> c->shift];
}

static inline const struct wordcache_entry *wordcache_find(const struct wordcache_entry *set, struct wordkey k)
{
	/* Which of the two it is cannot be foretold, so no branch asks. */
	const bool first = !((set[0].key.low ^ k.low) | (set[0].key.high ^ k.high));
	const bool second = !((set[1].key.low ^ k.low) | (set[1].key.high ^ k.high));

	return (first | second) ? &set[second] : NULL;
}

#endif
