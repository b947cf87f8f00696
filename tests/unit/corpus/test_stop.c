#include "corpus/stop.h"

#include "base/utf8.h"
#include "corpus/letters.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

/* The search goes by bytes, the table by code points: they must agree. */
static void every_terminator_is_found(void **state)
{
	unsigned found = 0;

	(void)state;
	for (uint32_t cp = 0; cp <= 0x10FFFF; cp++) {
		char text[UTF8_MAX + 2] = "a";
		unsigned n;

		if (cp >= 0xD800 && cp <= 0xDFFF)
			continue;
		n = utf8_write(cp, text + 1);
		text[1 + n] = 'z';
		assert_int_equal(stop_find(text, n + 2, 0), letter_stops(letter_of(cp)) ? 1 : n + 2);
		found += letter_stops(letter_of(cp));
	}
	assert_true(found > 20);
}

static struct stop read(const char *text)
{
	const size_t len = strlen(text), at = stop_find(text, len, 0);

	assert_true(at < len);
	return stop_read(text, len, at);
}

static void what_belongs_to_a_stop_is_read(void **state)
{
	static const struct {
		const char *text;
		struct stop want;
	} cases[] = {
		{ "a. b", { .first = 1, .end = 2, .dots = 1 } },
		{ "a.", { .first = 1, .end = 2, .dots = 1 } },
		{ "a... b", { .first = 1, .end = 4, .dots = 3, .ellipsis = true } },
		{ "a . . . b", { .first = 2, .end = 7, .dots = 3, .ellipsis = true } },
		{ "a. .5", { .first = 1, .end = 2, .dots = 1 } },
		{ "a?! b", { .first = 1, .end = 3, .strong = true } },
		{ "a!\") b", { .first = 1, .end = 4, .strong = true, .closed = true } },
		{ "a.\" \"b", { .first = 1, .end = 3, .dots = 1, .closed = true } },
		{ "a.[1][23] b", { .first = 1, .end = 9, .dots = 1 } },
		{ "a. [1] b", { .first = 1, .end = 6, .dots = 1 } },
		{ "a.[x] b", { .first = 1, .end = 2, .dots = 1 } },
		{ "a. \xC2\xBB b", { .first = 1, .end = 5, .dots = 1, .closed = true } },
		{ "a. \xC2\xBB" "b", { .first = 1, .end = 2, .dots = 1 } },
		{ "a.\xE2\x80\x9C b", { .first = 1, .end = 5, .dots = 1, .closed = true } },
		{ "a.\xE2\x80\x9C" "b", { .first = 1, .end = 2, .dots = 1 } },
		{ "\xE3\x80\x82\xE3\x80\x8D", { .first = 0, .end = 6, .full = true, .closed = true, .quoted = true } },
		{ "\xEF\xBC\x8E" "5", { .first = 0, .end = 3, .full = true, .wide = true } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct stop got = read(cases[i].text), *want = &cases[i].want;

		if (got.first != want->first || got.end != want->end || got.dots != want->dots || got.strong != want->strong ||
		    got.ellipsis != want->ellipsis || got.full != want->full || got.wide != want->wide ||
		    got.closed != want->closed || got.quoted != want->quoted)
			fail_msg("'%s' ends at %zu", cases[i].text, got.end);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_terminator_is_found),
		cmocka_unit_test(what_belongs_to_a_stop_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
