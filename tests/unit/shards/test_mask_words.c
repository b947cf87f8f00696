#include "shards/mask_words.h"

#include "base/err.h"
#include "base/fs.h"
#include "shards/mask.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

/* Ids 5 to 8 are characters of Chinese, 9 to 13 of other scripts. */
static const char vocab_text[] = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n中\n国\n人\n民\na\nb\n##a\nab\n。\n";
enum { ZHONG = 5, GUO, REN, MIN, A, B, MORE, AB, STOP };

static char folder[] = "/tmp/bert-test-words-XXXXXX", vocab_path[64], list_path[64];
static struct tokenizer *tokenizer;

static int make_folder(void **state)
{
	const struct tokenizer_opts o = { .vocab = vocab_path };

	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(vocab_path, sizeof(vocab_path), "%s/vocab.txt", folder);
	snprintf(list_path, sizeof(list_path), "%s/list", folder);
	return fs_write_all(vocab_path, vocab_text, strlen(vocab_text)) || tokenizer_open(&tokenizer, &o);
}

static int remove_folder(void **state)
{
	(void)state;
	tokenizer_close(tokenizer);
	return fs_remove_tree(folder);
}

static struct mask_words *gather(const char *list)
{
	struct mask_words *w;

	assert_int_equal(fs_write_all(list_path, list, strlen(list)), 0);
	assert_int_equal(mask_words_gather(&w, list_path, tokenizer), 0);
	return w;
}

static void is_text(const struct mask_words *w, const char *want)
{
	size_t len;
	const char *const text = mask_words_text(w, &len);

	assert_int_equal(len, strlen(want));
	assert_memory_equal(text, want, len);
}

/* Order, repetition, white space, case and what cannot be met leave no trace. */
static void test_one_form(void **state)
{
	struct mask_words *a = gather("中国\n人民\n"), *b, *c;

	(void)state;
	b = gather("\xEF\xBB\xBF人民\r\n\n  中国 \n中国\n人\n外国\nab\n中国ab\n人民");
	is_text(a, "中国\n人民\n");
	is_text(b, "中国\n人民\n");
	assert_string_equal(mask_words_sha256(a), mask_words_sha256(b));
	assert_int_equal(mask_words_count(b), 2);
	assert_int_equal(mask_words_passed(a), 0);
	assert_int_equal(mask_words_passed(b), 4);
	mask_words_free(a);
	mask_words_free(b);
	c = gather("A国\n");		/* the tokenizer lower-cases */
	is_text(c, "a国\n");
	mask_words_free(c);
}

static void test_longest_match(void **state)
{
	static const uint32_t text[] = { ZHONG, GUO, REN, MIN, ZHONG, GUO, REN };
	struct mask_words *w = gather("中国\n中国人民\n人民\n国人\n");

	(void)state;
	assert_int_equal(mask_words_match(w, text, 7), 4);
	assert_int_equal(mask_words_match(w, text, 3), 2);	/* its end is not there */
	assert_int_equal(mask_words_match(w, text, 1), 0);
	assert_int_equal(mask_words_match(w, text + 1, 6), 2);
	assert_int_equal(mask_words_match(w, text + 3, 4), 0);
	assert_int_equal(mask_words_match(w, text, 0), 0);
	mask_words_free(w);
}

static void refuses(int rc, const char *reason)
{
	assert_int_equal(rc, -1);
	assert_int_equal(err_code(), EXIT_CORRUPT);
	if (!strstr(err_text(), reason))
		fail_msg("'%s' does not say '%s'", err_text(), reason);
}

static void test_bad_lists(void **state)
{
	static const struct {
		const char *text;
		size_t len;
		const char *reason;
	} cases[] = {
		{ "", 0, "is empty" },
		{ "中国\n人\xFF民\n", 0, "line 2 is not UTF-8" },
		{ "中国\n\n人\0民\n", 15, "line 3 holds a NUL byte" },
		{ "中国\n人民 100 n\n", 0, "line 2 has white space" },
		{ "人\n外国\n", 0, "no word that is two or more tokens" },
		{ "中国\n人人人人人人人人人人人人人人人人人人人人人人人人人人人人人人人人人人人人人人人人人人人人人人人人人人人人人人人人人人人人人人人人人\n",
		  0, "line 2 is longer than 64" },
	};

	(void)state;
	for (unsigned k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		struct mask_words *w;
		const size_t len = cases[k].len ? cases[k].len : strlen(cases[k].text);

		assert_int_equal(fs_write_all(list_path, cases[k].text, len), 0);
		refuses(mask_words_gather(&w, list_path, tokenizer), cases[k].reason);
		assert_null(w);
	}
}

/* What lies beside shards has one form. */
static void test_bad_files(void **state)
{
	static const char *const cases[][2] = {
		{ "", "is empty" },
		{ "中国\n人民", "line 2 has no end" },
		{ "人民\n中国\n", "line 2 is not in the order" },
		{ "中国\n中国\n", "line 2 is not in the order" },
		{ "中国人\n中国\n", "line 2 is not in the order" },
		{ "中国\n人\n", "line 2 is no word of two" },
		{ "\n中国\n", "line 1 is no word of two" },
		{ "中国\n人x\n", "line 2 has a character that is no token" },
		{ "中国\n人\xFF\n", "line 2 is not UTF-8" },
	};
	struct mask_words *w;

	(void)state;
	for (unsigned k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		assert_int_equal(fs_write_all(list_path, cases[k][0], strlen(cases[k][0])), 0);
		refuses(mask_words_load(&w, list_path, tokenizer_vocab(tokenizer)), cases[k][1]);
		assert_null(w);
	}
	assert_int_equal(mask_words_load(&w, "/nonexistent/list", tokenizer_vocab(tokenizer)), -1);
	assert_int_equal(err_code(), EXIT_FAILED);
	assert_int_equal(fs_write_all(list_path, "中国\n人民\n", 14), 0);
	assert_int_equal(mask_words_load(&w, list_path, tokenizer_vocab(tokenizer)), 0);
	assert_int_equal(mask_words_count(w), 2);
	mask_words_free(w);
}

/* --- masks -------------------------------------------------------------------------------------- */

static const uint32_t first_ids[] = { ZHONG, GUO, REN, MIN, A, MORE, GUO, REN, MORE, ZHONG };
static const uint32_t second_ids[] = { GUO, A, GUO, REN, MIN };
/* What must be masked together, with "中国", "国人" and "a国" listed; "国人" is not met before ##a, nor across [SEP]. */
static const unsigned char units[] = { 0, 1, 1, 2, 3, 4, 4, 5, 6, 6, 7, 0, 8, 9, 9, 10, 11, 0 };

static void lay(struct instance *i)
{
	uint32_t n = 0;

	i->segments[0] = (struct instance_segment){ 0, 0, 10 };
	i->segments[1] = (struct instance_segment){ 0, 10, 5 };
	i->n_segments = 2;
	i->predictions = 0;
	i->ids[n++] = 2;
	memcpy(i->ids + n, first_ids, sizeof(first_ids));
	n += 10;
	i->ids[n++] = 3;
	memcpy(i->ids + n, second_ids, sizeof(second_ids));
	n += 5;
	i->ids[n++] = 3;
	i->n = n;
}

static void check_units(const struct instance *i, uint32_t *alone)
{
	bool masked[18] = { false };

	for (uint32_t k = 0; k < i->predictions; k++)
		masked[i->positions[k]] = true;
	for (uint32_t p = 1; p < 18; p++) {
		if (units[p] && units[p] == units[p - 1])
			assert_int_equal(masked[p], masked[p - 1]);
		else if (masked[p])
			alone[units[p]]++;
	}
}

static void test_words_are_masked_whole(void **state)
{
	static const struct id_range never = { 0, 4 };
	static const struct instance_shape shape = { .max_seq_length = 18, .max_predictions = 6, .masked = true, .block_records = 1,
		.vocab_size = 14, .documents = 1, .passes = 1, .cls = 2, .sep = 3, .pairs = true };
	struct mask_words *w = gather("中国\n国人\na国\n");
	struct mask_rule rule = { .masked_lm_prob = .3, .max_predictions = 6, .max_seq_length = 18, .vocab_size = 14,
		.mask_id = 4, .never = &never, .n_never = 1, .whole_word = true,
		.vocab = tokenizer_vocab(tokenizer), .words = w };

	(void)state;
	for (rule.spans = MASK_WORDS; rule.spans <= MASK_SPANS; rule.spans++) {
		uint32_t met[12] = { 0 };
		struct instance i;
		struct mask m;
		struct rng r;

		assert_int_equal(instance_init(&i, &shape) | mask_init(&m, &rule), 0);
		for (uint32_t k = 0; k < 2000; k++) {
			lay(&i);
			mask_stream(&r, RNG_STATIC_MASK, 1, (struct key){ k, rule.spans }, 0, 0, 0);
			mask_draw(&m, &r, &i);
			assert_true(i.predictions > 0 && i.predictions <= mask_count(&rule, i.n));
			check_units(&i, met);
		}
		for (unsigned u = 1; u < 12; u++)
			assert_true(met[u] > 100);
		mask_release(&m);
		instance_release(&i);
	}
	mask_words_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_form),
		cmocka_unit_test(test_longest_match),
		cmocka_unit_test(test_bad_lists),
		cmocka_unit_test(test_bad_files),
		cmocka_unit_test(test_words_are_masked_whole),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
