/* Frames to test with: made in memory files, edited, signed anew. */
#ifndef TESTS_FRAMES_H
#define TESTS_FRAMES_H

#include "base/err.h"
#include "base/file_view.h"
#include "base/frame.h"
#include "base/frame_impl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

/* A file in memory that has a path. */
struct memory_file {
	int fd;
	char path[64];
};

static inline void memory_file_make(struct memory_file *m, const void *bytes, size_t n)
{
	m->fd = memfd_create("frame", MFD_CLOEXEC);
	assert_true(m->fd >= 0);
	snprintf(m->path, sizeof(m->path), "/proc/self/fd/%d", m->fd);
	assert_int_equal(write(m->fd, bytes, n), n);
}

static inline void memory_file_release(struct memory_file *m)
{
	close(m->fd);
}

/* One block to write. */
struct piece {
	unsigned type;
	uint32_t records;
	const char *raw;
	size_t len;
	int level;		/* -1: PACKED as given */
	const char *packed;
	size_t packed_len;
};

/* 64 times 'x' as one zstd frame that holds one block of repeated bytes: no compressor's choice is in it. */
#define SIXTY_FOUR_X "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
#define SIXTY_FOUR_X_PACKED "\x28\xB5\x2F\xFD\x20\x40\x03\x02\x00x"

/* The frame of shards/FORMAT.md's test vector. */
static const struct piece vector_pieces[] = {
	{ 0, 2, "hello", 5, 0, NULL, 0 },
	{ 0, 64, SIXTY_FOUR_X, 64, -1, SIXTY_FOUR_X_PACKED, 10 },
	{ 7, 1, "", 0, 1, NULL, 0 },
};

/* Writes a frame of kind TEST to PATH. */
static inline void frame_make_file(const char *path, const struct piece *p, size_t n)
{
	struct buf packed = BUF_INIT;
	struct frame_writer *w;
	struct out *o;

	assert_int_equal(out_open(&o, path), 0);
	assert_int_equal(frame_create(&w, o, "TEST", "{\"a\":1}", 7), 0);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(frame_pack(p[i].raw, p[i].len, p[i].level > 0 ? p[i].level : 0, &packed), 0);
		if (p[i].level < 0)
			assert_int_equal(buf_add(&packed, p[i].packed, p[i].packed_len), 0);
		assert_int_equal(frame_add(w, p[i].type, p[i].records, p[i].raw, p[i].len, &packed), 0);
	}
	assert_int_equal(frame_finish(w, "{\"b\":2}", 7), 0);
	assert_int_equal(out_commit(o), 0);
	buf_release(&packed);
}

static inline void read_file(const char *path, struct buf *b)
{
	struct in *in;
	ssize_t n;

	assert_int_equal(in_open(&in, path, 1), 0);
	buf_clear(b);
	do {
		assert_int_equal(buf_reserve(b, 4096), 0);
		n = in_read(in, b->data + b->len, 4096);
		assert_true(n >= 0);
		b->len += (size_t)n;
	} while (n);
	in_close(in);
}

/* Reads all of it in sequence: the number of blocks, or -1 with the reason set. */
static inline int frame_walk(const char *path)
{
	struct frame_block b = FRAME_BLOCK_INIT;
	struct frame_reader *r;
	struct in *in;
	int rc, blocks = 0;

	assert_int_equal(in_open(&in, path, 1), 0);
	if (frame_open(&r, in, "TEST"))
		return -1;
	while ((rc = frame_next(r, &b)) > 0)
		blocks++;
	if (rc)
		assert_int_equal(frame_next(r, &b), -1);	/* and says so again */
	frame_block_release(&b);
	frame_close(r);
	return rc ? -1 : blocks;
}

/* The same by record; what is read and what is mapped fare alike. */
static inline int frame_walk_access(const char *path, unsigned access)
{
	struct frame_block b = FRAME_BLOCK_INIT;
	struct frame_span s = FRAME_SPAN_INIT;
	struct frame_reader *r;
	int blocks = 0;

	if (frame_open_access(&r, path, "TEST", access))
		return -1;
	for (; blocks < (int)frame_blocks(r); blocks++) {
		const int rc = frame_read(r, (uint64_t)blocks, &b);

		assert_int_equal(frame_read_span(r, &s, (uint64_t)blocks, UINT64_MAX, &b), rc);
		if (rc) {
			blocks = -1;
			break;
		}
	}
	frame_span_release(&s);
	frame_block_release(&b);
	frame_close(r);
	return blocks;
}

static inline int frame_walk_file(const char *path)
{
	const int mapped = frame_walk_access(path, FILE_VIEW_MAPPED | FILE_VIEW_SCATTERED);
	struct err why;
	int blocks;

	err_get(&why);
	blocks = frame_walk_access(path, 0);
	assert_int_equal(mapped, blocks);
	if (blocks < 0)
		assert_string_equal(why.text, err_text());
	assert_int_equal(frame_walk_access(path, FRAME_SPARING), blocks);
	if (blocks < 0)
		assert_string_equal(why.text, err_text());
	return blocks;
}

/*
 * Makes every checksum of an edited frame right again, so that only what it
 * says can be wrong: heads, blocks (found by the index's offsets), index, trailer,
 * file. Leaves the content digest alone.
 */
static inline void frame_sign(struct buf *f)
{
	unsigned char *p = (unsigned char *)f->data, *trailer = p + f->len - FRAME_TRAILER, *index, *entry;
	const size_t header_len = frame_get32(p + 16);
	XXH3_state_t *file = XXH3_createState();

	frame_put64(p + 24, XXH3_64bits(p, 24));
	frame_put64(p + FRAME_PRELUDE + header_len, XXH3_64bits(p + FRAME_PRELUDE, header_len));
	index = p + frame_get64(trailer + 40);
	entry = index + FRAME_INDEX_HEAD;
	for (unsigned char *block = p + FRAME_PRELUDE + header_len + FRAME_CHECKSUM; block < index;
	     entry += FRAME_ENTRY) {
		const size_t n = (size_t)(frame_get64(block + 16) < f->len ? frame_get64(block + 16) : 0);

		frame_put32(block + 28, (uint32_t)XXH3_64bits(block, 28));
		frame_put64(block + 32, frame_block_checksum(block, block + FRAME_BLOCK_HEAD, n));
		frame_put64(entry + 24, frame_get64(block + 32));
		block += FRAME_BLOCK_HEAD + n;
	}
	frame_put64(trailer - FRAME_CHECKSUM, XXH3_64bits(index, (size_t)(trailer - index) - FRAME_CHECKSUM));
	XXH3_64bits_reset(file);
	XXH3_64bits_update(file, p, (size_t)(trailer - p));
	frame_put64(trailer + 72, frame_trailer_checksum(trailer, file));
	frame_put64(trailer + 80, XXH3_64bits(trailer, 80));
	XXH3_freeState(file);
}

#endif
