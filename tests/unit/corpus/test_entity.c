#include "corpus/entity.h"

#include "corpus/wiki_math.h"
#include "corpus/wiki_raise.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static void references_are_decoded(void **state)
{
	static const struct {
		const char *text;
		uint32_t cp;
		size_t size;
	} cases[] = {
		{ "&amp;x", '&', 5 }, { "&lt;", '<', 4 }, { "&nbsp;", 0xA0, 6 }, { "&thetasym;", 0x3D1, 10 }, { "&apos;", '\'', 6 }, { "&Aacute;", 0xC1, 8 },
		{ "&aacute;", 0xE1, 8 }, { "&euro;", 0x20AC, 6 }, { "&zwnj;", 0x200C, 6 }, { "&#65;", 'A', 5 }, { "&#x41;", 'A', 6 }, { "&#X1F600;", 0x1F600, 9 },
		{ "&#150;", 0x2013, 6 }, { "&#x80;", 0x20AC, 6 }, { "&#129;", 0xFFFD, 6 }, { "&#9;", '\t', 4 },
	};
	static const char *const none[] = { "&", "&;", "&x;", "&amp", "&AMPX;", "&#;", "&#x;", "&#12", "&#12a;", "&#0;", "&#1;", "&#xD800;", "&#x110000;",
		"&#99999999999999999999;", "&#x", "& amp;", "&thetasymb;" };
	size_t size;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (entity_decode(span_of(cases[i].text), &size) != cases[i].cp || size != cases[i].size)
			fail_msg("%s", cases[i].text);
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		if (entity_decode(span_of(none[i]), &size))
			fail_msg("%s", none[i]);
	assert_int_equal(entity_windows_1252(0x93), 0x201C);
	assert_int_equal(entity_windows_1252(0xE9), 0xE9);
	assert_int_equal(entity_windows_1252('a'), 'a');
}

static void plain_formulas_are_text(void **state)
{
	static const struct {
		const char *tex, *text;		/* NULL: not plain */
	} cases[] = {
		{ "x", "x" }, { " n = 3 ", "n = 3" }, { "x^2 + y_1", "x² + y₁" }, { "x^{10}", "x¹⁰" }, { "x^n", "x^n" }, { "x_{i,j}", "x_(i,j)" },
		{ "\\alpha\\le\\beta", "α≤β" }, { "\\frac{1}{2}", "1/2" }, { "\\frac{a+b}{c}", "(a+b)/c" }, { "\\sqrt{2}", "√2" }, { "O(n \\log n)", "O(n log n)" },
		{ "\\mathrm{km}", "km" }, { "90^\\circ", "90°" }, { "90^{\\circ}", "90°" }, { "a\\,b\\;c", "a b c" }, { "\\left( x \\right)", "(x)" },
		{ "\\{1,2\\}", "{1,2}" }, { "\\text{if } x", "if x" },
		{ "", NULL }, { "\\sum_i x", NULL }, { "\\begin{matrix}", NULL }, { "a & b", NULL }, { "\\frac{1}", NULL }, { "\\\\", NULL }, { "\\", NULL },
		{ "x^", NULL }, { "{", NULL }, { "\\sqrt[3]{x}", NULL }, { "\\frac{\\frac{\\frac{a}{b}}{c}}{d}", "((a/b)/c)/d" }, { "\\sqrt{\\sqrt{\\sqrt{\\sqrt{\\sqrt{a}}}}}", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf b = BUF_INIT;
		const int hole = wiki_math(span_of(cases[i].tex), false, &b);

		if (hole != !cases[i].text || (cases[i].text && strcmp(b.data, cases[i].text)))
			fail_msg("%s became %.*s (%d)", cases[i].tex, (int)b.len, b.data ? b.data : "", hole);
		buf_release(&b);
	}
}

static void long_formulas_are_not_text(void **state)
{
	char tex[400];
	struct buf b = BUF_INIT;

	(void)state;
	memset(tex, 'x', sizeof(tex));
	assert_int_equal(wiki_math((struct span){ tex, sizeof(tex) }, false, &b), 1);
	assert_int_equal(wiki_math(SPAN("H2O + NaCl"), true, &b), 0);
	assert_int_equal(wiki_math(SPAN("\\bond"), true, &b), 1);
	buf_release(&b);
}

static void numbers_are_raised(void **state)
{
	struct buf b = BUF_INIT;

	(void)state;
	assert_true(wiki_can_raise(SPAN("-12")));
	assert_true(wiki_can_raise(SPAN("2+")));
	assert_true(wiki_can_raise(SPAN("−")));
	assert_false(wiki_can_raise(SPAN("")));
	assert_false(wiki_can_raise(SPAN("2n")));
	assert_false(wiki_can_raise(SPAN("++")));
	assert_int_equal(wiki_raise(SPAN("-12"), false, &b), 0);
	assert_int_equal(wiki_raise(SPAN("+3−"), true, &b), 0);
	assert_string_equal(b.data, "⁻¹²₊₃₋");
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(references_are_decoded),
		cmocka_unit_test(plain_formulas_are_text),
		cmocka_unit_test(long_formulas_are_not_text),
		cmocka_unit_test(numbers_are_raised),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
