#include "tokenizer/learn_pairs.h"

#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static void pairs_are_counted_and_listed(void **state)
{
	struct pairs p;
	uint32_t i, first;

	(void)state;
	assert_int_equal(pairs_init(&p, 4), 0);
	i = pairs_add(&p, 1, 2, 10, 0);
	assert_int_equal(pairs_add(&p, 1, 2, 10, 0), i);	/* twice in word 0: listed once */
	assert_int_equal(pairs_add(&p, 1, 2, 5, 7), i);
	assert_int_not_equal(pairs_add(&p, 2, 1, 5, 7), i);
	assert_int_equal(p.items[i].count, 25);
	pairs_take(&p, 1, 2, 10);
	assert_int_equal(p.items[i].count, 15);
	first = pairs_clear(&p, i);
	assert_int_equal(p.items[i].count, 0);
	assert_int_equal(p.occurrences[first].word, 7);
	assert_int_equal(p.occurrences[p.occurrences[first].next].word, 0);
	assert_int_equal(p.occurrences[p.occurrences[first].next].next, PAIRS_NONE);
	pairs_take(&p, 1, 2, 5);				/* of a cleared pair: nothing */
	assert_int_equal(p.items[i].count, 0);
	pairs_release(&p);
}

static void the_order_is_total(void **state)
{
	struct pairs p;
	uint32_t best, pushed[6];

	(void)state;
	assert_int_equal(pairs_init(&p, 10), 0);
	pushed[0] = pairs_add(&p, 5, 5, 3, 0);
	pushed[1] = pairs_add(&p, 4, 9, 7, 0);
	pushed[2] = pairs_add(&p, 5, 4, 3, 0);
	pushed[3] = pairs_add(&p, 2, 9, 3, 0);
	pushed[4] = pairs_add(&p, 9, 1, 2, 0);
	pushed[5] = pairs_add(&p, 9, 2, 1, 0);
	for (int i = 0; i < 6; i++)
		assert_int_equal(pairs_push(&p, pushed[i]), 0);
	for (int i = 0; i < 5; i++) {
		static const int want[] = { 1, 3, 2, 0, 4 };

		assert_true(pairs_pop(&p, 2, &best));
		assert_int_equal(best, pushed[want[i]]);
		pairs_clear(&p, best);
	}
	assert_false(pairs_pop(&p, 2, &best));
	pairs_release(&p);
}

/* Against looking through all pairs each time, while counts rise and fall. */
static void the_queue_finds_what_a_search_finds(void **state)
{
	enum { TOKENS = 12, STEPS = 4000 };
	struct pairs p;
	struct rng r;
	unsigned found = 0;

	(void)state;
	rng_open(&r, 5, RNG_TEST, 0, 0, 0, 0, 0);
	assert_int_equal(pairs_init(&p, STEPS), 0);
	for (unsigned step = 0; step < STEPS; step++) {
		const uint32_t left = rng_below(&r, TOKENS), right = rng_below(&r, TOKENS);
		uint32_t best, want = PAIRS_NONE;
		const uint32_t i = pairs_add(&p, left, right, 1 + rng_below(&r, 5), step);

		if (rng_below(&r, 2) && p.items[i].count > 1)
			pairs_take(&p, left, right, 1 + rng_below(&r, (uint32_t)p.items[i].count - 1));
		assert_int_equal(pairs_push(&p, i), 0);
		if (rng_below(&r, 3))
			continue;
		for (uint32_t k = 0; k < p.count; k++) {
			const struct pair *a = &p.items[k], *b = want == PAIRS_NONE ? NULL : &p.items[want];

			if (a->count >= 4 && (!b || a->count > b->count || (a->count == b->count &&
			    (a->left < b->left || (a->left == b->left && a->right < b->right)))))
				want = k;
		}
		assert_int_equal(pairs_pop(&p, 4, &best), want != PAIRS_NONE);
		if (want == PAIRS_NONE)
			continue;
		assert_int_equal(best, want);
		pairs_clear(&p, best);
		found++;
	}
	assert_true(found > 500);
	pairs_release(&p);
}

static void the_table_grows(void **state)
{
	enum { SIDE = 500 };
	struct pairs p;

	(void)state;
	assert_int_equal(pairs_init(&p, SIDE * SIDE), 0);
	for (uint32_t i = 0; i < SIDE * SIDE; i++)
		assert_int_equal(pairs_add(&p, i / SIDE, i % SIDE, i + 1, i), i);
	for (uint32_t i = 0; i < SIDE * SIDE; i += 97) {
		pairs_take(&p, i / SIDE, i % SIDE, 1);
		assert_int_equal(p.items[i].count, i);
	}
	pairs_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pairs_are_counted_and_listed),
		cmocka_unit_test(the_order_is_total),
		cmocka_unit_test(the_queue_finds_what_a_search_finds),
		cmocka_unit_test(the_table_grows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
