/* Token documents that say they are sorted, and are not. */
#include "shards/verify.h"
#include "shards/keys.h"
#include "tests/unit/shards/made_shard.h"

#include <unistd.h>

static char path[] = "/tmp/bert-test-tokens-XXXXXX";
static char said[2048];

static int make_file(void **state)
{
	const int fd = mkstemp(path);

	(void)state;
	return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

static void say(void *ctx, const char *name, enum verify_verdict v, const char *text)
{
	(void)ctx;
	(void)v;
	snprintf(said, sizeof(said), "%s: %s", name, text);
}

/* Documents with these keys, two in a block; ends with 0. TEXT: sizes of their texts, which order equal keys. */
static void make(const uint64_t *keys, const uint64_t *text, bool sorted)
{
	json_t *tokenizer = json_pack("{s:i, s:{s:s, s:i}}", "id_bytes", 2, "vocab", "sha256", "x", "size", MADE_VOCAB);
	struct tokdoc_block b = TOKDOC_BLOCK_INIT;
	struct tokdoc_writer *w;
	struct out *out;

	assert_int_equal(out_open(&out, path), 0);
	assert_int_equal(tokdoc_writer_open(&w, out, tokenizer, sorted), 0);
	for (size_t k = 0; keys[k]; k++) {
		const struct tokdoc d = { .key = { keys[k], 0 }, .text_bytes = text ? text[k] : 1, .id_bytes = 2 };

		assert_int_equal(tokdoc_block_add(&b, &d, 2), 0);
		if (b.records < 2 && keys[k + 1])
			continue;
		assert_int_equal(tokdoc_writer_add(w, &b), 0);
		tokdoc_block_clear(&b);
	}
	assert_int_equal(tokdoc_writer_finish(w, NULL), 0);
	assert_int_equal(out_commit(out), 0);
	tokdoc_block_release(&b);
	json_decref(tokenizer);
}

static void expect(const char *fault)
{
	struct verify v = { .threads = 2, .say = say };

	verify_path(&v, path);
	verify_release(&v);
	if (v.faults != (fault ? 1 : 0) || v.unread || (fault && !strstr(said, fault)))
		fail_msg("said '%s', wanted '%s'", said, fault ? fault : "no fault");
}

static void order(void **state)
{
	(void)state;
	make((const uint64_t[]){ 0 }, NULL, true);
	expect(NULL);
	make((const uint64_t[]){ 1, 2, 2, 2, 9, 0 }, NULL, true);
	expect(NULL);
	assert_non_null(strstr(said, "5 documents, 0 tokens"));
	make((const uint64_t[]){ 1, 3, 2, 4, 0 }, NULL, true);
	expect("document 2: it comes before the one before it");
	make((const uint64_t[]){ 1, 2, 4, 3, 0 }, NULL, true);
	expect("document 3: it comes before the one before it");
	make((const uint64_t[]){ 1, 2, 2, 4, 0 }, (const uint64_t[]){ 1, 6, 5, 1 }, true);
	expect("document 2: it comes before the one before it");
	make((const uint64_t[]){ 4, 3, 2, 1, 0 }, NULL, false);
	expect(NULL);
}

/* A file whose list of first keys is of other blocks: two frames' blocks put together. */
static void first_keys(void **state)
{
	struct frame_block b = FRAME_BLOCK_INIT;
	const struct buf packed = BUF_INIT;
	struct frame_writer *w;
	struct frame_reader *r;
	struct buf header = BUF_INIT, totals = BUF_INIT;
	struct out *out;
	size_t len;
	const char *text;

	(void)state;
	make((const uint64_t[]){ 1, 2, 3, 4, 0 }, NULL, true);
	assert_int_equal(frame_open_file(&r, path, TOKDOC_KIND), 0);
	text = frame_header(r, &len);
	assert_int_equal(buf_add(&header, text, len), 0);
	text = frame_totals(r, &len);
	assert_int_equal(buf_add(&totals, text, len), 0);
	assert_int_equal(out_open(&out, path), 0);
	assert_int_equal(frame_create(&w, out, TOKDOC_KIND, header.data, header.len), 0);
	for (uint64_t k = 0; k < frame_blocks(r); k++) {
		assert_int_equal(frame_read(r, k, &b), 0);
		if (b.type == 1)
			b.raw.data[KEY_BYTES] ^= 1;
		assert_int_equal(frame_add(w, b.type, b.records, b.raw.data, b.raw.len, &packed), 0);
	}
	assert_int_equal(frame_finish(w, totals.data, totals.len), 0);
	assert_int_equal(out_commit(out), 0);
	frame_close(r);
	frame_block_release(&b);
	buf_release(&header);
	buf_release(&totals);
	expect("its first keys are not those of its blocks");
}

static void absent_documents(void **state)
{
	struct key key = { 3, 0 };
	struct verify v = { .threads = 1, .say = say, .absent = &key, .n_absent = 1 };

	(void)state;
	make((const uint64_t[]){ 1, 2, 3, 0 }, NULL, false);
	verify_path(&v, path);
	assert_int_equal(v.faults, 1);
	assert_non_null(strstr(said, "document 2: the document with key 00000000000000030000000000000000 is in it"));
	key.hi = 5;
	v.faults = 0;
	verify_path(&v, path);
	assert_int_equal(v.faults, 0);
	verify_release(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(order), cmocka_unit_test(first_keys),
					    cmocka_unit_test(absent_documents) };

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
