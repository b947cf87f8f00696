#include "tokenizer/learn_bpe.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/rng.h"
#include "tokenizer/tokenizer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/tokenizer/made_words.h"

static struct learn run(const struct learn_words *w, struct learn l)
{
	l.words = w;
	l.min_count = l.min_count ? l.min_count : 1;
	l.alphabet = l.alphabet ? l.alphabet : 1000;
	assert_int_equal(learn_bpe_run(&l), 0);
	return l;
}

/* --- a small vocabulary, worked out by hand --------------------------------------- */

static void merges_come_in_order(void **state)
{
	static const char *const words[] = { "low", "lower", "newest", "widest", "\xE4\xB8\x80" };
	static const uint64_t counts[] = { 5, 2, 6, 3, 1 };
	struct learn_words w = make_words(words, counts, 5);
	/*
	 * ##e ##s 9 before ##s ##t, which has 9 too; ##es ##t 9; l ##o 7 before ##o ##w; lo ##w 7; n ##e 6 before ##e ##w
	 * and ##w ##est; ##w ##est 6 before ne ##w, since "ne" is newer than "##w"; and so on.
	 */
	static const char want[] = "[PAD]\n[unused0]\n[unused1]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n"
				   "d\ne\ni\nl\nn\no\nr\ns\nt\nw\n\xE4\xB8\x80\n##d\n##e\n##i\n##o\n##r\n##s\n##t\n##w\n"
				   "##es\n##est\nlo\nlow\nne\n##west\nnewest\nwi\n##dest\nwidest\n##er\nlower\n";
	struct learn l = run(&w, (struct learn){ .size = 38, .unused = 2, .min_count = 2 });

	(void)state;
	assert_string_equal(l.vocab.data, want);
	assert_int_equal(l.tokens, 38);
	assert_int_equal(l.letters, 11);
	assert_int_equal(l.inside, 8);
	learn_release(&l);
	l = run(&w, (struct learn){ .size = 1000, .unused = 2, .min_count = 4 });	/* what occurs 6 times is the last */
	assert_int_equal(l.tokens, 33);
	assert_int_equal(l.last_count, 6);
	assert_int_equal(strncmp(l.vocab.data, want, l.vocab.len), 0);
	learn_release(&l);
	learn_words_release(&w);
}

static void likelihood_joins_what_belongs_together(void **state)
{
	static const char *const words[] = { "quit", "quota", "tea", "eat", "ate" };
	static const uint64_t counts[] = { 2, 2, 9, 9, 9 };
	struct learn_words w = make_words(words, counts, 5);
	/*
	 * q ##u is 4/(4*4), as is ##u ##i, 2/(4*2), which occurs less often. Then qu ##i, 2/(4*2), and qu ##o, 2/(2*2). Then t ##e
	 * 9/(9*18); e ##a 9/(9*20), as te ##a, but older; then te ##a 9/(9*11), as ##a occurs less often now; and of
	 * a ##t and ea ##t, 9/(9*22) both, and of qui ##t, 2/(2*22), the oldest of those that occur most.
	 */
	struct learn l = run(&w, (struct learn){ .size = 25, .order = LEARN_BY_LIKELIHOOD });

	(void)state;
	assert_string_equal(strstr(l.vocab.data, "##u"), "##u\nqu\nqui\nquo\nte\nea\ntea\nat\n");
	assert_int_equal(l.last_count, 9);
	learn_release(&l);
	learn_words_release(&w);
}

static void characters_outside_the_alphabet_leave_the_words(void **state)
{
	static const char *const words[] = { "axb", "xab" };
	static const uint64_t counts[] = { 5, 4 };
	struct learn_words w = make_words(words, counts, 2);
	struct learn l = run(&w, (struct learn){ .size = 100, .alphabet = 2 });	/* a ##b, and ##a ##b */

	(void)state;
	assert_string_equal(strstr(l.vocab.data, "[MASK]"), "[MASK]\na\nb\n##a\n##b\nab\n##ab\n");
	assert_int_equal(l.left_out, 1);
	assert_int_equal(l.left_out_count, 9);
	learn_release(&l);
	learn_words_release(&w);
}

static void initial_characters_are_there(void **state)
{
	static const uint32_t initial[] = { 0x3B1 };
	static const char *const words[] = { "ab" };
	static const uint64_t counts[] = { 1 };
	struct learn_words w = make_words(words, counts, 1);
	struct learn l = run(&w, (struct learn){ .size = 100, .min_count = 2, .initial = initial, .n_initial = 1 });

	(void)state;
	assert_string_equal(strstr(l.vocab.data, "[MASK]"), "[MASK]\na\nb\n\xCE\xB1\n##b\n");
	assert_int_equal(l.last_count, 0);
	learn_release(&l);
	learn_words_release(&w);
}

static void counts_have_64_bits(void **state)
{
	static const char *const words[] = { "ab", "cb", "db" };
	static const uint64_t counts[] = { (uint64_t)1 << 33, ((uint64_t)1 << 33) + 1, 1 };
	struct learn_words w = make_words(words, counts, 3);
	struct learn l = run(&w, (struct learn){ .size = 12 });

	(void)state;
	assert_string_equal(strstr(l.vocab.data, "##b"), "##b\ncb\nab\n");
	learn_release(&l);
	learn_words_release(&w);
}

static void a_size_that_is_too_small_names_the_least(void **state)
{
	static const char *const words[] = { "abc" };
	static const uint64_t counts[] = { 1 };
	struct learn_words w = make_words(words, counts, 1);
	struct learn l = { .words = &w, .size = 12, .min_count = 1, .alphabet = 10, .unused = 3 };

	(void)state;
	assert_int_equal(learn_bpe_run(&l), -1);		/* 5 specials, 3 slots, a b c ##b ##c */
	assert_non_null(strstr(err_text(), " 12 "));
	assert_non_null(strstr(err_text(), " 13"));
	l.size = 13;
	assert_int_equal(learn_bpe_run(&l), 0);
	assert_int_equal(l.tokens, 13);
	learn_release(&l);
	learn_words_release(&w);
}

/* --- against the plainest way to do it --------------------------------------------- */

enum { WORDS_MAX = 40, LETTERS_MAX = 9, TOKENS_MAX = 300 };

/* Words as lists of token numbers, pairs counted anew for every merge. */
struct plain {
	char tokens[TOKENS_MAX][LETTERS_MAX + 3];
	unsigned n_tokens;
	unsigned pieces[WORDS_MAX][LETTERS_MAX], lengths[WORDS_MAX];
	const uint64_t *counts;
	unsigned n_words;
};

static unsigned plain_token(struct plain *p, const char *text)
{
	for (unsigned i = 0; i < p->n_tokens; i++)
		if (strcmp(p->tokens[i], text) == 0)
			return i;
	assert_true(p->n_tokens < TOKENS_MAX);
	snprintf(p->tokens[p->n_tokens], sizeof(p->tokens[0]), "%s", text);
	return p->n_tokens++;
}

static uint64_t plain_count(const struct plain *p, unsigned left, unsigned right)
{
	uint64_t n = 0;

	for (unsigned w = 0; w < p->n_words; w++)
		for (unsigned i = 0; i + 1 < p->lengths[w]; i++)
			n += p->pieces[w][i] == left && p->pieces[w][i + 1] == right ? p->counts[w] : 0;
	return n;
}

static uint64_t plain_frequency(const struct plain *p, unsigned token)
{
	uint64_t n = 0;

	for (unsigned w = 0; w < p->n_words; w++)
		for (unsigned i = 0; i < p->lengths[w]; i++)
			n += p->pieces[w][i] == token ? p->counts[w] : 0;
	return n;
}

static bool plain_best(const struct plain *p, enum learn_order order, unsigned *left, unsigned *right)
{
	uint64_t most = 0, over = 1, freqs[TOKENS_MAX];		/* the best: MOST / OVER */

	for (unsigned a = 0; a < p->n_tokens; a++)
		freqs[a] = order == LEARN_BY_COUNT ? 1 : plain_frequency(p, a);
	for (unsigned a = 0; a < p->n_tokens; a++)
		for (unsigned b = 0; b < p->n_tokens; b++) {
			const uint64_t n = plain_count(p, a, b), x = n * over, y = most * freqs[a] * freqs[b];

			if (!n || x < y || (x == y && n <= most))	/* the tokens' order settles ties */
				continue;
			most = n;
			over = freqs[a] * freqs[b];
			*left = a;
			*right = b;
		}
	return most > 0;
}

static void plain_merge(struct plain *p, unsigned left, unsigned right)
{
	char joined[2 * (LETTERS_MAX + 3)];
	unsigned token;

	snprintf(joined, sizeof(joined), "%s%s", p->tokens[left], p->tokens[right] + 2);
	token = plain_token(p, joined);
	for (unsigned w = 0; w < p->n_words; w++) {
		unsigned *s = p->pieces[w], to = 0;

		for (unsigned from = 0; from < p->lengths[w]; from++)
			if (from + 1 < p->lengths[w] && s[from] == left && s[from + 1] == right) {
				s[to++] = token;
				from++;
			} else {
				s[to++] = s[from];
			}
		p->lengths[w] = to;
	}
}

static void plain_start(struct plain *p, const char *const *words, const uint64_t *counts, unsigned n)
{
	char text[4] = "##";

	p->n_tokens = 0;
	p->counts = counts;
	p->n_words = n;
	for (char c = 'a'; c <= 'z'; c++)
		for (unsigned w = 0; w < n; w++)
			if (strchr(words[w], c))
				plain_token(p, (char[]){ c, 0 });
	for (text[2] = 'a'; text[2] <= 'z'; text[2]++)
		for (unsigned w = 0; w < n; w++)
			if (strchr(words[w] + 1, text[2]))
				plain_token(p, text);
	for (unsigned w = 0; w < n; w++) {
		p->lengths[w] = (unsigned)strlen(words[w]);
		for (unsigned i = 0; i < p->lengths[w]; i++) {
			text[2] = words[w][i];
			p->pieces[w][i] = plain_token(p, i ? text : text + 2);
		}
	}
}

static void check_against_plain(struct rng *r, enum learn_order order)
{
	static char letters[WORDS_MAX][LETTERS_MAX + 1];
	static struct plain p;
	const char *words[WORDS_MAX];
	uint64_t counts[WORDS_MAX];
	const unsigned n = 1 + rng_below(r, WORDS_MAX), alphabet = 1 + rng_below(r, 4);
	unsigned left = 0, right = 0, size;
	struct buf want = BUF_INIT;
	struct learn_words w;
	struct learn l;

	for (unsigned i = 0; i < n; i++) {
		const unsigned len = 1 + rng_below(r, LETTERS_MAX);

		for (unsigned k = 0; k < len; k++)
			letters[i][k] = (char)('a' + rng_below(r, alphabet));
		letters[i][len] = 0;
		words[i] = letters[i];
		counts[i] = 1 + rng_below(r, 3);
	}
	plain_start(&p, words, counts, n);
	size = p.n_tokens + rng_below(r, 60);
	while (p.n_tokens < size && plain_best(&p, order, &left, &right))
		plain_merge(&p, left, right);
	for (unsigned i = 0; i < p.n_tokens; i++)
		assert_int_equal(buf_addf(&want, "%s\n", p.tokens[i]), 0);
	w = make_words(words, counts, n);
	l = run(&w, (struct learn){ .size = LEARN_SPECIALS + size, .order = order });
	assert_string_equal(strstr(l.vocab.data, "[MASK]\n") + 7, want.data);
	learn_release(&l);
	learn_words_release(&w);
	buf_release(&want);
}

static void it_is_what_the_plainest_way_gives(void **state)
{
	struct rng r;

	(void)state;
	rng_open(&r, 11, RNG_TEST, 0, 0, 0, 0, 0);
	for (unsigned i = 0; i < 300; i++)
		check_against_plain(&r, i % 2 ? LEARN_BY_LIKELIHOOD : LEARN_BY_COUNT);
}

/* --- what tokenizers need ----------------------------------------------------------- */

static void its_own_words_are_never_unknown(void **state)
{
	static char texts[200][12];
	const char *words[200];
	uint64_t counts[200];
	char path[] = "/tmp/test_learn_bpe.XXXXXX";
	struct tokenizer_opts o = TOKENIZER_OPTS_DEFAULT;
	struct learn_words w;
	struct learn l;
	struct tokenizer *t;
	struct encoder *e;
	struct ids ids = IDS_INIT;
	struct rng r;

	(void)state;
	rng_open(&r, 12, RNG_TEST, 0, 0, 0, 0, 0);
	for (unsigned i = 0; i < 200; i++) {
		const unsigned len = 1 + rng_below(&r, 11);

		for (unsigned k = 0; k < len; k++)
			texts[i][k] = (char)('a' + rng_below(&r, 26));
		words[i] = texts[i];
		counts[i] = 1 + rng_below(&r, 9);
	}
	w = make_words(words, counts, 200);
	l = run(&w, (struct learn){ .size = 300, .unused = 99 });
	assert_true(mkstemp(path) >= 0);
	assert_int_equal(fs_write_all(path, l.vocab.data, l.vocab.len), 0);
	o.vocab = path;
	assert_int_equal(tokenizer_open(&t, &o), 0);
	assert_int_equal(vocab_size(tokenizer_vocab(t)), 300);
	assert_int_equal(vocab_duplicates(tokenizer_vocab(t)), 0);
	assert_int_equal(vocab_blank_lines(tokenizer_vocab(t)), 0);
	assert_int_equal(vocab_special(tokenizer_vocab(t)).pad, 0);		/* as in the published vocabularies */
	assert_int_equal(vocab_special(tokenizer_vocab(t)).unk, 100);
	assert_int_equal(vocab_special(tokenizer_vocab(t)).mask, 103);
	e = encoder_new(t);
	assert_non_null(e);
	for (unsigned i = 0; i < 200; i++)
		assert_int_equal(encoder_encode(e, words[i], strlen(words[i]), &ids), 0);
	assert_true(ids.count >= 200);
	for (size_t i = 0; i < ids.count; i++)
		assert_true(ids.items[i] > 103);
	encoder_free(e);
	tokenizer_close(t);
	ids_release(&ids);
	remove(path);
	learn_release(&l);
	learn_words_release(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(merges_come_in_order),
		cmocka_unit_test(likelihood_joins_what_belongs_together),
		cmocka_unit_test(characters_outside_the_alphabet_leave_the_words),
		cmocka_unit_test(initial_characters_are_there),
		cmocka_unit_test(counts_have_64_bits),
		cmocka_unit_test(a_size_that_is_too_small_names_the_least),
		cmocka_unit_test(it_is_what_the_plainest_way_gives),
		cmocka_unit_test(its_own_words_are_never_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
