/* The instances of each document and pass, one after the other. */
#include "shards/verify_chain.h"
#include "base/err.h"
#include "base/spill.h"

#include <inttypes.h>

#define MEMORY ((size_t)256 << 20)

/* What is kept of an instance: its first segment, and what else is needed. */
struct link {
	uint32_t document, first;
	uint32_t other;			/* the second segment's first token; of a random next nothing */
	uint16_t pass, length, other_length;
	uint16_t flags;			/* enum instance_flags */
};

struct verify_chain {
	uint32_t most;			/* tokens of an instance's segments */
	uint32_t passes;
	unsigned shift;			/* bits below document and pass in prefix() */
	struct spill *spill;
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
	c->most = r->max_seq_length - shard_overhead(r);
	c->passes = r->dupe_factor;
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
	free(c);
}

int verify_chain_note(const struct instance *i, struct buf *links)
{
	const struct instance_segment *a = &i->segments[0], *b = &i->segments[1];
	const struct link l = {
		.document = a->document, .first = a->first, .other = b->first, .pass = (uint16_t)i->pass,
		.length = (uint16_t)a->length, .other_length = (uint16_t)b->length, .flags = (uint16_t)i->flags,
	};

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

/* --- one instance --------------------------------------------------------------------------------- */

/* Tokens where an instance can begin, or end: FIRST .. LAST; none where FIRST > LAST. */
struct places {
	uint64_t first, last;
};

static void places_add(struct places *s, uint64_t first, uint64_t last)
{
	s->first = first < s->first ? first : s->first;
	s->last = last > s->last ? last : s->last;
}

static bool places_has(const struct places *s, uint64_t token)
{
	return token >= s->first && token <= s->last;
}

/* Which segments of an instance that may have lost tokens can be the ones that did. */
struct cuts {
	bool first, second, both;
};

static struct cuts cuts_of(const struct verify_chain *c, const struct link *l)
{
	const uint32_t a = l->length, b = l->other_length;
	const bool any = a + b == c->most;

	return (struct cuts){ any && a >= b, any && b + 1 >= a, any && a == b + c->most % 2 };
}

/* Where L, of a document of so many TOKENS, can end if it begins at one of STARTS; nowhere, where that cannot be. */
static struct places ends_of(const struct verify_chain *c, const struct link *l, const struct places *starts, uint32_t tokens)
{
	const struct cuts cuts = cuts_of(c, l);
	const bool random = l->flags & INSTANCE_RANDOM_NEXT, whole = places_has(starts, l->first);
	const uint64_t first_end = (uint64_t)l->first + l->length, end = random ? first_end : (uint64_t)l->other + l->other_length;
	const uint64_t gap = random ? 0 : l->other - first_end;	/* between the two: what one of them has lost there, or both */
	struct places ends = { UINT64_MAX, 0 };

	if (!whole && !(cuts.first && starts->first <= l->first))
		return ends;
	if (whole && !gap)
		places_add(&ends, end, end);
	if (random && cuts.first)
		places_add(&ends, whole ? end + 1 : end, tokens);
	if (!random && cuts.second && whole)
		places_add(&ends, gap ? end : end + 1, tokens);
	if (!random && cuts.first && (gap || starts->first < l->first))
		places_add(&ends, end, end);
	if (!random && cuts.both)
		places_add(&ends, end, tokens);
	ends.last = ends.last < tokens ? ends.last : tokens;
	return ends;
}

/* --- going through ------------------------------------------------------------------------------- */

struct walk {
	const struct verify_chain *c;
	const struct documents *table;
	bool any;			/* there is a document and pass that the last instance was of */
	uint32_t document, pass;
	uint32_t next;			/* document that has yet to begin an instance */
	struct places starts;		/* of the next instance */
};

static int missing(const struct walk *w, uint64_t before)
{
	const uint64_t least = w->starts.first, most = w->starts.last < before ? w->starts.last : before;

	if (least >= most)
		return err_corrupt("document %" PRIu32 ", pass %" PRIu32 ": no instance begins at token %" PRIu64, w->document, w->pass, least);
	return err_corrupt("document %" PRIu32 ", pass %" PRIu32 ": no instance begins at any token from %" PRIu64 " to %" PRIu64,
			   w->document, w->pass, least, most);
}

static int no_instance(uint32_t document, uint32_t pass)
{
	return err_corrupt("document %" PRIu32 " begins no instance in pass %" PRIu32, document, pass);
}

/* All instances of W's pass were met. */
static int end_pass(const struct walk *w)
{
	return places_has(&w->starts, w->table->items[w->document].tokens) ? 0 : missing(w, UINT64_MAX);
}

/* W's document has ended, and none of those before END begins an instance. */
static int end_document(struct walk *w, size_t end)
{
	if (w->any && end_pass(w))
		return -1;
	if (w->any && w->pass + 1 < w->c->passes)
		return no_instance(w->document, w->pass + 1);
	for (; w->next < end; w->next++)
		if (w->table->items[w->next].tokens)
			return no_instance(w->next, 0);
	return 0;
}

/* Makes L's document and pass the one that W is at. */
static int enter(struct walk *w, const struct link *l)
{
	const bool same = w->any && l->document == w->document;
	const uint32_t pass = same ? w->pass + 1 : 0;

	if (same && l->pass == w->pass)
		return 0;
	if (same ? end_pass(w) : end_document(w, l->document))
		return -1;
	if (l->pass != pass)
		return no_instance(l->document, pass);
	*w = (struct walk){ .c = w->c, .table = w->table, .any = true, .document = l->document, .pass = pass, .next = l->document + 1 };
	return 0;
}

static int follow(struct walk *w, const struct link *l)
{
	struct places ends;

	if (enter(w, l))
		return -1;
	ends = ends_of(w->c, l, &w->starts, w->table->items[w->document].tokens);
	if (ends.first > ends.last)
		return missing(w, l->first);
	w->starts = ends;
	return 0;
}

int verify_chain_check(struct verify_chain *c, const struct documents *t)
{
	struct walk w = { .c = c, .table = t };
	const void *record;
	struct link l;
	size_t len;
	int more;

	if (spill_sort(c->spill))
		return -1;
	while ((more = spill_next(c->spill, &record, &len)) > 0) {
		memcpy(&l, record, sizeof(l));
		if (follow(&w, &l))
			return -1;
	}
	return more ? -1 : end_document(&w, t->n);
}
