#include "tests/unit/shards/made_docs.h"

#include <math.h>

/* --- documents ------------------------------------------------------------------------------------- */

static void test_documents_are_sorted_and_numbered(void **state)
{
	struct docset a, b;

	(void)state;
	docset_init(&a, 0, 1, 2, VOCAB, UINT64_MAX);
	docset_init(&b, 0, 1, 2, VOCAB, UINT64_MAX);
	for (uint32_t k = 0; k < 300; k++) {
		add_document(&a, k % 100, 0);
		add_document(&b, 99 - k % 100, 0);
	}
	assert_int_equal(docset_finish(&a), 0);
	assert_int_equal(docset_finish(&b), 0);
	assert_int_equal(a.n, 300);
	assert_int_equal(a.bytes, b.bytes);
	for (size_t k = 0; k < a.n; k++) {
		assert_int_equal(a.docs[k].occurrence, k % 3);
		assert_int_equal(a.docs[k].len, b.docs[k].len);
		assert_memory_equal(a.docs[k].body, b.docs[k].body, a.docs[k].len);
		assert_true(!k || key_compare(a.docs[k - 1].key, a.docs[k].key) <= 0);
	}
	assert_true(a.ring_size <= 100 && a.ring_size > 90);	/* some have no tokens */
	docset_release(&a);
	docset_release(&b);
}

static const unsigned char *body_of(const void *ctx, size_t i, size_t *len)
{
	const struct docset *s = ctx;

	*len = s->docs[i].len;
	return s->docs[i].body;
}

/* Borrowed, on any number of threads, they are those that were copied; past the limit nothing is kept. */
static void test_documents_may_be_borrowed(void **state)
{
	struct docset all, some;

	(void)state;
	make_docs(&all, 500, 0, 1);
	for (unsigned threads = 1; threads < 6; threads += 2) {
		docset_init(&some, 0, 1, 2, VOCAB, UINT64_MAX);
		assert_int_equal(docset_borrow(&some, threads, all.n, body_of, &all), 0);
		assert_int_equal(docset_finish(&some), 0);
		assert_int_equal(some.n, all.n);
		assert_int_equal(some.ring_size, all.ring_size);
		assert_true(some.bytes < all.bytes);
		for (size_t k = 0; k < all.n; k++) {
			const struct docset_document *a = &all.docs[k], *b = &some.docs[k];

			assert_ptr_equal(a->body, b->body);
			assert_ptr_equal(a->ids, b->ids);
			assert_int_equal(a->occurrence, b->occurrence);
			assert_int_equal(a->tokens, b->tokens);
			assert_int_equal(a->sentences, b->sentences);
			assert_memory_equal(a->ends, b->ends, a->sentences * sizeof(*a->ends));
		}
		docset_release(&some);
		docset_init(&some, 0, 1, 2, VOCAB, 10000);
		assert_int_equal(docset_borrow(&some, threads, all.n, body_of, &all), 0);
		assert_true(some.over);
		docset_release(&some);
	}
	docset_release(&all);
}

/* What docset_follow says, by looking at every document; what docset_at says, where no document D is to be avoided. */
static uint32_t follow_slowly(const struct docset *s, uint64_t u, uint32_t d)
{
	const struct key point = key_point(s->shard, s->shards, u);
	uint32_t best = UINT32_MAX;

	for (unsigned round = 0; round < 2; round++) {		/* from the point on, then from the least */
		for (uint32_t k = 0; k < s->n; k++) {
			if (!s->docs[k].tokens || (!round && key_compare(s->docs[k].key, point) < 0))
				continue;
			if (best == UINT32_MAX)
				best = k;
			if (d == UINT32_MAX || key_compare(s->docs[k].key, s->docs[d].key))
				return k;
		}
	}
	fail_msg("no other document");
	return 0;
}

static void test_the_ring_is_followed(void **state)
{
	(void)state;
	for (uint32_t n = 3; n < 200; n += 20) {
		for (uint32_t shard = 0; shard < 3; shard++) {
			struct docset s;
			struct rng r;

			make_docs(&s, n, shard, 3);
			rng_open(&r, n, RNG_TEST, 0, 0, 0, 0, 0);
			for (unsigned k = 0; k < 300 && s.ring_size > 1; k++) {
				const uint32_t d = s.ring[rng_below(&r, s.ring_size)];
				const uint64_t u = k ? rng_u64(&r) : UINT64_MAX;

				assert_int_equal(docset_follow(&s, u, d), follow_slowly(&s, u, d));
				assert_int_equal(docset_at(&s, u), follow_slowly(&s, u, UINT32_MAX));
			}
			docset_release(&s);
		}
	}
}

static void test_past_the_limit_is_only_counted(void **state)
{
	struct docset all, some;

	(void)state;
	make_docs(&all, 100, 0, 1);
	docset_init(&some, 0, 1, 2, VOCAB, all.bytes / 2);
	for (uint32_t k = 0; k < 100; k++)
		add_document(&some, k, 0);
	assert_true(some.over);
	assert_true(some.n < 60);
	assert_int_equal(some.bytes, all.bytes);
	docset_release(&all);
	docset_release(&some);
}

/* --- instances ----------------------------------------------------------------------------------------- */

struct seen {
	uint64_t random, n;
	uint64_t last;			/* order number of the instance before */
};

/* What holds of every instance. */
static void check_one(const struct build *b, const struct instance *i, void *ctx)
{
	const struct instance_segment *x = &i->segments[0], *y = &i->segments[1];
	const struct docset_document *a = &b->docs->docs[x->document], *o = &b->docs->docs[y->document];
	struct seen *seen = ctx;
	struct instance plain = *i;
	uint32_t ids[64];
	uint64_t order;
	struct rng r;

	assert_true(i->n <= 64 && x->first + x->length <= a->tokens && y->first + y->length <= o->tokens);
	if (i->flags & INSTANCE_RANDOM_NEXT) {
		assert_true(key_compare(a->key, o->key));
		assert_int_equal(o->occurrence, 0);
		seen->random++;
	} else {
		assert_int_equal(x->document, y->document);
		assert_true(y->first >= x->first + x->length);
	}
	instance_unmask(&plain);
	docset_ids(b->docs, x->document, x->first, x->length, ids);
	assert_memory_equal(plain.ids + 1, ids, x->length * sizeof(*ids));
	docset_ids(b->docs, y->document, y->first, y->length, ids);
	assert_memory_equal(plain.ids + 2 + x->length, ids, y->length * sizeof(*ids));
	assert_true(plain.ids[0] == 2 && plain.ids[x->length + 1] == 3 && plain.ids[i->n - 1] == 3);
	rng_open(&r, recipe.seed, RNG_ORDER, a->key.hi, a->key.lo, a->occurrence, i->pass, x->first);
	order = rng_u64(&r);
	assert_true(order >= seen->last);
	seen->last = order;
	seen->n++;
}

static void test_instances_are_runs_of_their_documents(void **state)
{
	struct seen seen = { 0 };
	struct result r;
	struct docset s;

	(void)state;
	make_docs(&s, 200, 0, 1);
	build(&s, 1, &r, check_one, &seen);
	assert_int_equal(seen.n, r.n);
	assert_int_equal(r.totals.instances, r.n);
	assert_int_equal(r.totals.random_next, seen.random);
	assert_true(seen.random > r.n / 2 && seen.random < r.n * 7 / 10);
	assert_true(r.totals.truncated > 0 && r.totals.truncated < r.n);
	assert_int_equal(r.totals.dropped, 0);
	buf_release(&r.raw);
	docset_release(&s);
}

static void test_threads_change_nothing(void **state)
{
	struct result one, four;
	struct docset s;

	(void)state;
	make_docs(&s, 900, 1, 2);
	build(&s, 1, &one, NULL, NULL);
	build(&s, 4, &four, NULL, NULL);
	assert_int_equal(one.raw.len, four.raw.len);
	assert_memory_equal(one.raw.data, four.raw.data, one.raw.len);
	assert_memory_equal(&one.totals, &four.totals, sizeof(one.totals));
	buf_release(&one.raw);
	buf_release(&four.raw);
	docset_release(&s);
}

/* Where a share of random nexts was chosen it is kept, and no sentence is left out of a pass but those that were cut. */
static void test_a_share_is_kept(void **state)
{
	static const double shares[] = { 0, 0.25, 0.5, 1 };

	(void)state;
	recipe.exact_next = true;
	for (size_t k = 0; k < sizeof(shares) / sizeof(shares[0]); k++) {
		struct seen seen = { 0 };
		struct result r;
		struct docset s;
		uint64_t alone = 0;

		recipe.random_next = shares[k];
		make_docs(&s, 400, 0, 1);
		for (size_t d = 0; d < s.n; d++)
			alone += s.docs[d].sentences == 1;
		build(&s, 1, &r, check_one, &seen);
		assert_true(alone > 0);
		assert_int_equal(r.totals.dropped, alone * recipe.dupe_factor);
		assert_int_equal(r.totals.random_next, seen.random);
		assert_true(fabs((double)seen.random - shares[k] * (double)r.n) <= 3 * sqrt((double)r.n * shares[k] * (1 - shares[k])));
		buf_release(&r.raw);
		docset_release(&s);
	}
	recipe.exact_next = false;
}

static void test_one_key_alone_has_no_random_next(void **state)
{
	struct seen seen = { 0 };
	struct result r;
	struct docset s;

	(void)state;
	docset_init(&s, 0, 1, 2, VOCAB, UINT64_MAX);
	add_document(&s, 5, 30);
	add_document(&s, 5, 30);
	assert_int_equal(docset_finish(&s), 0);
	build(&s, 2, &r, check_one, &seen);
	assert_true(r.n > 0);
	assert_int_equal(r.totals.random_next, 0);
	buf_release(&r.raw);
	docset_release(&s);
	docset_init(&s, 0, 1, 2, VOCAB, UINT64_MAX);
	add_document(&s, 7, 1);
	assert_int_equal(docset_finish(&s), 0);
	assert_true(s.docs[0].tokens > 0);
	build(&s, 1, &r, NULL, NULL);
	assert_int_equal(r.n, 0);
	assert_int_equal(r.totals.dropped, recipe.dupe_factor);
	buf_release(&r.raw);
	docset_release(&s);
}

static void test_no_documents(void **state)
{
	struct result r;
	struct docset s;

	(void)state;
	make_docs(&s, 0, 0, 1);
	build(&s, 2, &r, NULL, NULL);
	assert_int_equal(r.n, 0);
	buf_release(&r.raw);
	docset_release(&s);
}

/* --- stability --------------------------------------------------------------------------------------------- */

static void test_one_percent_more_documents_change_little(void **state)
{
	size_t gone, new, n;

	(void)state;
	change_little(&gone, &new, &n);
	assert_true(gone > 0 && gone < n * 15 / 1000);
	assert_true(new < n * 3 / 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_documents_are_sorted_and_numbered),
		cmocka_unit_test(test_documents_may_be_borrowed),
		cmocka_unit_test(test_the_ring_is_followed),
		cmocka_unit_test(test_past_the_limit_is_only_counted),
		cmocka_unit_test(test_instances_are_runs_of_their_documents),
		cmocka_unit_test(test_threads_change_nothing),
		cmocka_unit_test(test_a_share_is_kept),
		cmocka_unit_test(test_one_key_alone_has_no_random_next),
		cmocka_unit_test(test_no_documents),
		cmocka_unit_test(test_one_percent_more_documents_change_little),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
