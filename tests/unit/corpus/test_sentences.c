#include "corpus/sentences.h"

#include "base/err.h"
#include "base/rng.h"
#include "base/utf8.h"
#include "corpus/abbreviations.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

/* The sentences of TEXT joined by "|". */
static char *cut(const struct sentences *rules, const char *text, size_t len)
{
	struct buf b = BUF_INIT;
	struct sentence_scan scan;
	const char *sentence;
	size_t n;

	assert_int_equal(buf_reserve(&b, 1), 0);
	sentence_start(&scan, rules, text, len);
	while (sentence_next(&scan, &sentence, &n)) {
		assert_true(n > 0);
		assert_true(sentence >= text && sentence + n <= text + len);
		assert_int_equal(buf_adds(&b, b.len ? "|" : "") || buf_add(&b, sentence, n), 0);
	}
	return b.data;
}

struct cut_case {
	const char *text, *want;	/* WANT NULL: TEXT is one sentence */
};

static void check(const char *language, const struct cut_case *cases, size_t n)
{
	struct sentences *rules;

	assert_int_equal(sentences_open(&rules, language), 0);
	for (size_t i = 0; i < n; i++) {
		char *got = cut(rules, cases[i].text, strlen(cases[i].text));

		assert_string_equal(got, cases[i].want ? cases[i].want : cases[i].text);
		free(got);
	}
	sentences_close(rules);
}
#define CHECK(language, cases) check(language, cases, sizeof(cases) / sizeof((cases)[0]))

static void plain_sentences_are_cut(void **state)
{
	static const struct cut_case cases[] = {
		{ "", "" },
		{ " \t\xC2\xA0 ", "" },
		{ "No stop at all", NULL },
		{ "One. Two! Three? Four", "One.|Two!|Three?|Four" },
		{ "  White space \t at cuts.   goes \xE3\x80\x80.\t\xC2\xA0 Only there.  ", "White space \t at cuts.   goes \xE3\x80\x80.|Only there." },
		{ "Really?! Yes!! Good... Fine\xE2\x80\xA6 Done", "Really?!|Yes!!|Good...|Fine\xE2\x80\xA6|Done" },
		{ "It cost 3.50 at example.com/a.b?c=D. Not $4.", "It cost 3.50 at example.com/a.b?c=D.|Not $4." },
		{ "Done.Next stays", NULL },
		{ "They won 5. 12 more came. 3 left.", "They won 5.|12 more came.|3 left." },
		{ "Wait. \xF0\x9F\x98\x80 Go.", "Wait.|\xF0\x9F\x98\x80 Go." },
		{ "A tokenized line . The next one . ", "A tokenized line .|The next one ." },
		{ ". ! ?", NULL },
		{ "... So it began.", NULL },
	};

	(void)state;
	CHECK("en", cases);
	CHECK("und", cases);
}

static void what_closes_stays_and_what_opens_goes(void **state)
{
	static const struct cut_case cases[] = {
		{ "\"No!\" he said. \"Yes.\" She left.", "\"No!\" he said.|\"Yes.\"|She left." },
		{ "(It ended.) Then 'it began.' \"So?\" (Not so.) But", "(It ended.)|Then 'it began.'|\"So?\"|(Not so.)|But" },
		{ "He left (he said so.) and came. (She stayed.)", "He left (he said so.) and came.|(She stayed.)" },
		{ "\xE2\x80\x9COh!\xE2\x80\x9D she cried. \xE2\x80\x9CSo.\xE2\x80\x9D", "\xE2\x80\x9COh!\xE2\x80\x9D she cried.|\xE2\x80\x9CSo.\xE2\x80\x9D" },
		{ "\xC2\xAB Non. \xC2\xBB Il part. \xC2\xAB Oui ! \xC2\xBB", "\xC2\xAB Non. \xC2\xBB|Il part.|\xC2\xAB Oui ! \xC2\xBB" },
		{ "\xC2\xBBJa.\xC2\xAB \xC2\xBBNein.\xC2\xAB", "\xC2\xBBJa.\xC2\xAB|\xC2\xBBNein.\xC2\xAB" },
		{ "It is so.[1][23] Next. [4] Last.", "It is so.[1][23]|Next. [4]|Last." },
		{ "Quoted \"[...] words\" (Smith 55). End", "Quoted \"[...] words\" (Smith 55).|End" },
		{ "\xC2\xBFQu\xC3\xA9? \xC2\xA1No!", "\xC2\xBFQu\xC3\xA9?|\xC2\xA1No!" },
		{ "_Never._ He -- left. -- Then", "_Never._|He -- left.|-- Then" },
	};

	(void)state;
	CHECK("en", cases);
}

static void english_abbreviations(void **state)
{
	static const struct cut_case cases[] = {
		{ "Mr. and Mrs. Smith met Dr. Jones. He left.", "Mr. and Mrs. Smith met Dr. Jones.|He left." },
		{ "J. R. R. Tolkien and C.S. Lewis met in Mt. Vernon, e.g. Monday. They", "J. R. R. Tolkien and C.S. Lewis met in Mt. Vernon, e.g. Monday.|They" },
		{ "See vol. 3, pp. 5-6, No. 7 and ch. IV. Nobody did. No. I am not.", "See vol. 3, pp. 5-6, No. 7 and ch. IV.|Nobody did.|No.|I am not." },
		{ "In the U.S. Congress and in the U.S. They differ.", "In the U.S. Congress and in the U.S.|They differ." },
		{ "Acme Inc. Chairman Bob Jr. left at 5 p.m. Tuesday. So did Acme Inc. It closed.",
		  "Acme Inc. Chairman Bob Jr. left at 5 p.m. Tuesday.|So did Acme Inc.|It closed." },
		{ "You and I. Albert I. Jones. Vitamin C. The end", "You and I.|Albert I. Jones.|Vitamin C.|The end" },
		{ "The James's. Robert can't. Now.", "The James's.|Robert can't.|Now." },
		{ "It was a gen. He met Gen. Lee.", "It was a gen.|He met Gen. Lee." },
		{ "Fruit etc. Next. Apples, etc. are fine.", "Fruit etc.|Next.|Apples, etc. are fine." },
		{ "Well ... I think so. And ... The end. Hm... I do", "Well ... I think so.|And ...|The end.|Hm... I do" },
		{ "It ended. . . . Next", "It ended. . . .|Next" },
		{ "It ended. .NET began. .5 is half.", "It ended.|.NET began.|.5 is half." },
		{ "Born Jan. 5. Died in Dec. He", "Born Jan. 5.|Died in Dec.|He" },
	};

	(void)state;
	CHECK("en", cases);
}

static void lists_are_cut_at_their_marks(void **state)
{
	static const struct cut_case cases[] = {
		{ "1. Introduction", NULL },
		{ "IV. The Shadow", NULL },
		{ "1.2.3. Overview of it. More", "1.2.3. Overview of it.|More" },
		{ "1990. That was the year.", "1990.|That was the year." },
		{ "1) Salt 2) Pepper 4) Not next 3) Oil", "1) Salt|2) Pepper 4) Not next|3) Oil" },
		{ "9.) Nine. 10.) Ten", "9.) Nine.|10.) Ten" },
		{ "a. Eggs and b. milk c. Ham b. Milk c. Flour", "a. Eggs and b. milk c. Ham|b. Milk|c. Flour" },
		{ "\xE2\x80\xA2 One \xE2\x80\xA2 two\xE2\x80\xA2three \xE2\x80\xA2 Four", "\xE2\x80\xA2 One|\xE2\x80\xA2 two\xE2\x80\xA2three|\xE2\x80\xA2 Four" },
		{ "(1) One (2) Two", "(1) One|(2) Two" },
		{ "A. Smith and B. Jones", NULL },
		{ "y) Why z) Zed {) Not", "y) Why|z) Zed {) Not" },
		{ "999) Long 1000) Not", NULL },
	};

	(void)state;
	CHECK("en", cases);
}

static void lower_cased_text_is_cut_too(void **state)
{
	static const struct cut_case cases[] = {
		{ "mr. smith left . he came back ! did he ? yes .", "mr. smith left .|he came back !|did he ?|yes ." },
		{ "one capital X makes it. not so", NULL },
		{ "\"no!\" he said. so", "\"no!\" he said.|so" },
	};

	(void)state;
	CHECK("en", cases);
}

static void other_languages(void **state)
{
	static const struct cut_case de[] = {
		{ "Am 12. Juni war z. B. Dr. med. Meyer da. Das 19. Jahrhundert endete 1900. Es war gut.",
		  "Am 12. Juni war z. B. Dr. med. Meyer da.|Das 19. Jahrhundert endete 1900.|Es war gut." },
		{ "1. FC K\xC3\xB6ln in der 2. Bundesliga", NULL },
		{ "Ludwig XIV. Die K\xC3\xB6nige", "Ludwig XIV.|Die K\xC3\xB6nige" },
	};
	static const struct cut_case fr[] = {
		{ "M. Dupont et Mme. Durand, p. 12. L'homme part.", "M. Dupont et Mme. Durand, p. 12.|L'homme part." },
	};
	static const struct cut_case es[] = {
		{ "El Sr. L\xC3\xB3pez vive en EE.UU. desde 1990. \xC2\xBFY t\xC3\xBA?", "El Sr. L\xC3\xB3pez vive en EE.UU. desde 1990.|\xC2\xBFY t\xC3\xBA?" },
	};
	static const struct cut_case ru[] = {	/* "In 1990 he, prof. Ivanov, left. It is so, i.e. yes. In the town": */
		{ "\xD0\x92 1990 \xD0\xB3. \xD0\xBE\xD0\xBD. \xD0\xAD\xD1\x82\xD0\xBE", "\xD0\x92 1990 \xD0\xB3. \xD0\xBE\xD0\xBD.|\xD0\xAD\xD1\x82\xD0\xBE" },
		{ "\xD0\xBF\xD1\x80\xD0\xBE\xD1\x84. \xD0\x98\xD0\xB2\xD0\xB0\xD0\xBD\xD0\xBE\xD0\xB2", NULL },
	};
	static const struct cut_case ko[] = {
		{ "\xEA\xB0\x80\xEB\x8B\xA4. \xEC\x98\xA8\xEB\x8B\xA4! \xEB\x84\xA4. \xEA\xB7\xB8", "\xEA\xB0\x80\xEB\x8B\xA4.|\xEC\x98\xA8\xEB\x8B\xA4!|\xEB\x84\xA4.|\xEA\xB7\xB8" },
	};

	(void)state;
	CHECK("de", de);
	CHECK("fr", fr);
	CHECK("es", es);
	CHECK("ru", ru);
	CHECK("ko", ko);
}

/* Full stops of scripts without capitals, the same in every language. */
static void full_stops_of_all_scripts(void **state)
{
	static const struct cut_case cases[] = {
		{ "\xE6\x88\x91\xE3\x80\x82\xE4\xBD\xA0\xEF\xBC\x81\xE4\xBB\x96\xEF\xBC\x9F\xE5\xA5\xB9", "\xE6\x88\x91\xE3\x80\x82|\xE4\xBD\xA0\xEF\xBC\x81|\xE4\xBB\x96\xEF\xBC\x9F|\xE5\xA5\xB9" },
		{ "\xE6\x88\x91\xE3\x80\x82\xE2\x80\x9C\xE4\xBD\xA0\xE3\x80\x82\xE2\x80\x9D\xE4\xBB\x96", "\xE6\x88\x91\xE3\x80\x82|\xE2\x80\x9C\xE4\xBD\xA0\xE3\x80\x82\xE2\x80\x9D|\xE4\xBB\x96" },
		{ "\xE3\x80\x8C\xE6\x88\x91\xE3\x80\x82\xE3\x80\x8D\xE4\xBD\xA0", "\xE3\x80\x8C\xE6\x88\x91\xE3\x80\x82\xE3\x80\x8D|\xE4\xBD\xA0" },
		{ "\xE3\x80\x8C\xE6\x88\x91\xE3\x80\x82\xE3\x80\x8D\xE3\x81\xA8\xE8\xA8\x80", NULL },			/* "...", he said */
		{ "\xE3\x80\x8A\xE6\x88\x91\xEF\xBC\x81\xE4\xBD\xA0\xE3\x80\x8B\xE5\xA5\xBD", NULL },			/* a title */
		{ "\xE3\x80\x8A\xE6\x88\x91\xE3\x80\x8B\xEF\xBC\x81\xE3\x80\x8A\xE4\xBD\xA0\xE3\x80\x8B", "\xE3\x80\x8A\xE6\x88\x91\xE3\x80\x8B\xEF\xBC\x81|\xE3\x80\x8A\xE4\xBD\xA0\xE3\x80\x8B" },
		{ "\xEF\xBC\x93\xEF\xBC\x8E\xEF\xBC\x95\xE6\x88\x91\xEF\xBC\x8E\xE4\xBD\xA0", "\xEF\xBC\x93\xEF\xBC\x8E\xEF\xBC\x95\xE6\x88\x91\xEF\xBC\x8E|\xE4\xBD\xA0" },
		{ "\xE6\x88\x91!\xE4\xBD\xA0?\xE4\xBB\x96", "\xE6\x88\x91!|\xE4\xBD\xA0?|\xE4\xBB\x96" },
		{ "\xE0\xA4\x95\xE0\xA5\xA4 \xE0\xA4\x96\xE0\xA5\xA5\xE0\xA4\x97", "\xE0\xA4\x95\xE0\xA5\xA4|\xE0\xA4\x96\xE0\xA5\xA5|\xE0\xA4\x97" },
		{ "\xD9\x85\xD8\x9F \xD9\x86\xDB\x94\xD9\x88", "\xD9\x85\xD8\x9F|\xD9\x86\xDB\x94|\xD9\x88" },
		{ "\xD5\xA2\xD6\x89 \xD5\xA3", "\xD5\xA2\xD6\x89|\xD5\xA3" },			/* Armenian */
		{ "\xE1\x88\x80\xE1\x8D\xA2\xE1\x88\x81", "\xE1\x88\x80\xE1\x8D\xA2|\xE1\x88\x81" },	/* Ethiopic */
		{ "\xE1\x9E\x80\xE1\x9F\x94\xE1\x9E\x81", "\xE1\x9E\x80\xE1\x9F\x94|\xE1\x9E\x81" },	/* Khmer */
	};

	(void)state;
	for (size_t i = 0; i < abbreviations_count; i++)
		CHECK(abbreviations[i].code, cases);
}

static void an_unknown_language_names_the_known_ones(void **state)
{
	struct sentences *rules;

	(void)state;
	assert_int_equal(sentences_open(&rules, "xx"), -1);
	assert_int_equal(err_code(), EXIT_USAGE);
	assert_non_null(strstr(err_text(), "'xx'"));
	assert_non_null(strstr(err_text(), " de en "));
	sentences_close(rules);
}

/* The sentences of any text, in order, are the text but for white space at their ends. */
static void nothing_is_lost(void **state)
{
	static const char *const pieces[] = {
		"a", "B", "Mr", "U.S", "etc", "1", "10", "I", "No", ".", ".", ".", "!", "?", "...", " . .", "\xE2\x80\xA6", " ", " ", "  ",
		"\t", "\xC2\xA0", "\"", "'", "(", ")", "[1]", "]", "\xC2\xAB", "\xC2\xBB", "\xE2\x80\x9C", "\xE2\x80\x9D", "-", "\xE2\x80\x94",
		",", ":", "\xE3\x80\x82", "\xEF\xBC\x81", "\xEF\xBC\x8E", "\xE3\x80\x8A", "\xE3\x80\x8B", "\xE3\x80\x8D", "\xE3\x81\xA8",
		"\xE6\x88\x91", "\xE0\xA5\xA4", "\xD8\x9F", "\xD0\xB3", "\xF0\x9F\x98\x80", "\xE2\x80\xA2 ", "1) ", "2) ", "a. ", "b. ", "",
	};
	const size_t n_pieces = sizeof(pieces) / sizeof(pieces[0]);

	(void)state;
	for (size_t l = 0; l < abbreviations_count; l++) {
		struct sentences *rules;

		assert_int_equal(sentences_open(&rules, abbreviations[l].code), 0);
		for (unsigned k = 0; k < 2000; k++) {
			struct buf text = BUF_INIT;
			struct sentence_scan scan;
			const char *sentence, *at;
			struct rng r;
			size_t n;

			rng_open(&r, 7, RNG_TEST, 0, l, k, 0, 0);
			assert_int_equal(buf_reserve(&text, 1), 0);
			for (uint32_t i = rng_below(&r, 40); i > 0; i--)
				assert_int_equal(buf_adds(&text, pieces[rng_below(&r, (uint32_t)n_pieces)]), 0);
			at = text.data;
			sentence_start(&scan, rules, text.data, text.len);
			while (sentence_next(&scan, &sentence, &n)) {
				assert_true(n > 0 && sentence >= at && utf8_is_blank(at, (size_t)(sentence - at)));
				assert_int_equal(utf8_valid_prefix(sentence, n), n);
				at = sentence + n;
			}
			assert_true(utf8_is_blank(at, (size_t)(text.data + text.len - at)));
			buf_release(&text);
		}
		sentences_close(rules);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_sentences_are_cut),
		cmocka_unit_test(what_closes_stays_and_what_opens_goes),
		cmocka_unit_test(english_abbreviations),
		cmocka_unit_test(lists_are_cut_at_their_marks),
		cmocka_unit_test(lower_cased_text_is_cut_too),
		cmocka_unit_test(other_languages),
		cmocka_unit_test(full_stops_of_all_scripts),
		cmocka_unit_test(an_unknown_language_names_the_known_ones),
		cmocka_unit_test(nothing_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
