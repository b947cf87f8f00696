#include "base/map.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void test_empty(void **state)
{
	struct map m = MAP_INIT;

	(void)state;
	assert_null(map_get(&m, "x", 1));
	assert_null(map_get(&m, "", 0));
	map_clear(&m);
	map_release(&m);
}

static void test_keys_are_bytes(void **state)
{
	struct map m = MAP_INIT;

	(void)state;
	*map_put(&m, "", 0) = 1;
	*map_put(&m, "a", 1) = 2;
	*map_put(&m, "a\0", 2) = 3;
	*map_put(&m, "a\0b", 3) = 4;
	assert_int_equal(m.count, 4);
	assert_int_equal(*map_get(&m, "", 0), 1);
	assert_int_equal(*map_get(&m, "a", 1), 2);
	assert_int_equal(*map_get(&m, "a\0", 2), 3);
	assert_int_equal(*map_get(&m, "a\0b", 3), 4);
	assert_null(map_get(&m, "b", 1));
	assert_memory_equal(m.entries[3].key, "a\0b", 4);
	map_release(&m);
}

static void test_values(void **state)
{
	struct map m = MAP_INIT;

	(void)state;
	assert_int_equal(*map_put(&m, "k", 1), 0);
	++*map_put(&m, "k", 1);
	++*map_put(&m, "k", 1);
	assert_int_equal(m.count, 1);
	assert_int_equal(*map_get(&m, "k", 1), 2);
	map_release(&m);
}

#define MANY 100000u

static void fill(struct map *m, unsigned times)
{
	char key[32];

	for (unsigned i = 0; i < MANY; i++) {
		int len = snprintf(key, sizeof(key), "key %u", i * 2654435761u);
		uint64_t *v = map_put(m, key, (size_t)len);

		assert_non_null(v);
		assert_int_equal(*v, (uint64_t)i * times);
		*v += i;
	}
}

static void check(const struct map *m)
{
	char key[32];

	assert_int_equal(m->count, MANY);
	for (unsigned i = 0; i < MANY; i++) {
		int len = snprintf(key, sizeof(key), "key %u", i * 2654435761u);
		const uint64_t *v = map_get(m, key, (size_t)len);

		if (!v || *v != 2 * (uint64_t)i)
			fail_msg("%s is lost", key);
		/* In the order of insertion. */
		if (m->entries[i].len != (uint32_t)len || strcmp(m->entries[i].key, key))
			fail_msg("%s is out of order", key);
		len = snprintf(key, sizeof(key), "Key %u", i);
		if (map_get(m, key, (size_t)len))
			fail_msg("%s is there", key);
	}
}

static void test_many(void **state)
{
	struct map m = MAP_INIT;

	(void)state;
	for (int round = 0; round < 2; round++) {
		fill(&m, 0);
		fill(&m, 1);
		check(&m);
		assert_true(m.n_slots >= 2 * m.count);
		assert_true(map_bytes(&m) >= m.count * (sizeof(struct map_entry) + 8));
		map_clear(&m);
		assert_int_equal(m.count, 0);
		assert_null(map_get(&m, "key 0", 5));
	}
	map_release(&m);
	assert_int_equal(map_bytes(&m), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_keys_are_bytes),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
