/* Files read whole: the order of results, the sums, what is damaged anywhere. */
#include "shards/scan.h"
#include "tests/unit/shards/made_shard.h"

#include <unistd.h>

static char folder[] = "/tmp/bert-test-scan-XXXXXX";
static char vocab[64], path[64], tokens[64];

static int make_folder(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(vocab, sizeof(vocab), "%s/vocab.txt", folder);
	snprintf(path, sizeof(path), "%s/a.shard", folder);
	snprintf(tokens, sizeof(tokens), "%s/a.tok", folder);
	made_vocab(vocab);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	return fs_remove_tree(folder);
}

/* Token documents: DOCUMENTS of them in blocks of three, each of two sentences. */
enum { DOCUMENTS = 10 };

static void make_tokens(void)
{
	json_t *tokenizer = json_pack("{s:i, s:{s:s, s:i}}", "id_bytes", 2, "vocab", "sha256", "x", "size", MADE_VOCAB);
	struct tokdoc_block b = TOKDOC_BLOCK_INIT;
	struct tokdoc_writer *w;
	struct out *out;

	assert_int_equal(out_open(&out, tokens), 0);
	assert_int_equal(tokdoc_writer_open(&w, out, tokenizer, false), 0);
	for (uint32_t k = 0; k < DOCUMENTS; k++) {
		uint16_t ids[5] = { 5, 6, 7, 8, (uint16_t)(9 + k) };
		uint32_t lengths[2] = { 2, 3 };
		const struct tokdoc d = { .key = { k, k }, .text_bytes = 20, .lengths = lengths, .n_sentences = 2,
					  .ids = ids, .n_tokens = 5, .id_bytes = 2 };

		assert_int_equal(tokdoc_block_add(&b, &d, 2), 0);
		if (b.records < 3 && k < DOCUMENTS - 1)
			continue;
		assert_int_equal(tokdoc_writer_add(w, &b), 0);
		tokdoc_block_clear(&b);
	}
	assert_int_equal(tokdoc_writer_finish(w, NULL), 0);
	assert_int_equal(out_commit(out), 0);
	tokdoc_block_release(&b);
	json_decref(tokenizer);
}

struct seen {
	uint64_t begun, documents, records, next;
	struct scan *scan;
	bool stop_early;
};

static int begin(void *ctx, struct scan *s)
{
	struct seen *seen = ctx;

	seen->begun++;
	seen->scan = s;
	return 0;
}

static int document(void *ctx, const struct shard_document *d)
{
	struct seen *seen = ctx;

	seen->documents += d->tokens > 0;
	return 0;
}

static int work(void *ctx, const struct scan *s, struct scan_block *b, unsigned worker)
{
	struct tokdoc d = TOKDOC_INIT;
	int rc = 0;

	(void)ctx;
	(void)worker;
	if (s->kind == SCAN_TOKENS)
		while ((rc = scan_next(s, b, &d)) > 0)
			;
	tokdoc_release(&d);
	return rc ? rc : buf_addf(&b->out, "%llu", (unsigned long long)b->frame.first_record);
}

static int write_block(void *ctx, const struct scan *s, struct scan_block *b)
{
	struct seen *seen = ctx;
	char want[32];

	(void)s;
	snprintf(want, sizeof(want), "%llu", (unsigned long long)seen->next);
	assert_string_equal(b->out.data, want);
	seen->next += b->frame.records;
	seen->records += b->frame.records;
	if (seen->stop_early)
		scan_stop(seen->scan);
	return 0;
}

static int scan(const char *at, unsigned threads, struct seen *seen, struct scan *s)
{
	*s = (struct scan){ .path = at, .threads = threads, .begin = begin, .document = document, .work = work,
			    .write = write_block, .ctx = seen };
	return scan_run(s);
}

static void shards_in_order(void **state)
{
	(void)state;
	made_shard(path, vocab, &(struct made){ .shards = 1 }, NULL, NULL);
	for (unsigned threads = 1; threads < 5; threads++) {
		struct seen seen = { .begun = 0 };
		struct scan s;

		assert_int_equal(scan(path, threads, &seen, &s), 0);
		assert_int_equal(seen.begun, 1);
		assert_int_equal(seen.documents, MADE_DOCUMENTS);
		assert_int_equal(s.kind, SCAN_SHARD);
		assert_true(s.whole);
		assert_int_equal(s.totals.instances, seen.records);
		assert_int_equal(s.totals.tokens, MADE_DOCUMENTS * MADE_TOKENS);
		assert_int_equal(s.documents.n, MADE_DOCUMENTS);
		assert_true(s.trailer.file_bytes > 1000);
		scan_release(&s);
	}
}

static void token_documents(void **state)
{
	struct seen seen = { .begun = 0 };
	struct scan s;

	(void)state;
	make_tokens();
	assert_int_equal(scan(tokens, 2, &seen, &s), 0);
	assert_int_equal(s.kind, SCAN_TOKENS);
	assert_int_equal(seen.records, DOCUMENTS);
	assert_int_equal(s.token_totals.tokens, 5 * DOCUMENTS);
	scan_release(&s);
}

static void stopping(void **state)
{
	struct seen seen = { .stop_early = true };
	struct scan s;

	(void)state;
	made_shard(path, vocab, &(struct made){ .shards = 1 }, NULL, NULL);
	assert_int_equal(scan(path, 1, &seen, &s), 0);
	assert_false(s.whole);
	assert_int_equal(seen.records, MADE_BLOCK);
	scan_release(&s);
}

/* Every byte of the file changed, and the file cut at every byte: all are found. */
static void any_damage(const char *good)
{
	struct buf b = BUF_INIT;
	char bad[64];

	snprintf(bad, sizeof(bad), "%s/bad", folder);
	assert_int_equal(fs_read_all(good, 1 << 24, &b), 0);
	for (size_t k = 0; k < b.len; k += 1 + b.len / 700) {
		struct seen seen = { .begun = 0 };
		struct scan s;

		b.data[k] ^= (char)(1 << k % 8);
		assert_int_equal(fs_write_all(bad, b.data, b.len), 0);
		b.data[k] ^= (char)(1 << k % 8);
		if (!scan(bad, 1, &seen, &s) || err_code() != EXIT_CORRUPT)
			fail_msg("byte %zu of %zu changed: %s", k, b.len, err_text());
		scan_release(&s);
		assert_int_equal(fs_write_all(bad, b.data, k), 0);
		if (!scan(bad, 1, &(struct seen){ .begun = 0 }, &s) || err_code() != EXIT_CORRUPT ||
		    !strstr(err_text(), bad))
			fail_msg("cut at %zu of %zu: %s", k, b.len, err_text());
		scan_release(&s);
	}
	buf_release(&b);
}

static void damage(void **state)
{
	(void)state;
	made_shard(path, vocab, &(struct made){ .shards = 1 }, NULL, NULL);
	any_damage(path);
	make_tokens();
	any_damage(tokens);
}

static void other_kinds(void **state)
{
	struct seen seen = { .begun = 0 };
	struct frame_writer *w;
	struct out *out;
	struct scan s;

	(void)state;
	assert_int_equal(out_open(&out, path), 0);
	assert_int_equal(frame_create(&w, out, "ELSE", "{}", 2), 0);
	assert_int_equal(frame_finish(w, "{}", 2), 0);
	assert_int_equal(out_commit(out), 0);
	assert_int_equal(scan(path, 1, &seen, &s), -1);
	assert_int_equal(err_code(), EXIT_CORRUPT);
	assert_non_null(strstr(err_text(), "is of kind ELSE"));
	scan_release(&s);
	assert_int_equal(scan("/nonexistent/file", 1, &seen, &s), -1);
	assert_int_equal(err_code(), EXIT_FAILED);
	scan_release(&s);
	assert_int_equal(seen.begun, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shards_in_order), cmocka_unit_test(token_documents), cmocka_unit_test(stopping),
		cmocka_unit_test(damage), cmocka_unit_test(other_kinds),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
