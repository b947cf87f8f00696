/*
 * grad.h - gradients against finite differences, in double, on ref.
 *
 * A test's grad function makes the forward op's arguments in t->args and runs the backward op with arguments of its own
 * (grad_run); then grad_compare looks at some elements of each input x:
 *
 *	value(x) = sum of cotangent * output, or the loss itself where an op computes both
 *	gradient = (value(x + h) - value(x - h)) / 2h
 */
#ifndef TESTS_KERNELS_GRAD_H
#define TESTS_KERNELS_GRAD_H

#include "tests/kernels/trial.h"

struct grad_case {
	struct trial *t;
	enum op op;				/* the forward op; its arguments are t->args */
	struct tensor output, cotangent;	/* F64; or */
	double *loss;				/* what a loss op adds to */
	struct { const char *name; struct tensor x, gradient; } inputs[8];
	int n_inputs;
};

/* X, F64, with the gradient that the backward op gave it. */
void grad_input(struct grad_case *g, const char *name, struct tensor x, struct tensor gradient);

/* NULL, or what is wrong. */
const char *grad_compare(struct grad_case *g);

/* Runs a backward op. SPACE: the field of ARGS for it, or NULL. */
void grad_run(struct trial *t, enum op op, void *args, void **space);

#endif
