#include "shards/shard.h"

#include "base/err.h"
#include "shards/canon.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static char path[] = "/tmp/bert-test-shard-XXXXXX";

static int make_path(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	return fd < 0 || close(fd) ? -1 : 0;
}

static int remove_path(void **state)
{
	(void)state;
	return unlink(path);
}

static struct id_range never[] = { { 0, 4 }, { 90, 95 } };

/* The caller drops h.recipe.tokenizer. */
static struct shard_header make_header(void)
{
	return (struct shard_header){
		.recipe = {
			.tokenizer = json_pack("{s:i,s:{s:s,s:i}}", "id_bytes", 2, "vocab", "sha256", "ab", "size", 100),
			.vocab_size = 100, .special = { .pad = 0, .unk = 1, .cls = 2, .sep = 3, .mask = 4 }, .never = never, .n_never = 2,
			.max_seq_length = 16, .max_predictions_per_seq = 3, .dupe_factor = 5, .masked_lm_prob = 0.15, .short_seq_prob = 0.1,
			.whole_word_mask = true, .masking = SHARD_STATIC, .pairs = SHARD_NSP, .seed = INT64_MAX,
		},
		.shard = 2, .shards = 3, .block_records = 4, .corpus_documents = 77, .corpus = { 1, 2 },
	};
}

static void test_headers_round_trip(void **state)
{
	struct shard_header h = make_header(), got;
	char *text = shard_header_print(&h), *again;

	(void)state;
	assert_non_null(text);
	assert_int_equal(shard_header_parse(&got, text, strlen(text)), 0);
	again = shard_header_print(&got);
	assert_string_equal(text, again);
	assert_int_equal(got.recipe.seed, INT64_MAX);
	assert_int_equal(got.recipe.n_never, 2);
	assert_int_equal(got.recipe.never[1].last, 95);
	assert_true(got.recipe.masked_lm_prob == 0.15);
	assert_int_equal(got.recipe.special.mask, 4);
	free(text);
	free(again);
	shard_header_release(&got);
	json_decref(h.recipe.tokenizer);
}

/* The header with one member, at PATH_ like "recipe.seed", set to VALUE (JSON; NULL: removed), must be refused. */
static void refuses(const char *where, const char *value)
{
	struct shard_header h = make_header(), got;
	char *text = shard_header_print(&h);
	json_t *o = canon_parse(text, strlen(text)), *in = o;
	const char *dot;
	int rc;

	while ((dot = strchr(where, '.'))) {
		char *name = strndup(where, (size_t)(dot - where));

		in = json_object_get(in, name);
		free(name);
		where = dot + 1;
	}
	assert_non_null(json_object_get(in, where));
	if (value)
		json_object_set_new(in, where, json_loads(value, JSON_DECODE_ANY, NULL));
	else
		json_object_del(in, where);
	free(text);
	text = canon_print(o);
	rc = shard_header_parse(&got, text, strlen(text));
	if (!rc)
		fail_msg("%s = %s was taken", where, value ? value : "(nothing)");
	assert_int_equal(err_code(), EXIT_CORRUPT);
	free(text);
	json_decref(o);
	json_decref(h.recipe.tokenizer);
}

static void test_headers_are_checked(void **state)
{
	(void)state;
	refuses("format", "\"other\"");
	refuses("version", "1");
	assert_string_equal(err_text(), "of version 1, which this program does not read (it reads 2): make it anew, in a new folder");
	refuses("version", "3");
	assert_non_null(strstr(err_text(), "(it reads 2): use a newer program, or make it anew, in a new folder"));
	refuses("version", "null");
	refuses("shard", "3");
	refuses("shards", "0");
	refuses("shards", "1000001");
	refuses("block_records", "0");
	refuses("block_records", "65537");
	refuses("corpus", NULL);
	refuses("corpus.digest", "\"12\"");
	refuses("recipe.rules", "\"berttools 2\"");
	refuses("recipe.rules", "\"google 2\"");
	refuses("recipe.pairs", "\"abc\"");
	refuses("recipe.masking", "\"none\"");
	refuses("recipe.masking", "\"dynamic\"");	/* with a dupe factor of 5 */
	refuses("recipe.max_seq_length", "4");
	refuses("recipe.max_seq_length", "65536");
	refuses("recipe.dupe_factor", "0");
	refuses("recipe.masked_lm_prob", "1.5");
	refuses("recipe.seed", "-1");
	refuses("recipe.seed", NULL);
	refuses("recipe.special.cls", "100");
	refuses("recipe.special.mask", "null");
	refuses("recipe.never", "[[5,4]]");
	refuses("recipe.never", "[[0,4],[4,5]]");
	refuses("recipe.never", "[[0,100]]");
	refuses("recipe.never", "[7]");
	refuses("recipe.tokenizer.vocab", "{}");
}

/* The recipe O with one member as in BAD, of N, is no recipe. */
static void refuses_each(const json_t *o, const char *const bad[][2], size_t n)
{
	struct shard_recipe got;

	for (size_t k = 0; k < n; k++) {
		json_t *wrong = json_deep_copy(o);

		json_object_set_new(wrong, bad[k][0], json_loads(bad[k][1], JSON_DECODE_ANY, NULL));
		if (!shard_recipe_parse(&got, wrong))
			fail_msg("%s = %s was taken", bad[k][0], bad[k][1]);
		assert_int_equal(err_code(), EXIT_CORRUPT);
		json_decref(wrong);
	}
}

/* A share of random nexts is written and read as it is; one that cannot be, or goes with no such pairs, is refused. */
static void test_shares_of_random_nexts(void **state)
{
	static const char *const bad[][2] = {
		{ "random_next", "1.5" }, { "random_next", "-0.5" }, { "random_next", "true" }, { "random_next", "null" },
		{ "pairs", "\"sop\"" }, { "rules", "\"google 1\"" }, { "rules", "\"imported 1\"" },
	};
	struct shard_header h = make_header();
	struct shard_recipe got;
	json_t *o;

	(void)state;
	h.recipe.exact_next = true;
	h.recipe.random_next = 0.25;
	o = shard_recipe_json(&h.recipe);
	assert_int_equal(shard_recipe_parse(&got, o), 0);
	assert_true(got.exact_next && got.random_next == 0.25);
	shard_recipe_release(&got);
	refuses_each(o, bad, sizeof(bad) / sizeof(bad[0]));
	json_decref(o);
	json_decref(h.recipe.tokenizer);
}

/* Switches are written where they are on, and read as they are; those that go with nothing else are refused. */
static void test_switches(void **state)
{
	static const char *const bad[][2] = {
		{ "mask_replace_prob", "1.5" }, { "mask_replace_prob", "0.8" }, { "random_replace_prob", "-0.5" }, { "random_replace_prob", "true" },
		{ "words_across_sep", "1" }, { "same_document_next", "\"yes\"" }, { "pairs", "\"sop\"" }, { "rules", "\"google 1\"" },
		{ "rules", "\"imported 1\"" }, { "whole_word_mask", "false" },
	};
	struct shard_header h = make_header();
	struct shard_recipe got;
	json_t *plain = shard_recipe_json(&h.recipe), *o;

	(void)state;
	h.recipe.words_across_sep = h.recipe.same_document_next = true;
	assert_int_equal(mask_shares_set(&h.recipe.shares, 0.6, 0.25), 0);
	o = shard_recipe_json(&h.recipe);
	assert_int_equal(json_object_size(o), json_object_size(plain) + 4);
	assert_int_equal(shard_recipe_parse(&got, o), 0);
	assert_true(got.shares.given && got.shares.mask == 0.6 && got.shares.random == 0.25);
	assert_true(got.words_across_sep && got.same_document_next);
	shard_recipe_release(&got);
	refuses_each(o, bad, sizeof(bad) / sizeof(bad[0]));
	json_object_set_new(plain, "random_replace_prob", json_real(0.05));	/* one alone: the other is the usual one */
	assert_int_equal(shard_recipe_parse(&got, plain), 0);
	assert_true(got.shares.given && got.shares.mask == 0.8 && got.shares.random == 0.05);
	shard_recipe_release(&got);
	json_decref(plain);
	json_decref(o);
	json_decref(h.recipe.tokenizer);
}

/* Ids that are read as others stand in the recipe; what can be no such list is refused. */
static void test_ids_read_as_others(void **state)
{
	static const char *const bad[][2] = {
		{ "read_as", "{}" }, { "read_as", "[[30, 31]]" }, { "read_as", "[[30, 31, 10, 1]]" }, { "read_as", "[[31, 30, 10]]" },
		{ "read_as", "[[30, 35, 10], [35, 36, 20]]" }, { "read_as", "[[40, 41, 10], [30, 31, 20]]" }, { "read_as", "[[-1, 1, 10]]" },
		{ "read_as", "[[30, 31, 1.5]]" }, { "read_as", "[[30, 99999999, 10]]" }, { "read_as", "[[30, 31, 99999999]]" },
		{ "read_as", "[[30, 40, 35]]" }, { "read_as", "[[30, 31, 40], [41, 41, 10]]" }, { "read_as", "[[0, 9, 20]]" },
		{ "rules", "\"imported 1\"" },
	};
	struct read_as runs[] = { { 30, 31, 10 }, { 33, 33, 9 } };
	struct shard_header h = make_header();
	struct shard_recipe got;
	json_t *o, *t;

	(void)state;
	h.recipe.read_as = runs;
	h.recipe.n_read_as = 2;
	json_object_set_new(h.recipe.tokenizer, "cjk", json_false());
	json_object_set_new(h.recipe.tokenizer, "segmenter", json_string("cut"));
	o = shard_recipe_json(&h.recipe);
	assert_int_equal(shard_recipe_parse(&got, o), 0);
	assert_int_equal(got.n_read_as, 2);
	assert_memory_equal(got.read_as, runs, sizeof(runs));
	t = shard_recipe_tokenizer(&got);
	assert_true(json_is_true(json_object_get(t, "cjk")) && !json_object_get(t, "segmenter") && json_object_get(t, "vocab"));
	assert_true(json_is_false(json_object_get(got.tokenizer, "cjk")));
	json_decref(t);
	refuses_each(o, bad, sizeof(bad) / sizeof(bad[0]));
	json_object_del(o, "read_as");
	shard_recipe_release(&got);
	assert_int_equal(shard_recipe_parse(&got, o), 0);
	t = shard_recipe_tokenizer(&got);
	assert_ptr_equal(t, got.tokenizer);
	json_decref(t);
	shard_recipe_release(&got);
	json_decref(o);
	json_decref(h.recipe.tokenizer);
}

/* What a reader wants of dynamic masks becomes the recipe; of static ones nothing can be wanted. */
static void test_choices(void **state)
{
	struct shard_header h = make_header();
	struct shard_recipe r = h.recipe;

	(void)state;
	assert_int_equal(shard_recipe_choose(&r, &(struct mask_choice){ 0 }), 0);
	assert_int_equal(shard_recipe_choose(&r, &(struct mask_choice){ .given = CHOICE_PROB, .masked_lm_prob = 0.15 }), -1);
	assert_int_equal(err_code(), EXIT_FAILED);
	r.masking = SHARD_DYNAMIC;
	assert_int_equal(shard_recipe_choose(&r, &(struct mask_choice){ .given = CHOICE_PROB, .masked_lm_prob = 0.4 }), 0);
	assert_true(r.masked_lm_prob == 0.4 && r.max_predictions_per_seq == 6);		/* 16 * 0.4 */
	assert_int_equal(shard_recipe_choose(&r, &(struct mask_choice){ .given = CHOICE_PREDICTIONS, .max_predictions_per_seq = 5 }), 0);
	assert_true(r.masked_lm_prob == 0.4 && r.max_predictions_per_seq == 5);
	assert_int_equal(shard_recipe_choose(&r, &(struct mask_choice){ .given = CHOICE_PREDICTIONS, .max_predictions_per_seq = 17 }), -1);
	assert_int_equal(shard_recipe_choose(&r, &(struct mask_choice){ .given = CHOICE_RANDOM_SHARE, .random_replace_prob = 0.3 }), -1);
	assert_int_equal(err_code(), EXIT_USAGE);
	assert_int_equal(shard_recipe_choose(&r, &(struct mask_choice){ .given = CHOICE_RANDOM_SHARE, .random_replace_prob = 0.2 }), 0);
	assert_true(r.shares.given && r.shares.mask == 0.8 && r.shares.random == 0.2);
	r.word_draws = true;
	assert_int_equal(shard_recipe_choose(&r, &(struct mask_choice){ .given = CHOICE_WHOLE_WORD }), 0);
	assert_false(r.whole_word_mask || r.word_draws);
	assert_int_equal(shard_recipe_choose(&r, &(struct mask_choice){ .given = CHOICE_WORD_DRAWS, .word_draws = true }), -1);
	r.word_draws = false;
	assert_int_equal(shard_recipe_choose(&r, &(struct mask_choice){ .given = CHOICE_SPANS, .mask_spans = MASK_SPANS }), 0);
	assert_true(r.whole_word_mask && r.mask_spans == MASK_SPANS);
	assert_int_equal(shard_recipe_choose(&r, &(struct mask_choice){ .given = CHOICE_SPANS | CHOICE_WHOLE_WORD, .mask_spans = MASK_SPANS }), -1);
	json_decref(h.recipe.tokenizer);
}

static void test_document_entries(void **state)
{
	const struct shard_document d = {
		.key = { 3, 4 },
		.occurrence = 5,
		.sentences = 600,
		.tokens = 70000,
		.text_bytes = UINT64_C(1) << 40,
		.id = "id",
		.id_len = 2,
		.title = "t\xc3\xa9",
		.title_len = 3,
	};
	struct shard_document e;
	struct buf b = BUF_INIT;
	const unsigned char *p;

	(void)state;
	assert_int_equal(shard_document_encode(&b, &d), 0);
	assert_int_equal(shard_document_encode(&b, &d), 0);
	p = (unsigned char *)b.data;
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(shard_document_decode(&p, (unsigned char *)b.data + b.len, &e), 0);
		assert_int_equal(e.key.lo, 4);
		assert_int_equal(e.occurrence, 5);
		assert_int_equal(e.tokens, 70000);
		assert_int_equal(e.text_bytes, UINT64_C(1) << 40);
		assert_memory_equal(e.id, "id", 2);
		assert_memory_equal(e.title, "t\xc3\xa9", 3);
	}
	assert_ptr_equal(p, b.data + b.len);
	for (size_t n = 0; n < b.len / 2; n++) {
		unsigned char *copy = malloc(n + 1);

		memcpy(copy, b.data, n);
		p = copy;
		assert_int_equal(shard_document_decode(&p, copy + n, &e), -1);
		assert_int_equal(err_code(), EXIT_CORRUPT);
		free(copy);
	}
	buf_release(&b);
}

static void test_totals(void **state)
{
	struct shard_totals a = { .documents = 1, .instances = 2, .dropped = 3 },
			    b = { .documents = 10, .instances = 20, .truncated = 7 }, c;
	json_t *o;

	(void)state;
	shard_totals_add(&a, &b);
	o = shard_totals_json(&a);
	assert_int_equal(shard_totals_parse(&c, o), 0);
	assert_memory_equal(&a, &c, sizeof(a));
	assert_int_equal(c.instances, 22);
	json_object_del(o, "dropped");
	assert_int_equal(shard_totals_parse(&c, o), -1);
	json_decref(o);
}

/* --- files ----------------------------------------------------------------------------------- */

static void add(struct frame_writer *w, unsigned type, uint32_t records, struct buf *raw)
{
	struct buf none = BUF_INIT;

	assert_int_equal(frame_add(w, type, records, raw->data, raw->len, &none), 0);
}

static void add_instances(struct frame_writer *w, const struct instance_shape *shape, uint32_t n)
{
	struct instance_columns c;
	struct instance i;
	struct buf raw = BUF_INIT, packed = BUF_INIT;

	assert_int_equal(instance_init(&i, shape), 0);
	assert_int_equal(instance_columns_init(&c, shape), 0);
	for (uint32_t k = 0; k < n; k++) {
		for (uint32_t p = 0; p < 5; p++)
			i.ids[p] = p % 2 ? 50 + k : shape->sep;
		i.n = 5;
		i.n_segments = 2;
		i.segments[0] = i.segments[1] = (struct instance_segment){ 0, 0, 1 };
		i.pass = i.flags = i.predictions = 0;
		instance_columns_add(&c, &i);
	}
	assert_int_equal(instance_columns_flush(&c, 0, &raw, &packed), 0);
	add(w, SHARD_INSTANCES, n, &raw);
	instance_release(&i);
	instance_columns_release(&c);
	buf_release(&raw);
	buf_release(&packed);
}

/* A shard of one document and blocks of so many instances (0 ends), whose trailer says that there are SAYS. */
static void write_shard(const uint32_t *blocks, uint64_t says)
{
	const struct shard_document d = { .key = { UINT64_MAX, 4 }, .sentences = 1, .tokens = 9 };
	struct shard_header h = make_header();
	const struct instance_shape shape = shard_header_shape(&h, 1);
	struct shard_totals t = { .documents = 1, .instances = says };
	struct buf raw = BUF_INIT;
	struct frame_writer *w;
	struct out *o;
	json_t *totals = shard_totals_json(&t);
	char *header = shard_header_print(&h), *trailer = canon_print(totals);

	assert_int_equal(out_open(&o, path), 0);
	assert_int_equal(frame_create(&w, o, SHARD_KIND, header, strlen(header)), 0);
	assert_int_equal(shard_document_encode(&raw, &d), 0);
	add(w, SHARD_DOCUMENTS, 1, &raw);
	for (; *blocks; blocks++)
		add_instances(w, &shape, *blocks);
	assert_int_equal(frame_finish(w, trailer, strlen(trailer)), 0);
	assert_int_equal(out_commit(o), 0);
	buf_release(&raw);
	free(header);
	free(trailer);
	json_decref(totals);
	json_decref(h.recipe.tokenizer);
}

static void test_files_open(void **state)
{
	const uint32_t blocks[] = { 4, 4, 2, 0 };
	struct frame_block f = FRAME_BLOCK_INIT;
	struct instance_block b = INSTANCE_BLOCK_INIT;
	struct shard *s;

	(void)state;
	write_shard(blocks, 10);
	assert_int_equal(shard_open(&s, path), 0);
	assert_int_equal(shard_instances(s), 10);
	assert_int_equal(shard_blocks(s), 3);
	assert_int_equal(shard_document_blocks(s), 1);
	assert_int_equal(shard_header(s)->shard, 2);
	assert_int_equal(shard_read(s, 2, &f, &b), 0);
	assert_int_equal(b.records, 2);
	assert_int_equal(shard_read(s, 0, &f, &b), 0);
	assert_int_equal(b.records, 4);
	assert_int_equal(shard_read_documents(s, 0, &f), 0);
	assert_int_equal(f.records, 1);
	frame_block_release(&f);
	instance_block_release(&b);
	shard_close(s);
}

static void test_lying_files_are_refused(void **state)
{
	const uint32_t full[] = { 4, 4, 2, 0 }, uneven[] = { 4, 3, 3, 0 }, none[] = { 0 };
	struct frame_block f = FRAME_BLOCK_INIT;
	struct instance_block b = INSTANCE_BLOCK_INIT;
	struct shard *s;

	(void)state;
	write_shard(full, 11);		/* a record short of what the trailer says */
	assert_int_equal(shard_open(&s, path), -1);
	assert_int_equal(err_code(), EXIT_CORRUPT);
	write_shard(none, 1);
	assert_int_equal(shard_open(&s, path), -1);
	write_shard(uneven, 10);
	assert_int_equal(shard_open(&s, path), 0);
	assert_int_equal(shard_read(s, 0, &f, &b), 0);
	assert_int_equal(shard_read(s, 1, &f, &b), -1);
	assert_int_equal(err_code(), EXIT_CORRUPT);
	frame_block_release(&f);
	instance_block_release(&b);
	shard_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_headers_round_trip),
		cmocka_unit_test(test_headers_are_checked), cmocka_unit_test(test_shares_of_random_nexts),
		cmocka_unit_test(test_switches),
		cmocka_unit_test(test_ids_read_as_others), cmocka_unit_test(test_choices),
		cmocka_unit_test(test_document_entries),
		cmocka_unit_test(test_totals),
		cmocka_unit_test(test_files_open),
		cmocka_unit_test(test_lying_files_are_refused),
	};

	return cmocka_run_group_tests(tests, make_path, remove_path);
}
