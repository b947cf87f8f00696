/*
 * sequences.h - sequences of ids as a model takes them, many, one after the other in memory.
 *
 *	struct sequences s = SEQUENCES_INIT;
 *	sequences_add(&s, ids, n, first, label)
 *	... s.ids + s.starts[i], s.starts[i+1] - s.starts[i] ids, of which s.first[i] are of type 0
 *	sequences_release(&s);
 */
#ifndef FINETUNE_SEQUENCES_H
#define FINETUNE_SEQUENCES_H

#include <stddef.h>
#include <stdint.h>

struct sequences {
	size_t n;
	int32_t *ids;			/* [starts[n]] */
	size_t *starts;			/* [n+1] */
	int32_t *first;			/* [n] tokens of type 0, which come first; the others are of type 1 */
	int32_t *labels;		/* [n] or -1 */
	int longest;			/* tokens */
	/* private */
	size_t cap_ids, cap_starts, cap_first, cap_labels;
};
#define SEQUENCES_INIT { .ids = NULL }

/* Room for a sequence of N tokens, whose ids are to be filled in; NULL: out of memory. */
int32_t *sequences_add(struct sequences *s, int n, int first, int32_t label);
void sequences_clear(struct sequences *s);
void sequences_release(struct sequences *s);

static inline int sequences_length(const struct sequences *s, size_t i) { return (int)(s->starts[i + 1] - s->starts[i]); }

#endif
