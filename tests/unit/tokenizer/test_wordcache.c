#include "tokenizer/wordcache.h"

#include "base/cpu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const char *const processors[] = { "none", "avx2", "native" };
enum { PROCESSORS = 3, WORDS = WORDCACHE_GROUP - 3 };

/* Some words in one text, as a normalizer would have them. */
struct text {
	char bytes[WORDCACHE_GROUP * 40 + WORDCACHE_LONG];
	uint32_t starts[WORDCACHE_GROUP], ends[WORDCACHE_GROUP];
	size_t n, len;
};

static void add(struct text *t, const char *word)
{
	const size_t len = strlen(word);

	memcpy(t->bytes + t->len, word, len);
	t->starts[t->n] = (uint32_t)t->len;
	t->len += len;
	t->ends[t->n++] = (uint32_t)t->len;
	memset(t->bytes + t->len, '?', WORDCACHE_LONG);	/* what follows a word does not matter */
}

static void put(const struct wordcache *c, const char *word, const uint32_t *ids, size_t n)
{
	struct wordcache_group g;
	struct text t = { .n = 0 };

	add(&t, word);
	c->prepare(c, t.bytes, t.starts, t.ends, 1, &g);
	wordcache_put(c, &g, 0, t.bytes, t.len, ids, n);
}

/* The ids of WORD to IDS; how many, -1 when it is not there. */
static int find(const struct wordcache *c, const char *word, uint32_t *ids)
{
	struct wordcache_group g;
	struct text t = { .n = 0 };
	uint32_t *to = ids;

	add(&t, word);
	c->prepare(c, t.bytes, t.starts, t.ends, 1, &g);
	return c->take(c, &g, 0, 1, &to) || wordcache_take_long(c, &g, 0, t.bytes, t.len, &to) ? (int)(to - ids) : -1;
}

static struct wordcache *make(const char *processor, size_t bytes, bool wide)
{
	struct wordcache *c;

	assert_int_equal(cpu_limit(processor), 0);
	c = wordcache_new(bytes, wide);
	assert_int_equal(cpu_limit("native"), 0);
	assert_non_null(c);
	return c;
}

static void words_of_every_length_come_back(void **state)
{
	(void)state;
	for (int p = 0; p < PROCESSORS; p++) {
		struct wordcache *c = make(processors[p], 1 << 16, false);
		char word[WORDCACHE_LONG + 2] = "";
		uint32_t ids[WORDCACHE_ROOM];

		for (uint32_t len = 1; len <= WORDCACHE_LONG; len++) {
			word[len - 1] = (char)('a' + len % 3);
			assert_int_equal(find(c, word, ids), -1);
			put(c, word, &(uint32_t){ 65535 - len }, 1);
		}
		word[WORDCACHE_LONG] = 'x';	/* too long, and begins as one that is there */
		put(c, word, &(uint32_t){ 1 }, 1);
		assert_int_equal(find(c, word, ids), -1);
		for (uint32_t len = WORDCACHE_LONG; len > 0; len--) {
			word[len] = 0;
			assert_int_equal(find(c, word, ids), 1);
			assert_int_equal(ids[0], 65535 - len);
		}
		wordcache_free(c);
	}
}

static void what_has_too_many_pieces_is_not_kept(void **state)
{
	const uint32_t ids[] = { 1, 2, 3, 4, 5, 6, 65535, 8 };
	const uint32_t wide_ids[] = { 70000, 80000, 3, 0xFFFFFF, 4 };
	uint32_t got[WORDCACHE_ROOM];

	(void)state;
	for (int p = 0; p < PROCESSORS; p++) {
		struct wordcache *c = make(processors[p], 0, false), *wide = make(processors[p], 0, true);

		put(c, "seven", ids, 7);
		put(c, "seven, of more than sixteen", ids, 7);
		put(wide, "four, of more than sixteen bytes", wide_ids, 4);
		assert_int_equal(find(c, "seven, of more than sixteen", got), 7);
		assert_memory_equal(got, ids, 7 * sizeof(*ids));
		assert_int_equal(find(wide, "four, of more than sixteen bytes", got), 4);
		assert_memory_equal(got, wide_ids, 4 * sizeof(*ids));
		assert_int_equal(find(c, "seven, of more than sixteem", got), -1);
		assert_int_equal(find(c, "sevem, of more than sixteen", got), -1);
		put(c, "eight", ids, 8);
		assert_int_equal(find(c, "seven", got), 7);
		assert_memory_equal(got, ids, 7 * sizeof(*ids));
		assert_int_equal(find(c, "eight", got), -1);
		put(wide, "four", wide_ids, 4);
		put(wide, "five", wide_ids, 5);
		assert_int_equal(find(wide, "four", got), 4);
		assert_memory_equal(got, wide_ids, 4 * sizeof(*ids));
		assert_int_equal(find(wide, "five", got), -1);
		wordcache_free(c);
		wordcache_free(wide);
	}
	wordcache_free(NULL);
}

/* The newest word of a set is always there, and nothing is ever found that was put under another word. */
static void old_words_give_way(void **state)
{
	(void)state;
	for (int p = 0; p < PROCESSORS; p++) {
		struct wordcache *c = make(processors[p], 0, false);
		uint32_t ids[WORDCACHE_ROOM];
		unsigned held = 0;
		char word[16];

		for (uint32_t i = 0; i < 10000; i++) {
			snprintf(word, sizeof(word), "w%u", i);
			put(c, word, &(uint32_t){ i }, 1);
			assert_int_equal(find(c, word, ids), 1);
			assert_int_equal(ids[0], i);
		}
		for (uint32_t i = 0; i < 10000; i++) {
			snprintf(word, sizeof(word), "w%u", i);
			if (find(c, word, ids) < 0)
				continue;
			held++;
			assert_int_equal(ids[0], i);
		}
		assert_int_equal(held, 128);		/* the least size: 64 sets, all full */
		wordcache_free(c);
	}
}

/* A group stops at each word that is not there, and goes on behind it. */
static void a_group_is_taken_piece_by_piece(void **state)
{
	(void)state;
	for (int p = 0; p < PROCESSORS; p++) {
		struct wordcache *c = make(processors[p], 1 << 20, false);
		struct wordcache_group g;
		struct text t = { .n = 0 };
		uint32_t ids[(WORDCACHE_GROUP + 1) * WORDCACHE_ROOM], *to = ids;
		size_t i = 0, missed = 0;
		char word[16];

		for (unsigned k = 0; k < WORDS; k++) {
			snprintf(word, sizeof(word), "%u", k);
			add(&t, word);
			if (k % 5)
				put(c, word, (uint32_t[]){ k, k + 1, k + 2 }, k % 4);
		}
		c->prepare(c, t.bytes, t.starts, t.ends, t.n, &g);
		while ((i = c->take(c, &g, i, t.n, &to)) < t.n) {
			assert_int_equal(i % 5, 0);
			*to++ = 9999;
			wordcache_put(c, &g, i, t.bytes + t.starts[i], t.ends[i] - t.starts[i], &(uint32_t){ 9999 }, 1);
			i++;
			missed++;
		}
		assert_int_equal(missed, (WORDS + 4) / 5);
		to = ids;
		assert_int_equal(c->take(c, &g, 0, t.n, &to), t.n);
		for (unsigned k = 0, at = 0; k < WORDS; k++) {
			const unsigned n = k % 5 ? k % 4 : 1;

			for (unsigned j = 0; j < n; j++)
				assert_int_equal(ids[at++], k % 5 ? k + j : 9999);
		}
		wordcache_free(c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_of_every_length_come_back),
		cmocka_unit_test(what_has_too_many_pieces_is_not_kept),
		cmocka_unit_test(old_words_give_way),
		cmocka_unit_test(a_group_is_taken_piece_by_piece),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
