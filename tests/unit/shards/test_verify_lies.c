/* Sets of bert-shard's that were changed, and every checksum, count and manifest after them: what is still found. */
#include "base/err.h"
#include "base/frame.h"
#include "base/fs.h"
#include "shards/job.h"
#include "shards/canon.h"
#include "shards/manifest.h"
#include "shards/verify.h"
#include "tests/unit/shards/made_shard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

enum { LENGTH = 32 };

static char folder[] = "/tmp/bert-test-lies-XXXXXX", set[64], vocab[64], text[64], said[8192];

/* --- sets ------------------------------------------------------------------------------------ */

static int make_inputs(void **state)
{
	static const char *const words[] = { "one", "two", "three", "four", "five", "six", "seven", "eight" };
	static const char tokens[] =
		"[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\none\ntwo\nthree\nfour\nfive\nsix\nseven\neig\n##ht\n";
	struct buf b = BUF_INIT;
	int rc = 0;

	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(set, sizeof(set), "%s/set", folder);
	snprintf(vocab, sizeof(vocab), "%s/vocab", folder);
	snprintf(text, sizeof(text), "%s/text", folder);
	for (uint32_t d = 0; d < 300; d++) {
		for (uint32_t s = 0; s < 2 + d % 17; s++) {
			for (uint32_t w = 0; w < 1 + (d * 31 + s * 17) % 23; w++)
				rc |= buf_addf(&b, "%s ", words[(d * 7 + s * 5 + w * 3 + d / 8) % 8]);
			rc |= buf_adds(&b, "\n");
		}
		rc |= buf_adds(&b, "\n");
	}
	rc |= fs_write_all(text, b.data, b.len) | fs_write_all(vocab, tokens, strlen(tokens));
	buf_release(&b);
	return rc;
}

static int remove_inputs(void **state)
{
	(void)state;
	return fs_remove_tree(folder);
}

static struct job_opts options(uint64_t shards)
{
	static const char *const files[] = { text };
	struct job_opts o = JOB_OPTS_DEFAULT;

	o.tokenizer.vocab = vocab;
	o.files = files;
	o.n_files = 1;
	o.max_seq_length = LENGTH;
	o.max_predictions_per_seq = 5;
	o.dupe_factor = 2;
	o.shards = shards;
	o.made_by = "test";
	o.folder = set;
	return o;
}

static void make(const struct job_opts *o)
{
	struct job *j;

	assert_int_equal(fs_remove_tree(set), 0);
	assert_int_equal(job_open(&j, o), 0);
	assert_int_equal(job_run(j), 0);
	job_close(j);
}

/* --- changing one ------------------------------------------------------------------------------ */

struct lie {
	/* Changes instance K of N; false: leaves it out. SHARDS of the set are changed, from the first on. */
	bool (*change)(const struct shard *s, struct instance *i, uint64_t k, uint64_t n);
	uint32_t dupe_factor;		/* what the header shall say; 0: what it says */
};

/* The table of the shard at PATH, and lengths of sentences. */
static void add_documents(const char *path, struct frame_writer *w)
{
	struct frame_block f = FRAME_BLOCK_INIT;
	struct buf packed = BUF_INIT;
	struct frame_reader *r;

	assert_int_equal(frame_open_file(&r, path, SHARD_KIND), 0);
	for (uint64_t b = 0; b < frame_blocks(r); b++) {
		assert_int_equal(frame_read(r, b, &f), 0);
		if (f.type != SHARD_INSTANCES)
			assert_int_equal(frame_add(w, f.type, f.records, f.raw.data, f.raw.len, &packed), 0);
	}
	frame_close(r);
	frame_block_release(&f);
	buf_release(&packed);
}

/* The instances, as LIE has them. T counts them. */
static void add_instances(const struct shard *s, const struct lie *lie, struct frame_writer *w, struct shard_totals *t)
{
	struct instance_shape shape = *shard_shape(s);
	struct frame_block f = FRAME_BLOCK_INIT;
	struct instance_block block = INSTANCE_BLOCK_INIT;
	struct instance_columns c;
	struct instance i;
	uint64_t at = 0, full = 0;

	assert_int_equal(instance_init(&i, &shape) | instance_columns_init(&c, &shape), 0);
	t->instances = t->random_next = t->instance_tokens = t->predictions = 0;
	for (uint64_t b = 0; b < shard_blocks(s); b++) {
		assert_int_equal(shard_read(s, b, &f, &block), 0);
		for (uint32_t k = 0; k < block.records; k++, at++) {
			instance_block_get(&block, k, &i);
			if (lie->change && !lie->change(s, &i, at, shard_instances(s)))
				continue;
			full += i.n == LENGTH;
			t->instances++;
			t->random_next += i.flags & INSTANCE_RANDOM_NEXT;
			t->instance_tokens += i.n;
			t->predictions += i.predictions;
			instance_columns_add(&c, &i);
			if (c.records == shape.block_records)
				made_flush(w, &c);
		}
	}
	if (c.records)
		made_flush(w, &c);
	t->truncated = t->truncated < full ? t->truncated : full;
	frame_block_release(&f);
	instance_block_release(&block);
	instance_columns_release(&c);
	instance_release(&i);
}

static void rewrite(const char *path, const struct lie *lie)
{
	struct frame_writer *w;
	struct shard_header h;
	struct shard *s;
	struct out *out;
	struct shard_totals t;
	char *json;

	assert_int_equal(shard_open(&s, path), 0);
	h = *shard_header(s);
	t = *shard_totals(s);
	h.recipe.dupe_factor = lie->dupe_factor ? lie->dupe_factor : h.recipe.dupe_factor;
	json = shard_header_print(&h);
	assert_int_equal(out_open(&out, path), 0);
	assert_int_equal(frame_create(&w, out, SHARD_KIND, json, strlen(json)), 0);
	free(json);
	add_documents(path, w);
	add_instances(s, lie, w, &t);
	shard_close(s);
	json_t *o = shard_totals_json(&t);

	json = canon_print(o);
	assert_int_equal(frame_finish(w, json, strlen(json)), 0);
	assert_int_equal(out_commit(out), 0);
	free(json);
	json_decref(o);
}

/* Tells the set's manifest of its files as they are now. */
static void tell_manifest(void)
{
	struct manifest *m;

	assert_int_equal(manifest_load(&m, set), 0);
	m->totals = (struct shard_totals){ 0 };
	for (size_t k = 0; k < m->n_shards; k++) {
		char room[MANIFEST_ROOM], *path = fs_join(set, manifest_shard_name(m, k, room));
		struct shard *s;

		assert_int_equal(shard_open(&s, path), 0);
		m->shards[k].bytes = shard_trailer(s)->file_bytes;
		m->shards[k].instances = shard_instances(s);
		m->shards[k].digest = (struct key){ shard_trailer(s)->digest_hi, shard_trailer(s)->digest_lo };
		m->recipe.dupe_factor = shard_header(s)->recipe.dupe_factor;
		shard_totals_join(&m->totals, shard_header(s), shard_totals(s));
		shard_close(s);
		free(path);
	}
	assert_int_equal(manifest_save(m, set), 0);
	manifest_free(m);
}

static void say(void *ctx, const char *name, enum verify_verdict v, const char *line)
{
	const size_t n = strlen(said);

	(void)ctx;
	if (v != VERIFY_GOOD)
		snprintf(said + n, sizeof(said) - n, "%s: %s\n", name, line);
}

/* LIE is found in the set, and said to be WHAT; NULL: nothing is. */
static void expect(const struct job_opts *o, const struct lie *lie, const char *what)
{
	struct verify v = { .threads = 2, .say = say };
	char path[128];

	make(o);
	for (uint32_t k = 0; k < o->shards; k++) {
		snprintf(path, sizeof(path), "%s/shard-%05u-of-%05u.shard", set, k, (unsigned)o->shards);
		rewrite(path, lie);
	}
	tell_manifest();
	said[0] = 0;
	verify_path(&v, set);
	verify_release(&v);
	if (v.unread || !v.faults != !what || (what && !strstr(said, what)))
		fail_msg("wanted '%s':\n%s", what ? what : "no fault", said);
}

/* --- lies ----------------------------------------------------------------------------------------- */

static bool no_lie(const struct shard *s, struct instance *i, uint64_t k, uint64_t n)
{
	(void)s;
	(void)i;
	return k < n;
}

static bool last_ones(const struct shard *s, struct instance *i, uint64_t k, uint64_t n)
{
	(void)s;
	(void)i;
	return k + 12 < n;
}

static bool a_block(const struct shard *s, struct instance *i, uint64_t k, uint64_t n)
{
	(void)i;
	(void)n;
	return k / shard_shape(s)->block_records != 0;
}

static bool one_of_shard_1(const struct shard *s, struct instance *i, uint64_t k, uint64_t n)
{
	(void)i;
	return shard_header(s)->shard != 1 || k + 1 != n;
}

static bool a_pass(const struct shard *s, struct instance *i, uint64_t k, uint64_t n)
{
	const uint32_t lead = shard_lead(&shard_header(s)->recipe, i)->document;

	(void)k;
	(void)n;
	return i->pass != 1 || lead != 5;
}

static bool masks_show_themselves(const struct shard *s, struct instance *i, uint64_t k, uint64_t n)
{
	(void)n;
	for (uint32_t m = 0; k < shard_shape(s)->block_records && m < i->predictions; m++)
		i->ids[i->positions[m]] = i->labels[m];
	return true;
}

static bool masks_show_cls(const struct shard *s, struct instance *i, uint64_t k, uint64_t n)
{
	(void)n;
	for (uint32_t m = 0; k < shard_shape(s)->block_records && m < i->predictions; m++)
		i->ids[i->positions[m]] = shard_shape(s)->cls;
	return true;
}

static bool randoms_are_cls(const struct shard *s, struct instance *i, uint64_t k, uint64_t n)
{
	(void)k;
	(void)n;
	for (uint32_t m = 0; m < i->predictions; m++)
		if (i->ids[i->positions[m]] != i->labels[m] && i->ids[i->positions[m]] != shard_shape(s)->mask)
			i->ids[i->positions[m]] = shard_shape(s)->cls;
	return true;
}

static bool all_are_random(const struct shard *s, struct instance *i, uint64_t k, uint64_t n)
{
	(void)n;
	if (k < shard_shape(s)->block_records)
		i->flags |= INSTANCE_RANDOM_NEXT;
	return true;
}

static void test_left_out(void **state)
{
	static const struct {
		enum shard_pairs pairs;
		bool cross, dynamic;
		double random_next;
	} all[] = {
		{ .pairs = SHARD_NSP }, { .pairs = SHARD_NSP, .dynamic = true }, { .pairs = SHARD_NSP, .random_next = 0.3 },
		{ .pairs = SHARD_SOP }, { .pairs = SHARD_NONE }, { .pairs = SHARD_NONE, .cross = true },
	};

	(void)state;
	for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++) {
		struct job_opts o = options(2);

		o.pairs = all[k].pairs;
		o.cross_documents = all[k].cross;
		if (all[k].dynamic) {
			o.masking = SHARD_DYNAMIC;
			o.dupe_factor = 1;
		}
		o.exact_next = all[k].random_next > 0;
		o.random_next = all[k].random_next;
		expect(&o, &(struct lie){ no_lie, 0 }, NULL);
		expect(&o, &(struct lie){ last_ones, 0 }, " instances, drawn again there are ");
		expect(&o, &(struct lie){ a_block, 0 }, " drawn again ");
		if (all[k].dynamic)
			continue;
		expect(&o, &(struct lie){ a_pass, 0 }, ": drawn again it has, in pass 1, ");
		expect(&o, &(struct lie){ no_lie, 3 }, ": drawn again it has, in pass ");
	}
}

static void test_google(void **state)
{
	struct job_opts one = options(1), several = options(3);

	(void)state;
	one.rules = several.rules = SHARD_GOOGLE;
	expect(&several, &(struct lie){ no_lie, 0 }, NULL);
	expect(&several, &(struct lie){ one_of_shard_1, 0 }, "dealt in turn");
	expect(&several, &(struct lie){ last_ones, 0 }, "set: document ");
	expect(&several, &(struct lie){ no_lie, 3 }, " begins no instance in pass 2");
	expect(&one, &(struct lie){ a_block, 0 }, "set: document ");
	expect(&one, &(struct lie){ a_pass, 0 }, "set: document 5 begins no instance in pass 1");
	expect(&one, &(struct lie){ masks_show_themselves, 0 }, "show [MASK]: not what draws give");
	expect(&one, &(struct lie){ masks_show_cls, 0 }, "show [MASK]: not what draws give");
	expect(&one, &(struct lie){ randoms_are_cls, 0 }, "are [PAD], [CLS] or [SEP]: not what draws give");
	expect(&one, &(struct lie){ all_are_random, 0 }, "random nexts are what follows");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_left_out), cmocka_unit_test(test_google) };

	return cmocka_run_group_tests(tests, make_inputs, remove_inputs);
}
