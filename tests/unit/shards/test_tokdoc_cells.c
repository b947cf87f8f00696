/* Stretches of keys: every shard finds its documents, whatever the cells, and reads little else. */
#include "shards/tokdoc_cells.h"

#include "base/err.h"
#include "shards/keys.h"
#include "shards/tokdoc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define DOCUMENTS 500

static char path[] = "/tmp/test_tokdoc_cells.XXXXXX";
static struct key keys[DOCUMENTS];
static const struct key owner = { 7, 9 };

static int compare(const void *a, const void *b)
{
	return key_compare(*(const struct key *)a, *(const struct key *)b);
}

static int make_all(void **state)
{
	const int fd = mkstemp(path);

	(void)state;
	for (uint32_t k = 0; k < DOCUMENTS; k++)
		keys[k] = key_of((const char *)&k, sizeof(k));
	/* what lies at a cut, and beside it */
	keys[0] = (struct key){ 0, 0 };
	keys[1] = key_shard_first(2, 7);
	keys[2] = key_add(keys[1], (struct key){ UINT64_MAX, UINT64_MAX });
	keys[3] = key_shard_first(5, 8);
	keys[4] = key_add(keys[3], (struct key){ UINT64_MAX, UINT64_MAX });
	keys[5] = (struct key){ UINT64_MAX, UINT64_MAX };
	qsort(keys, DOCUMENTS, sizeof(*keys), compare);
	return fd < 0 || close(fd) ? -1 : 0;
}

static int remove_path(void **state)
{
	(void)state;
	return unlink(path);
}

/* The first N documents in CELLS cells, three a block at most. */
static void write_cells(uint32_t n, uint32_t cells)
{
	struct tokdoc_block b = TOKDOC_BLOCK_INIT;
	struct tokdoc_writer *w;
	struct out *o;
	json_t *t = json_pack("{s:b,s:i,s:{s:s,s:i}}", "cased", 0, "id_bytes", 2, "vocab", "sha256", "00", "size", 100);

	assert_int_equal(out_open(&o, path), 0);
	assert_int_equal(tokdoc_writer_open(&w, o, t, true), 0);
	tokdoc_writer_cells(w, cells, owner);
	for (uint32_t k = 0; k < n; k++) {
		const struct tokdoc d = { .key = keys[k], .id_bytes = 2 };

		assert_int_equal(tokdoc_block_add(&b, &d, 2), 0);
		if (b.records == 3 || k + 1 == n || key_shard(keys[k], cells) != key_shard(keys[k + 1], cells)) {
			assert_int_equal(tokdoc_writer_add(w, &b), 0);
			tokdoc_block_clear(&b);
		}
	}
	assert_int_equal(tokdoc_writer_finish(w, NULL), 0);
	assert_int_equal(out_commit(o), 0);
	tokdoc_block_release(&b);
	json_decref(t);
}

/* Reads SHARD of SHARDS: its documents, of the first N, in order, among OTHERS, which is how many. */
static void read_shard(const struct tokdoc_cells *c, uint32_t n, uint32_t shard, uint32_t shards, uint32_t *others)
{
	struct frame_block b = FRAME_BLOCK_INIT;
	struct frame_stretch s;
	uint32_t at = 0;
	int rc;

	*others = 0;
	while (at < n && key_shard(keys[at], shards) < shard)
		at++;
	assert_int_equal(tokdoc_cells_find(c, shard, shards, &s), 0);
	while ((rc = tokdoc_cells_next(c, &s, &b)) > 0) {
		const unsigned char *p = (const unsigned char *)b.raw.data, *end = p + b.raw.len, *body;
		size_t len;

		for (uint32_t k = 0; k < b.records; k++) {
			assert_int_equal(tokdoc_split(&p, end, &body, &len), 0);
			if (key_shard(tokdoc_body_key(body), shards) == shard) {
				assert_true(at < n);
				assert_int_equal(key_compare(tokdoc_body_key(body), keys[at++]), 0);
			} else {
				++*others;
			}
		}
	}
	assert_int_equal(rc, 0);
	assert_true(at == n || key_shard(keys[at], shards) > shard);
	frame_block_release(&b);
}

static void every_shard_finds_its_own(void **state)
{
	static const uint32_t numbers[] = { 1, 2, 3, 7, 8, 16, 100, 512, 5000 }, sizes[] = { 0, 1, 2, 60, DOCUMENTS };
	const size_t n = sizeof(numbers) / sizeof(numbers[0]);
	struct tokdoc_cells *c;
	uint32_t others;

	(void)state;
	for (size_t k = 0; k < n * sizeof(sizes) / sizeof(sizes[0]); k++) {
		const uint32_t cells = numbers[k % n], documents = sizes[k / n];

		write_cells(documents, cells);
		assert_int_equal(tokdoc_cells_open(&c, path, owner), 0);
		for (size_t i = 0; i < n; i++) {
			for (uint32_t shard = 0; shard < numbers[i]; shard++) {
				read_shard(c, documents, shard, numbers[i], &others);
				if (cells % numbers[i] == 0)
					assert_int_equal(others, 0);
			}
		}
		tokdoc_cells_close(c);
	}
}

/* A file that readers in sequence and by block take for what it was without cells. */
static void others_pass_over_them(void **state)
{
	static const uint32_t sizes[] = { 0, 60 };
	struct tokdoc d = TOKDOC_INIT;
	struct tokdoc_reader *r;
	struct tokdoc_file *f;
	struct in *in;

	(void)state;
	for (size_t k = 0; k < 2; k++) {
		write_cells(sizes[k], 8);
		assert_int_equal(tokdoc_file_open(&f, path), 0);
		assert_true(sizes[k] ? tokdoc_file_blocks(f) >= 20 : !tokdoc_file_blocks(f));
		assert_int_equal(tokdoc_file_totals(f)->documents, sizes[k]);
		tokdoc_file_close(f);
		assert_int_equal(in_open(&in, path, 1), 0);
		assert_int_equal(tokdoc_reader_open(&r, in), 0);
		for (uint32_t i = 0; i < sizes[k]; i++)
			assert_int_equal(tokdoc_reader_next(r, &d), 1);
		assert_int_equal(tokdoc_reader_next(r, &d), 0);
		tokdoc_reader_close(r);
	}
	tokdoc_release(&d);
}

static void write_bytes(const struct buf *b)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(b->data, 1, b->len, f), b->len);
	assert_int_equal(fclose(f), 0);
}

/* Reads all eight shards: 0, or -1 as the first that failed did. */
static int read_all(struct key whose)
{
	struct frame_block b = FRAME_BLOCK_INIT;
	struct frame_stretch s;
	struct tokdoc_cells *c;
	int rc = tokdoc_cells_open(&c, path, whose);

	for (uint32_t k = 0; k < 8 && !rc; k++) {
		rc = tokdoc_cells_find(c, k, 8, &s);
		while (!rc && (rc = tokdoc_cells_next(c, &s, &b)) > 0)
			rc = 0;
	}
	tokdoc_cells_close(c);
	frame_block_release(&b);
	return rc;
}

static void damage_is_found(void **state)
{
	struct buf whole = BUF_INIT;
	struct frame_ends *f;
	uint64_t end;
	FILE *in;

	(void)state;
	write_cells(40, 8);
	assert_int_equal(read_all(owner), 0);
	assert_int_equal(read_all((struct key){ 7, 8 }), -1);
	assert_int_equal(err_code(), EXIT_FAILED);
	assert_int_equal(frame_ends_open(&f, path, TOKDOC_KIND), 0);
	end = frame_ends_blocks_end(f);
	frame_ends_close(f);
	in = fopen(path, "rb");
	assert_non_null(in);
	assert_int_equal(buf_reserve(&whole, 1 << 16), 0);
	whole.len = fread(whole.data, 1, 1 << 16, in);
	fclose(in);
	for (uint64_t at = end - 32 - 9 * TOKDOC_CELLS_ENTRY; at < end; at++) {
		whole.data[at] ^= 1;
		write_bytes(&whole);
		assert_int_equal(read_all(owner), -1);
		assert_int_equal(err_code(), EXIT_CORRUPT);
		whole.data[at] ^= 1;
	}
	write_bytes(&whole);
	assert_int_equal(read_all(owner), 0);
	buf_release(&whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_shard_finds_its_own),
		cmocka_unit_test(others_pass_over_them),
		cmocka_unit_test(damage_is_found),
	};

	return cmocka_run_group_tests(tests, make_all, remove_path);
}
