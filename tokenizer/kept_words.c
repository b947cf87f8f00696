#include "tokenizer/kept_words.h"

#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

void kept_words_init(struct kept_words *k, const struct normalizer_opts *rules, const struct never_split *tokens)
{
	*k = (struct kept_words){ .chars = rules->chars, .tokens = tokens, .split_cjk = rules->space_cjk };
}

void kept_words_release(struct kept_words *k)
{
	buf_release(&k->text);
	free(k->spans);
}

enum part { OF_TOKEN, SPACE, APART };

/* A deleted character separates nothing. */
static enum part part_of(const struct kept_words *k, uint32_t cp)
{
	const uint16_t flags = chars_entry(k->chars, cp)->flags;

	if (flags & CHAR_DELETE)
		return OF_TOKEN;
	if (flags & CHAR_SPACE)
		return SPACE;
	return flags & CHAR_CJK && k->split_cjk ? APART : OF_TOKEN;
}

static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_gap(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The end of the white space at P and the tokens of small letters and digits that are whole before END; P where there are none. */
static const char *plain_stretch(const char *p, const char *end)
{
	for (const char *q = p; q < end; q++) {
		if (is_gap(*q))
			p = q + 1;
		else if (!is_plain(*q))
			return p;
	}
	return end;
}

const char *kept_words_stretch(const struct kept_words *k, const char *p, const char *end, bool *plain)
{
	const char *const bulk = plain_stretch(p, end);
	enum part part;

	*plain = bulk > p;
	if (*plain)
		return bulk;
	part = part_of(k, utf8_next(&p));
	while (part != APART && p < end) {
		const char *q = p;

		if (part_of(k, utf8_next(&q)) != part)
			break;
		p = q;
	}
	return p;
}

static int add_character(struct kept_words *k, const char *p, size_t len, uint64_t at, bool spans)
{
	if (buf_add(&k->text, p, len) || (spans && array_grow(&k->spans, &k->cap_spans, k->n_spans + 1, sizeof(*k->spans))))
		return -1;
	if (spans)
		k->spans[k->n_spans++] = (struct span){ at, at + 1 };
	return 0;
}

int kept_words_take(struct kept_words *k, const char *p, const char *end, bool spans, struct words *w)
{
	uint64_t at = 0;

	buf_clear(&k->text);
	k->n_spans = 0;
	for (const char *q = p; p < end && k->text.len <= NEVER_SPLIT_BYTES; p = q, at++)
		if (!(chars_entry(k->chars, utf8_next(&q))->flags & CHAR_DELETE) && add_character(k, p, (size_t)(q - p), at, spans))
			return -1;
	if (p < end || !k->text.len || !never_split_has(k->tokens, k->text.data, k->text.len))
		return 0;
	if (buf_reserve(&k->text, WORDS_SLACK))
		return -1;
	k->start = 0;
	k->end = (uint32_t)k->text.len;
	*w = (struct words){ .text = k->text.data, .starts = &k->start, .ends = &k->end, .count = 1, .spans = spans ? k->spans : NULL };
	return 1;
}

void kept_words_join(struct kept_words *k, struct words *w)
{
	if (w->count < 2)
		return;
	for (size_t i = 1; i < w->count; i++)
		if (w->starts[i] != w->ends[i - 1])
			return;
	k->start = w->starts[0];
	k->end = w->ends[w->count - 1];
	if (!never_split_has(k->tokens, w->text + k->start, k->end - k->start))
		return;
	w->starts = &k->start;
	w->ends = &k->end;
	w->count = 1;
}
