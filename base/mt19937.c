#include "base/mt19937.h"

#include <assert.h>
#include <string.h>

#define N 624
#define M 397

/* The generator's own seeding from one number, from which init_by_array starts. */
static void fill_state(struct mt19937 *r, uint32_t seed)
{
	r->state[0] = seed;
	for (unsigned i = 1; i < N; i++)
		r->state[i] = 1812433253u * (r->state[i - 1] ^ (r->state[i - 1] >> 30)) + i;
}

/* CPython seeds by init_by_array (the authors' mt19937ar.c) from the integer's 32-bit digits, least first. */
void mt19937_seed(struct mt19937 *r, uint64_t seed)
{
	const uint32_t key[2] = { (uint32_t)seed, (uint32_t)(seed >> 32) };
	const unsigned length = key[1] ? 2 : 1;
	uint32_t *const s = r->state;
	unsigned i = 1, j = 0;

	fill_state(r, 19650218u);
	for (unsigned k = N; k > 0; k--) {
		s[i] = (s[i] ^ ((s[i - 1] ^ (s[i - 1] >> 30)) * 1664525u)) + key[j] + j;
		j = (j + 1) % length;
		if (++i == N) {
			s[0] = s[N - 1];
			i = 1;
		}
	}
	for (unsigned k = N - 1; k > 0; k--) {
		s[i] = (s[i] ^ ((s[i - 1] ^ (s[i - 1] >> 30)) * 1566083941u)) - i;
		if (++i == N) {
			s[0] = s[N - 1];
			i = 1;
		}
	}
	s[0] = 0x80000000u;
	r->index = N;
}

static void next_state(struct mt19937 *r)
{
	uint32_t *const s = r->state;

	for (unsigned k = 0; k < N; k++) {
		const uint32_t y = (s[k] & 0x80000000u) | (s[(k + 1) % N] & 0x7fffffffu);

		s[k] = s[(k + M) % N] ^ (y >> 1) ^ (y & 1 ? 0x9908b0dfu : 0);
	}
	r->index = 0;
}

uint32_t mt19937_u32(struct mt19937 *r)
{
	uint32_t y;

	if (r->index >= N)
		next_state(r);
	y = r->state[r->index++];
	y ^= y >> 11;
	y ^= (y << 7) & 0x9d2c5680u;
	y ^= (y << 15) & 0xefc60000u;
	return y ^ (y >> 18);
}

double mt19937_random(struct mt19937 *r)
{
	const uint32_t a = mt19937_u32(r) >> 5, b = mt19937_u32(r) >> 6;

	return (a * 67108864.0 + b) * (1.0 / 9007199254740992.0);
}

/* getrandbits(bits), 1 <= bits <= 64: 32 bits to a draw, the least significant first, the last one's upper bits. */
static uint64_t draw_bits(struct mt19937 *r, unsigned bits)
{
	uint64_t low;

	if (bits <= 32)
		return mt19937_u32(r) >> (32 - bits);
	low = mt19937_u32(r);
	return low | (uint64_t)(mt19937_u32(r) >> (64 - bits)) << 32;
}

/* Python draws as many bits as N itself has, one more than it needs where N is a power of two. */
uint64_t mt19937_below(struct mt19937 *r, uint64_t n)
{
	uint64_t drawn;
	unsigned bits;

	assert(n >= 1);
	bits = 64 - (unsigned)__builtin_clzll(n);
	do
		drawn = draw_bits(r, bits);
	while (drawn >= n);
	return drawn;
}

int64_t mt19937_randint(struct mt19937 *r, int64_t low, int64_t high)
{
	assert(low <= high);
	return (int64_t)((uint64_t)low + mt19937_below(r, (uint64_t)high - (uint64_t)low + 1));
}

void mt19937_shuffle(struct mt19937 *r, void *items, size_t n, size_t size)
{
	unsigned char *const base = items, moved[64];

	assert(size <= sizeof(moved));
	for (size_t i = n; i-- > 1;) {
		const size_t j = (size_t)mt19937_below(r, i + 1);

		memcpy(moved, base + i * size, size);
		memmove(base + i * size, base + j * size, size);	/* i may be j */
		memcpy(base + j * size, moved, size);
	}
}
