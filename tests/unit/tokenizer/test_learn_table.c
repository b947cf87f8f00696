#include "tokenizer/learn_table.h"

#include "base/buf.h"
#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* What a walk finds, as a map. */
static struct map walked(const struct learn_table *t)
{
	struct table_walk walk = { .slot = 0 };
	struct map m = MAP_INIT;

	while (learn_table_next(t, &walk)) {
		uint64_t *count = map_put(&m, walk.word, walk.len);

		assert_non_null(count);
		assert_int_equal(*count, 0);		/* each word once */
		*count = walk.count;
	}
	return m;
}

static void check_equal(const struct learn_table *t, const struct map *want)
{
	struct map got = walked(t);

	assert_int_equal(got.count, want->count);
	for (size_t i = 0; i < want->count; i++) {
		const uint64_t *n = map_get(&got, want->entries[i].key, want->entries[i].len);

		assert_non_null(n);
		assert_int_equal(*n, want->entries[i].value);
	}
	map_release(&got);
}

static int put_longer(void *ctx, const char *word, size_t len)
{
	return learn_table_put(ctx, word, len, 1);
}

/* Words of all lengths around 16, many of them beginnings of others, in one batch with other bytes after each. */
static void words_are_counted(void **state)
{
	enum { N = 20000 };
	static uint32_t starts[N], ends[N];
	struct buf text = BUF_INIT;
	struct map want = MAP_INIT;
	struct learn_table t;
	struct words batch;
	struct rng r;

	(void)state;
	rng_open(&r, 15, RNG_TEST, 0, 0, 0, 0, 0);
	assert_int_equal(learn_table_init(&t), 0);
	for (int round = 0; round < 3; round++) {
		buf_clear(&text);
		for (size_t i = 0; i < N; i++) {
			starts[i] = (uint32_t)text.len;
			for (uint64_t k = 0, n = 1 + rng_below(&r, 20); k < n; k++)
				assert_int_equal(buf_add_byte(&text, (unsigned char)(1 + rng_below(&r, k < 2 ? 255 : 2))), 0);
			ends[i] = (uint32_t)text.len;
		}
		assert_int_equal(buf_reserve(&text, WORDS_SLACK), 0);
		memset(text.data + text.len, 'x', WORDS_SLACK);
		for (size_t i = 0; i < N; i++)
			(*map_put(&want, text.data + starts[i], ends[i] - starts[i]))++;
		batch = (struct words){ .text = text.data, .starts = starts, .ends = ends, .count = N };
		assert_int_equal(learn_table_count(&t, &batch, put_longer, &t), 0);
		check_equal(&t, &want);
		assert_true(learn_table_bytes(&t, 0) > (t.used + t.longer.count) * sizeof(struct table_slot));
	}
	assert_int_equal(learn_table_restart(&t), 0);
	map_clear(&want);
	check_equal(&t, &want);
	assert_int_equal(learn_table_put(&t, "again", 5, 7), 0);
	assert_int_equal(learn_table_put(&t, "again", 5, (uint64_t)1 << 40), 0);
	*map_put(&want, "again", 5) = 7 + ((uint64_t)1 << 40);
	check_equal(&t, &want);
	learn_table_release(&t);
	map_release(&want);
	buf_release(&text);
}

/* Every other word is in one table, all are in the other; whichever takes the other. */
static void tables_join(void **state)
{
	struct learn_table some, all;
	struct map want = MAP_INIT;
	char word[32];

	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		assert_int_equal(learn_table_init(&some), 0);
		assert_int_equal(learn_table_init(&all), 0);
		map_clear(&want);
		for (unsigned i = 0; i < 300000; i++) {
			const size_t len = (size_t)snprintf(word, sizeof(word), "%u%s", i, i % 7 ? "" : "longer than a slot");

			assert_int_equal(learn_table_put(&all, word, len, 1), 0);
			if (i % 2)
				assert_int_equal(learn_table_put(&some, word, len, 2), 0);
			*map_put(&want, word, len) = i % 2 ? 3 : 1;
		}
		assert_int_equal(learn_table_join(swap ? &some : &all, swap ? &all : &some), 0);
		check_equal(swap ? &some : &all, &want);
		learn_table_release(&some);
		learn_table_release(&all);
	}
	map_release(&want);
}

static int refuse(void *ctx, const char *word, size_t len)
{
	assert_int_equal(len, 17);
	assert_int_equal(memcmp(word, "seventeen letters", len), 0);
	return *(int *)ctx;
}

static void longer_words_are_the_callers(void **state)
{
	static const char text[22 + WORDS_SLACK] = "shortseventeen letters";
	static const uint32_t starts[] = { 0, 5 }, ends[] = { 5, 22 };
	const struct words batch = { .text = text, .starts = starts, .ends = ends, .count = 2 };
	struct learn_table t;
	int rc = 0;

	(void)state;
	assert_int_equal(learn_table_init(&t), 0);
	assert_int_equal(learn_table_count(&t, &batch, refuse, &rc), 0);
	assert_int_equal(t.longer.count, 0);
	rc = -1;
	assert_int_equal(learn_table_count(&t, &batch, refuse, &rc), -1);
	learn_table_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_counted),
		cmocka_unit_test(tables_join),
		cmocka_unit_test(longer_words_are_the_callers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
