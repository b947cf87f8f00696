#include "tokenizer/learn_topdown.h"

#include "base/err.h"
#include "base/map.h"
#include "base/rng.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/tokenizer/made_words.h"

static struct learn run(const struct learn_words *w, struct learn l)
{
	l.words = w;
	l.min_count = l.min_count ? l.min_count : 1;
	l.alphabet = l.alphabet ? l.alphabet : 1000;
	assert_int_equal(learn_topdown_run(&l), 0);
	return l;
}

/* --- a small vocabulary, worked out by hand --------------------------------------- */

static void words_and_their_endings(void **state)
{
	static const char *const words[] = { "low", "lower", "newest", "widest" };
	static const uint64_t counts[] = { 9, 2, 5, 3 };
	struct learn_words w = make_words(words, counts, 4);
	/*
	 * The threshold is (2 + 9) / 2 = 5. In the first round ##est, ##st and ##t occur 8 times, ##ow and ##w 9, ##ewest and its
	 * endings 5 or more. But low and newest are tokens themselves; so in the second round only w ##i ##d ##est and low ##e ##r
	 * are cut up, and no ending occurs more than 3 times.
	 */
	struct learn l = run(&w, (struct learn){ .size = 28, .unused = 1 });

	(void)state;
	assert_string_equal(l.vocab.data, "[PAD]\n[unused0]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nd\ne\ni\nl\nn\no\nr\ns\nt\nw\nlow\nnewest\n"
					  "##d\n##e\n##i\n##l\n##n\n##o\n##r\n##s\n##t\n##w\n");
	assert_int_equal(l.tokens, 28);
	assert_int_equal(l.last_count, 5);
	learn_release(&l);
	l = run(&w, (struct learn){ .size = 26, .unused = 1 });		/* no threshold gives 25 or 26: 5, 7, 8 and 9 are tried */
	assert_int_equal(l.tokens, 27);
	assert_non_null(strstr(l.vocab.data, "w\nlow\n##d\n"));
	assert_int_equal(l.last_count, 9);
	learn_release(&l);
	learn_words_release(&w);
}

static void what_is_left_out(void **state)
{
	static const char *const words[] = { "ab", "abx", "ba", "cccccccccccccccccccccccccccccccccccccccccccccccccccc" };
	static const uint64_t counts[] = { 20, 15, 15, 100 };
	static const uint32_t initial[] = { 0x3B1 };
	struct learn_words w = make_words(words, counts, 4);
	struct learn l = run(&w, (struct learn){ .size = 20, .alphabet = 3, .initial = initial, .n_initial = 1, .min_count = 10 });

	(void)state;
	/* The long word counts for nothing but the range of thresholds, which begins with (15 + 100) / 2. */
	assert_string_equal(strstr(l.vocab.data, "[MASK]"), "[MASK]\na\nb\n\xCE\xB1\nab\nba\n##a\n##b\n##\xCE\xB1\n");
	assert_int_equal(l.letters, 3);
	assert_int_equal(l.left_out, 1);
	assert_int_equal(l.left_out_count, 15);
	assert_int_equal(l.tokens, 13);
	learn_release(&l);
	learn_words_release(&w);
}

static void sizes_that_fit(void **state)
{
	(void)state;
	assert_true(learn_topdown_fits(100, 100));
	assert_true(learn_topdown_fits(95, 100));
	assert_false(learn_topdown_fits(94, 100));
	assert_false(learn_topdown_fits(101, 100));
	assert_true(learn_topdown_fits(19, 20));
}

/* --- against the learner's own way: count all that begins at a cut, take what it begins --- */

enum { WORDS_MAX = 40, LETTERS_MAX = 9 };

struct plain {
	const char *const *words;
	const uint64_t *counts;
	unsigned n;
	bool letters[128];
	struct map tokens;		/* with their counts; "##" before those inside words */
};

/* The name's length. */
static size_t name_piece(char out[LETTERS_MAX + 3], const char *piece, size_t len, bool inside)
{
	return (size_t)snprintf(out, LETTERS_MAX + 3, "%s%.*s", inside ? "##" : "", (int)len, piece);
}

/* The longest token at the front of REST, or 1 when all substrings shall be counted. */
static size_t plain_cut(const struct plain *p, const char *rest, bool inside, bool all)
{
	char name[LETTERS_MAX + 3];
	size_t len = all ? 1 : strlen(rest);

	for (; len > 1; len--) {
		const size_t n = name_piece(name, rest, len, inside);

		if (map_get(&p->tokens, name, n))
			break;
	}
	return len;
}

static void plain_count(const struct plain *p, bool all, struct map *found)
{
	char name[LETTERS_MAX + 3];

	for (unsigned i = 0; i < p->n; i++)
		for (const char *at = p->words[i]; *at; at += plain_cut(p, at, at > p->words[i], all))
			for (size_t len = 1; len <= strlen(at); len++) {
				const size_t n = name_piece(name, at, len, at > p->words[i]);

				*map_put(found, name, n) += p->counts[i];
			}
}

static void plain_keep(struct plain *p, struct map *found, uint64_t threshold)
{
	char name[LETTERS_MAX + 3];

	map_clear(&p->tokens);
	for (size_t len = LETTERS_MAX; len > 0; len--)
		for (size_t i = 0; i < found->count; i++) {
			const struct map_entry e = found->entries[i];
			const size_t marks = e.key[0] == '#' ? 2 : 0;

			if (e.len - marks != len)
				continue;
			if (e.value >= threshold)
				*map_put(&p->tokens, e.key, e.len) = e.value;
			for (size_t k = 1; k < len; k++)
				*map_put(found, e.key, marks + k) -= e.value;
		}
	for (int c = 0; c < 128; c++)
		for (int inside = 0; p->letters[c] && inside < 2; inside++) {
			const size_t n = name_piece(name, (char[]){ (char)c }, 1, inside);
			uint64_t *count = map_put(&p->tokens, name, n);

			*count = *count ? *count : 1;
		}
}

static uint64_t plain_learn(struct plain *p, uint64_t threshold)
{
	map_clear(&p->tokens);
	for (int round = 0; round < 4; round++) {
		struct map found = MAP_INIT;

		plain_count(p, round == 0, &found);
		plain_keep(p, &found, threshold);
		map_release(&found);
	}
	return LEARN_SPECIALS + p->tokens.count;
}

static int by_count_then_name(const void *pa, const void *pb)
{
	const struct map_entry *a = pa, *b = pb;
	const bool x = a->len == 1, y = b->len == 1;

	if (x != y)
		return x ? -1 : 1;
	if (!x && a->value != b->value)
		return a->value > b->value ? -1 : 1;
	return strcmp(a->key, b->key);
}

static void plain_search(struct plain *p, uint64_t size)
{
	long low = LONG_MAX, high = 0, middle;

	for (unsigned i = 0; i < p->n; i++) {
		low = (long)p->counts[i] < low ? (long)p->counts[i] : low;
		high = (long)p->counts[i] > high ? (long)p->counts[i] : high;
	}
	for (;;) {
		uint64_t got;

		middle = (low + high) / 2;
		got = plain_learn(p, (uint64_t)middle);
		if ((got <= size && 20 * (size - got) <= size) || low >= high || middle <= 1)
			break;
		if (got > size)
			low = middle + 1;
		else
			high = middle - 1;
	}
	qsort(p->tokens.entries, p->tokens.count, sizeof(*p->tokens.entries), by_count_then_name);
}

static void check_against_plain(struct rng *r)
{
	static char letters[WORDS_MAX][LETTERS_MAX + 1];
	const char *words[WORDS_MAX];
	uint64_t counts[WORDS_MAX];
	struct plain p = { words, counts, 1 + rng_below(r, WORDS_MAX), { false }, MAP_INIT };
	const unsigned alphabet = 1 + rng_below(r, 4), range = 1 + rng_below(r, 40), size = 10 + rng_below(r, 60);
	struct buf want = BUF_INIT;
	struct learn_words w;
	struct learn l;

	for (unsigned i = 0; i < p.n; i++) {
		const unsigned len = 1 + rng_below(r, LETTERS_MAX);

		for (unsigned k = 0; k < len; k++) {
			letters[i][k] = (char)('a' + rng_below(r, alphabet));
			p.letters[(int)letters[i][k]] = true;
		}
		letters[i][len] = 0;
		words[i] = letters[i];
		counts[i] = 1 + rng_below(r, range);
		for (unsigned k = 0; k < i; k++)
			if (strcmp(words[k], words[i]) == 0) {	/* each word once */
				p.n = i;
				break;
			}
	}
	plain_search(&p, size);
	for (size_t i = 0; i < p.tokens.count; i++)
		assert_int_equal(buf_addf(&want, "%s\n", p.tokens.entries[i].key), 0);
	w = make_words(words, counts, p.n);
	l = run(&w, (struct learn){ .size = size });
	assert_string_equal(strstr(l.vocab.data, "[MASK]\n") + 7, want.data);
	learn_release(&l);
	learn_words_release(&w);
	map_release(&p.tokens);
	buf_release(&want);
}

static void it_is_what_the_plainest_way_gives(void **state)
{
	struct rng r;

	(void)state;
	rng_open(&r, 13, RNG_TEST, 0, 0, 0, 0, 0);
	for (unsigned i = 0; i < 300; i++)
		check_against_plain(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_and_their_endings),
		cmocka_unit_test(what_is_left_out),
		cmocka_unit_test(sizes_that_fit),
		cmocka_unit_test(it_is_what_the_plainest_way_gives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
