#include "tokenizer/learn_scores.h"

#include "base/buf.h"
#include "base/err.h"

#include <stdlib.h>
#include <string.h>

#define ROUNDING 1e-14		/* more than double arithmetic can be wrong by, relatively */

typedef unsigned __int128 wide;

void scores_init(struct scores *s, const struct pairs *pairs, uint64_t *const *freqs)
{
	*s = (struct scores){ .pairs = pairs, .freqs = freqs };
}

void scores_release(struct scores *s)
{
	free(s->queue);
	free(s->places);
	free(s->lists);
	memset(s, 0, sizeof(*s));
}

/* --- the order ---------------------------------------------------------------------- */

/* COUNT * X * Y, 192 bits of it: the upper 128, and the lower 64 in *LOW. */
static wide product(uint64_t count, uint64_t x, uint64_t y, uint64_t *low)
{
	const wide xy = (wide)x * y, lower = (wide)(uint64_t)xy * count;

	*low = (uint64_t)lower;
	return (wide)(uint64_t)(xy >> 64) * count + (lower >> 64);
}

int scores_compare(const struct score *a, const struct score *b)
{
	uint64_t low_a, low_b;
	wide high_a, high_b;

	if (a->about > b->about * (1 + ROUNDING))
		return 1;
	if (b->about > a->about * (1 + ROUNDING))
		return -1;
	high_a = product(a->count, b->left, b->right, &low_a);
	high_b = product(b->count, a->left, a->right, &low_b);
	if (high_a != high_b)
		return high_a > high_b ? 1 : -1;
	return (low_a > low_b) - (low_a < low_b);
}

static bool comes_first(const struct scores *s, const struct score *a, const struct score *b)
{
	const struct pair *x, *y;
	const int c = scores_compare(a, b);

	if (c)
		return c > 0;
	if (a->count != b->count)
		return a->count > b->count;
	x = &s->pairs->items[a->pair];
	y = &s->pairs->items[b->pair];
	return x->left != y->left ? x->left < y->left : x->right < y->right;
}

static struct score score_of(const struct scores *s, uint32_t pair)
{
	const struct pair *it = &s->pairs->items[pair];
	struct score e = { .count = it->count, .left = (*s->freqs)[it->left], .right = (*s->freqs)[it->right], .pair = pair };

	e.about = (double)e.count / ((double)e.left * (double)e.right);
	return e;
}

/* --- the queue ---------------------------------------------------------------------- */

static void place(struct scores *s, size_t i, const struct score *e)
{
	s->queue[i] = *e;
	s->places[e->pair].queued = (uint32_t)i + 1;
}

/* Puts E at place I, or where it belongs above it. */
static void rise(struct scores *s, size_t i, const struct score *e)
{
	for (; i > 0 && comes_first(s, e, &s->queue[(i - 1) / 2]); i = (i - 1) / 2)
		place(s, i, &s->queue[(i - 1) / 2]);
	place(s, i, e);
}

/* Puts E at place I, or where it belongs below it. */
static void sink(struct scores *s, size_t i, const struct score *e)
{
	size_t child;

	while ((child = 2 * i + 1) < s->count) {
		if (child + 1 < s->count && comes_first(s, &s->queue[child + 1], &s->queue[child]))
			child++;
		if (!comes_first(s, &s->queue[child], e))
			break;
		place(s, i, &s->queue[child]);
		i = child;
	}
	place(s, i, e);
}

static void remove_first(struct scores *s)
{
	s->places[s->queue[0].pair].queued = 0;
	if (--s->count) {
		const struct score last = s->queue[s->count];

		sink(s, 0, &last);
	}
}

bool scores_pop(struct scores *s, uint64_t least, uint32_t *best)
{
	while (s->count) {
		const struct score now = score_of(s, s->queue[0].pair), *first = &s->queue[0];

		if (now.count < least) {
			remove_first(s);
			continue;
		}
		if (now.count != first->count || now.left != first->left || now.right != first->right) {
			sink(s, 0, &now);
			continue;
		}
		*best = now.pair;
		remove_first(s);
		return true;
	}
	return false;
}

/* --- the lists ---------------------------------------------------------------------- */

static int grow_lists(struct scores *s, uint32_t pair)
{
	const struct pair *it = &s->pairs->items[pair];
	const size_t tokens = (it->left > it->right ? it->left : it->right) + (size_t)1;

	if (array_grow(&s->places, &s->cap_places, pair + (size_t)1, sizeof(*s->places)) ||
	    array_grow(&s->lists, &s->cap_lists, tokens, sizeof(*s->lists)))
		return -1;
	for (; s->n_places <= pair; s->n_places++)
		s->places[s->n_places] = (struct score_place){ .queued = 0 };
	for (; s->n_lists < tokens; s->n_lists++)
		s->lists[s->n_lists][0] = s->lists[s->n_lists][1] = PAIRS_NONE;
	return 0;
}

static void list_pair(struct scores *s, uint32_t pair)
{
	const uint32_t tokens[2] = { s->pairs->items[pair].left, s->pairs->items[pair].right };
	struct score_place *p = &s->places[pair];

	for (int side = 0; side < 2; side++)
		if (!p->listed[side]) {
			p->next[side] = s->lists[tokens[side]][side];
			s->lists[tokens[side]][side] = pair;
			p->listed[side] = true;
		}
}

int scores_put(struct scores *s, uint32_t pair)
{
	const struct score e = score_of(s, pair);

	if (grow_lists(s, pair))
		return -1;
	if (s->places[pair].queued) {
		const size_t i = s->places[pair].queued - 1;

		if (comes_first(s, &e, &s->queue[i]))
			rise(s, i, &e);
		return 0;
	}
	if (array_grow(&s->queue, &s->cap, s->count + 1, sizeof(*s->queue)))
		return -1;
	list_pair(s, pair);
	s->count++;
	rise(s, s->count - 1, &e);
	return 0;
}

void scores_fell(struct scores *s, uint32_t token)
{
	if (token >= s->n_lists)
		return;
	for (int side = 0; side < 2; side++) {
		uint32_t *link = &s->lists[token][side];

		while (*link != PAIRS_NONE) {
			struct score_place *p = &s->places[*link];

			if (!p->queued) {		/* it left the queue since: forget it */
				p->listed[side] = false;
				*link = p->next[side];
				continue;
			}
			const struct score e = score_of(s, *link);

			if (comes_first(s, &e, &s->queue[p->queued - 1]))
				rise(s, p->queued - 1, &e);
			link = &p->next[side];
		}
	}
}
