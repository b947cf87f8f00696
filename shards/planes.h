/*
 * planes.h - runs of ids between memory and planes of bytes. The inner loops
 * have a constant length so that compilers make vector code of them at -O2.
 */
#ifndef SHARDS_PLANES_H
#define SHARDS_PLANES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PLANES_STEP 16

/* N ids of 2 bytes each, at any address, to 4. */
static inline void planes_widen(uint32_t *restrict out, const unsigned char *restrict in, size_t n)
{
	uint16_t step[PLANES_STEP];
	size_t i = 0;

	for (; i + PLANES_STEP <= n; i += PLANES_STEP) {
		memcpy(step, in + 2 * i, sizeof(step));
		for (unsigned k = 0; k < PLANES_STEP; k++)
			out[i + k] = step[k];
	}
	for (; i < n; i++) {
		memcpy(step, in + 2 * i, sizeof(step[0]));
		out[i] = step[0];
	}
}

/* One byte of each of N ids: bits SHIFT .. SHIFT+7. */
static inline void planes_split(unsigned char *restrict plane, const uint32_t *restrict ids, size_t n, unsigned shift)
{
	size_t i = 0;

	for (; i + PLANES_STEP <= n; i += PLANES_STEP)
		for (unsigned k = 0; k < PLANES_STEP; k++)
			plane[i + k] = (unsigned char)(ids[i + k] >> shift);
	for (; i < n; i++)
		plane[i] = (unsigned char)(ids[i] >> shift);
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
