#include "tokenizer/wordcache.h"

#include "base/cpu.h"
#include "base/err.h"

#include <assert.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#define LINE 64 /* bytes of a cache line: a set lies in one */
#define BITS_LEAST 6
#define BITS_MOST 24

#define LONG_BITS 2 /* one set in 2^2 is added for long words */

static_assert(sizeof(struct wordcache_set) == LINE && sizeof(struct wordcache_long) == LINE, "a set is a cache line");

/* LEN is 1 to WORDCACHE_KEY. */
static struct wordkey key_of(const char *word, size_t len)
{
	const unsigned low = len < 8 ? 64 - 8 * (unsigned)len : 0; /* bits that are not the word's */
	const unsigned high = len > 8 ? 128 - 8 * (unsigned)len : 0;
	struct wordkey k;

	memcpy(&k, word, sizeof(k));
	k.low = le64toh(k.low) << low >> low;
	k.high = len > 8 ? le64toh(k.high) << high >> high : 0;
	return k;
}

/* LEN is more than WORDCACHE_KEY. */
static void long_key_of(const char *word, size_t len, uint64_t key[WORDCACHE_LONG / 8])
{
	const struct wordkey rest = key_of(word + WORDCACHE_KEY, len - WORDCACHE_KEY);
	struct wordkey first;

	memcpy(&first, word, sizeof(first));
	key[0] = le64toh(first.low);
	key[1] = le64toh(first.high);
	key[2] = rest.low;
	key[3] = rest.high;
}

uint32_t wordcache_long_place(const struct wordcache *c, const char *word, size_t len)
{
	uint64_t k[WORDCACHE_LONG / 8], x;

	if (len > WORDCACHE_LONG)
		return c->nowhere;
	long_key_of(word, len, k);
	x = (k[0] * WORDCACHE_MIX_LOW ^ k[1]) * WORDCACHE_MIX_HIGH;
	x = ((x ^ x >> 32 ^ k[2]) * WORDCACHE_MIX_LOW ^ k[3]) * WORDCACHE_MIX;
	x = (x ^ x >> 32) * WORDCACHE_MIX;
	return c->nowhere + (1 + (uint32_t)(x >> c->long_shift)) * (uint32_t)sizeof(struct wordcache_set);
}

static void prepare(const struct wordcache *c, const char *text, const uint32_t *starts, const uint32_t *ends, size_t n,
		    struct wordcache_group *g)
{
	for (size_t i = 0; i < n; i++) {
		const size_t len = ends[i] - starts[i];
		const struct wordkey k = key_of(text + starts[i], len < WORDCACHE_KEY ? len : WORDCACHE_KEY);

		g->keys[i] = k;
		g->sets[i] = len <= WORDCACHE_KEY ? wordcache_place(c, k.low, k.high) :
						    wordcache_long_place(c, text + starts[i], len);
		__builtin_prefetch(wordcache_set(c, g->sets[i]));
	}
}

/* The ids of K in SET, or NULL. Which of the two it is cannot be foretold, so no branch asks. */
static const union wordcache_ids *find(const struct wordcache_set *set, struct wordkey k)
{
	const bool first = !((set->keys[0].low ^ k.low) | (set->keys[0].high ^ k.high));
	const bool second = !((set->keys[1].low ^ k.low) | (set->keys[1].high ^ k.high));

	return (first | second) ? &set->ids[second] : NULL;
}

/* Nearly every word has one or two pieces: those are copied without counting, the others all at once. */
static size_t take_narrow(const struct wordcache *c, const struct wordcache_group *g, size_t from, size_t to,
			  uint32_t **out)
{
	uint32_t *o = *out;

	for (; from < to; from++) {
		const union wordcache_ids *ids = find(wordcache_set(c, g->sets[from]), g->keys[from]);
		unsigned count;

		if (!ids)
			break;
		count = ids->narrow[WORDCACHE_NARROW] >> 8;
		o[0] = ids->narrow[0];
		o[1] = ids->narrow[1];
		if (count > 2)
			for (size_t i = 2; i < WORDCACHE_NARROW; i++)
				o[i] = ids->narrow[i];
		o += count;
	}
	*out = o;
	return from;
}

static size_t take_wide(const struct wordcache *c, const struct wordcache_group *g, size_t from, size_t to,
			uint32_t **out)
{
	uint32_t *o = *out;

	for (; from < to; from++) {
		const union wordcache_ids *ids = find(wordcache_set(c, g->sets[from]), g->keys[from]);

		if (!ids)
			break;
		memcpy(o, ids, sizeof(*ids));
		o[WORDCACHE_WIDE - 1] &= 0xFFFFFF;
		o += ids->wide[WORDCACHE_WIDE - 1] >> 24;
	}
	*out = o;
	return from;
}

static void choose(struct wordcache *c)
{
	c->prepare = prepare;
	c->take = c->wide ? take_wide : take_narrow;
#if HAVE_AVX2
	if (cpu_has(CPU_AVX2)) {
		c->prepare = wordcache_prepare_avx2;
		c->take = c->wide ? wordcache_take_wide_avx2 : wordcache_take_narrow_avx2;
	}
#endif
#if HAVE_AVX512
	if (cpu_has(CPU_AVX512_VBMI2))
		c->prepare = wordcache_prepare_avx512;
#endif
}

struct wordcache *wordcache_new(size_t bytes, bool wide)
{
	struct wordcache *c = calloc(1, sizeof(*c));
	unsigned bits = BITS_LEAST;

	if (!c) {
		err_memory();
		return NULL;
	}
	while (sizeof(*c->sets) << (bits + 1) <= bytes && bits < BITS_MOST)
		bits++;
	c->shift = 64 - bits;
	c->long_shift = 64 - bits + LONG_BITS;
	c->nowhere = (uint32_t)(sizeof(*c->sets) << bits);
	c->wide = wide;
	choose(c);
	if (pages_map(&c->pages, (((size_t)1 << bits) + 1 + ((size_t)1 << (bits - LONG_BITS))) * sizeof(*c->sets))) {
		free(c);
		return NULL;
	}
	c->sets = c->pages.start;
	return c;
}

void wordcache_free(struct wordcache *c)
{
	if (!c)
		return;
	pages_unmap(&c->pages);
	free(c);
}

static union wordcache_ids pack(const struct wordcache *c, const uint32_t *ids, size_t n)
{
	union wordcache_ids packed = { 0 };

	for (size_t k = 0; k < n; k++)
		if (c->wide)
			packed.wide[k] = ids[k];
		else
			packed.narrow[k] = (uint16_t)ids[k];
	if (c->wide)
		packed.wide[WORDCACHE_WIDE - 1] |= (uint32_t)n << 24;
	else
		packed.narrow[WORDCACHE_NARROW] = (uint16_t)(n << 8);
	return packed;
}

bool wordcache_take_long(const struct wordcache *c, const struct wordcache_group *g, size_t i, const char *word, size_t len,
			 uint32_t **out)
{
	const struct wordcache_long *const entry = (const void *)wordcache_set(c, g->sets[i]);
	uint64_t key[WORDCACHE_LONG / 8];
	union wordcache_ids ids;

	if (g->sets[i] <= c->nowhere)
		return false;
	long_key_of(word, len, key);
	if ((key[0] ^ entry->key[0]) | (key[1] ^ entry->key[1]) | (key[2] ^ entry->key[2]) | (key[3] ^ entry->key[3]))
		return false;
	memcpy(&ids, &entry->first_ids, sizeof(ids) / 2);
	memcpy((char *)&ids + sizeof(ids) / 2, &entry->last_ids, sizeof(ids) / 2);
	if (c->wide) {
		for (size_t k = 0; k < WORDCACHE_WIDE; k++)
			(*out)[k] = ids.wide[k] & 0xFFFFFF;
		*out += ids.wide[WORDCACHE_WIDE - 1] >> 24;
	} else {
		for (size_t k = 0; k < WORDCACHE_NARROW; k++)
			(*out)[k] = ids.narrow[k];
		*out += ids.narrow[WORDCACHE_NARROW] >> 8;
	}
	return true;
}

static void put_long(struct wordcache_long *to, const char *word, size_t len, const union wordcache_ids *ids)
{
	long_key_of(word, len, to->key);
	memcpy(&to->first_ids, ids, sizeof(*ids) / 2);
	memcpy(&to->last_ids, (const char *)ids + sizeof(*ids) / 2, sizeof(*ids) / 2);
}

void wordcache_put(const struct wordcache *c, const struct wordcache_group *g, size_t i, const char *word, size_t len,
		   const uint32_t *ids, size_t n)
{
	struct wordcache_set *const set = wordcache_set(c, g->sets[i]);
	union wordcache_ids packed;

	if (n > (c->wide ? WORDCACHE_WIDE : WORDCACHE_NARROW) || g->sets[i] == c->nowhere)
		return;
	packed = pack(c, ids, n);
	if (g->sets[i] > c->nowhere) {
		put_long((void *)set, word, len, &packed);
		return;
	}
	set->keys[1] = set->keys[0];
	set->ids[1] = set->ids[0];
	set->keys[0] = g->keys[i];
	set->ids[0] = packed;
}
