/* Where a pair begins in its document, and ends: what was cut off to fit, by its lengths and its stream. */
#include "shards/verify_chain_impl.h"
#include "base/err.h"

#include <inttypes.h>
#include <string.h>

#define MOST_STARTS 256		/* that one instance is tried with, beside those that are near */
#define MOST_COINS (1 << 17)	/* that are counted for one instance, about: where there are more, it can end anywhere */
#define FOREVER UINT32_MAX

/* --- places ------------------------------------------------------------------------------------------ */

static void places_clear(struct chain_places *s, uint32_t base)
{
	*s = (struct chain_places){ .base = base, .first = FOREVER, .last = 0 };
}

static bool is_near(const struct chain_places *s, uint32_t token)
{
	return token >= s->base && token - s->base < CHAIN_NEAR;
}

static bool places_has(const struct chain_places *s, uint32_t token)
{
	return (token >= s->first && token <= s->last) ||
	       (is_near(s, token) && s->near[(token - s->base) / 64] >> (token - s->base) % 64 & 1);
}

static void places_add(struct chain_places *s, uint32_t first, uint32_t last)
{
	if (!is_near(s, first) || !is_near(s, last)) {
		s->first = first < s->first ? first : s->first;
		s->last = last > s->last ? last : s->last;
		return;
	}
	for (uint32_t at = first - s->base; at <= last - s->base; at++)
		s->near[at / 64] |= UINT64_C(1) << at % 64;
}

/* Of S, which is not empty. */
static uint32_t places_least(const struct chain_places *s)
{
	for (unsigned k = 0; k < CHAIN_NEAR / 64; k++)
		if (s->near[k]) {
			const uint32_t near = s->base + 64 * k + (uint32_t)__builtin_ctzll(s->near[k]);

			return near < s->first ? near : s->first;
		}
	return s->first;
}

static uint32_t places_most(const struct chain_places *s)
{
	for (unsigned k = CHAIN_NEAR / 64; k--;)
		if (s->near[k]) {
			const uint32_t near = s->base + 64 * k + 63 - (uint32_t)__builtin_clzll(s->near[k]);

			return near > s->last ? near : s->last;
		}
	return s->last;
}

static bool places_any(const struct chain_places *s)
{
	uint64_t near = 0;

	for (unsigned k = 0; k < CHAIN_NEAR / 64; k++)
		near |= s->near[k];
	return near || s->first <= s->last;
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

/* Numbers of tokens: FIRST .. LAST; none where FIRST > LAST. */
struct range {
	uint64_t first, last;
};

/* The numbers of coins of R, at least one and at most LIMIT, of which ONES are 1. */
static struct range find_coins(struct rng r, uint32_t ones, uint32_t limit)
{
	struct range s = { FOREVER, 0 };
	uint32_t seen = 0, bits = 0;

	for (uint32_t n = 0; n < limit && seen <= ones; n++) {
		if (n % 32 == 0)
			bits = rng_u32(&r);
		seen += bits >> n % 32 & 1;
		if (seen != ones)
			continue;
		s.first = n + 1 < s.first ? n + 1 : s.first;
		s.last = n + 1;
	}
	return s;
}

/* --- random nexts ------------------------------------------------------------------------------------ */

/* The draws of u64 that lead to one document: SPAN after AFTER, modulo 2^64; all where SPAN is 0. */
struct draws {
	uint64_t after, span;
	bool none;
};

/* The last draw whose point is not beyond the key of place AT in the ring: the point is floor((shard * 2^64 + u) * 2^64 / shards). */
static uint64_t last_draw(const struct verify_chain *c, size_t at)
{
	const struct verify_table *t = c->table;
	const struct key key = t->documents[c->ring[at]].key;
	const unsigned __int128 low = (unsigned __int128)key.lo * t->shards + (t->shards - 1),
				u = (unsigned __int128)key.hi * t->shards + (uint64_t)(low >> 64) -
				    ((unsigned __int128)t->shard << 64);

	return u >> 64 ? UINT64_MAX : (uint64_t)u;
}

static size_t place_before(const struct verify_chain *c, size_t at)
{
	return at ? at - 1 : c->ring_size - 1;
}

/* Which draws are followed by document OTHER, by a document of P: shards/FORMAT.md, "Instances", step 6. */
static struct draws draws_of(const struct chain_pass *p, uint32_t other)
{
	const struct verify_chain *c = p->c;
	const size_t at = c->places[other];
	size_t before;
	uint64_t after;

	if (at >= c->ring_size || c->ring[at] != other)
		return (struct draws){ .none = true };
	before = place_before(c, at);
	if (!c->recipe.same_document_next && !key_compare(c->table->documents[c->ring[before]].key, p->document->key))
		before = place_before(c, before);
	after = last_draw(c, before);
	return (struct draws){ .after = after, .span = last_draw(c, at) - after };
}

static bool is_drawn(const struct draws *d, uint64_t u)
{
	return !d->none && (!d->span || u - d->after - 1 < d->span);
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
	const struct chain_pass *p;
	const struct link *l;
	struct cuts cuts;
	struct draws draws;		/* of a random next */
	uint32_t end;			/* of what is seen, and goes on in the document */
	bool random, streams;
	uint32_t coins;			/* that may still be counted */
	uint32_t first, target;
	bool alone;			/* its chunk is one sentence */
	struct rng stream;		/* its next draw: at last, the first coin */
	struct chain_places ends;	/* where it can end */
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

static void add_end(struct trial *t, uint64_t first, uint64_t last)
{
	const uint32_t tokens = t->p->document->tokens;

	if (first <= tokens)
		places_add(&t->ends, (uint32_t)first, last < tokens ? (uint32_t)last : tokens);
}

static void add_any_end(struct trial *t)
{
	add_end(t, t->end, FOREVER);
}

/* Whether N more coins may be counted. */
static bool spend(struct trial *t, uint32_t n)
{
	const bool enough = n <= t->coins;

	t->coins -= enough ? n : 0;
	return enough;
}

/* Whether a first segment can be of N tokens before cuts: all of the chunk but a sentence at least is short of the target. */
static bool fits(const struct trial *t, uint32_t n)
{
	if (t->p->c->recipe.pairs != SHARD_NSP || t->p->c->recipe.exact_next || !t->streams)
		return true;
	return t->alone ? n >= t->target || (uint64_t)t->first + n == t->p->document->tokens : n < t->target;
}

/* How many tokens a segment can have lost of which FRONT were in front, if it was the only one that did. */
static struct range lost_with(struct trial *t, uint32_t front)
{
	const uint32_t tokens = t->p->document->tokens;
	struct range n = { 1, tokens };

	if (t->streams && spend(t, front))
		n = find_coins(t->stream, front, tokens);
	n.first = n.first < front ? front : n.first;
	return n;
}

/* Whether of N tokens that a segment lost, and no other one, FRONT can have been in front. */
static bool can_lose(struct trial *t, uint32_t n, uint32_t front)
{
	return !t->streams || !spend(t, n) || count_coins(t->stream, n) == front;
}

static void try_random(struct trial *t)
{
	const struct link *l = t->l;
	const uint32_t tokens = t->p->document->tokens, front = l->first - t->first;
	struct range n;

	if (!front && fits(t, l->length))
		add_end(t, t->end, t->end);
	if (!t->cuts.lead)
		return;
	n = t->cuts.both ? (struct range){ front ? front : 1, tokens } : lost_with(t, front);
	if (n.first <= n.last && !t->alone && t->streams && !t->p->c->recipe.exact_next) {
		if (l->length + n.first >= t->target)
			return;
		n.last = n.last < t->target - l->length ? n.last : t->target - l->length;
	}
	if (n.first <= n.last)
		add_end(t, (uint64_t)t->first + l->length + n.first, (uint64_t)t->first + l->length + n.last);
}

/* --- both segments cut ------------------------------------------------------------------------------ */

#define COINS 2048		/* that all ways to cut both are looked for among */

/*
 * First the longer segment loses some tokens, the difference; then each in turn, B, the second one of the instance, first. A coin that is 1 takes
 * a token in front, so of all coins as many are 1 as tokens were lost in front of either. As the gap between what is left of
 * both is what the first in the document lost, and the other one in front, their number alone tells how many each has lost.
 */
struct turns {
	uint16_t ones[COINS + 8];	/* of the coins before number n, those that are 1 */
	uint16_t others[COINS + 8];	/* of coins n - 2, n - 4, ... */
};

/* Of as many coins as it takes till more than ONES are 1, eight at a time: how many. */
static uint32_t count_turns(struct turns *w, struct rng r, uint32_t ones)
{
	uint32_t n = 0, bits = 0;

	w->ones[0] = w->others[0] = w->others[1] = 0;
	for (; n < COINS - 8 && w->ones[n] <= ones; n += 8) {
		if (n % 32 == 0)
			bits = rng_u32(&r);
		for (unsigned k = 0; k < 8; k++, bits >>= 1) {
			w->ones[n + k + 1] = (uint16_t)(w->ones[n + k] + (bits & 1));
			w->others[n + k + 2] = (uint16_t)(w->others[n + k] + (bits & 1));
		}
	}
	return n;
}

/* Of coin FIRST and every other one after it, N of them, those that are 1. */
static uint32_t ones_of(const struct turns *w, uint32_t first, uint32_t n)
{
	return w->others[first + 2 * n] - w->others[first];
}

/* Tokens that A lost in front if it lost A tokens and B lost B tokens, the coins being W's; -1 where both cannot be. */
static int64_t front_of_a(const struct turns *w, uint32_t a, uint32_t b, bool odd)
{
	const uint32_t b_turns = b <= a + odd ? b : a + odd;
	uint32_t a_turns, difference;

	if (!b_turns)
		return -1;
	a_turns = b_turns - odd;
	difference = a - a_turns + (b - b_turns);
	return (b_turns == b ? w->ones[difference] : 0) + ones_of(w, difference + 1, a_turns);
}

/* All ways to cut both, which leave so many tokens that were in front of the lead, and between it and the second. */
static void try_both(struct trial *t, uint32_t front, uint32_t gap)
{
	const bool odd = t->p->c->most % 2, swapped = lead_is_second(t->p->c, t->l);
	struct turns w;
	uint32_t coins;

	coins = t->streams && gap < COINS && spend(t, gap) ? count_turns(&w, t->stream, gap) : 0;
	if (!coins || w.ones[coins] <= gap) {
		add_any_end(t);
		return;
	}
	for (uint32_t n = gap; w.ones[n] <= gap; n++) {
		uint32_t lead, second;
		int64_t a_front;

		if (w.ones[n] < front || n + w.ones[n] < gap + front)
			continue;
		lead = gap + front - w.ones[n];
		second = n - lead;
		a_front = front_of_a(&w, swapped ? second : lead, swapped ? lead : second, odd);
		if (a_front == (swapped ? w.ones[n] - front : front) && fits(t, t->l->length + lead))
			add_end(t, (uint64_t)t->end + second + front - w.ones[n], (uint64_t)t->end + second + front - w.ones[n]);
	}
}

/* Both segments are of the document. */
static void try_next(struct trial *t)
{
	const struct link *l = t->l;
	const uint32_t tokens = t->p->document->tokens, front = l->first - t->first,
		       gap = l->other - t->first - l->length;	/* what was cut off before the second, or of the first */

	if (!front && !gap && fits(t, l->length) && ((uint32_t)l->length + l->other_length >= t->target || t->end == tokens))
		add_end(t, t->end, t->end);
	if (t->cuts.other && !front && fits(t, l->length)) {
		const struct range n = lost_with(t, gap);

		if (n.first <= n.last)
			add_end(t, t->end + n.first - gap, t->end + n.last - gap);
	}
	if (t->cuts.lead && gap && gap >= front && fits(t, l->length + gap) && can_lose(t, gap, front))
		add_end(t, t->end, t->end);
	if (t->cuts.both && gap >= front && fits(t, l->length + front))
		try_both(t, front, gap);
}

/* --- all beginnings ------------------------------------------------------------------------------------ */

/* The stream is drawn from up to the label. */
static void try_ends(struct trial *t)
{
	if (t->random && t->streams) {
		if (!is_drawn(&t->draws, rng_u64(&t->stream)))
			return;
		rng_below(&t->stream, t->p->c->table->sentences[t->l->other]);
	}
	if (t->random)
		try_random(t);
	else if (t->l->other >= (uint64_t)t->first + t->l->length)
		try_next(t);
}

/* A chunk of several sentences: steps 4 and 5. */
static void try_several(struct trial *t)
{
	const struct verify_chain *c = t->p->c;
	const bool label = t->l->flags & INSTANCE_RANDOM_NEXT, drawn = c->recipe.pairs == SHARD_SOP || c->recipe.exact_next || c->others;
	const double p = c->recipe.exact_next ? c->recipe.random_next : 0.5;
	const uint32_t split = rng_u32(&t->stream);

	if (t->p->careful && t->cuts.any && (!spend(t, c->most) || may_draw_again(split, c->most + 2))) {
		add_any_end(t);
		return;
	}
	if (drawn && (rng_unit(&t->stream) < p && (c->others || c->recipe.pairs == SHARD_SOP)) != label)
		return;
	t->alone = false;
	try_ends(t);
}

/* Adds where T's instance can end if it begins at token FIRST: nowhere, where that cannot be. */
static void try_first(struct trial *t, uint32_t first)
{
	const struct chain_pass *p = t->p;
	const struct verify_chain *c = p->c;
	struct rng alone;

	t->first = first;
	if (!t->streams) {
		try_ends(t);
		return;
	}
	rng_open_of(&t->stream, &p->key, RNG_INSTANCES, p->document->occurrence, p->pass, first);
	t->target = c->recipe.document_lengths ? p->target : draw_target(c, &t->stream);
	if (!t->random || c->recipe.exact_next) {
		try_several(t);
		return;
	}
	alone = t->stream;
	try_several(t);
	t->stream = alone;	/* of a chunk of one sentence, which a random next follows without a draw */
	t->alone = true;
	try_ends(t);
}

/* The same with all of P's starts where the lead may have lost what stood before it. */
static void try_firsts(struct trial *t)
{
	const struct chain_places *s = &t->p->starts;
	const uint32_t seen = t->l->first, last = seen < s->last ? seen : s->last;

	if (s->first <= last && last - s->first >= MOST_STARTS) {
		add_any_end(t);
		return;
	}
	for (unsigned k = 0; k < CHAIN_NEAR / 64; k++)
		for (uint64_t near = s->near[k]; near; near &= near - 1) {
			const uint32_t first = s->base + 64 * k + (uint32_t)__builtin_ctzll(near);

			if (first <= seen)
				try_first(t, first);
		}
	for (uint32_t first = s->first; first <= last; first++)
		try_first(t, first);
}

/*
 * With SHARD_SOP a last sentence alone takes the one before it, which is then in two instances: whether L can be the
 * one that begins with it.
 */
static bool is_last_two(const struct chain_pass *p, const struct link *l, const struct cuts *cuts)
{
	const uint32_t tokens = p->document->tokens, end = l->first + l->length;

	if (p->c->recipe.pairs != SHARD_SOP || !p->second || l->first < p->second || end > places_most(&p->starts) ||
	    l->other < places_least(&p->starts))
		return false;
	return cuts->any || (end >= places_least(&p->starts) && l->other == end && l->other + l->other_length == tokens);
}

static int missing(const struct chain_pass *p, uint32_t at)
{
	const uint32_t least = places_least(&p->starts), most = places_most(&p->starts);

	if (least >= most || at <= least)
		return err_corrupt("document %" PRIu32 ", pass %" PRIu32 ": no instance begins at token %" PRIu32, p->number,
				   p->pass, least);
	return err_corrupt("document %" PRIu32 ", pass %" PRIu32 ": no instance begins at any token from %" PRIu32 " to %" PRIu32,
			   p->number, p->pass, least, at < most ? at : most);
}

void chain_begin(struct chain_pass *p)
{
	const struct shard_recipe *recipe = &p->c->recipe;
	struct rng r;

	places_clear(&p->starts, 0);
	places_add(&p->starts, 0, 0);
	p->second = 0;
	if (!recipe->document_lengths)
		return;
	rng_open_of(&r, &p->key, RNG_INSTANCES, p->document->occurrence, p->pass, UINT32_MAX);
	p->target = draw_target(p->c, &r);
}

int chain_follow(struct chain_pass *p, const struct link *l)
{
	const struct verify_chain *c = p->c;
	struct trial t = { .p = p, .l = l, .cuts = cuts_of(c, l), .random = is_random(c, l), .streams = c->recipe.rules == SHARD_OWN,
			   .coins = MOST_COINS };

	t.end = t.random ? l->first + l->length : l->other + l->other_length;
	if (t.random && t.streams)
		t.draws = draws_of(p, l->other);
	places_clear(&t.ends, t.end);
	if (t.cuts.lead)
		try_firsts(&t);
	else if (places_has(&p->starts, l->first))
		try_first(&t, l->first);
	if (is_last_two(p, l, &t.cuts))
		places_add(&t.ends, p->document->tokens, p->document->tokens);
	if (!places_any(&t.ends))
		return missing(p, l->first);
	p->starts = t.ends;
	p->second = l->first + l->length;
	return 0;
}

int chain_end(const struct chain_pass *p)
{
	return places_has(&p->starts, p->document->tokens) ? 0 : missing(p, places_most(&p->starts));
}
