#include "finetune/metrics.h"

#include "base/err.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

typedef unsigned __int128 uint128;

/* Of one class. */
struct tally {
	uint64_t gold, predicted, hits;		/* examples of it, predictions of it, both at once */
};

static struct tally *count(const int32_t *gold, const int32_t *predicted, size_t n, int classes)
{
	struct tally *t = calloc((size_t)classes, sizeof(*t));

	for (size_t i = 0; t && i < n; i++) {
		assert(gold[i] >= 0 && gold[i] < classes && predicted[i] >= 0 && predicted[i] < classes);
		t[gold[i]].gold++;
		t[predicted[i]].predicted++;
		t[gold[i]].hits += gold[i] == predicted[i];
	}
	return t;
}

/* 2 p r / (p + r) with precision p and recall r, without their divisions. */
static double f1_of(const struct tally *t)
{
	const uint64_t sum = t->gold + t->predicted;

	return sum ? 2.0 * (double)t->hits / (double)sum : 0;
}

static double macro_f1(const struct tally *t, int classes)
{
	double sum = 0;
	int present = 0;

	for (int c = 0; c < classes; c++) {
		sum += f1_of(&t[c]);
		present += t[c].gold || t[c].predicted;
	}
	return sum / present;
}

/*
 * (n h - sum p g) / sqrt((n^2 - sum p^2) (n^2 - sum g^2)), with all hits h and each class' predictions p and
 * examples g. Differences of large numbers, so these are whole ones.
 */
static double matthews(const struct tally *t, int classes, uint64_t n, uint64_t hits)
{
	uint128 product = 0, predicted = 0, gold = 0;
	double above, below;

	for (int c = 0; c < classes; c++) {
		product += (uint128)t[c].predicted * t[c].gold;
		predicted += (uint128)t[c].predicted * t[c].predicted;
		gold += (uint128)t[c].gold * t[c].gold;
	}
	above = (double)(__int128)((uint128)n * hits - product);
	below = sqrt((double)((uint128)n * n - predicted) * (double)((uint128)n * n - gold));
	return below > 0 ? above / below : 0;
}

int metrics_of_classes(struct class_metrics *m, const int32_t *gold, const int32_t *predicted, size_t n, int classes)
{
	struct tally *t = count(gold, predicted, n, classes);
	uint64_t hits = 0, most = 0;

	assert(n > 0);
	if (!t)
		return err_memory();
	*m = (struct class_metrics){ .examples = n };
	for (int c = 0; c < classes; c++) {
		hits += t[c].hits;
		if (t[c].gold > most)
			most = t[c].gold;
		if (t[c].predicted == n)
			m->one_class = true;
	}
	m->accuracy = (double)hits / (double)n;
	m->majority = (double)most / (double)n;
	m->f1 = classes == 2 ? f1_of(&t[1]) : macro_f1(t, classes);
	m->matthews = matthews(t, classes, n, hits);
	free(t);
	return 0;
}

struct spread metrics_spread(const double *values, size_t k)
{
	assert(k > 0);

	struct spread s = { .min = values[0], .max = values[0] };
	double sum = 0, squares = 0;

	for (size_t i = 0; i < k; i++) {
		sum += values[i] - values[0];	/* so that the mean of equal values is that value */
		s.min = fmin(s.min, values[i]);
		s.max = fmax(s.max, values[i]);
	}
	s.mean = values[0] + sum / (double)k;
	for (size_t i = 0; i < k; i++)
		squares += (values[i] - s.mean) * (values[i] - s.mean);
	if (k > 1)
		s.sd = sqrt(squares / (double)(k - 1));
	return s;
}
