/*
 * step.h - what changes from one training step to the next.
 *
 * One such struct lies in the backend's memory at a fixed address, and ops get
 * pointers into it. So the ops of a step can be recorded once with all their
 * arguments (as a CUDA graph) and played again, and nothing waits for the host:
 * the host uploads the first half before a step and downloads the second half
 * when it likes. Real numbers are doubles, so that F64 ops are double throughout.
 */
#ifndef KERNELS_STEP_H
#define KERNELS_STEP_H

#include <stdint.h>

/* Losses that a step may add up, each with its own count. */
enum { STEP_LOSSES = 4 };

struct step {
	/* from the host */
	uint64_t seed;			/* of the dropout */
	uint32_t number;		/* of the step: another one, other masks */
	uint32_t time;			/* of the optimizer: 1 at its first update */
	double lr;			/* learning rate of this update */
	double loss_scale;		/* multiplies what enters the backward pass; 1 where none is needed */
	double mean[STEP_LOSSES];	/* 1 / count over all micro-batches and ranks, of each loss */
	/* from grad_scale (kernels/ops.h) */
	double grad_norm;		/* L2 norm of all gradients, loss scale taken out, before clipping */
	double grad_scale;		/* optimizers multiply gradients by this: clipping / loss_scale */
	int32_t skip;			/* 1: a gradient was not finite; optimizers then change nothing */
	int32_t reserved;
};

#endif
