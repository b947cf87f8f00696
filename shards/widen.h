/*
 * widen.h - runs of ids of two bytes, at any address. The inner loops have a
 * constant length so that compilers make vector code of them at -O2. What is left
 * at the end of a run is done by a step that goes back over what was done: most
 * runs are of a few dozen ids.
 */
#ifndef SHARDS_WIDEN_H
#define SHARDS_WIDEN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define WIDEN_STEP 16
#define WIDEN_FN static inline __attribute__((always_inline))

/* Calls STEP(i, how many) for runs that together are all of N. */
#define WIDEN_FOR(n, STEP)						\
	do {								\
		size_t i_ = 0;						\
		for (; i_ + WIDEN_STEP <= (n); i_ += WIDEN_STEP)	\
			STEP(i_, WIDEN_STEP);				\
		if (i_ == (n))						\
			break;						\
		if ((n) >= WIDEN_STEP) {				\
			STEP((n) - WIDEN_STEP, WIDEN_STEP);		\
		} else if ((n) >= WIDEN_STEP / 2) {			\
			STEP(0, WIDEN_STEP / 2);			\
			STEP((n) - WIDEN_STEP / 2, WIDEN_STEP / 2);	\
		} else {						\
			for (; i_ < (n); i_++)				\
				STEP(i_, 1);				\
		}							\
	} while (0)

WIDEN_FN void widen_ids_step(uint32_t *restrict out, const unsigned char *restrict in, unsigned n)
{
	uint16_t step[WIDEN_STEP];

	memcpy(step, in, n * sizeof(*step));
	for (unsigned k = 0; k < n; k++)
		out[k] = step[k];
}

/* N ids of 2 bytes each, at any address, to 4. */
static inline void widen_ids(uint32_t *restrict out, const unsigned char *restrict in, size_t n)
{
#define STEP(i, m) widen_ids_step(out + (i), in + 2 * (i), m)
	WIDEN_FOR(n, STEP);
#undef STEP
}

WIDEN_FN void widen_greatest_step(uint16_t *restrict most, const unsigned char *restrict in, unsigned n)
{
	uint16_t step[WIDEN_STEP];

	memcpy(step, in, n * sizeof(*step));
	for (unsigned k = 0; k < n; k++)
		most[k] = step[k] > most[k] ? step[k] : most[k];
}

/* The greatest of N ids of 2 bytes each, at any address; 0 when there is none. */
static inline uint32_t widen_greatest(const unsigned char *restrict in, size_t n)
{
	uint16_t most[WIDEN_STEP] = { 0 };
	uint32_t greatest = 0;

#define STEP(i, m) widen_greatest_step(most, in + 2 * (i), m)
	WIDEN_FOR(n, STEP);
#undef STEP
	for (unsigned k = 0; k < WIDEN_STEP; k++)
		greatest = most[k] > greatest ? most[k] : greatest;
	return greatest;
}

#endif
