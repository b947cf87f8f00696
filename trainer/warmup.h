/*
 * warmup.h - the length of a warm-up as users say it: a number of steps, or a share of all steps.
 *
 *	struct warmup w;
 *	if (warmup_parse(&w, "0.1"))
 *		return -1;
 *	schedule.warmup = warmup_steps(&w, schedule.steps);
 */
#ifndef TRAINER_WARMUP_H
#define TRAINER_WARMUP_H

#include <stdbool.h>
#include <stdint.h>

struct warmup {
	double value;
	bool is_share;			/* the text had a point */
};

int warmup_parse(struct warmup *w, const char *text);	/* -1 (EXIT_USAGE) */
uint64_t warmup_steps(const struct warmup *w, uint64_t steps);

#endif
