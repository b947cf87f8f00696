/* Instances of one shard. */
#include "shards/build_impl.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/pool.h"
#include "base/rng.h"
#include "shards/keys.h"

#include <assert.h>

#define STRETCH 256		/* documents drafted at a time by one worker */

int build_init(struct build *b, const struct shard_recipe *recipe, const struct vocab *vocab, const struct docset *docs,
	       unsigned threads, uint64_t limit)
{
	const struct mask_rule rule = shard_recipe_mask(recipe, vocab);
	const struct shard_header header = { .recipe = *recipe,
					     .block_records = shard_block_records(recipe->max_seq_length) };

	*b = (struct build){ .recipe = recipe, .docs = docs, .threads = threads ? threads : 1, .limit = limit };
	b->shape = shard_header_shape(&header, (uint32_t)docs->n);
	b->workers = calloc(b->threads, sizeof(*b->workers));
	if (!b->workers)
		return err_memory();
	for (unsigned k = 0; k < b->threads; k++) {
		struct build_worker *w = &b->workers[k];

		if (instance_init(&w->instance, &b->shape) || instance_columns_init(&w->columns, &b->shape) ||
		    mask_init(&w->mask, &rule)) {
			build_release(b);
			return -1;
		}
	}
	return 0;
}

void build_release(struct build *b)
{
	if (!b)
		return;
	for (unsigned k = 0; b->workers && k < b->threads; k++) {
		struct build_worker *w = &b->workers[k];

		free(w->drafts);
		instance_release(&w->instance);
		instance_columns_release(&w->columns);
		mask_release(&w->mask);
	}
	free(b->workers);
	free(b->drafts);
	free(b->order);
	free(b->all);
	arena_release(&b->masks);
	*b = (struct build){ .recipe = NULL };
}

/* --- drafting -------------------------------------------------------------------------------- */

/* Where the drafting of one document's pass stands. */
struct pass {
	const struct build *b;
	struct build_worker *worker;
	const struct docset_document *doc;
	uint32_t number;		/* of the document */
	uint32_t pass;
	uint32_t sentence;		/* the next one */
	struct rng rng;
	uint32_t coins, coins_left;	/* bits of the draw that coins come from */
};

static uint32_t coin(struct pass *p)
{
	uint32_t bit;

	if (!p->coins_left) {
		p->coins = rng_u32(&p->rng);
		p->coins_left = 32;
	}
	bit = p->coins & 1;
	p->coins >>= 1;
	p->coins_left--;
	return bit;
}

static uint32_t draw_target(struct pass *p)
{
	const struct shard_recipe *r = p->b->recipe;
	const uint32_t most = r->max_seq_length - 3;

	return rng_unit(&p->rng) < r->short_seq_prob ? 2 + rng_below(&p->rng, most - 1) : most;
}

static struct stretch random_next(struct pass *p, uint32_t wanted)
{
	const uint32_t number = docset_follow(p->b->docs, rng_u64(&p->rng), p->number);
	const struct docset_document *d = &p->b->docs->docs[number];
	const uint32_t first = rng_below(&p->rng, d->sentences), end = take_sentences(d, first, wanted);

	return stretch_of(d, number, first, end);
}

/* Cuts A and B to together MOST tokens. */
static bool truncate_pair(struct pass *p, struct stretch *a, struct stretch *b, uint32_t most)
{
	const bool cut = (uint64_t)a->length + b->length > most;

	while ((uint64_t)a->length + b->length > most) {
		struct stretch *longer = a->length > b->length ? a : b;

		longer->first += coin(p);
		longer->length--;
	}
	return cut;
}

static int keep_draft(struct pass *p, const struct stretch *a, const struct stretch *b, bool random)
{
	struct build_worker *w = p->worker;
	struct rng rng;
	struct draft *d;

	w->counted++;
	w->totals.random_next += random;
	if (w->counted * BUILD_DRAFT_BYTES > p->b->limit)
		return 0;
	if (array_grow(&w->drafts, &w->cap, w->n + 1, sizeof(*d)))
		return -1;
	d = &w->drafts[w->n++];
	*d = (struct draft){
		.document = { a->document, b->document }, .first = { a->first, b->first },
		.length = { (uint16_t)a->length, (uint16_t)b->length }, .pass = (uint16_t)p->pass,
		.flags = random ? INSTANCE_RANDOM_NEXT : 0,
	};
	rng_open(&rng, p->b->recipe->seed, RNG_ORDER, p->doc->key.hi, p->doc->key.lo, p->doc->occurrence, p->pass,
		 a->first);
	d->order = rng_u64(&rng);
	return 0;
}

/* One instance, from the next sentence on: steps 1 to 7 of FORMAT.md. */
static int draft_one(struct pass *p)
{
	const struct docset_document *d = p->doc;
	const uint32_t i = p->sentence, start = start_of(d, i);
	struct stretch a = { .document = p->number, .first = start }, b;
	uint32_t target, end, split = i + 1;
	bool random;

	rng_open(&p->rng, p->b->recipe->seed, RNG_INSTANCES, d->key.hi, d->key.lo, d->occurrence, p->pass, start);
	p->coins_left = 0;
	target = draw_target(p);
	end = take_sentences(d, i, target);
	if (end - i > 1)
		split = i + 1 + rng_below(&p->rng, end - i - 1);
	a.length = start_of(d, split) - start;
	if (p->b->docs->ring_size > 1) {
		random = end - i == 1 || rng_unit(&p->rng) < 0.5;
	} else if (end - i == 1) {
		p->sentence = end;
		p->worker->totals.dropped++;
		return 0;
	} else {
		random = false;
	}
	if (random) {
		b = random_next(p, target > a.length ? target - a.length : 0);
		p->sentence = split;
	} else {
		b = stretch_of(d, p->number, split, end);
		p->sentence = end;
	}
	p->worker->totals.truncated += truncate_pair(p, &a, &b, p->b->recipe->max_seq_length - 3);
	return keep_draft(p, &a, &b, random);
}

/* All passes over a stretch of documents. */
static int draft_stretch(void *ctx, size_t stretch, unsigned worker)
{
	struct build *b = ctx;
	const size_t first = stretch * STRETCH, left = b->docs->n - first,
		     end = first + (left < STRETCH ? left : STRETCH);
	struct pass p = { .b = b, .worker = &b->workers[worker] };

	for (size_t d = first; d < end; d++) {
		p.doc = &b->docs->docs[d];
		p.number = (uint32_t)d;
		for (p.pass = 0; p.pass < b->recipe->dupe_factor; p.pass++)
			for (p.sentence = 0; p.sentence < p.doc->sentences;)
				if (draft_one(&p))
					return -1;
	}
	return 0;
}

/* --- order --------------------------------------------------------------------------------------- */

static int draft_compare(const struct draft *x, const struct draft *y)
{
	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	if (x->document[0] != y->document[0])
		return x->document[0] < y->document[0] ? -1 : 1;	/* numbered by (key, occurrence) */
	if (x->pass != y->pass)
		return x->pass < y->pass ? -1 : 1;
	return x->first[0] < y->first[0] ? -1 : 1;
}

/*
 * Order numbers are uniform, so as many even buckets as drafts leave about one
 * in each; the rest is moving a few past their neighbours.
 */
static int sort_drafts(struct build *b)
{
	uint32_t *start = calloc(b->n + 1, sizeof(*start));

	b->order = malloc((b->n ? b->n : 1) * sizeof(*b->order));
	if (!start || !b->order) {
		free(start);
		return err_memory();
	}
#define BUCKET(d) ((size_t)(((unsigned __int128)(d)->order * b->n) >> 64))
	for (uint64_t k = 0; k < b->n; k++)
		start[BUCKET(&b->drafts[k]) + 1]++;
	for (uint64_t k = 0; k < b->n; k++)
		start[k + 1] += start[k];
	for (uint64_t k = 0; k < b->n; k++)
		b->order[start[BUCKET(&b->drafts[k])]++] = (uint32_t)k;
#undef BUCKET
	for (uint64_t k = 1; k < b->n; k++) {
		const uint32_t draft = b->order[k];
		uint64_t at = k;

		for (; at && draft_compare(&b->drafts[b->order[at - 1]], &b->drafts[draft]) > 0; at--)
			b->order[at] = b->order[at - 1];
		b->order[at] = draft;
	}
	free(start);
	return 0;
}

/* Joins the workers' drafts. */
static int join_drafts(struct build *b)
{
	b->drafts = malloc((b->n ? b->n : 1) * sizeof(*b->drafts));
	if (!b->drafts)
		return err_memory();
	b->n = 0;
	for (unsigned k = 0; k < b->threads; k++) {
		struct build_worker *w = &b->workers[k];

		if (w->n)
			memcpy(b->drafts + b->n, w->drafts, w->n * sizeof(*w->drafts));
		b->n += w->n;
		free(w->drafts);
		w->drafts = NULL;
		w->n = w->cap = 0;
	}
	return 0;
}

int build_drafts(struct build *b)
{
	if (pool_for(b->threads, (b->docs->n + STRETCH - 1) / STRETCH, draft_stretch, b))
		return -1;
	for (unsigned k = 0; k < b->threads; k++)
		b->n += b->workers[k].counted;
	b->over = b->n * BUILD_DRAFT_BYTES > b->limit;
	if (b->over)
		return 0;
	if (b->n > UINT32_MAX)
		return err_fail("a shard has more than %u instances", UINT32_MAX);
	return join_drafts(b) ? -1 : sort_drafts(b);
}

/* --- blocks ------------------------------------------------------------------------------------------ */

uint64_t build_blocks(const struct build *b)
{
	return (b->n + b->shape.block_records - 1) / b->shape.block_records;
}

void build_lay(const struct build *b, const struct draft *d, struct instance *i)
{
	uint32_t n = 1;

	i->ids[0] = b->shape.cls;
	for (unsigned s = 0; s < 2; s++) {
		i->segments[s] = (struct instance_segment){ d->document[s], d->first[s], d->length[s] };
		docset_ids(b->docs, d->document[s], d->first[s], d->length[s], i->ids + n);
		n += d->length[s];
		i->ids[n++] = b->shape.sep;
	}
	i->n = n;
	i->n_segments = 2;
	i->pass = d->pass;
	i->flags = d->flags & INSTANCE_RANDOM_NEXT;
	i->predictions = 0;
}

/* The instance that draft D describes, masked where masks are stored. */
static void make_instance(const struct build *b, struct build_worker *w, const struct draft *d)
{
	const struct docset_document *doc = &b->docs->docs[d->document[0]];
	struct rng rng;

	build_lay(b, d, &w->instance);
	if (b->drawn) {
		build_put_masks(d, &w->instance);
	} else if (b->shape.masked) {
		mask_stream(&rng, RNG_STATIC_MASK, b->recipe->seed, doc->key, doc->occurrence, d->pass, d->first[0]);
		mask_draw(&w->mask, &rng, &w->instance);
	}
}

/*
 * Asks for what the instances after number K of the shard are made of, before
 * END: they lie anywhere in memory, and waiting for it would be a third of the work.
 * Inlined by force, since gcc drops calls of a function that does nothing else.
 */
static inline __attribute__((always_inline)) void fetch_ahead(const struct build *b, uint64_t k, uint64_t end)
{
	const struct docset *docs = b->docs;

	if (k + 12 < end)
		__builtin_prefetch(&b->drafts[b->order[k + 12]]);
	if (k + 8 < end) {
		const struct draft *d = &b->drafts[b->order[k + 8]];

		__builtin_prefetch(&docs->docs[d->document[0]]);
		__builtin_prefetch(&docs->docs[d->document[1]]);
	}
	if (k + 4 < end) {
		const struct draft *d = &b->drafts[b->order[k + 4]];

		for (unsigned s = 0; s < 2; s++) {
			const unsigned char *ids =
				docs->docs[d->document[s]].ids + (size_t)d->first[s] * docs->id_bytes;

			__builtin_prefetch(ids);
			__builtin_prefetch(ids + 64);
		}
	}
}

int build_block(struct build *b, unsigned worker, uint64_t block, int level, struct buf *raw, struct buf *packed,
		uint32_t *records)
{
	struct build_worker *w = &b->workers[worker];
	const uint64_t first = block * b->shape.block_records, left = b->n - first;
	const uint32_t n = left < b->shape.block_records ? (uint32_t)left : b->shape.block_records;

	for (uint64_t k = first; k < first + n; k++) {
		fetch_ahead(b, k, first + n);
		make_instance(b, w, &b->drafts[b->order[k]]);
		instance_columns_add(&w->columns, &w->instance);
		w->totals.instance_tokens += w->instance.n;
		w->totals.predictions += w->instance.predictions;
	}
	w->totals.instances += n;
	*records = n;
	return instance_columns_flush(&w->columns, level, raw, packed);
}

void build_totals(const struct build *b, struct shard_totals *t)
{
	for (unsigned k = 0; k < b->threads; k++)
		shard_totals_add(t, &b->workers[k].totals);
}
