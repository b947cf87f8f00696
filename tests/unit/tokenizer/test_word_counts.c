#include "tokenizer/word_counts.h"

#include "base/err.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define DISTINCT 60000		/* so many do not fit in WORD_COUNTS_MEMORY_LEAST */

/* Word I, of 5 to 40 bytes. */
static size_t make_word(uint32_t i, char word[64])
{
	return (size_t)snprintf(word, 64, i % 3 ? "w%" PRIu32 "x" : "a word of more than 16 bytes, %" PRIu32, i);
}

/* How often each made word was handed out. */
struct seen {
	uint64_t counts[DISTINCT];
	size_t distinct;
};

static int see(void *ctx, const struct counted_word *w)
{
	struct seen *s = ctx;
	char word[64], again[64];
	uint32_t i;

	memcpy(word, w->text, w->len);
	word[w->len] = 0;
	assert_int_equal(w->whole, w->len);
	assert_int_equal(sscanf(word, w->len > 16 ? "a word of more than 16 bytes, %" SCNu32 : "w%" SCNu32, &i), 1);
	assert_in_range(i, 0, DISTINCT - 1);
	assert_int_equal(make_word(i, again), w->len);
	assert_memory_equal(word, again, w->len);
	assert_int_equal(s->counts[i], 0);
	s->counts[i] = w->count;
	s->distinct++;
	return 0;
}

/* Word I is added 1 + I % 4 times, by threads in turn. */
static uint64_t count_made(unsigned threads, uint64_t memory)
{
	struct seen *s = calloc(1, sizeof(*s));
	struct word_counts *w;
	uint64_t spilled;
	char word[64];

	assert_non_null(s);
	assert_int_equal(word_counts_open(&w, memory, threads), 0);
	for (uint32_t round = 0; round < 4; round++)
		for (uint32_t i = 0; i < DISTINCT; i++)
			if (round <= i % 4)
				assert_int_equal(word_counts_add(w, (i + round) % threads, word, make_word(i, word)), 0);
	assert_int_equal(word_counts_each(w, see, s), 0);
	assert_int_equal(s->distinct, DISTINCT);
	for (uint32_t i = 0; i < DISTINCT; i++)
		assert_int_equal(s->counts[i], 1 + i % 4);
	assert_int_equal(word_counts_cut(w), 0);
	spilled = word_counts_spilled(w);
	word_counts_close(w);
	free(s);
	return spilled;
}

static void counts_do_not_depend_on_threads_and_memory(void **state)
{
	(void)state;
	for (unsigned threads = 1; threads < 4; threads++) {
		assert_int_equal(count_made(threads, 1 << 30), 0);
		assert_true(count_made(threads, WORD_COUNTS_MEMORY_LEAST) > 0);
	}
}

struct list {
	struct counted_word items[4];
	size_t n;
};

static int take(void *ctx, const struct counted_word *w)
{
	struct list *l = ctx;

	assert_true(l->n < 4);
	assert_int_equal(w->len, 200);		/* 100 characters of two bytes */
	assert_memory_equal(w->text, "\xC3\xA9\xC3\xA9", 4);
	l->items[l->n++] = *w;
	return 0;
}

static void long_words_are_told_apart(void **state)
{
	char word[2000];
	struct list l = { .n = 0 };
	struct word_counts *w;

	(void)state;
	for (size_t i = 0; i < sizeof(word); i += 2)
		memcpy(word + i, "\xC3\xA9", 2);
	assert_int_equal(word_counts_open(&w, 1 << 20, 1), 0);
	assert_int_equal(word_counts_add(w, 0, word, 2000), 0);
	assert_int_equal(word_counts_add(w, 0, word, 402), 0);
	assert_int_equal(word_counts_add(w, 0, word, 402), 0);
	memcpy(word + 400, "ab", 2);			/* differs where nothing is kept */
	assert_int_equal(word_counts_add(w, 0, word, 402), 0);
	assert_int_equal(word_counts_each(w, take, &l), 0);
	assert_int_equal(l.n, 3);
	for (size_t i = 0; i < l.n; i++) {
		assert_int_equal(l.items[i].whole, i ? 402 : 2000);
		assert_int_equal(l.items[i].count, i == 1 ? 2 : 1);
	}
	assert_int_not_equal(key_compare(l.items[1].digest, l.items[2].digest), 0);
	assert_int_equal(word_counts_cut(w), 4);
	word_counts_close(w);
}

static int take_whole(void *ctx, const struct counted_word *w)
{
	(*(unsigned *)ctx)++;
	assert_int_equal(w->len, w->whole);
	assert_int_equal(w->len, 400);
	return 0;
}

static int refuse(void *ctx, const struct counted_word *w)
{
	(void)ctx;
	(void)w;
	return err_fail("enough");
}

/* A word of 200 characters, N times. */
static struct word_counts *count_longest(unsigned n)
{
	char word[400];
	struct word_counts *w;

	for (size_t i = 0; i < sizeof(word); i += 2)
		memcpy(word + i, "\xC3\xA9", 2);
	assert_int_equal(word_counts_open(&w, 1 << 20, 0), 0);
	while (n--)
		assert_int_equal(word_counts_add(w, 0, word, sizeof(word)), 0);
	return w;
}

static void words_at_the_limit_are_whole_and_a_failure_ends_it(void **state)
{
	unsigned n = 0;

	(void)state;
	for (unsigned times = 0; times < 3; times++) {
		struct word_counts *w = count_longest(times);

		assert_int_equal(word_counts_each(w, take_whole, &n), 0);
		assert_int_equal(n, times);	/* 0 + 1 + 1 */
		word_counts_close(w);
	}
	struct word_counts *w = count_longest(1);

	assert_int_equal(word_counts_each(w, refuse, NULL), -1);
	assert_string_equal(err_text(), "enough");
	word_counts_close(w);
	word_counts_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_do_not_depend_on_threads_and_memory),
		cmocka_unit_test(long_words_are_told_apart),
		cmocka_unit_test(words_at_the_limit_are_whole_and_a_failure_ends_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
