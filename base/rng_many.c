#include "base/rng_many.h"

#include "base/cpu.h"

#include <assert.h>
#include <string.h>

static unsigned blocks(const uint32_t key[2], const uint32_t high[2], uint64_t from, unsigned n, uint32_t *out)
{
	for (unsigned i = 0; i < n; i++, from++, out += 4) {
		const uint32_t in[4] = { (uint32_t)from, (uint32_t)(from >> 32), high[0], high[1] };

		rng_philox(key, in, out);
	}
	return n;
}

static void firsts(const struct rng_key *k, uint32_t purpose, uint32_t occurrence, const uint32_t *pass,
		   const uint32_t *item, uint64_t *out)
{
	struct rng r;

	for (unsigned i = 0; i < RNG_LANES; i++) {
		rng_open_of(&r, k, purpose, occurrence, pass[i], item[i]);
		out[i] = rng_u64(&r);
	}
}

static const struct rng_many rng_many_plain = { blocks, firsts };

static const struct rng_many *best(void)
{
#if HAVE_AVX512
	if (cpu_has(CPU_AVX512))
		return &rng_many_avx512;
#endif
#if HAVE_AVX2
	if (cpu_has(CPU_AVX2))
		return &rng_many_avx2;
#endif
	return &rng_many_plain;
}

void rng_ahead_open(struct rng_ahead *a, const struct rng *r, unsigned n)
{
	assert(!r->block && r->used == 4);
	a->key[0] = r->key[0];
	a->key[1] = r->key[1];
	a->high[0] = r->high[0];
	a->high[1] = r->high[1];
	a->block = 0;
	a->used = a->have = 0;
	rng_ahead_more(a, n);
}

void rng_ahead_more(struct rng_ahead *a, unsigned n)
{
	const unsigned left = a->have - a->used, most = RNG_AHEAD - 4 * RNG_BLOCKS_MORE - 4;
	unsigned made;

	n = n < most ? n : most;
	if (n <= left)
		return;
	memmove(a->words, a->words + a->used, left * sizeof(*a->words));
	made = best()->blocks(a->key, a->high, a->block, (n - left + 3) / 4, a->words + left);
	a->block += made;
	a->used = 0;
	a->have = left + 4 * made;
}

void rng_u64_each(const struct rng_key *k, uint32_t purpose, uint32_t occurrence, const uint32_t *pass,
		  const uint32_t *item, size_t n, uint64_t *out)
{
	const struct rng_many *m = best();
	uint32_t passes[RNG_LANES] = { 0 }, items[RNG_LANES] = { 0 };
	uint64_t last[RNG_LANES];
	size_t i = 0;

	for (; i + RNG_LANES <= n; i += RNG_LANES)
		m->firsts(k, purpose, occurrence, pass + i, item + i, out + i);
	if (i == n)
		return;
	memcpy(passes, pass + i, (n - i) * sizeof(*pass));
	memcpy(items, item + i, (n - i) * sizeof(*item));
	m->firsts(k, purpose, occurrence, passes, items, last);
	memcpy(out + i, last, (n - i) * sizeof(*out));
}
