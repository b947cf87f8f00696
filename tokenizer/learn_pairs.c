#include "tokenizer/learn_pairs.h"

#include "base/buf.h"
#include "base/err.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS_LEAST ((size_t)1 << 16)

int pairs_init(struct pairs *p, size_t occurrences)
{
	assert(occurrences < PAIRS_NONE);
	*p = (struct pairs){ .max_occurrences = occurrences, .n_slots = SLOTS_LEAST };
	p->slots = calloc(p->n_slots, sizeof(*p->slots));
	p->occurrences = malloc((occurrences + 1) * sizeof(*p->occurrences));
	if (!p->slots || !p->occurrences) {
		pairs_release(p);
		return err_memory();
	}
	return 0;
}

void pairs_release(struct pairs *p)
{
	free(p->items);
	free(p->slots);
	free(p->occurrences);
	free(p->queue);
	memset(p, 0, sizeof(*p));
}

/* --- the table -------------------------------------------------------------------- */

static size_t hash_pair(uint32_t left, uint32_t right)
{
	uint64_t h = ((uint64_t)left << 32 | right) * 0x9E3779B97F4A7C15u;

	return (size_t)(h ^ h >> 32);
}

/* The slot that holds the pair, or the free one where it belongs. At least half of the slots are free, so this ends. */
static size_t find_slot(const struct pairs *p, uint32_t left, uint32_t right)
{
	const size_t mask = p->n_slots - 1;
	size_t i = hash_pair(left, right) & mask;

	for (; p->slots[i]; i = (i + 1) & mask) {
		const struct pair *it = &p->items[p->slots[i] - 1];

		if (it->left == left && it->right == right)
			break;
	}
	return i;
}

static int grow_slots(struct pairs *p)
{
	const size_t n = 2 * p->n_slots;
	uint32_t *slots = calloc(n, sizeof(*slots));

	if (!slots)
		return err_memory();
	for (size_t k = 0; k < p->count; k++) {
		size_t i = hash_pair(p->items[k].left, p->items[k].right) & (n - 1);

		while (slots[i])
			i = (i + 1) & (n - 1);
		slots[i] = (uint32_t)(k + 1);
	}
	free(p->slots);
	p->slots = slots;
	p->n_slots = n;
	return 0;
}

uint32_t pairs_add(struct pairs *p, uint32_t left, uint32_t right, uint64_t count, uint32_t word)
{
	size_t slot = find_slot(p, left, right);
	struct pair *it;

	if (!p->slots[slot]) {
		if (p->count >= p->n_slots / 2) {
			if (grow_slots(p))
				return PAIRS_NONE;
			slot = find_slot(p, left, right);
		}
		if (array_grow(&p->items, &p->cap, p->count + 1, sizeof(*p->items)))
			return PAIRS_NONE;
		p->items[p->count++] = (struct pair){ .left = left, .right = right, .words = PAIRS_NONE };
		p->slots[slot] = (uint32_t)p->count;
	}
	it = &p->items[p->slots[slot] - 1];
	it->count += count;
	if (it->words == PAIRS_NONE || p->occurrences[it->words].word != word) {
		assert(p->n_occurrences < p->max_occurrences);
		p->occurrences[p->n_occurrences] = (struct occurrence){ .word = word, .next = it->words };
		it->words = (uint32_t)p->n_occurrences++;
	}
	return p->slots[slot] - 1;
}

void pairs_take(struct pairs *p, uint32_t left, uint32_t right, uint64_t count)
{
	const uint32_t slot = p->slots[find_slot(p, left, right)];
	struct pair *it;

	assert(slot);
	it = &p->items[slot - 1];
	assert(it->count >= count || (!it->count && it->words == PAIRS_NONE));
	it->count -= it->count ? count : 0;
}

uint32_t pairs_clear(struct pairs *p, uint32_t pair)
{
	const uint32_t words = p->items[pair].words;

	p->items[pair].count = 0;
	p->items[pair].words = PAIRS_NONE;
	return words;
}

/* --- the queue -------------------------------------------------------------------- */

static bool comes_first(const struct pairs *p, const struct queue_entry *a, const struct queue_entry *b)
{
	const struct pair *x, *y;

	if (a->count != b->count)
		return a->count > b->count;
	x = &p->items[a->pair];
	y = &p->items[b->pair];
	return x->left != y->left ? x->left < y->left : x->right < y->right;
}

int pairs_push(struct pairs *p, uint32_t pair)
{
	const struct queue_entry e = { p->items[pair].count, pair };
	size_t i = p->n_queue;

	if (array_grow(&p->queue, &p->cap_queue, p->n_queue + 1, sizeof(*p->queue)))
		return -1;
	for (p->n_queue++; i > 0 && comes_first(p, &e, &p->queue[(i - 1) / 2]); i = (i - 1) / 2)
		p->queue[i] = p->queue[(i - 1) / 2];
	p->queue[i] = e;
	return 0;
}

/* Puts E where the first entry was. */
static void sink(struct pairs *p, struct queue_entry e)
{
	size_t i = 0, child;

	while ((child = 2 * i + 1) < p->n_queue) {
		if (child + 1 < p->n_queue && comes_first(p, &p->queue[child + 1], &p->queue[child]))
			child++;
		if (!comes_first(p, &p->queue[child], &e))
			break;
		p->queue[i] = p->queue[child];
		i = child;
	}
	p->queue[i] = e;
}

bool pairs_pop(struct pairs *p, uint64_t least, uint32_t *best)
{
	while (p->n_queue && p->queue[0].count >= least) {
		const struct queue_entry first = p->queue[0];
		const uint64_t count = p->items[first.pair].count;

		if (count < first.count && count >= least) {
			sink(p, (struct queue_entry){ count, first.pair });
			continue;
		}
		if (--p->n_queue)
			sink(p, p->queue[p->n_queue]);
		if (count != first.count)
			continue;
		*best = first.pair;
		return true;
	}
	return false;
}
