#include "finetune/labels.h"

#include "base/err.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void labels_are_numbered_as_they_come(void **state)
{
	struct labels l = LABELS_INIT;

	(void)state;
	assert_int_equal(labels_find(&l, "b"), -1);
	assert_int_equal(labels_add(&l, "b"), 0);
	assert_int_equal(labels_add(&l, "a"), 1);
	assert_int_equal(labels_add(&l, "b"), 0);
	assert_int_equal(labels_add(&l, ""), 2);
	assert_int_equal(l.n, 3);
	assert_string_equal(l.names[0], "b");
	assert_string_equal(l.names[1], "a");
	assert_int_equal(labels_find(&l, ""), 2);
	assert_int_equal(labels_find(&l, "A"), -1);
	labels_release(&l);
	assert_int_equal(l.n, 0);
	assert_int_equal(labels_add(&l, "a"), 0);
	labels_release(&l);
}

static void sorting_is_by_bytes(void **state)
{
	static const char *const names[] = { "neutral", "é", "10", "Zebra", "9", "neutra", "a b", "😀", "-1" };
	static const char *const sorted[] = { "-1", "10", "9", "Zebra", "a b", "neutra", "neutral", "é", "😀" };
	static const int32_t wanted[] = { 6, 7, 1, 3, 2, 5, 4, 8, 0 };
	struct labels l = LABELS_INIT;
	int32_t *by;

	(void)state;
	for (int i = 0; i < 9; i++)
		assert_int_equal(labels_add(&l, names[i]), i);
	assert_int_equal(labels_sort(&l, &by), 0);
	for (int i = 0; i < 9; i++) {
		assert_int_equal(by[i], wanted[i]);
		assert_int_equal(labels_find(&l, names[i]), wanted[i]);
		assert_string_equal(l.names[i], sorted[i]);
	}
	free(by);
	assert_int_equal(labels_sort(&l, NULL), 0);
	assert_int_equal(labels_find(&l, "neutral"), 6);
	assert_int_equal(labels_add(&l, "new"), 9);
	assert_string_equal(l.names[9], "new");
	labels_release(&l);
}

static void nothing_can_be_sorted(void **state)
{
	struct labels l = LABELS_INIT;
	int32_t *by;

	(void)state;
	assert_int_equal(labels_sort(&l, &by), 0);
	assert_non_null(by);
	free(by);
	assert_true(labels_same(&l, NULL, 0));
	labels_release(&l);
}

static void same_in_any_order(void **state)
{
	static const char *const abc[] = { "c", "a", "b" }, *const abd[] = { "a", "b", "d" }, *const aab[] = { "a", "a", "b" };
	struct labels l = LABELS_INIT;

	(void)state;
	labels_add(&l, "b");
	labels_add(&l, "a");
	labels_add(&l, "c");
	assert_true(labels_same(&l, abc, 3));
	assert_false(labels_same(&l, abc, 2));
	assert_false(labels_same(&l, abd, 3));
	assert_false(labels_same(&l, aab, 3));
	labels_release(&l);
}

static void there_is_a_limit(void **state)
{
	struct labels l = LABELS_INIT;
	char name[16];

	(void)state;
	for (int i = 0; i < LABELS_MAX; i++) {
		snprintf(name, sizeof(name), "%d", i);
		assert_int_equal(labels_add(&l, name), i);
	}
	assert_int_equal(labels_add(&l, "one more"), -1);
	assert_int_equal(err_code(), EXIT_CORRUPT);
	assert_non_null(strstr(err_text(), "more than 10000"));
	assert_int_equal(labels_add(&l, "77"), 77);
	assert_int_equal(labels_sort(&l, NULL), 0);
	assert_int_equal(labels_find(&l, "9999"), LABELS_MAX - 1);
	labels_release(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(labels_are_numbered_as_they_come),
		cmocka_unit_test(sorting_is_by_bytes),
		cmocka_unit_test(nothing_can_be_sorted),
		cmocka_unit_test(same_in_any_order),
		cmocka_unit_test(there_is_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
