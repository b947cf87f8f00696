#include "tokenizer/learn_extend.h"

#include "base/err.h"
#include "base/rng.h"
#include "tokenizer/learn_bpe.h"
#include "tokenizer/wordpiece.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/unit/tokenizer/made_words.h"

#include "tests/unit/tokenizer/made_vocab.h"

static struct vocab *vocab_of(const char *text)
{
	struct vocab *v;

	assert_int_equal(load_bytes(&v, text, strlen(text)), 0);
	return v;
}

static struct learn run(const struct learn_words *w, const struct vocab *base, struct learn l)
{
	l.words = w;
	l.base = base;
	l.min_count = l.min_count ? l.min_count : 1;
	l.alphabet = l.alphabet ? l.alphabet : 1000;
	assert_int_equal(learn_extend_run(&l), 0);
	return l;
}

static void slots_are_filled_then_lines_added(void **state)
{
	static const char *const words[] = { "abcab", "cab", "bc" };
	static const uint64_t counts[] = { 3, 5, 4 };
	struct vocab *v = vocab_of("[PAD]\n[unused0]\n\n[UNK]\na\na\nb\nc\nab\n[unused1]\n##a\n##b\n##c\n[unused]\n##ab\n");
	struct learn_words w = make_words(words, counts, 3);
	/* ab ##c ##ab, c ##ab, b ##c: c ##ab 5, b ##c 4, ab ##c 3; then abc ##ab, after which no word needs abc. */
	struct learn l = run(&w, v, (struct learn){ .add = 3 });

	(void)state;
	assert_string_equal(l.vocab.data, "[PAD]\ncab\n\n[UNK]\na\na\nb\nc\nab\nbc\n##a\n##b\n##c\n[unused]\n##ab\nabcab\n");
	assert_int_equal(l.tokens, 16);
	assert_int_equal(l.added, 3);
	assert_int_equal(l.slots, 2);
	learn_release(&l);
	l = run(&w, v, (struct learn){ .add = 4 });	/* there is no more */
	assert_string_equal(strstr(l.vocab.data, "##ab\n"), "##ab\nabcab\n");
	assert_int_equal(l.added, 3);
	learn_release(&l);
	l = run(&w, v, (struct learn){ .add = 1 });
	assert_string_equal(strstr(l.vocab.data, "ab\n[unused1]"), "ab\n[unused1]\n##a\n##b\n##c\n[unused]\n##ab\n");
	learn_release(&l);
	learn_words_release(&w);
	vocab_free(v);
}

static void wanted_characters_come_first(void **state)
{
	static const char *const words[] = { "a\xCE\xB1", "\xCE\xB2\xCE\xB1", "\xCE\xB3", "aaa" };	/* aα βα γ */
	static const uint64_t counts[] = { 2, 3, 1, 9 };
	struct vocab *v = vocab_of("[UNK]\na\n##a\n");
	struct learn_words w = make_words(words, counts, 4);
	struct learn l = run(&w, v, (struct learn){ .add = 4, .min_count = 2 });

	(void)state;
	assert_string_equal(l.vocab.data, "[UNK]\na\n##a\n##\xCE\xB1\n\xCE\xB2\naaa\n\xCE\xB2\xCE\xB1\n");	/* aa is needed by none */
	learn_release(&l);
	l = run(&w, v, (struct learn){ .add = 3, .min_count = 2 });
	assert_string_equal(l.vocab.data, "[UNK]\na\n##a\n##\xCE\xB1\n\xCE\xB2\naaa\n");
	assert_int_equal(l.letters, 1);
	assert_int_equal(l.inside, 1);
	assert_int_equal(l.unknown_count, 1);
	learn_release(&l);
	l = run(&w, v, (struct learn){ .add = 1, .min_count = 2 });
	assert_string_equal(l.vocab.data, "[UNK]\na\n##a\n##\xCE\xB1\n");
	learn_release(&l);
	l = run(&w, v, (struct learn){ .add = 9, .min_count = 1, .alphabet = 2 });	/* of the Greek letters α alone */
	assert_string_equal(l.vocab.data, "[UNK]\na\n##a\n##\xCE\xB1\naaa\na\xCE\xB1\n");
	assert_int_equal(l.unknown_count, 4);
	learn_release(&l);
	learn_words_release(&w);
	vocab_free(v);
}

static void random_words(struct rng *r, char texts[200][12], const char **words, uint64_t *counts)
{
	for (unsigned i = 0; i < 200; i++) {
		const unsigned len = 1 + rng_below(r, 11);

		for (unsigned k = 0; k < len; k++)
			texts[i][k] = (char)('a' + rng_below(r, 5));
		texts[i][len] = 0;
		words[i] = texts[i];
		counts[i] = 1 + rng_below(r, 9);
	}
}

/* What holds whatever the words: old tokens keep their ids, as many are added as were asked for, each once, and no word is unknown. */
static void old_tokens_keep_their_ids(void **state)
{
	static char texts[200][12];
	const char *words[200];
	uint64_t counts[200];
	struct rng r;

	(void)state;
	rng_open(&r, 14, RNG_TEST, 0, 0, 0, 0, 0);
	for (unsigned round = 0; round < 20; round++) {
		struct ids ids = IDS_INIT;
		struct wordpiece *wordpiece;
		struct vocab *old, *new;
		struct learn_words w;
		struct learn l;

		random_words(&r, texts, words, counts);
		w = make_words(words, counts, 200);
		l = (struct learn){ .words = &w, .size = 100, .min_count = 1, .alphabet = 10, .unused = 20 };
		assert_int_equal(learn_bpe_run(&l), 0);
		old = vocab_of(l.vocab.data);
		learn_release(&l);
		learn_words_release(&w);
		random_words(&r, texts, words, counts);
		w = make_words(words, counts, 200);
		l = run(&w, old, (struct learn){ .add = 60, .order = round % 2 ? LEARN_BY_LIKELIHOOD : LEARN_BY_COUNT });
		assert_int_equal(l.added, 60);
		assert_int_equal(l.slots, 20);
		assert_int_equal(l.tokens, 140);
		new = vocab_of(l.vocab.data);
		assert_int_equal(vocab_size(new), 140);
		assert_int_equal(vocab_duplicates(new), 0);
		for (uint32_t id = 0; id < 100; id++)
			assert_true(vocab_is_slot(old, id) != (strcmp(vocab_token(old, id, NULL), vocab_token(new, id, NULL)) == 0));
		wordpiece = wordpiece_new(new, 200);
		assert_non_null(wordpiece);
		for (unsigned i = 0; i < 200; i++)
			assert_int_equal(wordpiece_encode(wordpiece, words[i], strlen(words[i]), &ids), 0);
		for (size_t i = 0; i < ids.count; i++)
			assert_int_not_equal(ids.items[i], vocab_special(new).unk);
		ids_release(&ids);
		wordpiece_free(wordpiece);
		vocab_free(old);
		vocab_free(new);
		learn_release(&l);
		learn_words_release(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slots_are_filled_then_lines_added),
		cmocka_unit_test(wanted_characters_come_first),
		cmocka_unit_test(old_tokens_keep_their_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
