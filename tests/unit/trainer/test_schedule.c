/* Learning rates: all forms at their corners, and what the sources of each say in words. */
#include "trainer/schedule.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define CLOSE(a, b) assert_true(fabs((a) - (b)) < 1e-12)

static void test_from_zero(void **state)
{
	const struct schedule s = { .decay = DECAY_LINEAR, .first = SCHEDULE_FROM_ZERO, .peak = 2, .steps = 100, .warmup = 10 };

	(void)state;
	CLOSE(schedule_rate(&s, 0), 0);
	CLOSE(schedule_rate(&s, 5), 1);
	CLOSE(schedule_rate(&s, 9), 1.8);
	CLOSE(schedule_rate(&s, 10), 2 * 0.9);		/* the drop */
	CLOSE(schedule_rate(&s, 99), 2 * 0.01);
	CLOSE(schedule_rate(&s, 100), 0);
	CLOSE(schedule_rate(&s, 1000), 0);
}

static void test_from_one(void **state)
{
	const struct schedule s = { .decay = DECAY_LINEAR, .first = SCHEDULE_FROM_ONE, .peak = 2, .steps = 100, .warmup = 10 };
	const struct schedule all = { .decay = DECAY_LINEAR, .first = SCHEDULE_FROM_ONE, .peak = 2, .steps = 10, .warmup = 10 };

	(void)state;
	CLOSE(schedule_rate(&s, 0), 0.2);
	CLOSE(schedule_rate(&s, 9), 2);
	CLOSE(schedule_rate(&s, 10), 2 * (1 - 1.0 / 90));
	CLOSE(schedule_rate(&s, 99), 0);
	CLOSE(schedule_rate(&all, 9), 2);
	CLOSE(schedule_rate(&all, 10), 0);
}

/* transformers' get_linear_schedule_with_warmup: t / w, then (n - t) / (n - w), t from 0. */
static void test_rest_from_zero(void **state)
{
	const struct schedule s = { .decay = DECAY_LINEAR, .first = SCHEDULE_REST_FROM_ZERO, .peak = 2, .steps = 100, .warmup = 10 };
	const struct schedule one = { .decay = DECAY_LINEAR, .first = SCHEDULE_REST_FROM_ZERO, .peak = 2, .steps = 1 };
	const struct schedule all = { .decay = DECAY_LINEAR, .first = SCHEDULE_REST_FROM_ZERO, .peak = 2, .steps = 4, .warmup = 4 };

	(void)state;
	CLOSE(schedule_rate(&s, 0), 0);
	CLOSE(schedule_rate(&s, 9), 1.8);
	CLOSE(schedule_rate(&s, 10), 2);
	CLOSE(schedule_rate(&s, 11), 2 * 89.0 / 90);
	CLOSE(schedule_rate(&s, 99), 2 * 1.0 / 90);
	CLOSE(schedule_rate(&one, 0), 2);
	CLOSE(schedule_rate(&all, 3), 1.5);
	CLOSE(schedule_rate(&all, 4), 0);
}

static void test_shapes(void **state)
{
	struct schedule s = { .decay = DECAY_POLY, .first = SCHEDULE_FROM_ZERO, .peak = 6e-3, .steps = 7038, .warmup = 2000, .power = 0.5 };

	(void)state;
	/* NVIDIA's phase 1 of BERT-large: after the warm-up the rate falls to sqrt(1 - 0.2842) of its peak. */
	assert_true(fabs(schedule_rate(&s, 2000) / 6e-3 - 0.846) < 5e-4);
	s.power = 1;
	CLOSE(schedule_rate(&s, 3519), 3e-3);
	s.decay = DECAY_CONSTANT;
	CLOSE(schedule_rate(&s, 1000), 3e-3);
	CLOSE(schedule_rate(&s, 2000), 6e-3);
	CLOSE(schedule_rate(&s, 1000000), 6e-3);
	s.warmup = 0;
	CLOSE(schedule_rate(&s, 0), 6e-3);
}

/* NVIDIA's, by its formula: 6e-3 n / 3 while n < 3, then 6e-3 sqrt(1 - n / 12), n from 1. */
static void test_whole_from_one(void **state)
{
	static const double rates[] = { 2e-3, 4e-3, 0.005196152422706632, 0.004898979485566357, 0.00458257569495584 };
	struct schedule s = { .decay = DECAY_POLY, .first = SCHEDULE_WHOLE_FROM_ONE, .peak = 6e-3, .steps = 12, .warmup = 3, .power = 0.5 };

	(void)state;
	for (uint64_t t = 0; t < 5; t++)
		CLOSE(schedule_rate(&s, t), rates[t]);
	CLOSE(schedule_rate(&s, 9), 0.002449489742783178);
	CLOSE(schedule_rate(&s, 11), 0);
	s.warmup = 0;
	s.decay = DECAY_CONSTANT;
	CLOSE(schedule_rate(&s, 0), 6e-3);
}

static void test_cosine(void **state)
{
	struct schedule s = { .decay = DECAY_COSINE, .first = SCHEDULE_FROM_ONE, .peak = 2, .steps = 110, .warmup = 10 };

	(void)state;
	CLOSE(schedule_rate(&s, 9), 2);
	CLOSE(schedule_rate(&s, 34), 1 + sqrt(0.5));
	CLOSE(schedule_rate(&s, 59), 1);
	CLOSE(schedule_rate(&s, 109), 0);
	CLOSE(schedule_rate(&s, 500), 0);
	assert_string_equal(decay_word(DECAY_COSINE), "cosine");
	assert_string_equal(decay_word(DECAY_LINEAR), "linear");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_from_zero), cmocka_unit_test(test_from_one), cmocka_unit_test(test_rest_from_zero), cmocka_unit_test(test_shapes),
					     cmocka_unit_test(test_whole_from_one), cmocka_unit_test(test_cosine) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
