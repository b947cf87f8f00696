#include "tokenizer/cut_line.h"

#include "base/err.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

#define SHOWN 40	/* bytes of a text in a message, at most */

/* The bytes of TEXT that a message shows: whole characters. */
static int shown(const char *text, size_t len)
{
	return (int)utf8_valid_prefix(text, len < SHOWN ? len : SHOWN);
}

static int refuse(const char *p, const char *end, const char *q, const char *cut_end)
{
	if (q == cut_end)
		return err_fail("the segmenter left out '%.*s'", shown(p, (size_t)(end - p)), p);
	if (p == end)
		return err_fail("the segmenter added '%.*s'", shown(q, (size_t)(cut_end - q)), q);
	return err_fail("the segmenter made '%.*s' of '%.*s'", shown(q, (size_t)(cut_end - q)), q, shown(p, (size_t)(end - p)), p);
}

/* The character at P < END, 0 at the end, and what follows it to *NEXT. */
static uint32_t look(const char *p, const char *end, const char **next)
{
	*next = p;
	return p < end ? utf8_next(next) : 0;
}

/* Adds a character, LEN bytes at TEXT, whose place in the line is AT. */
static int add(struct cut_line *c, struct buf *out, const char *text, size_t len, uint64_t at)
{
	if (buf_add(out, text, len))
		return -1;
	if (!c)
		return 0;
	if (array_grow(&c->places, &c->cap_places, c->n_places + 1, sizeof(*c->places)))
		return -1;
	c->places[c->n_places++] = at;
	return 0;
}

/*
 * Adds the text to OUT, and the places to C, where that is not NULL. The line's white space goes before any is taken as
 * added: some that is white space here is a control character to the tokenizer, which drops it, and no end of a word.
 */
static int align(struct cut_line *c, const char *line, size_t len, const char *cut, size_t cut_len, struct buf *out)
{
	const char *p = line, *q = cut, *const end = line + len, *const cut_end = cut + cut_len;
	uint64_t at = 0;

	if (utf8_valid_prefix(cut, cut_len) < cut_len)
		return err_fail("the segmenter gave ill-formed UTF-8");
	while (p < end || q < cut_end) {
		const char *next, *cut_next;
		const uint32_t a = look(p, end, &next), b = look(q, cut_end, &cut_next);

		if (p < end && q < cut_end && a == b) {
			if (add(c, out, p, (size_t)(next - p), at))
				return -1;
		} else if (p < end && utf8_is_space(a)) {
			cut_next = q;
		} else if (q < cut_end && utf8_is_space(b)) {
			if (add(c, out, " ", 1, at))
				return -1;
			next = p;
		} else {
			return refuse(p, end, q, cut_end);
		}
		at += next > p;
		p = next;
		q = cut_next;
	}
	return 0;
}

int cut_line_make(struct cut_line *c, const char *line, size_t len, const char *cut, size_t cut_len, bool places)
{
	buf_clear(&c->text);
	c->n_places = 0;
	return buf_reserve(&c->text, 1) || align(places ? c : NULL, line, len, cut, cut_len, &c->text) ? -1 : 0;
}

int cut_lines(const char *text, size_t len, const char **cut, const char *cut_end, struct buf *out, size_t *n)
{
	const char *const end = text + len;

	for (*n = 0; text < end; ++*n) {
		const char *const newline = memchr(text, '\n', (size_t)(end - text));
		const char *const cut_newline = memchr(*cut, '\n', (size_t)(cut_end - *cut));

		if (align(NULL, text, (size_t)(newline - text), *cut, (size_t)(cut_newline - *cut), out) || buf_add_byte(out, '\n'))
			return -1;
		text = newline + 1;
		*cut = cut_newline + 1;
	}
	return 0;
}

void cut_line_spans(const struct cut_line *c, struct span *spans, size_t n)
{
	for (size_t i = 0; i < n; i++)
		spans[i] = (struct span){ c->places[spans[i].start], c->places[spans[i].end - 1] + 1 };
}

void cut_line_release(struct cut_line *c)
{
	buf_release(&c->text);
	free(c->places);
	*c = (struct cut_line)CUT_LINE_INIT;
}
