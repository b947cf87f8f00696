#include "tokenizer/tokenizer_config.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/fs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/tokenizer/made_vocab.h"

static const char tokens[] = "[PAD]\n[UNK]\n[MASK]\n";

/* What becomes of a file that holds JSON; NULL: it is refused. */
static void expect(const char *json, const char *want)
{
	const struct made_file from = made_file(json, strlen(json)), to = made_file("", 0);
	struct buf got = BUF_INIT;
	struct vocab *v;

	assert_int_equal(load_bytes(&v, tokens, strlen(tokens)), 0);
	assert_int_equal(tokenizer_config_carry(from.path, to.path, v), want ? 0 : -1);
	if (!want)
		assert_int_equal(err_code(), EXIT_CORRUPT);
	assert_int_equal(buf_reserve(&got, 1) || fs_read_all(to.path, 1 << 20, &got), 0);
	assert_string_equal(got.data, want ? want : "");
	buf_release(&got);
	vocab_free(v);
	made_file_remove(&from);
	made_file_remove(&to);
}

static void numbers_of_tokens_go_where_they_are_others(void **state)
{
	static const char good[] = "{ \"added_tokens_decoder\": {\"0\": {\"content\": \"[PAD]\"}, \"2\": {\"content\": \"[MASK]\", \"lstrip\": false}},\n\"z\": 1}";

	(void)state;
	expect("{}", "{}");
	expect(" {\"do_lower_case\" : false, \"other\": [1]}\n", " {\"do_lower_case\" : false, \"other\": [1]}\n");
	expect(good, good);
	expect("{\"added_tokens_decoder\": {\"103\": {\"content\": \"[MASK]\"}}, \"do_lower_case\": false}", "{\n  \"do_lower_case\": false\n}");
	expect("{\"added_tokens_decoder\": {\"2\": {\"content\": \"[CLS]\"}}, \"a\": 1}", "{\n  \"a\": 1\n}");
	expect("{\"added_tokens_decoder\": {\"2\": 7}, \"a\": 1}", "{\n  \"a\": 1\n}");
	expect("{\"added_tokens_decoder\": {\"2\": 7}, \"max_input_chars_per_word\": 9, \"unicode_version\": \"15.0\"}",
	       "{\n  \"max_input_chars_per_word\": 9,\n  \"unicode_version\": \"15.0\"\n}");
	expect("{\"model_max_length\": 1000000000000000019884624838656}", "{\"model_max_length\": 1000000000000000019884624838656}");
	expect("{\"added_tokens_decoder\": {\"2\": 7}, \"model_max_length\": 1000000000000000019884624838656, \"a\": [1, 2.5, {\"b\": -512}]}",
	       "{\n  \"model_max_length\": 1e30,\n  \"a\": [\n    1,\n    2.5,\n    {\n      \"b\": -512\n    }\n  ]\n}");
	expect("{\"added", NULL);
	expect("[1]", NULL);
}

static void an_absent_file_is_fine(void **state)
{
	struct vocab *v;

	(void)state;
	assert_int_equal(load_bytes(&v, tokens, strlen(tokens)), 0);
	assert_int_equal(tokenizer_config_carry("/nonexistent/file", "/nonexistent/other", v), 0);
	vocab_free(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_of_tokens_go_where_they_are_others),
		cmocka_unit_test(an_absent_file_is_fine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
