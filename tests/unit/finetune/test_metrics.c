/*
 * The expected figures are scikit-learn 1.9.1's: accuracy_score; f1_score, of two classes its default, else with
 * average="macro"; matthews_corrcoef; each printed as Python's repr.
 */
#include "finetune/metrics.h"

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static void close_to(const char *what, double is, double wanted)
{
	if (!(fabs(is - wanted) <= 1e-15 * (1 + fabs(wanted))))
		fail_msg("%s: %.17g, wanted %.17g", what, is, wanted);
}

#define EXAMPLES_MAX 10
static const struct fact {
	const char *what;
	int classes;
	size_t n;
	int32_t gold[EXAMPLES_MAX], predicted[EXAMPLES_MAX];
	double accuracy, f1, matthews, majority;
	bool one_class;
} facts[] = {
	{ "two classes", 2, 8, { 0, 1, 1, 0, 1, 0, 1, 1 }, { 0, 1, 0, 0, 1, 1, 1, 1 }, 0.75, 0.8, 0.4666666666666667, 0.625, false },
	{ "three classes", 3, 10, { 0, 1, 2, 2, 1, 0, 2, 1, 0, 2 }, { 0, 2, 2, 2, 1, 0, 1, 1, 2, 2 }, 0.7, 0.7111111111111111,
	  0.5471422245456321, 0.4, false },
	{ "all wrong", 2, 4, { 0, 1, 0, 1 }, { 1, 0, 1, 0 }, 0, 0, -1, 0.5, false },
	{ "all predicted 0", 2, 5, { 0, 1, 0, 1, 1 }, { 0, 0, 0, 0, 0 }, 0.4, 0, 0, 0.6, true },
	{ "all predicted 1", 2, 5, { 0, 1, 0, 1, 1 }, { 1, 1, 1, 1, 1 }, 0.6, 0.75, 0, 0.6, true },
	{ "gold of one class", 2, 4, { 1, 1, 1, 1 }, { 1, 0, 1, 1 }, 0.75, 0.8571428571428571, 0, 1, false },
	{ "all 0", 2, 3, { 0, 0, 0 }, { 0, 0, 0 }, 1, 0, 0, 1, true },
	{ "all 1", 2, 3, { 1, 1, 1 }, { 1, 1, 1 }, 1, 1, 0, 1, true },
	{ "one class", 1, 2, { 0, 0 }, { 0, 0 }, 1, 1, 0, 1, true },
	{ "one example", 2, 1, { 1 }, { 0 }, 0, 0, 0, 1, true },
	{ "a class that is nowhere", 4, 6, { 0, 1, 3, 3, 1, 0 }, { 0, 3, 3, 3, 1, 1 }, 0.6666666666666666, 0.6555555555555556,
	  0.5222329678670935, 0.3333333333333333, false },
	{ "a class never predicted", 4, 6, { 0, 1, 2, 3, 1, 0 }, { 0, 3, 1, 3, 1, 1 }, 0.5, 0.43333333333333335,
	  0.3344968040028363, 0.3333333333333333, false },
	{ "a class that gold lacks", 4, 6, { 0, 1, 1, 3, 1, 0 }, { 0, 3, 2, 3, 1, 1 }, 0.5, 0.43333333333333335,
	  0.3344968040028363, 0.5, false },
	{ "three classes, always one", 3, 4, { 0, 1, 2, 1 }, { 1, 1, 1, 1 }, 0.5, 0.2222222222222222, 0, 0.5, true },
};

static void figures_are_sklearns(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		const struct fact *f = &facts[i];
		struct class_metrics m;

		assert_int_equal(metrics_of_classes(&m, f->gold, f->predicted, f->n, f->classes), 0);
		close_to(f->what, m.accuracy, f->accuracy);
		close_to(f->what, m.f1, f->f1);
		close_to(f->what, m.matthews, f->matthews);
		close_to(f->what, m.majority, f->majority);
		if (m.one_class != f->one_class || m.examples != f->n)
			fail_msg("%s: one_class %d, %" PRIu64 " examples", f->what, m.one_class, m.examples);
	}
}

/* x = x * 1103515245 + 12345 mod 2^31, beginning with SEED; classes are (x >> 16) mod CLASSES. */
static void draw(int32_t *to, size_t n, int classes, uint32_t seed)
{
	for (size_t i = 0; i < n; i++) {
		seed = (seed * 1103515245u + 12345u) & 0x7FFFFFFF;
		to[i] = (int32_t)((seed >> 16) % (unsigned)classes);
	}
}

/* Predictions are the gold class, but every RIGHT-th one is drawn. */
static struct class_metrics measure_drawn(size_t n, int classes, uint32_t seed, size_t right)
{
	static int32_t gold[100000], predicted[100000];
	struct class_metrics m;

	draw(gold, n, classes, seed);
	draw(predicted, n, classes, seed + 1);
	for (size_t i = 0; i < n; i++)
		if (i % right)
			predicted[i] = gold[i];
	assert_int_equal(metrics_of_classes(&m, gold, predicted, n, classes), 0);
	return m;
}

static void figures_of_many_are_sklearns(void **state)
{
	struct class_metrics m = measure_drawn(1000, 5, 1, 3);

	(void)state;
	close_to("accuracy", m.accuracy, 0.733);
	close_to("f1", m.f1, 0.7328458987171972);
	close_to("matthews", m.matthews, 0.6666199865843984);
	close_to("majority", m.majority, 0.211);
	m = measure_drawn(100000, 2, 3, 4);
	close_to("accuracy", m.accuracy, 0.87551);
	close_to("f1", m.f1, 0.875181727944494);
	close_to("matthews", m.matthews, 0.7510183550392275);
	close_to("majority", m.majority, 0.50121);
}

static void all_right_is_exactly_one(void **state)
{
	static int32_t gold[9973];
	struct class_metrics m;

	(void)state;
	for (int classes = 2; classes < 12; classes++) {
		draw(gold, 9973, classes, 7);
		assert_int_equal(metrics_of_classes(&m, gold, gold, 9973, classes), 0);
		assert_true(m.accuracy == 1 && m.f1 == 1 && m.matthews == 1 && !m.one_class);
	}
}

/* By Python's statistics.mean and stdev. */
static void spread_of_runs(void **state)
{
	static const double accuracies[] = { 0.8729508196721312, 0.8647540983606558, 0.8688524590163934, 0.4979508196721311, 0.8811475409836066 };
	static const double same[] = { 0.1, 0.1, 0.1 };
	struct spread s = metrics_spread(accuracies, 5);

	(void)state;
	close_to("mean", s.mean, 0.7971311475409837);
	close_to("sd", s.sd, 0.16735669663192967);
	assert_true(s.min == accuracies[3] && s.max == accuracies[4]);
	s = metrics_spread(accuracies, 1);
	assert_true(s.mean == accuracies[0] && s.sd == 0 && s.min == accuracies[0] && s.max == accuracies[0]);
	s = metrics_spread(same, 3);
	assert_true(s.mean == 0.1 && s.sd == 0 && s.min == 0.1 && s.max == 0.1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures_are_sklearns),
		cmocka_unit_test(figures_of_many_are_sklearns),
		cmocka_unit_test(all_right_is_exactly_one),
		cmocka_unit_test(spread_of_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
