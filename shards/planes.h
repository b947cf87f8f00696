/*
 * planes.h - runs of ids between memory and planes of bytes. The inner loops
 * have a constant length so that compilers make vector code of them at -O2. What
 * is left at the end of a run is done by a step that goes back over what was
 * done: most runs are of a few dozen ids.
 */
#ifndef SHARDS_PLANES_H
#define SHARDS_PLANES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PLANES_STEP 16
#define PLANES_FN static inline __attribute__((always_inline))

/* Calls STEP(i, how many) for runs that together are all of N. */
#define PLANES_FOR(n, STEP)                                                     \
	do {                                                                    \
		size_t i_ = 0;                                                  \
		for (; i_ + PLANES_STEP <= (n); i_ += PLANES_STEP)              \
			STEP(i_, PLANES_STEP);                                  \
		if (i_ == (n))                                                  \
			break;                                                  \
		if ((n) >= PLANES_STEP) {                                       \
			STEP((n) - PLANES_STEP, PLANES_STEP);                   \
		} else if ((n) >= PLANES_STEP / 2) {                            \
			STEP(0, PLANES_STEP / 2);                               \
			STEP((n) - PLANES_STEP / 2, PLANES_STEP / 2);           \
		} else {                                                        \
			for (; i_ < (n); i_++)                                  \
				STEP(i_, 1);                                    \
		}                                                               \
	} while (0)

PLANES_FN void planes_widen_step(uint32_t *restrict out, const unsigned char *restrict in, unsigned n)
{
	uint16_t step[PLANES_STEP];

	memcpy(step, in, n * sizeof(*step));
	for (unsigned k = 0; k < n; k++)
		out[k] = step[k];
}

/* N ids of 2 bytes each, at any address, to 4. */
static inline void planes_widen(uint32_t *restrict out, const unsigned char *restrict in, size_t n)
{
#define STEP(i, m) planes_widen_step(out + (i), in + 2 * (i), m)
	PLANES_FOR(n, STEP);
#undef STEP
}

PLANES_FN void planes_widest_step(uint16_t *restrict most, const unsigned char *restrict in, unsigned n)
{
	uint16_t step[PLANES_STEP];

	memcpy(step, in, n * sizeof(*step));
	for (unsigned k = 0; k < n; k++)
		most[k] = step[k] > most[k] ? step[k] : most[k];
}

/* The greatest of N ids of 2 bytes each, at any address; 0 when there is none. */
static inline uint32_t planes_widest(const unsigned char *restrict in, size_t n)
{
	uint16_t most[PLANES_STEP] = { 0 };
	uint32_t greatest = 0;

#define STEP(i, m) planes_widest_step(most, in + 2 * (i), m)
	PLANES_FOR(n, STEP);
#undef STEP
	for (unsigned k = 0; k < PLANES_STEP; k++)
		greatest = most[k] > greatest ? most[k] : greatest;
	return greatest;
}

PLANES_FN void planes_split_step(unsigned char *restrict plane, const uint32_t *restrict ids, unsigned shift, unsigned n)
{
	for (unsigned k = 0; k < n; k++)
		plane[k] = (unsigned char)(ids[k] >> shift);
}

/* One byte of each of N ids: bits SHIFT .. SHIFT+7. */
static inline void planes_split(unsigned char *restrict plane, const uint32_t *restrict ids, size_t n, unsigned shift)
{
#define STEP(i, m) planes_split_step(plane + (i), ids + (i), shift, m)
	PLANES_FOR(n, STEP);
#undef STEP
}

/* N ids of two planes. */
static inline void planes_join(uint32_t *restrict out, const unsigned char *restrict low,
			       const unsigned char *restrict high, size_t n)
{
	size_t i = 0;

	for (; i + PLANES_STEP <= n; i += PLANES_STEP)
		for (unsigned k = 0; k < PLANES_STEP; k++)
			out[i + k] = low[i + k] | (uint32_t)high[i + k] << 8;
	for (; i < n; i++)
		out[i] = low[i] | (uint32_t)high[i] << 8;
}

/* The greatest of N ids of two planes; 0 when there is none. */
static inline uint32_t planes_greatest(const unsigned char *restrict low, const unsigned char *restrict high, size_t n)
{
	uint16_t most[PLANES_STEP] = { 0 };
	uint32_t greatest = 0;
	size_t i = 0;

	for (; i + PLANES_STEP <= n; i += PLANES_STEP) {
		for (unsigned k = 0; k < PLANES_STEP; k++) {
			const uint16_t id = (uint16_t)(low[i + k] | high[i + k] << 8);

			most[k] = id > most[k] ? id : most[k];
		}
	}
	for (unsigned k = 0; k < PLANES_STEP; k++)
		greatest = most[k] > greatest ? most[k] : greatest;
	for (; i < n; i++) {
		const uint32_t id = low[i] | (uint32_t)high[i] << 8;

		greatest = id > greatest ? id : greatest;
	}
	return greatest;
}

#endif
