#include "base/buf.h"

#include "base/err.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void test_add(void **state)
{
	struct buf b = BUF_INIT;

	(void)state;
	assert_int_equal(buf_add(&b, "ab\0c", 4), 0);
	assert_int_equal(buf_add_byte(&b, 0xFF), 0);
	assert_int_equal(buf_adds(&b, "xyz"), 0);
	assert_int_equal(b.len, 8);
	assert_memory_equal(b.data, "ab\0c\xFFxyz", 9);
	buf_clear(&b);
	assert_int_equal(b.len, 0);
	assert_int_equal(b.data[0], 0);
	assert_int_equal(buf_add(&b, NULL, 0), 0);
	buf_release(&b);
	assert_null(b.data);
	buf_clear(&b);
	assert_int_equal(buf_add(&b, NULL, 0), 0);
	assert_non_null(b.data);
	assert_int_equal(b.data[0], 0);
	buf_release(&b);
}

static void test_grows(void **state)
{
	struct buf b = BUF_INIT;

	(void)state;
	for (unsigned i = 0; i < 100000; i++) {
		assert_int_equal(buf_add_byte(&b, (unsigned char)i), 0);
		assert_true(b.cap >= b.len);
	}
	for (unsigned i = 0; i < 100000; i++)
		if ((unsigned char)b.data[i] != (unsigned char)i)
			fail();
	assert_int_equal(buf_reserve(&b, 1 << 20), 0);
	memset(b.data + b.len, 'x', 1 << 20);
	buf_release(&b);
}

static void test_formatted(void **state)
{
	struct buf b = BUF_INIT;

	(void)state;
	assert_int_equal(buf_addf(&b, "%s", ""), 0);
	for (int i = 0; i < 500; i++) {
		const size_t before = b.len;

		assert_int_equal(buf_addf(&b, "%*d", i, 7), 0);
		assert_int_equal(b.len - before, i ? i : 1);
		assert_int_equal(b.data[b.len - 1], '7');
		assert_int_equal(b.data[b.len], 0);
	}
	buf_release(&b);
}

static void test_too_much(void **state)
{
	struct buf b = BUF_INIT;

	(void)state;
	buf_adds(&b, "kept");
	assert_int_equal(buf_reserve(&b, SIZE_MAX), -1);
	assert_int_equal(buf_reserve(&b, SIZE_MAX - 2), -1);
	assert_int_equal(buf_reserve(&b, SIZE_MAX / 2), -1);
	assert_string_equal(err_text(), "out of memory");
	assert_string_equal(b.data, "kept");
	assert_int_equal(b.len, 4);
	buf_release(&b);
}

static void test_array(void **state)
{
	struct {
		int a;
		char c;
	} *items = NULL;
	size_t cap = 0;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(array_grow(&items, &cap, (size_t)i + 1, sizeof(*items)), 0);
		assert_true(cap > (size_t)i);
		items[i].a = i;
	}
	for (int i = 0; i < 1000; i++)
		assert_int_equal(items[i].a, i);
	assert_int_equal(array_grow(&items, &cap, SIZE_MAX / 4, sizeof(*items)), -1);
	assert_int_equal(items[999].a, 999);
	free(items);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_add),
		cmocka_unit_test(test_grows),
		cmocka_unit_test(test_formatted),
		cmocka_unit_test(test_too_much),
		cmocka_unit_test(test_array),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
