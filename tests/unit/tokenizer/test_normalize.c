#include "tokenizer/normalize.h"

#include "base/buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { LOWER = 1, STRIP = 2, CJK = 4, UNCASED = LOWER | STRIP | CJK };

static struct normalizer *make(const struct chars *chars, unsigned rules)
{
	const struct normalizer_opts o = { chars, rules & LOWER, rules & STRIP, rules & CJK };
	struct normalizer *n = normalizer_new(&o);

	assert_non_null(n);
	return n;
}

/* All words of TEXT, "|" between them; with SPANS as "word@start-end". TEXT ends where its memory ends. */
static void words_of(struct normalizer *n, const char *text, size_t len, bool spans, struct buf *b)
{
	char *copy = malloc(len ? len : 1);
	struct words w;
	int rc;

	assert_non_null(copy);
	memcpy(copy, text, len);
	buf_clear(b);
	assert_int_equal(buf_adds(b, ""), 0);
	normalizer_start(n, copy, len, spans);
	while ((rc = normalizer_next(n, &w)) > 0) {
		const struct span *s = w.spans;

		assert_true(w.count > 0 || w.n_lines > 0);
		assert_true(!spans == !s);
		for (size_t i = 0; i < w.count; i++) {
			const char *const word = w.text + w.starts[i];
			const size_t word_len = w.ends[i] - w.starts[i];
			size_t cps = 0;

			assert_true(word_len > 0);
			for (size_t k = 0; k < word_len; k++)
				cps += ((unsigned char)word[k] & 0xC0) != 0x80;
			assert_int_equal(buf_adds(b, b->len ? "|" : ""), 0);
			assert_int_equal(buf_add(b, word, word_len), 0);
			if (spans)
				assert_int_equal(buf_addf(b, "@%u-%u", (unsigned)s[0].start, (unsigned)s[cps - 1].end), 0);
			s += spans ? cps : 0;
		}
	}
	assert_int_equal(rc, 0);
	free(copy);
}

static void expect(const struct chars *chars, unsigned rules, const char *text, const char *want)
{
	struct normalizer *n = make(chars, rules);
	struct buf b = BUF_INIT;

	words_of(n, text, strlen(text), false, &b);
	assert_string_equal(b.data, want);
	buf_release(&b);
	normalizer_free(n);
}

static void expect_spans(const struct chars *chars, unsigned rules, const char *text, const char *want)
{
	struct normalizer *n = make(chars, rules);
	struct buf b = BUF_INIT;

	words_of(n, text, strlen(text), true, &b);
	assert_string_equal(b.data, want);
	buf_release(&b);
	normalizer_free(n);
}

static void google(const char *text, const char *want)
{
	expect(chars_google(NULL), UNCASED, text, want);
}

static void hf(const char *text, const char *want)
{
	expect(chars_hf(), UNCASED, text, want);
}

static void white_space_and_punctuation_cut(void **state)
{
	(void)state;
	google("", "");
	google(" \t  ", "");
	google("a", "a");
	google("  Hello,World!  x ", "hello|,|world|!|x");
	google("...", ".|.|.");
	google("don't", "don|'|t");
	google("5\xE2\x82\xAC", "5\xE2\x82\xAC");			/* a symbol is no punctuation */
	google("\xE2\x80\x9Cso\xE2\x80\x9D", "\xE2\x80\x9C|so|\xE2\x80\x9D");
	google("a\xE2\x80\xA8" "b\xE2\x80\xA9" "c", "a|b|c");	/* U+2028, U+2029 */
	google("a\xE3\x80\x80" "b\xE1\x9A\x80" "c", "a|b|c");	/* U+3000, U+1680 */
}

static void what_cleaning_deletes_glues_its_neighbours(void **state)
{
	(void)state;
	google("a\x0C" "b", "ab");
	google("a\xC2\x85" "b", "ab");
	google("a\xC2\xAD" "b", "ab");
	google("a\xEF\xBF\xBD" "b", "ab");
	google("a\xE1\xA0\x8E" "b", "ab");				/* U+180E */
	google("\xF0\x9F\x91\xA8\xE2\x80\x8D\xF0\x9F\x91\xA9", "\xF0\x9F\x91\xA8\xF0\x9F\x91\xA9");
	google("a\xEE\x80\x80" "b", "a\xEE\x80\x80" "b");		/* private use stays, ... */
	hf("a\xEE\x80\x80" "b", "ab");					/* ... but not with hf */
	google("a\xCD\xB8" "b", "a\xCD\xB8" "b");			/* unassigned */
	hf("a\xCD\xB8" "b", "a\xCD\xB8" "b");
}

static void nul_is_deleted(void **state)
{
	struct normalizer *n = make(chars_google(NULL), UNCASED);
	struct buf b = BUF_INIT;

	(void)state;
	words_of(n, "a\0b \0\0 c", 8, false, &b);
	assert_string_equal(b.data, "ab|c");
	buf_release(&b);
	normalizer_free(n);
}

static void ideographs_stand_alone(void **state)
{
	(void)state;
	google("ah\xE5\x8D\x9A\xE6\x8E\xA8zz", "ah|\xE5\x8D\x9A|\xE6\x8E\xA8|zz");
	google("\xEF\xA4\x80", "\xE8\xB1\x88");				/* U+F900, decomposed */
	google("\xE3\x82\xAC\xE3\x81\x8B", "\xE3\x82\xAB\xE3\x81\x8B");	/* kana do not; the dakuten is lost */
	google("x\xF0\xAB\xA0\xA0y", "x|\xF0\xAB\xA0\xA0|y");		/* U+2B820: google's range has it, hf's not */
	hf("x\xF0\xAB\xA0\xA0y", "x\xF0\xAB\xA0\xA0y");
	expect(chars_google(NULL), LOWER | STRIP, "ah\xE5\x8D\x9A\xE6\x8E\xA8zz", "ah\xE5\x8D\x9A\xE6\x8E\xA8zz");
}

static void accents_are_stripped(void **state)
{
	(void)state;
	google("R\xC3\xA9sum\xC3\xA9 cafe\xCC\x81s", "resume|cafes");
	google("\xE0\xA4\xAE\xE0\xA5\x87\xE0\xA4\x82", "\xE0\xA4\xAE");
	google("\xED\x95\x9C\xEA\xB8\x80", "\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB\xE1\x84\x80\xE1\x85\xB3\xE1\x86\xAF");
	google("\xEF\xAC\x81\xE2\x91\xA0", "\xEF\xAC\x81\xE2\x91\xA0");	/* no compatibility forms */
	google("\xCC\x81 x", "x");					/* a mark alone leaves nothing */
	google("\xE2\x89\xA0", "=");					/* U+2260 is "=" and a mark: punctuation then */
	google("a\xCD\xBE" "b", "a|;|b");				/* U+037E */
	expect(chars_google(NULL), LOWER | CJK, "R\xC3\xA9\xE2\x89\xA0", "r\xC3\xA9\xE2\x89\xA0");
	expect(chars_google(NULL), STRIP | CJK, "R\xC3\xA9S", "ReS");
	expect(chars_google(NULL), CJK, "R\xC3\xA9S \xE2\x9D\xA4\xEF\xB8\x8F", "R\xC3\xA9S|\xE2\x9D\xA4\xEF\xB8\x8F");
	google("\xE2\x9D\xA4\xEF\xB8\x8F", "\xE2\x9D\xA4");
}

static void lower_case_is_that_of_whole_words(void **state)
{
	(void)state;
	google("\xCE\x9F\xCE\x94\xCE\x9F\xCE\xA3", "\xCE\xBF\xCE\xB4\xCE\xBF\xCF\x82");
	hf("\xCE\x9F\xCE\x94\xCE\x9F\xCE\xA3", "\xCE\xBF\xCE\xB4\xCE\xBF\xCF\x83");
	google("\xCE\xA3", "\xCF\x83");					/* no cased letter before it */
	google("'\xCE\xA3", "'|\xCF\x83");
	google("a\xCE\xA3" "b", "a\xCF\x83" "b");
	google("a\xCE\xA3 b", "a\xCF\x82|b");				/* white space ends the token, ... */
	google("a\xCE\xA3.b", "a\xCF\x83|.|b");				/* ... a stop does not: it is ignorable */
	google("a\xCE\xA3,b", "a\xCF\x82|,|b");
	google("a\xC2\xAD\xCE\xA3\xC2\xAD", "a\xCF\x82");		/* deleted characters do not count */
	google("a\xCC\x81\xCE\xA3\xCC\x81", "a\xCF\x82");
	google("\xE6\xBC\xA2\xCE\xA3", "\xE6\xBC\xA2|\xCF\x83");
	google("\xC4\xB0stanbul \xC4\xB1", "istanbul|\xC4\xB1");
	expect(chars_google(NULL), LOWER | CJK, "\xC4\xB0", "i\xCC\x87");
	google("STRASSE \xE1\xBA\x9E", "strasse|\xC3\x9F");
}

/*
 * Marks that are not of category Mn stay, in canonical order: U+1D165 (class
 * 216) before U+1D16D (226), over a dropped mark too; U+034F (class 0) parts them.
 */
static void marks_that_stay_are_sorted(void **state)
{
	(void)state;
	google("o\xF0\x9D\x85\xAD\xF0\x9D\x85\xA5", "o\xF0\x9D\x85\xA5\xF0\x9D\x85\xAD");
	google("o\xF0\x9D\x85\xAD\xCC\x81\xE2\x80\x8D\xF0\x9D\x85\xA5", "o\xF0\x9D\x85\xA5\xF0\x9D\x85\xAD");
	google("o\xF0\x9D\x85\xAD\xCD\x8F\xF0\x9D\x85\xA5", "o\xF0\x9D\x85\xAD\xF0\x9D\x85\xA5");
	/* U+1D160 is U+1D158 U+1D165 U+1D16E; what follows sorts with its end. */
	google("\xF0\x9D\x85\xA0\xF0\x9D\x85\xAD\xF0\x9D\x85\xA5", "\xF0\x9D\x85\x98\xF0\x9D\x85\xA5\xF0\x9D\x85\xAE\xF0\x9D\x85\xA5\xF0\x9D\x85\xAD");
	expect(chars_google(NULL), CJK, "o\xF0\x9D\x85\xAD\xF0\x9D\x85\xA5", "o\xF0\x9D\x85\xAD\xF0\x9D\x85\xA5");
}

static void versions_of_unicode_differ(void **state)
{
	(void)state;
	assert_string_equal(chars_google(NULL)->unicode, "14.0");
	assert_string_equal(chars_google("14.0")->unicode, "14.0");
	assert_string_equal(chars_google("15.0")->unicode, "15.0");
	assert_null(chars_google("16.0"));
	assert_null(chars_hf()->unicode);
	/* U+11F43, a mark of punctuation since 15.0 */
	expect(chars_google("14.0"), UNCASED, "a\xF0\x91\xBD\x83" "b", "a\xF0\x91\xBD\x83" "b");
	expect(chars_google("15.0"), UNCASED, "a\xF0\x91\xBD\x83" "b", "a|\xF0\x91\xBD\x83|b");
}

static void spans_say_where_words_came_from(void **state)
{
	const struct chars *c = chars_google(NULL);

	(void)state;
	expect_spans(c, UNCASED, " Hello, W", "hello@1-6|,@6-7|w@8-9");
	expect_spans(c, UNCASED, "caf\xC3\xA9 cafe\xCC\x81 \xCC\x81x", "cafe@0-4|cafe@5-9|x@12-13");
	expect_spans(c, UNCASED, "\xED\x95\x9C\xEA\xB8\x80.", "\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB\xE1\x84\x80\xE1\x85\xB3\xE1\x86\xAF@0-2|.@2-3");
	expect_spans(c, UNCASED, "a\xE2\x80\x8B" "b\xE5\x8D\x9A" "c", "ab@0-3|\xE5\x8D\x9A@3-4|c@4-5");
	/* By place: the mark of the lower class is said to come from where the other one stood. */
	expect_spans(c, UNCASED, "\xCC\x81\xF0\x9D\x85\xA5x", "\xF0\x9D\x85\xA5x@0-3");
}

/* Batches end between words, wherever that is; a word longer than any batch is whole. */
static void long_texts_come_in_batches(void **state)
{
	struct normalizer *n = make(chars_google(NULL), UNCASED);
	struct buf text = BUF_INIT, want = BUF_INIT, got = BUF_INIT;

	(void)state;
	for (unsigned i = 0; i < 6000; i++) {
		assert_int_equal(buf_addf(&text, "%s%u\xC3\x89 ", i % 7 ? "A" : "", i), 0);
		assert_int_equal(buf_addf(&want, "%s%s%ue", i ? "|" : "", i % 7 ? "a" : "", i), 0);
	}
	for (unsigned i = 0; i < 100000; i++)
		assert_int_equal(buf_add(&text, "Z", 1) || buf_adds(&want, i ? "z" : "|z"), 0);
	for (int spans = 0; spans < 2; spans++) {
		words_of(n, text.data, text.len, spans, &got);
		if (!spans)
			assert_string_equal(got.data, want.data);
		else
			assert_non_null(strstr(got.data, "|5999e@"));
	}
	buf_release(&text);
	buf_release(&want);
	buf_release(&got);
	normalizer_free(n);
	normalizer_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(white_space_and_punctuation_cut),
		cmocka_unit_test(what_cleaning_deletes_glues_its_neighbours),
		cmocka_unit_test(nul_is_deleted),
		cmocka_unit_test(ideographs_stand_alone),
		cmocka_unit_test(accents_are_stripped),
		cmocka_unit_test(lower_case_is_that_of_whole_words),
		cmocka_unit_test(marks_that_stay_are_sorted),
		cmocka_unit_test(versions_of_unicode_differ),
		cmocka_unit_test(spans_say_where_words_came_from),
		cmocka_unit_test(long_texts_come_in_batches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
