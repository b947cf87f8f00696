/* The documents of one shard. */
#include "shards/docset.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/pool.h"
#include "shards/keys.h"

#include <assert.h>
#include <stdatomic.h>

#define STRETCH 64		/* documents borrowed at a time by one thread */

void docset_init(struct docset *s, uint32_t shard, uint32_t shards, unsigned id_bytes, uint32_t vocab_size,
		 uint64_t limit)
{
	*s = (struct docset){
		.shard = shard, .shards = shards, .id_bytes = id_bytes, .vocab_size = vocab_size, .limit = limit,
		.bodies = ARENA_INIT, .lane = { .lengths = ARENA_INIT },
	};
}

static void release_lane(struct docset_lane *l)
{
	arena_release(&l->lengths);
	tokdoc_release(&l->scratch);
}

void docset_release(struct docset *s)
{
	if (!s)
		return;
	free(s->docs);
	free(s->ring);
	free(s->ring_from);
	arena_release(&s->bodies);
	release_lane(&s->lane);
	for (unsigned k = 0; k < s->n_more; k++)
		release_lane(&s->more[k]);
	free(s->more);
	*s = (struct docset){ .n = 0 };
}

void docset_clear(struct docset *s)
{
	s->n = 0;
	s->bytes = 0;
	s->over = false;
	s->ring_size = 0;
	arena_clear(&s->bodies);
	arena_clear(&s->lane.lengths);
}

/* Sentence ends and counts of D, out of its decoded record. */
static int cut_sentences(struct docset_lane *l, struct docset_document *d)
{
	const struct tokdoc *t = &l->scratch;
	uint32_t *ends = arena_alloc(&l->lengths, (t->n_sentences + 1) * sizeof(*ends));

	if (!ends)
		return -1;
	d->ends = ends;
	for (size_t i = 0; i < t->n_sentences; i++) {
		if (!t->lengths[i])
			continue;
		d->tokens += t->lengths[i];
		ends[d->sentences++] = d->tokens;
	}
	return 0;
}

/* Bytes that a document takes beside its record. */
static uint64_t memory_of(const struct docset *s, size_t sentences)
{
	return sentences * sizeof(*s->docs->ends) + 64 + sizeof(*s->docs) * 3 / 2 + sizeof(*s->ring) +
	       sizeof(*s->ring_from);
}

/* Number PLACE, whose record of LEN bytes at BODY L has decoded; FROM is where it was when that was done. */
static int set_document(struct docset *s, struct docset_lane *l, size_t place, const unsigned char *body, size_t len,
			const unsigned char *from)
{
	struct docset_document *d = &s->docs[place];

	*d = (struct docset_document){ .key = l->scratch.key, .body = body, .len = len, .place = (uint32_t)place };
	d->ids = body + ((const unsigned char *)l->scratch.ids - from);
	return cut_sentences(l, d);
}

static int check_number(size_t n)
{
	return n <= UINT32_MAX ? 0 : err_fail("a shard has more than %u documents", UINT32_MAX);
}

int docset_add(struct docset *s, const unsigned char *body, size_t len)
{
	struct docset_lane *l = &s->lane;
	char *copy;

	if (tokdoc_decode_body(body, len, s->id_bytes, s->vocab_size, &l->scratch))
		return -1;
	s->bytes += len + memory_of(s, l->scratch.n_sentences);
	s->over = s->over || s->bytes > s->limit;
	if (s->over)
		return 0;
	copy = arena_dup(&s->bodies, (const char *)body, len);
	if (!copy || check_number(s->n + 1) || array_grow(&s->docs, &s->cap, s->n + 1, sizeof(*s->docs)))
		return -1;
	return set_document(s, l, s->n++, (unsigned char *)copy, len, body);
}

/* --- borrowing ---------------------------------------------------------------------------------- */

struct borrowing {
	struct docset *s;
	size_t n;
	const unsigned char *(*record)(const void *ctx, size_t i, size_t *len);
	const void *ctx;
	atomic_uint_fast64_t bytes;
};

static int borrow_stretch(void *ctx, size_t stretch, unsigned worker)
{
	struct borrowing *b = ctx;
	struct docset *s = b->s;
	struct docset_lane *l = worker ? &s->more[worker - 1] : &s->lane;
	const size_t first = stretch * STRETCH, end = b->n - first < STRETCH ? b->n : first + STRETCH;
	uint64_t bytes = 0;

	if (atomic_load(&b->bytes) > s->limit)
		return 0;
	for (size_t i = first; i < end; i++) {
		size_t len;
		const unsigned char *body = b->record(b->ctx, i, &len);

		if (tokdoc_decode_body(body, len, s->id_bytes, s->vocab_size, &l->scratch) ||
		    set_document(s, l, i, body, len, body))
			return -1;
		bytes += memory_of(s, l->scratch.n_sentences);
	}
	atomic_fetch_add(&b->bytes, bytes);
	return 0;
}

int docset_borrow(struct docset *s, unsigned threads, size_t n,
		  const unsigned char *(*record)(const void *ctx, size_t i, size_t *len), const void *ctx)
{
	struct borrowing b = { .s = s, .n = n, .record = record, .ctx = ctx };

	assert(!s->n && !s->more);
	s->bytes = n * memory_of(s, 0);
	s->over = s->bytes > s->limit;
	if (s->over || !n)
		return 0;
	s->more = threads > 1 ? calloc(threads - 1, sizeof(*s->more)) : NULL;
	if (threads > 1 && !s->more)
		return err_memory();
	s->n_more = threads > 1 ? threads - 1 : 0;
	if (check_number(n) || array_grow(&s->docs, &s->cap, n, sizeof(*s->docs)) ||
	    pool_for(threads, (n + STRETCH - 1) / STRETCH, borrow_stretch, &b))
		return -1;
	s->n = n;
	s->bytes = atomic_load(&b.bytes);
	s->over = s->bytes > s->limit;
	return 0;
}

/* By the bytes of their records, which begin with the key. */
static int compare(const void *a, const void *b)
{
	const struct docset_document *x = a, *y = b;
	const size_t n = x->len < y->len ? x->len : y->len;
	const int rc = memcmp(x->body, y->body, n);

	if (rc)
		return rc;
	return x->len < y->len ? -1 : x->len > y->len;
}

static bool in_order(const struct docset *s)
{
	for (size_t i = 1; i < s->n; i++)
		if (compare(&s->docs[i - 1], &s->docs[i]) > 0)
			return false;
	return true;
}

/* Equal keys stand side by side. */
static void number_occurrences(struct docset *s)
{
	for (size_t i = 1; i < s->n; i++)
		if (!key_compare(s->docs[i].key, s->docs[i - 1].key))
			s->docs[i].occurrence = s->docs[i - 1].occurrence + 1;
}

/* The first document of each key that has tokens, and where a search from each of as many points begins. */
static int close_ring(struct docset *s)
{
	uint32_t at = 0;

	s->ring = malloc((s->n + 1) * sizeof(*s->ring));
	s->ring_from = malloc((s->n + 1) * sizeof(*s->ring_from));
	if (!s->ring || !s->ring_from)
		return err_memory();
	for (size_t i = 0; i < s->n; i++)
		if (s->docs[i].tokens && !s->docs[i].occurrence)
			s->ring[s->ring_size++] = (uint32_t)i;
	for (uint32_t p = 0; p < s->ring_size; p++) {
		const unsigned __int128 u = ((unsigned __int128)p << 64) / s->ring_size;
		const struct key point = key_point(s->shard, s->shards, (uint64_t)u);

		while (at < s->ring_size && key_compare(s->docs[s->ring[at]].key, point) < 0)
			at++;
		s->ring_from[p] = at;
	}
	return 0;
}

int docset_finish(struct docset *s)
{
	if (s->n && !in_order(s))
		qsort(s->docs, s->n, sizeof(*s->docs), compare);
	number_occurrences(s);
	return close_ring(s);
}

int docset_outline(struct docset *s, size_t n, void (*fill)(const void *ctx, size_t i, struct docset_document *d), const void *ctx)
{
	assert(!s->n);
	if (check_number(n) || array_grow(&s->docs, &s->cap, n + 1, sizeof(*s->docs)))
		return -1;
	for (; s->n < n; s->n++) {
		struct docset_document *d = &s->docs[s->n];

		*d = (struct docset_document){ .place = (uint32_t)s->n };
		fill(ctx, s->n, d);
		d->tokens = d->sentences ? d->ends[d->sentences - 1] : 0;
		s->bytes += memory_of(s, d->sentences);
	}
	return close_ring(s);
}

/* Where on the ring. */
static uint32_t find(const struct docset *s, uint64_t u)
{
	const struct key point = key_point(s->shard, s->shards, u);
	uint32_t at = s->ring_from[(uint64_t)(((unsigned __int128)u * s->ring_size) >> 64)];

	while (at < s->ring_size && key_compare(s->docs[s->ring[at]].key, point) < 0)
		at++;
	return at == s->ring_size ? 0 : at;
}

uint32_t docset_at(const struct docset *s, uint64_t u)
{
	assert(s->ring_size > 0);
	return s->ring[find(s, u)];
}

uint32_t docset_follow(const struct docset *s, uint64_t u, uint32_t d)
{
	uint32_t at = find(s, u);

	assert(s->ring_size > 1);
	if (!key_compare(s->docs[s->ring[at]].key, s->docs[d].key))
		at = at + 1 == s->ring_size ? 0 : at + 1;
	return s->ring[at];
}

/* Ids are read at any address. */
void docset_ids(const struct docset *s, uint32_t d, uint32_t first, uint32_t n, uint32_t *out)
{
	const struct tokdoc t = { .ids = s->docs[d].ids, .id_bytes = s->id_bytes };

	tokdoc_ids(&t, first, n, out);
}
