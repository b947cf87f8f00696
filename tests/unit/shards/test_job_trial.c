#include "shards/job_impl.h"
#include "shards/job_trial.h"

#include "base/fs.h"
#include "base/spill.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static char folder[] = "/tmp/bert-test-job-trial-XXXXXX";

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	return fs_remove_tree(folder);
}

static char *write_file(const char *name, const char *text)
{
	char *path = fs_join(folder, name);

	assert_non_null(path);
	assert_int_equal(fs_write_all(path, text, strlen(text)), 0);
	return path;
}

/* Documents of a few sentences, and one of SENTENCES of a token or two, than which no text takes more memory. */
static char *write_corpus(unsigned sentences)
{
	struct buf b = BUF_INIT;
	char *path;

	for (unsigned d = 0; d < 3; d++)
		assert_int_equal(buf_addf(&b, "one two three\nfour %s\ntwo\n\n", d % 2 ? "one one" : "three"), 0);
	for (unsigned k = 0; k < sentences; k++)
		assert_int_equal(buf_adds(&b, k % 3 ? "one\n" : "two four\n"), 0);
	path = write_file("corpus.txt", b.data);
	buf_release(&b);
	return path;
}

static int take(void *ctx, const unsigned char *body, size_t len)
{
	return spill_add(ctx, body, len);
}

/* What a trial of all of J's input comes to within BUDGET. */
static struct trial try_with(struct job *j, uint64_t budget)
{
	const struct spill_opts opts = { .memory = 64 << 20, .compare = spill_compare_bytes, .prefix = spill_prefix_bytes };
	struct trial t = { .j = j, .budget = budget, .shards = 1 };
	struct inputs_reading r = { .inputs = &j->inputs, .tokenizer = j->tokenizer, .parts = 1, .take = take };
	struct spill *s;

	assert_int_equal(spill_open(&s, &opts), 0);
	r.ctx = s;
	r.counts = calloc(j->inputs.n, sizeof(*r.counts));
	assert_non_null(r.counts);
	assert_int_equal(inputs_read(&r), 0);
	assert_int_equal(spill_sort(s), 0);
	assert_int_equal(trial_sorted(&t, s, UINT64_MAX), 0);
	docset_release(&t.docs);
	spill_close(s);
	free(r.counts);
	return t;
}

static void assert_near(double a, double b, double by)
{
	assert_true(a > b / by && a < b * by);
}

/* A document larger than all memory is tried in part, within the budget, and scaled by its tokens. */
static void try_a_large_document(int rules)
{
	char *vocab = write_file("vocab", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\none\ntwo\nthree\nfour\n"), *text = write_corpus(100000);
	const char *files[] = { text };
	struct job_opts o = JOB_OPTS_DEFAULT;
	struct trial all, part;
	struct job *j;

	o.tokenizer.vocab = vocab;
	o.files = files;
	o.n_files = 1;
	o.rules = rules;
	o.dupe_factor = 2;
	assert_int_equal(job_open(&j, &o), 0);
	all = try_with(j, UINT64_C(1) << 30);
	assert_false(all.less);
	assert_int_equal(all.documents, 4);
	part = try_with(j, 1000000);
	assert_true(part.less);
	assert_true(part.words < all.words / 4);
	assert_near(part.instances / (double)part.words, all.instances / (double)all.words, 1.1);
	assert_near(part.predictions / (double)part.words, all.predictions / (double)all.words, 1.1);
	job_close(j);
	free(vocab);
	free(text);
}

static void test_large_document(void **state)
{
	(void)state;
	try_a_large_document(SHARD_OWN);
	try_a_large_document(SHARD_GOOGLE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_large_document),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
