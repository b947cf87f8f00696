#include "base/rng_many.h"

#include "base/cpu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static const char *const processors[] = { "none", "avx2", "native" };
#define N_PROCESSORS (sizeof(processors) / sizeof(processors[0]))

/* Draws of words made ahead, here and there, are those of words made one block at a time. */
static void test_ahead(void **state)
{
	struct rng plain, choice;
	struct rng_ahead ahead;

	(void)state;
	rng_open(&choice, 1, RNG_TEST, 0, 0, 0, 0, 0);
	for (unsigned i = 0; i < 300; i++) {
		assert_int_equal(cpu_limit(processors[i % N_PROCESSORS]), 0);
		rng_open(&plain, i, RNG_TEST, i * 7, i, 1, 2, 3);
		rng_ahead_open(&ahead, &plain, i);
		for (unsigned turn = 0; turn < 8; turn++) {
			for (unsigned n = rng_below(&choice, 2 * RNG_AHEAD); n; n--)
				assert_int_equal(rng_ahead_u32(&ahead), rng_u32(&plain));
			rng_ahead_more(&ahead, rng_below(&choice, RNG_AHEAD + 20));
			assert_true(ahead.used <= ahead.have && ahead.have <= RNG_AHEAD);
		}
	}
	assert_int_equal(cpu_limit("native"), 0);
}

static void test_kinds_of_draws(void **state)
{
	struct rng plain;
	struct rng_ahead ahead;

	(void)state;
	rng_open(&plain, 5, RNG_TEST, 6, 7, 1, 2, 3);
	rng_ahead_open(&ahead, &plain, 10);
	for (uint32_t i = 0; i < 1000; i++) {
		const uint32_t n = 0xC0000000u + i * 1000;	/* one in four is drawn again */

		assert_int_equal(rng_ahead_below(&ahead, 1 + i), rng_below(&plain, 1 + i));
		assert_int_equal(rng_ahead_below(&ahead, n), rng_below(&plain, n));
		assert_true(rng_ahead_unit(&ahead) == rng_unit(&plain));
	}
}

/* As many words are ready as were asked for. */
static void test_ahead_is_enough(void **state)
{
	struct rng r;
	struct rng_ahead a;

	(void)state;
	for (unsigned i = 0; i < N_PROCESSORS; i++) {
		assert_int_equal(cpu_limit(processors[i]), 0);
		rng_open(&r, 1, RNG_TEST, 0, 0, 0, 0, 0);
		rng_ahead_open(&a, &r, 50);
		assert_true(a.have - a.used >= 50);
		a.used += 49;
		rng_ahead_more(&a, 128);
		assert_true(a.have - a.used >= 128);
	}
	assert_int_equal(cpu_limit("native"), 0);
}

/* The counter passes from one word to the next inside a vector. */
static void test_far(void **state)
{
	struct rng plain;
	struct rng_ahead ahead;

	(void)state;
	for (unsigned i = 0; i < N_PROCESSORS; i++) {
		assert_int_equal(cpu_limit(processors[i]), 0);
		rng_open(&plain, 1, RNG_TEST, 2, 3, 4, 5, 6);
		rng_ahead_open(&ahead, &plain, 0);
		ahead.block = plain.block = UINT64_C(0x2FFFFFFF9);
		rng_ahead_more(&ahead, 64);
		for (unsigned k = 0; k < 64; k++)
			assert_int_equal(rng_ahead_u32(&ahead), rng_u32(&plain));
	}
	assert_int_equal(cpu_limit("native"), 0);
}

static void test_each(void **state)
{
	uint32_t pass[30], item[30];
	uint64_t out[31];
	struct rng_key k;
	struct rng r;

	(void)state;
	rng_key_open(&k, UINT64_C(0xFEDCBA9876543210), UINT64_C(0x123456789abcdef), UINT64_C(0x8000000000000001));
	for (unsigned i = 0; i < 30; i++) {
		pass[i] = i * 1000003;
		item[i] = UINT32_MAX - i * i;
	}
	for (unsigned i = 0; i < 31 * N_PROCESSORS; i++) {
		const size_t n = i / N_PROCESSORS;

		assert_int_equal(cpu_limit(processors[i % N_PROCESSORS]), 0);
		out[n] = 99;
		rng_u64_each(&k, RNG_ORDER, 7, pass, item, n, out);
		assert_true(out[n] == 99);
		for (size_t j = 0; j < n; j++) {
			rng_open(&r, UINT64_C(0xFEDCBA9876543210), RNG_ORDER, UINT64_C(0x123456789abcdef),
				 UINT64_C(0x8000000000000001), 7, pass[j], item[j]);
			assert_true(out[j] == rng_u64(&r));
		}
	}
	assert_int_equal(cpu_limit("native"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ahead),
		cmocka_unit_test(test_kinds_of_draws),
		cmocka_unit_test(test_ahead_is_enough),
		cmocka_unit_test(test_far),
		cmocka_unit_test(test_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
