#include "base/log.h"

#include "tests/unit/base/capture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static int say_all(void *arg)
{
	log_open("/usr/bin/bert-x", *(const enum log_level *)arg);
	log_error("error %d", 1);
	log_warn("warning '%s'", "w");
	log_info("info");
	log_debug("debug");
	return 0;
}

static void test_levels(void **state)
{
	static const char *const want[] = {
		"bert-x: error 1\n",
		"bert-x: error 1\nbert-x: warning 'w'\n",
		"bert-x: error 1\nbert-x: warning 'w'\nbert-x: info\n",
		"bert-x: error 1\nbert-x: warning 'w'\nbert-x: info\nbert-x: debug\n",
	};
	struct capture c = { 0 };

	(void)state;
	for (enum log_level l = LOG_ERROR; l <= LOG_DEBUG; l++) {
		capture_run(&c, say_all, &l);
		assert_string_equal(c.err, want[l]);
		assert_string_equal(c.out, "");
	}
}

static int say_odd(void *arg)
{
	(void)arg;
	log_open("bert-x", LOG_WARN);
	log_error("a\nb\x1b[31m\tc\x7f caf\xC3\xA9");
	return 0;
}

static void test_control_characters(void **state)
{
	struct capture c = { 0 };

	(void)state;
	capture_run(&c, say_odd, NULL);
	assert_string_equal(c.err, "bert-x: a?b?[31m\tc? caf\xC3\xA9\n");
}

static int say_long(void *arg)
{
	char text[2 * LOG_LINE_MAX];

	(void)arg;
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = 0;
	log_open("bert-x", LOG_WARN);
	log_error("%s", text);
	return 0;
}

static void test_long_line_is_cut(void **state)
{
	struct capture c = { 0 };

	(void)state;
	capture_run(&c, say_long, NULL);
	assert_int_equal(strlen(c.err), LOG_LINE_MAX);
	assert_memory_equal(c.err, "bert-x: xxx", 11);
	assert_string_equal(c.err + LOG_LINE_MAX - 3, "xx\n");
}

static int say_above_status(void *arg)
{
	(void)arg;
	log_open("bert-x", LOG_WARN);
	log_status(NULL);		/* nothing to wipe */
	log_status("1 of 2");
	log_info("hidden");
	log_warn("w");
	log_warn("v");
	log_status("2 of 2");
	log_status(NULL);
	log_status(NULL);
	return 0;
}

static void test_status(void **state)
{
	struct capture c = { 0 };

	(void)state;
	capture_run(&c, say_above_status, NULL);
	assert_string_equal(c.err, "\r\033[K1 of 2\r\033[Kbert-x: w\nbert-x: v\n\r\033[K2 of 2\r\033[K");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_control_characters),
		cmocka_unit_test(test_long_line_is_cut),
		cmocka_unit_test(test_status),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
