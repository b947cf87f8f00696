#include "base/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* --- a checker that follows the definition instead of table 3-7 ------------- */

/* Whether S[0..n) is a code point in its shortest form: decoded without care, encoded again, compared. */
static bool naive_is_one(const unsigned char *s, size_t n)
{
	static const unsigned char masks[] = { 0, 0x7F, 0x1F, 0x0F, 0x07 };
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	uint32_t cp = s[0] & masks[n];

	if (n == 1)
		return s[0] < 0x80;
	if ((s[0] & ~masks[n] & 0xFF) != ((0xFF00 >> n) & 0xFF))
		return false;
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xC0) != 0x80)
			return false;
		cp = cp << 6 | (s[i] & 0x3F);
	}
	return cp >= least[n] && cp <= 0x10FFFF && (cp < 0xD800 || cp > 0xDFFF);
}

static size_t naive_valid_prefix(const unsigned char *s, size_t len)
{
	size_t i = 0;

	while (i < len) {
		size_t n = 1;

		while (n <= 4 && (n > len - i || !naive_is_one(s + i, n)))
			n++;
		if (n > 4)
			break;
		i += n;
	}
	return i;
}

/* Whether some code point of more than N bytes begins with S[0..n), by trying all. */
static bool naive_try_beginning(const unsigned char *s, size_t n)
{
	unsigned char t[4];

	for (unsigned last = 0x80; last < 0xC0; last++) {
		for (size_t whole = n + 1; whole <= 4; whole++) {
			memset(t, 0x80, sizeof(t));
			memcpy(t, s, n);
			t[n] = (unsigned char)last;
			if (naive_is_one(t, whole))
				return true;
		}
	}
	return false;
}

/* The same, remembered for two bytes, which rule out nearly all. */
static bool naive_is_beginning(const unsigned char *s, size_t n)
{
	static signed char two[1 << 16];
	signed char *known;

	if (n == 1)
		return s[0] >= 0xC0 && naive_try_beginning(s, 1);
	known = &two[s[0] << 8 | s[1]];
	if (!*known)
		*known = naive_try_beginning(s, 2) ? 1 : -1;
	return n == 2 ? *known > 0 : *known > 0 && naive_try_beginning(s, 3);
}

/* Maximal part, Unicode section 3.9: the longest beginning of a code point, or else one byte. */
static unsigned naive_bad_len(const unsigned char *s, size_t len)
{
	unsigned n = 1;

	if (!naive_is_beginning(s, 1))
		return 1;
	while (n < len && n < 3 && naive_is_beginning(s, n + 1))
		n++;
	return n;
}

static void compare(const unsigned char *s, size_t len)
{
	const char *text = (const char *)s;
	size_t want = naive_valid_prefix(s, len), got = utf8_valid_prefix(text, len);
	unsigned size;
	bool bad;

	if (got != want)
		fail_msg("%02x %02x %02x %02x, %zu bytes: %zu, not %zu", s[0], s[1], s[2], s[3], len, got, want);
	if (want == len)
		return;
	if (utf8_decode(text + want, len - want, &size, &bad) != UTF8_REPLACEMENT || !bad ||
	    size != naive_bad_len(s + want, len - want))
		fail_msg("%02x %02x %02x %02x at %zu: part of %u", s[0], s[1], s[2], s[3], want, size);
}

static void test_all_short_sequences(void **state)
{
	unsigned char s[4] = { 0 };

	(void)state;
	for (unsigned i = 0; i < 1u << 8; i++) {
		s[0] = (unsigned char)i;
		compare(s, 1);
	}
	for (unsigned i = 0; i < 1u << 16; i++) {
		s[0] = (unsigned char)(i >> 8);
		s[1] = (unsigned char)i;
		compare(s, 2);
	}
	for (unsigned i = 0; i < 1u << 24; i++) {
		s[0] = (unsigned char)(i >> 16);
		s[1] = (unsigned char)(i >> 8);
		s[2] = (unsigned char)i;
		compare(s, 3);
	}
}

/* Every lead byte and bytes at the edges of every range. */
static void test_edges_of_four(void **state)
{
	static const unsigned char edges[] = { 0x00, 0x41, 0x7F, 0x80, 0x81, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC2,
					       0xDF, 0xE0, 0xED, 0xEF, 0xF0, 0xF4, 0xF5, 0xFF };
	const size_t n = sizeof(edges);
	unsigned char s[4];

	(void)state;
	for (unsigned lead = 0; lead < 256; lead++)
		for (size_t i = 0; i < n * n * n; i++) {
			s[0] = (unsigned char)lead;
			s[1] = edges[i / (n * n)];
			s[2] = edges[i / n % n];
			s[3] = edges[i % n];
			compare(s, 4);
		}
}

static void test_every_code_point(void **state)
{
	(void)state;
	for (uint32_t cp = 0; cp <= 0x10FFFF; cp++) {
		char s[UTF8_MAX];
		const char *p = s;
		unsigned n, size;
		bool bad;

		if (cp >= 0xD800 && cp <= 0xDFFF)
			continue;
		n = utf8_write(cp, s);
		if (utf8_decode(s, n, &size, &bad) != cp || size != n || bad || utf8_next(&p) != cp || p != s + n ||
		    utf8_valid_prefix(s, n) != n || !naive_is_one((const unsigned char *)s, n))
			fail_msg("U+%04X", cp);
	}
}

/* A bad byte, and a good sequence, at every place of texts of every length around the word sizes. */
static void test_places(void **state)
{
	char *s = NULL;

	(void)state;
	for (size_t len = 0; len <= 100; len++) {
		s = realloc(s, len + !len);	/* just as long, so that a sanitizer sees a read past it */
		assert_non_null(s);
		memset(s, 'a', len + !len);
		assert_int_equal(utf8_valid_prefix(s, len), len);
		for (size_t i = 0; i < len; i++) {
			s[i] = (char)0xFF;
			assert_int_equal(utf8_valid_prefix(s, len), i);
			s[i] = (char)0xC3;
			assert_int_equal(utf8_valid_prefix(s, len), i);
			if (i + 1 < len) {
				s[i + 1] = (char)0xA9;
				assert_int_equal(utf8_valid_prefix(s, len), len);
				s[i + 1] = 'a';
			}
			s[i] = 'a';
		}
	}
	free(s);
}

/* What Python 3.11 prints for bytes.decode("utf-8", "replace"). */
static void test_repair(void **state)
{
#define R "\xEF\xBF\xBD"
	static const struct {
		const char *in, *out;
		unsigned count;
	} cases[] = {
		{ "", "", 0 },
		{ "plain", "plain", 0 },
		{ "caf\xC3\xA9", "caf\xC3\xA9", 0 },
		{ "a\xFF" "b", "a" R "b", 1 },
		{ "\x80", R, 1 },
		{ "\xBF\xBF", R R, 2 },
		{ "\xC0\x80", R R, 2 },
		{ "\xC1\xBF", R R, 2 },
		{ "\xC3", R, 1 },
		{ "\xC3(", R "(", 1 },
		{ "\xC3\xC3\xA9", R "\xC3\xA9", 1 },
		{ "\xE2\x82", R, 1 },
		{ "\xE2\x82" "a", R "a", 1 },
		{ "\xE2\x28\xA1", R "(" R, 2 },
		{ "\xE0\x80\x80", R R R, 3 },
		{ "\xE0\x9F\xBF", R R R, 3 },
		{ "\xED\xA0\x80", R R R, 3 },		/* a surrogate */
		{ "\xED\xBF\xBF", R R R, 3 },
		{ "\xF0\x9F\x98", R, 1 },
		{ "\xF0\x9F\x98" "a", R "a", 1 },
		{ "\xF0\x9F", R, 1 },
		{ "\xF0\x9F\x98\x80", "\xF0\x9F\x98\x80", 0 },
		{ "\xF0\x80\x80\x80", R R R R, 4 },
		{ "\xF0\x8F\xBF\xBF", R R R R, 4 },
		{ "\xF4\x8F\xBF\xBF", "\xF4\x8F\xBF\xBF", 0 },
		{ "\xF4\x90\x80\x80", R R R R, 4 },
		{ "\xF5\x80\x80\x80", R R R R, 4 },
		{ "\xF8\x88\x80\x80\x80", R R R R R, 5 },
		{ "\xFE\xFF", R R, 2 },
		{ "\xF0\x9F\xE2\x82\xAC", R "\xE2\x82\xAC", 1 },
		/* Unicode 15, tables 3-8 to 3-11 */
		{ "\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41", R R R R R R R R "A", 8 },
		{ "\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41", R R R R R R R R "A", 8 },
		{ "\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42", R R R R R "A" R R "B", 7 },
		{ "\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41", R R R R "A", 4 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf b = BUF_INIT;
		uint64_t count = 10;

		assert_int_equal(utf8_repair(cases[i].in, strlen(cases[i].in), &b, &count), 0);
		assert_int_equal(b.len, strlen(cases[i].out));
		assert_memory_equal(b.data, cases[i].out, b.len);
		assert_int_equal(count, 10 + cases[i].count);
		buf_release(&b);
	}
}

static void test_space(void **state)
{
	static const uint32_t spaces[] = { 9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 0x85, 0xA0, 0x1680, 0x2000, 0x2001,
					   0x2002, 0x2003, 0x2004, 0x2005, 0x2006, 0x2007, 0x2008, 0x2009, 0x200A,
					   0x2028, 0x2029, 0x202F, 0x205F, 0x3000 };
	size_t next = 0;

	(void)state;
	for (uint32_t cp = 0; cp <= 0x10FFFF; cp++) {
		const bool want = next < 29 && spaces[next] == cp;

		next += want;
		if (utf8_is_space(cp) != want)
			fail_msg("U+%04X", cp);
	}
	assert_int_equal(next, 29);
}

static void test_blank_and_count(void **state)
{
	(void)state;
	assert_true(utf8_is_blank("", 0));
	assert_true(utf8_is_blank(" \t\xC2\xA0\xE3\x80\x80\x1F", 8));
	assert_false(utf8_is_blank(" \xE2\x80\x8B", 4));	/* zero width space is none */
	assert_false(utf8_is_blank("\0", 1));
	assert_int_equal(utf8_count("", 0), 0);
	assert_int_equal(utf8_count("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80", 10), 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_short_sequences),
		cmocka_unit_test(test_edges_of_four),
		cmocka_unit_test(test_every_code_point),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_repair),
		cmocka_unit_test(test_space),
		cmocka_unit_test(test_blank_and_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
