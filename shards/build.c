/* Instances of one shard. */
#include "shards/build_impl.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/pool.h"
#include "base/rng_many.h"
#include "shards/keys.h"

#include <assert.h>
#include <inttypes.h>

#define STRETCH 256		/* documents drafted at a time by one worker */
#define MANY_DRAFTS 1024	/* after which a worker tells the others of its own */
#define COINS 512		/* that take about as long as a chunk */
#define WORK 16			/* chunks dropped, and stretches of COINS, for each draft that may be kept */

int build_init_drafts(struct build *b, const struct shard_recipe *recipe, const struct docset *docs, unsigned threads, uint64_t limit)
{
	const struct shard_header header = { .recipe = *recipe,
					     .block_records = shard_block_records(recipe->max_seq_length) };

	*b = (struct build){ .recipe = recipe, .docs = docs, .threads = threads ? threads : 1, .limit = limit };
	b->shape = shard_header_shape(&header, (uint32_t)docs->n);
	b->workers = calloc(b->threads, sizeof(*b->workers));
	return b->workers ? 0 : err_memory();
}

int build_init(struct build *b, const struct shard_recipe *recipe, const struct vocab *vocab, const struct docset *docs,
	       unsigned threads, uint64_t limit)
{
	const struct mask_rule rule = shard_recipe_mask(recipe, vocab);

	if (build_init_drafts(b, recipe, docs, threads, limit))
		return -1;
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

/* The next N coins, 32 at most: bits, the first one least significant. */
static uint32_t coins(struct pass *p, uint32_t n)
{
	uint32_t bits;

	if (p->coins_left < n) {
		p->coins |= (uint64_t)rng_u32(&p->rng) << p->coins_left;
		p->coins_left += 32;
	}
	bits = (uint32_t)(p->coins & ((UINT64_C(1) << n) - 1));
	p->coins >>= n;
	p->coins_left -= n;
	return bits;
}

static uint32_t draw_target(const struct shard_recipe *r, struct rng *rng)
{
	const uint32_t most = r->max_seq_length - shard_overhead(r);

	return rng_unit(rng) < r->short_seq_prob ? 2 + rng_below(rng, most - 1) : most;
}

uint32_t build_target(struct pass *p)
{
	return p->b->recipe->document_lengths ? p->target : draw_target(p->b->recipe, &p->rng);
}

void build_open_stream(struct pass *p, uint32_t first)
{
	rng_open_of(&p->rng, &p->key, RNG_INSTANCES, p->doc->occurrence, p->pass, first);
}

/* What all instances of P's document and pass aim at, where the recipe wants that: step 2 of FORMAT.md. */
static void draw_common_target(struct pass *p)
{
	const struct shard_recipe *r = p->b->recipe;
	struct rng rng;

	if (!r->document_lengths)
		return;
	rng_open_of(&rng, &p->key, RNG_INSTANCES, p->doc->occurrence, p->pass, UINT32_MAX);
	p->target = draw_target(r, &rng);
}

struct stretch build_random(struct pass *p, const struct docset_document *d, uint32_t number, uint32_t wanted)
{
	const uint32_t first = rng_below(&p->rng, d->sentences);

	return stretch_of(d, number, first, take_sentences(d, first, wanted));
}

/* Takes N tokens away from S: the first one for each coin that is 1, else the last one. */
static void cut(struct pass *p, struct stretch *s, uint32_t n)
{
	for (uint32_t left = n, now; left; left -= now) {
		now = left < 32 ? left : 32;
		s->first += (uint32_t)__builtin_popcount(coins(p, now));
	}
	s->length -= n;
}

/* The same with B and A in turn, B first. */
static void cut_in_turn(struct pass *p, struct stretch *a, struct stretch *b, uint32_t n)
{
	for (uint32_t left = n, now; left; left -= now) {
		const uint32_t bits = coins(p, now = left < 32 ? left : 32);

		b->first += (uint32_t)__builtin_popcount(bits & 0x55555555);
		a->first += (uint32_t)__builtin_popcount(bits & 0xAAAAAAAA);
	}
	b->length -= n - n / 2;
	a->length -= n / 2;
}

/* Cuts A and B to together MOST tokens: always the longer one, B of equal ones. */
static bool truncate_pair(struct pass *p, struct stretch *a, struct stretch *b, uint32_t most)
{
	struct stretch *longer = a->length > b->length ? a : b, *other = longer == a ? b : a;
	const uint64_t both = (uint64_t)a->length + b->length;
	const uint32_t apart = longer->length - other->length;

	if (both <= most)
		return false;
	if (both - most <= apart) {
		cut(p, longer, (uint32_t)(both - most));
	} else {
		cut(p, longer, apart);
		cut_in_turn(p, a, b, (uint32_t)(both - most - apart));
	}
	return true;
}

uint64_t build_order(const struct pass *p, uint32_t first)
{
	struct rng rng;

	rng_open(&rng, p->b->recipe->seed, RNG_ORDER, p->doc->key.hi, p->doc->key.lo, p->doc->occurrence, p->pass, first);
	return rng_u64(&rng);
}

/* Counts what takes time and makes no draft: a few numbers in a file can ask for years of it. */
static int spend(struct pass *p, uint64_t work)
{
	const struct build *b = p->b;

	p->worker->work += work;
	if (!b->within || p->worker->work / WORK <= b->limit / BUILD_DRAFT_BYTES)
		return 0;
	return err_fail("its sentences drop or cut more than is done for instances that memory holds");
}

int build_finish(struct pass *p, struct stretch a, struct stretch b, unsigned flags)
{
	const bool swapped = p->b->recipe->pairs == SHARD_SOP && flags & INSTANCE_RANDOM_NEXT;
	const uint64_t both = (uint64_t)a.length + b.length;
	const uint32_t most = p->b->recipe->max_seq_length - 3;

	if (both > most && spend(p, (both - most) / COINS))
		return -1;
	p->coins = p->coins_left = 0;
	p->worker->totals.truncated += truncate_pair(p, &a, &b, most);
	p->worker->totals.random_next += flags & INSTANCE_RANDOM_NEXT;
	return p->sink->keep(p, &a, &b, swapped ? &b : &a, flags);
}

/* --- drafts in memory ---------------------------------------------------------------------------- */

static int refuse_more(const struct build *b)
{
	return err_fail("its documents make more than %" PRIu64 " instances, which memory does not hold", b->limit / BUILD_DRAFT_BYTES);
}

/* The draft's place is drawn later: until then the lead's first token is there. */
static int keep_draft(struct pass *p, const struct stretch *a, const struct stretch *b, const struct stretch *lead,
		      unsigned flags)
{
	struct build_worker *w = p->worker;
	struct draft *d;

	w->counted++;
	if (w->counted % MANY_DRAFTS == 0)
		w->full = (atomic_fetch_add(&p->b->workers[0].all, MANY_DRAFTS) + MANY_DRAFTS) * BUILD_DRAFT_BYTES > p->b->limit;
	if (w->full || w->counted * BUILD_DRAFT_BYTES > p->b->limit)
		return p->b->within ? refuse_more(p->b) : 0;
	if (array_grow(&w->drafts, &w->cap, w->n + 1, sizeof(*d)))
		return -1;
	d = &w->drafts[w->n++];
	*d = (struct draft){
		.order = lead->first, .document = { a->document, b->document },
		.first = { a->first, b->first }, .length = { (uint16_t)a->length, (uint16_t)b->length },
		.pass = (uint16_t)p->pass, .flags = (uint16_t)flags,
	};
	return 0;
}

static int follow_now(struct pass *p, const struct stretch *a, uint64_t u, uint32_t wanted)
{
	const struct docset *docs = p->b->docs;
	const uint32_t number = p->b->recipe->same_document_next ? docset_at(docs, u) : docset_follow(docs, u, p->number);

	return build_finish(p, *a, build_random(p, &docs->docs[number], number, wanted), INSTANCE_RANDOM_NEXT);
}

static const struct build_sink in_memory = { keep_draft, follow_now };

/* --- instances ------------------------------------------------------------------------------------- */

/* P's document has one sentence, where two are needed. */
static int drop_document(struct pass *p)
{
	p->sentence = 1;
	p->worker->totals.dropped++;
	return 0;
}

/* One instance, from the next sentence on: steps 1 to 7 of FORMAT.md. */
static int draft_one(struct pass *p)
{
	const struct docset_document *d = p->doc;
	const uint32_t i = p->sentence, start = start_of(d, i);
	uint32_t target, end, split = i + 1;
	struct stretch a;
	bool random;

	build_open_stream(p, start);
	target = build_target(p);
	end = take_sentences(d, i, target);
	if (end - i > 1)
		split = i + 1 + rng_below(&p->rng, end - i - 1);
	a = stretch_of(d, p->number, i, split);
	p->sentence = end;
	if (p->others) {
		random = end - i == 1 || rng_unit(&p->rng) < 0.5;
	} else if (end - i == 1) {
		p->worker->totals.dropped++;
		return spend(p, 1);
	} else {
		random = false;
	}
	if (!random)
		return build_finish(p, a, stretch_of(d, p->number, split, end), 0);
	p->sentence = split;
	return p->sink->follow(p, &a, rng_u64(&p->rng), target > a.length ? target - a.length : 0);
}

/* The same where the share of random nexts was chosen: no chunk is a sentence alone, and none is left behind one. */
static int draft_share(struct pass *p)
{
	const struct shard_recipe *r = p->b->recipe;
	const struct docset_document *d = p->doc;
	const uint32_t i = p->sentence;
	uint32_t target, end, split;
	struct stretch a;
	bool random;

	if (d->sentences == 1)
		return drop_document(p);
	build_open_stream(p, start_of(d, i));
	target = build_target(p);
	end = take_sentences(d, i, target);
	end = end - i < 2 ? i + 2 : end;
	end += end + 1 == d->sentences;
	split = i + 1 + rng_below(&p->rng, end - i - 1);
	random = rng_unit(&p->rng) < r->random_next && p->others;
	split += random && split + 1 == d->sentences;
	a = stretch_of(d, p->number, i, split);
	p->sentence = random ? split : end;
	if (!random)
		return build_finish(p, a, stretch_of(d, p->number, split, end), 0);
	return p->sink->follow(p, &a, rng_u64(&p->rng), target > a.length ? target - a.length : 0);
}

/* The same where the second segment follows the first, in order or swapped. A last sentence alone takes the one before it. */
static int draft_swap(struct pass *p)
{
	const struct docset_document *d = p->doc;
	const uint32_t i = p->sentence - (p->sentence && p->sentence + 1 == d->sentences), start = start_of(d, i);
	struct stretch a, b;
	uint32_t end, split;

	if (d->sentences == 1)
		return drop_document(p);
	build_open_stream(p, start);
	end = take_sentences(d, i, build_target(p));
	end = end - i < 2 ? i + 2 : end;
	split = i + 1 + rng_below(&p->rng, end - i - 1);
	a = stretch_of(d, p->number, i, split);
	b = stretch_of(d, p->number, split, end);
	p->sentence = end;
	return rng_unit(&p->rng) < 0.5 ? build_finish(p, b, a, INSTANCE_RANDOM_NEXT) : build_finish(p, a, b, 0);
}

bool build_has_others(const struct shard_recipe *r, uint64_t ring_size)
{
	return ring_size > !r->same_document_next;
}

int build_draft_document(struct pass *p)
{
	const struct shard_recipe *r = p->b->recipe;
	int (*draft)(struct pass *) = r->pairs == SHARD_SOP ? draft_swap : r->exact_next ? draft_share : draft_one;
	int rc = 0;

	rng_key_open(&p->key, r->seed, p->doc->key.hi, p->doc->key.lo);
	for (p->pass = 0; p->pass < r->dupe_factor && !rc; p->pass++) {
		p->sentence = 0;
		draw_common_target(p);
		if (r->pairs == SHARD_NONE)
			rc = build_sentences(p);
		while (r->pairs != SHARD_NONE && p->sentence < p->doc->sentences && !rc)
			rc = draft(p);
	}
	return rc;
}

/* The places of P's document's drafts, the worker's from number FIRST on: as build_order. */
static void draw_order(const struct pass *p, size_t first)
{
	enum { MANY = 64 };
	uint32_t passes[MANY], items[MANY];
	uint64_t places[MANY];

	for (size_t n; first < p->worker->n; first += n) {
		struct draft *d = p->worker->drafts + first;

		n = p->worker->n - first < MANY ? p->worker->n - first : MANY;
		for (size_t k = 0; k < n; k++) {
			passes[k] = d[k].pass;
			items[k] = (uint32_t)d[k].order;
		}
		rng_u64_each(&p->key, RNG_ORDER, p->doc->occurrence, passes, items, n, places);
		for (size_t k = 0; k < n; k++)
			d[k].order = places[k];
	}
}

/* All passes over a stretch of documents. */
static int draft_stretch(void *ctx, size_t stretch, unsigned worker)
{
	struct build *b = ctx;
	const size_t first = stretch * STRETCH, left = b->docs->n - first,
		     end = first + (left < STRETCH ? left : STRETCH);
	struct pass p = {
		.b = b, .worker = &b->workers[worker], .sink = &in_memory,
		.others = build_has_others(b->recipe, b->docs->ring_size),
	};

	for (size_t d = first; d < end; d++) {
		const size_t drafts = p.worker->n;

		p.doc = &b->docs->docs[d];
		p.number = (uint32_t)d;
		if (build_draft_document(&p))
			return -1;
		draw_order(&p, drafts);
	}
	return 0;
}

/* --- order --------------------------------------------------------------------------------------- */

int build_compare(const struct draft *x, const struct draft *y)
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
 * in each; the rest is moving a few past their neighbours. Each thread has a range of the buckets.
 */
struct sorting {
	struct build *b;
	uint64_t drafts;		/* joined ones too: as many buckets */
	uint32_t *start;		/* [drafts] of each bucket: its drafts; then where its next one goes */
	uint64_t *sizes;		/* [threads] drafts in each one's range */
};

static inline uint64_t bucket_of(const struct sorting *s, const struct draft *d)
{
	return (uint64_t)(((unsigned __int128)d->order * s->drafts) >> 64);
}

static uint64_t range_start(const struct sorting *s, size_t range)
{
	return s->drafts * range / s->b->threads;
}

static int count_range(void *ctx, size_t range, unsigned worker)
{
	const struct sorting *s = ctx;
	const uint64_t first = range_start(s, range), end = range_start(s, range + 1);
	uint64_t n = 0;

	(void)worker;
	for (uint64_t k = 0; k < s->drafts; k++) {
		const struct draft *d = &s->b->drafts[k];
		const uint64_t at = bucket_of(s, d);

		if (at < first || at >= end || d->flags & DRAFT_JOINED)
			continue;
		s->start[at]++;
		n++;
	}
	s->sizes[range] = n;
	return 0;
}

/* Numbers of drafts to where their buckets are, by FIRST .. END-1; their places begin at BASE. */
static void scatter(const struct sorting *s, uint64_t first, uint64_t end, uint64_t base)
{
	uint32_t *order = s->b->order;

	for (uint64_t at = first; at < end; at++) {
		const uint32_t n = s->start[at];

		s->start[at] = (uint32_t)base;
		base += n;
	}
	for (uint64_t k = 0; k < s->drafts; k++) {
		const struct draft *d = &s->b->drafts[k];
		const uint64_t at = bucket_of(s, d);

		if (at >= first && at < end && !(d->flags & DRAFT_JOINED))
			order[s->start[at]++] = (uint32_t)k;
	}
}

static int sort_range(void *ctx, size_t range, unsigned worker)
{
	const struct sorting *s = ctx;
	const struct build *b = s->b;
	uint64_t base = 0;

	(void)worker;
	for (size_t k = 0; k < range; k++)
		base += s->sizes[k];
	scatter(s, range_start(s, range), range_start(s, range + 1), base);
	for (uint64_t k = base + 1; k < base + s->sizes[range]; k++) {
		const uint32_t draft = b->order[k];
		uint64_t at = k;

		for (; at > base && build_compare(&b->drafts[b->order[at - 1]], &b->drafts[draft]) > 0; at--)
			b->order[at] = b->order[at - 1];
		b->order[at] = draft;
	}
	return 0;
}

static int sort_drafts(struct build *b)
{
	struct sorting s = { .b = b, .drafts = b->n, .start = calloc(b->n + 1, sizeof(*s.start)),
			     .sizes = calloc(b->threads, sizeof(*s.sizes)) };
	int rc = -1;

	b->order = malloc((b->n ? b->n : 1) * sizeof(*b->order));
	if (!s.start || !s.sizes || !b->order)
		err_memory();
	else
		rc = pool_for(b->threads, b->threads, count_range, &s) || pool_for(b->threads, b->threads, sort_range, &s) ? -1 : 0;
	b->n = 0;
	for (unsigned k = 0; !rc && k < b->threads; k++)
		b->n += s.sizes[k];
	free(s.start);
	free(s.sizes);
	return rc;
}

/* Joins the workers' drafts: the others' to the first one's. */
static int join_drafts(struct build *b)
{
	struct build_worker *first = &b->workers[0];
	struct draft *all = realloc(first->drafts, (b->n ? b->n : 1) * sizeof(*all));

	if (!all)
		return err_memory();
	b->drafts = all;
	b->n = first->n;
	for (unsigned k = 1; k < b->threads; k++) {
		struct build_worker *w = &b->workers[k];

		if (w->n)
			memcpy(b->drafts + b->n, w->drafts, w->n * sizeof(*w->drafts));
		b->n += w->n;
		free(w->drafts);
		w->drafts = NULL;
		w->n = w->cap = 0;
	}
	first->drafts = NULL;
	first->n = first->cap = 0;
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
		return b->within ? refuse_more(b) : 0;
	if (b->n > UINT32_MAX)
		return err_fail("a shard has more than %u instances", UINT32_MAX);
	if (join_drafts(b) || (b->recipe->cross_documents && build_join_tails(b)))
		return -1;
	return sort_drafts(b);
}

/* --- blocks ------------------------------------------------------------------------------------------ */

uint64_t build_blocks(const struct build *b)
{
	return (b->n + b->shape.block_records - 1) / b->shape.block_records;
}

static void add_segment(struct instance *i, const struct draft *d, unsigned k)
{
	i->segments[i->n_segments++] = (struct instance_segment){ d->document[k], d->first[k], d->length[k] };
}

/* Segments, pass and flags of the instance that D describes. */
static void lay_segments(const struct build *b, const struct draft *d, struct instance *i)
{
	i->n_segments = 0;
	i->pass = d->pass;
	i->flags = d->flags & INSTANCE_RANDOM_NEXT;
	i->predictions = 0;
	add_segment(i, d, 0);
	if (b->shape.pairs) {
		add_segment(i, d, 1);
		return;
	}
	while (d->document[1]) {
		d = &b->drafts[d->document[1] - 1];
		add_segment(i, d, 0);
	}
}

void build_segments(const struct build *b, uint64_t k, struct instance *i)
{
	lay_segments(b, &b->drafts[b->order[k]], i);
}

void build_lay(const struct build *b, const struct draft *d, struct instance *i)
{
	lay_segments(b, d, i);
	i->ids[0] = b->shape.cls;
	i->n = 1;
	for (uint32_t s = 0; s < i->n_segments; s++) {
		const struct instance_segment *a = &i->segments[s];

		docset_ids(b->docs, a->document, a->first, a->length, i->ids + i->n);
		i->n += a->length;
		i->ids[i->n++] = b->shape.sep;
	}
}

void build_mask(const struct build *b, unsigned worker, struct key key, uint32_t occurrence)
{
	struct build_worker *w = &b->workers[worker];
	struct rng rng;

	if (!b->shape.masked)
		return;
	mask_stream(&rng, RNG_STATIC_MASK, b->recipe->seed, key, occurrence, w->instance.pass,
		    shard_lead(b->recipe, &w->instance)->first);
	mask_draw(&w->mask, &rng, &w->instance);
}

void build_put(struct build *b, unsigned worker)
{
	struct build_worker *w = &b->workers[worker];

	instance_columns_add(&w->columns, &w->instance);
	w->totals.instances++;
	w->totals.instance_tokens += w->instance.n;
	w->totals.predictions += w->instance.predictions;
}

/* The instance that draft D describes, masked where masks are stored. */
static void make_instance(const struct build *b, unsigned worker, const struct draft *d)
{
	const struct docset_document *doc = &b->docs->docs[d->document[0]];	/* the lead's, whichever segment that is */
	struct instance *i = &b->workers[worker].instance;

	build_lay(b, d, i);
	if (b->drawn)
		build_put_masks(d, i);
	else
		build_mask(b, worker, doc->key, doc->occurrence);
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
		if (b->shape.pairs)
			__builtin_prefetch(&docs->docs[d->document[1]]);
	}
	if (k + 4 < end) {
		const struct draft *d = &b->drafts[b->order[k + 4]];

		for (unsigned s = 0; s < (b->shape.pairs ? 2 : 1); s++) {
			const unsigned char *ids =
				docs->docs[d->document[s]].ids + (size_t)d->first[s] * docs->id_bytes;

			for (unsigned at = 0; at < d->length[s] * docs->id_bytes; at += 64)
				__builtin_prefetch(ids + at);
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
		make_instance(b, worker, &b->drafts[b->order[k]]);
		build_put(b, worker);
	}
	*records = n;
	return instance_columns_flush(&w->columns, level, raw, packed);
}

void build_totals(const struct build *b, struct shard_totals *t)
{
	for (unsigned k = 0; k < b->threads; k++)
		shard_totals_add(t, &b->workers[k].totals);
}
