#include "base/utf8.h"

#include <string.h>

#define HIGH_BITS 0x8080808080808080u

/* Length of the run of bytes below 0x80 at S. */
static size_t ascii_run(const unsigned char *s, size_t len)
{
	uint64_t w[4];
	size_t i = 0;

	for (; len - i >= sizeof(w); i += sizeof(w)) {
		memcpy(w, s + i, sizeof(w));
		if ((w[0] | w[1] | w[2] | w[3]) & HIGH_BITS)
			break;
	}
	for (; len - i >= 8; i += 8) {
		memcpy(w, s + i, 8);
		if (w[0] & HIGH_BITS)
			break;
	}
	while (i < len && s[i] < 0x80)
		i++;
	return i;
}

static bool within(unsigned c, unsigned low, unsigned high)
{
	return c - low <= high - low;
}

/*
 * Length of the well-formed sequence at S (Unicode, table 3-7); 0 when it is
 * ill-formed, and *BAD_LEN is then the length of its maximal part.
 */
static unsigned sequence(const unsigned char *s, size_t len, unsigned *bad_len)
{
	const unsigned lead = s[0];
	unsigned n, low = 0x80, high = 0xBF;

	if (lead < 0x80)
		return 1;
	*bad_len = 1;
	if (lead < 0xC2 || lead > 0xF4)
		return 0;
	n = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
	switch (lead) {
	case 0xE0: low = 0xA0; break;	/* shorter forms exist below */
	case 0xED: high = 0x9F; break;	/* surrogates above */
	case 0xF0: low = 0x90; break;
	case 0xF4: high = 0x8F; break;	/* U+10FFFF is the last */
	}
	for (unsigned i = 1; i < n; i++, low = 0x80, high = 0xBF) {
		*bad_len = i;
		if (i >= len || !within(s[i], low, high))
			return 0;
	}
	return n;
}

size_t utf8_valid_prefix(const char *text, size_t len)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t i = 0;
	unsigned bad_len;

	while (i < len) {
		unsigned n;

		if (s[i] < 0x80) {
			i += ascii_run(s + i, len - i);
			continue;
		}
		/* The two commonest forms, without calls. */
		if (within(s[i], 0xC2, 0xDF) && len - i >= 2 && within(s[i + 1], 0x80, 0xBF)) {
			i += 2;
			continue;
		}
		if (within(s[i], 0xE1, 0xEC) && len - i >= 3 && within(s[i + 1], 0x80, 0xBF) &&
		    within(s[i + 2], 0x80, 0xBF)) {
			i += 3;
			continue;
		}
		n = sequence(s + i, len - i, &bad_len);
		if (!n)
			return i;
		i += n;
	}
	return len;
}

uint32_t utf8_decode(const char *text, size_t len, unsigned *size, bool *bad)
{
	unsigned bad_len = 0;
	unsigned n = sequence((const unsigned char *)text, len, &bad_len);

	*size = n ? n : bad_len;
	if (bad)
		*bad = !n;
	return n ? utf8_next(&text) : UTF8_REPLACEMENT;
}

unsigned utf8_write(uint32_t cp, char *out)
{
	unsigned char *o = (unsigned char *)out;

	if (cp < 0x80) {
		o[0] = (unsigned char)cp;
		return 1;
	}
	if (cp < 0x800) {
		o[0] = (unsigned char)(0xC0 | cp >> 6);
		o[1] = (unsigned char)(0x80 | (cp & 0x3F));
		return 2;
	}
	if (cp < 0x10000) {
		o[0] = (unsigned char)(0xE0 | cp >> 12);
		o[1] = (unsigned char)(0x80 | (cp >> 6 & 0x3F));
		o[2] = (unsigned char)(0x80 | (cp & 0x3F));
		return 3;
	}
	o[0] = (unsigned char)(0xF0 | cp >> 18);
	o[1] = (unsigned char)(0x80 | (cp >> 12 & 0x3F));
	o[2] = (unsigned char)(0x80 | (cp >> 6 & 0x3F));
	o[3] = (unsigned char)(0x80 | (cp & 0x3F));
	return 4;
}

int utf8_repair(const char *text, size_t len, struct buf *b, uint64_t *count)
{
	const char *const end = text + len;

	for (;;) {
		size_t good = utf8_valid_prefix(text, (size_t)(end - text));
		unsigned size;

		if (buf_add(b, text, good))
			return -1;
		text += good;
		if (text == end)
			return 0;
		utf8_decode(text, (size_t)(end - text), &size, NULL);
		if (buf_add(b, "\xEF\xBF\xBD", 3))
			return -1;
		text += size;
		(*count)++;
	}
}

bool utf8_is_space(uint32_t cp)
{
	if (cp < 0x80)
		return within(cp, 9, 13) || within(cp, 28, 32);
	switch (cp) {
	case 0x85: case 0xA0: case 0x1680: case 0x2028: case 0x2029: case 0x202F: case 0x205F: case 0x3000:
		return true;
	}
	return within(cp, 0x2000, 0x200A);
}

bool utf8_is_blank(const char *text, size_t len)
{
	const char *const end = text + len;

	while (text < end)
		if (!utf8_is_space(utf8_next(&text)))
			return false;
	return true;
}

size_t utf8_count(const char *text, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += ((unsigned char)text[i] & 0xC0) != 0x80;
	return n;
}
