/* Small JSON files: what is read, and the place of what cannot be. */
#include "base/json_file.h"

#include "base/err.h"
#include "base/fs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

/* Every test runs in a fresh folder. */
static int enter(void **state)
{
	char path[] = "/tmp/test_json_file.XXXXXX";

	if (!mkdtemp(path) || chdir(path))
		return -1;
	*state = strdup(path);
	return *state ? 0 : -1;
}

static int leave(void **state)
{
	const int rc = chdir("/") || fs_remove_tree(*state);

	free(*state);
	return rc;
}

static void refused(const char *text, enum exit_code code, const char *says)
{
	assert_int_equal(fs_write_all("a.json", text, strlen(text)), 0);
	assert_null(json_file_read("a.json", 40));
	assert_int_equal(err_code(), code);
	assert_non_null(strstr(err_text(), says));
}

static void test_read(void **state)
{
	json_t *o;

	(void)state;
	assert_int_equal(fs_write_all("a.json", "{\"x\": 7}", 8), 0);
	o = json_file_read("a.json", 8);
	assert_int_equal(json_integer_value(json_object_get(o, "x")), 7);
	json_decref(o);
	refused("", EXIT_CORRUPT, "cannot read 'a.json': line 1: ");
	refused("{\n\"x\": 7,\n}", EXIT_CORRUPT, "'a.json': line 3: ");
	refused("{\"x\": 7, \"x\": 8}", EXIT_CORRUPT, "duplicate");
	refused("{} {}", EXIT_CORRUPT, "line 1");
	refused("[\"a list that is longer than may be, here at 40\"]", EXIT_CORRUPT, "a.json");
	assert_null(json_file_read("none.json", 40));
	assert_int_equal(err_code(), EXIT_FAILED);
	assert_null(json_file_parse("[1", 2, "a name"));
	assert_non_null(strstr(err_text(), "'a name': line 1: "));
}

/* Numbers keep all their digits, members their order of names. */
static void test_write(void **state)
{
	json_t *o = json_pack("{s:f, s:I, s:s}", "z", 0.1 + 0.2, "b", (json_int_t)INT64_MAX, "a", "x"), *again;
	struct buf text = BUF_INIT;

	(void)state;
	assert_int_equal(json_file_write("a.json", o), 0);
	again = json_file_read("a.json", 1000);
	assert_true(json_equal(o, again));
	json_decref(again);
	assert_int_equal(fs_read_all("a.json", 1000, &text), 0);
	assert_true(text.len > 10 && !memcmp(text.data, "{\n \"a\": ", 8));
	buf_release(&text);
	json_decref(o);
	assert_int_equal(json_file_write("b.json", NULL), -1);
	assert_false(fs_exists("b.json"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_read, enter, leave),
		cmocka_unit_test_setup_teardown(test_write, enter, leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
