/*
 * span.h - a piece of text that somebody else owns.
 */
#ifndef CORPUS_SPAN_H
#define CORPUS_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

struct span {
	const char *text;	/* not ended by a 0 byte */
	size_t len;
};
#define SPAN(literal) ((struct span){ (literal), sizeof(literal) - 1 })

static inline struct span span_of(const char *text)
{
	return (struct span){ text, strlen(text) };
}

static inline bool span_is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static inline struct span span_trim(struct span s)
{
	while (s.len && span_is_space(s.text[0]))
		s.text++, s.len--;
	while (s.len && span_is_space(s.text[s.len - 1]))
		s.len--;
	return s;
}

static inline struct span span_skip(struct span s, size_t n)
{
	return n < s.len ? (struct span){ s.text + n, s.len - n } : (struct span){ s.text + s.len, 0 };
}

static inline bool span_is(struct span s, const char *text)
{
	return s.len == strlen(text) && !memcmp(s.text, text, s.len);
}

static inline bool span_starts(struct span s, const char *text)
{
	const size_t n = strlen(text);

	return s.len >= n && !memcmp(s.text, text, n);
}

/* The same, whatever the case of ASCII letters. */
static inline bool span_starts_nocase(struct span s, const char *text)
{
	const size_t n = strlen(text);

	return s.len >= n && !strncasecmp(s.text, text, n);
}

/* Where C first stands in S; S.len when it does not. */
static inline size_t span_find(struct span s, char c)
{
	const char *p = s.len ? memchr(s.text, c, s.len) : NULL;

	return p ? (size_t)(p - s.text) : s.len;
}

#endif
