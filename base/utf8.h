/*
 * utf8.h - UTF-8: code points, validation, repair.
 *
 * Valid means what Unicode and Python mean: shortest form, no surrogates,
 * at most U+10FFFF. Repair replaces each maximal ill-formed part by U+FFFD,
 * as Python's errors="replace" and the W3C do.
 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define UTF8_MAX 4		/* bytes of the longest code point */
#define UTF8_REPLACEMENT 0xFFFD

/* Bytes of TEXT before the first ill-formed sequence: len when all of it is valid. Fast on ASCII. */
size_t utf8_valid_prefix(const char *text, size_t len);

/*
 * The code point at TEXT[0..len), len > 0; its length in bytes goes to *SIZE.
 * An ill-formed part gives U+FFFD and the part's length, *BAD set true (BAD may be NULL).
 */
uint32_t utf8_decode(const char *text, size_t len, unsigned *size, bool *bad);

/* The same for text known to be valid: no checks. */
static inline uint32_t utf8_next(const char **p)
{
	const unsigned char *s = (const unsigned char *)*p;
	if (s[0] < 0x80) { *p += 1; return s[0]; }
	if (s[0] < 0xE0) { *p += 2; return (uint32_t)(s[0] & 0x1F) << 6 | (s[1] & 0x3F); }
	if (s[0] < 0xF0) { *p += 3; return (uint32_t)(s[0] & 0x0F) << 12 | (uint32_t)(s[1] & 0x3F) << 6 | (s[2] & 0x3F); }
	*p += 4;
	return (uint32_t)(s[0] & 0x07) << 18 | (uint32_t)(s[1] & 0x3F) << 12 | (uint32_t)(s[2] & 0x3F) << 6 | (s[3] & 0x3F);
}

/* Writes CP (a valid scalar value) to OUT[0..4); returns its length. */
unsigned utf8_write(uint32_t cp, char *out);

/* Adds TEXT to B with every ill-formed part replaced; *COUNT grows by how many there were. */
int utf8_repair(const char *text, size_t len, struct buf *b, uint64_t *count);

/* Whether CP is white space as Python's str.isspace has it (29 code points). */
bool utf8_is_space(uint32_t cp);

/* Whether valid TEXT holds nothing but such white space (true for len 0). */
bool utf8_is_blank(const char *text, size_t len);

/* Code points in valid TEXT. */
size_t utf8_count(const char *text, size_t len);

#ifdef __cplusplus
}
#endif

#endif
