#include "corpus/split.h"

#include "base/err.h"
#include "base/fs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static char folder[] = "/tmp/test_split.XXXXXX";
static char *in_path;

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	in_path = fs_join(folder, "in");
	return in_path ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	free(in_path);
	return fs_remove_tree(folder);
}

static void specs_are_checked(void **state)
{
	static const struct {
		const char *specs[2], *says;
	} cases[] = {
		{ { "dev" }, "not NAME=FRACTION" },
		{ { "=0.1" }, "no name" },
		{ { "a/b=0.1" }, "'a/b'" },
		{ { "..=0.1" }, "hidden" },
		{ { "a\nb=0.1" }, "file" },
		{ { "train=0.1" }, "'train'" },
		{ { "dev=0.1", "dev=0.2" }, "two splits are named 'dev'" },
		{ { "dev=" }, "'' is not a fraction" },
		{ { "dev=0" }, "'0' is not a fraction" },
		{ { "dev=1" }, "'1' is not a fraction" },
		{ { "dev=-0.1" }, "fraction" },
		{ { "dev=nan" }, "fraction" },
		{ { "dev=0.1x" }, "fraction" },
		{ { "dev=0.5", "test=0.5" }, "nothing for 'train'" },
		{ { "dev=0.1", "test=0.9" }, "nothing for 'train'" },
	};
	struct split *s;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(split_open(&s, cases[i].specs, cases[i].specs[1] ? 2 : 1, 1), -1);
		assert_int_equal(err_code(), EXIT_USAGE);
		if (!strstr(err_text(), cases[i].says))
			fail_msg("'%s' lacks '%s'", err_text(), cases[i].says);
	}
	split_close(NULL);
}

/* Written down once: where documents go must never change. */
static void draws_are_fixed(void **state)
{
	static const char *const specs[] = { "a=0.25", "b=0.25", "c=0.25" };
	static const unsigned char want[16] = { 3, 0, 2, 3, 2, 2, 3, 0, 0, 1, 0, 0, 2, 2, 3, 0 };
	struct split *s;

	(void)state;
	assert_int_equal(split_open(&s, specs, 3, 12345), 0);
	assert_int_equal(split_count(s), 4);
	assert_string_equal(split_name(s, 0), "a");
	assert_string_equal(split_name(s, 3), "train");
	for (uint64_t i = 0; i < 16; i++)
		assert_int_equal(split_of(s, (struct key){ i, 1 }), want[i]);
	split_close(s);
}

static void shares_are_as_asked(void **state)
{
	static const char *const specs[] = { "a=0.1", "b=0.001", "c=0.5" };
	static const char *const fewer[] = { "a=0.1" };
	const unsigned n = 100000;
	unsigned count[4] = { 0 }, moved = 0;
	struct split *s, *one, *other;

	(void)state;
	assert_int_equal(split_open(&s, specs, 3, 1), 0);
	assert_int_equal(split_open(&one, fewer, 1, 1), 0);
	assert_int_equal(split_open(&other, fewer, 1, 2), 0);
	for (uint64_t i = 0; i < n; i++) {
		const struct key k = { i, ~i };

		count[split_of(s, k)]++;
		assert_int_equal(split_of(s, k) == 0, split_of(one, k) == 0);	/* further splits take from the rest */
		moved += split_of(one, k) != split_of(other, k);
	}
	assert_in_range(count[0], 9700, 10300);
	assert_in_range(count[1], 60, 150);
	assert_in_range(count[2], 49500, 50500);
	assert_in_range(moved, 17000, 19000);		/* 2 * 0.1 * 0.9 */
	split_close(s);
	split_close(one);
	split_close(other);
}

static struct buf contents(const char *name)
{
	char *path = fs_join(folder, name);
	struct buf b = BUF_INIT;

	assert_int_equal(buf_reserve(&b, 1), 0);
	assert_int_equal(fs_read_all(path, 1 << 20, &b), 0);
	free(path);
	return b;
}

static void documents_are_written_once(void **state)
{
	static const char *const specs[] = { "dev=0.3" };
	struct buf in = BUF_INIT, dev, train;
	struct lines *lines;
	struct split *s;
	const char *path = in_path;

	(void)state;
	for (int i = 0; i < 100; i++)
		assert_int_equal(buf_addf(&in, "document %d\nline\n\n\n", i % 50), 0);
	assert_int_equal(fs_write_all(in_path, in.data, in.len), 0);
	assert_int_equal(lines_open(&lines, &path, 1, &(struct lines_opts){ 0 }), 0);
	assert_int_equal(split_open(&s, specs, 1, 7), 0);
	assert_int_equal(split_run(s, lines, folder, NULL), 0);
	dev = contents("dev.txt");
	train = contents("train.txt");
	assert_int_equal(split_documents(s, 0) + split_documents(s, 1), 100);
	assert_int_equal(split_documents(s, 0) % 2, 0);		/* each is there twice, and equal ones stay together */
	assert_true(split_documents(s, 0) > 0 && split_documents(s, 1) > 0);
	assert_int_equal(dev.len, split_bytes(s, 0) + split_documents(s, 0));
	assert_int_equal(train.len, split_bytes(s, 1) + split_documents(s, 1));
	for (int i = 0; i < 50; i++) {
		char text[64];

		snprintf(text, sizeof(text), "document %d\nline\n\n", i);
		assert_true(!strstr(dev.data, text) == !!strstr(train.data, text));
	}
	buf_release(&in);
	buf_release(&dev);
	buf_release(&train);
	lines_close(lines);
	split_close(s);
}

static void no_documents_are_a_failure(void **state)
{
	static const char *const specs[] = { "none=0.3" };
	const char *path = in_path;
	struct lines *lines;
	struct split *s;
	char *made = fs_join(folder, "none.txt");

	(void)state;
	assert_int_equal(fs_write_all(in_path, "\n \n", 3), 0);
	assert_int_equal(lines_open(&lines, &path, 1, &(struct lines_opts){ 0 }), 0);
	assert_int_equal(split_open(&s, specs, 1, 7), 0);
	assert_int_equal(split_run(s, lines, folder, NULL), -1);
	assert_int_equal(err_code(), EXIT_FAILED);
	assert_false(fs_exists(made));
	free(made);
	lines_close(lines);
	split_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(specs_are_checked),
		cmocka_unit_test(draws_are_fixed),
		cmocka_unit_test(shares_are_as_asked),
		cmocka_unit_test(documents_are_written_once),
		cmocka_unit_test(no_documents_are_a_failure),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
