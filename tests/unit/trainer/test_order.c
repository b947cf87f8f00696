/* The order of training: every instance once, another order each epoch, windows that are what they say. */
#include "trainer/order.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

static const uint64_t sizes[] = { 1, 2, 3, 255, 256, 257, 300, 4096, 4097, 4351, 5000, 8192, 9000, 20000 };
#define N_SIZES (sizeof(sizes) / sizeof(sizes[0]))

static void test_each_once(void **state)
{
	(void)state;
	for (size_t k = 0; k < N_SIZES; k++) {
		for (uint64_t epoch = 0; epoch < 5; epoch++) {
			bool *seen = calloc(sizes[k], sizeof(*seen));
			struct order o;

			order_init(&o, 7, sizes[k]);
			for (uint64_t i = 0; i < sizes[k]; i++) {
				const uint64_t at = order_at(&o, epoch, i);

				assert_true(at < sizes[k]);
				assert_false(seen[at]);
				seen[at] = true;
			}
			free(seen);
		}
	}
}

/* Windows follow each other without a hole, and hold whole blocks. */
static void test_windows(void **state)
{
	(void)state;
	for (size_t k = 0; k < N_SIZES; k++) {
		for (uint64_t epoch = 0; epoch < 5; epoch++) {
			uint64_t at = 0;
			struct order o;

			order_init(&o, 7, sizes[k]);
			while (at < sizes[k]) {
				uint64_t first, count, other, n, blocks[ORDER_WINDOW], used = 0;

				order_window(&o, epoch, at, &first, &count);
				assert_int_equal(first, at);
				assert_in_range(count, 1, ORDER_BLOCK * ORDER_WINDOW);
				order_window(&o, epoch, at + count - 1, &other, &n);
				assert_int_equal(other, first);
				assert_int_equal(n, count);
				for (uint64_t i = 0; i < count; i++) {
					const uint64_t block = order_at(&o, epoch, first + i) / ORDER_BLOCK;
					uint64_t b = 0;

					while (b < used && blocks[b] != block)
						b++;
					if (b == used) {
						assert_true(used < ORDER_WINDOW);
						blocks[used++] = block;
					}
				}
				at += count;
			}
			assert_int_equal(at, sizes[k]);
		}
	}
}

static void test_inverse(void **state)
{
	(void)state;
	for (uint64_t n = 1; n < 200; n++)
		for (uint64_t x = 0; x < n; x++)
			assert_int_equal(order_permute_back(3, 4, 5, n, order_permute(3, 4, 5, n, x)), x);
	assert_int_equal(order_permute_back(3, 4, 5, (uint64_t)1 << 40, order_permute(3, 4, 5, (uint64_t)1 << 40, 123456789)), 123456789);
}

/* Seeds and epochs give other orders; neighbours do not stay together. */
static void test_mixes(void **state)
{
	struct order a, b;
	int same_seed = 0, same_epoch = 0, neighbours = 0;

	(void)state;
	order_init(&a, 1, 9000);
	order_init(&b, 2, 9000);
	for (uint64_t i = 0; i + 1 < 9000; i++) {
		same_seed += order_at(&a, 0, i) == order_at(&b, 0, i);
		same_epoch += order_at(&a, 0, i) == order_at(&a, 1, i);
		neighbours += order_at(&a, 0, i) + 1 == order_at(&a, 0, i + 1);
	}
	assert_in_range(same_seed, 0, 20);
	assert_in_range(same_epoch, 0, 20);
	assert_in_range(neighbours, 0, 20);
}

/* The order is part of what makes a run repeatable: these values never change. */
static void test_values(void **state)
{
	static const uint64_t want[8] = { 2402, 8697, 8485, 3893, 6572, 4957, 2151, 2264 };
	struct order o;

	(void)state;
	order_init(&o, 12345, 10000);
	for (uint64_t i = 0; i < 8; i++)
		assert_int_equal(order_at(&o, 3, 1000 * i), want[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_once), cmocka_unit_test(test_windows), cmocka_unit_test(test_inverse),
		cmocka_unit_test(test_mixes), cmocka_unit_test(test_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
