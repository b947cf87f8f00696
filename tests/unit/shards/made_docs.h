/* Made-up documents, and all instances of them: for tests of shards/build.h. */
#ifndef TESTS_MADE_DOCS_H
#define TESTS_MADE_DOCS_H

#include "base/err.h"
#include "base/rng.h"
#include "shards/build.h"
#include "shards/keys.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define VOCAB 5000

static struct id_range never[] = { { 0, 4 } };
static struct shard_recipe recipe = {
	.vocab_size = VOCAB,
	.special = { 0, 1, 2, 3, 4 },
	.never = never,
	.n_never = 1,
	.max_seq_length = 64,
	.max_predictions_per_seq = 9,
	.dupe_factor = 3,
	.masked_lm_prob = 0.15,
	.short_seq_prob = 0.1,
	.masking = SHARD_STATIC,
	.pairs = SHARD_NSP,
	.seed = 7,
};

/* Adds made-up document NUMBER, its key as if hashed. SENTENCES 0: as many as come. */
static inline void add_document(struct docset *s, uint32_t number, uint32_t sentences)
{
	struct tokdoc d = TOKDOC_INIT;
	struct buf b = BUF_INIT;
	const unsigned char *p, *body;
	uint32_t *ids;
	struct rng r;
	size_t len;

	rng_open(&r, 1, RNG_TEST, 0, number, 0, 0, 0);
	d.n_sentences = sentences ? sentences : 1 + rng_below(&r, 40);
	assert_int_equal(array_grow(&d.lengths, &d.cap_lengths, d.n_sentences, sizeof(*d.lengths)), 0);
	ids = malloc(d.n_sentences * 40 * sizeof(*ids));
	for (size_t k = 0; k < d.n_sentences; k++) {
		d.lengths[k] = rng_below(&r, 40);
		for (uint32_t t = 0; t < d.lengths[k]; t++)
			ids[d.n_tokens++] = 5 + rng_below(&r, VOCAB - 5);
	}
	d.key = key_of((const char *)&number, sizeof(number));
	d.ids = ids;
	d.id_bytes = 4;
	assert_int_equal(tokdoc_encode(&b, &d, 2), 0);
	p = (unsigned char *)b.data;
	assert_int_equal(tokdoc_split(&p, p + b.len, &body, &len), 0);
	if (key_shard(d.key, s->shards) == s->shard)
		assert_int_equal(docset_add(s, body, len), 0);
	buf_release(&b);
	tokdoc_release(&d);
	free(ids);
}

static inline void make_docs(struct docset *s, uint32_t n, uint32_t shard, uint32_t shards)
{
	docset_init(s, shard, shards, 2, VOCAB, UINT64_MAX);
	for (uint32_t k = 0; k < n; k++)
		add_document(s, k, 0);
	assert_int_equal(docset_finish(s), 0);
}

struct result {
	struct buf raw;			/* of all blocks */
	uint64_t n;
	struct shard_totals totals;
};

/* Builds all of S; if CHECK, gives every instance to it. */
static inline void build(const struct docset *s, unsigned threads, struct result *r,
		  void (*check)(const struct build *, const struct instance *, void *), void *ctx)
{
	struct instance_block block = INSTANCE_BLOCK_INIT;
	struct buf raw = BUF_INIT, packed = BUF_INIT;
	struct instance i;
	struct build b;
	uint32_t records;

	*r = (struct result){ .raw = BUF_INIT };
	assert_int_equal(build_init(&b, &recipe, NULL, s, threads, UINT64_MAX), 0);
	assert_int_equal(build_drafts(&b), 0);
	assert_int_equal(instance_init(&i, &b.shape), 0);
	for (uint64_t k = 0; k < build_blocks(&b); k++) {
		assert_int_equal(build_block(&b, (unsigned)(k % threads), k, 1, &raw, &packed, &records), 0);
		assert_int_equal(buf_add(&r->raw, raw.data, raw.len), 0);
		assert_int_equal(instance_block_open(&block, &b.shape, raw.data, raw.len, records), 0);
		for (uint32_t m = 0; check && m < records; m++) {
			instance_block_get(&block, m, &i);
			check(&b, &i, ctx);
		}
	}
	r->n = b.n;
	build_totals(&b, &r->totals);
	instance_release(&i);
	instance_block_release(&block);
	buf_release(&raw);
	buf_release(&packed);
	build_release(&b);
}

/* An instance without the numbers of documents, which shift: a hash of its ids, masks in. */
struct hashes {
	struct key *items;
	size_t n, cap;
};

static inline void collect(const struct build *b, const struct instance *i, void *ctx)
{
	struct hashes *h = ctx;

	(void)b;
	assert_int_equal(array_grow(&h->items, &h->cap, h->n + 1, sizeof(*h->items)), 0);
	h->items[h->n++] = key_of((const char *)i->ids, i->n * sizeof(*i->ids));
}

static inline int by_key(const void *a, const void *b)
{
	return key_compare(*(const struct key *)a, *(const struct key *)b);
}

/* How many of A are not in B; both sorted. */
static inline size_t missing(const struct hashes *a, const struct hashes *b)
{
	size_t n = 0;

	for (size_t i = 0; i < a->n; i++)
		n += !bsearch(&a->items[i], b->items, b->n, sizeof(*b->items), by_key);
	return n;
}

/* How many of the instances of 1000 documents are not those of 1010 (*GONE), and the other way; of how many. */
static inline void change_little(size_t *gone, size_t *new, size_t *n)
{
	struct hashes before = { NULL, 0, 0 }, after = { NULL, 0, 0 };
	struct result r;
	struct docset s;

	make_docs(&s, 1000, 0, 1);
	build(&s, 1, &r, collect, &before);
	buf_release(&r.raw);
	docset_release(&s);
	make_docs(&s, 1010, 0, 1);
	build(&s, 1, &r, collect, &after);
	buf_release(&r.raw);
	docset_release(&s);
	qsort(before.items, before.n, sizeof(*before.items), by_key);
	qsort(after.items, after.n, sizeof(*after.items), by_key);
	*gone = missing(&before, &after);
	*new = missing(&after, &before);
	*n = before.n;
	free(before.items);
	free(after.items);
}

#endif
