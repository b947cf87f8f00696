#include "shards/job_impl.h"

#include "base/frame.h"
#include "base/fs.h"
#include "base/in.h"
#include "base/out.h"
#include "shards/canon.h"
#include "shards/manifest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static char folder[] = "/tmp/bert-test-job-XXXXXX";

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

/* --- how many shards ---------------------------------------------------------------------- */

static void test_expectations(void **state)
{
	struct shard_recipe r = {
		.max_seq_length = 128,
		.vocab_size = 30522,
		.masking = SHARD_STATIC,
		.masked_lm_prob = 0.15,
		.dupe_factor = 1,
	};
	const struct tokdoc_totals novels = { .documents = 3275, .sentences = 106799, .tokens = 2549310 };
	const struct tokdoc_totals short_ones = { .documents = 1000, .sentences = 1000, .tokens = 5000 };
	const struct tokdoc_totals huge = { .documents = UINT64_C(1) << 34,
					    .sentences = UINT64_C(1) << 40,
					    .tokens = UINT64_C(1) << 44 };
	uint64_t instances, bytes;

	(void)state;
	plan_expect(&r, &novels, &instances, &bytes);
	assert_int_equal(instances, 27729);
	assert_int_equal(bytes, UINT64_C(3441568) * 2450 / 1000 + 26 * 27729);
	plan_expect(&r, &short_ones, &instances, &bytes);
	assert_int_equal(instances, 1000);		/* no more than sentences */
	r.dupe_factor = 10;
	plan_expect(&r, &huge, &instances, &bytes);	/* nothing overflows */
	assert_true(bytes > huge.tokens * 20 && bytes < huge.tokens * 50);
	r.masking = SHARD_DYNAMIC;
	r.dupe_factor = 1;
	r.max_seq_length = 512;
	plan_expect(&r, &novels, &instances, &bytes);
	assert_int_equal(bytes, UINT64_C(3441568) * 2 + 26 * instances);
}

static uint32_t shards_for(uint64_t documents, uint64_t tokens, uint64_t asked, uint64_t size)
{
	struct job j = { .opts = { .shards = asked, .shard_size = size } };
	const struct tokdoc_totals t = { .documents = documents, .sentences = tokens, .tokens = tokens };

	j.recipe = (struct shard_recipe){
		.max_seq_length = 128, .vocab_size = 30522, .masking = SHARD_DYNAMIC, .dupe_factor = 1
	};
	return plan_shards(&j, &t);
}

static void test_numbers_of_shards(void **state)
{
	const uint64_t mib = 1 << 20;

	(void)state;
	assert_int_equal(shards_for(10, 1000, 0, 64 * mib), 1);
	assert_int_equal(shards_for(10, 1000, 6, 64 * mib), 6);
	assert_int_equal(shards_for(1000000, 30 * mib, 0, 64 * mib), 2);	/* 143 MB: 71 each */
	assert_int_equal(shards_for(1000000, 300 * mib, 0, 64 * mib), 16);
	assert_int_equal(shards_for(100000, 300 * mib, 0, 64 * mib),
			 8); /* 12,500 documents each; 16 would have 6,250 */
	assert_int_equal(shards_for(9999, 300 * mib, 0, 64 * mib), 1);
	assert_int_equal(shards_for(UINT64_C(1) << 40, UINT64_C(1) << 50, 0, 64 << 10),
			 524288); /* no more than there may be */
}

/* --- a job, in parts ------------------------------------------------------------------------- */

static char *write_file(const char *name, const char *text)
{
	char *path = fs_join(folder, name);

	assert_int_equal(fs_write_all(path, text, strlen(text)), 0);
	return path;
}

static struct buf made_text(uint32_t documents)
{
	static const char *const words[] = { "one", "two", "three", "four", "five", "six", "seven", "eight" };
	struct buf b = BUF_INIT;

	for (uint32_t d = 0; d < documents; d++) {
		for (uint32_t s = 0; s < 2 + d % 7; s++) {
			for (uint32_t w = 0; w < 1 + (d * 31 + s * 17) % 23; w++)
				assert_int_equal(buf_addf(&b, "%s ", words[(d * 7 + s * 5 + w * 3 + d / 8) % 8]), 0);
			assert_int_equal(buf_adds(&b, "\n"), 0);
		}
		assert_int_equal(buf_adds(&b, "\n"), 0);
	}
	return b;
}

static void assert_same_file(const char *a, const char *b, const char *name)
{
	char *x = fs_join(a, name), *y = fs_join(b, name);
	struct buf s = BUF_INIT, t = BUF_INIT;

	assert_int_equal(fs_read_all(x, 1 << 30, &s), 0);
	assert_int_equal(fs_read_all(y, 1 << 30, &t), 0);
	assert_int_equal(s.len, t.len);
	assert_memory_equal(s.data, t.data, s.len);
	buf_release(&s);
	buf_release(&t);
	free(x);
	free(y);
}

/* Runs all in one go into ONE, and in PARTS parts, each stage opened anew, into MANY. */
static void compare(struct job_opts o, const char *one, const char *many, uint64_t parts)
{
	struct job *j;

	o.folder = one;
	assert_int_equal(job_open(&j, &o), 0);
	assert_int_equal(job_run(j), 0);
	assert_true(job_report(j)->complete);
	job_close(j);
	o.folder = many;
	for (uint64_t i = parts; i-- > 0;) {
		assert_int_equal(job_open(&j, &o), 0);
		assert_int_equal(job_start(j), 0);
		assert_int_equal(job_index(j, i, parts), 0);
		job_close(j);
	}
	assert_int_equal(job_open(&j, &o), 0);
	assert_int_equal(job_start(j), 0);
	assert_int_equal(job_plan(j), 0);
	job_close(j);
	for (uint64_t i = 0; i < parts; i++) {
		assert_int_equal(job_open(&j, &o), 0);
		assert_int_equal(job_start(j), 0);
		assert_int_equal(job_write(j, i, parts), 0);
		assert_int_equal(job_report(j)->complete, i + 1 == parts);
		job_close(j);
	}
}

static void test_parts_make_what_one_makes(void **state)
{
	struct buf text = made_text(300);
	char *vocab = write_file(
		"vocab", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\none\ntwo\nthree\nfour\nfive\nsix\nseven\neig\n##ht\n");
	char *a = write_file("a.txt", text.data), *b = write_file("b.txt", "one two\nthree\n\nfour five\nsix"),
	     *empty = write_file("empty", "");
	char *one = fs_join(folder, "one"), *many = fs_join(folder, "many");
	const char *files[] = { a, empty, b };
	struct job_opts o = JOB_OPTS_DEFAULT;
	struct manifest *m;
	char room[MANIFEST_ROOM];

	(void)state;
	o.tokenizer.vocab = vocab;
	o.files = files;
	o.n_files = 3;
	o.max_seq_length = 32;
	o.shards = 4;
	o.made_by = "test";
	compare(o, one, many, 3);
	assert_same_file(one, many, "manifest.json");
	assert_int_equal(manifest_load(&m, many), 0);
	assert_int_equal(m->n_shards, 4);
	assert_int_equal(m->corpus_documents, 302);
	assert_int_equal(m->inputs[0].documents, 300);
	assert_int_equal(m->inputs[1].documents, 0);
	assert_int_equal(m->inputs[2].documents, 2);
	for (size_t k = 0; k < m->n_shards; k++)
		assert_same_file(one, many, manifest_shard_name(m, k, room));
	manifest_free(m);
	buf_release(&text);
	free(vocab);
	free(a);
	free(b);
	free(empty);
	free(one);
	free(many);
}

/* Writes the shard FROM anew as TO, and in its header, in the place of a piece of it, another one. */
static void relabel(const char *from, const char *to, const char *piece, const char *other)
{
	struct frame_block block = FRAME_BLOCK_INIT;
	struct frame_reader *r;
	struct frame_writer *w;
	struct in *in;
	struct out *out;
	struct buf header = BUF_INIT;
	const char *at, *totals;
	size_t len;

	assert_int_equal(in_open(&in, from, 1), 0);
	assert_int_equal(frame_open(&r, in, SHARD_KIND), 0);
	at = frame_header(r, &len);
	assert_int_equal(buf_add(&header, at, len), 0);
	at = strstr(header.data, piece);
	assert_non_null(at);
	assert_int_equal(strlen(piece), strlen(other));
	memcpy(header.data + (at - header.data), other, strlen(other));
	assert_int_equal(out_open(&out, to), 0);
	assert_int_equal(frame_create(&w, out, SHARD_KIND, header.data, header.len), 0);
	while (frame_next(r, &block) > 0)
		assert_int_equal(frame_add(w, block.type, block.records, block.raw.data, block.raw.len, &(struct buf)BUF_INIT),
				 0);
	totals = frame_totals(r, &len);
	assert_int_equal(frame_finish(w, totals, len), 0);
	assert_int_equal(out_commit(out), 0);
	frame_block_release(&block);
	frame_close(r);
	buf_release(&header);
}

static int run(const struct job_opts *o)
{
	struct job *j;
	int rc;

	assert_int_equal(job_open(&j, o), 0);
	rc = job_run(j);
	job_close(j);
	return rc;
}

/* Gives the manifest PATH other rules, and the digest that goes with them. */
static void change_rules(const char *path)
{
	struct buf text = BUF_INIT;
	char *changed;
	json_t *o;

	assert_int_equal(fs_read_all(path, 1 << 20, &text), 0);
	o = canon_parse(text.data, text.len);
	assert_non_null(o);
	assert_int_equal(json_object_set_new(json_object_get(o, "recipe"), "rules", json_string("berttools 2")), 0);
	assert_int_equal(json_object_del(o, "digest"), 0);
	assert_int_equal(canon_seal(o), 0);
	changed = canon_print(o);
	assert_int_equal(fs_write_all(path, changed, strlen(changed)), 0);
	free(changed);
	json_decref(o);
	buf_release(&text);
}

/* A shard or a manifest that this version does not know is no damaged one. */
static void test_another_version_is_refused(void **state)
{
	char *vocab = write_file("vocab", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\none\ntwo\nthree\nfour\n");
	char *in = write_file("in", "one two\nthree\n\nfour one\ntwo\n"), *out = fs_join(folder, "unknown");
	char *shard = fs_join(out, "shard-00000-of-00001.shard"), *kept = fs_join(folder, "kept");
	char *manifest = fs_join(out, MANIFEST_NAME);
	const char *files[] = { in };
	struct job_opts o = JOB_OPTS_DEFAULT;

	(void)state;
	o.tokenizer.vocab = vocab;
	o.files = files;
	o.n_files = 1;
	o.folder = out;
	o.made_by = "test";
	assert_int_equal(run(&o), 0);
	relabel(shard, kept, "berttools 1", "berttools 2");
	for (int damaged = 0; damaged < 2; damaged++) {
		relabel(kept, shard, "berttools 2", "berttools 2");
		if (damaged)
			assert_int_equal(fs_write_all(manifest, "x", 1), 0);
		assert_int_equal(run(&o), -1);
		assert_int_equal(err_code(), EXIT_FAILED);
		assert_non_null(strstr(err_text(), "'berttools 2', which this version does not know"));
		relabel(shard, kept, "berttools 2", "berttools 2");	/* it is still there */
	}
	relabel(kept, shard, "berttools 2", "berttools 1");
	assert_int_equal(run(&o), 0);
	change_rules(manifest);
	assert_int_equal(manifest_is_foreign(out), 1);
	assert_int_equal(run(&o), -1);
	assert_non_null(strstr(err_text(), "manifest.json' is of another version"));
	assert_int_equal(fs_write_all(manifest, "{}", 2), 0);
	assert_int_equal(manifest_is_foreign(out), 0);
	assert_int_equal(run(&o), 0);
	free(vocab);
	free(in);
	free(out);
	free(shard);
	free(kept);
	free(manifest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_expectations),
		cmocka_unit_test(test_numbers_of_shards),
		cmocka_unit_test(test_parts_make_what_one_makes),
		cmocka_unit_test(test_another_version_is_refused),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
