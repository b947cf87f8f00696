#include "tokenizer/never_split.h"

#include "base/err.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static bool has(const struct never_split *n, const char *token)
{
	return never_split_has(n, token, strlen(token));
}

static void what_was_added_is_found_and_nothing_else(void **state)
{
	static const char *const tokens[] = { "C++", ".NET", "C", "\xC3\xA9", "C++", "zz", "a", ".NET" };
	struct never_split n = NEVER_SPLIT_INIT;

	(void)state;
	never_split_sort(&n);
	assert_false(has(&n, "C"));
	for (size_t i = 0; i < sizeof(tokens) / sizeof(tokens[0]); i++)
		assert_int_equal(never_split_add(&n, tokens[i], strlen(tokens[i])), 0);
	never_split_sort(&n);
	assert_int_equal(n.count, 6);
	for (size_t i = 1; i < n.count; i++)
		assert_true(strcmp(n.tokens[i - 1], n.tokens[i]) < 0);
	for (size_t i = 0; i < sizeof(tokens) / sizeof(tokens[0]); i++)
		assert_true(has(&n, tokens[i]));
	assert_true(never_split_has(&n, "C++x", 3));
	assert_false(has(&n, "C+"));
	assert_false(has(&n, "C++x"));
	assert_false(has(&n, "c++"));
	assert_false(has(&n, "z"));
	assert_false(has(&n, "zzz"));
	assert_false(has(&n, ""));
	never_split_release(&n);
	never_split_release(&n);
}

static void refuse(const char *token, size_t len, const char *reason)
{
	struct never_split n = NEVER_SPLIT_INIT;

	assert_int_equal(never_split_add(&n, token, len), -1);
	assert_int_equal(err_code(), EXIT_USAGE);
	if (!strstr(err_text(), reason))
		fail_msg("'%s' lacks '%s'", err_text(), reason);
	assert_int_equal(n.count, 0);
	never_split_release(&n);
}

static void what_no_token_can_be_is_refused(void **state)
{
	static char big[NEVER_SPLIT_BYTES + 1];
	struct never_split n = NEVER_SPLIT_INIT;

	(void)state;
	memset(big, 'a', sizeof(big));
	refuse("", 0, "is empty");
	refuse("a b", 3, "white space");
	refuse("a\xC2\xA0", 3, "white space");
	refuse("a\0b", 3, "NUL");
	refuse("a\xFF", 2, "not UTF-8");
	refuse(big, sizeof(big), "too long");
	assert_int_equal(never_split_add(&n, big, sizeof(big) - 1), 0);
	never_split_release(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_added_is_found_and_nothing_else),
		cmocka_unit_test(what_no_token_can_be_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
