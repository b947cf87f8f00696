#include "corpus/stop.h"

#include "corpus/letters.h"

#include <ctype.h>
#include <string.h>

/* Bytes that a terminator may begin with. */
static const bool may_stop[256] = {
	['.'] = true, ['!'] = true, ['?'] = true,
	[0xD6] = true, [0xD8] = true, [0xDB] = true,				/* Armenian, Arabic, Urdu */
	[0xE0] = true, [0xE1] = true, [0xE2] = true, [0xE3] = true, [0xEF] = true,
};

/* Whether the character at P, whose first byte may begin a terminator, is none: a quick look that may say no too often. */
static bool is_plain(const unsigned char *p)
{
	switch (p[0]) {
	case 0xD6: return p[1] != 0x89;
	case 0xD8: return p[1] != 0x9F;
	case 0xDB: return p[1] != 0x94;
	case 0xE0: return p[1] != 0xA5 || (p[2] != 0xA4 && p[2] != 0xA5);
	case 0xE2: return p[1] != 0x80 && p[1] != 0x81;
	case 0xE3: return p[1] != 0x80;
	case 0xEF: return p[1] != 0xBC && p[1] != 0xBD;
	default: return false;
	}
}

size_t stop_find(const char *text, size_t len, size_t at)
{
	const unsigned char *s = (const unsigned char *)text;
	unsigned size;

	for (;; at += size) {
		while (at < len && !may_stop[s[at]])
			at++;
		if (at >= len)
			return len;
		if (s[at] < 0x80)
			return at;
		if (is_plain(s + at))
			size = s[at] < 0xE0 ? 2 : 3;
		else if (letter_stops(letter_at(text, at, &size)))
			return at;
	}
}

static void read_terminators(const char *text, size_t len, struct stop *st)
{
	bool dots_only = true;

	while (st->end < len) {
		unsigned size;
		const enum letter l = letter_at(text, st->end, &size);

		if (!letter_stops(l))
			break;
		dots_only &= l == LETTER_DOT;
		st->dots++;
		st->strong |= l == LETTER_STRONG;
		st->ellipsis |= l == LETTER_ELLIPSIS;
		st->full |= l == LETTER_FULL;
		st->wide = letter_match(text, len, st->end, "\xEF\xBC\x8E");
		st->end += size;
	}
	if (!dots_only)
		st->dots = 0;
}

/* Dots that stand apart are one ellipsis: ". . .". */
static void read_spaced_dots(const char *text, size_t len, struct stop *st)
{
	while (st->dots && st->end + 1 < len && text[st->end] == ' ' && text[st->end + 1] == '.' &&
	       !letter_in_word(text, len, st->end + 2)) {
		st->end += 2;
		st->dots++;
	}
}

/* The length of a reference such as "[12]" at TEXT[at], or 0. */
static size_t reference_at(const char *text, size_t len, size_t at)
{
	size_t end = at + 1;

	if (text[at] != '[')
		return 0;
	while (end < len && end < at + 5 && isdigit((unsigned char)text[end]))
		end++;
	return end > at + 1 && end < len && text[end] == ']' ? end + 1 - at : 0;
}

/* Whether the character at AT closes something. A mark that opens elsewhere does so where no word follows. */
static bool closes_at(const char *text, size_t len, size_t at, unsigned *size)
{
	const enum letter l = letter_at(text, at, size);

	return l == LETTER_CLOSE || l == LETTER_QUOTE || l == LETTER_QUOTE_CLOSE ||
	       (l == LETTER_QUOTE_OPEN && !letter_in_word(text, len, at + *size));
}

/* What closes right after the terminators. */
static void read_closers(const char *text, size_t len, struct stop *st)
{
	while (st->end < len) {
		const size_t reference = reference_at(text, len, st->end);
		unsigned size;

		if (!reference && !closes_at(text, len, st->end, &size))
			break;
		if (!reference && size == 3)
			st->quoted = letter_match(text, len, st->end, "\xE3\x80\x8D") || letter_match(text, len, st->end, "\xE3\x80\x8F");
		st->closed |= !reference;
		st->end += reference ? reference : size;
	}
}

/* What closes after white space, as in French: ". »". Only before white space or a comma, or it opens. */
static void read_spaced_closers(const char *text, size_t len, struct stop *st)
{
	for (;;) {
		const size_t at = letter_skip_spaces(text, len, st->end);
		size_t reference;
		unsigned size, next_size;
		enum letter l;

		if (at == st->end || at >= len)
			return;
		reference = reference_at(text, len, at);
		l = letter_at(text, at, &size);
		if (reference)
			size = (unsigned)reference;
		else if (l != LETTER_CLOSE && l != LETTER_QUOTE_CLOSE)
			return;
		l = at + size < len ? letter_at(text, at + size, &next_size) : LETTER_SPACE;
		if (l != LETTER_SPACE && l != LETTER_COMMA && !letter_stops(l))
			return;
		st->closed |= !reference;
		st->end = at + size;
	}
}

struct stop stop_read(const char *text, size_t len, size_t at)
{
	struct stop st = { .first = at, .end = at };

	read_terminators(text, len, &st);
	read_spaced_dots(text, len, &st);
	st.ellipsis |= st.dots >= 3;
	read_closers(text, len, &st);
	read_spaced_closers(text, len, &st);
	return st;
}
