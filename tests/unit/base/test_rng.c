#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

/* Known answers of Philox4x32-10 from Random123's kat_vectors (D. E. Shaw Research). */
static void test_philox(void **state)
{
	static const struct {
		uint32_t key[2], in[4], out[4];
	} known[] = {
		{ { 0, 0 }, { 0, 0, 0, 0 }, { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 } },
		{ { 0xffffffff, 0xffffffff },
		  { 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff },
		  { 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd } },
		{ { 0xa4093822, 0x299f31d0 },
		  { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344 },
		  { 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 } },
	};
	uint32_t out[4];

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		rng_philox(known[i].key, known[i].in, out);
		assert_memory_equal(out, known[i].out, sizeof(out));
	}
}

/* shards/FORMAT.md, "Random numbers", test vectors; made by another program from the words there. */
static const struct {
	uint64_t seed;
	uint32_t purpose;
	uint64_t key[2];	/* high, low */
	uint32_t occurrence, pass, item;
	uint32_t words[10];
	uint32_t below[7];	/* the stream opened again: below(n) for each n in bounds */
} streams[] = {
	{ 0x0u,
	  0x0,
	  { 0x0000000000000000, 0x0000000000000000 },
	  0x0,
	  0x0,
	  0x0,
	  { 0xc6fb959e, 0xf6409382, 0xa338ded7, 0x8c5c0528, 0x385412fe, 0xe3e0b7bd, 0x8d7ddc48, 0xc23ad1e2, 0xb29d8c7d,
	    0xe90e7ff6 },
	  { 0, 1, 3, 548, 6715, 1186917924, 3258634721u } },
	{ 0x3039u,
	  0x1,
	  { 0x0001020304050607, 0x08090a0b0c0d0e0f },
	  0x0,
	  0x0,
	  0x0,
	  { 0x6ee2fe06, 0x3965471d, 0xf4f14a37, 0x41a1e288, 0xeff726a9, 0xb7a33a6d, 0x9a011188, 0x2610c582, 0xaa851a79,
	    0xdbb7cb4d },
	  { 0, 0, 5, 256, 28610, 1291880644, 638633345 } },
	{ 0x3039u,
	  0x3,
	  { 0x0001020304050607, 0x08090a0b0c0d0e0f },
	  0x1,
	  0x2,
	  0x3,
	  { 0x88c5d1b1, 0x1ce17147, 0x211522fd, 0xec3640c9, 0xeb132297, 0x9250ad87, 0x7151d472, 0xaf464856, 0x04b5d60e,
	    0x95a06642 },
	  { 0, 0, 0, 922, 28027, 1470309419, 79025677 } },
	{ 0xffffffffffffffffu,
	  0xffffffff,
	  { 0xffffffffffffffff, 0xffffffffffffffff },
	  0xffffffff,
	  0xffffffff,
	  0xffffffff,
	  { 0xe7623e29, 0xec492f61, 0x6a097aa3, 0x67ad9d8d, 0xb00d6e05, 0x76b038d3, 0x2a7718e7, 0x8473c2a3, 0xd721df09,
	    0x0dbc7b5a },
	  { 0, 1, 2, 404, 20990, 995630185, 712448230 } },
	{ 0xfedcba9876543210u,
	  0x63,
	  { 0x0123456789abcdef, 0x8000000000000001 },
	  0x7,
	  0x5,
	  0x10000,
	  { 0xbc05647f, 0xd4f3ef95, 0xb50b3999, 0x7a11114a, 0x70f28337, 0x6f195e3e, 0x52aac881, 0x0d3831ab, 0xf332be30,
	    0x01e59a2a },
	  { 0, 1, 4, 476, 13466, 693462080, 221786538 } },
	{ 0x1u,
	  0x6,
	  { 0x0000000000000000, 0x000000000000002a },
	  0x0,
	  0x0,
	  0x0,
	  { 0x17caf897, 0xe377d07d, 0x8fed32ca, 0x65971d1b, 0x4c968ab9, 0xf891001d, 0xad53f804, 0x1b1738b4, 0xba3d4880,
	    0xb61d37e1 },
	  { 0, 1, 3, 396, 9131, 1453980674, 454506675 } },
};
static const uint32_t bounds[7] = { 1, 2, 6, 1000, 30522, 0x80000001, 0xffffffff };

#define N_STREAMS (sizeof(streams) / sizeof(streams[0]))

static void open_known(struct rng *r, size_t i)
{
	rng_open(r, streams[i].seed, streams[i].purpose, streams[i].key[0], streams[i].key[1], streams[i].occurrence,
		 streams[i].pass, streams[i].item);
}

static void test_streams(void **state)
{
	struct rng r;

	(void)state;
	for (size_t i = 0; i < N_STREAMS; i++) {
		open_known(&r, i);
		for (int k = 0; k < 10; k++)
			assert_int_equal(rng_u32(&r), streams[i].words[k]);
		open_known(&r, i);
		for (int k = 0; k < 7; k++)
			assert_int_equal(rng_below(&r, bounds[k]), streams[i].below[k]);
	}
}

static void test_wider_draws(void **state)
{
	struct rng r;

	(void)state;
	for (size_t i = 0; i < N_STREAMS; i++) {
		open_known(&r, i);
		rng_u32(&r);
		assert_true(rng_u64(&r) == ((uint64_t)streams[i].words[2] << 32 | streams[i].words[1]));
		/* Over a block's edge. */
		assert_true(rng_u64(&r) == ((uint64_t)streams[i].words[4] << 32 | streams[i].words[3]));
		assert_true(rng_unit(&r) == streams[i].words[5] / 4294967296.0);
	}
}

/* Any one argument changed gives another stream. */
static void test_arguments_count(void **state)
{
	uint32_t first[9][2];
	struct rng r;

	(void)state;
	for (unsigned i = 0; i < 9; i++) {
		rng_open(&r, (uint64_t)(i == 1) | (uint64_t)(i == 2) << 32, i == 3, (uint64_t)(i == 4) << 63, i == 5,
			 i == 6, i == 7, i == 8);
		first[i][0] = rng_u32(&r);
		first[i][1] = rng_u32(&r);
		for (unsigned k = 0; k < i; k++)
			assert_true(first[i][0] != first[k][0] && first[i][1] != first[k][1]);
	}
}

/* The counter's second word is used after 2^32 blocks. */
static void test_far(void **state)
{
	struct rng r;
	uint32_t expected[4];
	uint32_t in[4];

	(void)state;
	open_known(&r, 1);
	r.block = ((uint64_t)5 << 32) + 7;
	in[0] = 7;
	in[1] = 5;
	in[2] = r.high[0];
	in[3] = r.high[1];
	rng_philox(r.key, in, expected);
	for (int i = 0; i < 4; i++)
		assert_int_equal(rng_u32(&r), expected[i]);
}

/* Chi-square of N draws over n bins: n - 1 on average, standard deviation sqrt(2 (n - 1)); within six of them. */
static void check_uniform(uint32_t n, uint32_t bins, unsigned long draws)
{
	unsigned long *count = calloc(bins, sizeof(*count));
	const double expected = (double)draws / bins, freedom = bins - 1;
	double chi = 0, off;
	struct rng r;

	assert_non_null(count);
	rng_open(&r, n, RNG_TEST, 0, 0, 0, 0, 0);
	for (unsigned long i = 0; i < draws; i++) {
		const uint32_t v = rng_below(&r, n);

		assert_true(v < n);
		count[(uint64_t)v * bins / n]++;
	}
	for (uint32_t i = 0; i < bins; i++)
		chi += (count[i] - expected) * (count[i] - expected) / expected;
	off = chi - freedom;
	assert_true(off * off < 36 * 2 * freedom);
	free(count);
}

static void test_uniform(void **state)
{
	(void)state;
	check_uniform(2, 2, 200000);
	check_uniform(3, 3, 200000);
	check_uniform(10, 10, 200000);
	check_uniform(1000, 1000, 1000000);
	check_uniform(0xC0000000u, 3, 300000);	/* without rejection a third would be drawn twice as often */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_philox),
		cmocka_unit_test(test_streams),
		cmocka_unit_test(test_wider_draws),
		cmocka_unit_test(test_arguments_count),
		cmocka_unit_test(test_far),
		cmocka_unit_test(test_uniform),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
