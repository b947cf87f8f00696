/* Learning rates: both forms at their corners, and what the sources of each say in words. */
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

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_from_zero), cmocka_unit_test(test_from_one), cmocka_unit_test(test_shapes) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
