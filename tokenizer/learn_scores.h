/*
 * learn_scores.h - which pair of neighbouring tokens makes the text likelier
 * by most when it becomes one.
 *
 *	struct scores s;
 *	scores_init(&s, &pairs, freqs)		(freqs[token]: how often a token occurs; the caller's)
 *	scores_put(&s, pair)			(pairs.items[pair].count has grown, or is new)
 *	scores_fell(&s, token)			(freqs[token] has become less)
 *	while (scores_pop(&s, least, &best)) ...
 *	scores_release(&s);
 *
 * The score of a pair is its count over the product of its tokens'; the order is
 * total: the higher score first, then the higher count, then the lower number of the left token,
 * then of the right one. It is exact for all 64-bit counts.
 *
 * A queue keeps for every pair a score that is at least the true one: what a pair's
 * falling count or a token's growing one makes of it is found out when it comes up; what
 * makes a score grow must be told by the two calls above.
 */
#ifndef TOKENIZER_LEARN_SCORES_H
#define TOKENIZER_LEARN_SCORES_H

#include "tokenizer/learn_pairs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A pair's score when it was last looked at: COUNT / (LEFT * RIGHT). */
struct score {
	double about;			/* to within a few units in its last place */
	uint64_t count, left, right;
	uint32_t pair;
};

/* A pair's place in the queue and in the lists of its two tokens. */
struct score_place {
	uint32_t queued;		/* 1 + index into queue, 0: it is not there */
	uint32_t next[2];		/* in the list of its left token, of its right one */
	bool listed[2];
};

struct scores {
	const struct pairs *pairs;
	uint64_t *const *freqs;
	struct score *queue;		/* a heap */
	size_t count, cap;
	struct score_place *places;	/* of every pair */
	size_t n_places, cap_places;
	uint32_t (*lists)[2];		/* of every token: the first pair that begins with it, that ends with it */
	size_t n_lists, cap_lists;
};

/* FREQS points to the caller's array, which may move. */
void scores_init(struct scores *s, const struct pairs *pairs, uint64_t *const *freqs);
void scores_release(struct scores *s);

int scores_put(struct scores *s, uint32_t pair);
void scores_fell(struct scores *s, uint32_t token);

/* Takes the first pair out of the queue, of those that occur LEAST times or more. False: there is none. */
bool scores_pop(struct scores *s, uint64_t least, uint32_t *best);

/* The sign of count[0] / (left[0] * right[0]) - count[1] / (left[1] * right[1]), exactly; for tests too. */
int scores_compare(const struct score *a, const struct score *b);

#endif
