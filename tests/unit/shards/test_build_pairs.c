/* Instances without next sentence prediction: sentence order, and full sentences. */
#include "tests/unit/shards/made_docs.h"

/* How often each token of each document was seen, over all passes. */
struct cover {
	const struct docset *docs;
	unsigned **times;		/* [documents][tokens] */
	uint64_t labels, n, several, full;
	bool cross;
};

static void cover_init(struct cover *c, const struct docset *s)
{
	*c = (struct cover){ .docs = s, .times = calloc(s->n + 1, sizeof(*c->times)) };
	for (size_t d = 0; d < s->n; d++)
		c->times[d] = calloc(s->docs[d].tokens + 1, sizeof(**c->times));
}

static void cover_release(struct cover *c)
{
	for (size_t d = 0; d < c->docs->n; d++)
		free(c->times[d]);
	free(c->times);
}

static void cover_segment(struct cover *c, const struct instance_segment *s)
{
	assert_true((uint64_t)s->first + s->length <= c->docs->docs[s->document].tokens);
	for (uint32_t t = s->first; t < s->first + s->length; t++)
		c->times[s->document][t]++;
}

static void made_as(enum shard_pairs pairs, bool cross, double short_prob)
{
	recipe.pairs = pairs;
	recipe.cross_documents = cross;
	recipe.short_seq_prob = short_prob;
}

/* --- sentence order ------------------------------------------------------------------------ */

/* Whether token T of D is the first of a sentence, or the end. */
static bool is_edge(const struct docset_document *d, uint32_t t)
{
	if (!t)
		return true;
	for (uint32_t s = 0; s < d->sentences; s++)
		if (d->ends[s] == t)
			return true;
	return false;
}

static void check_swap(const struct build *b, const struct instance *i, void *ctx)
{
	const bool swapped = i->flags & INSTANCE_RANDOM_NEXT;
	const struct instance_segment *x = &i->segments[swapped], *y = &i->segments[!swapped];
	struct cover *c = ctx;

	assert_true(i->n <= recipe.max_seq_length);
	assert_int_equal(i->n_segments, 2);
	assert_int_equal(x->document, y->document);
	assert_true(x->first + x->length <= y->first);
	if (i->n < recipe.max_seq_length) {	/* nothing was cut off */
		assert_int_equal(x->first + x->length, y->first);
		assert_true(is_edge(&b->docs->docs[x->document], x->first));
		assert_true(is_edge(&b->docs->docs[x->document], y->first));
		assert_true(is_edge(&b->docs->docs[x->document], y->first + y->length));
	}
	cover_segment(c, x);
	cover_segment(c, y);
	c->labels += swapped;
	c->n++;
}

static void test_order_is_kept_or_swapped(void **state)
{
	struct cover c;
	struct result r;
	struct docset s;
	uint64_t alone = 0;

	(void)state;
	made_as(SHARD_SOP, false, 0.1);
	make_docs(&s, 400, 0, 1);
	cover_init(&c, &s);
	build(&s, 1, &r, check_swap, &c);
	assert_int_equal(c.n, r.n);
	assert_int_equal(r.totals.random_next, c.labels);
	assert_true(c.labels > c.n * 45 / 100 && c.labels < c.n * 55 / 100);
	for (size_t d = 0; d < s.n; d++) {
		const struct docset_document *doc = &s.docs[d];
		uint64_t seen = 0;

		for (uint32_t t = 0; t < doc->tokens; t++)
			seen += c.times[d][t];
		alone += doc->sentences == 1;
		assert_true(doc->sentences > 1 ? seen > 0 : seen == 0);
	}
	assert_true(alone > 0);
	assert_int_equal(r.totals.dropped, alone * recipe.dupe_factor);
	cover_release(&c);
	buf_release(&r.raw);
	docset_release(&s);
}

/* Passes in which the whole of sentence K of document D was seen. */
static unsigned times_of(const struct cover *c, size_t d, uint32_t k)
{
	const struct docset_document *doc = &c->docs->docs[d];
	unsigned least = UINT32_MAX;

	for (uint32_t t = k ? doc->ends[k - 1] : 0; t < doc->ends[k]; t++)
		least = c->times[d][t] < least ? c->times[d][t] : least;
	return least;
}

/* Where nothing is cut, a pass shows every sentence, the last one too when it would stand alone. */
static void test_no_sentence_is_left_out(void **state)
{
	struct cover c;
	struct result r;
	struct docset s;
	uint64_t unseen = 0, all = 0;

	(void)state;
	made_as(SHARD_SOP, false, 0);
	recipe.max_seq_length = 200;
	make_docs(&s, 300, 0, 1);
	cover_init(&c, &s);
	build(&s, 1, &r, check_swap, &c);
	for (size_t d = 0; d < s.n; d++) {
		for (uint32_t k = 0; s.docs[d].sentences > 1 && k < s.docs[d].sentences; k++) {
			if (s.docs[d].tokens <= 197)
				assert_int_equal(times_of(&c, d, k), recipe.dupe_factor);
			unseen += !times_of(&c, d, k);
			all++;
		}
	}
	assert_true(unseen < all / 20);
	recipe.max_seq_length = 64;
	cover_release(&c);
	buf_release(&r.raw);
	docset_release(&s);
}

/* --- full sentences --------------------------------------------------------------------------- */

static void check_full(const struct build *b, const struct instance *i, void *ctx)
{
	struct cover *c = ctx;
	uint32_t n = 1;

	assert_int_equal(i->flags, 0);
	assert_true(i->n <= recipe.max_seq_length);
	assert_true(i->n_segments == 1 || c->cross);
	for (uint32_t k = 0; k < i->n_segments; k++) {
		const struct instance_segment *s = &i->segments[k];
		const struct docset_document *d = &b->docs->docs[s->document];

		cover_segment(c, s);
		n += s->length + 1;
		if (i->n_segments > 1)
			assert_int_equal(s->first + s->length, d->tokens);
		if (i->n < recipe.max_seq_length)	/* none of these sentences is longer than an instance */
			assert_true(is_edge(d, s->first) && is_edge(d, s->first + s->length));
	}
	assert_int_equal(n, i->n);
	c->several += i->n_segments > 1;
	c->full += i->n;
	c->n++;
}

static void pack(bool cross, double short_prob, struct cover *c, struct docset *s)
{
	struct result r;

	made_as(SHARD_NONE, cross, short_prob);
	make_docs(s, 300, 0, 1);
	cover_init(c, s);
	c->cross = cross;
	build(s, 1, &r, check_full, c);
	assert_int_equal(c->n, r.n);
	assert_int_equal(r.totals.dropped + r.totals.truncated + r.totals.random_next, 0);
	for (size_t d = 0; d < s->n; d++)
		for (uint32_t t = 0; t < s->docs[d].tokens; t++)
			assert_int_equal(c->times[d][t], recipe.dupe_factor);
	buf_release(&r.raw);
}

static void test_every_token_stands_once_in_a_pass(void **state)
{
	struct docset s;
	struct cover c;

	(void)state;
	for (unsigned k = 0; k < 4; k++) {
		pack(k & 1, k & 2 ? 0.5 : 0, &c, &s);
		assert_true(c.several > 0 || !(k & 1));
		cover_release(&c);
		docset_release(&s);
	}
}

static void test_joined_ends_fill_instances(void **state)
{
	struct docset s;
	struct cover alone, joined;

	(void)state;
	pack(false, 0, &alone, &s);
	cover_release(&alone);
	docset_release(&s);
	pack(true, 0, &joined, &s);
	cover_release(&joined);
	docset_release(&s);
	assert_true(joined.n < alone.n * 99 / 100);
}

static void check_cut(const struct build *b, const struct instance *i, void *ctx)
{
	(void)b;
	assert_true(i->n <= recipe.max_seq_length);
	for (uint32_t k = 0; k < i->n_segments; k++)
		cover_segment(ctx, &i->segments[k]);
}

/* A sentence longer than an instance is cut, and nothing of it lost. */
static void test_long_sentences_are_cut(void **state)
{
	struct docset s;
	struct cover c;
	struct result r;

	(void)state;
	made_as(SHARD_NONE, true, 0.3);
	recipe.max_seq_length = 12;
	make_docs(&s, 60, 0, 1);
	cover_init(&c, &s);
	build(&s, 1, &r, check_cut, &c);
	for (size_t d = 0; d < s.n; d++)
		for (uint32_t t = 0; t < s.docs[d].tokens; t++)
			assert_int_equal(c.times[d][t], recipe.dupe_factor);
	recipe.max_seq_length = 64;
	cover_release(&c);
	buf_release(&r.raw);
	docset_release(&s);
}

/* --- all ---------------------------------------------------------------------------------------- */

static void test_threads_change_nothing(void **state)
{
	struct result one, four;
	struct docset s;

	(void)state;
	for (unsigned k = 0; k < 3; k++) {
		made_as(k ? SHARD_NONE : SHARD_SOP, k == 2, 0.1);
		make_docs(&s, 700, 1, 2);
		build(&s, 1, &one, NULL, NULL);
		build(&s, 4, &four, NULL, NULL);
		assert_int_equal(one.raw.len, four.raw.len);
		assert_memory_equal(one.raw.data, four.raw.data, one.raw.len);
		assert_memory_equal(&one.totals, &four.totals, sizeof(one.totals));
		buf_release(&one.raw);
		buf_release(&four.raw);
		docset_release(&s);
	}
}

static void test_one_percent_more_documents_change_little(void **state)
{
	size_t gone, new, n;

	(void)state;
	made_as(SHARD_SOP, false, 0.1);
	change_little(&gone, &new, &n);
	assert_int_equal(gone, 0);
	assert_true(new > 0 && new < n * 2 / 100);
	made_as(SHARD_NONE, false, 0.1);
	change_little(&gone, &new, &n);
	assert_int_equal(gone, 0);
	made_as(SHARD_NONE, true, 0.1);
	change_little(&gone, &new, &n);
	assert_true(gone > 0 && gone < n * 15 / 1000);
	assert_true(new < n * 3 / 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order_is_kept_or_swapped),
		cmocka_unit_test(test_no_sentence_is_left_out),
		cmocka_unit_test(test_every_token_stands_once_in_a_pass),
		cmocka_unit_test(test_joined_ends_fill_instances),
		cmocka_unit_test(test_long_sentences_are_cut),
		cmocka_unit_test(test_threads_change_nothing),
		cmocka_unit_test(test_one_percent_more_documents_change_little),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
