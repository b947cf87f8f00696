/*
 * schedule.h - the learning rate of each update.
 *
 *	const struct schedule s = { .decay = DECAY_LINEAR, .first = SCHEDULE_FROM_ZERO, .peak = 1e-4, .steps = 10000, .warmup = 1000 };
 *	rate = schedule_rate(&s, t)		(t = 0 for the first update)
 *
 * Plain numbers; a pure function of them. All forms rise in a straight line for
 * WARMUP updates. They differ in what they call the first update, and in where
 * the decay is measured from:
 *
 *	SCHEDULE_FROM_ZERO	t = 0, 1, ...; rate(0) = 0 with warm-up. The decay is a function of the whole
 *				run, t / steps, and the warm-up replaces its beginning, so that the rate drops
 *				where the warm-up ends (google-research/bert, optimization.py).
 *	SCHEDULE_FROM_ONE	n = t + 1; rate = peak n / warmup up to and with n = warmup; the decay is a function
 *				of what follows it, (n - warmup) / (steps - warmup): no drop, and rate 0 at the last
 *				update (torch's LambdaLR stepped before each update).
 *	SCHEDULE_REST_FROM_ZERO	t = 0, 1, ...; rate = peak t / warmup for t < warmup; the decay is a function of what
 *				follows, (t - warmup) / (steps - warmup): the first update has rate 0 with warm-up, the
 *				last one a little (transformers' get_linear_schedule_with_warmup).
 *	SCHEDULE_WHOLE_FROM_ONE	n = t + 1; rate = peak n / warmup while n < warmup; the decay is a function of the whole
 *				run, n / steps (NVIDIA's PolyWarmUpScheduler, schedulers.py of DeepLearningExamples).
 */
#ifndef TRAINER_SCHEDULE_H
#define TRAINER_SCHEDULE_H

#include <stdint.h>

enum decay {
	DECAY_LINEAR,		/* 1 - x, x being the share of the way that is done */
	DECAY_POLY,		/* (1 - x)^power */
	DECAY_CONSTANT,		/* 1 */
	DECAY_COSINE,		/* (1 + cos(pi x)) / 2 */
};
#define DECAY_WORDS "linear|poly|constant|cosine"

const char *decay_word(enum decay d);

enum schedule_first { SCHEDULE_FROM_ZERO, SCHEDULE_FROM_ONE, SCHEDULE_REST_FROM_ZERO, SCHEDULE_WHOLE_FROM_ONE };

struct schedule {
	enum decay decay;
	enum schedule_first first;
	double peak;
	double power;			/* DECAY_POLY */
	uint64_t steps;			/* of the whole run, at least 1 */
	uint64_t warmup;		/* of these; 0: none */
};

double schedule_rate(const struct schedule *s, uint64_t t);

#endif
