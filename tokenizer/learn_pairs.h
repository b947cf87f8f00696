/*
 * learn_pairs.h - how often pairs of neighbouring tokens occur, in which words,
 * and which pair occurs most.
 *
 *	struct pairs p;
 *	pairs_init(&p, occurrences)			(room for so many in all)
 *	pairs_add(&p, left, right, count, word)		(one more place, in a word of that count)
 *	pairs_take(&p, left, right, count)		(one place less; the word stays listed)
 *	pairs_push(&p, i)				(pair i may be the best from now on)
 *	while (pairs_pop(&p, least, &best)) ...
 *	pairs_release(&p);
 *
 * The order of pairs is total: the higher count first, then the lower number
 * of the left token, then of the right one.
 *
 * The queue is lazy: an entry says what a pair's count was. A pair that has
 * become rarer is put back when it comes up; one that has become more
 * frequent was pushed again, so that its older entry is passed over.
 */
#ifndef TOKENIZER_LEARN_PAIRS_H
#define TOKENIZER_LEARN_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAIRS_NONE UINT32_MAX

struct pair {
	uint64_t count;			/* of all words that have it, times how often they do */
	uint32_t left, right;
	uint32_t words;			/* its first occurrence, or PAIRS_NONE */
	uint32_t step;			/* the caller's */
};

/* Words that have, or had, a pair: a list through all occurrences. A word that has it twice in a row may stand once. */
struct occurrence {
	uint32_t word, next;
};

struct queue_entry {
	uint64_t count;
	uint32_t pair;
};

struct pairs {
	struct pair *items;
	size_t count, cap;
	uint32_t *slots;		/* 1 + index into items, 0: free */
	size_t n_slots;
	struct occurrence *occurrences;
	size_t n_occurrences, max_occurrences;
	struct queue_entry *queue;	/* a heap */
	size_t n_queue, cap_queue;
};

int pairs_init(struct pairs *p, size_t occurrences);
void pairs_release(struct pairs *p);

/* The pair's index, or PAIRS_NONE with the reason set. */
uint32_t pairs_add(struct pairs *p, uint32_t left, uint32_t right, uint64_t count, uint32_t word);

/* The pair must be there, unless it was emptied by pairs_clear. */
void pairs_take(struct pairs *p, uint32_t left, uint32_t right, uint64_t count);

/* Sets a pair's count to 0 and gives its list of words away. */
uint32_t pairs_clear(struct pairs *p, uint32_t pair);

int pairs_push(struct pairs *p, uint32_t pair);

/* The pair that comes first among those pushed, if it occurs LEAST times or more. False: there is none. */
bool pairs_pop(struct pairs *p, uint64_t least, uint32_t *best);

#endif
