#include "tokenizer/learn_alphabet.h"

#include "base/err.h"
#include "base/fs.h"
#include "tokenizer/chars.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static struct learn_words some_words(void)
{
	static const struct {
		const char *word;
		uint64_t count;
	} words[] = { { "banana", 1 }, { "nab", 2 }, { "c", 4 }, { "\xC3\xA9t\xC3\xA9", 1 } };
	struct learn_words w;

	learn_words_init(&w, 1 << 20);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		assert_int_equal(learn_words_add(&w, words[i].word, strlen(words[i].word), words[i].count), 0);
	return w;
}

/* Counts: a 5, c 4, n 4, b 3, e-acute 2, t 1. */
static void check(uint64_t limit, const uint32_t *initial, size_t n_initial, const char *want)
{
	struct learn_words w = some_words();
	struct alphabet a;
	char got[256];
	size_t n = 0;

	assert_int_equal(alphabet_choose(&a, &w, initial, n_initial, limit, LEARN_WORD_MAX), 0);
	for (size_t i = 0; i < a.count; i++) {
		n += (size_t)snprintf(got + n, sizeof(got) - n, "%x%s ", a.letters[i], a.inside[i] ? "#" : "");
		assert_int_equal(a.place[a.letters[i]], i + 1);
	}
	snprintf(got + n, sizeof(got) - n, "-%zu,%d", a.left_out, (int)a.left_out_count);
	assert_string_equal(got, want);
	assert_int_equal(a.place['q'], initial ? a.place['q'] : 0);
	alphabet_release(&a);
	learn_words_release(&w);
}

static void the_most_frequent_are_kept(void **state)
{
	(void)state;
	check(1000, NULL, 0, "61# 62# 63 6e# 74# e9# -0,0");
	check(6, NULL, 0, "61# 62# 63 6e# 74# e9# -0,0");
	check(5, NULL, 0, "61# 62# 63 6e# e9# -1,1");
	check(2, NULL, 0, "61# 63 -4,10");		/* c before n: a tie goes to the lower */
	check(1, NULL, 0, "61# -5,14");
}

static void initial_ones_come_first(void **state)
{
	static const uint32_t initial[] = { 't', 'q', 0x4E00 };

	(void)state;
	check(1000, initial, 3, "61# 62# 63 6e# 71 74# e9# 4e00 -0,0");
	check(4, initial, 3, "61# 71 74# 4e00 -4,13");
	check(1, initial, 3, "71 74# 4e00 -5,18");
}

static void initial_ones_are_read_from_a_file(void **state)
{
	const struct normalizer_opts cased = { .chars = chars_google(NULL), .space_cjk = true };
	const struct normalizer_opts uncased = { chars_google(NULL), .lower = true, .strip_accents = true, .space_cjk = true };
	static const char text[] = "Ab\n\n \xC3\x89 b\xE4\xB8\x80?";
	static const uint32_t want_cased[] = { '?', 'A', 'b', 0xC9, 0x4E00 };
	static const uint32_t want_uncased[] = { '?', 'a', 'b', 'e', 0x4E00 };
	char name[] = "/tmp/test_learn_alphabet.XXXXXX";
	const int fd = mkstemp(name);
	uint32_t *letters;
	size_t n;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	close(fd);
	assert_int_equal(alphabet_read(name, &cased, &letters, &n), 0);
	assert_int_equal(n, 5);
	assert_memory_equal(letters, want_cased, sizeof(want_cased));
	free(letters);
	assert_int_equal(alphabet_read(name, &uncased, &letters, &n), 0);
	assert_int_equal(n, 5);
	assert_memory_equal(letters, want_uncased, sizeof(want_uncased));
	free(letters);
	assert_int_equal(fs_write_all(name, "a\xFF", 2), 0);
	assert_int_equal(alphabet_read(name, &cased, &letters, &n), -1);
	assert_int_equal(err_code(), EXIT_CORRUPT);
	unlink(name);
	assert_int_equal(alphabet_read(name, &cased, &letters, &n), -1);
	assert_int_equal(err_code(), EXIT_FAILED);
	assert_null(letters);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_most_frequent_are_kept),
		cmocka_unit_test(initial_ones_come_first),
		cmocka_unit_test(initial_ones_are_read_from_a_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
