#include "tokenizer/wordpiece.h"

#include "tokenizer/never_split.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/tokenizer/made_vocab.h"

/* ids:                       0      1   2     3    4       5     6    7     8             9               10  11 */
static const char tokens[] = "[UNK]\nun\nable\n##a\n##able\n##ff\n##b\n##le\n\xE6\xBC\xA2\n##\xE5\xAD\x97\n#\n##\n";

static void expect_of(const char *vocab, uint64_t max_word, const char *word, const char *want)
{
	struct vocab *v;
	struct wordpiece *w;
	struct ids ids = IDS_INIT;
	char got[256] = "";

	assert_int_equal(load_bytes(&v, vocab, strlen(vocab)), 0);
	w = wordpiece_new(v, max_word);
	assert_non_null(w);
	assert_int_equal(ids_add(&ids, 77), 0);		/* what is there stays */
	assert_int_equal(wordpiece_encode(w, word, strlen(word), &ids), 0);
	assert_int_equal(ids.items[0], 77);
	for (size_t i = 1; i < ids.count; i++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%u", i > 1 ? " " : "", ids.items[i]);
	assert_string_equal(got, want);
	ids_release(&ids);
	wordpiece_free(w);
	vocab_free(v);
}

static void expect(const char *word, const char *want)
{
	expect_of(tokens, 100, word, want);
}

static void the_longest_token_is_taken_first(void **state)
{
	(void)state;
	expect("un", "1");
	expect("able", "2");
	expect("unable", "1 4");
	expect("unaable", "1 3 4");
	expect("unaffable", "1 3 5 4");
	expect("unable\xE5\xAD\x97", "1 4 9");
	expect("\xE6\xBC\xA2\xE5\xAD\x97", "8 9");
}

static void one_gap_makes_the_whole_word_unknown(void **state)
{
	(void)state;
	expect("x", "0");
	expect("a", "0");		/* only as a continuation */
	expect("unx", "0");
	expect("unabx", "0");
	expect("unabl", "0");
	expect("\xE5\xAD\x97", "0");
}

/* "a" and "##aa" would do, but "aa" is longer. */
static void there_is_no_way_back(void **state)
{
	(void)state;
	expect_of("[UNK]\na\naa\n##aa\n", 100, "aaa", "0");
	expect_of("[UNK]\na\naa\n##aa\n", 100, "aaaa", "2 3");
}

/* As the reference, which looks up the text itself. */
static void a_word_may_look_like_a_continuation(void **state)
{
	(void)state;
	expect("#", "10");
	expect("##", "11");
	expect("##able", "4");
	expect("###", "0");
}

static void long_words_are_counted_in_code_points(void **state)
{
	(void)state;
	expect_of(tokens, 6, "unable", "1 4");
	expect_of(tokens, 5, "unable", "0");
	expect_of(tokens, 2, "\xE6\xBC\xA2\xE5\xAD\x97", "8 9");
	expect_of(tokens, 1, "\xE6\xBC\xA2\xE5\xAD\x97", "0");
}

static void a_vocabulary_may_lack_continuations(void **state)
{
	(void)state;
	expect_of("[UNK]\nun\n", 100, "un", "1");
	expect_of("[UNK]\nun\n", 100, "unun", "0");
	expect_of("[UNK]\nun\nun\n", 100, "un", "2");
}

static void a_match_says_how_far_it_goes(void **state)
{
	struct vocab *v;
	struct wordpiece *w;
	uint32_t id = 99;

	(void)state;
	assert_int_equal(load_bytes(&v, tokens, strlen(tokens)), 0);
	w = wordpiece_new(v, 10);
	assert_non_null(w);
	assert_int_equal(wordpiece_match(w, "unable", 6, false, &id), 2);
	assert_int_equal(id, 1);
	assert_int_equal(wordpiece_match(w, "able", 4, true, &id), 4);
	assert_int_equal(id, 4);
	assert_int_equal(wordpiece_match(w, "abl", 3, true, &id), 1);
	assert_int_equal(id, 3);
	assert_int_equal(wordpiece_match(w, "xyz", 3, true, &id), 0);
	assert_true(wordpiece_too_long(w, "abcdefghijk", 11));
	assert_false(wordpiece_too_long(w, "\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9", 12));
	wordpiece_free(w);
	vocab_free(v);
}

static void kept_words_are_one_piece(void **state)
{
	static const char *const kept[] = { "unable", "able", "##a" };
	struct never_split n = NEVER_SPLIT_INIT;
	struct vocab *v;
	struct wordpiece *w;
	struct ids ids = IDS_INIT;

	(void)state;
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(never_split_add(&n, kept[i], strlen(kept[i])), 0);
	never_split_sort(&n);
	assert_int_equal(load_bytes(&v, tokens, strlen(tokens)), 0);
	w = wordpiece_new(v, 4);
	assert_non_null(w);
	assert_false(wordpiece_keeps(w, "able", 4));
	wordpiece_keep(w, &n);
	assert_true(wordpiece_keeps(w, "able", 4));
	assert_false(wordpiece_keeps(w, "un", 2));
	assert_int_equal(wordpiece_encode(w, "unable", 6, &ids), 0);	/* would be two, and is no token */
	assert_int_equal(wordpiece_encode(w, "able", 4, &ids), 0);
	assert_int_equal(wordpiece_encode(w, "##a", 3, &ids), 0);
	assert_int_equal(wordpiece_encode(w, "una", 3, &ids), 0);
	assert_int_equal(ids.count, 5);
	assert_int_equal(ids.items[0], 0);
	assert_int_equal(ids.items[1], 2);
	assert_int_equal(ids.items[2], 3);
	assert_int_equal(ids.items[3], 1);
	assert_int_equal(ids.items[4], 3);
	ids_release(&ids);
	wordpiece_free(w);
	vocab_free(v);
	never_split_release(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_longest_token_is_taken_first),
		cmocka_unit_test(one_gap_makes_the_whole_word_unknown),
		cmocka_unit_test(there_is_no_way_back),
		cmocka_unit_test(a_word_may_look_like_a_continuation),
		cmocka_unit_test(long_words_are_counted_in_code_points),
		cmocka_unit_test(a_vocabulary_may_lack_continuations),
		cmocka_unit_test(a_match_says_how_far_it_goes),
		cmocka_unit_test(kept_words_are_one_piece),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
