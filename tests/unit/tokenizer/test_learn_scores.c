#include "tokenizer/learn_scores.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static struct score score(uint64_t count, uint64_t left, uint64_t right)
{
	return (struct score){ .about = (double)count / ((double)left * (double)right), .count = count, .left = left, .right = right };
}

static void check(struct score a, struct score b, int want)
{
	assert_int_equal(scores_compare(&a, &b), want);
	assert_int_equal(scores_compare(&b, &a), -want);
}

static void scores_compare_exactly(void **state)
{
	const uint64_t most = UINT64_MAX;

	(void)state;
	check(score(1, 2, 3), score(1, 3, 2), 0);
	check(score(2, 4, 1), score(1, 2, 1), 0);
	check(score(1, 2, 3), score(1, 2, 4), 1);
	/* Equal as doubles. */
	check(score(most, most, most), score(most - 1, most, most), 1);
	check(score(most, most, most), score(most, most - 1, most), -1);
	check(score(most, most, most), score(most, most, most), 0);
	check(score(most, most - 1, most - 1), score(most, most, most - 2), -1);	/* (n-1)^2 = n(n-2) + 1 */
	check(score((uint64_t)1 << 53, (uint64_t)1 << 53, 1), score(((uint64_t)1 << 53) + 1, (uint64_t)1 << 53, 1), -1);
}

static uint32_t add(struct pairs *p, struct scores *s, uint32_t left, uint32_t right, uint64_t count)
{
	const uint32_t pair = pairs_add(p, left, right, count, 0);

	assert_int_not_equal(pair, PAIRS_NONE);
	assert_int_equal(scores_put(s, pair), 0);
	return pair;
}

static void best_comes_first(void **state)
{
	uint64_t counts[] = { 10, 10, 20, 40, 1000 }, *freqs = counts;
	struct scores s;
	struct pairs p;
	uint32_t best, half, same, rare, often;

	(void)state;
	assert_int_equal(pairs_init(&p, 100), 0);
	scores_init(&s, &p, &freqs);
	half = add(&p, &s, 0, 1, 5);			/* 5 / 100 */
	rare = add(&p, &s, 2, 2, 2);			/* 2 / 400 */
	often = add(&p, &s, 3, 4, 30);			/* 30 / 40000 */
	same = add(&p, &s, 0, 2, 10);			/* 10 / 200, as good, but more frequent */
	assert_true(scores_pop(&s, 1, &best));
	assert_int_equal(best, same);
	assert_true(scores_pop(&s, 1, &best));
	assert_int_equal(best, half);
	counts[4] = 30;					/* 30 / 1200 is more than 2 / 400 */
	scores_fell(&s, 4);
	assert_true(scores_pop(&s, 1, &best));
	assert_int_equal(best, often);
	assert_int_equal(scores_put(&s, often), 0);
	pairs_take(&p, 3, 4, 29);			/* 1 / 1200 is not; nobody needs to say so */
	assert_true(scores_pop(&s, 1, &best));
	assert_int_equal(best, rare);
	assert_false(scores_pop(&s, 2, &best));
	assert_int_equal(s.count, 0);
	pairs_add(&p, 3, 4, 1, 0);			/* it may come back */
	assert_int_equal(scores_put(&s, often), 0);
	scores_fell(&s, 3);
	scores_fell(&s, 1);
	assert_true(scores_pop(&s, 2, &best));
	assert_int_equal(best, often);
	assert_false(scores_pop(&s, 1, &best));
	scores_release(&s);
	pairs_release(&p);
}

static void ties_are_settled(void **state)
{
	uint64_t counts[] = { 8, 8, 8, 8 }, *freqs = counts;
	struct scores s;
	struct pairs p;
	uint32_t best, pairs[4];

	(void)state;
	assert_int_equal(pairs_init(&p, 100), 0);
	scores_init(&s, &p, &freqs);
	pairs[3] = add(&p, &s, 2, 0, 4);
	pairs[1] = add(&p, &s, 1, 2, 4);
	pairs[2] = add(&p, &s, 1, 3, 4);
	pairs[0] = add(&p, &s, 0, 3, 4);
	for (int i = 0; i < 4; i++) {
		assert_true(scores_pop(&s, 1, &best));
		assert_int_equal(best, pairs[i]);
	}
	assert_false(scores_pop(&s, 1, &best));
	scores_fell(&s, 1);
	scores_fell(&s, 77);
	scores_release(&s);
	pairs_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scores_compare_exactly),
		cmocka_unit_test(best_comes_first),
		cmocka_unit_test(ties_are_settled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
