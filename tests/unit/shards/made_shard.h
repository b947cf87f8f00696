/*
 * Shards to test readers with, made without bert-shard's own code: documents of
 * MADE_TOKENS invented tokens in sentences of ten (every second one is empty), instances of a sentence a segment, none cut, and
 * if asked one lie that all checksums agree to.
 */
#ifndef TESTS_MADE_SHARD_H
#define TESTS_MADE_SHARD_H

#include "tests/unit/shards/made_recipe.h"

/* Documents 2 and 3 are equal. */
static inline struct shard_document made_document(const struct made *m, uint32_t d)
{
	const uint32_t which = d == 3 ? 2 : d;
	struct key key = key_shard_first(m->shard, m->shards);

	key.hi += (which + 1) * (UINT64_MAX / m->shards / (MADE_DOCUMENTS + 2));
	key.lo = which * UINT64_C(0x9E3779B97F4A7C15);
	if (m->lie == LIE_KEY_ELSEWHERE && d == MADE_DOCUMENTS - 1)
		key = key_shard_first((m->shard + 1) % m->shards, m->shards);
	return (struct shard_document){ .key = key, .occurrence = d != 3 ? 0 : m->lie == LIE_OCCURRENCE ? 2 : 1,
					.sentences = MADE_TOKENS / 5,
					.tokens = MADE_TOKENS, .text_bytes = 4 * MADE_TOKENS, .id = "id", .id_len = 2,
					.title = "A title", .title_len = 7 };
}

static inline uint32_t made_id(uint32_t document, uint32_t token)
{
	return 5 + (document * 7 + token * 13) % (MADE_VOCAB - 5);
}

struct made_instance {
	uint64_t drawn;
	uint32_t document, pass, first, other, from;	/* other: whose the second segment is, from: its first token */
	bool random;
};

static inline int made_compare(const void *a, const void *b)
{
	const struct made_instance *x = a, *y = b;

	if (x->drawn != y->drawn)
		return x->drawn < y->drawn ? -1 : 1;
	return x->document < y->document ? -1 : x->document > y->document;
}

/* Whose a random next after document D is: the one at the point drawn, or the next one; 3 is 2 once more. */
static inline uint32_t made_other(const struct made *m, uint32_t d, uint64_t u)
{
	const struct key point = key_point(m->shard, m->shards, u), own = made_document(m, d).key;
	uint32_t at = 0;

	while (at < MADE_DOCUMENTS && key_compare(made_document(m, at).key, point) < 0)
		at++;
	at %= MADE_DOCUMENTS;
	if (!m->switches && !key_compare(made_document(m, at).key, own))
		at = (at == 2 ? 4 : at + 1) % MADE_DOCUMENTS;
	return at;
}

static inline size_t made_plan(const struct made *m, uint32_t passes, struct made_instance *list)
{
	size_t n = 0;
	struct rng r;

	for (uint32_t d = 0; d < MADE_DOCUMENTS; d++) {
		const struct shard_document doc = made_document(m, d);

		for (uint32_t pass = 0; pass < passes && !(m->lie == LIE_NOT_BEGUN && d == 1); pass++) {
			for (uint32_t first = 0; first < MADE_TOKENS; n++) {
				rng_open(&r, m->seed, RNG_INSTANCES, doc.key.hi, doc.key.lo, doc.occurrence, pass, first);
				rng_unit(&r);		/* the target */
				const bool alone = first + 10 == MADE_TOKENS;

				if (!alone)
					rng_u32(&r);		/* one sentence of two */
				const bool random = alone || (m->lie != LIE_NO_RANDOM && rng_unit(&r) < 0.5);

				const uint32_t other = random ? made_other(m, d, rng_u64(&r)) : d;

				list[n] = (struct made_instance){ .document = d, .pass = pass, .first = first, .other = other,
								  .random = random, .from = first + 10 };
				if (random)
					list[n].from = 10 * rng_below(&r, MADE_TOKENS / 10);
				rng_open(&r, m->seed, RNG_ORDER, doc.key.hi, doc.key.lo, doc.occurrence, pass, first);
				list[n].drawn = rng_u64(&r);
				first += random ? 10 : 20;
			}
		}
	}
	qsort(list, n, sizeof(*list), made_compare);
	if (m->lie == LIE_ORDER) {
		const struct made_instance t = list[MADE_BLOCK];

		list[MADE_BLOCK] = list[MADE_BLOCK - 1];	/* across blocks */
		list[MADE_BLOCK - 1] = t;
	}
	if (m->lie == LIE_TWICE)
		list[4] = list[3];
	return n;
}

/* Instance K of the shard, masks and all. */
static inline void made_fill(const struct made *m, const struct shard_recipe *recipe, struct mask *mask,
			     const struct made_instance *p, size_t k, struct instance *i)
{
	const struct shard_document doc = made_document(m, p->document);
	uint32_t first = p->first, other = p->other, from = p->from;
	const bool lies = k == 2;
	struct rng r;

	i->flags = p->random ? INSTANCE_RANDOM_NEXT : 0;
	if (lies && m->lie == LIE_BEYOND)
		from = MADE_TOKENS - 5;
	if (lies && m->lie == LIE_SAME_DOCUMENT) {
		other = p->document;
		i->flags = INSTANCE_RANDOM_NEXT;
	}
	if (lies && m->lie == LIE_NOT_NEXT) {
		other = p->document ? 0 : 1;
		i->flags = 0;
	}
	if (lies && m->lie == LIE_REPEATED) {
		other = 3;
		i->flags = INSTANCE_RANDOM_NEXT;
	}
	i->n = 23;
	i->n_segments = 2;
	i->pass = p->pass;
	i->predictions = 0;
	i->segments[0] = (struct instance_segment){ p->document, first, 10 };
	i->segments[1] = (struct instance_segment){ other, from, 10 };
	i->ids[0] = recipe->special.cls;
	for (uint32_t t = 0; t < 10; t++) {
		i->ids[1 + t] = made_id(p->document, first + t);
		i->ids[12 + t] = made_id(other, from + t);
	}
	i->ids[11] = i->ids[22] = recipe->special.sep;
	if (m->dynamic)
		return;
	mask_stream(&r, RNG_STATIC_MASK, m->seed, doc.key, doc.occurrence, p->pass, first);
	mask_draw(mask, &r, i);
	if (lies && m->lie == LIE_MASK_ID)
		i->ids[i->positions[0]] = 7 + (i->ids[i->positions[0]] == 7);
	if (lies && m->lie == LIE_MASK_POSITION) {	/* the first mask a position earlier or later */
		const uint32_t at = i->positions[0], seen = i->ids[at];
		const uint32_t to = at > 1 ? at - 1 : i->positions[1] > 2 ? 2 : 0;

		assert_true(to && to != 11);
		i->ids[at] = i->labels[0];
		i->labels[0] = i->ids[to];
		i->ids[to] = seen;
		i->positions[0] = to;
	}
}

#include "tests/unit/shards/made_file.h"
#endif
