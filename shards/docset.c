/* The documents of one shard. */
#include "shards/docset.h"
#include "base/buf.h"
#include "base/err.h"
#include "shards/keys.h"

#include <assert.h>

void docset_init(struct docset *s, uint32_t shard, uint32_t shards, unsigned id_bytes, uint32_t vocab_size,
		 uint64_t limit)
{
	*s = (struct docset){
		.shard = shard, .shards = shards, .id_bytes = id_bytes, .vocab_size = vocab_size, .limit = limit,
		.bodies = ARENA_INIT, .lengths = ARENA_INIT,
	};
}

void docset_release(struct docset *s)
{
	if (!s)
		return;
	free(s->docs);
	free(s->ring);
	free(s->ring_from);
	arena_release(&s->bodies);
	arena_release(&s->lengths);
	tokdoc_release(&s->scratch);
	*s = (struct docset){ .n = 0 };
}

void docset_clear(struct docset *s)
{
	s->n = 0;
	s->bytes = 0;
	s->over = false;
	s->ring_size = 0;
	arena_clear(&s->bodies);
	arena_clear(&s->lengths);
}

/* Sentence ends and counts of D, out of its decoded record T. */
static int cut_sentences(struct docset *s, struct docset_document *d, const struct tokdoc *t)
{
	uint32_t *ends = arena_alloc(&s->lengths, (t->n_sentences + 1) * sizeof(*ends));

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

/* Bytes that a document takes. */
static uint64_t memory_of(const struct docset *s, size_t len, size_t sentences)
{
	return len + sentences * sizeof(*s->docs->ends) + 64 + sizeof(*s->docs) * 3 / 2 + sizeof(*s->ring) +
	       sizeof(*s->ring_from);
}

int docset_add(struct docset *s, const unsigned char *body, size_t len)
{
	struct docset_document *d;
	char *copy;

	if (tokdoc_decode_body(body, len, s->id_bytes, s->vocab_size, &s->scratch))
		return -1;
	s->bytes += memory_of(s, len, s->scratch.n_sentences);
	s->over = s->over || s->bytes > s->limit;
	if (s->over)
		return 0;
	if (s->n == UINT32_MAX)
		return err_fail("a shard has more than %u documents", UINT32_MAX);
	copy = arena_dup(&s->bodies, (const char *)body, len);
	if (!copy || array_grow(&s->docs, &s->cap, s->n + 1, sizeof(*s->docs)))
		return -1;
	d = &s->docs[s->n++];
	*d = (struct docset_document){ .key = s->scratch.key, .body = (unsigned char *)copy, .len = len,
					.place = (uint32_t)s->n - 1 };
	d->ids = d->body + ((const unsigned char *)s->scratch.ids - body);
	return cut_sentences(s, d, &s->scratch);
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

uint32_t docset_follow(const struct docset *s, uint64_t u, uint32_t d)
{
	const struct key point = key_point(s->shard, s->shards, u), own = s->docs[d].key;
	uint32_t at = s->ring_from[(uint64_t)(((unsigned __int128)u * s->ring_size) >> 64)];

	assert(s->ring_size > 1);
	while (at < s->ring_size && key_compare(s->docs[s->ring[at]].key, point) < 0)
		at++;
	at = at == s->ring_size ? 0 : at;
	if (!key_compare(s->docs[s->ring[at]].key, own))
		at = at + 1 == s->ring_size ? 0 : at + 1;
	return s->ring[at];
}

/* Ids are read at any address. */
void docset_ids(const struct docset *s, uint32_t d, uint32_t first, uint32_t n, uint32_t *out)
{
	const struct tokdoc t = { .ids = s->docs[d].ids, .id_bytes = s->id_bytes };

	tokdoc_ids(&t, first, n, out);
}
