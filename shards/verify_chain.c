/* The instances of each document and pass, one after the other. */
#include "shards/verify_chain.h"
#include "base/err.h"
#include "base/pool.h"
#include "base/rng.h"
#include "base/spill.h"
#include "shards/keys.h"

#include <inttypes.h>
#include <stdatomic.h>

#define MEMORY ((size_t)256 << 20)
#define MOST_STARTS 256		/* that one instance is tried with */
#define FOREVER UINT32_MAX
#define STRETCH 4096		/* instances at a time by one worker, about */

/* What is kept of an instance: its lead, and what else is needed. Where pairs are none, of each of its segments. */
struct link {
	uint32_t document, first;
	uint32_t other;			/* the other segment's first token; of a random next its document */
	uint16_t pass, length, other_length;
	uint16_t flags;			/* enum instance_flags */
};

struct verify_chain {
	struct shard_recipe recipe;	/* its plain members */
	uint32_t most;			/* tokens of an instance's segments */
	unsigned threads, shift;	/* shift: bits below document and pass in prefix() */
	struct spill *spill;
	const struct verify_table *table;
	uint32_t *ring;			/* documents with tokens, one of each key, by key */
	size_t ring_size;
	bool others;			/* there are some for random nexts */
};

/* Where an instance can begin, or end: FIRST .. LAST; none where FIRST > LAST. */
struct place {
	uint32_t first, last;
};
#define NOWHERE ((struct place){ FOREVER, 0 })

static void place_add(struct place *s, uint32_t first, uint32_t last)
{
	s->first = first < s->first ? first : s->first;
	s->last = last > s->last ? last : s->last;
}

/* One document's pass. */
struct pass {
	const struct verify_chain *c;
	const struct documents_entry *document;
	struct rng_key key;
	uint32_t number, pass;
	uint32_t target;		/* with document_lengths */
	bool careful;			/* a draw may have been made again: that its number is below what, the shard does not say */
	struct place starts;		/* of the next instance */
	uint32_t second;		/* the last one's second segment begins there at the earliest */
};

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

/* --- coins: shards/FORMAT.md, "Instances", step 7 ------------------------------------------------- */

/* Of the first N coins of R, those that are 1. */
static uint32_t count_coins(struct rng r, uint32_t n)
{
	uint32_t ones = 0;

	for (; n >= 32; n -= 32)
		ones += (uint32_t)__builtin_popcount(rng_u32(&r));
	return n ? ones + (uint32_t)__builtin_popcount(rng_u32(&r) & ((UINT32_C(1) << n) - 1)) : ones;
}

/* The numbers of coins of R, at least one and at most LIMIT, of which ONES are 1. */
static struct place find_coins(struct rng r, uint32_t ones, uint32_t limit)
{
	struct place s = NOWHERE;
	uint32_t seen = 0, bits = 0;

	for (uint32_t n = 0; n < limit && seen <= ones; n++) {
		if (n % 32 == 0)
			bits = rng_u32(&r);
		seen += bits >> n % 32 & 1;
		if (seen == ones)
			place_add(&s, n + 1, n + 1);
	}
	return s;
}

/* --- one instance --------------------------------------------------------------------------------- */

static bool is_random(const struct verify_chain *c, const struct link *l)
{
	return c->recipe.pairs == SHARD_NSP && l->flags & INSTANCE_RANDOM_NEXT;
}

/* The lead is the second segment, which is cut where both are equal. */
static bool lead_is_second(const struct verify_chain *c, const struct link *l)
{
	return c->recipe.pairs == SHARD_SOP && l->flags & INSTANCE_RANDOM_NEXT;
}

/* Which segments of an instance that may have lost tokens can be the ones that did. */
struct cuts {
	bool any, lead, other, both;
};

static struct cuts cuts_of(const struct verify_chain *c, const struct link *l)
{
	const bool swapped = lead_is_second(c, l);
	const uint32_t a = swapped ? l->other_length : l->length, b = swapped ? l->length : l->other_length;
	const bool any = a + b == c->most, first = any && a >= b, second = any && b + 1 >= a;

	return (struct cuts){ any, swapped ? second : first, swapped ? first : second, any && a == b + c->most % 2 };
}

/* An instance that is taken to begin at token FIRST, and what its stream says. */
struct trial {
	const struct pass *p;
	const struct link *l;
	struct cuts cuts;
	uint32_t first, target;
	uint32_t end;			/* of what is seen, and goes on in the document */
	bool alone;			/* its chunk is one sentence */
	bool streams;
	struct rng drawn;		/* up to the label */
	struct place *ends;		/* where it can end */
};

/* Whether drawing below some N <= MOST would take other draws than U alone. */
static bool may_draw_again(uint32_t u, uint32_t most)
{
	uint32_t product = 0;
	bool any = false;

	for (uint32_t n = 1; n <= most; n++) {
		product += u;
		any |= product < n;
	}
	return any;
}

static uint32_t draw_target(const struct verify_chain *c, struct rng *r)
{
	return rng_unit(r) < c->recipe.short_seq_prob ? 2 + rng_below(r, c->most - 1) : c->most;
}

/* The document with the least key that is not below the point U: shards/FORMAT.md, "Instances", step 6. */
static uint32_t document_drawn(const struct pass *p, uint64_t u)
{
	const struct verify_chain *c = p->c;
	const struct verify_table *t = c->table;
	const struct key point = key_point(t->shard, t->shards, u);
	size_t at = 0, n = c->ring_size;

	while (n) {
		const size_t half = n / 2;

		if (key_compare(t->documents[c->ring[at + half]].key, point) < 0) {
			at += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	at = at == c->ring_size ? 0 : at;
	if (!c->recipe.same_document_next && !key_compare(t->documents[c->ring[at]].key, p->document->key))
		at = at + 1 == c->ring_size ? 0 : at + 1;
	return c->ring[at];
}

/* The stream when coins are drawn: after what a random next takes. */
static struct rng coins_of(const struct trial *t)
{
	struct rng r = t->drawn;

	if (is_random(t->p->c, t->l)) {
		rng_u64(&r);
		rng_below(&r, t->p->c->table->sentences[t->l->other]);
	}
	return r;
}

static void add_end(const struct trial *t, uint32_t first, uint64_t last)
{
	const uint32_t tokens = t->p->document->tokens;

	if (first <= tokens)
		place_add(t->ends, first, last < tokens ? (uint32_t)last : tokens);
}

/* Whether a first segment can be of N tokens before cuts: all of the chunk but a sentence at least is short of the target. */
static bool fits(const struct trial *t, uint32_t n)
{
	if (t->p->c->recipe.pairs != SHARD_NSP || t->p->c->recipe.exact_next || !t->streams)
		return true;
	return t->alone ? n >= t->target || t->first + n == t->p->document->tokens : n < t->target;
}

static void try_random(const struct trial *t)
{
	const struct link *l = t->l;
	const uint32_t tokens = t->p->document->tokens, front = l->first - t->first;
	struct place n = { 1, tokens };

	if (!front && fits(t, l->length))
		add_end(t, t->end, t->end);
	if (!t->cuts.lead)
		return;
	if (t->streams && !t->cuts.both)
		n = find_coins(coins_of(t), front, tokens);
	n.first = n.first < front ? front : n.first;
	if (n.first <= n.last && !t->alone && t->streams && !t->p->c->recipe.exact_next) {
		if (l->length + n.first >= t->target)
			return;
		n.last = n.last < t->target - l->length ? n.last : t->target - l->length;
	}
	if (n.first <= n.last)
		add_end(t, t->first + l->length + n.first, (uint64_t)t->first + l->length + n.last);
}

#define MOST_GAP 60		/* of which all ways to cut both segments need COINS coins at most */
#define COINS 128

/* Ways to cut both segments: first some tokens of the longer one, then of each in turn. */
struct turns {
	const struct trial *t;
	unsigned char ones[2][COINS + 1];	/* of the first so many coins, those with even and with odd number that are 1 */
	uint32_t front, gap;		/* tokens cut before the lead, and between what is left of it and of the second */
	uint32_t turns, lead;		/* of the turns, the lead's */
	unsigned leads;			/* which of the turns those are: 0 the first, third, ..., 1 the others */
};

static uint32_t ones_before(const struct turns *w, uint32_t n)
{
	return w->ones[0][n] + w->ones[1][n];
}

static void try_turns(const struct turns *w, uint32_t difference, bool lead_longer)
{
	const unsigned char *of_lead = w->ones[(difference + w->leads) % 2], *of_second = w->ones[(difference + w->leads + 1) % 2];
	const uint32_t end = difference + w->turns, first = ones_before(w, difference);
	const uint32_t lead = w->lead + (lead_longer ? difference : 0), second = end - lead;
	const uint32_t front = of_lead[end] - of_lead[difference] + (lead_longer ? first : 0),
		       second_front = of_second[end] - of_second[difference] + (lead_longer ? 0 : first);

	if (front == w->front && lead + second_front == w->gap && fits(w->t, w->t->l->length + lead))
		add_end(w->t, w->t->end + second - second_front, (uint64_t)w->t->end + second - second_front);
}

static void count_turns(struct turns *w)
{
	struct rng r = coins_of(w->t);
	uint32_t bits = 0;

	w->ones[0][0] = w->ones[1][0] = 0;
	for (unsigned k = 0; k < COINS; k++) {
		if (k % 32 == 0)
			bits = rng_u32(&r);
		w->ones[k % 2][k + 1] = (unsigned char)(w->ones[k % 2][k] + (bits >> k % 32 & 1));
		w->ones[(k + 1) % 2][k + 1] = w->ones[(k + 1) % 2][k];
	}
}

/* All ways to cut both; where there may be more than can be tried, any end is one. */
static void try_both(const struct trial *t, uint32_t front, uint32_t gap)
{
	const bool second = lead_is_second(t->p->c, t->l);
	struct turns w = { .t = t, .front = front, .gap = gap, .leads = !second };

	count_turns(&w);
	for (w.turns = t->p->c->most % 2 ? 1 : 2; (w.lead = (w.turns + second) / 2) <= gap; w.turns += 2) {
		const uint32_t least = gap > w.turns ? gap - w.turns : 0;	/* cut before the turns, to leave such a gap */
		uint32_t d;

		for (d = least; w.lead + d <= gap && ones_before(&w, d) <= front; d++)
			try_turns(&w, d, true);
		if (front > w.lead)
			continue;
		for (d = least ? least : 1; d + w.turns <= COINS && ones_before(&w, d) <= gap - w.lead; d++)
			if (ones_before(&w, d) >= least)
				try_turns(&w, d, false);
		if (d + w.turns > COINS)
			add_end(t, t->end, FOREVER);
	}
}

/* Both segments are of the document. */
static void try_next(const struct trial *t)
{
	const struct link *l = t->l;
	const uint32_t tokens = t->p->document->tokens, front = l->first - t->first,
		       gap = l->other - t->first - l->length;	/* what was cut off before the second, or of the first */
	struct place n;

	if (!front && !gap && fits(t, l->length) && ((uint32_t)l->length + l->other_length >= t->target || t->end == tokens))
		add_end(t, t->end, t->end);
	if (t->cuts.other && !front && fits(t, l->length)) {
		n = t->streams ? find_coins(coins_of(t), gap, tokens) : (struct place){ 1, tokens };
		n.first = n.first < gap ? gap : n.first;
		if (n.first <= n.last)
			add_end(t, t->end + n.first - gap, (uint64_t)t->end + n.last - gap);
	}
	if (t->cuts.lead && gap && gap >= front && fits(t, l->length + gap) && (!t->streams || count_coins(coins_of(t), gap) == front))
		add_end(t, t->end, t->end);
	if (t->cuts.both && gap >= front && (!t->streams || gap > MOST_GAP))
		add_end(t, t->end, tokens);
	else if (t->cuts.both && gap >= front)
		try_both(t, front, gap);
}

static void try_ends(const struct trial *t)
{
	struct rng r = t->drawn;

	if (is_random(t->p->c, t->l) && t->streams && document_drawn(t->p, rng_u64(&r)) != t->l->other)
		return;
	if (is_random(t->p->c, t->l))
		try_random(t);
	else if (t->l->other >= t->first + t->l->length)
		try_next(t);
}

/* A chunk of several sentences: steps 4 and 5. */
static void try_several(struct trial *t, struct rng r)
{
	const struct verify_chain *c = t->p->c;
	const bool label = t->l->flags & INSTANCE_RANDOM_NEXT, drawn = c->recipe.pairs == SHARD_SOP || c->recipe.exact_next || c->others;
	const double p = c->recipe.exact_next ? c->recipe.random_next : 0.5;
	const uint32_t split = rng_u32(&r);

	if (t->p->careful && t->cuts.any && may_draw_again(split, c->most + 2)) {
		add_end(t, t->end, FOREVER);
		return;
	}
	if (drawn && (rng_unit(&r) < p && (c->others || c->recipe.pairs == SHARD_SOP)) != label)
		return;
	t->drawn = r;
	t->alone = false;
	try_ends(t);
}

/* A chunk of one sentence: a random next follows, without a draw. */
static void try_alone(struct trial *t, struct rng r)
{
	t->drawn = r;
	t->alone = true;
	try_ends(t);
}

/* Adds to ENDS where L can end if it begins at token FIRST: nowhere, where that cannot be. */
static void try_first(const struct pass *p, const struct link *l, const struct cuts *cuts, uint32_t first,
		      struct place *ends)
{
	const struct verify_chain *c = p->c;
	struct trial t = { .p = p, .l = l, .cuts = *cuts, .first = first, .ends = ends,
			   .end = is_random(c, l) ? l->first + l->length : l->other + l->other_length,
			   .streams = c->recipe.rules == SHARD_OWN };
	struct rng r;

	if (!t.streams) {
		try_ends(&t);
		return;
	}
	rng_open_of(&r, &p->key, RNG_INSTANCES, p->document->occurrence, p->pass, first);
	t.target = c->recipe.document_lengths ? p->target : draw_target(c, &r);
	try_several(&t, r);
	if (is_random(c, l) && !c->recipe.exact_next)
		try_alone(&t, r);
}

/*
 * With SHARD_SOP a last sentence alone takes the one before it, which is then in two instances: whether L can be the
 * one that begins with it.
 */
static bool is_last_two(const struct pass *p, const struct link *l, const struct cuts *cuts)
{
	const uint32_t tokens = p->document->tokens, end = l->first + l->length;

	if (p->c->recipe.pairs != SHARD_SOP || !p->second || l->first < p->second || end > p->starts.last ||
	    l->other < p->starts.first)
		return false;
	return cuts->any || (end >= p->starts.first && l->other == end && l->other + l->other_length == tokens);
}

static int missing(const struct pass *p, uint32_t at)
{
	if (p->starts.first >= p->starts.last || at <= p->starts.first)
		return err_corrupt("document %" PRIu32 ", pass %" PRIu32 ": no instance begins at token %" PRIu32, p->number,
				   p->pass, p->starts.first);
	return err_corrupt("document %" PRIu32 ", pass %" PRIu32 ": no instance begins at any token from %" PRIu32 " to %" PRIu32,
			   p->number, p->pass, p->starts.first, at < p->starts.last ? at : p->starts.last);
}

static int follow_pair(struct pass *p, const struct link *l)
{
	const struct cuts cuts = cuts_of(p->c, l);
	const uint32_t last = l->first < p->starts.last ? l->first : p->starts.last;
	uint32_t first = cuts.lead ? p->starts.first : l->first;
	const uint32_t end = is_random(p->c, l) ? l->first + l->length : l->other + l->other_length;
	struct place ends = NOWHERE;

	if (first >= p->starts.first && first <= last && last - first >= MOST_STARTS)
		place_add(&ends, end, p->document->tokens);
	else
		for (; first >= p->starts.first && first <= last; first++)
			try_first(p, l, &cuts, first, &ends);
	if (is_last_two(p, l, &cuts))
		place_add(&ends, p->document->tokens, p->document->tokens);
	if (ends.first > ends.last)
		return missing(p, l->first);
	p->starts = ends;
	p->second = l->first + l->length;
	return 0;
}

static int follow(struct pass *p, const struct link *l)
{
	if (p->c->recipe.pairs != SHARD_NONE)
		return follow_pair(p, l);
	if (l->first != p->starts.first)
		return l->first > p->starts.first ? missing(p, l->first)
						  : err_corrupt("document %" PRIu32 ", pass %" PRIu32 ": token %" PRIu32 " is in two instances",
								p->number, p->pass, l->first);
	p->starts.first = p->starts.last = l->first + l->length;
	return 0;
}

/* --- all of them ------------------------------------------------------------------------------------- */

/* Over a range of the instances, in their order. */
struct walk {
	struct pass p;
	struct link *links;		/* of P */
	size_t n, cap;			/* 0: there is no P yet */
	uint32_t next;			/* document */
	uint64_t dropped;		/* documents with tokens that begin no instance */
};

static int follow_all(struct walk *w, bool careful)
{
	struct pass *p = &w->p;

	p->careful = careful;
	p->starts = (struct place){ 0, 0 };
	p->second = 0;
	for (size_t k = 0; k < w->n; k++)
		if (follow(p, &w->links[k]))
			return -1;
	return p->starts.last == p->document->tokens ? 0 : missing(p, p->starts.last);
}

/* All instances of W's pass are known. */
static int end_pass(struct walk *w)
{
	struct pass *p = &w->p;
	const struct shard_recipe *recipe = &p->c->recipe;
	struct rng r;
	int rc;

	if (recipe->document_lengths) {
		rng_open_of(&r, &p->key, RNG_INSTANCES, p->document->occurrence, p->pass, UINT32_MAX);
		p->target = draw_target(p->c, &r);
	}
	rc = follow_all(w, false);
	if (rc && recipe->pairs != SHARD_NONE)
		rc = follow_all(w, true);
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
	struct pass *p = &w->p;

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
	struct pass *p = &w->p;
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

static size_t range_start(const struct ranges *r, size_t range)
{
	size_t k = r->n * range / r->ranges;

	while (k && k < r->n && link_at(r->c, k).document == link_at(r->c, k - 1).document)
		k++;
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
	int rc = 0;

	(void)worker;
	for (size_t k = first; k < end && !rc; k++) {
		const struct link l = link_at(r->c, k);

		rc = walk(&w, &l);
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
	if (!c->ring)
		return err_memory();
	for (size_t k = 0; k < t->n; k++) {
		const struct key *last = c->ring_size ? &t->documents[c->ring[c->ring_size - 1]].key : NULL;

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
