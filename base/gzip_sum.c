#include "base/gzip_sum.h"

#include "base/buf.h"
#include "base/err.h"

#include <stdlib.h>
#include <string.h>

#define HEADER_MIN 10
#define SLICES 8

/* A place where a member may end. */
struct end {
	uint64_t offset;	/* among the packed bytes */
	uint32_t crc, length;	/* what stands before it */
};

struct gzip_sum {
	struct end *ends;	/* in the order of their offsets */
	size_t n, cap;
	uint64_t length;	/* of what was unpacked of this member */
	uint32_t crc;
	uint32_t table[SLICES][256];
};

/* CRC-32 of ISO 3309, eight bytes at a time: table[k][b] is what byte b does when k more bytes follow it. */
static void fill_table(uint32_t table[SLICES][256])
{
	for (uint32_t b = 0; b < 256; b++) {
		uint32_t c = b;

		for (int bit = 0; bit < 8; bit++)
			c = c & 1 ? c >> 1 ^ 0xedb88320u : c >> 1;
		table[0][b] = c;
	}
	for (int k = 1; k < SLICES; k++)
		for (uint32_t b = 0; b < 256; b++)
			table[k][b] = table[k - 1][b] >> 8 ^ table[0][table[k - 1][b] & 0xff];
}

static uint32_t read_le32(const unsigned char *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint32_t crc32_of(const struct gzip_sum *g, uint32_t crc, const unsigned char *p, size_t n)
{
	const uint32_t(*t)[256] = g->table;

	crc = ~crc;
	for (; n >= 8; n -= 8, p += 8) {
		const uint32_t a = read_le32(p) ^ crc, b = read_le32(p + 4);

		crc = t[7][a & 0xff] ^ t[6][a >> 8 & 0xff] ^ t[5][a >> 16 & 0xff] ^ t[4][a >> 24] ^ t[3][b & 0xff] ^
		      t[2][b >> 8 & 0xff] ^ t[1][b >> 16 & 0xff] ^ t[0][b >> 24];
	}
	for (; n; n--, p++)
		crc = crc >> 8 ^ t[0][(crc ^ *p) & 0xff];
	return ~crc;
}

int gzip_sum_new(struct gzip_sum **result)
{
	struct gzip_sum *g = calloc(1, sizeof(*g));

	*result = g;
	if (!g)
		return err_memory();
	fill_table(g->table);
	return 0;
}

/* The four bytes by which libarchive knows a header, so that no real one is missed. */
static bool is_header(const unsigned char *p)
{
	return p[0] == 0x1f && p[1] == 0x8b && p[2] == 8 && !(p[3] & 0xe0);
}

int gzip_sum_packed(struct gzip_sum *g, const unsigned char *bytes, size_t n, uint64_t offset)
{
	const unsigned char *const stop = bytes + n - 3;	/* headers that begin before it are whole */
	const unsigned char *p = bytes - 3;

	while (p < stop && (p = memchr(p, 0x1f, (size_t)(stop - p)))) {
		const int64_t at = (int64_t)offset + (p - bytes);

		if (at >= HEADER_MIN + GZIP_TRAILER && is_header(p)) {
			if (array_grow(&g->ends, &g->cap, g->n + 1, sizeof(*g->ends)))
				return -1;
			g->ends[g->n++] = (struct end){ (uint64_t)at, read_le32(p - 8), read_le32(p - 4) };
		}
		p++;
	}
	return 0;
}

/*
 * Those ends that the inflater has passed are decided on, in order: each is
 * the end of the member at hand, within these bytes, or none at all. (One that
 * fits is not always true: a member may begin with what a later one holds. But
 * then the true one comes first.)
 */
void gzip_sum_unpacked(struct gzip_sum *g, const void *bytes, size_t n, uint64_t consumed)
{
	const unsigned char *p = bytes;
	size_t decided = 0;

	for (; decided < g->n && g->ends[decided].offset <= consumed; decided++) {
		const struct end *e = &g->ends[decided];
		const uint32_t far = e->length - (uint32_t)g->length;	/* lengths are kept modulo 2^32 */

		if (far > n || crc32_of(g, g->crc, p, far) != e->crc)
			continue;
		g->crc = 0;
		g->length = 0;
		p += far;
		n -= far;
	}
	g->crc = crc32_of(g, g->crc, p, n);
	g->length += n;
	g->n -= decided;
	if (decided)
		memmove(g->ends, g->ends + decided, g->n * sizeof(*g->ends));
}

bool gzip_sum_fits(const struct gzip_sum *g, const unsigned char trailer[GZIP_TRAILER])
{
	return read_le32(trailer) == g->crc && read_le32(trailer + 4) == (uint32_t)g->length;
}

void gzip_sum_free(struct gzip_sum *g)
{
	if (!g)
		return;
	free(g->ends);
	free(g);
}
