/*
 * pack.h - packed data for tests, made in memory, and their reading back.
 */
#ifndef TESTS_UNIT_BASE_PACK_H
#define TESTS_UNIT_BASE_PACK_H

#include "base/buf.h"
#include "base/err.h"
#include "base/in.h"

#include <archive.h>
#include <archive_entry.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include <zstd.h>

static const struct pack_kind {
	const char *name;
	int filter;
} pack_kinds[] = {
	{ "gzip", ARCHIVE_FILTER_GZIP }, { "bzip2", ARCHIVE_FILTER_BZIP2 }, { "xz", ARCHIVE_FILTER_XZ },
	{ "zstd", ARCHIVE_FILTER_ZSTD }, { "lz4", ARCHIVE_FILTER_LZ4 },
};
#define PACK_KINDS (sizeof(pack_kinds) / sizeof(pack_kinds[0]))

static inline la_ssize_t pack_write(struct archive *a, void *ctx, const void *bytes, size_t n)
{
	(void)a;
	return buf_add(ctx, bytes, n) ? -1 : (la_ssize_t)n;
}

/* zstd with a checksum, which libarchive does not ask for. */
static inline void pack_zstd(struct buf *b, const void *bytes, size_t n)
{
	ZSTD_CCtx *c = ZSTD_createCCtx();
	size_t len;

	ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
	assert_int_equal(buf_reserve(b, ZSTD_compressBound(n)), 0);
	len = ZSTD_compress2(c, b->data + b->len, ZSTD_compressBound(n), bytes, n);
	assert_false(ZSTD_isError(len));
	b->len += len;
	ZSTD_freeCCtx(c);
}

/* Adds a stream of BYTES to B. OPTIONS as archive_write_set_options has them, or NULL. */
static inline void pack_add(struct buf *b, int filter, const char *options, const void *bytes, size_t n)
{
	struct archive *a;
	struct archive_entry *e;

	if (filter == ARCHIVE_FILTER_ZSTD) {
		pack_zstd(b, bytes, n);
		return;
	}
	if (filter == ARCHIVE_FILTER_LZ4 && !n) {	/* which libarchive 3.6 crashes of */
		assert_int_equal(buf_add(b, "\x04\x22\x4d\x18\x64\x40\xa7\0\0\0\0\x05\x5d\xcc\x02", 15), 0);
		return;
	}
	a = archive_write_new();
	e = archive_entry_new();
	assert_int_equal(archive_write_add_filter(a, filter), ARCHIVE_OK);
	assert_int_equal(archive_write_set_format_raw(a), ARCHIVE_OK);
	assert_int_equal(archive_write_set_bytes_in_last_block(a, 1), ARCHIVE_OK);
	if (options)
		assert_int_equal(archive_write_set_options(a, options), ARCHIVE_OK);
	archive_entry_set_filetype(e, AE_IFREG);
	assert_int_equal(archive_write_open(a, b, NULL, pack_write, NULL), ARCHIVE_OK);
	assert_int_equal(archive_write_header(a, e), ARCHIVE_OK);
	assert_int_equal(archive_write_data(a, bytes, n), n);
	assert_int_equal(archive_write_close(a), ARCHIVE_OK);
	archive_entry_free(e);
	archive_write_free(a);
}

static inline void pack_put(const char *path, const void *bytes, size_t n)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

/* Reads all of a file, added to B: 0, or -1 with the reason set. */
static inline int pack_read(const char *path, unsigned threads, struct buf *b)
{
	struct in *in;
	ssize_t n = in_open(&in, path, threads) ? -1 : 1;

	while (n > 0) {
		assert_int_equal(buf_reserve(b, 10000), 0);
		n = in_read(in, b->data + b->len, 10000);
		if (n > 0)
			b->len += (size_t)n;
	}
	in_close(in);
	return (int)n;
}

static inline void pack_expect(const char *path, unsigned threads, const void *bytes, size_t n)
{
	struct buf got = BUF_INIT;

	if (pack_read(path, threads, &got))
		fail_msg("%u threads: %s", threads, err_text());
	assert_int_equal(got.len, n);
	if (n)
		assert_memory_equal(got.data, bytes, n);
	buf_release(&got);
}

/* The file is corrupt, and the reason names it and holds WHAT. */
static inline void pack_expect_corrupt(const char *path, unsigned threads, const char *what)
{
	struct buf got = BUF_INIT;

	if (!pack_read(path, threads, &got))
		fail_msg("%u threads: no fault found", threads);
	if (err_code() != EXIT_CORRUPT || !strstr(err_text(), path) || !strstr(err_text(), what))
		fail_msg("status %d, '%s' lacks '%s'", err_code(), err_text(), what);
	buf_release(&got);
}

#endif
