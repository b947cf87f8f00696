#include "corpus/sentence_stream.h"

#include "base/err.h"
#include "base/fs.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static char folder[] = "/tmp/test_sentence_stream.XXXXXX";
static char *in_path, *other_path, *out_path;
static struct sentences *rules;

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	in_path = fs_join(folder, "in");
	other_path = fs_join(folder, "other");
	out_path = fs_join(folder, "out");
	return !in_path || !other_path || !out_path || sentences_open(&rules, "en") ? -1 : 0;
}

static int tear_down(void **state)
{
	(void)state;
	sentences_close(rules);
	free(in_path);
	free(other_path);
	free(out_path);
	return fs_remove_tree(folder);
}

/* What becomes of the files IN and OTHER (NULL: none); the caller frees. */
static char *run(const char *in, const char *other, struct sentence_stream s)
{
	const char *files[] = { in_path, other_path };
	struct buf b = BUF_INIT;

	assert_int_equal(fs_write_all(in_path, in, strlen(in)), 0);
	if (other)
		assert_int_equal(fs_write_all(other_path, other, strlen(other)), 0);
	s.rules = rules;
	assert_int_equal(lines_open(&s.lines, files, other ? 2 : 1,
				    &(struct lines_opts){ .document_per_file = s.document_per_file }), 0);
	assert_int_equal(out_open(&s.out, out_path), 0);
	assert_int_equal(sentence_stream_run(&s), 0);
	assert_int_equal(out_commit(s.out), 0);
	lines_close(s.lines);
	assert_int_equal(buf_reserve(&b, 1), 0);
	assert_int_equal(buf_addf(&b, "%" PRIu64 "/%" PRIu64 ":", s.paragraphs, s.sentences), 0);
	assert_int_equal(fs_read_all(out_path, 1 << 30, &b), 0);
	return b.data;
}

static void check(const char *in, const char *other, bool document_per_file, const char *want)
{
	for (unsigned threads = 0; threads < 3; threads++) {
		const struct sentence_stream s = { .threads = threads, .document_per_file = document_per_file };
		char *got = run(in, other, s);

		assert_string_equal(got, want);
		free(got);
	}
}

static void documents_stay(void **state)
{
	(void)state;
	check("", NULL, false, "0/0:");
	check("\n \n", NULL, false, "0/0:\n");
	check("Ah. Be.\nCe.\n\n\nDe.\n\n", NULL, false, "3/4:Ah.\nBe.\nCe.\n\nDe.\n\n");
	check("A.", "B.\n", false, "2/2:A.\nB.\n");
	check("A.", "B.\n", true, "2/2:A.\n\nB.\n");
	check("A.\n\n", "\nB.\n", true, "2/2:A.\n\nB.\n");
	check("", "B.\n", true, "1/1:B.\n");
}

/* Many blocks, with a blank line at any place in them. */
static void blocks_are_joined(void **state)
{
	struct buf in = BUF_INIT, want = BUF_INIT;
	const unsigned n = 60000;

	(void)state;
	assert_int_equal(buf_addf(&want, "%u/%u:", n, 2 * n), 0);
	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(buf_addf(&in, "Line %u here.  It ends.\n%s", i, i % 7 ? "" : "\n\n"), 0);
		assert_int_equal(buf_addf(&want, "Line %u here.\nIt ends.\n%s", i, i % 7 ? "" : "\n"), 0);
	}
	check(in.data, NULL, false, want.data);
	buf_release(&in);
	buf_release(&want);
}

static void failures_are_told(void **state)
{
	const char *files[] = { in_path, other_path };
	struct sentence_stream s = { .rules = rules };

	(void)state;
	assert_int_equal(fs_write_all(in_path, "A.\n", 3), 0);
	assert_int_equal(fs_write_all(other_path, "B\xFF.\n", 4), 0);
	assert_int_equal(lines_open(&s.lines, files, 2, &(struct lines_opts){ .strict = true }), 0);
	assert_int_equal(out_open(&s.out, out_path), 0);
	assert_int_equal(sentence_stream_run(&s), -1);
	assert_int_equal(err_code(), EXIT_CORRUPT);
	assert_non_null(strstr(err_text(), "other"));
	out_discard(s.out);
	lines_close(s.lines);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(documents_stay),
		cmocka_unit_test(blocks_are_joined),
		cmocka_unit_test(failures_are_told),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
