/* Permutations: each number once, the way back, values that never change. */
#include "trainer/permutation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

static void test_each_once(void **state)
{
	(void)state;
	for (uint64_t n = 1; n < 300; n += n < 70 ? 1 : 37) {
		bool seen[300] = { false };
		struct permutation p;

		permutation_open(&p, 3, 4, 5, n);
		for (uint64_t x = 0; x < n; x++) {
			const uint64_t y = permutation_at(&p, x);

			assert_true(y < n && !seen[y]);
			seen[y] = true;
			assert_int_equal(permutation_back(&p, y), x);
		}
	}
	assert_int_equal(permutation_of(3, 4, 5, (uint64_t)1 << 62, 0) >> 62, 0);
}

/* Each of its names makes another one. */
static void test_names(void **state)
{
	int same[3] = { 0, 0, 0 };

	(void)state;
	for (uint64_t x = 0; x < 1000; x++) {
		same[0] += permutation_of(1, 2, 3, 1000, x) == permutation_of(9, 2, 3, 1000, x);
		same[1] += permutation_of(1, 2, 3, 1000, x) == permutation_of(1, 9, 3, 1000, x);
		same[2] += permutation_of(1, 2, 3, 1000, x) == permutation_of(1, 2, 9, 1000, x);
	}
	for (int k = 0; k < 3; k++)
		assert_in_range(same[k], 0, 12);
}

/* Part of what makes a run repeatable. */
static void test_values(void **state)
{
	static const uint64_t want[6] = { 364, 140, 976, 109, 274, 570 };

	(void)state;
	for (uint64_t x = 0; x < 6; x++)
		assert_int_equal(permutation_of(12345, 3, 1, 1000, x), want[x]);
	assert_int_equal(permutation_of(12345, 3, 1, (uint64_t)1 << 40, 123456789), UINT64_C(352292903860));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_once), cmocka_unit_test(test_names), cmocka_unit_test(test_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
