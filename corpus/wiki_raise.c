#include "corpus/wiki_raise.h"

#include <stdint.h>

static const char *const raised[] = { "⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹", "⁺", "⁻" };
static const char *const lowered[] = { "₀", "₁", "₂", "₃", "₄", "₅", "₆", "₇", "₈", "₉", "₊", "₋" };

/* Index into the tables, its bytes in *SIZE; -1 when they do not have it. */
static int index_of(struct span s, size_t *size)
{
	*size = 1;
	if (s.text[0] >= '0' && s.text[0] <= '9')
		return s.text[0] - '0';
	if (s.text[0] == '+' || s.text[0] == '-')
		return s.text[0] == '+' ? 10 : 11;
	*size = 3;
	return span_starts(s, "−") || span_starts(s, "–") ? 11 : -1;
}

bool wiki_can_raise(struct span s)
{
	bool digit = false;
	size_t size;

	if (span_is(s, "+") || span_is(s, "-") || span_is(s, "−") || span_is(s, "–"))	/* a charge: Na⁺ */
		return true;
	for (; s.len; s = span_skip(s, size)) {
		const int i = index_of(s, &size);

		if (i < 0)
			return false;
		digit |= i < 10;
	}
	return digit;
}

int wiki_raise(struct span s, bool lower, struct buf *b)
{
	size_t size;

	for (; s.len; s = span_skip(s, size))
		if (buf_adds(b, (lower ? lowered : raised)[index_of(s, &size)]))
			return -1;
	return 0;
}
