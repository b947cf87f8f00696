#include "base/err.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void test_nothing_set(void **state)
{
	(void)state;
	err_clear();
	assert_string_equal(err_text(), "");
	assert_int_equal(err_code(), EXIT_DONE);
}

static void test_kinds(void **state)
{
	(void)state;
	assert_int_equal(err_fail("no '%s' of %d", "x", 3), -1);
	assert_string_equal(err_text(), "no 'x' of 3");
	assert_int_equal(err_code(), EXIT_FAILED);
	assert_int_equal(err_usage("u"), -1);
	assert_int_equal(err_code(), EXIT_USAGE);
	assert_int_equal(err_corrupt("c"), -1);
	assert_int_equal(err_code(), EXIT_CORRUPT);
	assert_int_equal(err_set(EXIT_USAGE, "s %u", 7u), -1);
	assert_string_equal(err_text(), "s 7");
	assert_int_equal(err_memory(), -1);
	assert_string_equal(err_text(), "out of memory");
	assert_int_equal(err_code(), EXIT_FAILED);
}

static void test_sys(void **state)
{
	(void)state;
	errno = ENOENT;
	assert_int_equal(err_sys("cannot read '%s'", "f"), -1);
	assert_string_equal(err_text(), "cannot read 'f': No such file or directory");
}

static void test_prefix(void **state)
{
	(void)state;
	err_corrupt("line %d", 3);
	assert_int_equal(err_prefix("file '%s'", "f"), -1);
	assert_string_equal(err_text(), "file 'f': line 3");
	assert_int_equal(err_code(), EXIT_CORRUPT);
	err_fail("again: %s", err_text());	/* its own text as an argument */
	assert_string_equal(err_text(), "again: file 'f': line 3");
}

static void test_long_text_is_cut(void **state)
{
	char text[3 * ERR_TEXT_MAX];

	(void)state;
	memset(text, 'a', sizeof(text));
	text[sizeof(text) - 1] = 0;
	err_fail("%s", text);
	assert_int_equal(strlen(err_text()), ERR_TEXT_MAX - 1);
	err_prefix("%s", text);
	assert_int_equal(strlen(err_text()), ERR_TEXT_MAX - 1);
	err_fail("short");
	err_prefix("%s", text);
	assert_int_equal(strlen(err_text()), ERR_TEXT_MAX - 1);
}

static void *other_thread(void *arg)
{
	struct err *e = arg;

	err_corrupt("of the other");
	err_get(e);
	return NULL;
}

static void test_threads_have_their_own(void **state)
{
	struct err e;
	pthread_t t;

	(void)state;
	err_fail("mine");
	assert_int_equal(pthread_create(&t, NULL, other_thread, &e), 0);
	pthread_join(t, NULL);
	assert_string_equal(err_text(), "mine");
	assert_int_equal(err_put(&e), -1);
	assert_string_equal(err_text(), "of the other");
	assert_int_equal(err_code(), EXIT_CORRUPT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_set),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_sys),
		cmocka_unit_test(test_prefix),
		cmocka_unit_test(test_long_text_is_cut),
		cmocka_unit_test(test_threads_have_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
