/* schedule.c - the learning rate of each update. */
#include "trainer/schedule.h"

#include <math.h>

const char *decay_word(enum decay d)
{
	static const char *const words[] = { "linear", "poly", "constant", "cosine" };

	return words[d];
}

static double decayed(const struct schedule *s, double done)
{
	const double left = done < 1 ? 1 - done : 0;

	switch (s->decay) {
	case DECAY_LINEAR: return left;
	case DECAY_POLY: return pow(left, s->power);
	case DECAY_COSINE: return (1 - cos(M_PI * left)) / 2;
	case DECAY_CONSTANT: break;
	}
	return 1;
}

/* Update T of a decay over the whole run, whose beginning the warm-up replaces. */
static double whole_rate(const struct schedule *s, uint64_t t)
{
	if (t < s->warmup)
		return s->peak * (double)t / (double)s->warmup;
	return s->peak * decayed(s, (double)t / (double)s->steps);
}

/* Update N, at least WARMUP, of a decay over what follows the warm-up. */
static double rest_rate(const struct schedule *s, uint64_t n)
{
	if (s->steps <= s->warmup)
		return s->peak * decayed(s, 1);
	return s->peak * decayed(s, (double)(n - s->warmup) / (double)(s->steps - s->warmup));
}

double schedule_rate(const struct schedule *s, uint64_t t)
{
	switch (s->first) {
	case SCHEDULE_FROM_ZERO: return whole_rate(s, t);
	case SCHEDULE_WHOLE_FROM_ONE: return whole_rate(s, t + 1);
	case SCHEDULE_REST_FROM_ZERO: return t < s->warmup ? whole_rate(s, t) : rest_rate(s, t);
	case SCHEDULE_FROM_ONE: break;
	}
	return t + 1 <= s->warmup ? s->peak * (double)(t + 1) / (double)s->warmup : rest_rate(s, t + 1);
}
