/* The bytes of a frame: shards/FORMAT.md, "The frame". */
#include "base/frame_impl.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#define BYTE_ORDER_MARK 0x1234
#define BYTE_ORDER_SWAPPED 0x3412
#define MARK_TRAILER FRAME_MARK('E', 'N', 'D', '1')

const unsigned char frame_magic[FRAME_MAGIC_LEN] = { 0x89, 'B', 'T', 'F', '\r', '\n', 0x1A, '\n' };
static const unsigned char end_magic[8] = { 'B', 'T', 'F', 'E', 'N', 'D', 0x1A, '\n' };

/* Offsets in the trailer that are needed twice. */
enum { TRAILER_DIGEST = 56, TRAILER_FILE_SUM = 72, TRAILER_SUM = 80, TRAILER_MAGIC = 88 };

static uint32_t get16(const unsigned char *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}

uint32_t frame_get32(const unsigned char *p)
{
	return get16(p) | get16(p + 2) << 16;
}

uint64_t frame_get64(const unsigned char *p)
{
	return frame_get32(p) | (uint64_t)frame_get32(p + 4) << 32;
}

static void put16(unsigned char *p, uint32_t v)
{
	p[0] = (unsigned char)v;
	p[1] = (unsigned char)(v >> 8);
}

void frame_put32(unsigned char *p, uint32_t v)
{
	put16(p, v);
	put16(p + 2, v >> 16);
}

void frame_put64(unsigned char *p, uint64_t v)
{
	frame_put32(p, (uint32_t)v);
	frame_put32(p + 4, (uint32_t)(v >> 32));
}

/* --- prelude ------------------------------------------------------------------------ */

void frame_put_prelude(unsigned char out[FRAME_PRELUDE], const char kind[4], uint32_t header_len)
{
	memcpy(out, frame_magic, FRAME_MAGIC_LEN);
	memcpy(out + 8, kind, 4);
	put16(out + 12, FRAME_VERSION);
	put16(out + 14, BYTE_ORDER_MARK);
	frame_put32(out + 16, header_len);
	frame_put32(out + 20, 0);
	frame_put64(out + 24, XXH3_64bits(out, 24));
}

static int check_magic(const char *name, const unsigned char *p, size_t n)
{
	if (!n)
		return err_corrupt("'%s' is empty", name);
	if (memcmp(p, frame_magic, n < FRAME_MAGIC_LEN ? n : FRAME_MAGIC_LEN)) {
		if (n >= 4 && !memcmp(p, frame_magic, 4))
			return err_corrupt("'%s' was damaged in transfer: its line ends were converted", name);
		return err_corrupt("'%s' is no token document or shard: it does not begin as a framed file", name);
	}
	if (n < FRAME_PRELUDE)
		return err_corrupt("'%s' ends early (cut short?) at byte %zu", name, n);
	return 0;
}

int frame_prelude_version(const unsigned char *p, size_t n)
{
	return n == FRAME_PRELUDE && !memcmp(p, frame_magic, FRAME_MAGIC_LEN) && frame_get64(p + 24) == XXH3_64bits(p, 24)
		       ? get16(p + 12) : 0;
}

/* N is less than FRAME_PRELUDE where the file ends before. KIND NULL: any. */
int frame_check_prelude(const char *name, const unsigned char *p, size_t n, const char kind[4], uint32_t *header_len)
{
	if (check_magic(name, p, n))
		return -1;
	if (get16(p + 14) == BYTE_ORDER_SWAPPED)
		return err_corrupt("'%s' was written in big-endian byte order: this format is little-endian", name);
	if (frame_get64(p + 24) != XXH3_64bits(p, 24))
		return err_corrupt("'%s': prelude at byte 0: checksum differs", name);
	if (get16(p + 12) != FRAME_VERSION)
		return err_corrupt("'%s' is of format version %u: this program reads version %d", name, get16(p + 12),
				   FRAME_VERSION);
	if (kind && memcmp(p + 8, kind, 4))
		return err_corrupt("'%s' is of kind %.4s, not %.4s", name, (const char *)p + 8, kind);
	*header_len = frame_get32(p + 16);
	if (get16(p + 14) != BYTE_ORDER_MARK || frame_get32(p + 20) || *header_len > FRAME_JSON_MAX)
		return err_corrupt("'%s': prelude at byte 0: a field holds what no version 1 writes", name);
	return 0;
}

/* --- blocks -------------------------------------------------------------------------- */

void frame_put_block_head(unsigned char out[FRAME_BLOCK_HEAD], const struct frame_entry *e)
{
	assert(e->packed_bytes <= e->raw_bytes);
	frame_put32(out, FRAME_MARK_BLOCK);
	out[4] = e->type;
	out[5] = e->packed_bytes < e->raw_bytes ? FRAME_ZSTD : FRAME_RAW;
	put16(out + 6, 0);
	frame_put64(out + 8, e->raw_bytes);
	frame_put64(out + 16, e->packed_bytes);
	frame_put32(out + 24, e->records);
	frame_put32(out + 28, (uint32_t)XXH3_64bits(out, 28));
	frame_put64(out + 32, e->checksum);
}

uint64_t frame_block_checksum(const unsigned char head[FRAME_BLOCK_HEAD], const void *packed, size_t n)
{
	return XXH3_64bits_withSeed(packed, n, XXH3_64bits(head, 32));
}

/* HEAD begins with the block's mark. Fills all of E but first_record. */
int frame_check_block_head(const char *name, uint64_t number, uint64_t offset, const unsigned char *head,
			   struct frame_entry *e)
{
	bool good;

	*e = (struct frame_entry){
		.offset = offset,
		.type = head[4],
		.raw_bytes = frame_get64(head + 8),
		.packed_bytes = frame_get64(head + 16),
		.records = frame_get32(head + 24),
		.checksum = frame_get64(head + 32),
	};
	if (frame_get32(head + 28) != (uint32_t)XXH3_64bits(head, 28))
		return err_corrupt("'%s': block %" PRIu64 " at byte %" PRIu64 ": checksum of its head differs", name,
				   number, offset);
	good = head[5] == FRAME_RAW ? e->packed_bytes == e->raw_bytes
				    : head[5] == FRAME_ZSTD && e->packed_bytes < e->raw_bytes;
	if (!good || get16(head + 6))
		return err_corrupt("'%s': block %" PRIu64 " at byte %" PRIu64 ": its head contradicts itself", name,
				   number, offset);
	return 0;
}

int frame_sums_add(struct frame_sums *s, const struct frame_entry *e)
{
	uint64_t bytes;

	if (__builtin_add_overflow(e->packed_bytes, FRAME_BLOCK_HEAD, &bytes) ||
	    __builtin_add_overflow(s->offset, bytes, &s->offset) ||
	    __builtin_add_overflow(s->raw_bytes, e->raw_bytes, &s->raw_bytes) ||
	    __builtin_add_overflow(s->records[e->type], e->records, &s->records[e->type]))
		return -1;
	s->packed_bytes += e->packed_bytes;	/* less than offset */
	s->blocks++;
	return 0;
}

/* --- index and trailer ----------------------------------------------------------------- */

void frame_put_index_head(unsigned char out[FRAME_INDEX_HEAD], uint32_t totals_len, uint64_t blocks)
{
	frame_put32(out, FRAME_MARK_INDEX);
	frame_put32(out + 4, totals_len);
	frame_put64(out + 8, blocks);
}

void frame_put_entry(unsigned char out[FRAME_ENTRY], const struct frame_entry *e)
{
	frame_put64(out, e->offset);
	frame_put64(out + 8, e->first_record);
	frame_put64(out + 16, e->raw_bytes);
	frame_put64(out + 24, e->checksum);
	frame_put32(out + 32, e->records);
	frame_put32(out + 36, e->type);
}

void frame_put_trailer(unsigned char out[FRAME_TRAILER], const struct frame_trailer *t, uint64_t index_offset,
		       XXH3_state_t *file)
{
	const XXH128_hash_t digest = { .low64 = t->digest_lo, .high64 = t->digest_hi };
	XXH128_canonical_t canonical;

	frame_put32(out, MARK_TRAILER);
	frame_put32(out + 4, 0);
	frame_put64(out + 8, t->blocks);
	frame_put64(out + 16, t->records);
	frame_put64(out + 24, t->raw_bytes);
	frame_put64(out + 32, t->packed_bytes);
	frame_put64(out + 40, index_offset);
	frame_put64(out + 48, t->file_bytes);
	XXH128_canonicalFromHash(&canonical, digest);
	memcpy(out + TRAILER_DIGEST, canonical.digest, sizeof(canonical.digest));
	frame_put64(out + TRAILER_FILE_SUM, frame_trailer_checksum(out, file));
	frame_put64(out + TRAILER_SUM, XXH3_64bits(out, TRAILER_SUM));
	memcpy(out + TRAILER_MAGIC, end_magic, sizeof(end_magic));
}

uint64_t frame_trailer_checksum(const unsigned char *trailer, XXH3_state_t *file)
{
	XXH3_64bits_update(file, trailer, TRAILER_FILE_SUM);
	return XXH3_64bits_digest(file);
}

uint64_t frame_trailer_says(const unsigned char *trailer)
{
	return frame_get64(trailer + TRAILER_FILE_SUM);
}

bool frame_has_trailer(const unsigned char *trailer)
{
	return !memcmp(trailer + TRAILER_MAGIC, end_magic, sizeof(end_magic));
}

/* The TRAILER by itself, at byte OFFSET; fills T. */
int frame_check_trailer(const char *name, uint64_t offset, const unsigned char *trailer, struct frame_trailer *t,
			uint64_t *index_offset)
{
	XXH128_canonical_t canonical;
	XXH128_hash_t digest;

	memcpy(canonical.digest, trailer + TRAILER_DIGEST, sizeof(canonical.digest));
	digest = XXH128_hashFromCanonical(&canonical);
	*t = (struct frame_trailer){
		.blocks = frame_get64(trailer + 8),
		.records = frame_get64(trailer + 16),
		.raw_bytes = frame_get64(trailer + 24),
		.packed_bytes = frame_get64(trailer + 32),
		.digest_hi = digest.high64,
		.digest_lo = digest.low64,
		.file_bytes = frame_get64(trailer + 48),
	};
	*index_offset = frame_get64(trailer + 40);
	if (!frame_has_trailer(trailer) || frame_get32(trailer) != MARK_TRAILER)
		return err_corrupt("'%s': no trailer at byte %" PRIu64, name, offset);
	if (frame_get64(trailer + TRAILER_SUM) != XXH3_64bits(trailer, TRAILER_SUM))
		return err_corrupt("'%s': trailer at byte %" PRIu64 ": checksum differs", name, offset);
	if (frame_get32(trailer + 4))
		return err_corrupt("'%s': trailer at byte %" PRIu64 ": a field holds what no version 1 writes", name,
				   offset);
	return 0;
}

/* Whether trailer T, at byte OFFSET, tells of the blocks that S adds up. */
int frame_check_sums(const char *name, uint64_t offset, const struct frame_trailer *t, const struct frame_sums *s)
{
	const struct {
		const char *what;
		uint64_t says, is;
	} sums[] = {
		{ "blocks", t->blocks, s->blocks },
		{ "records", t->records, s->records[0] },
		{ "raw bytes", t->raw_bytes, s->raw_bytes },
		{ "packed bytes", t->packed_bytes, s->packed_bytes },
	};

	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++)
		if (sums[i].says != sums[i].is)
			return err_corrupt("'%s': trailer at byte %" PRIu64 ": says %" PRIu64 " %s, there are %" PRIu64,
					   name, offset, sums[i].says, sums[i].what, sums[i].is);
	return 0;
}
