/* Frames that are damaged, cut, or lie: each is found, and named with its place. */
#include "tests/unit/base/frames.h"

#include <sys/stat.h>

static char folder[] = "/tmp/bert-test-frame-XXXXXX";
static char path[64];
static struct buf good;		/* the test vector's frame */

static int make_frame(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/x.frame", folder);
	frame_make_file(path, vector_pieces, 3);
	read_file(path, &good);
	return 0;
}

static int remove_frame(void **state)
{
	(void)state;
	buf_release(&good);
	unlink(path);
	return rmdir(folder);
}

/* Places in the test vector. */
enum {
	HEADER = FRAME_PRELUDE,
	BLOCK_0 = HEADER + 7 + FRAME_CHECKSUM,
	BLOCK_1 = BLOCK_0 + FRAME_BLOCK_HEAD + 5,
	BLOCK_2 = BLOCK_1 + FRAME_BLOCK_HEAD + 10,
	INDEX = BLOCK_2 + FRAME_BLOCK_HEAD,
	ENTRY_0 = INDEX + FRAME_INDEX_HEAD,
	TOTALS = ENTRY_0 + 3 * FRAME_ENTRY,
	TRAILER = TOTALS + 7 + FRAME_CHECKSUM,
	END = TRAILER + FRAME_TRAILER,
};

static struct buf copy_good(void)
{
	struct buf b = BUF_INIT;

	assert_int_equal(good.len, END);
	assert_int_equal(buf_add(&b, good.data, good.len), 0);
	return b;
}

/* F must be refused as corrupt by both readers, WHAT standing in each reason (NULL: not looked at). Frees F. */
static void refused(struct buf f, const char *in_sequence, const char *by_record)
{
	struct memory_file m;

	memory_file_make(&m, f.data, f.len);
	assert_int_equal(frame_walk(m.path), -1);
	if (in_sequence && !strstr(err_text(), in_sequence))
		fail_msg("in sequence: '%s', not '%s'", err_text(), in_sequence);
	assert_int_equal(err_code(), EXIT_CORRUPT);
	assert_int_equal(frame_walk_file(m.path), -1);
	if (by_record && !strstr(err_text(), by_record))
		fail_msg("by record: '%s', not '%s'", err_text(), by_record);
	assert_int_equal(err_code(), EXIT_CORRUPT);
	memory_file_release(&m);
	buf_release(&f);
}

/* --- damage ------------------------------------------------------------------------ */

static void test_every_flip(void **state)
{
	(void)state;
	for (size_t bit = 0; bit < 8 * good.len; bit++) {
		struct buf f = copy_good();

		f.data[bit / 8] = (char)(f.data[bit / 8] ^ 1 << bit % 8);
		refused(f, NULL, NULL);
	}
}

static void test_every_cut(void **state)
{
	(void)state;
	for (size_t n = 1; n < good.len; n++) {
		struct buf f = copy_good();

		f.len = n;
		refused(f, "ends early (cut short?)", "ends early (cut short?)");
	}
	refused((struct buf)BUF_INIT, "is empty", "is empty");
}

static void test_bytes_after(void **state)
{
	struct buf f = copy_good();

	(void)state;
	assert_int_equal(buf_add_byte(&f, 0), 0);
	refused(f, "bytes after the end at byte 429", "no trailer");
	f = copy_good();
	assert_int_equal(buf_add(&f, good.data, good.len), 0);
	refused(f, "bytes after the end", "says 429 bytes, the file has 858");
}

static void flipped(size_t at, const char *in_sequence, const char *by_record)
{
	struct buf f = copy_good();

	f.data[at] = (char)(f.data[at] ^ 0x10);
	refused(f, in_sequence, by_record);
}

static void test_names_places(void **state)
{
	(void)state;
	flipped(9, "prelude at byte 0: checksum differs", "prelude at byte 0: checksum differs");
	flipped(HEADER + 1, "header at byte 32: checksum differs", "header at byte 32: checksum differs");
	flipped(BLOCK_0 + 8, "block 0 at byte 47: checksum of its head differs",
		"block 0 at byte 47: its head is not what the index says");
	flipped(BLOCK_0 + 41, "block 0 at byte 47: checksum differs", "block 0 at byte 47: checksum differs");
	flipped(BLOCK_1, "neither block nor index at byte 92", "block 1 at byte 92: its head");
	flipped(BLOCK_1 + 49, "block 1 at byte 92: checksum differs", "block 1 at byte 92: checksum differs");
	flipped(ENTRY_0 + FRAME_ENTRY, "index at byte 182: does not agree with block 1",
		"index at byte 182: checksum differs");
	flipped(TOTALS, "index at byte 182: checksum differs", "index at byte 182: checksum differs");
	flipped(TRAILER + 60, "trailer at byte 333: checksum differs", "trailer at byte 333: checksum differs");
	flipped(END - 1, "no trailer at byte 333", "no trailer");
}

/* --- not ours ------------------------------------------------------------------------- */

static void prelude_edited(size_t at, const char *bytes, size_t n, const char *reason)
{
	struct buf f = copy_good();

	memcpy(f.data + at, bytes, n);
	frame_put64((unsigned char *)f.data + 24, XXH3_64bits(f.data, 24));
	refused(f, reason, reason);
}

static void test_other_files(void **state)
{
	struct frame_reader *r;
	struct memory_file m;
	char kind[5];
	int fds[2];

	(void)state;
	prelude_edited(0, "\x89PNG\r\n\x1a\n", 8, "is no token document or shard");
	prelude_edited(0, "\x89" "BTF\n\x1a\n\0", 8, "line ends were converted");
	prelude_edited(8, "SHRD", 4, "is of kind SHRD, not TEST");
	prelude_edited(12, "\2\0", 2, "is of format version 2: this program reads version 1");
	prelude_edited(12, "\0\1\x12\x34", 4, "big-endian");
	prelude_edited(14, "\x34\x13", 2, "a field holds what no version 1 writes");
	prelude_edited(20, "\1", 1, "a field holds what no version 1 writes");
	prelude_edited(16, "\0\0\0\x10", 4, "a field holds what no version 1 writes");

	memory_file_make(&m, "text\n", 5);
	assert_int_equal(frame_kind(m.path, kind), -1);
	assert_int_equal(err_code(), EXIT_CORRUPT);
	memory_file_release(&m);
	assert_int_equal(frame_kind("/nonexistent/x", kind), -1);
	assert_int_equal(err_code(), EXIT_FAILED);
	assert_int_equal(frame_open_file(&r, "/tmp", "TEST"), -1);
	assert_non_null(strstr(err_text(), "not a regular file"));
	assert_int_equal(pipe(fds), 0);
	snprintf(m.path, sizeof(m.path), "/dev/fd/%d", fds[0]);
	assert_int_equal(frame_open_file(&r, m.path, "TEST"), -1);
	assert_non_null(strstr(err_text(), "not a regular file"));
	close(fds[0]);
	close(fds[1]);
}

/* --- lies: every checksum is right ------------------------------------------------------ */

static void lie64(size_t at, uint64_t v, const char *in_sequence, const char *by_record)
{
	struct buf f = copy_good();

	frame_put64((unsigned char *)f.data + at, v);
	frame_sign(&f);
	refused(f, in_sequence, by_record);
}

static void test_trailer_lies(void **state)
{
	(void)state;
	lie64(TRAILER + 8, 2, "says 2 blocks, there are 3", "says 2 blocks, there are 3");
	lie64(TRAILER + 16, 65, "says 65 records, there are 66", "says 65 records, there are 66");
	lie64(TRAILER + 24, 70, "says 70 raw bytes, there are 69", "says 70 raw bytes, there are 69");
	lie64(TRAILER + 32, 16, "says 16 packed bytes, there are 15", "says 16 packed bytes, there are 15");
	lie64(TRAILER + 48, END + 1, "is of another file", "says 430 bytes, the file has 429");
}

static void test_index_lies(void **state)
{
	(void)state;
	lie64(ENTRY_0, BLOCK_0 + 1, "does not agree with block 0", "entry of block 0 contradicts the others");
	lie64(ENTRY_0 + FRAME_ENTRY, BLOCK_1 - 1, "does not agree with block 1",
	      "block 0 at byte 47: its head is not what the index says");
	lie64(ENTRY_0 + FRAME_ENTRY, UINT64_MAX, "does not agree with block 1", "block 0 contradicts");
	lie64(ENTRY_0 + FRAME_ENTRY + 8, 3, "does not agree with block 1", "block 1 contradicts");
	lie64(ENTRY_0 + 2 * FRAME_ENTRY + 16, UINT64_MAX, "does not agree with block 2", "block 2 contradicts");
	lie64(ENTRY_0 + 32, 3, "does not agree with block 0", "block 1 contradicts");
	lie64(INDEX + 8, 2, "lists 2 blocks, there are 3", "size is not that of its entries");
	lie64(INDEX + 8, UINT64_MAX / FRAME_ENTRY + 2, "lists", "size is not that of its entries");
}

/* An index by itself right, of a file with a block of the same size but other contents. */
static void test_index_of_another_file(void **state)
{
	const struct piece other[] = { { 0, 2, "HELLO", 5, 0, NULL, 0 }, vector_pieces[1], vector_pieces[2] };
	struct buf f = copy_good(), g = BUF_INIT;
	XXH3_state_t *file = XXH3_createState();

	(void)state;
	frame_make_file(path, other, 3);
	read_file(path, &g);
	assert_int_equal(g.len, f.len);
	memcpy(f.data + INDEX, g.data + INDEX, TRAILER - INDEX);
	XXH3_64bits_reset(file);
	XXH3_64bits_update(file, f.data, TRAILER);
	frame_put64((unsigned char *)f.data + TRAILER + 72,
		    frame_trailer_checksum((unsigned char *)f.data + TRAILER, file));
	frame_put64((unsigned char *)f.data + TRAILER + 80, XXH3_64bits(f.data + TRAILER, 80));
	XXH3_freeState(file);
	refused(f, "index at byte 182: does not agree with block 0",
		"block 0 at byte 47: its head is not what the index says");
	buf_release(&g);
}

/* Replaces contents or drops records, as far as the frame can know of it. */
static void test_content_lies(void **state)
{
	struct buf f = copy_good();
	struct memory_file m;

	(void)state;
	f.data[BLOCK_0 + FRAME_BLOCK_HEAD] = 'j';
	frame_sign(&f);
	memory_file_make(&m, f.data, f.len);
	assert_int_equal(frame_walk(m.path), -1);
	assert_non_null(strstr(err_text(), "trailer at byte 333: content digest differs"));
	assert_int_equal(err_code(), EXIT_CORRUPT);
	assert_int_equal(frame_walk_file(m.path), 3);	/* only reading in sequence sees all contents */
	memory_file_release(&m);
	buf_release(&f);

	f = copy_good();
	frame_put32((unsigned char *)f.data + BLOCK_0 + 24, 1);
	frame_sign(&f);
	refused(f, "does not agree with block 0", "its head is not what the index says");
}

static void test_head_lies(void **state)
{
	static const struct {
		size_t at;
		unsigned char byte;
	} edits[] = {
		{ BLOCK_0 + 5, 1 },	/* zstd that does not shrink */
		{ BLOCK_1 + 5, 0 },	/* raw that does */
		{ BLOCK_1 + 5, 2 },	/* no such codec */
		{ BLOCK_2 + 6, 1 },	/* reserved */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(edits) / sizeof(edits[0]); i++) {
		struct buf f = copy_good();

		f.data[edits[i].at] = (char)edits[i].byte;
		frame_sign(&f);
		refused(f, "its head contradicts itself", "its head is not what the index says");
	}
}

/* --- numbers too large --------------------------------------------------------------------- */

/* A frame with one block of RAW_BYTES, so its head says, and PACKED. */
static struct buf frame_of_block(uint64_t raw_bytes, uint64_t packed_bytes, const void *packed, size_t n)
{
	struct frame_entry e = { .raw_bytes = raw_bytes, .packed_bytes = packed_bytes, .records = 1 };
	unsigned char head[FRAME_BLOCK_HEAD], index_head[FRAME_INDEX_HEAD], entry[FRAME_ENTRY],
		trailer[FRAME_TRAILER] = { 0 };
	const struct frame_trailer t = { 1,
					 1,
					 raw_bytes,
					 packed_bytes,
					 0,
					 0,
					 BLOCK_0 + sizeof(head) + n + sizeof(index_head) + sizeof(entry) + 8 +
						 sizeof(trailer) };
	XXH3_state_t *file = XXH3_createState();
	struct buf f = BUF_INIT;

	e.offset = BLOCK_0;
	frame_put_block_head(head, &e);
	frame_put_index_head(index_head, 0, 1);
	frame_put_entry(entry, &e);
	XXH3_64bits_reset(file);
	frame_put_trailer(trailer, &t, BLOCK_0 + sizeof(head) + n, file);
	XXH3_freeState(file);
	assert_int_equal(buf_add(&f, good.data, BLOCK_0), 0);
	assert_int_equal(buf_add(&f, head, sizeof(head)), 0);
	assert_int_equal(buf_add(&f, packed, n), 0);
	assert_int_equal(buf_add(&f, index_head, sizeof(index_head)), 0);
	assert_int_equal(buf_add(&f, entry, sizeof(entry)), 0);
	assert_int_equal(buf_add(&f, "12345678", 8), 0);
	assert_int_equal(buf_add(&f, trailer, sizeof(trailer)), 0);
	if (packed_bytes == n)
		frame_sign(&f);
	return f;
}

/* F is refused, and its block's buffers stay below LIMIT. */
static void refused_within(struct buf f, const char *reason, size_t limit)
{
	struct frame_block b = FRAME_BLOCK_INIT;
	struct frame_reader *r;
	struct memory_file m;
	struct in *in;

	memory_file_make(&m, f.data, f.len);
	assert_int_equal(in_open(&in, m.path, 1), 0);
	assert_int_equal(frame_open(&r, in, "TEST"), 0);
	assert_int_equal(frame_next(r, &b), -1);
	if (!strstr(err_text(), reason))
		fail_msg("'%s', not '%s'", err_text(), reason);
	assert_true(b.raw.cap + b.packed.cap < limit);
	frame_block_release(&b);
	frame_close(r);
	memory_file_release(&m);
	buf_release(&f);
}

static void test_packed_bomb(void **state)
{
	(void)state;
	refused_within(frame_of_block((uint64_t)1 << 40, (uint64_t)1 << 40, "x", 1), "ends early", 4 << 20);
	refused_within(frame_of_block((uint64_t)1 << 60, (uint64_t)1 << 50, "x", 1), "ends early", 4 << 20);
	refused_within(frame_of_block(UINT64_MAX, UINT64_MAX - 64, "x", 1), "sizes pass 2^64", 4 << 20);
}

static void test_raw_bomb(void **state)
{
	/* A zstd frame that says it holds 2^50 bytes, with one block of 64 times 'x'; its window would be as much. */
	static const unsigned char says_much[] = { 0x28, 0xB5, 0x2F, 0xFD, 0xE0, 0,    0,    0,	 0,
						   0,	 0,    4,    0,	   0x03, 0x02, 0x00, 'x' };
	/* The same with a window of 64 KiB. */
	static const unsigned char small_window[] = { 0x28, 0xB5, 0x2F, 0xFD, 0xC0, 0x30, 0,	0,    0,
						      0,    0,	  0,	4,    0,    0x03, 0x02, 0x00, 'x' };

	(void)state;
	refused_within(frame_of_block((uint64_t)1 << 50, sizeof(says_much), says_much, sizeof(says_much)),
		       "cannot decompress", 1 << 20);
	refused_within(frame_of_block((uint64_t)1 << 50, sizeof(small_window), small_window, sizeof(small_window)),
		       "cannot decompress", 1 << 20);
	refused(frame_of_block((uint64_t)1 << 50, sizeof(small_window), small_window, sizeof(small_window)),
		"block 0 at byte 47: cannot decompress", "block 0 at byte 47: cannot decompress");
}

static void test_wrong_zstd(void **state)
{
	char longer[21];

	(void)state;
	refused(frame_of_block(63, 10, SIXTY_FOUR_X_PACKED, 10), "its size is not the one its head says",
		"its size is not");
	refused(frame_of_block(64, 9, SIXTY_FOUR_X_PACKED, 9), "cannot decompress", "cannot decompress");
	memcpy(longer, SIXTY_FOUR_X_PACKED, 10);
	memcpy(longer + 10, SIXTY_FOUR_X_PACKED, 10);
	refused(frame_of_block(64, 20, longer, 20), "its size is not the one its head says", "its size is not");
	refused(frame_of_block(128, 20, longer, 20), "its size is not the one its head says", "its size is not");
	refused(frame_of_block(64, 10, "0123456789", 10), "cannot decompress", "cannot decompress");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_flip),
		cmocka_unit_test(test_every_cut),
		cmocka_unit_test(test_bytes_after),
		cmocka_unit_test(test_names_places),
		cmocka_unit_test(test_other_files),
		cmocka_unit_test(test_trailer_lies),
		cmocka_unit_test(test_index_lies),
		cmocka_unit_test(test_index_of_another_file),
		cmocka_unit_test(test_content_lies),
		cmocka_unit_test(test_head_lies),
		cmocka_unit_test(test_packed_bomb),
		cmocka_unit_test(test_raw_bomb),
		cmocka_unit_test(test_wrong_zstd),
	};

	return cmocka_run_group_tests(tests, make_frame, remove_frame);
}
