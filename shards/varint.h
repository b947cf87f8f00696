/*
 * varint.h - unsigned numbers of seven bits a byte, least significant first
 * (LEB128), and little-endian numbers at any address. Only the shortest form
 * of a number is accepted, so that equal values are equal bytes.
 */
#ifndef SHARDS_VARINT_H
#define SHARDS_VARINT_H

#include <stdint.h>
#include <stddef.h>

#define VARINT_MAX 10		/* bytes of the longest */

/* Writes V to OUT[0..VARINT_MAX); returns its length. */
static inline size_t varint_put(unsigned char *out, uint64_t v)
{
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		out[n++] = (unsigned char)(v | 0x80);
	out[n++] = (unsigned char)v;
	return n;
}

/*
 * Reads one at *P, not beyond END, and moves *P past it. 0, or -1 (no reason set) when it is cut,
 * too long or not the shortest.
 */
static inline int varint_get(const unsigned char **p, const unsigned char *end, uint64_t *v)
{
	const unsigned char *s = *p;
	uint64_t x = 0;

	for (unsigned shift = 0; s < end && shift < 70; shift += 7) {
		const unsigned char byte = *s++;

		if (shift == 63 && byte > 1)
			return -1;
		x |= (uint64_t)(byte & 0x7F) << shift;
		if (byte & 0x80)
			continue;
		if (!byte && shift)
			return -1;
		*v = x;
		*p = s;
		return 0;
	}
	return -1;
}

#endif
