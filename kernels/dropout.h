/*
 * dropout.h - which elements a dropout keeps: a pure function of (seed, step,
 * sample, site, row, column), the same on every backend and computed again in the
 * backward pass rather than stored. So masks do not depend on how a batch is split
 * into micro-batches and ranks. Plain C that compiles as CUDA too.
 *
 * A sequence's rows count from 0 at its first token, as do the columns of a row.
 * One draw of 16 bits belongs to each element; 8 neighbours share a Philox block:
 *
 *	stream		rng_open(seed, RNG_DROPOUT, 0, sample, site, number, 0)	(base/rng.h)
 *	block (r, g)	block i = g + 2^32 r of the stream: columns 8g .. 8g+7 of row r
 *	word w		bits 0-15: column 8g + 2w, bits 16-31: column 8g + 2w + 1
 *	threshold	floor(65536 rate + 1/2)
 *	element		0 where its draw is below threshold, else multiplied by 65536 / (65536 - threshold)
 *
 * Attention's probabilities are rows too: key j of query i in head a is column j
 * of row r = 65536 a + i.
 */
#ifndef KERNELS_DROPOUT_H
#define KERNELS_DROPOUT_H

#include "base/rng.h"

#define DROPOUT_COLUMNS 8	/* of a block */

struct dropout_stream {
	uint32_t key[2], high[2];
};

RNG_FN void dropout_open(struct dropout_stream *s, uint64_t seed, uint32_t number, uint32_t site, uint64_t sample)
{
	struct rng r;

	rng_open(&r, seed, RNG_DROPOUT, 0, sample, site, number, 0);
	s->key[0] = r.key[0];
	s->key[1] = r.key[1];
	s->high[0] = r.high[0];
	s->high[1] = r.high[1];
}

/* The draws of columns 8 GROUP .. 8 GROUP + 7 of ROW, in pairs as above. */
RNG_FN void dropout_draw(const struct dropout_stream *s, uint32_t row, uint32_t group, uint32_t words[4])
{
	const uint32_t in[4] = { group, row, s->high[0], s->high[1] };

	rng_philox(s->key, in, words);
}

/* The draw of one element: 0 .. 65535. */
RNG_FN uint32_t dropout_draw_at(const struct dropout_stream *s, uint32_t row, uint32_t column)
{
	uint32_t words[4];

	dropout_draw(s, row, column / DROPOUT_COLUMNS, words);
	return words[column % DROPOUT_COLUMNS / 2] >> (column % 2 * 16) & 0xFFFF;
}

RNG_FN uint32_t dropout_threshold(double rate) { return (uint32_t)(65536 * rate + 0.5); }
RNG_FN double dropout_scale(double rate) { return 65536 / (65536.0 - dropout_threshold(rate)); }

#endif
