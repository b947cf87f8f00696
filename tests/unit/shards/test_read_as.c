#include "shards/read_as.h"

#include "base/buf.h"
#include "base/err.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct vocab *vocab_of(const char *text)
{
	struct buf bytes = BUF_INIT;
	struct vocab *v;

	assert_int_equal(buf_adds(&bytes, text), 0);
	assert_int_equal(vocab_take(&v, &bytes, "vocabulary"), 0);
	return v;
}

/* Runs are of single Chinese characters that are tokens in both ways, and go on while both do. */
static void test_what_is_plain(void **state)
{
	static const char text[] = "[UNK]\n[MASK]\n中\n国\n人\n民\na\n##a\n##中\n##国\n##人\n##中国\n##民\n##花\n##，\n，\n##\n##か\nか\n##㐀\n㐀\n";
	static const struct read_as want[] = { { 8, 10, 2 }, { 12, 12, 5 }, { 19, 19, 20 } };
	struct vocab *v = vocab_of(text);
	struct read_as *runs;
	size_t n;

	(void)state;
	assert_int_equal(read_as_plain_cjk(&runs, &n, v), 0);
	assert_int_equal(n, 3);
	assert_memory_equal(runs, want, sizeof(want));
	for (uint32_t id = 0; id < vocab_size(v) + 2; id++) {
		const uint32_t to = id >= 8 && id <= 10 ? id - 6 : id == 12 ? 5 : id == 19 ? 20 : id;

		assert_int_equal(read_as_id(runs, n, id), to);
		assert_int_equal(read_as_id(NULL, 0, id), id);
		assert_int_equal(read_as_meets(runs, n, id, id), to != id);
	}
	assert_true(read_as_meets(runs, n, 0, 8) && read_as_meets(runs, n, 11, 18) && read_as_meets(runs, n, 0, UINT32_MAX));
	assert_false(read_as_meets(runs, n, 13, 18) || read_as_meets(runs, n, 0, 7) || read_as_meets(runs, n, 20, UINT32_MAX));
	assert_false(read_as_meets(NULL, 0, 0, UINT32_MAX));
	free(runs);
	vocab_free(v);
}

static void test_none(void **state)
{
	struct vocab *v = vocab_of("[UNK]\n中\n##国\n##a\na\n");
	struct read_as *runs;
	size_t n;

	(void)state;
	assert_int_equal(read_as_plain_cjk(&runs, &n, v), -1);
	assert_int_equal(err_code(), EXIT_FAILED);
	assert_null(runs);
	vocab_free(v);
}

static void test_an_instance(void **state)
{
	static const struct read_as runs[] = { { 8, 10, 2 } };
	uint32_t ids[] = { 0, 8, 1, 7, 10, 9 }, labels[] = { 9, 5, 8 };
	struct instance i = { .ids = ids, .n = 5, .labels = labels, .predictions = 2 };

	(void)state;
	read_as_apply(NULL, 0, &i);
	assert_int_equal(ids[1], 8);
	read_as_apply(runs, 1, &i);
	assert_memory_equal(ids, ((uint32_t[]){ 0, 2, 1, 7, 4, 9 }), sizeof(ids));		/* the last is no more its own */
	assert_memory_equal(labels, ((uint32_t[]){ 3, 5, 8 }), sizeof(labels));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_plain),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_an_instance),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
