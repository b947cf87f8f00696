/* byte_places.c - places in code points to places in bytes. */
#include "base/utf8.h"
#include "tokenizer/tokenizer.h"

/* A place in a text, both ways. */
struct place {
	const char *text, *at;
	uint64_t cp;
};

/* Goes on to code point CP, or back to the beginning first. */
static uint64_t go_to(struct place *p, uint64_t cp)
{
	if (cp < p->cp)
		*p = (struct place){ p->text, p->text, 0 };
	for (; p->cp < cp; p->cp++)
		utf8_next(&p->at);
	return (uint64_t)(p->at - p->text);
}

/* Spans may overlap, so the end of one is gone to from its start, and the next start from there too. */
static void to_bytes(struct span *s, struct place *start)
{
	struct place end;

	s->start = go_to(start, s->start);
	end = *start;
	s->end = go_to(&end, s->end);
}

void spans_to_bytes(struct span *spans, size_t n, const char *text)
{
	struct place start = { text, text, 0 };

	for (size_t i = 0; i < n; i++)
		to_bytes(&spans[i], &start);
}

void word_list_to_bytes(struct word_list *w, const char *text)
{
	struct place start = { text, text, 0 };

	for (size_t i = 0; i < w->count; i++)
		to_bytes(&w->items[i].span, &start);
}
