#include "base/unpack.h"

#include "base/err.h"
#include "base/gzip_sum.h"
#include "base/lz4_frames.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES ((size_t)64 << 10)
#define LOOK_BACK 32	/* packed bytes kept before the block; libarchive's gzip header wants to see 10, behind a trailer of 8 */

static const struct {
	enum packing packing;
	const char *name;
	int filter;		/* libarchive's number */
	const char *magic;
	size_t len;
	size_t known;		/* a file that ends after so many bytes of the magic is a cut one, not a text */
} kinds[] = {
	{ PACKING_GZIP, "gzip", ARCHIVE_FILTER_GZIP, "\x1f\x8b\x08", 3, 2 },
	{ PACKING_BZIP2, "bzip2", ARCHIVE_FILTER_BZIP2, "BZh?\x31\x41\x59\x26\x53\x59", 10, 5 },	/* a block */
	{ PACKING_BZIP2, "bzip2", ARCHIVE_FILTER_BZIP2, "BZh?\x17\x72\x45\x38\x50\x90", 10, 5 },	/* nothing */
	{ PACKING_XZ, "xz", ARCHIVE_FILTER_XZ, "\xfd\x37zXZ\0", 6, 2 },
	{ PACKING_ZSTD, "zstd", ARCHIVE_FILTER_ZSTD, "\x28\xb5\x2f\xfd", 4, 2 },
	{ PACKING_ZSTD, "zstd", ARCHIVE_FILTER_ZSTD, "?\x2a\x4d\x18", 4, 2 },	/* a skippable frame, as pzstd begins */
	{ PACKING_LZ4, "lz4", ARCHIVE_FILTER_LZ4, "\x04\x22\x4d\x18", 4, 2 },
	{ PACKING_LZ4, "lz4", ARCHIVE_FILTER_LZ4, "\x02\x21\x4c\x18", 4, 2 },	/* legacy */
};
#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* A '?' in the magic is bzip2's block size or a skippable frame's number. */
static bool fits(enum packing p, unsigned char magic, unsigned char byte)
{
	if (magic != '?')
		return magic == byte;
	return p == PACKING_BZIP2 ? byte >= '1' && byte <= '9' : byte >= 0x50 && byte <= 0x5f;
}

enum packing packing_of(const unsigned char *bytes, size_t n, bool *more)
{
	enum packing found = PACKING_NONE;

	*more = false;
	for (size_t i = 0; i < N_KINDS; i++) {
		const size_t seen = n < kinds[i].len ? n : kinds[i].len;
		size_t k = 0;

		while (k < seen && fits(kinds[i].packing, (unsigned char)kinds[i].magic[k], bytes[k]))
			k++;
		if (k < seen)
			continue;
		if (seen < kinds[i].len)
			*more = true;
		if (seen >= kinds[i].known)
			found = kinds[i].packing;
	}
	return found;
}

const char *packing_name(enum packing p)
{
	for (size_t i = 0; i < N_KINDS; i++)
		if (kinds[i].packing == p)
			return kinds[i].name;
	return "nothing";
}

static int filter_of(enum packing p)
{
	for (size_t i = 0; i < N_KINDS; i++)
		if (kinds[i].packing == p)
			return kinds[i].filter;
	return ARCHIVE_FILTER_NONE;
}

struct unpack {
	struct archive *archive;
	struct source *source;
	enum packing packing;
	struct gzip_sum *gzip;		/* what libarchive leaves unchecked */
	struct lz4_frames *lz4;
	uint64_t start;			/* of the packed bytes, in the source */
	uint64_t fed;			/* packed bytes given to libarchive */
	bool source_ended;
	bool ended;
	size_t block_len;
	unsigned char room[LOOK_BACK + BLOCK_BYTES];	/* the block behind the last bytes before it */
};

/* Reads the next block: its length, 0 at the end, -1 failed. */
static ssize_t next_block(struct unpack *u)
{
	ssize_t n;

	memmove(u->room, u->room + u->block_len, LOOK_BACK);
	n = source_read(u->source, u->room + LOOK_BACK, BLOCK_BYTES);
	u->block_len = n > 0 ? (size_t)n : 0;
	u->source_ended = n == 0;
	return n;
}

static la_ssize_t feed(struct archive *a, void *ctx, const void **block)
{
	struct unpack *u = ctx;
	const unsigned char *bytes = u->room + LOOK_BACK;
	ssize_t n = next_block(u);

	if (n > 0 && ((u->gzip && gzip_sum_packed(u->gzip, bytes, (size_t)n, u->fed)) ||
		      (u->lz4 && lz4_frames_packed(u->lz4, bytes, (size_t)n)))) {
		archive_set_error(a, ENOMEM, "out of memory");
		return -1;
	}
	if (n < 0)
		archive_set_error(a, EIO, "%s", err_text());
	else
		u->fed += (uint64_t)n;
	*block = bytes;
	return n;
}

/*
 * Begins at the source's next byte. One filter and the raw format are set rather
 * than bid for: bidding would unpack twice what was packed twice, and take a
 * damaged first block for an empty file.
 */
static int start_archive(struct unpack *u)
{
	struct archive_entry *entry;
	const char *why;

	u->start = u->source->offset;
	u->fed = 0;
	u->block_len = 0;
	memset(u->room, 0, LOOK_BACK);
	if ((u->packing == PACKING_GZIP && gzip_sum_new(&u->gzip)) || (u->packing == PACKING_LZ4 && lz4_frames_new(&u->lz4)))
		return -1;
	u->archive = archive_read_new();
	if (!u->archive)
		return err_memory();
	if (archive_read_append_filter(u->archive, filter_of(u->packing)) == ARCHIVE_OK &&
	    archive_read_set_format(u->archive, ARCHIVE_FORMAT_RAW) == ARCHIVE_OK &&
	    archive_read_open(u->archive, u, NULL, feed, NULL) == ARCHIVE_OK &&
	    archive_read_next_header(u->archive, &entry) == ARCHIVE_OK)
		return 0;
	why = archive_error_string(u->archive);
	return err_fail("cannot unpack '%s': %s", u->source->name, why ? why : "libarchive refuses");
}

static void end_archive(struct unpack *u)
{
	if (u->archive)
		archive_read_free(u->archive);
	u->archive = NULL;
	gzip_sum_free(u->gzip);
	u->gzip = NULL;
	lz4_frames_free(u->lz4);
	u->lz4 = NULL;
}

int unpack_open(struct unpack **result, enum packing p, struct source *s)
{
	struct unpack *u = calloc(1, sizeof(*u));

	*result = NULL;
	if (!u)
		return err_memory();
	u->source = s;
	u->packing = p;
	if (start_archive(u)) {
		unpack_close(u);
		return -1;
	}
	*result = u;
	return 0;
}

/* Packed bytes that libarchive used up. */
static uint64_t consumed(const struct unpack *u)
{
	return (uint64_t)archive_filter_bytes(u->archive, -1);
}

static int cut_short(const struct unpack *u)
{
	return err_corrupt("'%s': %s data cut short at byte %" PRIu64, u->source->name, packing_name(u->packing), u->source->offset);
}

static int garbage(const struct unpack *u, uint64_t at)
{
	return err_corrupt("'%s': %s data end at byte %" PRIu64 ", and something else follows", u->source->name,
			   packing_name(u->packing), u->start + at);
}

static int damaged(const struct unpack *u, const char *why)
{
	return err_corrupt("'%s': %s data damaged near byte %" PRIu64 "%s%s", u->source->name, packing_name(u->packing),
			   u->start + consumed(u), why ? ": " : "", why ? why : "");
}

/* libarchive has failed. */
static int failed(const struct unpack *u)
{
	const char *why = archive_error_string(u->archive);

	if (u->source->failed)
		return -1;		/* the reason is set */
	if (archive_errno(u->archive) == ENOMEM || (why && strstr(why, "too much memory")))
		return err_fail("cannot unpack '%s': %s", u->source->name, why ? why : "out of memory");
	if (u->source_ended && (!why || strstr(why, "runcated") || strstr(why, "No progress")))
		return cut_short(u);
	return damaged(u, why);
}

/* Whether what is left of the block, and all that the source has behind it, is what may stand after the data at END. */
static int check_rest(struct unpack *u, uint64_t end)
{
	size_t n = (size_t)(u->fed - end);
	ssize_t more;

	if (n > LOOK_BACK + u->block_len)
		return garbage(u, end);
	do {
		const unsigned char *rest = u->room + LOOK_BACK + u->block_len - n;

		for (size_t i = 0; i < n; i++)
			if (u->packing != PACKING_GZIP || rest[i])
				return garbage(u, end);
		more = next_block(u);
		n = more > 0 ? (size_t)more : 0;
	} while (more > 0);
	return more < 0 ? -1 : 0;
}

static int check_gzip_end(struct unpack *u, uint64_t end)
{
	unsigned char trailer[GZIP_TRAILER];
	const uint64_t block = u->fed - u->block_len;

	if (end + LOOK_BACK < block + GZIP_TRAILER)
		return garbage(u, end);		/* a header without end was looked for behind it */
	memcpy(trailer, u->room + LOOK_BACK + (ptrdiff_t)(end - block) - GZIP_TRAILER, GZIP_TRAILER);
	if (check_rest(u, end))
		return -1;
	gzip_sum_unpacked(u->gzip, "", 0, end);
	return gzip_sum_fits(u->gzip, trailer) ? 0 : damaged(u, "sum or length differ");
}

/*
 * libarchive takes an empty frame for the end of everything. So if there is more behind
 * END, a new reader begins there: 1. 0 when there is nothing.
 */
static int resume_lz4(struct unpack *u, uint64_t end)
{
	size_t rest = (size_t)(u->fed - end);

	if (!rest && !u->source_ended) {
		const ssize_t n = next_block(u);

		if (n < 0)
			return -1;
		u->fed += (size_t)n;
		rest = (size_t)n;
	}
	if (!rest)
		return 0;
	if (!end || rest > LOOK_BACK + u->block_len)
		return u->source_ended ? cut_short(u) : damaged(u, NULL);
	if (source_unread(u->source, u->room + LOOK_BACK + u->block_len - rest, rest))
		return -1;
	end_archive(u);
	return start_archive(u) ? -1 : 1;
}

static int check_lz4_end(struct unpack *u, uint64_t end)
{
	uint64_t at;
	const enum lz4_fault fault = lz4_frames_end(u->lz4, &at);

	if (fault == LZ4_GARBAGE)
		return garbage(u, at);
	if (fault == LZ4_DICTIONARY)
		return err_fail("cannot unpack '%s': lz4 data that need a dictionary", u->source->name);
	if (fault == LZ4_CUT && u->fed == end)
		return cut_short(u);
	return resume_lz4(u, end);
}

/* 0 at a good end, 1 when there is more after all, -1 failed. */
static int check_end(struct unpack *u)
{
	const uint64_t end = consumed(u);

	return u->gzip ? check_gzip_end(u, end) : u->lz4 ? check_lz4_end(u, end) : check_rest(u, end);
}

static int check_block(struct unpack *u, const void *bytes, size_t n)
{
	uint64_t at;

	if (u->gzip)
		gzip_sum_unpacked(u->gzip, bytes, n, consumed(u));
	if (!u->lz4)
		return 0;
	if (lz4_frames_end(u->lz4, &at) == LZ4_DICTIONARY)
		return check_lz4_end(u, 0);
	if (lz4_frames_unpacked(u->lz4, n) == LZ4_LINKED)
		return err_fail("cannot unpack '%s': lz4 data of short linked blocks; unpack them by lz4 -d", u->source->name);
	return 0;
}

ssize_t unpack_next(struct unpack *u, const void **bytes)
{
	while (!u->ended) {
		size_t n = 0;
		la_int64_t at;
		int rc = archive_read_data_block(u->archive, bytes, &n, &at);

		if (rc == ARCHIVE_OK && n)
			return check_block(u, *bytes, n) ? -1 : (ssize_t)n;
		if (rc != ARCHIVE_OK && rc != ARCHIVE_EOF)
			return failed(u);
		rc = check_end(u);
		if (rc < 0)
			return -1;
		u->ended = rc == 0;
	}
	return 0;
}

void unpack_close(struct unpack *u)
{
	if (!u)
		return;
	end_archive(u);
	free(u);
}
