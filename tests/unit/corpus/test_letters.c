#include "corpus/letters.h"

#include "base/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static void characters_are_told_apart(void **state)
{
	static const struct {
		uint32_t cp;
		enum letter want;
	} cases[] = {
		{ 'a', LETTER_LOWER }, { 'Z', LETTER_UPPER }, { '7', LETTER_DIGIT }, { '$', LETTER_DIGIT }, { ' ', LETTER_SPACE },
		{ '.', LETTER_DOT }, { '?', LETTER_STRONG }, { '(', LETTER_OPEN }, { ')', LETTER_CLOSE }, { '"', LETTER_QUOTE },
		{ '-', LETTER_DASH }, { ',', LETTER_COMMA }, { '@', LETTER_OTHER }, { 0, LETTER_OTHER }, { 0x7F, LETTER_OTHER },
		{ 0xA0, LETTER_SPACE }, { 0xA1, LETTER_OPEN }, { 0xE9, LETTER_LOWER }, { 0xC9, LETTER_UPPER }, { 0x1C5, LETTER_UPPER },
		{ 0x416, LETTER_UPPER }, { 0x436, LETTER_LOWER }, { 0x5D0, LETTER_OTHER }, { 0x661, LETTER_DIGIT },
		{ 0x61F, LETTER_STRONG }, { 0x964, LETTER_FULL }, { 0x2014, LETTER_DASH }, { 0x201C, LETTER_QUOTE_OPEN },
		{ 0x201D, LETTER_QUOTE_CLOSE }, { 0x201E, LETTER_OPEN }, { 0x2022, LETTER_BULLET }, { 0x2026, LETTER_ELLIPSIS },
		{ 0x3000, LETTER_SPACE }, { 0x3002, LETTER_FULL }, { 0x300D, LETTER_CLOSE }, { 0x4E00, LETTER_OTHER },
		{ 0xAC00, LETTER_OTHER }, { 0xFF01, LETTER_FULL }, { 0xFF63, LETTER_CLOSE }, { 0x10400, LETTER_UPPER },
		{ 0x1F600, LETTER_OTHER }, { 0x10FFFF, LETTER_OTHER },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(letter_of(cases[i].cp), cases[i].want);
}

/* The table must be sorted, or the search in it goes wrong: what white space is shows it for every code point. */
static void white_space_is_that_of_lines(void **state)
{
	(void)state;
	for (uint32_t cp = 0; cp <= 0x10FFFF; cp++)
		if (cp < 0xD800 || cp > 0xDFFF)
			assert_int_equal(letter_of(cp) == LETTER_SPACE, utf8_is_space(cp));
}

static void characters_are_read_both_ways(void **state)
{
	static const char text[] = "a\xC3\x89\xE3\x80\x82\xF0\x90\x90\x80";
	unsigned size;
	size_t before;

	(void)state;
	assert_int_equal(letter_at(text, 0, &size), LETTER_LOWER);
	assert_int_equal(size, 1);
	assert_int_equal(letter_at(text, 1, &size), LETTER_UPPER);
	assert_int_equal(size, 2);
	assert_int_equal(letter_at(text, 3, &size), LETTER_FULL);
	assert_int_equal(size, 3);
	assert_int_equal(letter_at(text, 6, &size), LETTER_UPPER);
	assert_int_equal(size, 4);
	assert_int_equal(letter_before(text, 0, 10, &before), LETTER_UPPER);
	assert_int_equal(before, 6);
	assert_int_equal(letter_before(text, 0, 6, &before), LETTER_FULL);
	assert_int_equal(before, 3);
	assert_int_equal(letter_before(text, 0, 1, &before), LETTER_LOWER);
	assert_int_equal(before, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(characters_are_told_apart),
		cmocka_unit_test(white_space_is_that_of_lines),
		cmocka_unit_test(characters_are_read_both_ways),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
