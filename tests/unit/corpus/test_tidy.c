#include "corpus/tidy.h"

#include "corpus/prose.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#define H "\x01"

struct line {
	const char *text, *tidied;
};

static void check(bool holes, const struct line *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct buf b = BUF_INIT;

		assert_int_equal(buf_adds(&b, "( "), 0);	/* what stands before it is none of its business */
		assert_int_equal(tidy(cases[i].text, strlen(cases[i].text), holes, &b), 0);
		if (strncmp(b.data, "( ", 2) || strcmp(b.data + 2, cases[i].tidied) || b.len != strlen(b.data))
			fail_msg("'%s' became '%s', not '%s'", cases[i].text, b.data + 2, cases[i].tidied);
		buf_release(&b);
	}
}

static void spaces_are_single(void **state)
{
	static const struct line cases[] = {
		{ "", "" }, { "   ", "" }, { " a ", "a" }, { "a   b", "a b" }, { "a\t\n\v\f\rb", "a b" }, { "a \xC2\xA0 b", "a b" },
		{ "a\xE2\x80\x89\x62\xE3\x80\x80\x63", "a b c" }, { "so\xC2\xADst\xE2\x80\x8Bop", "sostop" }, { "\xEF\xBB\xBF" "a", "a" },
		{ "a\x7F\x1F\x02" "b", "a b" }, { "a\xC2\x85" "b", "a b" }, { "x\xE2\x80\x8D" "y", "x\xE2\x80\x8D" "y" }, { "é è ê", "é è ê" },
		{ "a " H " b", "a b" }, { "(" H ")", "( )" }, { "f( x )", "f( x )" }, { "\xE2\x80\xA8", "" }, { "\xC2\xA9 \xE2\x80\x94", "\xC2\xA9 \xE2\x80\x94" },
	};

	(void)state;
	check(false, cases, sizeof(cases) / sizeof(cases[0]));
}

static void holes_take_their_punctuation(void **state)
{
	static const struct line cases[] = {
		{ H, "" }, { H " a", "a" }, { "a " H, "a" }, { "a" H "b", "ab" }, { "a " H "b", "a b" }, { "a" H " b", "a b" }, { "a " H " b", "a b" },
		{ "a (" H ") b", "a b" }, { "a(" H ")b", "ab" }, { "a ( " H " ) b", "a b" }, { "a (" H "; " H ") b", "a b" }, { "a [" H "] b", "a b" },
		{ "a (" H ", b) c", "a (b) c" }, { "a (b, " H ") c", "a (b) c" }, { "a (b, " H ", c) d", "a (b, c) d" }, { "a (b; " H "; c)", "a (b; c)" },
		{ "a " H ", b", "a, b" }, { "a, " H ", b", "a, b" }, { "a, " H ".", "a." }, { "a" H ".", "a." }, { "a. " H " B", "a. B" },
		{ "a (pronounced " H ") b", "a b" }, { "a (IPA: " H "; b)", "a (b)" }, { "a (" H " or " H ") b", "a b" }, { "a (b or " H ") c", "a (b) c" },
		{ "a (" H " or b) c", "a (b) c" }, { "a ((" H ")) b", "a b" }, { "(" H ") a", "a" }, { "a () (" H ")", "a ()" }, { H ", a", "a" },
		{ "日本（" H "、" H "）は", "日本は" }, { "日本（" H "、にほん）は", "日本（にほん）は" }, { "for " H ")", "for)" }, { "a (for " H ")", "a (for)" },
		{ H H H, "" }, { "a " H " " H " b", "a b" }, { "(a" H ")", "(a)" }, { "a: " H, "a:" }, { "(" H "]", "(]" },
	};

	(void)state;
	check(true, cases, sizeof(cases) / sizeof(cases[0]));
}

static void prose_is_known(void **state)
{
	(void)state;
	assert_true(prose_ends_sentence(SPAN("It ends.")));
	assert_true(prose_ends_sentence(SPAN("“Does it?”)")));
	assert_true(prose_ends_sentence(SPAN("是。")));
	assert_false(prose_ends_sentence(SPAN("It does not")));
	assert_false(prose_ends_sentence(SPAN("")));
	assert_false(prose_ends_sentence(SPAN(".")));
	assert_true(prose_has_word(SPAN("— 1")));
	assert_true(prose_has_word(SPAN("字")));
	assert_false(prose_has_word(SPAN("— * ...")));
	assert_false(prose_has_word(SPAN("")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spaces_are_single),
		cmocka_unit_test(holes_take_their_punctuation),
		cmocka_unit_test(prose_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
