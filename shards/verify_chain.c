/* The instances of each document and pass, one after the other. */
#include "shards/verify_chain_impl.h"
#include "base/err.h"
#include "base/pool.h"
#include "base/spill.h"

#include <inttypes.h>
#include <stdatomic.h>

#define MEMORY ((size_t)256 << 20)
#define STRETCH 4096		/* instances at a time by one worker, about */
#define MANY 32			/* instances that are fetched from memory at once */

/* --- keeping --------------------------------------------------------------------------------- */

static int compare(const void *a, size_t a_len, const void *b, size_t b_len, void *ctx)
{
	struct link x, y;

	(void)a_len;
	(void)b_len;
	(void)ctx;
	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	if (x.document != y.document)
		return x.document < y.document ? -1 : 1;
	if (x.pass != y.pass)
		return x.pass < y.pass ? -1 : 1;
	return x.first < y.first ? -1 : x.first > y.first;
}

/* In the bits that document and pass need not, as many of the token's as there is room for. */
static uint64_t prefix(const void *record, size_t len, void *ctx)
{
	const struct verify_chain *c = ctx;
	struct link x;

	(void)len;
	memcpy(&x, record, sizeof(x));
	return ((uint64_t)x.document << 16 | x.pass) << c->shift | (uint64_t)x.first << 32 >> (64 - c->shift);
}

struct verify_chain *verify_chain_new(const struct shard_recipe *r, unsigned threads)
{
	struct verify_chain *c = calloc(1, sizeof(*c));

	if (!c) {
		err_memory();
		return NULL;
	}
	c->recipe = *r;
	c->threads = threads;
	c->most = r->max_seq_length - shard_overhead(r);
	if (!spill_open(&c->spill, &(struct spill_opts){ .memory = MEMORY, .threads = threads, .compare = compare,
							 .prefix = prefix, .ctx = c }))
		return c;
	free(c);
	return NULL;
}

void verify_chain_free(struct verify_chain *c)
{
	if (!c)
		return;
	spill_close(c->spill);
	free(c->ring);
	free(c->places);
	free(c);
}

int verify_chain_note(const struct verify_chain *c, const struct instance *i, struct buf *links)
{
	const struct instance_segment *a = shard_lead(&c->recipe, i), *b;
	struct link l = { .pass = (uint16_t)i->pass, .flags = (uint16_t)i->flags };

	if (c->recipe.pairs == SHARD_NONE) {
		for (uint32_t s = 0; s < i->n_segments; s++) {
			l.document = i->segments[s].document;
			l.first = i->segments[s].first;
			l.length = (uint16_t)i->segments[s].length;
			if (buf_add(links, &l, sizeof(l)))
				return -1;
		}
		return 0;
	}
	b = a == i->segments ? i->segments + 1 : i->segments;
	l.document = a->document;
	l.first = a->first;
	l.length = (uint16_t)a->length;
	l.other_length = (uint16_t)b->length;
	l.other = c->recipe.pairs == SHARD_NSP && i->flags & INSTANCE_RANDOM_NEXT ? b->document : b->first;
	return buf_add(links, &l, sizeof(l));
}

int verify_chain_add(struct verify_chain *c, size_t documents, const char *links, size_t bytes)
{
	c->shift = documents < 2 ? 47 : 48 - (64 - (unsigned)__builtin_clzll(documents - 1));
	for (size_t at = 0; at < bytes; at += sizeof(struct link))
		if (spill_add(c->spill, links + at, sizeof(struct link)))
			return -1;
	return 0;
}

/* --- going through ------------------------------------------------------------------------------- */

/* Over a range of the instances, in their order. */
struct walk {
	struct chain_pass p;
	struct link *links;		/* of P */
	size_t n, cap;			/* 0: there is no P yet */
	uint32_t next;			/* document */
	uint64_t dropped;		/* documents with tokens that begin no instance */
};

static int no_start(const struct chain_pass *p, uint32_t token)
{
	return err_corrupt("document %" PRIu32 ", pass %" PRIu32 ": no instance begins at token %" PRIu32, p->number, p->pass, token);
}

/* Where pairs are none each instance begins where the one before ends. */
static int follow_sentences(const struct walk *w)
{
	const struct chain_pass *p = &w->p;
	uint32_t at = 0;

	for (size_t k = 0; k < w->n; k++) {
		const struct link *l = &w->links[k];

		if (l->first < at)
			return err_corrupt("document %" PRIu32 ", pass %" PRIu32 ": token %" PRIu32 " is in two instances", p->number,
					   p->pass, l->first);
		if (l->first > at)
			return no_start(p, at);
		at += l->length;
	}
	return at == p->document->tokens ? 0 : no_start(p, at);
}

static int follow_pairs(struct walk *w, bool careful)
{
	struct chain_pass *p = &w->p;

	p->careful = careful;
	chain_begin(p);
	for (size_t k = 0; k < w->n; k++)
		if (chain_follow(p, &w->links[k]))
			return -1;
	return chain_end(p);
}

/* All instances of W's pass are known. */
static int end_pass(struct walk *w)
{
	int rc;

	if (w->p.c->recipe.pairs == SHARD_NONE)
		rc = follow_sentences(w);
	else
		rc = follow_pairs(w, false) ? follow_pairs(w, true) : 0;
	w->n = 0;
	return rc;
}

static int no_instance(uint32_t document, uint32_t pass)
{
	return err_corrupt("document %" PRIu32 " begins no instance in pass %" PRIu32, document, pass);
}

/* Documents of one sentence make no instance where all have two: the totals count these. */
static bool drops_documents(const struct shard_recipe *r)
{
	return r->rules == SHARD_OWN && (r->pairs == SHARD_SOP || r->exact_next);
}

/* The document that W is at has ended; none of those before END begins an instance. */
static int end_document(struct walk *w, uint32_t end)
{
	const struct verify_chain *c = w->p.c;

	if (w->n) {
		if (end_pass(w))
			return -1;
		if (w->p.pass + 1 < c->recipe.dupe_factor)
			return no_instance(w->p.number, w->p.pass + 1);
	}
	for (; w->next < end; w->next++) {
		if (!c->table->documents[w->next].tokens)
			continue;
		if (!drops_documents(&c->recipe))
			return no_instance(w->next, 0);
		w->dropped++;
	}
	return 0;
}

static int begin_document(struct walk *w, uint32_t number)
{
	struct chain_pass *p = &w->p;

	if (end_document(w, number))
		return -1;
	w->next = number + 1;
	p->number = number;
	p->document = &p->c->table->documents[number];
	rng_key_open(&p->key, p->c->recipe.seed, p->document->key.hi, p->document->key.lo);
	return 0;
}

static int walk(struct walk *w, const struct link *l)
{
	struct chain_pass *p = &w->p;
	const bool same = w->n && l->document == p->number;
	const uint32_t pass = same ? p->pass + 1 : 0;

	if (!same && begin_document(w, l->document))
		return -1;
	if (!same || l->pass != p->pass) {
		if (same && end_pass(w))
			return -1;
		if (l->pass != pass)
			return no_instance(p->number, pass);
		p->pass = pass;
	}
	if (array_grow(&w->links, &w->cap, w->n + 1, sizeof(*w->links)))
		return -1;
	w->links[w->n++] = *l;
	return 0;
}

/* What was sorted in memory is gone through by all threads, in ranges that begin with a document. */
struct ranges {
	const struct verify_chain *c;
	size_t n, ranges;
	atomic_uint_least64_t dropped;
};

static struct link link_at(const struct verify_chain *c, size_t k)
{
	struct link l;
	size_t len;

	memcpy(&l, spill_record(c->spill, k, &len), sizeof(l));
	return l;
}

/* The first instance of RANGE: one document's are not parted, though it may have nearly all. */
static size_t range_start(const struct ranges *r, size_t range)
{
	size_t k = r->n * range / r->ranges, end = r->n;
	uint32_t before;

	if (!k || k >= r->n)
		return k;
	before = link_at(r->c, k - 1).document;
	while (k < end) {
		const size_t half = k + (end - k) / 2;

		if (link_at(r->c, half).document > before)
			end = half;
		else
			k = half + 1;
	}
	return k;
}

/* The first document of RANGE, whose instances begin with number K. */
static uint32_t range_document(const struct ranges *r, size_t range, size_t k)
{
	if (!range)
		return 0;
	return range < r->ranges && k < r->n ? link_at(r->c, k).document : (uint32_t)r->c->table->n;
}

static int walk_range(void *ctx, size_t range, unsigned worker)
{
	struct ranges *r = ctx;
	const size_t first = range_start(r, range), end = range_start(r, range + 1);
	struct walk w = { .p.c = r->c, .next = range_document(r, range, first) };
	size_t n;
	int rc = 0;

	(void)worker;
	for (size_t k = first; k < end && !rc; k += n) {
		struct link links[MANY];

		n = end - k < MANY ? end - k : MANY;
		for (size_t i = 0; i < n; i++)		/* they lie anywhere in memory, and are waited for together */
			links[i] = link_at(r->c, k + i);
		for (size_t i = 0; i < n && !rc; i++)
			rc = walk(&w, &links[i]);
	}
	if (!rc)
		rc = end_document(&w, range_document(r, range + 1, end));
	atomic_fetch_add(&r->dropped, w.dropped);
	free(w.links);
	return rc;
}

/* The same of what memory did not hold. */
static int walk_all(struct verify_chain *c, uint64_t *dropped)
{
	struct walk w = { .p.c = c };
	const void *record;
	struct link l;
	size_t len;
	int rc, more = 0;

	for (rc = 0; !rc && (more = spill_next(c->spill, &record, &len)) > 0;) {
		memcpy(&l, record, sizeof(l));
		rc = walk(&w, &l);
	}
	if (!rc)
		rc = more ? -1 : end_document(&w, (uint32_t)c->table->n);
	*dropped = w.dropped;
	free(w.links);
	return rc;
}

static int walk_ranges(struct verify_chain *c, uint64_t *dropped)
{
	const size_t n = spill_held(c->spill);
	struct ranges r = { .c = c, .n = n, .ranges = n / STRETCH + 1, .dropped = 0 };

	if (pool_for(c->threads, r.ranges, walk_range, &r))
		return -1;
	*dropped = r.dropped;
	return 0;
}

static int make_ring(struct verify_chain *c)
{
	const struct verify_table *t = c->table;

	c->ring = malloc((t->n + 1) * sizeof(*c->ring));
	c->places = malloc((t->n + 1) * sizeof(*c->places));
	if (!c->ring || !c->places)
		return err_memory();
	for (size_t k = 0; k < t->n; k++) {
		const struct key *last = c->ring_size ? &t->documents[c->ring[c->ring_size - 1]].key : NULL;

		c->places[k] = (uint32_t)c->ring_size;
		if (t->documents[k].tokens && (!last || key_compare(*last, t->documents[k].key)))
			c->ring[c->ring_size++] = (uint32_t)k;
	}
	c->others = c->ring_size > !c->recipe.same_document_next;
	return 0;
}

int verify_chain_check(struct verify_chain *c, const struct verify_table *t, uint64_t dropped)
{
	uint64_t found = 0;

	c->table = t;
	if (make_ring(c) || spill_sort(c->spill))
		return -1;
	if (dropped && !drops_documents(&c->recipe))
		return 0;			/* chunks anywhere in the one document */
	if (spill_is_held(c->spill) ? walk_ranges(c, &found) : walk_all(c, &found))
		return -1;
	if (!drops_documents(&c->recipe) || dropped == found * c->recipe.dupe_factor)
		return 0;
	return err_corrupt("%" PRIu64 " chunks are said to be dropped, %" PRIu64 " documents begin no instance in %" PRIu32
			   " passes", dropped, found, c->recipe.dupe_factor);
}
