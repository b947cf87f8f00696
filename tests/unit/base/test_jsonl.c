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

/* A number keeps its digits, however many they are; of a member that is passed over any number will do. */
static void numbers_stay_as_they_stand(void **state)
{
	static const char *const numbers[] = { "0", "-7", "5.50", "1e3", "9007199254740993", "18446744073709551616", "-0.0E+1" };
	uint64_t repaired = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		struct buf line = BUF_INIT;

		assert_int_equal(buf_addf(&line, "{\"id\": %s, \"title\":%s,\"text\": \"a\", \"hash\": %s}", numbers[i], numbers[i], numbers[i]), 0);
		assert_int_equal(jsonl_take(&line, &id, &title, &repaired), 0);
		assert_string_equal(id.data, numbers[i]);
		assert_string_equal(title.data, numbers[i]);
		buf_release(&line);
	}
}

static void other_members_are_passed_over(void **state)
{
	static const char *const lines[] = {
		"{\"text\": \"a\", \"x\": {\"text\": \"b\", \"y\": [[], {}, [1, {\"id\": null}], true], \"y\": \"\\ud800\"}, \"x\": false}",
		"{\"x\":[ ], \"\\u0074ext\" : \"a\"\t}\r", "{\"Text\": 1, \"text\\u0000\": 2, \"\": 3, \"text\": \"a\"}",
	};
	uint64_t repaired = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		assert_int_equal(jsonl_read((struct jsonl_text){ lines[i], strlen(lines[i]) }, &id, &title, &text, &repaired), 0);
		assert_string_equal(text.data, "a");
		assert_int_equal(id.len + title.len, 0);
	}
	assert_int_equal(repaired, 0);
}

/* Lists in lists, N deep, in a member that is passed over. */
static int read_nested(size_t n)
{
	struct buf line = BUF_INIT;
	uint64_t repaired = 0;
	int rc = buf_adds(&line, "{\"text\": \"a\", \"x\": ");

	for (size_t i = 0; i < 2 * n; i++)
		rc = rc || buf_add_byte(&line, i < n ? '[' : ']') ? -1 : 0;
	assert_int_equal(rc || buf_adds(&line, "}"), 0);
	rc = jsonl_take(&line, &id, &title, &repaired);
	buf_release(&line);
	return rc;
}

static void nesting_is_bounded(void **state)
{
	(void)state;
	assert_int_equal(read_nested(512), 0);
	assert_int_equal(read_nested(513), -1);
	assert_non_null(strstr(err_text(), "nested too deep"));
	assert_int_equal(read_nested(1 << 20), -1);
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
		{ "{}", "no string \"text\"" }, { "{\"text\": 1}", "\"text\" is a number, not a string" }, { "{\"text\": null}", "\"text\" is a constant, not" },
		{ "{\"text\": \"a\", \"title\": {}}", "\"title\" is an object, neither a string nor a number" }, { "{\"id\": [1], \"text\": \"a\"}", "\"id\" is a list" },
		{ "{\"title\": true, \"text\": \"a\"}", "\"title\" is a constant" }, { "{\"title\": nul, \"text\": \"a\"}", "not JSON: no value after 10 bytes" },
		{ "{\"text\": \"a\", \"text\": \"a\"}", "the object has \"text\" twice" }, { "{\"id\": null, \"id\": 1, \"text\": \"a\"}", "\"id\" twice" },
		{ "{\"title\": \"\", \"text\": \"a\", \"t\\u0069tle\": \"\"}", "\"title\" twice" },
		{ "{\"text\": \"\\u12\"}", "not JSON: a backslash" }, { "{\"text\": \"a\"} {}", "not JSON: more than an object" }, { "{\"text\": \"\\", "not JSON" },
		{ "{\"text\": \"a\",}", "not JSON" }, { "{\"text\": \"a\", \"x\": [1,]}", "not JSON" }, { "{\"text\": \"a\", \"x\": [1}}", "not JSON" }, { "{\"text\": \"a\", \"x\": }", "not JSON" },
		{ "{\"text\": \"a\" \"x\": 1}", "not JSON" }, { "{\"text\": \"a\", \"x\" 1}", "not JSON" }, { "{\"text\": \"a\nb\"}", "not JSON: a control character" },
		{ "{\"text\": \"a\", \"id\": 007}", "not JSON" }, { "{\"text\": \"a\", \"id\": 1.}", "not JSON" }, { "{\"text\": \"a\", \"id\": -}", "not JSON" }, { "{\"text\": \"a\", \"x\": 1e+}", "not JSON" },
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
		cmocka_unit_test(numbers_stay_as_they_stand),
		cmocka_unit_test(other_members_are_passed_over),
		cmocka_unit_test(nesting_is_bounded),
		cmocka_unit_test(files_are_known_by_their_heads),
		cmocka_unit_test(lone_surrogates_are_repaired),
		cmocka_unit_test(other_lines_are_refused),
		cmocka_unit_test(documents_are_written),
	};

	return cmocka_run_group_tests(tests, NULL, tear_down);
}
