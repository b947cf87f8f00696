/* Ids as codes of one byte. */
#include "shards/codes.h"
#include "base/buf.h"
#include "base/err.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

struct codes_shape codes_shape(uint32_t vocab_size)
{
	const uint64_t last = vocab_size - 1;
	unsigned bits = 8;

	if (last >> bits >= 128)
		for (bits = 9; last >> bits >= 64;)
			bits++;
	return (struct codes_shape){ vocab_size, bits, (bits + 7) / 8, 255 - (unsigned)(last >> bits) };
}

/* --- writing ------------------------------------------------------------------------------------- */

/* The code of an id that is not common. */
static unsigned char class_of(const struct codes_shape *s, uint32_t id)
{
	return (unsigned char)(s->direct + (id >> s->bits));
}

int codes_init(struct codes *c, uint32_t vocab_size)
{
	*c = (struct codes){ .shape = codes_shape(vocab_size) };
	if (vocab_size > CODES_VOCAB_MOST)
		return 0;
	c->code = malloc(vocab_size);
	c->counts = calloc(vocab_size, sizeof(*c->counts));
	c->chosen = calloc(vocab_size / 64 + 1, sizeof(*c->chosen));
	if (!c->code || !c->counts || !c->chosen)
		return err_memory();
	for (uint32_t id = 0; id < vocab_size; id++)
		c->code[id] = class_of(&c->shape, id);
	return 0;
}

void codes_release(struct codes *c)
{
	if (!c)
		return;
	free(c->code);
	free(c->counts);
	free(c->chosen);
	free(c->found);
	*c = (struct codes){ .n = 0 };
}

/*
 * Counts a sample of IDS, which tells nearly as well as all of them what is frequent: counting is what costs. Ids that
 * are there twice go to FOUND; returns their number.
 */
static size_t count(uint32_t *restrict counts, uint32_t *restrict found, const uint32_t *restrict ids, size_t t)
{
	size_t n = 0;

	for (size_t j = 0; j < t; j += CODES_STRIDE) {
		found[n] = ids[j];
		n += ++counts[ids[j]] == 2;
	}
	return n;
}

/*
 * The least number of times that at most MOST of the N ids FOUND exceed. It is not above SAMPLE / (MOST + 1), since MOST + 1
 * ids that exceeded that would be more than the sample: what does is not told apart. TIMES is scratch of that size and 2.
 */
static uint32_t threshold(const struct codes *c, const uint32_t *found, size_t n, uint32_t *times, size_t sample,
			  size_t most)
{
	const uint32_t high = (uint32_t)(sample / (most + 1));
	uint32_t least = high;
	size_t above;

	memset(times, 0, ((size_t)high + 2) * sizeof(*times));
	for (size_t j = 0; j < n; j++)
		times[c->counts[found[j]] > high ? high + 1 : c->counts[found[j]]]++;
	for (above = times[high + 1]; least && above + times[least] <= most; least--)
		above += times[least];
	return least;
}

/* The most frequent of N ids FOUND in SAMPLE ids, the smaller of equally frequent ones. TIMES as for threshold. */
static void choose(struct codes *c, const uint32_t *found, size_t n, uint32_t *times, size_t sample)
{
	size_t left = c->shape.direct;
	const uint32_t least = threshold(c, found, n, times, sample, left);

	for (size_t j = 0; j < n; j++) {
		const uint32_t id = found[j];

		c->chosen[id / 64] |= (uint64_t)(c->counts[id] >= least) << id % 64;
		left -= c->counts[id] > least;
	}
	for (uint32_t w = 0; w <= c->shape.vocab_size / 64; w++) {
		for (uint64_t bits = c->chosen[w]; bits; bits &= bits - 1) {
			const uint32_t id = 64 * w + (uint32_t)__builtin_ctzll(bits);

			if (c->counts[id] > least || (left && left--))
				c->common[c->n++] = id;
		}
		c->chosen[w] = 0;
	}
}

int codes_choose(struct codes *c, const uint32_t *ids, size_t t)
{
	const size_t sample = t / CODES_STRIDE + (t % CODES_STRIDE != 0), room = sample / 2 + 1;
	size_t n;

	for (unsigned k = 0; k < c->n; k++)
		c->code[c->common[k]] = class_of(&c->shape, c->common[k]);
	c->n = 0;
	if (!c->code)
		return 0;
	if (array_grow(&c->found, &c->cap, room + sample / (c->shape.direct + 1) + 2, sizeof(*c->found)))
		return -1;
	n = count(c->counts, c->found, ids, t);
	choose(c, c->found, n, c->found + room, sample);
	for (size_t j = 0; j < t; j += CODES_STRIDE)
		c->counts[ids[j]] = 0;
	for (unsigned k = 0; k < c->n; k++)
		c->code[c->common[k]] = (unsigned char)k;
	return 0;
}

/* Planes of T bytes at REST, of which those returned are used. Without branches, since every other id is common. */
INLINE size_t put(const struct codes *c, const uint32_t *restrict ids, size_t t, unsigned char *restrict code,
		  unsigned char *restrict rest, bool table, unsigned planes)
{
	const uint32_t mask = (UINT32_C(1) << c->shape.bits) - 1;
	const unsigned direct = c->shape.direct;
	const unsigned char *restrict codes = c->code;
	unsigned char *at = rest;

#pragma GCC unroll 4
	for (size_t j = 0; j < t; j++) {
		const uint32_t id = ids[j];
		const unsigned char x = table ? codes[id] : class_of(&c->shape, id);

		code[j] = x;
		for (unsigned k = 0; k < planes; k++)
			at[k * t] = (unsigned char)((id & mask) >> (8 * k));
		at += x >= direct;
	}
	return (size_t)(at - rest);
}

size_t codes_put(const struct codes *c, const uint32_t *ids, size_t t, unsigned char *out)
{
	unsigned char *rest = out + t;
	size_t n;

	if (!c->code)
		n = put(c, ids, t, out, rest, false, c->shape.planes);
	else if (c->shape.planes == 1)
		n = put(c, ids, t, out, rest, true, 1);
	else
		n = put(c, ids, t, out, rest, true, 2);
	for (unsigned k = 1; k < c->shape.planes; k++)
		memmove(rest + k * n, rest + k * t, n);
	return t + c->shape.planes * n;
}

/* --- reading ------------------------------------------------------------------------------------- */

/* What a code says by itself, and where it is a class the bits that are open; else these are 0. */
#define IS_CLASS (UINT64_C(1) << 63)
static void tabulate(const struct codes_shape *s, const uint32_t *common, unsigned n, uint64_t *meaning)
{
	const uint64_t open = ((UINT64_C(1) << s->bits) - 1) << 32;

	for (unsigned x = 0; x < s->direct; x++)
		meaning[x] = x < n ? common[x] : 0;
	for (unsigned x = s->direct; x < 256; x++)
		meaning[x] = IS_CLASS | open | (uint64_t)(x - s->direct) << s->bits;
}

#define STEP 32

/* The next of REST, whose planes are at a distance of N; where there is none, whatever stands there. */
INLINE uint32_t lower(const unsigned char *rest, size_t n, unsigned planes)
{
	uint32_t x = rest[0];

	for (unsigned k = 1; k < planes; k++)
		x |= (uint32_t)rest[k * n] << (8 * k);
	return x;
}

/*
 * STEP ids; returns where in REST the next one begins. Without branches, since every other code is a class: so the rest
 * is looked at where it is not needed too.
 */
INLINE const unsigned char *get_step(const uint64_t *restrict meaning, const unsigned char *restrict code,
				     const unsigned char *rest, size_t n, unsigned planes, uint32_t *restrict ids)
{
#pragma GCC unroll 4
	for (unsigned j = 0; j < STEP; j++) {
		const uint64_t x = meaning[code[j]];

		ids[j] = (uint32_t)x | (lower(rest, n, planes) & (uint32_t)(x >> 32));
		rest += x >> 63;
	}
	return rest;
}

/* T ids; returns how much of the N of REST they need, or N + 1. */
INLINE size_t get(const uint64_t *restrict meaning, const unsigned char *restrict code, size_t t,
		  const unsigned char *rest, size_t n, unsigned planes, uint32_t *restrict ids)
{
	const unsigned char *at = rest, *end = rest + n;
	size_t j = 0;

	for (; t - j >= STEP && end - at >= STEP; j += STEP)
		at = get_step(meaning, code + j, at, n, planes, ids + j);
	for (; j < t; j++) {
		const uint64_t x = meaning[code[j]];

		if (x & IS_CLASS && at == end)
			return n + 1;
		ids[j] = (uint32_t)x | (x & IS_CLASS ? lower(at, n, planes) & (uint32_t)(x >> 32) : 0);
		at += x >> 63;
	}
	return (size_t)(at - rest);
}

static int check_codes(unsigned n, unsigned direct, const unsigned char *code, size_t t)
{
	for (size_t j = 0; n < direct && j < t; j++)
		if (code[j] >= n && code[j] < direct)
			return err_corrupt("code %u, where %u ids are common and classes begin at %u", code[j], n,
					   direct);
	return 0;
}

/* Whether the N numbers of the rest have no more bits than are open. */
static int check_rest(const struct codes_shape *s, const unsigned char *rest, size_t n)
{
	const unsigned last = s->planes - 1;
	unsigned used = 0;

	for (size_t j = 0; s->bits % 8 && j < n; j++)
		used |= rest[last * n + j];
	return used >> (s->bits - 8 * last) ? err_corrupt("the rest of an id has more than %u bits", s->bits) : 0;
}

static int check_size(uint32_t vocab_size, const uint32_t *ids, size_t t)
{
	for (size_t j = 0; j < t; j++)
		if (ids[j] >= vocab_size)
			return err_corrupt("id %" PRIu32 " is not below the vocabulary's size %" PRIu32, ids[j],
					   vocab_size);
	return 0;
}

/* Only ids of the last class may be too large: runs without it are passed over. */
static int check_last_class(uint32_t vocab_size, const unsigned char *code, const uint32_t *ids, size_t t)
{
	size_t j = 0;

	for (; t - j >= STEP; j += STEP) {
		unsigned char any = 0;

		for (unsigned k = 0; k < STEP; k++)
			any |= code[j + k] == 255;
		if (any && check_size(vocab_size, ids + j, STEP))
			return -1;
	}
	return check_size(vocab_size, ids + j, t - j);
}

int codes_get(const struct codes_shape *s, const uint32_t *common, unsigned n, const unsigned char *code, size_t t,
	      const unsigned char *rest, size_t bytes, uint32_t *ids)
{
	const size_t m = bytes / s->planes;
	uint64_t meaning[256];
	size_t used;

	tabulate(s, common, n, meaning);
	if (s->planes == 1)
		used = get(meaning, code, t, rest, m, 1, ids);
	else if (s->planes == 2)
		used = get(meaning, code, t, rest, m, 2, ids);
	else
		used = get(meaning, code, t, rest, m, s->planes, ids);
	if (used > m)
		return err_corrupt("the block is too short for its ids");
	if (used * s->planes != bytes)
		return err_corrupt("the block holds %zu bytes more than its ids", bytes - used * s->planes);
	if (check_codes(n, s->direct, code, t) || check_rest(s, rest, m))
		return -1;
	return check_last_class(s->vocab_size, code, ids, t);
}
