#include "tokenizer/learn_words.h"

#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static uint64_t cost(unsigned words, unsigned letters)
{
	return (uint64_t)LEARN_WORD_COST * words + (uint64_t)LEARN_LETTER_COST * letters;
}

static void add(struct learn_words *w, const char *word, uint64_t count)
{
	assert_int_equal(learn_words_add(w, word, strlen(word), count), 0);
}

static void has(const struct learn_words *w, size_t i, const char *word, uint64_t count)
{
	assert_true(i < w->count);
	assert_int_equal(w->items[i].len, strlen(word));
	assert_memory_equal(learn_words_text(w, i), word, strlen(word));
	assert_int_equal(w->items[i].count, count);
}

static void words_that_fit_are_kept(void **state)
{
	struct learn_words w;

	(void)state;
	learn_words_init(&w, cost(3, 7));
	add(&w, "ab", 1);
	add(&w, "\xC3\xA9\xE4\xB8\x80", 5);		/* two code points of five bytes */
	add(&w, "cde", (uint64_t)1 << 40);
	assert_int_equal(w.count, 3);
	assert_int_equal(w.items[1].letters, 2);
	has(&w, 0, "ab", 1);
	has(&w, 2, "cde", (uint64_t)1 << 40);
	assert_int_equal(w.dropped, 0);
	assert_int_equal(w.floor, 0);
	learn_words_release(&w);
}

static void whole_counts_are_dropped(void **state)
{
	struct learn_words w;

	(void)state;
	learn_words_init(&w, cost(3, 3));
	add(&w, "a", 2);
	add(&w, "b", 7);
	add(&w, "c", 2);
	add(&w, "d", 9);		/* too many: both words of count 2 go */
	assert_int_equal(w.count, 2);
	has(&w, 0, "b", 7);
	has(&w, 1, "d", 9);
	assert_int_equal(w.floor, 2);
	assert_int_equal(w.dropped, 2);
	assert_int_equal(w.dropped_count, 4);
	add(&w, "e", 2);		/* there would be room, but its like were dropped */
	add(&w, "f", 1);
	assert_int_equal(w.count, 2);
	assert_int_equal(w.dropped, 4);
	assert_int_equal(w.dropped_count, 7);
	add(&w, "g", 3);
	assert_int_equal(w.count, 3);
	add(&w, "a very long word", 100);	/* alone more than the room: nothing is left */
	assert_int_equal(w.count, 0);
	assert_int_equal(w.floor, 100);
	learn_words_release(&w);
}

/* The sum of products of the kept words' hashes tells sets apart well enough. */
static uint64_t kept_set(const struct learn_words *w)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < w->count; i++) {
		uint64_t h = w->items[i].count;

		for (uint32_t k = 0; k < w->items[i].len; k++)
			h = h * 1000003 + (unsigned char)learn_words_text(w, i)[k];
		sum += h * h;
	}
	return sum;
}

static void order_plays_no_part(void **state)
{
	enum { N = 500 };
	unsigned order[N];
	uint64_t want = 0, floor = 0, dropped = 0;
	struct rng r;

	(void)state;
	rng_open(&r, 3, RNG_TEST, 0, 0, 0, 0, 0);
	for (unsigned i = 0; i < N; i++)
		order[i] = i;
	for (unsigned round = 0; round < 20; round++) {
		struct learn_words w;

		learn_words_init(&w, cost(200, 600));
		for (unsigned i = 0; i < N; i++) {
			char word[16];

			snprintf(word, sizeof(word), "%u", order[i] * 7919);
			add(&w, word, 1 + 300 / (1 + order[i]));
		}
		assert_true(w.cost <= w.room);
		if (!round) {
			want = kept_set(&w);
			floor = w.floor;
			dropped = w.dropped;
			assert_true(w.count > 50 && floor >= 1);
		}
		assert_int_equal(kept_set(&w), want);
		assert_int_equal(w.floor, floor);
		assert_int_equal(w.dropped, dropped);
		learn_words_release(&w);
		for (unsigned i = N - 1; i > 0; i--) {
			const unsigned k = rng_below(&r, i + 1), t = order[i];

			order[i] = order[k];
			order[k] = t;
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_that_fit_are_kept),
		cmocka_unit_test(whole_counts_are_dropped),
		cmocka_unit_test(order_plays_no_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
