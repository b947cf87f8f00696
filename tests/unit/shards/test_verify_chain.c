/* An instance that was left out shows, whatever the checksums say. */
#include "shards/verify_chain_impl.h"
#include "tests/unit/shards/made_docs.h"

/* All instances of some documents. */
struct all {
	struct docset docs;
	struct documents_entry *documents;
	uint32_t *sentences;
	struct verify_chain *keeps;	/* only notes */
	struct buf *links;		/* [n] of each instance */
	struct instance_segment *leads;	/* [n] */
	uint32_t *passes;
	size_t n, cap_links, cap_leads, cap_passes;
	struct shard_totals totals;
};

static void keep(const struct build *b, const struct instance *i, void *ctx)
{
	struct all *a = ctx;

	(void)b;
	assert_int_equal(array_grow(&a->links, &a->cap_links, a->n + 1, sizeof(*a->links)), 0);
	assert_int_equal(array_grow(&a->leads, &a->cap_leads, a->n + 1, sizeof(*a->leads)), 0);
	assert_int_equal(array_grow(&a->passes, &a->cap_passes, a->n + 1, sizeof(*a->passes)), 0);
	a->links[a->n] = (struct buf)BUF_INIT;
	a->leads[a->n] = *shard_lead(&recipe, i);
	a->passes[a->n] = i->pass;
	assert_int_equal(verify_chain_note(a->keeps, i, &a->links[a->n++]), 0);
}

static void make_all(struct all *a, uint32_t documents)
{
	struct result r;

	*a = (struct all){ .keeps = verify_chain_new(&recipe, 1) };
	assert_non_null(a->keeps);
	make_docs(&a->docs, documents, 0, 1);
	build(&a->docs, 1, &r, keep, a);
	buf_release(&r.raw);
	a->totals = r.totals;
	a->documents = calloc(a->docs.n, sizeof(*a->documents));
	a->sentences = calloc(a->docs.n, sizeof(*a->sentences));
	for (size_t k = 0; k < a->docs.n; k++) {
		const struct docset_document *d = &a->docs.docs[k];

		a->documents[k] = (struct documents_entry){ d->key, d->occurrence, d->tokens };
		a->sentences[k] = d->sentences + (k % 3 == 0);	/* one without tokens */
	}
}

static void release_all(struct all *a)
{
	for (size_t k = 0; k < a->n; k++)
		buf_release(&a->links[k]);
	free(a->links);
	free(a->leads);
	free(a->passes);
	free(a->documents);
	free(a->sentences);
	verify_chain_free(a->keeps);
	docset_release(&a->docs);
}

/* Whether the instances without those that GONE says are taken for all there are. */
static bool passes_for_all(const struct all *a, bool (*gone)(const struct all *, size_t k, size_t which), size_t which)
{
	const struct verify_table t = { a->documents, a->sentences, a->docs.n, 0, 1 };
	struct verify_chain *c = verify_chain_new(&recipe, 2);
	int rc;

	assert_non_null(c);
	for (size_t k = 0; k < a->n; k++)
		if (!gone || !gone(a, k, which))
			assert_int_equal(verify_chain_add(c, a->docs.n, a->links[k].data, a->links[k].len), 0);
	rc = verify_chain_check(c, &t, a->totals.dropped);
	if (rc)
		assert_int_equal(err_code(), EXIT_CORRUPT);
	verify_chain_free(c);
	return !rc;
}

static bool is_one(const struct all *a, size_t k, size_t which)
{
	(void)a;
	return k == which;
}

static bool is_last_ones(const struct all *a, size_t k, size_t which)
{
	return k >= a->n - which;
}

static bool is_pass(const struct all *a, size_t k, size_t which)
{
	return a->leads[k].document == a->leads[which].document && a->passes[k] == a->passes[which];
}

static bool is_document(const struct all *a, size_t k, size_t which)
{
	return a->leads[k].document == a->leads[which].document;
}

static bool is_any_last_pass(const struct all *a, size_t k, size_t which)
{
	(void)which;
	return a->passes[k] + 1 == recipe.dupe_factor;
}

/*
 * All is well, and of instances left out alone at least SHARE is noticed. The rest comes after one of which both segments
 * were cut, which is frequent here, where few sentences make an instance.
 */
static void check(double share)
{
	struct all a;
	size_t noticed = 0, tried = 0;

	make_all(&a, 30);
	if (!passes_for_all(&a, NULL, 0))
		fail_msg("false alarm: %s", err_text());
	for (size_t k = 0; k < a.n; k += 4, tried++)
		noticed += !passes_for_all(&a, is_one, k);
	if ((double)noticed < share * (double)tried)
		fail_msg("%zu of %zu noticed", noticed, tried);
	assert_false(passes_for_all(&a, is_last_ones, 12));
	for (size_t k = 0; k < a.n; k += 17) {
		assert_false(passes_for_all(&a, is_pass, k));
		assert_false(passes_for_all(&a, is_document, k));
	}
	assert_false(passes_for_all(&a, is_any_last_pass, 0));
	assert_string_equal(err_text() + strlen(err_text()) - 6, "pass 2");
	release_all(&a);
}

static const struct shard_recipe plain = {
	.vocab_size = VOCAB, .special = { 0, 1, 2, 3, 4 }, .never = never, .n_never = 1, .max_seq_length = 64,
	.max_predictions_per_seq = 9, .dupe_factor = 3, .masked_lm_prob = 0.15, .short_seq_prob = 0.1, .seed = 7,
};

static void test_full_sentences(void **state)
{
	(void)state;
	recipe = plain;
	recipe.pairs = SHARD_NONE;
	check(1);
	recipe.cross_documents = true;
	check(1);
}

static void test_next_sentences(void **state)
{
	(void)state;
	recipe = plain;
	check(0.95);
	recipe.document_lengths = true;
	recipe.short_seq_prob = 0.5;
	check(0.94);
	recipe = plain;
	recipe.short_seq_prob = 0;
	recipe.max_seq_length = 25;
	check(0.55);
	recipe = plain;
	recipe.same_document_next = true;
	check(0.95);
}

static void test_share_of_random_next(void **state)
{
	static const double shares[] = { 0.99, 0.92, 0.74 };

	(void)state;
	recipe = plain;
	recipe.exact_next = true;
	for (unsigned k = 0; k < 3; k++) {
		recipe.random_next = k / 2.0;
		check(shares[k]);
	}
}

static void test_sentence_order(void **state)
{
	(void)state;
	recipe = plain;
	recipe.pairs = SHARD_SOP;
	check(0.97);
	recipe.short_seq_prob = 1;
	check(0.99);
}

/* None is taken for a lie, with any seed and length. */
static void test_no_false_alarm(void **state)
{
	(void)state;
	for (unsigned k = 0; k < 60; k++) {
		struct all a;

		recipe = plain;
		recipe.seed = k;
		recipe.max_seq_length = 5 + k * k % 120;
		recipe.max_predictions_per_seq = 1 + recipe.max_seq_length / 6;
		recipe.pairs = k % 3 == 0 ? SHARD_SOP : SHARD_NSP;
		recipe.exact_next = k % 3 == 1;
		recipe.random_next = k % 10 / 10.0;
		recipe.short_seq_prob = k % 7 / 6.0;
		recipe.document_lengths = k % 4 == 0;
		make_all(&a, 60);
		if (!passes_for_all(&a, NULL, 0))
			fail_msg("%u: %s", k, err_text());
		release_all(&a);
	}
}

/* One document: no random next is found, and chunks of one sentence are dropped. */
static void test_one_document(void **state)
{
	struct all a;

	(void)state;
	recipe = plain;
	make_all(&a, 1);
	assert_true(passes_for_all(&a, NULL, 0));
	release_all(&a);
}

/* A random next of another document than the one that was drawn: now and then it is the one that was drawn for another beginning. */
static void test_other_documents(void **state)
{
	struct all a;
	size_t tried = 0, noticed = 0;

	(void)state;
	for (unsigned same = 0; same < 2; same++) {
		recipe = plain;
		recipe.same_document_next = same;
		make_all(&a, 40);
		for (size_t k = 0; k < a.n; k += 7) {
			struct link l;

			memcpy(&l, a.links[k].data, sizeof(l));
			if (!(l.flags & INSTANCE_RANDOM_NEXT))
				continue;
			l.other = (l.other + 1) % (uint32_t)a.docs.n;
			memcpy(a.links[k].data, &l, sizeof(l));
			noticed += !passes_for_all(&a, NULL, 0);
			tried++;
			l.other = (l.other + (uint32_t)a.docs.n - 1) % (uint32_t)a.docs.n;
			memcpy(a.links[k].data, &l, sizeof(l));
		}
		assert_true(passes_for_all(&a, NULL, 0));
		release_all(&a);
	}
	if (tried < 100 || (double)noticed < 0.97 * (double)tried)
		fail_msg("%zu of %zu noticed", noticed, tried);
}

/* Whether one instance alone, swapped or not, whose longer lead lost its first LOST tokens, is taken for a document of so many tokens. */
static bool alone_passes(uint32_t lost, bool swapped)
{
	const uint32_t sentences[] = { 1000 };
	struct instance_segment segments[2] = { { 0, lost, 40 }, { 0, lost + 40, 21 } };
	struct instance i = { .segments = segments, .n_segments = 2, .flags = swapped ? INSTANCE_RANDOM_NEXT : 0 };
	const struct documents_entry document = { { 1, 2 }, 0, lost + 61 };
	const struct verify_table t = { &document, sentences, 1, 0, 1 };
	struct verify_chain *c = verify_chain_new(&recipe, 1);
	struct buf links = BUF_INIT;
	int rc;

	if (swapped) {
		segments[0] = (struct instance_segment){ 0, lost + 40, 21 };
		segments[1] = (struct instance_segment){ 0, lost, 40 };
	}
	assert_non_null(c);
	assert_int_equal(verify_chain_note(c, &i, &links), 0);
	assert_int_equal(verify_chain_add(c, 1, links.data, links.len), 0);
	rc = verify_chain_check(c, &t, 0);
	buf_release(&links);
	verify_chain_free(c);
	return !rc;
}

/*
 * A shard may ask for any number of coins. As many as can be counted are: not all of a thousand are 1. Beyond that
 * an instance is taken, if its label was drawn.
 */
static void test_more_than_can_be_counted(void **state)
{
	(void)state;
	recipe = plain;
	recipe.dupe_factor = 1;
	recipe.pairs = SHARD_SOP;
	assert_false(alone_passes(1000, false) || alone_passes(1000, true));
	assert_false(alone_passes(100000, false) || alone_passes(100000, true));
	assert_true(alone_passes(UINT32_MAX - 61, false) != alone_passes(UINT32_MAX - 61, true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_full_sentences), cmocka_unit_test(test_next_sentences),
		cmocka_unit_test(test_share_of_random_next), cmocka_unit_test(test_sentence_order),
		cmocka_unit_test(test_no_false_alarm), cmocka_unit_test(test_one_document),
		cmocka_unit_test(test_more_than_can_be_counted), cmocka_unit_test(test_other_documents),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
