/* Any instance that was left out, added, moved or changed shows, whatever the checksums say. */
#include "shards/verify_drafts.h"
#include "shards/lengths.h"
#include "tests/unit/shards/made_docs.h"

/* All instances of some documents, but for tokens and masks. */
struct all {
	struct docset docs;
	struct documents table;
	struct frame_block lengths;
	struct shard_header header;
	struct instance *items;
	size_t n, cap;
	struct shard_totals totals;
};

static void keep(const struct build *b, const struct instance *i, void *ctx)
{
	struct all *a = ctx;
	struct instance *to;

	(void)b;
	assert_int_equal(array_grow(&a->items, &a->cap, a->n + 1, sizeof(*a->items)), 0);
	to = &a->items[a->n++];
	*to = (struct instance){ .segments = malloc(i->n_segments * sizeof(*i->segments)), .n_segments = i->n_segments,
				 .pass = i->pass, .flags = i->flags };
	memcpy(to->segments, i->segments, i->n_segments * sizeof(*i->segments));
}

static void put_lengths(struct buf *raw, const struct docset_document *d)
{
	for (uint32_t s = 0; s < d->sentences; s++) {
		const uint32_t lengths[] = { 0, d->ends[s] - (s ? d->ends[s - 1] : 0) };

		assert_int_equal(lengths_put(raw, lengths, 2), 0);
	}
}

static void make_all(struct all *a, uint32_t documents)
{
	struct result r;

	*a = (struct all){ .table = DOCUMENTS_INIT, .lengths = FRAME_BLOCK_INIT };
	make_docs(&a->docs, documents, 0, 1);
	build(&a->docs, 2, &r, keep, a);
	buf_release(&r.raw);
	a->totals = r.totals;
	a->header = (struct shard_header){ .recipe = recipe, .shard = 0, .shards = 1 };
	a->table.items = calloc(a->docs.n, sizeof(*a->table.items));
	a->table.n = a->docs.n;
	for (size_t k = 0; k < a->docs.n; k++) {
		const struct docset_document *d = &a->docs.docs[k];

		a->table.items[k] = (struct documents_entry){ d->key, d->occurrence, d->tokens };
		put_lengths(&a->lengths.raw, d);
		a->totals.sentences += d->sentences;
	}
	a->lengths.records = (uint32_t)a->docs.n;
}

static void release_all(struct all *a)
{
	for (size_t k = 0; k < a->n; k++)
		free(a->items[k].segments);
	free(a->items);
	documents_release(&a->table);
	frame_block_release(&a->lengths);
	docset_release(&a->docs);
}

static struct verify_drafts *drafts_of(const struct all *a)
{
	struct verify_drafts *d = verify_drafts_new(2, 1 << 24);

	assert_non_null(d);
	assert_int_equal(verify_drafts_add(d, &a->table, &a->lengths), 0);
	assert_int_equal(verify_drafts_make(d, &a->header, &a->table), 0);
	return d;
}

/* The first of A's instances, ORDER[0 .. N-1], that is not what D has; N where all are, N + 1 where their number is not right. */
static size_t first_wrong(const struct verify_drafts *d, const struct all *a, const size_t *order, size_t n)
{
	struct shard_totals totals = a->totals;

	for (size_t k = 0; k < n; k++)
		if (verify_drafts_check(d, k, &a->items[order[k]])) {
			assert_int_equal(err_code(), EXIT_CORRUPT);
			return k;
		}
	totals.instances = n;
	return verify_drafts_end(d, &totals) ? n + 1 : n;
}

static void check_left_out(const struct verify_drafts *d, const struct all *a, size_t *order)
{
	for (size_t gone = 0; gone < a->n; gone++) {
		for (size_t k = 0, n = 0; k < a->n; k++)
			if (k != gone)
				order[n++] = k;
		if (first_wrong(d, a, order, a->n - 1) != (gone + 1 == a->n ? a->n : gone))
			fail_msg("without instance %zu", gone);
	}
}

static void check_moved(const struct verify_drafts *d, const struct all *a, size_t *order)
{
	for (size_t k = 0; k <= a->n; k++)
		order[k] = k < a->n ? k : 0;
	assert_int_equal(first_wrong(d, a, order, a->n + 1), a->n);		/* one more */
	for (size_t k = 0; k + 1 < a->n; k += 3) {
		order[k] = k + 1;
		assert_int_equal(first_wrong(d, a, order, a->n), k);		/* twice */
		order[k + 1] = k;
		assert_int_equal(first_wrong(d, a, order, a->n), k);		/* swapped */
		order[k] = k;
		order[k + 1] = k + 1;
	}
}

static void check_changed(const struct verify_drafts *d, const struct all *a, size_t *order)
{
	for (size_t k = 0; k < a->n; k += 5) {
		struct instance *i = &a->items[k];
		struct instance_segment *s = &i->segments[k % i->n_segments];
		uint32_t *const members[] = { &i->pass, &i->flags, &s->document, &s->first, &s->length };

		for (size_t m = 0; m < sizeof(members) / sizeof(members[0]); m++) {
			*members[m] ^= 1;
			assert_int_equal(first_wrong(d, a, order, a->n), k);
			*members[m] ^= 1;
		}
	}
}

static void check(void)
{
	struct all a;
	struct verify_drafts *d;
	size_t *order;

	make_all(&a, 30);
	assert_true(a.n > 50);
	d = drafts_of(&a);
	order = malloc((a.n + 1) * sizeof(*order));
	for (size_t k = 0; k < a.n; k++)
		order[k] = k;
	assert_int_equal(first_wrong(d, &a, order, a.n), a.n);
	check_changed(d, &a, order);
	check_left_out(d, &a, order);
	check_moved(d, &a, order);
	for (unsigned k = 0; k < 2; k++) {
		uint64_t *const says = k ? &a.totals.truncated : &a.totals.dropped;

		++*says;
		assert_int_equal(first_wrong(d, &a, order, a.n), a.n + 1);
		--*says;
	}
	a.totals.sentences--;
	assert_int_equal(first_wrong(d, &a, order, a.n), a.n + 1);
	free(order);
	verify_drafts_free(d);
	release_all(&a);
}

static const struct shard_recipe plain = {
	.vocab_size = VOCAB, .special = { 0, 1, 2, 3, 4 }, .never = never, .n_never = 1, .max_seq_length = 64,
	.max_predictions_per_seq = 9, .dupe_factor = 3, .masked_lm_prob = 0.15, .short_seq_prob = 0.1, .seed = 7,
};

static void test_next_sentences(void **state)
{
	(void)state;
	recipe = plain;
	check();
	recipe.document_lengths = true;
	recipe.short_seq_prob = 0.5;
	check();
	recipe = plain;
	recipe.max_seq_length = 25;
	recipe.same_document_next = true;
	check();
	for (unsigned k = 0; k < 3; k++) {
		recipe = plain;
		recipe.exact_next = true;
		recipe.random_next = k / 2.0;
		check();
	}
}

static void test_sentence_order(void **state)
{
	(void)state;
	recipe = plain;
	recipe.pairs = SHARD_SOP;
	check();
}

static void test_full_sentences(void **state)
{
	(void)state;
	recipe = plain;
	recipe.pairs = SHARD_NONE;
	check();
	recipe.cross_documents = true;
	check();
}

/* One document: no random next is found, and chunks of one sentence are dropped. */
static void test_one_document(void **state)
{
	struct all a;
	struct verify_drafts *d;

	(void)state;
	recipe = plain;
	make_all(&a, 1);
	d = drafts_of(&a);
	for (size_t k = 0; k < a.n; k++)
		assert_int_equal(verify_drafts_check(d, k, &a.items[k]), 0);
	assert_int_equal(verify_drafts_end(d, &a.totals), 0);
	verify_drafts_free(d);
	release_all(&a);
}

/* Adding the LENGTHS of A's documents, or making, fails for WHAT. */
static void refuses(const struct all *a, uint64_t memory, int code, const char *what)
{
	struct verify_drafts *d = verify_drafts_new(1, memory);

	assert_non_null(d);
	if (!verify_drafts_add(d, &a->table, &a->lengths) && !verify_drafts_make(d, &a->header, &a->table))
		fail_msg("taken, wanted '%s'", what);
	assert_int_equal(err_code(), code);
	if (!strstr(err_text(), what))
		fail_msg("'%s', wanted '%s'", err_text(), what);
	verify_drafts_free(d);
}

static void test_lengths_that_cannot_be(void **state)
{
	struct all a;
	struct buf *raw = &a.lengths.raw;
	char was;

	(void)state;
	recipe = plain;
	make_all(&a, 30);
	a.lengths.records--;
	refuses(&a, 1 << 24, EXIT_CORRUPT, "bytes more than its lengths");
	a.lengths.records += 2;
	refuses(&a, 1 << 24, EXIT_CORRUPT, "lengths of more documents than there are");
	a.lengths.records--;
	a.table.n++;		/* it is not looked at */
	refuses(&a, 1 << 24, EXIT_CORRUPT, "there are 31");
	a.table.n--;
	raw->len--;
	refuses(&a, 1 << 24, EXIT_CORRUPT, "have fewer than its ");
	raw->len++;
	was = raw->data[0];
	raw->data[0] = 0;
	refuses(&a, 1 << 24, EXIT_CORRUPT, "lengths of document 0: a sentence of 0 tokens");
	raw->data[0] = was;
	a.table.items[0].tokens--;
	refuses(&a, 1 << 24, EXIT_CORRUPT, "lengths of document 0: a sentence of ");
	a.table.items[0].tokens++;
	release_all(&a);
}

/* Neither instances nor passes beyond what memory holds are tried. */
static void test_memory(void **state)
{
	struct all a;

	(void)state;
	recipe = plain;
	make_all(&a, 30);
	refuses(&a, 1 << 14, EXIT_FAILED, "which memory does not hold");
	a.header.recipe.dupe_factor = 60000;
	refuses(&a, 1 << 24, EXIT_FAILED, "which memory does not hold");
	release_all(&a);
}

/* N documents of so many SENTENCES of LENGTH tokens. */
static void make_even(struct all *a, uint32_t n, uint32_t sentences, uint32_t length)
{
	*a = (struct all){ .table = DOCUMENTS_INIT, .lengths = FRAME_BLOCK_INIT };
	a->header = (struct shard_header){ .recipe = recipe, .shard = 0, .shards = 1 };
	a->table.items = calloc(n, sizeof(*a->table.items));
	a->table.n = n;
	for (uint32_t k = 0; k < n; k++) {
		a->table.items[k] = (struct documents_entry){ { k, 0 }, 0, sentences * length };
		for (uint32_t s = 0; s < sentences; s++)
			assert_int_equal(lengths_put(&a->lengths.raw, &length, 1), 0);
	}
	a->lengths.records = n;
}

/* A few bytes that ask for much memory, or for years. */
static void test_much_of_little(void **state)
{
	struct all a;

	(void)state;
	recipe = plain;
	make_even(&a, 1, 2040, 1);
	refuses(&a, 1 << 12, EXIT_FAILED, "more than 1025 sentences, which memory does not hold");
	refuses(&a, 1 << 13, EXIT_FAILED, "documents have 2040 sentences, which memory does not hold");
	release_all(&a);
	make_even(&a, 2, 1, UINT32_MAX);	/* each pair is cut from 2^33 tokens */
	refuses(&a, 1 << 24, EXIT_FAILED, "its sentences drop or cut more");
	release_all(&a);
	recipe.dupe_factor = 14000;
	make_even(&a, 1, 20, plain.max_seq_length);	/* each of which is dropped, there being no other document */
	refuses(&a, 1 << 20, EXIT_FAILED, "its sentences drop or cut more");
	release_all(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_next_sentences), cmocka_unit_test(test_sentence_order),
		cmocka_unit_test(test_full_sentences), cmocka_unit_test(test_one_document),
		cmocka_unit_test(test_lengths_that_cannot_be), cmocka_unit_test(test_memory),
		cmocka_unit_test(test_much_of_little),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
