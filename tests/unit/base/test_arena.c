#include "base/arena.h"

#include "base/err.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void test_alloc(void **state)
{
	struct arena a = ARENA_INIT;
	unsigned char *p[400];

	(void)state;
	for (size_t i = 0; i < 400; i++) {
		p[i] = arena_alloc(&a, i);
		assert_non_null(p[i]);
		assert_int_equal((uintptr_t)p[i] % 16, 0);
		memset(p[i], (int)(i & 0xFF), i);
		assert_non_null(arena_dup(&a, "odd", i % 4));	/* leaves the arena unaligned */
	}
	for (size_t i = 0; i < 400; i++)
		for (size_t k = 0; k < i; k++)
			if (p[i][k] != (i & 0xFF))
				fail_msg("block %zu was overwritten", i);
	arena_release(&a);
	assert_null(a.blocks);
	assert_int_equal(a.bytes, 0);
}

static void test_dup(void **state)
{
	struct arena a = ARENA_INIT;
	const char *s = arena_dup(&a, "ab\0cd", 5), *e = arena_dup(&a, NULL, 0);

	(void)state;
	assert_memory_equal(s, "ab\0cd", 6);
	assert_int_equal(*e, 0);
	assert_ptr_equal(s + 6, e);	/* packed */
	arena_release(&a);
}

static void test_large(void **state)
{
	struct arena a = ARENA_INIT;
	char *small = arena_dup(&a, "small", 5), *large = arena_alloc(&a, 10 << 20);

	(void)state;
	assert_non_null(large);
	memset(large, 'x', 10 << 20);
	assert_string_equal(small, "small");
	assert_ptr_equal(arena_dup(&a, "b", 1), small + 6);	/* the first block goes on being filled */
	assert_true(a.bytes >= 10 << 20);
	assert_true(a.bytes < 11 << 20);
	arena_clear(&a);
	assert_true(a.bytes < 1 << 20);
	assert_ptr_equal(arena_dup(&a, "again", 5), small);
	arena_release(&a);
}

static void test_first_is_large(void **state)
{
	struct arena a = ARENA_INIT;

	(void)state;
	assert_non_null(arena_alloc(&a, 5 << 20));
	for (int i = 0; i < 1000; i++)
		assert_non_null(arena_alloc(&a, 100));
	assert_true(a.bytes < 8 << 20);
	arena_release(&a);
}

static void test_too_much(void **state)
{
	struct arena a = ARENA_INIT;

	(void)state;
	assert_null(arena_alloc(&a, SIZE_MAX));
	assert_string_equal(err_text(), "out of memory");
	assert_null(arena_dup(&a, "", SIZE_MAX));
	assert_null(arena_alloc(&a, SIZE_MAX - 8));
	arena_clear(&a);
	arena_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alloc),
		cmocka_unit_test(test_dup),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_first_is_large),
		cmocka_unit_test(test_too_much),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
