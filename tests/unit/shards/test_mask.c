#include "shards/mask.h"

#include "base/cpu.h"
#include "base/err.h"
#include "base/fs.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define SIZE 400
static const struct id_range never[] = { { 0, 9 }, { 50, 50 } };
static struct vocab *vocab;

static struct instance_shape shape = {
	.max_seq_length = 128,
	.max_predictions = 20,
	.masked = true,
	.block_records = 1,
	.vocab_size = SIZE,
	.documents = 1,
	.passes = 1,
	.cls = 2,
	.sep = 3,
	.pairs = true,
};

static struct mask_rule rule_of(double prob, uint32_t most)
{
	return (struct mask_rule){
		.masked_lm_prob = prob,
		.max_predictions = most,
		.max_seq_length = 128,
		.vocab_size = SIZE,
		.mask_id = 4,
		.never = never,
		.n_never = 2,
	};
}

/* [CLS] and A tokens, [SEP], B tokens, [SEP]; token t is id FROM + t % EACH. */
static void make(struct instance *i, uint32_t a, uint32_t b, uint32_t from, uint32_t each)
{
	uint32_t n = 0;

	i->segments[0] = (struct instance_segment){ 0, 0, a };
	i->segments[1] = (struct instance_segment){ 0, a, b };
	i->n_segments = 2;
	i->predictions = 0;
	i->ids[n++] = shape.cls;
	for (uint32_t t = 0; t < a + b; t++) {
		if (t == a)
			i->ids[n++] = shape.sep;
		i->ids[n++] = from + t % each;
	}
	i->ids[n++] = shape.sep;
	i->n = n;
}

/* What google's round(n * prob) gives in Python. */
static void test_count(void **state)
{
	const struct {
		uint32_t n;
		double prob;
		uint32_t most, want;
	} cases[] = {
		{ 128, 0.15, 20, 19 }, { 128, 0.15, 19, 19 }, { 128, 0.15, 5, 5 }, { 512, 0.15, 80, 77 },
		{ 5, 0.15, 20, 1 },    { 3, 0.01, 20, 1 },    { 10, 0.25, 20, 2 }, /* 2.5 is rounded to even */
		{ 14, 0.25, 20, 4 }, /* 3.5 too */
		{ 10, 0.15, 20, 2 }, /* 1.5 */
		{ 30, 0.15, 20, 4 }, /* 4.5 */
		{ 128, 1, 20, 20 },    { 7, 0, 20, 1 },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct mask_rule r = rule_of(cases[i].prob, cases[i].most);

		assert_int_equal(mask_count(&r, cases[i].n), cases[i].want);
	}
}

static void check_masks(const struct instance *i, const uint32_t *before)
{
	uint32_t last = 0;

	for (uint32_t k = 0; k < i->predictions; k++) {
		const uint32_t p = i->positions[k];

		assert_true(p > last && p < i->n - 1 && p != i->segments[0].length + 1);
		assert_int_equal(i->labels[k], before[p]);
		last = p;
	}
}

static void test_masks_are_where_they_may_be(void **state)
{
	const struct mask_rule rule = rule_of(0.15, 20);
	struct instance i;
	struct mask m;
	struct rng r;
	uint32_t before[128];

	(void)state;
	assert_int_equal(instance_init(&i, &shape), 0);
	assert_int_equal(mask_init(&m, &rule), 0);
	for (uint32_t k = 0; k < 2000; k++) {
		const uint32_t a = 1 + k % 60, b = 1 + k * 7 % 60;

		make(&i, a, b, 100, 200);
		memcpy(before, i.ids, sizeof(before));
		mask_stream(&r, RNG_STATIC_MASK, 1, (struct key){ k, k }, 0, 0, 0);
		mask_draw(&m, &r, &i);
		assert_int_equal(i.predictions, a + b < mask_count(&rule, i.n) ? a + b : mask_count(&rule, i.n));
		check_masks(&i, before);
		instance_unmask(&i);
		assert_memory_equal(i.ids, before, i.n * sizeof(*before));
	}
	mask_release(&m);
	instance_release(&i);
}

static void test_equal_streams_draw_equal_masks(void **state)
{
	const struct mask_rule rule = rule_of(0.15, 20);
	struct instance a, b;
	struct mask m;
	struct rng r;

	(void)state;
	assert_int_equal(instance_init(&a, &shape), 0);
	assert_int_equal(instance_init(&b, &shape), 0);
	assert_int_equal(mask_init(&m, &rule), 0);
	make(&a, 50, 60, 100, 200);
	make(&b, 50, 60, 100, 200);
	mask_stream(&r, RNG_DYNAMIC_MASK, 1, (struct key){ 5, 6 }, 7, 8, 9);
	mask_draw(&m, &r, &a);
	mask_stream(&r, RNG_DYNAMIC_MASK, 1, (struct key){ 5, 6 }, 7, 8, 9);
	mask_draw(&m, &r, &b);
	assert_memory_equal(a.ids, b.ids, a.n * sizeof(*a.ids));
	assert_memory_equal(a.positions, b.positions, a.predictions * sizeof(*a.positions));
	instance_unmask(&b);
	mask_stream(&r, RNG_DYNAMIC_MASK, 1, (struct key){ 5, 6 }, 7, 9, 9);	/* the next epoch */
	mask_draw(&m, &r, &b);
	assert_memory_not_equal(a.ids, b.ids, a.n * sizeof(*a.ids));
	mask_release(&m);
	instance_release(&a);
	instance_release(&b);
}

/* Of [MASK], and of random tokens. */
static const double shares[][2] = { { 0.8, 0.1 }, { 0.5, 0.25 }, { 1, 0 }, { 0, 1 }, { 0, 0 }, { 0.9, 0.1 }, { 0.3, 0.7 } };
#define SHARES (sizeof(shares) / sizeof(shares[0]))

static void set_shares(struct mask_rule *rule, size_t k)
{
	assert_int_equal(mask_shares_set(&rule->shares, shares[k][0], shares[k][1]), 0);
	assert_int_equal(rule->shares.given, k > 0);
}

/* shards/FORMAT.md, "Masks", word by word, where tokens are masked one by one: over I, which has no masks. */
static void mask_plainly(const struct mask *m, const double *share, struct rng *r, struct instance *i)
{
	const uint32_t q = mask_count(&m->rule, i->n);
	uint32_t c[128], n = 0;
	bool chosen[128] = { false };

	for (uint32_t p = 1; p + 1 < i->n; p++)
		if (p != i->segments[0].length + 1)
			c[n++] = p;
	for (uint32_t j = 0; j < q && j < n; j++) {
		const uint32_t other = j + rng_below(r, n - j), position = c[other];

		c[other] = c[j];
		c[j] = position;
		chosen[position] = true;
	}
	for (uint32_t p = 0; p < i->n; p++) {
		double x;

		if (!chosen[p])
			continue;
		i->positions[i->predictions] = p;
		i->labels[i->predictions++] = i->ids[p];
		x = rng_unit(r);
		if (x < share[0])
			i->ids[p] = m->rule.mask_id;
		else if (x >= 1 - share[1])
			i->ids[p] = m->pool[rng_below(r, m->pool_size)];
	}
}

/* On every processor, and for more draws than are made ahead. */
static void test_masks_are_those_of_the_words(void **state)
{
	static const char *const processors[] = { "none", "avx2", "native" };
	struct instance_shape wide = shape;
	struct instance a, b;
	struct mask m;
	struct rng r, again;

	(void)state;
	wide.max_predictions = 128;
	assert_int_equal(instance_init(&a, &wide), 0);
	assert_int_equal(instance_init(&b, &wide), 0);
	for (uint32_t k = 0; k < 600; k++) {
		struct mask_rule rule = rule_of(k % 10 / 9.0, 1 + k % 128);

		set_shares(&rule, k % SHARES);
		assert_int_equal(cpu_limit(processors[k % 3]), 0);
		assert_int_equal(mask_init(&m, &rule), 0);
		make(&a, 1 + k % 60, 1 + k * 7 % 62, 100, 200);
		make(&b, 1 + k % 60, 1 + k * 7 % 62, 100, 200);
		mask_stream(&r, RNG_STATIC_MASK, 8, (struct key){ k, 2 }, 3, 4, 5);
		again = r;
		mask_draw(&m, &r, &a);
		mask_plainly(&m, shares[k % SHARES], &again, &b);
		assert_int_equal(a.predictions, b.predictions);
		assert_memory_equal(a.positions, b.positions, a.predictions * sizeof(*a.positions));
		assert_memory_equal(a.labels, b.labels, a.predictions * sizeof(*a.labels));
		assert_memory_equal(a.ids, b.ids, a.n * sizeof(*a.ids));
		mask_release(&m);
	}
	assert_int_equal(cpu_limit("native"), 0);
	instance_release(&a);
	instance_release(&b);
}

/* 40,000 predictions: 80, 10 and 10 % within four standard deviations, and every drawable id drawn, no other. */
static void test_replacements(void **state)
{
	const struct mask_rule rule = rule_of(0.15, 20);
	uint32_t masked = 0, kept = 0, drawn = 0, all = 0, times[SIZE] = { 0 };
	struct instance i;
	struct mask m;
	struct rng r;

	(void)state;
	assert_int_equal(instance_init(&i, &shape), 0);
	assert_int_equal(mask_init(&m, &rule), 0);
	for (uint32_t k = 0; all < 40000; k++) {
		make(&i, 60, 60, 7, 1);		/* id 7 is never drawn, so that kept ones are known */
		mask_stream(&r, RNG_STATIC_MASK, 3, (struct key){ 0, k }, 0, 0, 0);
		mask_draw(&m, &r, &i);
		for (uint32_t p = 0; p < i.predictions; p++, all++) {
			const uint32_t id = i.ids[i.positions[p]];

			if (id == rule.mask_id)
				masked++;
			else if (id == 7)
				kept++;
			else
				times[id]++, drawn++;
		}
	}
	assert_true(masked > 31680 && masked < 32320);
	assert_true(kept > 3760 && kept < 4240);
	assert_true(drawn > 3760 && drawn < 4240);
	for (uint32_t id = 0; id < SIZE; id++) {
		if (id < 10 || id == 50)
			assert_int_equal(times[id], 0);
		else
			assert_true(times[id] > 0 && times[id] < 40);
	}
	mask_release(&m);
	instance_release(&i);
}

/* Every share that is asked for, of tokens drawn one by one and of words: within five standard deviations. */
static void test_shares(void **state)
{
	struct instance i;
	struct mask m;
	struct rng r;

	(void)state;
	assert_int_equal(instance_init(&i, &shape), 0);
	for (size_t s = 0; s < 2 * SHARES; s++) {
		const double *share = shares[s / 2];
		struct mask_rule rule = rule_of(0.15, 20);
		double all = 0, masked = 0, kept = 0;

		set_shares(&rule, s / 2);
		rule.word_draws = rule.whole_word = s % 2;
		rule.vocab = vocab;
		assert_int_equal(mask_init(&m, &rule), 0);
		for (uint32_t k = 0; k < 500; k++) {
			make(&i, 60, 60, 7, 1);
			mask_stream(&r, RNG_STATIC_MASK, 3, (struct key){ s, k }, 0, 0, 0);
			mask_draw(&m, &r, &i);
			for (uint32_t p = 0; p < i.predictions; p++, all++) {
				masked += i.ids[i.positions[p]] == rule.mask_id;
				kept += i.ids[i.positions[p]] == 7;
			}
		}
		assert_true(fabs(masked - all * share[0]) <= 5 * sqrt(all * share[0] * (1 - share[0])));
		assert_true(fabs(all - masked - kept - all * share[1]) <= 5 * sqrt(all * share[1] * (1 - share[1])));
		mask_release(&m);
	}
	instance_release(&i);
}

static void test_shares_that_are_none(void **state)
{
	struct mask_shares s;

	(void)state;
	assert_int_equal(mask_shares_set(&s, 0.8, 0.1), 0);
	assert_false(s.given);
	assert_int_equal(mask_shares_set(&s, 0.9, 0.2), -1);
	assert_int_equal(mask_shares_set(&s, -0.1, 0.2), -1);
	assert_int_equal(mask_shares_set(&s, NAN, 0.2), -1);
}

static void test_positions_are_uniform(void **state)
{
	const struct mask_rule rule = rule_of(0.15, 20);
	uint32_t times[128] = { 0 };
	struct instance i;
	struct mask m;
	struct rng r;

	(void)state;
	assert_int_equal(instance_init(&i, &shape), 0);
	assert_int_equal(mask_init(&m, &rule), 0);
	for (uint32_t k = 0; k < 10000; k++) {
		make(&i, 30, 7, 100, 50);
		mask_stream(&r, RNG_STATIC_MASK, 3, (struct key){ k, 0 }, 0, 0, 0);
		mask_draw(&m, &r, &i);
		for (uint32_t p = 0; p < i.predictions; p++)
			times[i.positions[p]]++;
	}
	for (uint32_t p = 0; p < 40; p++) {	/* 6 of 37: 1,621, standard deviation 37 */
		if (p && p != 31 && p != 39)
			assert_in_range(times[p], 1621 - 180, 1621 + 180);
		else
			assert_int_equal(times[p], 0);
	}
	mask_release(&m);
	instance_release(&i);
}

/* --- whole words ------------------------------------------------------------------------------ */

static char path[] = "/tmp/bert-test-mask-XXXXXX";

/* Ids 0 to 4 are special, 5 to 199 begin words, the rest continue them. */
static int make_vocab(void **state)
{
	static const char *const special[] = { "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]" };
	struct buf b = BUF_INIT;
	int fd = mkstemp(path), rc = fd < 0 || close(fd);

	(void)state;
	for (int id = 0; id < SIZE; id++)
		rc |= id < 5	 ? buf_addf(&b, "%s\n", special[id])
		      : id < 100 ? buf_addf(&b, "w%d\n", id)
		      : id < 104 ? buf_addf(&b, "[unused%d]\n", id)
		      : id < 200 ? buf_addf(&b, "w%d\n", id)
				 : buf_addf(&b, "##w%d\n", id);
	rc = rc || fs_write_all(path, b.data, b.len) || vocab_load(&vocab, path);
	buf_release(&b);
	return rc;
}

static int remove_vocab(void **state)
{
	(void)state;
	vocab_free(vocab);
	return unlink(path);
}

static void test_never_drawn_ranges(void **state)
{
	struct id_range *ranges;
	size_t n;

	(void)state;
	assert_int_equal(mask_never(vocab, &ranges, &n), 0);
	assert_int_equal(n, 2);
	assert_int_equal(ranges[0].first, 0);
	assert_int_equal(ranges[0].last, 4);
	assert_int_equal(ranges[1].first, 100);
	assert_int_equal(ranges[1].last, 103);
	free(ranges);
}

/* Whether the mask of POSITION covers the whole of its word, inside its segment. */
static void check_word(const struct instance *i, const uint32_t *before, const bool *masked, uint32_t position)
{
	const uint32_t border = i->segments[0].length + 1;

	if (before[position] >= 200 && position > 1 && position != border + 1)
		assert_int_equal(masked[position], masked[position - 1]);
}

static void test_whole_words(void **state)
{
	struct mask_rule rule = rule_of(0.15, 20);
	uint32_t before[128], total = 0;
	struct instance i;
	struct mask m;
	struct rng r, ids;

	(void)state;
	rule.whole_word = true;
	rule.vocab = vocab;
	assert_int_equal(instance_init(&i, &shape), 0);
	assert_int_equal(mask_init(&m, &rule), 0);
	rng_open(&ids, 1, RNG_TEST, 0, 0, 0, 0, 0);
	for (uint32_t k = 0; k < 3000; k++) {
		bool masked[128] = { false };

		make(&i, 1 + k % 50, 1 + k % 61, 5, 1);
		for (uint32_t p = 1; p < i.n - 1; p++) /* half of all, the first of a segment too, continue a word */
			if (p != i.segments[0].length + 1)
				i.ids[p] = rng_below(&ids, 2) ? 200 + rng_below(&ids, 200) : 5 + rng_below(&ids, 90);
		memcpy(before, i.ids, sizeof(before));
		mask_stream(&r, RNG_STATIC_MASK, 1, (struct key){ k, k }, 0, 0, 0);
		mask_draw(&m, &r, &i);
		assert_true(i.predictions <= mask_count(&rule, i.n));
		check_masks(&i, before);
		for (uint32_t p = 0; p < i.predictions; p++)
			masked[i.positions[p]] = true;
		for (uint32_t p = 1; p < i.n - 1; p++)
			if (p != i.segments[0].length + 1)
				check_word(&i, before, masked, p);
		total += i.predictions;
	}
	assert_true(total > 15000);
	mask_release(&m);
	instance_release(&i);
}

/* Words that lie across [SEP] are masked on both its sides or on none, and drawn as one; what begins A is a word by itself. */
static void test_words_across_sep(void **state)
{
	struct mask_rule rule = rule_of(0.3, 40);
	struct instance_shape wide = shape;
	uint32_t both = 0, first = 0;
	struct instance i;
	struct mask m;
	struct rng r;

	(void)state;
	rule.whole_word = rule.across_sep = true;
	rule.vocab = vocab;
	wide.max_predictions = 40;
	assert_int_equal(instance_init(&i, &wide), 0);
	for (uint32_t k = 0; k < 4000; k++) {
		const uint32_t a = 5 + k % 40, border = a + 1;
		bool masked[128] = { false };

		rule.word_draws = k % 2;
		rule.spans = (enum mask_spans)(k / 2 % 3);
		assert_int_equal(mask_init(&m, &rule), 0);
		make(&i, a, k % 5 ? 30 : 2, 180, 15);
		for (uint32_t p = 1; p < 3; p++)			/* A begins with a word that goes on, */
			i.ids[p] = 210;
		for (uint32_t p = a - 1; p < border + 3; p++)		/* and its last one has five tokens, or is all of B too */
			i.ids[p] = p == border ? shape.sep : p == a - 1 ? 150 : 300;
		i.ids[border + 3] = k % 5 ? 20 : shape.sep;
		mask_stream(&r, RNG_STATIC_MASK, 1, (struct key){ k, 9 }, 0, 0, 0);
		mask_draw(&m, &r, &i);
		for (uint32_t p = 0; p < i.predictions; p++)
			masked[i.positions[p]] = true;
		assert_false(masked[0] || masked[border] || masked[i.n - 1]);
		assert_int_equal(masked[a - 1], masked[a]);
		assert_int_equal(masked[a], masked[border + 1]);
		assert_int_equal(masked[border + 1], masked[border + 2]);
		assert_int_equal(masked[1], masked[2]);
		if (masked[a] && rule.word_draws)
			assert_int_equal(i.ids[a] == 4, i.ids[border + 1] == 4);
		both += masked[a];
		first += masked[1];
		mask_release(&m);
	}
	assert_true(both > 300 && first > 300);
	instance_release(&i);
}

/* Runs of masked words: RUNS[n] of n words, as they stand in I. Where two meet they are taken for one. */
static void count_runs(const struct instance *i, const uint32_t *before, uint64_t *runs)
{
	bool masked[128] = { false };
	uint32_t words = 0;

	for (uint32_t k = 0; k < i->predictions; k++)
		masked[i->positions[k]] = true;
	for (uint32_t p = 1; p < i->n; p++) {
		if (masked[p])
			words += before[p] < 200;
		else if (words)
			runs[words]++;
		words = masked[p] ? words : 0;
	}
}

static void test_runs_of_words(void **state)
{
	struct mask_rule rule = rule_of(0.15, 20);
	struct instance i;
	struct mask m;
	struct rng r;
	uint32_t before[128];

	(void)state;
	rule.whole_word = true;
	rule.vocab = vocab;
	for (rule.spans = MASK_NGRAMS; rule.spans <= MASK_SPANS; rule.spans++) {
		uint64_t runs[64] = { 0 }, longer = 0, all = 0;

		assert_int_equal(instance_init(&i, &shape), 0);
		assert_int_equal(mask_init(&m, &rule), 0);
		for (uint32_t k = 0; k < 4000; k++) {
			bool masked[128] = { false };

			make(&i, 60 + k % 3, 62, 180, 40);	/* twenty words, then a word of twenty pieces more, and so on */
			memcpy(before, i.ids, sizeof(before));
			mask_stream(&r, RNG_STATIC_MASK, 5, (struct key){ k, rule.spans }, 0, 0, 0);
			mask_draw(&m, &r, &i);
			assert_true(i.predictions <= mask_count(&rule, i.n));
			check_masks(&i, before);
			for (uint32_t p = 0; p < i.predictions; p++)
				masked[i.positions[p]] = true;
			for (uint32_t p = 1; p + 1 < i.n; p++)
				if (p != i.segments[0].length + 1)
					check_word(&i, before, masked, p);
			count_runs(&i, before, runs);
			instance_unmask(&i);
			assert_memory_equal(i.ids, before, i.n * sizeof(*before));
		}
		for (unsigned n = 1; n < 64; n++) {
			all += runs[n];
			longer += n > 3 ? runs[n] : 0;
		}
		assert_true(runs[1] && runs[2] && runs[3]);
		assert_true(rule.spans == MASK_NGRAMS ? runs[1] > all / 3 : longer > all / 4);
		mask_release(&m);
		instance_release(&i);
	}
}

/* All of a span is replaced in one way. */
static void test_spans_are_replaced_as_one(void **state)
{
	struct mask_rule rule = rule_of(0.05, 20);
	uint64_t mixed = 0, whole = 0;
	struct instance i;
	struct mask m;
	struct rng r;
	uint32_t before[128];

	(void)state;
	rule.whole_word = true;
	rule.vocab = vocab;
	rule.spans = MASK_SPANS;
	assert_int_equal(instance_init(&i, &shape), 0);
	assert_int_equal(mask_init(&m, &rule), 0);
	for (uint32_t k = 0; k < 3000; k++) {
		make(&i, 60, 60, 105, 90);
		memcpy(before, i.ids, sizeof(before));
		mask_stream(&r, RNG_STATIC_MASK, 6, (struct key){ k, 0 }, 0, 0, 0);
		mask_draw(&m, &r, &i);
		for (uint32_t p = 1; p < i.predictions; p++) {
			const uint32_t a = i.positions[p - 1], b = i.positions[p];
			const bool hidden = i.ids[a] == 4;

			if (b == a + 1)
				*(hidden == (i.ids[b] == 4) ? &whole : &mixed) += 1;
		}
	}
	assert_true(whole > 1000 && mixed < whole / 20);	/* where two spans meet */
	mask_release(&m);
	instance_release(&i);
}

static void test_a_vocabulary_of_special_tokens_is_refused(void **state)
{
	const struct id_range all = { 0, SIZE - 1 };
	struct mask_rule rule = rule_of(0.15, 20);
	struct mask m;

	(void)state;
	rule.never = &all;
	rule.n_never = 1;
	assert_int_equal(mask_init(&m, &rule), -1);
	assert_int_equal(err_code(), EXIT_FAILED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_count),
		cmocka_unit_test(test_masks_are_where_they_may_be),
		cmocka_unit_test(test_equal_streams_draw_equal_masks),
		cmocka_unit_test(test_masks_are_those_of_the_words),
		cmocka_unit_test(test_replacements),
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_shares_that_are_none),
		cmocka_unit_test(test_positions_are_uniform),
		cmocka_unit_test(test_never_drawn_ranges),
		cmocka_unit_test(test_whole_words),
		cmocka_unit_test(test_words_across_sep),
		cmocka_unit_test(test_runs_of_words),
		cmocka_unit_test(test_spans_are_replaced_as_one),
		cmocka_unit_test(test_a_vocabulary_of_special_tokens_is_refused),
	};

	return cmocka_run_group_tests(tests, make_vocab, remove_vocab);
}
