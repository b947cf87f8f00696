/* Blocks by their place: found good, and refused where no block is. */
#include "base/frame_stretch.h"
#include "tests/unit/base/frames.h"

static char path[] = "/tmp/test_frame_stretch.XXXXXX";
#define N (sizeof(vector_pieces) / sizeof(vector_pieces[0]))
/* Offsets of the test vector's blocks, and of its index. */
static const uint64_t places[N + 1] = { 0x2f, 0x5c, 0x8e, 0xb6 };

static int make_path(void **state)
{
	const int fd = mkstemp(path);

	(void)state;
	return fd < 0 || close(fd) ? -1 : 0;
}

static int remove_path(void **state)
{
	(void)state;
	return unlink(path);
}

static struct frame_ends *open_vector(void)
{
	struct frame_ends *f;

	frame_make_file(path, vector_pieces, N);
	assert_int_equal(frame_ends_open(&f, path, "TEST"), 0);
	assert_string_equal(frame_ends_name(f), path);
	return f;
}

static void runs_of_blocks(void **state)
{
	struct frame_block b = FRAME_BLOCK_INIT;
	struct frame_ends *f = open_vector();

	(void)state;
	assert_int_equal(frame_ends_blocks_end(f), places[N]);
	for (size_t first = 0; first <= N; first++) {
		for (size_t end = first; end <= N; end++) {
			struct frame_stretch s = { .at = places[first], .end = places[end] };

			for (size_t k = first; k < end; k++) {
				assert_int_equal(frame_stretch_next(f, &s, &b), 1);
				assert_int_equal(b.type, vector_pieces[k].type);
				assert_int_equal(b.records, vector_pieces[k].records);
				assert_int_equal(b.raw.len, vector_pieces[k].len);
				assert_memory_equal(b.raw.data, vector_pieces[k].raw, b.raw.len);
			}
			assert_int_equal(frame_stretch_next(f, &s, &b), 0);
		}
	}
	frame_block_release(&b);
	frame_ends_close(f);
}

/* Whatever is no run of blocks is corrupt, and read past by nobody. */
static void other_places(void **state)
{
	static const uint64_t wrong[][2] = { { 0x2f, 0x5b }, { 0x2f, 0x5d }, { 0x30, 0x5c }, { 0, 0x2f },
					     { 0x5c, 0x2f }, { 0x8e, 0xb7 }, { 0xb6, UINT64_MAX }, { UINT64_MAX, 3 } };
	struct frame_block b = FRAME_BLOCK_INIT;
	struct frame_ends *f = open_vector();
	unsigned char bytes[8];

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct frame_stretch s = { .at = wrong[i][0], .end = wrong[i][1] };
		int rc;

		while ((rc = frame_stretch_next(f, &s, &b)) > 0)
			continue;
		assert_int_equal(rc, -1);
		assert_int_equal(err_code(), EXIT_CORRUPT);
	}
	assert_int_equal(frame_ends_read(f, places[N] - 8, bytes, 8), 0);
	assert_int_equal(frame_ends_read(f, places[N] - 7, bytes, 8), -1);
	assert_int_equal(frame_ends_read(f, UINT64_MAX, bytes, 8), -1);
	frame_block_release(&b);
	frame_ends_close(f);
}

/* Any bit of the blocks: what is read says so. Any cut: it is not opened. */
static void damage(void **state)
{
	struct buf whole = BUF_INIT;
	struct frame_block b = FRAME_BLOCK_INIT;
	struct frame_ends *f = open_vector();

	(void)state;
	frame_ends_close(f);
	read_file(path, &whole);
	for (size_t at = places[0]; at < places[N]; at++) {
		struct frame_stretch s = { .at = places[0], .end = places[N] };
		struct memory_file m;
		int rc;

		whole.data[at] ^= 4;
		memory_file_make(&m, whole.data, whole.len);
		assert_int_equal(frame_ends_open(&f, m.path, "TEST"), 0);
		while ((rc = frame_stretch_next(f, &s, &b)) > 0)
			continue;
		assert_int_equal(rc, -1);
		assert_int_equal(err_code(), EXIT_CORRUPT);
		frame_ends_close(f);
		memory_file_release(&m);
		whole.data[at] ^= 4;
	}
	for (size_t n = 0; n < whole.len; n++) {
		struct memory_file m;

		memory_file_make(&m, whole.data, n);
		assert_int_equal(frame_ends_open(&f, m.path, "TEST"), -1);
		assert_int_equal(err_code(), EXIT_CORRUPT);
		memory_file_release(&m);
	}
	assert_int_equal(frame_ends_open(&f, path, "TOKD"), -1);
	buf_release(&whole);
	frame_block_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_of_blocks), cmocka_unit_test(other_places), cmocka_unit_test(damage),
	};

	return cmocka_run_group_tests(tests, make_path, remove_path);
}
