#include "corpus/tidy.h"

#include "base/utf8.h"
#include "corpus/span.h"

#include <ctype.h>

/* Bytes at which the walk stops: controls and spaces, and what begins a character that may be one. */
static const unsigned char stops[256] = {
	[0x00 ... 0x20] = 1, [0x7F] = 1, [0xC2] = 1, [0xE1] = 1, [0xE2] = 1, [0xE3] = 1, [0xEF] = 1,
};

enum kind { TEXT, BLANK, NOTHING };

/* What the character at P is, P < END; its bytes in *SIZE. */
static enum kind kind_of(const char *p, const char *end, unsigned *size)
{
	const unsigned char *s = (const unsigned char *)p;
	const size_t left = (size_t)(end - p);
	uint32_t c;

	*size = 1;
	if (s[0] <= ' ' || s[0] == 0x7F)
		return BLANK;
	if (!stops[s[0]] || left < 2)
		return TEXT;
	c = utf8_decode(p, left, size, NULL);
	switch (c) {
	case 0xAD: case 0x200B: case 0x200E: case 0x200F: case 0x2060: case 0xFEFF:
		return NOTHING;
	case 0x85: case 0xA0: case 0x1680: case 0x2028: case 0x2029: case 0x202F: case 0x205F: case 0x3000:
		return BLANK;
	}
	return (c >= 0x2000 && c <= 0x200A) || (c >= 0x80 && c < 0xA0) ? BLANK : TEXT;
}

/* --- holes ----------------------------------------------------------------- */

static const char *const separators[] = { ",", ";", ":", "/", "、", "，", "；", "：", "،", "؛" };
static const char *const openers[] = { "(", "[", "（", "［" };
static const char *const closers[] = { ")", "]", "）", "］" };	/* in the order of openers */
static const char *const joints[] = { "or ", "and ", "et ", "und ", "oder ", "y ", "o ", "e ", "и ", "或", "和" };	/* of two holes */
#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* Which word of TABLE stands at the beginning of S; -1 none. */
static int at_begin(const char *const *table, size_t n, struct span s)
{
	for (size_t i = 0; i < n; i++)
		if (span_starts(s, table[i]))
			return (int)i;
	return -1;
}

/* Which word of TABLE ends B, from START on; -1 none. */
static int at_end(const char *const *table, size_t n, const struct buf *b, size_t start)
{
	for (size_t i = 0; i < n; i++) {
		const size_t len = strlen(table[i]);

		if (b->len - start >= len && !memcmp(b->data + b->len - len, table[i], len))
			return (int)i;
	}
	return -1;
}

static void strip_spaces(struct buf *b, size_t start)
{
	while (b->len > start && b->data[b->len - 1] == ' ')
		b->len--;
}

static struct span skip_spaces(struct span s)
{
	unsigned size;

	while (s.len && s.text[0] != TIDY_HOLE && kind_of(s.text, s.text + s.len, &size) != TEXT)
		s = span_skip(s, size);
	return s;
}

/*
 * Behind a hole at S: the rest of a row of holes, with what stands between two of them and joins them: white
 * space, separators, and at the beginning of brackets "or" and "and". Gives what follows the last.
 */
static struct span skip_holes(struct span s, bool opened)
{
	for (;;) {
		struct span next = skip_spaces(s);
		int i = at_begin(separators, COUNT(separators), next);

		if (i >= 0)
			next = skip_spaces(span_skip(next, strlen(separators[i])));
		i = opened ? at_begin(joints, COUNT(joints), next) : -1;
		if (i >= 0)
			next = skip_spaces(span_skip(next, strlen(joints[i])));
		if (!next.len || next.text[0] != TIDY_HOLE)
			return s;
		s = span_skip(next, 1);
	}
}

/*
 * Words that have no use without what followed them are taken off B's end: "or" and "and", and behind a
 * bracket or separator those that announce a pronunciation and the like.
 */
static void strip_label(struct buf *b, size_t start)
{
	static const char *const labels[] = { "or", "and", "pronounced", "pronunciation", "Pronunciation", "IPA", "listen",
		"pron.", "pronounced as", "locally", "also", "from", "Aussprache", "prononcé", "произносится", "発音" };
	const int i = at_end(labels, COUNT(labels), b, start);
	struct buf rest = *b;
	bool alone;

	if (i < 0)
		return;
	rest.len -= strlen(labels[i]);
	alone = rest.len > start && rest.data[rest.len - 1] == ' ';
	strip_spaces(&rest, start);
	if ((alone && i < 2) || at_end(openers, COUNT(openers), &rest, start) >= 0 ||
	    at_end(separators, COUNT(separators), &rest, start) >= 0)
		b->len = rest.len;
}

/* Takes separators and labels off B's end, before a closing bracket or a full stop. */
static void strip_end(struct buf *b, size_t start)
{
	size_t before;

	do {
		int i;

		before = b->len;
		strip_spaces(b, start);
		i = at_end(separators, COUNT(separators), b, start);
		if (i >= 0)
			b->len -= strlen(separators[i]);
		strip_spaces(b, start);
		strip_label(b, start);
	} while (b->len < before);
}

/*
 * At S, behind a hole; B holds the line's tidied text so far, from START on, without spaces at its
 * end. Takes one more thing away that has no use without the hole: true, and *S is behind it.
 */
static bool mend_more(struct span *s, struct buf *b, size_t start)
{
	const int closer = at_begin(closers, COUNT(closers), *s), separator = at_begin(separators, COUNT(separators), *s);
	const bool colon = b->len > start && b->data[b->len - 1] == ':';
	int opener, joint;

	if (closer >= 0 || (separator >= 0 && colon) || span_starts(*s, ".") || span_starts(*s, "。"))
		strip_end(b, start);
	opener = at_end(openers, COUNT(openers), b, start);
	if (closer >= 0 && opener == closer) {		/* nothing is left between the brackets */
		b->len -= strlen(openers[opener]);
		*s = span_skip(*s, strlen(closers[closer]));
		return true;
	}
	if (separator >= 0 && (opener >= 0 || b->len == start || at_end(separators, COUNT(separators), b, start) >= 0)) {
		*s = span_skip(*s, strlen(separators[separator]));
		return true;
	}
	joint = opener >= 0 ? at_begin(joints, COUNT(joints), *s) : -1;
	if (joint >= 0)
		*s = span_skip(*s, strlen(joints[joint]));
	return joint >= 0;
}

/* At a hole; SPACED: whether a space stands before it. What follows all that goes with the hole goes to *REST. */
static int mend(struct span s, bool spaced, struct buf *b, size_t start, struct span *rest)
{
	static const char *const stopped[] = { ".", ",", ";", ":", ")", "]", "、", "。", "，", "）" };

	do {
		struct span next;

		spaced |= b->len > start && b->data[b->len - 1] == ' ';
		strip_spaces(b, start);
		next = skip_holes(span_skip(s, s.len && s.text[0] == TIDY_HOLE), at_end(openers, COUNT(openers), b, start) >= 0);
		s = skip_spaces(next);
		spaced |= s.text != next.text;
	} while (mend_more(&s, b, start));
	*rest = s;
	if (!spaced || !s.len || b->len == start)
		return 0;
	if (at_end(openers, COUNT(openers), b, start) >= 0 || at_begin(stopped, COUNT(stopped), s) >= 0)
		return 0;
	return buf_add_byte(b, ' ');
}

/* --- the walk -------------------------------------------------------------- */

/* Where the run of plain text at P ends: single spaces within it belong to it. */
static const char *run_end(const char *p, const char *end)
{
	const char *const begin = p;

	while (p < end && (!stops[(unsigned char)*p] || (*p == ' ' && p > begin && p + 1 < end && !stops[(unsigned char)p[1]])))
		p++;
	return p;
}

int tidy(const char *text, size_t len, bool holes, struct buf *b)
{
	const char *p = text, *const end = text + len;
	const size_t start = b->len;
	bool blank = false;	/* a space is owed */

	if (buf_reserve(b, len + 1))
		return -1;
	while (p < end) {
		const char *const run = p;
		unsigned size;

		if (holes && *p == TIDY_HOLE) {
			struct span rest;

			if (mend((struct span){ p, (size_t)(end - p) }, blank, b, start, &rest))
				return -1;
			p = rest.text;
			blank = false;
			continue;
		}
		p = run_end(p, end);
		if (p == run) {
			const enum kind kind = kind_of(p, end, &size);

			p += size;
			blank |= kind == BLANK;
			if (kind != TEXT)
				continue;
		}
		if (blank && b->len > start && b->data[b->len - 1] != ' ' && buf_add_byte(b, ' '))
			return -1;
		blank = false;
		if (buf_add(b, run, (size_t)(p - run)))
			return -1;
	}
	strip_spaces(b, start);
	b->data[b->len] = 0;
	return 0;
}
