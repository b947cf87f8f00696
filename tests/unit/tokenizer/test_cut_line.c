#include "tokenizer/cut_line.h"

#include "base/err.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static void expect(const char *line, const char *cut, const char *text, const char *places)
{
	struct cut_line c = CUT_LINE_INIT;
	struct buf got = BUF_INIT;

	for (int with = 0; with < 2; with++) {
		assert_int_equal(cut_line_make(&c, line, strlen(line), cut, strlen(cut), with), 0);
		assert_string_equal(c.text.data, text);
	}
	assert_int_equal(buf_adds(&got, ""), 0);
	for (size_t i = 0; i < c.n_places; i++)
		assert_int_equal(buf_addf(&got, "%s%d", i ? " " : "", (int)c.places[i]), 0);
	assert_string_equal(got.data, places);
	buf_release(&got);
	cut_line_release(&c);
}

static void white_space_is_the_segmenters_the_rest_the_lines(void **state)
{
	(void)state;
	expect("", "", "", "");
	expect("ab", "ab", "ab", "0 1");
	expect("ab", " a b ", " a b ", "0 0 1 1 2");
	expect("a b", "ab", "ab", "0 2");
	expect("a b", "a  b", "a  b", "0 1 2 2");
	expect(" a\tb ", "a b", "a b", "1 3 3");
	expect("a\xE3\x80\x80" "b", "a\xE3\x80\x80" "b", "a\xE3\x80\x80" "b", "0 1 2");
	expect("a\xE3\x80\x80" "b", "a\xE2\x80\xA8" "b", "a b", "0 2 2");	/* a space, whatever it has put there */
	expect("\xE6\x9D\xB1\xE4\xBA\xAC\xE9\x83\xBD", "\xE6\x9D\xB1\xE4\xBA\xAC \xE9\x83\xBD\r", "\xE6\x9D\xB1\xE4\xBA\xAC \xE9\x83\xBD ", "0 1 2 2 3");
}

/* White space to Python, and to the tokenizer control characters, which it drops. */
static void a_control_character_beside_a_space_is_the_lines(void **state)
{
	(void)state;
	expect("a \vb", "a\vb", "a\vb", "0 2 3");
	expect("a\v b", "a\vb", "a\vb", "0 1 3");
	expect("a \v\x1C b", "a\x1C" "b", "a\x1C" "b", "0 3 5");
	expect("a \vb", "ab", "ab", "0 3");
	expect("a \vb", "a b", "a b", "0 1 3");
	expect("a\v b", "a b", "a b", "0 2 3");
	expect("a \vb", "a\v b", "a\v b", "0 2 3 3");
	expect("a \vb", "a\t\vb", "a  b", "0 3 3 3");
	expect("a\v", "a\v\v", "a\v ", "0 1 2");
}

static void spans_go_back_to_the_line(void **state)
{
	struct cut_line c = CUT_LINE_INIT;
	struct span s[] = { { 0, 2 }, { 3, 4 }, { 4, 5 }, { 0, 5 } };

	(void)state;
	assert_int_equal(cut_line_make(&c, "ab c  d", 7, "ab cd", 5, true), 0);
	cut_line_spans(&c, s, 4);
	assert_int_equal(s[0].start, 0);
	assert_int_equal(s[0].end, 2);
	assert_int_equal(s[1].start, 3);
	assert_int_equal(s[1].end, 4);
	assert_int_equal(s[2].start, 6);
	assert_int_equal(s[2].end, 7);
	assert_int_equal(s[3].start, 0);
	assert_int_equal(s[3].end, 7);
	cut_line_release(&c);
}

static void refuse(const char *line, size_t len, const char *cut, size_t cut_len, const char *reason)
{
	struct cut_line c = CUT_LINE_INIT;

	assert_int_equal(cut_line_make(&c, line, len, cut, cut_len, true), -1);
	assert_int_equal(err_code(), EXIT_FAILED);
	assert_string_equal(err_text(), reason);
	cut_line_release(&c);
}

static void another_text_is_refused(void **state)
{
	(void)state;
	refuse("abc", 3, "ab", 2, "the segmenter left out 'c'");
	refuse("ab", 2, "a bc ", 5, "the segmenter added 'c '");
	refuse("abc", 3, "a B c", 5, "the segmenter made 'B c' of 'bc'");
	refuse("abc", 3, "a bb c", 6, "the segmenter made 'b c' of 'c'");
	refuse("a", 1, "", 0, "the segmenter left out 'a'");
	refuse("a\0b", 3, "a", 1, "the segmenter left out ''");
	refuse("a", 1, "a\xFF", 2, "the segmenter gave ill-formed UTF-8");
	refuse("\xC3\xA9", 2, "e\xCC\x81", 3, "the segmenter made 'e\xCC\x81' of '\xC3\xA9'");
}

static void many_lines_at_once(void **state)
{
	static const char text[] = "ab\nc d\n", cut[] = "a b\ncd\nnext\n";
	const char *at = cut;
	struct buf out = BUF_INIT;
	size_t n;

	(void)state;
	assert_int_equal(cut_lines(text, strlen(text), &at, cut + strlen(cut), &out, &n), 0);
	assert_string_equal(out.data, "a b\ncd\n");
	assert_int_equal(n, 2);
	assert_ptr_equal(at, cut + 7);
	assert_int_equal(cut_lines("next\n", 5, &at, cut + strlen(cut), &out, &n), 0);
	assert_string_equal(out.data, "a b\ncd\nnext\n");
	buf_clear(&out);
	at = cut;
	assert_int_equal(cut_lines("ab\ncx\n", 6, &at, cut + strlen(cut), &out, &n), -1);
	assert_int_equal(n, 1);
	buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(white_space_is_the_segmenters_the_rest_the_lines),
		cmocka_unit_test(a_control_character_beside_a_space_is_the_lines),
		cmocka_unit_test(spans_go_back_to_the_line),
		cmocka_unit_test(another_text_is_refused),
		cmocka_unit_test(many_lines_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
