/* Unpacking on several threads gives what one thread gives; base/pieces.c through in.h. */
#include "base/pieces.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/rng.h"
#include "tests/unit/base/pack.h"

#define PIECE_MIN ((size_t)128 << 10)	/* as in base/pieces.c, where cuts begin */
#define PIECE_MAX ((size_t)4 << 20)

static char folder[] = "/tmp/test_pieces.XXXXXX";
static char *path;
static struct buf noise;	/* cannot be packed */

static const int filters[] = { ARCHIVE_FILTER_BZIP2, ARCHIVE_FILTER_ZSTD };

static int set_up(void **state)
{
	struct rng r;

	(void)state;
	if (!mkdtemp(folder))
		return -1;
	path = fs_join(folder, "file");
	rng_open(&r, 7, RNG_TEST, 0, 0, 0, 0, 0);
	if (!path || buf_reserve(&noise, (size_t)6 << 20))
		return -1;
	while (noise.len < (size_t)6 << 20) {
		const uint32_t v = rng_u32(&r);

		memcpy(noise.data + noise.len, &v, 4);
		noise.len += 4;
	}
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	free(path);
	buf_release(&noise);
	return fs_remove_tree(folder);
}

static void expect_all(const struct buf *packed, const struct buf *want)
{
	pack_put(path, packed->data, packed->len);
	for (unsigned threads = 1; threads <= 5; threads += 2)
		pack_expect(path, threads, want->data, want->len);
}

static void add(struct buf *packed, struct buf *want, int filter, const char *bytes, size_t n)
{
	pack_add(packed, filter, NULL, bytes, n);
	assert_int_equal(buf_add(want, bytes, n), 0);
}

/* Streams of many sizes: several to a piece, one to a piece, empty ones, one that unpacks to more than may wait. */
static void test_many_streams(void **state)
{
	static const size_t sizes[] = { 100000, 1, 0, 300000, 0, 0, 131000, 50, 200000, 90000, 131072, 7, 400000 };
	char *zeros = calloc(1, (size_t)9 << 20);

	(void)state;
	for (size_t f = 0; f < 2; f++) {
		struct buf packed = BUF_INIT, want = BUF_INIT;

		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			add(&packed, &want, filters[f], noise.data + i, sizes[i]);
			if (i == 4)
				add(&packed, &want, filters[f], zeros, (size_t)9 << 20);
		}
		expect_all(&packed, &want);
		buf_release(&packed);
		buf_release(&want);
	}
	free(zeros);
}

/* A stream too long to be held, between short ones: all that follows comes in sequence. */
static void test_long_stream(void **state)
{
	(void)state;
	for (size_t f = 0; f < 2; f++) {
		struct buf packed = BUF_INIT, want = BUF_INIT;

		for (int i = 0; i < 4; i++)
			add(&packed, &want, filters[f], noise.data, i == 2 ? PIECE_MAX + 100000 : 150000);
		expect_all(&packed, &want);
		buf_release(&packed);
		buf_release(&want);
	}
}

/* The reason without the place of damage, which is told as near as libarchive's blocks allow. */
static void keep_reason(char why[ERR_TEXT_MAX])
{
	char *near;

	snprintf(why, ERR_TEXT_MAX, "%s", err_text());
	near = strstr(why, "near byte");
	if (near)
		*near = 0;
}

/* The same fault whatever the threads. What comes before it is the same as far as it goes. */
static void test_faults(void **state)
{
	(void)state;
	for (size_t f = 0; f < 2; f++) {
		struct buf packed = BUF_INIT, got = BUF_INIT, alone = BUF_INIT;

		for (int i = 0; i < 6; i++)
			pack_add(&packed, filters[f], NULL, noise.data, 150000);
		for (size_t i = 1; i < 12; i++) {
			const size_t at = packed.len * i / 12;
			char why[ERR_TEXT_MAX], why_alone[ERR_TEXT_MAX];
			size_t both;

			packed.data[at] ^= 4;
			pack_put(path, packed.data, i % 3 ? packed.len : at + 1);
			buf_clear(&alone);
			buf_clear(&got);
			assert_int_equal(pack_read(path, 1, &alone), -1);
			assert_int_equal(err_code(), EXIT_CORRUPT);
			keep_reason(why_alone);
			assert_int_equal(pack_read(path, 3, &got), -1);
			assert_int_equal(err_code(), EXIT_CORRUPT);
			keep_reason(why);
			assert_string_equal(why, why_alone);
			both = got.len < alone.len ? got.len : alone.len;
			if (both)
				assert_memory_equal(got.data, alone.data, both);
			packed.data[at] ^= 4;
		}
		buf_release(&packed);
		buf_release(&got);
		buf_release(&alone);
	}
}

/* Closing in the midst of it, at once and after some reading. */
static void test_early_close(void **state)
{
	struct buf packed = BUF_INIT;
	char block[1000];

	(void)state;
	for (int i = 0; i < 8; i++)
		pack_zstd(&packed, noise.data, 400000);
	pack_put(path, packed.data, packed.len);
	for (int reads = 0; reads < 500; reads = reads * 3 + 1) {
		struct in *in;

		assert_int_equal(in_open(&in, path, 3), 0);
		for (int i = 0; i < reads; i++)
			assert_int_equal(in_read(in, block, sizeof(block)), sizeof(block));
		in_close(in);
	}
	buf_release(&packed);
}

static void test_progress(void **state)
{
	struct buf packed = BUF_INIT;
	char block[5000];
	uint64_t before = 0;
	struct in *in;

	(void)state;
	for (int i = 0; i < 5; i++)
		pack_zstd(&packed, noise.data, 200000);
	pack_put(path, packed.data, packed.len);
	assert_int_equal(in_open(&in, path, 2), 0);
	while (in_read(in, block, sizeof(block)) > 0) {
		assert_true(in_packed_offset(in) >= before && in_packed_offset(in) <= packed.len);
		before = in_packed_offset(in);
	}
	assert_int_equal(in_packed_offset(in), packed.len);
	in_close(in);
	buf_release(&packed);
}

/* --- a mark inside a stream ------------------------------------------------------------ */

/* Bits, most significant first. */
struct bits {
	struct buf *b;
	unsigned filled;	/* of the last byte */
};

static void put_bits(struct bits *w, uint64_t value, unsigned n)
{
	while (n--) {
		if (w->filled % 8 == 0)
			assert_int_equal(buf_add_byte(w->b, 0), 0);
		if (value >> n & 1)
			w->b->data[w->b->len - 1] |= (char)(0x80 >> w->filled % 8);
		w->filled++;
	}
}

/* bzip2's CRC of the one byte 'a': polynomial 04c11db7, most significant bit first. */
static uint32_t crc_of_a(void)
{
	uint32_t crc = 0xffffffffu ^ (uint32_t)'a' << 24;

	for (int i = 0; i < 8; i++)
		crc = crc & 0x80000000u ? crc << 1 ^ 0x04c11db7u : crc << 1;
	return ~crc;
}

/*
 * A stream that holds "a", and among the numbers of its Huffman tables (of
 * which it has many more than it needs) the ten bytes a stream begins with, on a
 * byte's border.
 */
static void add_marked_stream(struct buf *packed, size_t *mark)
{
	static const unsigned char begin[] = "BZh9\x31\x41\x59\x26\x53\x59";
	struct bits w = { packed, 0 };
	unsigned selectors = 5 + 800 + 1;	/* each ends with a 0 bit; 5 bring us to a border, 1 comes after the mark */

	for (size_t i = 0; i < 10; i++)
		selectors += 8 - (unsigned)__builtin_popcount(begin[i]);
	assert_int_equal(buf_add(packed, "BZh9", 4), 0);
	put_bits(&w, 0x314159265359, 48);
	put_bits(&w, crc_of_a(), 32);
	put_bits(&w, 0, 1);			/* not randomised */
	put_bits(&w, 0, 24);			/* where the text begins in the sorted block */
	put_bits(&w, 0x8000 >> ('a' / 16), 16);	/* bytes that occur: which sixteens, which of them */
	put_bits(&w, 0x8000 >> ('a' % 16), 16);
	put_bits(&w, 6, 3);			/* tables */
	put_bits(&w, selectors, 15);
	assert_int_equal(w.filled % 8, 3);
	for (unsigned i = 0; i < 5 + 800; i++)
		put_bits(&w, 0, 1);
	*mark = packed->len;
	for (size_t i = 0; i < 10; i++)
		put_bits(&w, begin[i], 8);
	put_bits(&w, 0, 1);
	for (int t = 0; t < 6; t++) {
		put_bits(&w, 2, 5);		/* three codes of two bits */
		put_bits(&w, 0, 3);
	}
	put_bits(&w, 0, 2);			/* one of the first byte */
	put_bits(&w, 2, 2);			/* end */
	put_bits(&w, 0x177245385090, 48);
	put_bits(&w, crc_of_a(), 32);
}

static void test_false_mark(void **state)
{
	struct buf packed = BUF_INIT, want = BUF_INIT;
	char *zeros = calloc(1, 300000);
	size_t mark;

	(void)state;
	add_marked_stream(&packed, &mark);
	pack_put(path, packed.data, packed.len);
	pack_expect(path, 1, "a", 1);

	/* Empty streams bring the mark to where a cut is looked for, and its stream before that. */
	buf_clear(&packed);
	add(&packed, &want, ARCHIVE_FILTER_BZIP2, zeros, 300000);
	while (packed.len + 110 < PIECE_MIN)
		add(&packed, &want, ARCHIVE_FILTER_BZIP2, "", 0);
	add_marked_stream(&packed, &mark);
	assert_true(mark >= PIECE_MIN);
	assert_int_equal(buf_adds(&want, "a"), 0);
	for (int i = 0; i < 4; i++)
		add(&packed, &want, ARCHIVE_FILTER_BZIP2, noise.data, 150000);
	expect_all(&packed, &want);
	free(zeros);
	buf_release(&packed);
	buf_release(&want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many_streams), cmocka_unit_test(test_long_stream), cmocka_unit_test(test_faults),
		cmocka_unit_test(test_early_close), cmocka_unit_test(test_progress), cmocka_unit_test(test_false_mark),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
