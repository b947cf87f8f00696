#include "shards/keys.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void assert_key(struct key k, uint64_t hi, uint64_t lo)
{
	assert_int_equal(k.hi, hi);
	assert_int_equal(k.lo, lo);
}

static struct key less_one(struct key k)
{
	return (struct key){ k.hi - !k.lo, k.lo - 1 };
}

static void test_add_carries(void **state)
{
	(void)state;
	assert_key(key_add((struct key){ 1, UINT64_MAX }, (struct key){ 2, 1 }), 4, 0);
	assert_key(key_add((struct key){ UINT64_MAX, UINT64_MAX }, (struct key){ 0, 1 }), 0, 0);
	assert_key(key_add((struct key){ 5, 6 }, (struct key){ 7, 8 }), 12, 14);
}

static void test_bytes_are_big_endian(void **state)
{
	const struct key k = { 0x0102030405060708, 0x090a0b0c0d0e0f10 };
	unsigned char bytes[KEY_BYTES];

	(void)state;
	key_put(k, bytes);
	for (unsigned i = 0; i < KEY_BYTES; i++)
		assert_int_equal(bytes[i], i + 1);
	assert_key(key_get(bytes), k.hi, k.lo);
}

/* The first key of a shard is in it and the one before is not, for every shard. */
static void check_cut(uint32_t shards, uint32_t k)
{
	const struct key first = key_shard_first(k, shards);

	assert_int_equal(key_shard(first, shards), k);
	if (k)
		assert_int_equal(key_shard(less_one(first), shards), k - 1);
}

static void test_shards_are_equal_cuts(void **state)
{
	const uint32_t numbers[] = { 1, 2, 3, 6, 7, 16, 1000, 65537, 999983, KEYS_SHARDS_MAX };

	(void)state;
	for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		const uint32_t n = numbers[i], step = n < 5000 ? 1 : n / 1000;

		for (uint32_t k = 0; k < n; k += step)
			check_cut(n, k);
		check_cut(n, n - 1);
		assert_int_equal(key_shard((struct key){ UINT64_MAX, UINT64_MAX }, n), n - 1);
	}
	assert_key(key_shard_first(1, 2), UINT64_C(1) << 63, 0);
	assert_key(key_shard_first(1, 3), 0x5555555555555555, 0x5555555555555556);	/* ceil(2^128 / 3) */
}

static void test_points(void **state)
{
	(void)state;
	assert_key(key_point(0, 1, 0), 0, 0);
	assert_key(key_point(0, 1, UINT64_MAX), UINT64_MAX, 0);
	assert_key(key_point(1, 2, 0), UINT64_C(1) << 63, 0);
	assert_key(key_point(1, 2, 3), (UINT64_C(1) << 63) + 1, UINT64_C(1) << 63);
	assert_key(key_point(2, 3, 2), 0xaaaaaaaaaaaaaaab, 0x5555555555555555);	/* floor((2 * 2^64 + 2) * 2^64 / 3) */
	for (uint64_t u = 0; u < UINT64_MAX - (UINT64_MAX >> 8); u += UINT64_MAX >> 8)
		assert_true(key_compare(key_point(4, 7, u), key_point(4, 7, u + (UINT64_MAX >> 8))) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_add_carries),
		cmocka_unit_test(test_bytes_are_big_endian),
		cmocka_unit_test(test_shards_are_equal_cuts),
		cmocka_unit_test(test_points),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
