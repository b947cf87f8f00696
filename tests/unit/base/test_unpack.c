/* What the formats allow and libarchive has its own mind about; base/unpack.c, gzip_sum.c and lz4_frames.c through in.h. */
#include "base/unpack.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/gzip_sum.h"
#include "base/rng.h"
#include "tests/unit/base/pack.h"

#include <xxhash.h>

static char folder[] = "/tmp/test_unpack.XXXXXX";
static char *path;

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	path = fs_join(folder, "file");
	return path ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	free(path);
	return fs_remove_tree(folder);
}

static void test_packing_of(void **state)
{
	bool more;

	(void)state;
	assert_int_equal(packing_of((const unsigned char *)"", 0, &more), PACKING_NONE);
	assert_true(more);
	assert_int_equal(packing_of((const unsigned char *)"a", 1, &more), PACKING_NONE);
	assert_false(more);
	assert_int_equal(packing_of((const unsigned char *)"\x1f\x8b", 2, &more), PACKING_GZIP);
	assert_true(more);
	assert_int_equal(packing_of((const unsigned char *)"BZh0\x31\x41\x59\x26\x53\x59", 10, &more), PACKING_NONE);
	assert_int_equal(packing_of((const unsigned char *)"BZh5\x31\x41\x59\x26\x53\x59", 10, &more), PACKING_BZIP2);
	assert_int_equal(packing_of((const unsigned char *)"\x5f\x2a\x4d\x18", 4, &more), PACKING_ZSTD);
	assert_int_equal(packing_of((const unsigned char *)"\x60\x2a\x4d\x18", 4, &more), PACKING_NONE);
	assert_string_equal(packing_name(PACKING_LZ4), "lz4");
}

/* --- gzip ---------------------------------------------------------------------------- */

static void add_le32(struct buf *b, uint32_t v)
{
	const unsigned char bytes[4] = { (unsigned char)v, (unsigned char)(v >> 8), (unsigned char)(v >> 16), (unsigned char)(v >> 24) };

	assert_int_equal(buf_add(b, bytes, 4), 0);
}

static void gzip_add(struct buf *b, const char *options, const void *bytes, size_t n)
{
	pack_add(b, ARCHIVE_FILTER_GZIP, options, bytes, n);
}

/* Members of all sizes, and empty ones in numbers. */
static void test_gzip_members(void **state)
{
	struct buf packed = BUF_INIT, want = BUF_INIT;
	struct rng r;
	char block[70000];

	(void)state;
	rng_open(&r, 5, RNG_TEST, 0, 0, 0, 0, 0);
	for (int i = 0; i < 200; i++) {
		const size_t n = i % 7 == 0 ? 65536 : i % 3 == 0 ? 0 : rng_below(&r, 3000);

		memset(block, 'a' + (int)rng_below(&r, 26), n);
		gzip_add(&packed, NULL, block, n);
		assert_int_equal(buf_add(&want, block, n), 0);
	}
	pack_put(path, packed.data, packed.len);
	pack_expect(path, 1, want.data, want.len);
	buf_release(&packed);
	buf_release(&want);
}

/* A stored gzip file full of headers and trailers: none of them may be taken for the outer one's, except by its sum. */
static void test_gzip_in_gzip(void **state)
{
	struct buf inner = BUF_INIT, outer = BUF_INIT, want = BUF_INIT;

	(void)state;
	for (int i = 0; i < 3000; i++)
		gzip_add(&inner, NULL, "some text", (size_t)(i % 10));
	for (int i = 0; i < 2000; i++)
		assert_int_equal(buf_add(&inner, "\0\0\0\0\0\0\0\0\x1f\x8b\x08\0", 12), 0);
	gzip_add(&outer, "compression-level=0", inner.data, inner.len);
	gzip_add(&outer, "compression-level=0", inner.data, inner.len);
	pack_put(path, outer.data, outer.len);
	assert_int_equal(buf_add(&want, inner.data, inner.len) || buf_add(&want, inner.data, inner.len), 0);
	pack_expect(path, 1, want.data, want.len);
	outer.data[outer.len - 1000] ^= 1;
	pack_put(path, outer.data, outer.len);
	pack_expect_corrupt(path, 1, "gzip data damaged");
	buf_release(&inner);
	buf_release(&outer);
	buf_release(&want);
}

/* A wrong sum or length is found in whichever member it stands. */
static void test_gzip_sums(void **state)
{
	struct buf packed = BUF_INIT;
	size_t ends[4];

	(void)state;
	for (int i = 0; i < 4; i++) {
		gzip_add(&packed, NULL, "text of a member", 16);
		ends[i] = packed.len;
	}
	for (int i = 0; i < 4; i++)
		for (size_t back = 1; back <= 8; back++) {
			packed.data[ends[i] - back] ^= 0x40;
			pack_put(path, packed.data, packed.len);
			pack_expect_corrupt(path, 1, "gzip data damaged");
			packed.data[ends[i] - back] ^= 0x40;
		}
	buf_release(&packed);
}

/* Members that begin with what the next ones hold, over the borders of the 64 KiB that libarchive gives at a time. */
static void test_gzip_prefixes(void **state)
{
	static const size_t sizes[] = { 131072, 65536, 65536, 0, 131073, 65535, 10, 196608, 65536, 0, 0 };
	struct buf packed = BUF_INIT, want = BUF_INIT;
	char *zeros = calloc(1, 200000);

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		gzip_add(&packed, NULL, zeros, sizes[i]);
		assert_int_equal(buf_add(&want, zeros, sizes[i]), 0);
		pack_put(path, packed.data, packed.len);
		pack_expect(path, 1, want.data, want.len);
	}
	free(zeros);
	buf_release(&packed);
	buf_release(&want);
}

/* The inflater may give all of a member before it has seen its end; behind that may come more, or nothing. */
static void test_gzip_late_end(void **state)
{
	unsigned char room[GZIP_LOOK_BACK + 200] = { 0 };
	struct buf packed = BUF_INIT;
	struct gzip_sum *g;
	size_t end;

	(void)state;
	gzip_add(&packed, NULL, "text", 4);
	end = packed.len;
	gzip_add(&packed, NULL, "", 0);
	assert_true(packed.len <= 200);
	memcpy(room + GZIP_LOOK_BACK, packed.data, packed.len);
	for (size_t seen = end - 9; seen <= end; seen++) {
		assert_int_equal(gzip_sum_new(&g), 0);
		assert_int_equal(gzip_sum_packed(g, room + GZIP_LOOK_BACK, packed.len, 0), 0);
		gzip_sum_unpacked(g, "text", 4, seen);
		gzip_sum_unpacked(g, "", 0, packed.len);
		assert_true(gzip_sum_fits(g, (const unsigned char *)packed.data + packed.len - GZIP_TRAILER));
		gzip_sum_free(g);
	}
	buf_release(&packed);
}

static void test_gzip_zeros(void **state)
{
	struct buf packed = BUF_INIT;

	(void)state;
	gzip_add(&packed, NULL, "text", 4);
	for (size_t n = 0; n < 200000; n = n * 3 + 1) {
		while (packed.len < 24 + n)
			assert_int_equal(buf_add_byte(&packed, 0), 0);
		pack_put(path, packed.data, packed.len);
		pack_expect(path, 1, "text", 4);
	}
	assert_int_equal(buf_add_byte(&packed, 1), 0);
	pack_put(path, packed.data, packed.len);
	pack_expect_corrupt(path, 1, "something else follows");
	gzip_add(&packed, NULL, "text", 4);
	pack_put(path, packed.data, packed.len);
	pack_expect_corrupt(path, 1, "something else follows");
	buf_release(&packed);
}

/* A second header whose name never ends. */
static void test_gzip_endless_header(void **state)
{
	struct buf packed = BUF_INIT;

	(void)state;
	gzip_add(&packed, NULL, "text", 4);
	assert_int_equal(buf_add(&packed, "\x1f\x8b\x08\x08\0\0\0\0\0\3", 10), 0);
	for (int i = 0; i < 200000; i++)
		assert_int_equal(buf_add_byte(&packed, 'n'), 0);
	pack_put(path, packed.data, packed.len);
	pack_expect_corrupt(path, 1, "gzip");
	buf_release(&packed);
}

/* --- zstd and xz ----------------------------------------------------------------------- */

/* As pzstd writes: a skippable frame before each frame. */
static void test_zstd_skippable(void **state)
{
	struct buf packed = BUF_INIT;

	(void)state;
	for (int i = 0; i < 3; i++) {
		add_le32(&packed, 0x184d2a50u + (uint32_t)i * 7);
		add_le32(&packed, 5);
		assert_int_equal(buf_add(&packed, "skip!", 5), 0);
		pack_zstd(&packed, "text ", 5);
	}
	pack_put(path, packed.data, packed.len);
	pack_expect(path, 1, "text text text ", 15);
	pack_expect(path, 2, "text text text ", 15);
	buf_release(&packed);
}

static void test_xz_padding(void **state)
{
	struct buf packed = BUF_INIT;

	(void)state;
	pack_add(&packed, ARCHIVE_FILTER_XZ, NULL, "text ", 5);
	assert_int_equal(buf_add(&packed, "\0\0\0\0", 4), 0);
	pack_add(&packed, ARCHIVE_FILTER_XZ, NULL, "text ", 5);
	pack_put(path, packed.data, packed.len);
	pack_expect(path, 1, "text text ", 10);
	assert_int_equal(buf_add(&packed, "\0\0", 2), 0);
	pack_put(path, packed.data, packed.len);
	pack_expect_corrupt(path, 1, "xz data");
	buf_release(&packed);
}

/* --- lz4 ------------------------------------------------------------------------------- */

#define LZ4_INDEPENDENT 0x60
#define LZ4_LINKED_BLOCKS 0x40
#define LZ4_CONTENT_SIZE 8
#define LZ4_DICTIONARY_ID 1

static void lz4_begin(struct buf *b, unsigned char flags)
{
	const unsigned char descriptor[14] = { flags, 0x40, 3 };
	const size_t n = 2 + (flags & LZ4_CONTENT_SIZE ? 8 : 0) + (flags & LZ4_DICTIONARY_ID ? 4 : 0);

	add_le32(b, 0x184d2204u);
	assert_int_equal(buf_add(b, descriptor, n), 0);
	assert_int_equal(buf_add_byte(b, (unsigned char)(XXH32(descriptor, n, 0) >> 8)), 0);
}

/* A block of one sequence of literals, as many as one token holds without more bytes. */
static void lz4_literals(struct buf *b, const char *text)
{
	const size_t n = strlen(text);

	assert_true(n < 15);
	add_le32(b, (uint32_t)n + 1);
	assert_int_equal(buf_add_byte(b, (unsigned char)(n << 4)) || buf_add(b, text, n), 0);
}

/* A block that repeats the last OFFSET bytes four times, then says "12345" as the format wants it. */
static void lz4_repeat(struct buf *b, unsigned char offset)
{
	const unsigned char block[] = { 0, offset, 0, 0x50, '1', '2', '3', '4', '5' };

	add_le32(b, sizeof(block));
	assert_int_equal(buf_add(b, block, sizeof(block)), 0);
}

static void test_lz4_linked(void **state)
{
	struct buf packed = BUF_INIT, got = BUF_INIT;

	(void)state;
	lz4_begin(&packed, LZ4_LINKED_BLOCKS);
	lz4_literals(&packed, "abcd");
	lz4_repeat(&packed, 4);
	add_le32(&packed, 0);
	pack_put(path, packed.data, packed.len);
	pack_expect(path, 1, "abcdabcd12345", 13);

	/* A third block would miss what stands before the second. */
	buf_clear(&packed);
	lz4_begin(&packed, LZ4_LINKED_BLOCKS);
	lz4_literals(&packed, "abcd");
	lz4_literals(&packed, "efgh");
	lz4_repeat(&packed, 8);
	add_le32(&packed, 0);
	pack_put(path, packed.data, packed.len);
	assert_int_equal(pack_read(path, 1, &got), -1);
	assert_int_equal(err_code(), EXIT_FAILED);
	assert_non_null(strstr(err_text(), "linked blocks"));

	/* Not so where they are not linked, nor in the next frame. */
	buf_clear(&packed);
	for (int i = 0; i < 2; i++) {
		lz4_begin(&packed, i ? LZ4_LINKED_BLOCKS : LZ4_INDEPENDENT);
		for (int k = 0; k < (i ? 2 : 5); k++)
			lz4_literals(&packed, "abcd");
		add_le32(&packed, 0);
	}
	pack_put(path, packed.data, packed.len);
	pack_expect(path, 1, "abcdabcdabcdabcdabcdabcdabcd", 28);
	buf_release(&packed);
	buf_release(&got);
}

/* Long linked blocks, as lz4 -BD writes them, are unpacked rightly; with sums of every kind. */
static void test_lz4_options(void **state)
{
	static const char *const options[] = {
		"block-dependence=1,block-size=4", "block-checksum=1,block-size=4", "!stream-checksum,block-checksum=1",
		"block-dependence=1,!stream-checksum,block-size=5",
	};
	struct buf packed = BUF_INIT, text = BUF_INIT;
	struct rng r;

	(void)state;
	rng_open(&r, 6, RNG_TEST, 0, 0, 0, 0, 0);
	while (text.len < 500000)
		assert_int_equal(buf_addf(&text, "word%u ", (unsigned)rng_below(&r, 900)), 0);
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		buf_clear(&packed);
		pack_add(&packed, ARCHIVE_FILTER_LZ4, options[i], text.data, text.len);
		assert_int_equal(!((unsigned char)packed.data[4] & 0x20), strstr(options[i], "dependence") != NULL);
		pack_put(path, packed.data, packed.len);
		pack_expect(path, 1, text.data, text.len);
	}
	buf_release(&packed);
	buf_release(&text);
}

/* Skippable and empty frames anywhere, the first place too. */
static void test_lz4_frames(void **state)
{
	struct buf packed = BUF_INIT;
	size_t whole;

	(void)state;
	for (int i = 0; i < 3; i++) {
		lz4_begin(&packed, LZ4_INDEPENDENT);
		add_le32(&packed, 0);
		lz4_begin(&packed, LZ4_INDEPENDENT | LZ4_CONTENT_SIZE);
		lz4_literals(&packed, "abc");
		add_le32(&packed, 0);
		add_le32(&packed, 0x184d2a51u);
		add_le32(&packed, 100000);
		for (int k = 0; k < 100000; k++)
			assert_int_equal(buf_add_byte(&packed, 4), 0);
	}
	lz4_begin(&packed, LZ4_INDEPENDENT);
	add_le32(&packed, 0);
	pack_put(path, packed.data, packed.len);
	pack_expect(path, 1, "abcabcabc", 9);
	for (size_t cut = packed.len - 1; cut > packed.len - 11; cut--) {
		pack_put(path, packed.data, cut);
		pack_expect_corrupt(path, 1, "lz4 data cut short");
	}
	whole = packed.len;
	for (size_t i = 0; i < 3; i++) {	/* skippable frames that are longer than what is left */
		static const uint32_t sizes[] = { 5, 100000, 0xfffffffcu };

		packed.len = whole;
		add_le32(&packed, 0x184d2a51u);
		add_le32(&packed, sizes[i]);
		add_le32(&packed, 0);
		pack_put(path, packed.data, packed.len);
		pack_expect_corrupt(path, 1, i < 2 ? "lz4 data cut short" : "lz4 data");
	}
	buf_release(&packed);
}

static void test_lz4_legacy(void **state)
{
	struct buf packed = BUF_INIT;

	(void)state;
	add_le32(&packed, 0x184c2102u);
	lz4_literals(&packed, "abc");
	lz4_literals(&packed, "def");
	lz4_literals(&packed, "ghi");
	pack_put(path, packed.data, packed.len);
	pack_expect(path, 1, "abcdefghi", 9);
	for (size_t cut = 2; cut < packed.len; cut++) {
		if (cut % 8 == 4)	/* a legacy frame has no end: cut between blocks it is whole */
			continue;
		pack_put(path, packed.data, cut);
		pack_expect_corrupt(path, 1, "lz4 data cut short");
	}
	lz4_begin(&packed, LZ4_INDEPENDENT);
	lz4_literals(&packed, "jkl");
	add_le32(&packed, 0);
	pack_put(path, packed.data, packed.len);
	pack_expect(path, 1, "abcdefghijkl", 12);
	buf_release(&packed);
}

static void test_lz4_dictionary(void **state)
{
	struct buf packed = BUF_INIT, got = BUF_INIT;

	(void)state;
	lz4_begin(&packed, LZ4_INDEPENDENT | LZ4_DICTIONARY_ID);
	lz4_literals(&packed, "abc");
	add_le32(&packed, 0);
	pack_put(path, packed.data, packed.len);
	assert_int_equal(pack_read(path, 1, &got), -1);
	assert_non_null(strstr(err_text(), "need a dictionary"));
	buf_release(&packed);
	buf_release(&got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packing_of), cmocka_unit_test(test_gzip_members), cmocka_unit_test(test_gzip_in_gzip),
		cmocka_unit_test(test_gzip_sums), cmocka_unit_test(test_gzip_prefixes),
		cmocka_unit_test(test_gzip_late_end), cmocka_unit_test(test_gzip_zeros), cmocka_unit_test(test_gzip_endless_header),
		cmocka_unit_test(test_zstd_skippable), cmocka_unit_test(test_xz_padding), cmocka_unit_test(test_lz4_linked),
		cmocka_unit_test(test_lz4_options), cmocka_unit_test(test_lz4_frames), cmocka_unit_test(test_lz4_legacy),
		cmocka_unit_test(test_lz4_dictionary),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
