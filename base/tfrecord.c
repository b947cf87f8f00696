#include "base/tfrecord.h"

#include "base/cpu.h"
#include "base/err.h"
#include "base/intake.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>

/* --- CRC32C ------------------------------------------------------------------------- */

#define POLYNOMIAL 0x82F63B78u	/* Castagnoli's, bits reversed */

/* table[k][b]: what byte B does to the sum when K more bytes follow it ("slicing by 8"). */
static uint32_t table[8][256];
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

static void table_fill(void)
{
	for (uint32_t b = 0; b < 256; b++) {
		uint32_t crc = b;

		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
		table[0][b] = crc;
	}
	for (unsigned k = 1; k < 8; k++)
		for (unsigned b = 0; b < 256; b++)
			table[k][b] = table[k - 1][b] >> 8 ^ table[0][table[k - 1][b] & 0xFF];
}

static uint32_t get32(const unsigned char *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint32_t crc_by_table(uint32_t crc, const unsigned char *p, size_t n)
{
	pthread_once(&table_once, table_fill);
	for (; n >= 8; n -= 8, p += 8) {
		const uint32_t a = crc ^ get32(p), b = get32(p + 4);

		crc = table[7][a & 0xFF] ^ table[6][a >> 8 & 0xFF] ^ table[5][a >> 16 & 0xFF] ^ table[4][a >> 24] ^
		      table[3][b & 0xFF] ^ table[2][b >> 8 & 0xFF] ^ table[1][b >> 16 & 0xFF] ^ table[0][b >> 24];
	}
	for (; n; n--)
		crc = crc >> 8 ^ table[0][(crc ^ *p++) & 0xFF];
	return crc;
}

#ifdef __x86_64__
#include <nmmintrin.h>

__attribute__((target("sse4.2"))) static uint32_t crc_by_processor(uint32_t crc, const unsigned char *p, size_t n)
{
	uint64_t wide = crc;

	for (; n >= 8; n -= 8, p += 8) {
		uint64_t v;

		memcpy(&v, p, sizeof(v));
		wide = _mm_crc32_u64(wide, v);
	}
	crc = (uint32_t)wide;
	for (; n; n--)
		crc = _mm_crc32_u8(crc, *p++);
	return crc;
}
#endif

uint32_t crc32c(uint32_t crc, const void *bytes, size_t n)
{
#ifdef __x86_64__
	if (cpu_has(CPU_SSE42))
		return ~crc_by_processor(~crc, bytes, n);
#endif
	return ~crc_by_table(~crc, bytes, n);
}

/* --- records --------------------------------------------------------------------------- */

enum { HEAD = TFRECORD_HEAD, FOOT = 4 };	/* bytes: length and its sum; the record's sum */

/* So that a sum over bytes that hold sums of their own is still worth something (tensorflow/core/lib/hash/crc32c.h). */
static uint32_t mask(uint32_t crc)
{
	return (crc >> 15 | crc << 17) + 0xA282EAD8u;
}

static void put32(unsigned char *p, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		p[i] = (unsigned char)(v >> 8 * i);
}

int tfrecord_write(struct out *o, const void *bytes, size_t n)
{
	unsigned char head[HEAD], foot[FOOT];

	put32(head, (uint32_t)n);
	put32(head + 4, (uint32_t)((uint64_t)n >> 32));
	put32(head + 8, mask(crc32c(0, head, 8)));
	put32(foot, mask(crc32c(0, bytes, n)));
	return out_write(o, head, sizeof(head)) || out_write(o, bytes, n) || out_write(o, foot, sizeof(foot)) ? -1 : 0;
}

static int ends_early(const struct in *in, uint64_t record)
{
	return err_corrupt("'%s' ends early (cut short?) at byte %" PRIu64 ", in the record at byte %" PRIu64,
			   in_name(in), in_offset(in), record);
}

bool tfrecord_begins(const void *bytes, size_t n)
{
	return n >= HEAD && get32((const unsigned char *)bytes + 8) == mask(crc32c(0, bytes, 8));
}

/* The length that HEAD, at byte OFFSET, says. */
static int get_length(const struct in *in, const unsigned char *head, uint64_t offset, uint64_t *len)
{
	if (get32(head + 8) != mask(crc32c(0, head, 8)))
		return err_corrupt("'%s': record at byte %" PRIu64 ": checksum of its length differs", in_name(in),
				   offset);
	*len = get32(head) | (uint64_t)get32(head + 4) << 32;
	return 0;
}

int tfrecord_check(const char *name, const struct tfrecord *t)
{
	if (t->sum == mask(crc32c(0, t->bytes, t->len)))
		return 0;
	return err_corrupt("'%s': record at byte %" PRIu64 ": checksum differs", name, t->offset);
}

int tfrecord_read(struct in *in, struct buf *b)
{
	const uint64_t offset = in_offset(in);
	unsigned char head[HEAD], foot[FOOT];
	uint64_t len;
	ssize_t n = in_read(in, head, sizeof(head));

	if (n <= 0)
		return (int)n;
	if (n < HEAD)
		return ends_early(in, offset);
	if (get_length(in, head, offset, &len) || intake_read(in, b, len))
		return -1;
	n = b->len == len ? in_read(in, foot, sizeof(foot)) : 0;
	if (n < 0)
		return -1;
	if (n < FOOT)
		return ends_early(in, offset);
	return tfrecord_check(in_name(in), &(struct tfrecord){ b->data, b->len, get32(foot), offset }) ? -1 : 1;
}

/* --- many records ------------------------------------------------------------------------ */

#define PIECE ((size_t)1 << 20)

/* Has N bytes ahead, if there are as many; room is made as they arrive. */
static int fill(struct tfrecord_reader *r, uint64_t n)
{
	struct buf *b = &r->ahead;

	while (b->len - r->used < n && !r->at_end) {
		ssize_t got;

		if (r->used) {
			memmove(b->data, b->data + r->used, b->len - r->used);
			b->len -= r->used;
			r->used = 0;
		}
		if (buf_reserve(b, PIECE))
			return -1;
		got = in_read(r->in, b->data + b->len, PIECE);
		if (got < 0)
			return -1;
		b->len += (size_t)got;
		r->at_end = (size_t)got < PIECE;
	}
	return 0;
}

int tfrecord_next(struct tfrecord_reader *r, struct tfrecord *t)
{
	const unsigned char *p;
	uint64_t len;

	if (fill(r, HEAD))
		return -1;
	t->offset = in_offset(r->in) - (r->ahead.len - r->used);
	if (r->ahead.len == r->used)
		return 0;
	if (r->ahead.len - r->used < HEAD)
		return ends_early(r->in, t->offset);
	if (get_length(r->in, (const unsigned char *)r->ahead.data + r->used, t->offset, &len))
		return -1;
	if (len < SIZE_MAX / 2 && fill(r, HEAD + len + FOOT))
		return -1;
	if (len >= SIZE_MAX / 2 || r->ahead.len - r->used < HEAD + len + FOOT)
		return ends_early(r->in, t->offset);
	p = (const unsigned char *)r->ahead.data + r->used;
	t->bytes = p + HEAD;
	t->len = (size_t)len;
	t->sum = get32(p + HEAD + len);
	r->used += HEAD + (size_t)len + FOOT;
	return 1;
}

void tfrecord_reader_release(struct tfrecord_reader *r)
{
	buf_release(&r->ahead);
	r->used = 0;
}
