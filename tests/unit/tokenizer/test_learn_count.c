#include "tokenizer/learn_count.h"

#include "base/err.h"
#include "base/fs.h"
#include "tokenizer/chars.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static char folder[] = "/tmp/test_learn_count.XXXXXX";
static char *path;

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	path = fs_join(folder, "in");
	return path ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	free(path);
	return fs_remove_tree(folder);
}

static struct learn_count count_text(const char *text, size_t len, bool cased, unsigned threads, uint64_t memory,
				     struct learn_words *w)
{
	struct learn_count c = { .memory = memory, .threads = threads,
				 .normalizer = { chars_google(NULL), .lower = !cased, .strip_accents = !cased, .space_cjk = true } };
	const char *file = path;

	assert_int_equal(fs_write_all(path, text, len), 0);
	assert_int_equal(lines_open(&c.lines, &file, 1, &(struct lines_opts){ 0 }), 0);
	assert_int_equal(learn_count_run(&c, w), 0);
	lines_close(c.lines);
	return c;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The words as "word:count ", sorted; the caller frees. */
static char *listed(const struct learn_words *w)
{
	char **items = calloc(w->count + 1, sizeof(*items));
	struct buf b = BUF_INIT;

	assert_non_null(items);
	assert_int_equal(buf_reserve(&b, 1), 0);
	for (size_t i = 0; i < w->count; i++)
		assert_true(asprintf(&items[i], "%.*s:%" PRIu64 " ", (int)w->items[i].len, learn_words_text(w, i),
				     w->items[i].count) > 0);
	qsort(items, w->count, sizeof(*items), by_text);
	for (size_t i = 0; i < w->count; i++) {
		assert_int_equal(buf_adds(&b, items[i]), 0);
		free(items[i]);
	}
	free(items);
	return b.data;
}

static void check(const char *text, bool cased, const char *want)
{
	for (unsigned threads = 0; threads < 3; threads++) {
		struct learn_words w;
		char *got;

		count_text(text, strlen(text), cased, threads, 1 << 30, &w);
		got = listed(&w);
		assert_string_equal(got, want);
		free(got);
		learn_words_release(&w);
	}
}

static void words_are_the_tokenizers(void **state)
{
	(void)state;
	check("", false, "");
	check("\n \n", false, "");
	check("The cat, the CAT!\n\nThe end.", false, "!:1 ,:1 .:1 cat:2 end:1 the:3 ");
	check("The cat the", true, "The:1 cat:1 the:1 ");
	check("Caf\xC3\xA9 \xE4\xB8\x80\xE4\xB8\x80", false, "cafe:1 \xE4\xB8\x80:2 ");
	check("[MASK] don't", false, "':1 [:1 ]:1 don:1 mask:1 t:1 ");
}

static void long_words_are_passed_over(void **state)
{
	struct buf text = BUF_INIT;
	struct learn_words w;
	struct learn_count c;
	char *twice;

	(void)state;
	for (int i = 0; i < LEARN_WORD_MAX; i++)
		assert_int_equal(buf_adds(&text, "\xD0\xB6"), 0);
	assert_int_equal(buf_adds(&text, " "), 0);
	for (int i = 0; i <= LEARN_WORD_MAX; i++)
		assert_int_equal(buf_adds(&text, "x"), 0);
	c = count_text(text.data, text.len, false, 1, 1 << 30, &w);
	assert_int_equal(c.words, 2);
	assert_int_equal(c.long_words, 1);
	assert_int_equal(w.most, 1);
	assert_int_equal(w.count, 1);
	assert_int_equal(w.items[0].letters, LEARN_WORD_MAX);
	learn_words_release(&w);
	assert_int_equal(buf_adds(&text, " "), 0);
	twice = strdup(text.data);
	assert_non_null(twice);
	assert_int_equal(buf_adds(&text, twice), 0);		/* their counts are known all the same */
	free(twice);
	c = count_text(text.data, text.len, false, 2, 1 << 30, &w);
	assert_int_equal(c.long_words, 2);
	assert_int_equal(w.count, 1);
	assert_int_equal(w.least, 2);
	assert_int_equal(w.most, 2);
	learn_words_release(&w);
	buf_release(&text);
}

/* More different words than the memory holds: the counts are right all the same, and what is dropped is dropped alike. */
static void little_memory_changes_no_count(void **state)
{
	struct buf text = BUF_INIT;
	struct learn_words much, little, two;
	struct learn_count c;
	char *a, *b;

	(void)state;
	for (unsigned round = 0; round < 3; round++)
		for (unsigned i = 0; i < 150000; i++)
			if (i % 3 <= round)
				assert_int_equal(buf_addf(&text, "w%uend the\n", i * 7), 0);
	c = count_text(text.data, text.len, false, 1, 1 << 30, &much);
	assert_int_equal(c.spilled, 0);
	assert_int_equal(much.count, 150001);
	assert_int_equal(much.dropped, 0);
	c = count_text(text.data, text.len, false, 1, LEARN_MEMORY_LEAST, &little);
	assert_true(c.spilled > 0);
	assert_int_equal(c.words, 2 * 300000);
	assert_int_equal(little.count + little.dropped, 150001);
	assert_int_equal(little.floor, 3);
	assert_int_equal(little.count, 1);
	a = listed(&little);
	assert_string_equal(a, "the:300000 ");
	free(a);
	count_text(text.data, text.len, false, 2, 3 * LEARN_MEMORY_LEAST, &two);
	assert_int_equal(two.floor, 2);
	assert_int_equal(two.count, 50001);
	assert_int_equal(two.dropped_count, 150000);
	learn_words_release(&little);
	count_text(text.data, text.len, false, 1, 3 * LEARN_MEMORY_LEAST, &little);
	a = listed(&little);
	b = listed(&two);
	assert_string_equal(a, b);
	free(a);
	free(b);
	learn_words_release(&much);
	learn_words_release(&little);
	learn_words_release(&two);
	buf_release(&text);
}

static void failures_are_told(void **state)
{
	struct learn_count c = { .memory = 1 << 30, .normalizer = { .chars = chars_google(NULL), .lower = true } };
	const char *file = "/nonexistent/file";
	struct learn_words w;

	(void)state;
	assert_int_equal(lines_open(&c.lines, &file, 1, &(struct lines_opts){ 0 }), 0);
	assert_int_equal(learn_count_run(&c, &w), -1);
	assert_non_null(strstr(err_text(), file));
	lines_close(c.lines);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_the_tokenizers),
		cmocka_unit_test(long_words_are_passed_over),
		cmocka_unit_test(little_memory_changes_no_count),
		cmocka_unit_test(failures_are_told),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
