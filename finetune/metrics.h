/*
 * metrics.h - how good predicted classes are.
 *
 *	struct class_metrics m;
 *	if (metrics_of_classes(&m, gold, predicted, n, classes))
 *		return -1;
 *	... m.accuracy, m.f1, m.matthews
 *
 * accuracy	the share of examples whose predicted class is the gold one
 * f1		of two classes: 2 p r / (p + r) of class 1, the second in the order of the names, as sklearn's
 *		f1_score and transformers' glue metrics have it; of another number: the mean over the classes that
 *		occur in gold or predictions (sklearn's "macro")
 * matthews	Matthews' correlation, for any number of classes (Gorodkin 2004), as sklearn's
 *		matthews_corrcoef; 0 where gold or predictions are all of one class
 *
 * Each is 0 where it would be 0 / 0. Counts are exact, so the order of the examples does not matter.
 */
#ifndef FINETUNE_METRICS_H
#define FINETUNE_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct class_metrics {
	double accuracy, f1, matthews;
	uint64_t examples;
	double majority;		/* the accuracy of always saying the gold's most frequent class */
	bool one_class;			/* all predictions are the same class */
};

/* GOLD, PREDICTED [n], each 0 .. classes-1; n > 0. -1: out of memory. */
int metrics_of_classes(struct class_metrics *m, const int32_t *gold, const int32_t *predicted, size_t n, int classes);

/* Of K > 0 runs: the mean, the standard deviation with K - 1 in the denominator (0 of one run), smallest, largest. */
struct spread {
	double mean, sd, min, max;
};
struct spread metrics_spread(const double *values, size_t k);

#endif
