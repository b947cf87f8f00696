/* sequences.c - many sequences in memory. */
#include "finetune/sequences.h"

#include "base/buf.h"

#include <stdlib.h>

int32_t *sequences_add(struct sequences *s, int n, int first, int32_t label)
{
	const size_t at = s->n ? s->starts[s->n] : 0;

	if (array_grow(&s->ids, &s->cap_ids, at + (size_t)n, sizeof(*s->ids)) ||
	    array_grow(&s->starts, &s->cap_starts, s->n + 2, sizeof(*s->starts)) ||
	    array_grow(&s->first, &s->cap_first, s->n + 1, sizeof(*s->first)) ||
	    array_grow(&s->labels, &s->cap_labels, s->n + 1, sizeof(*s->labels)))
		return NULL;
	s->starts[s->n] = at;
	s->first[s->n] = first;
	s->labels[s->n] = label;
	s->starts[++s->n] = at + (size_t)n;
	if (n > s->longest)
		s->longest = n;
	return s->ids + at;
}

void sequences_clear(struct sequences *s)
{
	s->n = 0;
	s->longest = 0;
}

void sequences_release(struct sequences *s)
{
	free(s->ids);
	free(s->starts);
	free(s->first);
	free(s->labels);
	*s = (struct sequences)SEQUENCES_INIT;
}
