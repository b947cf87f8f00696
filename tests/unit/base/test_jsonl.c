#include "base/jsonl.h"

#include "base/err.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static struct buf id, title, text;

static int tear_down(void **state)
{
	(void)state;
	buf_release(&id);
	buf_release(&title);
	buf_release(&text);
	return 0;
}

static void fields_are_read(void **state)
{
	uint64_t repaired = 0;

	(void)state;
	assert_int_equal(jsonl_read(JSONL_TEXT("{\"id\": \"a1\", \"title\": \"T\", \"text\": \"x\\ny\\u00e9\\ud83d\\ude00\", \"other\": [1, {}]}"), &id, &title, &text, &repaired), 0);
	assert_string_equal(id.data, "a1");
	assert_string_equal(title.data, "T");
	assert_string_equal(text.data, "x\nyé😀");
	assert_int_equal(jsonl_read(JSONL_TEXT(" {\"id\": 12, \"title\": null, \"text\": \"\\u0000\\\\ud800\"} "), &id, &title, &text, &repaired), 0);
	assert_string_equal(id.data, "12");
	assert_int_equal(title.len, 0);
	assert_int_equal(text.len, 7);
	assert_memory_equal(text.data, "\0\\ud800", 7);
	assert_int_equal(repaired, 0);
}

/* Of a member that is passed over any number will do. */
static void large_numbers_are_passed_over(void **state)
{
	uint64_t repaired = 0;

	(void)state;
	assert_int_equal(jsonl_read(JSONL_TEXT("{\"id\": 9007199254740992, \"text\": \"a\", \"hash\": 18446744073709551615}"), &id, &title, &text, &repaired), 0);
	assert_string_equal(id.data, "9007199254740992");
	assert_int_equal(jsonl_read(JSONL_TEXT("{\"id\": 9223372036854775807, \"text\": \"a\"}"), &id, &title, &text, &repaired), 0);
	assert_string_equal(id.data, "9223372036854775807");
	assert_int_equal(jsonl_read(JSONL_TEXT("{\"id\": 18446744073709551615, \"text\": \"a\"}"), &id, &title, &text, &repaired), -1);
	assert_int_equal(err_code(), EXIT_CORRUPT);
}

static void files_are_known_by_their_heads(void **state)
{
	(void)state;
	assert_true(jsonl_begins(JSONL_TEXT("\xEF\xBB\xBF \n{ \"id\": 1")));
	assert_true(jsonl_begins(JSONL_TEXT("{\"text\"")));
	assert_true(jsonl_begins(JSONL_TEXT("{}")));
	assert_false(jsonl_begins(JSONL_TEXT("")));
	assert_false(jsonl_begins(JSONL_TEXT("\"{\"")));
	assert_false(jsonl_begins(JSONL_TEXT("{x")));
	assert_false(jsonl_begins(JSONL_TEXT("[{\"text\"")));
}

static void lone_surrogates_are_repaired(void **state)
{
	uint64_t repaired = 0;

	(void)state;
	assert_int_equal(jsonl_read(JSONL_TEXT("{\"text\": \"a\\ud800b\\uDC00c\\ud83d\\ud83d\\ude00\\uD800\"}"), &id, &title, &text, &repaired), 0);
	assert_string_equal(text.data, "a\xEF\xBF\xBD" "b\xEF\xBF\xBD" "c\xEF\xBF\xBD😀\xEF\xBF\xBD");
	assert_int_equal(repaired, 4);
	assert_int_equal(id.len, 0);
}

static void other_lines_are_refused(void **state)
{
	static const struct {
		const char *line, *says;
	} cases[] = {
		{ "", "not JSON" }, { "x", "not JSON" }, { "{\"text\": \"a\"", "not JSON" }, { "[1]", "not a JSON object" }, { "\"text\"", "not" },
		{ "{}", "no string \"text\"" }, { "{\"text\": 1}", "no string \"text\"" }, { "{\"text\": \"a\", \"title\": 5.5}", "\"title\" is not a string" },
		{ "{\"text\": \"\\u12\"}", "not JSON" }, { "{\"text\": \"a\"} {}", "not JSON" }, { "{\"text\": \"\\", "not JSON" },
	};
	uint64_t repaired = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(jsonl_read((struct jsonl_text){ cases[i].line, strlen(cases[i].line) }, &id, &title, &text, &repaired), -1);
		assert_int_equal(err_code(), EXIT_CORRUPT);
		if (!strstr(err_text(), cases[i].says))
			fail_msg("%s: %s", cases[i].line, err_text());
	}
}

static void documents_are_written(void **state)
{
	struct buf b = BUF_INIT;

	(void)state;
	assert_int_equal(jsonl_put(&b, JSONL_TEXT("1"), JSONL_TEXT("a \"b\" \\"), JSONL_TEXT("x\ny\tz\x01é")), 0);
	assert_string_equal(b.data, "{\"id\": \"1\", \"title\": \"a \\\"b\\\" \\\\\", \"text\": \"x\\ny\\tz\\u0001é\"}\n");
	buf_clear(&b);
	assert_int_equal(jsonl_put(&b, JSONL_TEXT(""), JSONL_TEXT(""), JSONL_TEXT("")), 0);
	assert_string_equal(b.data, "{\"id\": \"\", \"title\": \"\", \"text\": \"\"}\n");
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_are_read),
		cmocka_unit_test(large_numbers_are_passed_over),
		cmocka_unit_test(files_are_known_by_their_heads),
		cmocka_unit_test(lone_surrogates_are_repaired),
		cmocka_unit_test(other_lines_are_refused),
		cmocka_unit_test(documents_are_written),
	};

	jsonl_init();
	return cmocka_run_group_tests(tests, NULL, tear_down);
}
