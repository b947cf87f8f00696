/* What becomes of one text and of two: special tokens, types, and what is cut where. */
#include "base/err.h"
#include "finetune/features.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static char path[] = "/tmp/bert-test-features-XXXXXX";
static struct tokenizer *tokenizer;

/* Tokens a .. j are ids 5 .. 14. */
static int set_up(void **state)
{
	static const char text[] = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\nc\nd\ne\nf\ng\nh\ni\nj\n";
	const struct tokenizer_opts o = { .vocab = path };
	const int fd = mkstemp(path);

	(void)state;
	return fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text) || close(fd) || tokenizer_open(&tokenizer, &o);
}

static int tear_down(void **state)
{
	(void)state;
	tokenizer_close(tokenizer);
	return unlink(path);
}

/* Ids as letters, [CLS] as <, [SEP] as |; then the length of the first type. */
static void expect(int max, const char *a, const char *b, const char *letters, int first)
{
	struct sequences s = SEQUENCES_INIT;
	struct features f;
	char got[64];
	int n;

	assert_int_equal(features_open(&f, tokenizer, max), 0);
	assert_int_equal(features_add(&f, a, b, 7, &s), 0);
	n = sequences_length(&s, 0);
	for (int i = 0; i < n; i++)
		got[i] = s.ids[i] == 2 ? '<' : s.ids[i] == 3 ? '|' : s.ids[i] == 1 ? '?' : (char)('a' + s.ids[i] - 5);
	got[n] = 0;
	assert_string_equal(got, letters);
	assert_int_equal(s.first[0], first);
	assert_int_equal(s.labels[0], 7);
	assert_int_equal(s.longest, n);
	sequences_release(&s);
	features_close(&f);
}

static void one_text(void **state)
{
	(void)state;
	expect(128, "a b c", NULL, "<abc|", 5);
	expect(128, "", NULL, "<|", 2);
	expect(5, "a b c d e", NULL, "<abc|", 5);
	expect(3, "a b c d e", NULL, "<a|", 3);
	expect(128, "a zz\tb\nc\r\nd", NULL, "<a?bcd|", 7);
}

/* The loop of _truncate_seq_pair, written as it stands there. */
static void pair_lengths(int *a, int *b, int max)
{
	while (*a + *b > max) {
		if (*a > *b)
			(*a)--;
		else
			(*b)--;
	}
}

static void two_texts(void **state)
{
	(void)state;
	expect(128, "a b", "c", "<ab|c|", 4);
	expect(8, "a b c", "d e f g", "<abc|de|", 5);
	expect(8, "a b c d e", "f", "<abcd|f|", 6);
	expect(7, "a", "b c d e f g", "<a|bcd|", 3);
	expect(3, "a", "b", "<||", 2);
}

static void two_texts_of_all_lengths(void **state)
{
	static const char letters[] = "a b c d e f g h i j";
	char first[32], second[32], want[64];

	(void)state;
	for (int max = 3; max < 26; max++) {
		for (int i = 0; i < 11 * 11; i++) {
			int a = i / 11, b = i % 11, n = 0;

			snprintf(first, sizeof(first), "%.*s", a ? 2 * a - 1 : 0, letters);
			snprintf(second, sizeof(second), "%.*s", b ? 2 * b - 1 : 0, letters);
			pair_lengths(&a, &b, max - 3);
			want[n++] = '<';
			for (int k = 0; k < a; k++)
				want[n++] = (char)('a' + k);
			want[n++] = '|';
			for (int k = 0; k < b; k++)
				want[n++] = (char)('a' + k);
			want[n++] = '|';
			want[n] = 0;
			expect(max, first, second, want, a + 2);
		}
	}
}

static void counts_what_is_cut(void **state)
{
	struct sequences s = SEQUENCES_INIT;
	struct features f;

	(void)state;
	assert_int_equal(features_open(&f, tokenizer, 6), 0);
	assert_int_equal(features_add(&f, "a b c d", NULL, 0, &s), 0);
	assert_int_equal(f.cut, 0);
	assert_int_equal(features_add(&f, "a b c d e", NULL, 0, &s), 0);
	assert_int_equal(features_add(&f, "a b", "c d", 0, &s), 0);
	assert_int_equal(f.cut, 2);
	assert_int_equal(s.n, 3);
	assert_int_equal(s.starts[3], 18);
	sequences_clear(&s);
	assert_int_equal(s.n, 0);
	assert_non_null(sequences_add(&s, 2, 2, -1));
	assert_int_equal(s.starts[1], 2);
	sequences_release(&s);
	features_close(&f);
}

static void refuses(void **state)
{
	struct features f;

	(void)state;
	assert_int_equal(features_open(&f, tokenizer, 2), -1);
	assert_string_equal(err_text(), "a max_seq_length of 2 has no room for [CLS], a token and [SEP]");
	features_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_text), cmocka_unit_test(two_texts), cmocka_unit_test(two_texts_of_all_lengths),
		cmocka_unit_test(counts_what_is_cut), cmocka_unit_test(refuses),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
