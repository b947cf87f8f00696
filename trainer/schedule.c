/* schedule.c - the learning rate of each update. */
#include "trainer/schedule.h"

#include <math.h>

static double decayed(const struct schedule *s, double done)
{
	const double left = done < 1 ? 1 - done : 0;

	switch (s->decay) {
	case DECAY_LINEAR: return left;
	case DECAY_POLY: return pow(left, s->power);
	case DECAY_CONSTANT: break;
	}
	return 1;
}

double schedule_rate(const struct schedule *s, uint64_t t)
{
	if (s->first == SCHEDULE_FROM_ZERO) {
		if (t < s->warmup)
			return s->peak * (double)t / (double)s->warmup;
		return s->peak * decayed(s, (double)t / (double)s->steps);
	}
	if (t + 1 <= s->warmup)
		return s->peak * (double)(t + 1) / (double)s->warmup;
	if (s->steps <= s->warmup)
		return s->peak * decayed(s, 1);
	return s->peak * decayed(s, (double)(t + 1 - s->warmup) / (double)(s->steps - s->warmup));
}
