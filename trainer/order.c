/* order.c - the order of training. */
#include "trainer/order.h"

#include "base/buf.h"
#include "base/err.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A run, and how many instances of the part come before it. */
struct unit {
	struct order_run run;
	uint64_t before;
};

/* The shards of a set in the order of its pass PASS. */
struct walk {
	uint64_t pass;			/* UINT64_MAX: none yet */
	uint64_t *ends;			/* [shards]: instances of the pass up to each one's end */
	uint32_t *shards;		/* [shards] */
};

struct set {
	struct order_set is;		/* its firsts are ours */
	uint32_t run;			/* instances */
	struct walk walk;
};

struct order {
	uint64_t seed, size, parts;
	struct set *sets;
	size_t n;
	uint32_t run;			/* the longest */
	/* the part that is in memory: number PART of EPOCH, which begins at FIRST */
	bool ready;
	uint64_t epoch, part, first, count;
	struct unit *units, *shuffled;
	size_t n_units, cap_units, cap_shuffled;
};

/* X * NUMERATOR / DENOMINATOR, rounded down. */
static uint64_t scale(uint64_t x, uint64_t numerator, uint64_t denominator)
{
	return (uint64_t)((unsigned __int128)x * numerator / denominator);
}

/*
 * Streams. Permutation W+1 of a part is that of its window W, 0 that of its runs; those of parts lie 2^40 apart. That of the shards
 * of set K, whose epoch is a pass, is 2^63 + K.
 */
static uint64_t stream(const struct order *o, uint64_t which)
{
	return o->part << 40 | which;
}

/* --- opening --------------------------------------------------------------------------- */

static int copy_set(struct set *s, const struct order_set *is)
{
	const uint32_t blocks = (ORDER_RUN + is->block / 2) / is->block;

	assert(is->share && is->shards && is->shards <= UINT32_MAX && is->firsts[is->shards] && is->block);
	s->is = *is;
	s->run = is->block * (blocks ? blocks : 1);
	s->walk.pass = UINT64_MAX;
	s->is.firsts = calloc(is->shards + 1, sizeof(*is->firsts));
	s->walk.ends = calloc(is->shards, sizeof(*s->walk.ends));
	s->walk.shards = calloc(is->shards, sizeof(*s->walk.shards));
	if (!s->is.firsts || !s->walk.ends || !s->walk.shards)
		return err_memory();
	memcpy((uint64_t *)(uintptr_t)s->is.firsts, is->firsts, (is->shards + 1) * sizeof(*is->firsts));
	return 0;
}

/* How many parts an epoch comes in. */
static void settle_parts(struct order *o)
{
	uint64_t shards = 0, documents = 0, parts;

	for (size_t k = 0; k < o->n; k++) {
		const struct order_set *s = &o->sets[k].is;

		o->size += s->share;
		shards += scale(s->shards, s->share, s->firsts[s->shards]);
		documents += scale(s->documents, s->share, s->firsts[s->shards]);
		o->run = o->sets[k].run > o->run ? o->sets[k].run : o->run;
	}
	parts = (o->size + ORDER_PART - 1) / ORDER_PART;
	if (parts < (shards + ORDER_SHARDS - 1) / ORDER_SHARDS)
		parts = (shards + ORDER_SHARDS - 1) / ORDER_SHARDS;
	if (parts < (documents + ORDER_DOCUMENTS - 1) / ORDER_DOCUMENTS)
		parts = (documents + ORDER_DOCUMENTS - 1) / ORDER_DOCUMENTS;
	o->parts = parts < o->size ? parts : o->size;
}

int order_open(struct order **o, uint64_t seed, const struct order_set *sets, size_t n)
{
	struct order *new = calloc(1, sizeof(*new));

	*o = NULL;
	if (new)
		new->sets = calloc(n, sizeof(*new->sets));
	if (!new || !new->sets) {
		free(new);
		return err_memory();
	}
	new->seed = seed;
	for (; new->n < n; new->n++)
		if (copy_set(&new->sets[new->n], &sets[new->n])) {
			new->n++;
			order_close(new);
			return -1;
		}
	settle_parts(new);
	*o = new;
	return 0;
}

void order_close(struct order *o)
{
	if (!o)
		return;
	for (size_t k = 0; k < o->n; k++) {
		free((uint64_t *)(uintptr_t)o->sets[k].is.firsts);
		free(o->sets[k].walk.ends);
		free(o->sets[k].walk.shards);
	}
	free(o->sets);
	free(o->units);
	free(o->shuffled);
	free(o);
}

uint64_t order_size(const struct order *o)
{
	return o->size;
}

int order_version(const struct order *o)
{
	const struct order_set *s = &o->sets[0].is;

	return o->n == 1 && s->shards == 1 && s->share == s->firsts[1] && o->run == ORDER_RUN && o->parts == 1 ? 1 : 2;
}

uint32_t order_window_most(const struct order *o)
{
	return o->run * ORDER_WINDOW;
}

/* --- parts --------------------------------------------------------------------------------- */

/* Instances of an epoch before part NUMBER. */
static uint64_t part_start(const struct order *o, uint64_t number)
{
	uint64_t n = 0;

	for (size_t k = 0; k < o->n; k++)
		n += scale(o->sets[k].is.share, number, o->parts);
	return n;
}

/* The part that INDEX is in: the last that begins at it or before. */
static uint64_t find_part(const struct order *o, uint64_t index)
{
	uint64_t low = 0, high = o->parts;

	while (high - low > 1) {
		const uint64_t middle = low + (high - low) / 2;

		if (part_start(o, middle) <= index)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static void walk_pass(const struct order *o, size_t k, uint64_t pass)
{
	struct set *s = &o->sets[k];
	struct permutation p;
	uint64_t end = 0;

	if (s->walk.pass == pass)
		return;
	permutation_open(&p, o->seed, pass, (uint64_t)1 << 63 | k, s->is.shards);
	for (size_t i = 0; i < s->is.shards; i++) {
		const uint32_t shard = (uint32_t)permutation_at(&p, i);

		end += s->is.firsts[shard + 1] - s->is.firsts[shard];
		s->walk.shards[i] = shard;
		s->walk.ends[i] = end;
	}
	s->walk.pass = pass;
}

/* Adds instances FROM .. TO-1 of a shard that begins at FIRST as runs, which end where those of the whole shard end. */
static int add_runs(struct order *o, size_t k, uint64_t pass, uint64_t first, uint64_t from, uint64_t to)
{
	const uint32_t run = o->sets[k].run;

	while (from < to) {
		const uint64_t end = from - from % run + run, stop = end < to ? end : to;

		if (array_grow(&o->units, &o->cap_units, o->n_units + 1, sizeof(*o->units)))
			return -1;
		o->units[o->n_units++].run = (struct order_run){ .set = k, .pass = pass, .index = first + from,
								 .count = (uint32_t)(stop - from) };
		from = stop;
	}
	return 0;
}

/* Adds what lies from place AT of pass PASS of set K on, up to END. */
static int add_stretch(struct order *o, size_t k, uint64_t pass, uint64_t at, uint64_t end)
{
	const struct set *s = &o->sets[k];
	size_t low = 0, high = s->is.shards - 1;

	walk_pass(o, k, pass);
	while (low < high) {	/* the first shard that ends beyond AT */
		const size_t middle = low + (high - low) / 2;

		if (s->walk.ends[middle] > at)
			high = middle;
		else
			low = middle + 1;
	}
	for (; at < end; low++) {
		const uint64_t first = s->is.firsts[s->walk.shards[low]], n = s->is.firsts[s->walk.shards[low] + 1] - first;
		const uint64_t start = s->walk.ends[low] - n, stop = s->walk.ends[low] < end ? s->walk.ends[low] : end;

		if (add_runs(o, k, pass, first, at - start, stop - start))
			return -1;
		at = stop;
	}
	return 0;
}

/* Adds what part PART of EPOCH has of set K. */
static int add_set(struct order *o, size_t k)
{
	const struct order_set *s = &o->sets[k].is;
	const uint64_t size = s->firsts[s->shards], epoch = o->epoch * s->share;
	uint64_t at = epoch + scale(s->share, o->part, o->parts);
	const uint64_t to = epoch + scale(s->share, o->part + 1, o->parts);

	while (at < to) {
		const uint64_t from = at % size, left = to - at, n = left < size - from ? left : size - from;

		if (add_stretch(o, k, at / size, from, from + n))
			return -1;
		at += n;
	}
	return 0;
}

static int shuffle_units(struct order *o)
{
	struct permutation p;

	o->count = 0;
	if (array_grow(&o->shuffled, &o->cap_shuffled, o->n_units, sizeof(*o->shuffled)))
		return -1;
	permutation_open(&p, o->seed, o->epoch, stream(o, 0), o->n_units);
	for (size_t i = 0; i < o->n_units; i++) {
		o->shuffled[i] = o->units[permutation_at(&p, i)];
		o->shuffled[i].before = o->count;
		o->count += o->shuffled[i].run.count;
	}
	return 0;
}

static int load_part(struct order *o, uint64_t epoch, uint64_t part)
{
	if (o->ready && o->epoch == epoch && o->part == part)
		return 0;
	o->ready = false;
	o->epoch = epoch;
	o->part = part;
	o->first = part_start(o, part);
	o->n_units = 0;
	for (size_t k = 0; k < o->n; k++)
		if (add_set(o, k))
			return -1;
	if (shuffle_units(o))
		return -1;
	assert(o->first + o->count == part_start(o, part + 1));
	o->ready = true;
	return 0;
}

/* --- windows ---------------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
	const struct order_run *x = a, *y = b;

	if (x->set != y->set)
		return x->set < y->set ? -1 : 1;
	if (x->pass != y->pass)
		return x->pass < y->pass ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

/* The run that has place AT of the part. */
static size_t find_unit(const struct order *o, uint64_t at)
{
	size_t low = 0, high = o->n_units;

	while (high - low > 1) {
		const size_t middle = low + (high - low) / 2;

		if (o->shuffled[middle].before <= at)
			low = middle;
		else
			high = middle;
	}
	return low;
}

int order_window(struct order *o, uint64_t epoch, uint64_t index, struct order_window *w)
{
	size_t number, first;

	assert(index < o->size);
	if (load_part(o, epoch, find_part(o, index)))
		return -1;
	number = find_unit(o, index - o->first) / ORDER_WINDOW;
	first = number * ORDER_WINDOW;
	*w = (struct order_window){ .epoch = epoch, .first = o->first + o->shuffled[first].before };
	for (size_t i = first; i < o->n_units && w->n < ORDER_WINDOW; i++) {
		w->runs[w->n] = o->shuffled[i].run;
		w->runs[w->n].at = w->count;
		w->count += w->runs[w->n++].count;
	}
	qsort(w->runs, w->n, sizeof(w->runs[0]), by_place);
	permutation_open(&w->shuffle, o->seed, epoch, stream(o, number + 1), w->count);
	return 0;
}

struct order_run order_find(const struct order_window *w, uint64_t index)
{
	const uint32_t at = (uint32_t)permutation_at(&w->shuffle, index - w->first);
	const struct order_run *r = w->runs;

	while (at < r->at || at - r->at >= r->count)
		r++;
	return (struct order_run){ .set = r->set, .pass = r->pass, .index = r->index + (at - r->at), .count = 1, .at = at };
}
