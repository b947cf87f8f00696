#include "corpus/listing.h"

#include "corpus/letters.h"

#include <stdio.h>
#include <string.h>

#define NUMBER_MAX 999	/* four digits are years and the like */

/* Writes the mark with L's number; none comes after "z" and after NUMBER_MAX. */
static void make_mark(struct listing *l)
{
	int n;

	if (l->number > (l->lettered ? 26 : NUMBER_MAX))
		n = 0;
	else if (!l->number)
		n = snprintf(l->mark, sizeof(l->mark), "%s", l->head);
	else if (l->lettered)
		n = snprintf(l->mark, sizeof(l->mark), "%s%c%s", l->head, (char)('a' + l->number - 1), l->tail);
	else
		n = snprintf(l->mark, sizeof(l->mark), "%s%u%s", l->head, l->number, l->tail);
	l->mark_len = n > 0 && (size_t)n < sizeof(l->mark) ? (unsigned)n : 0;
}

/* Reads "12" or "b" at TEXT[at]; returns its length, 0 when there is none. */
static size_t read_number(struct listing *l, const char *text, size_t len, size_t at)
{
	size_t end = at;

	l->number = 0;
	l->lettered = at < len && text[at] >= 'a' && text[at] <= 'y';
	if (l->lettered) {
		l->number = (unsigned)(text[at] - 'a') + 1;
		return 1;
	}
	for (; end < len && end < at + 3 && text[end] >= '0' && text[end] <= '9'; end++)
		l->number = l->number * 10 + (unsigned)(text[end] - '0');
	return l->number ? end - at : 0;
}

/* What follows the number, up to the space after it; NULL when it is no mark. */
static const char *read_tail(const char *text, size_t len, size_t at)
{
	static const char *const tails[] = { ".)", ")", "." };

	for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
		const size_t n = strlen(tails[i]);

		if (len - at > n && memcmp(text + at, tails[i], n) == 0 && text[at + n] == ' ')
			return tails[i];
	}
	return NULL;
}

/* Whether the mark at TEXT[at] has a space before it, and after it what may begin an item. */
static bool stands_alone(const struct listing *l, const char *text, size_t len, size_t at)
{
	size_t end = at + l->mark_len;
	unsigned size;

	if (text[at - 1] != ' ' || end >= len)
		return false;
	if (!l->number)
		return true;
	if (text[end++] != ' ' || end >= len)
		return false;
	switch (letter_at(text, end, &size)) {
	case LETTER_LOWER:
	case LETTER_COMMA:
	case LETTER_CLOSE:
	case LETTER_SPACE:
	case LETTER_DOT: return false;
	default: return true;
	}
}

static void seek(struct listing *l, const char *text, size_t len, size_t from)
{
	const char *p = text + from, *const end = text + len;

	while (l->mark_len && p < end && (p = memmem(p, (size_t)(end - p), l->mark, l->mark_len)) != NULL) {
		if (stands_alone(l, text, len, (size_t)(p - text))) {
			l->next = (size_t)(p - text);
			return;
		}
		p++;
	}
	l->next = len;
	l->mark_len = 0;
}

void listing_advance(struct listing *l, const char *text, size_t len)
{
	if (l->number) {
		l->number++;
		make_mark(l);
	}
	seek(l, text, len, l->next + 1);
}

void listing_start(struct listing *l, const char *text, size_t len, bool ordinals)
{
	size_t at = 0, digits;
	bool bullet = false;
	unsigned size;

	memset(l, 0, sizeof(*l));
	l->next = len;
	if (at < len && letter_at(text, at, &size) == LETTER_BULLET) {
		bullet = true;
		at += size;
		at += at < len && text[at] == ' ';
	}
	if (at < len && text[at] == '(')
		at++;
	memcpy(l->head, text, at);
	digits = read_number(l, text, len, at);
	l->tail = digits ? read_tail(text, len, at + digits) : NULL;
	if (l->tail && (l->tail[0] != '.' || l->tail[1] || !ordinals || bullet)) {
		l->number++;
	} else if (bullet) {
		l->number = 0;
		l->head[size] = 0;	/* the bullet alone, whatever stands between it and the text */
	} else {
		return;
	}
	make_mark(l);
	seek(l, text, len, 1);
}
