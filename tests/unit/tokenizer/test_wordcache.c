#include "tokenizer/wordcache.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

static struct wordkey key_of(const char *word)
{
	char bytes[WORDCACHE_KEY + 1];

	memset(bytes, '?', sizeof(bytes));	/* what follows a word does not matter */
	memcpy(bytes, word, strlen(word));
	return wordcache_key(bytes, strlen(word));
}

static void put(struct wordcache *c, const char *word, const uint32_t *ids, size_t n)
{
	const struct wordkey k = key_of(word);

	wordcache_put(c, wordcache_set(c, k), k, ids, n);
}

static const struct wordcache_entry *find(const struct wordcache *c, const char *word)
{
	const struct wordkey k = key_of(word);

	return wordcache_find(wordcache_set(c, k), k);
}

static void words_of_every_length_come_back(void **state)
{
	struct wordcache *c = wordcache_new(1 << 16, false);
	char word[WORDCACHE_KEY + 1] = "";

	(void)state;
	assert_non_null(c);
	for (uint32_t len = 1; len <= WORDCACHE_KEY; len++) {
		word[len - 1] = (char)('a' + len % 3);
		assert_null(find(c, word));
		put(c, word, &(uint32_t){ 65535 - len }, 1);
	}
	for (uint32_t len = WORDCACHE_KEY; len > 0; len--) {
		word[len] = 0;
		assert_non_null(find(c, word));
		assert_int_equal(find(c, word)->count, 1);
		assert_int_equal(find(c, word)->narrow[0], 65535 - len);
	}
	wordcache_free(c);
}

static void what_has_too_many_pieces_is_not_kept(void **state)
{
	const uint32_t ids[] = { 1, 2, 3, 4, 5, 6, 7 };
	const uint32_t wide_ids[] = { 70000, 80000, UINT32_MAX - 1, 4 };
	struct wordcache *c = wordcache_new(0, false), *wide = wordcache_new(0, true);

	(void)state;
	put(c, "six", ids, 6);
	put(c, "seven", ids, 7);
	assert_int_equal(find(c, "six")->count, 6);
	assert_int_equal(find(c, "six")->narrow[5], 6);
	assert_null(find(c, "seven"));
	put(wide, "three", wide_ids, 3);
	put(wide, "four", wide_ids, 4);
	assert_int_equal(find(wide, "three")->count, 3);
	assert_int_equal(find(wide, "three")->wide[2], UINT32_MAX - 1);
	assert_null(find(wide, "four"));
	wordcache_free(c);
	wordcache_free(wide);
	wordcache_free(NULL);
}

/* The newest word of a set is always there, and nothing is ever found that was put under another word. */
static void old_words_give_way(void **state)
{
	struct wordcache *c = wordcache_new(0, false);
	char word[16];
	unsigned held = 0;

	(void)state;
	for (uint32_t i = 0; i < 10000; i++) {
		snprintf(word, sizeof(word), "w%u", i);
		put(c, word, &(uint32_t){ i }, 1);
		assert_int_equal(find(c, word)->narrow[0], i);
	}
	for (uint32_t i = 0; i < 10000; i++) {
		const struct wordcache_entry *e;

		snprintf(word, sizeof(word), "w%u", i);
		e = find(c, word);
		held += e != NULL;
		if (e)
			assert_int_equal(e->narrow[0], i);
	}
	assert_int_equal(held, 128);		/* the least size: 64 sets, all full */
	wordcache_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_of_every_length_come_back),
		cmocka_unit_test(what_has_too_many_pieces_is_not_kept),
		cmocka_unit_test(old_words_give_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
