/* harness.h - the modes of the harness; they speak TAP but for list and bench. */
#ifndef TESTS_KERNELS_HARNESS_H
#define TESTS_KERNELS_HARNESS_H

#include "tests/kernels/trial.h"

struct options {
	uint64_t seed;
	const char *op;			/* only this one; NULL: all */
	const char *backend;		/* only this one; NULL: all (bench: "cpu") */
	unsigned threads;
};

/* A backend as some processor has it: cpu's code is chosen by features, which can be masked (base/cpu.h); NULL: as they are. */
struct variant { const char *backend, *features, *name; };
extern const struct variant variants[];
extern const int n_variants;

/* Opens variant V, if the options want it and this machine has it: 1, else 0. */
int variant_open(const struct variant *v, const struct options *o, struct kernels *k, struct queue **q);
void variant_close(struct kernels *k, struct queue *q);

/* Prints "ok N - ..." and, where FAULT is not NULL, "not ok" and why. */
void tap(const char *fault, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

bool op_wanted(const struct options *o, int op);

/* Each 0, or 1 when it could not be done at all. */
int check_run(const struct options *o);		/* against ref in double, guards, repetition */
int grad_run_all(const struct options *o);		/* finite differences */
int packing_run(const struct options *o);	/* a sequence's rows do not depend on its batch */
int dropout_run(const struct options *o);	/* the masks are what kernels/dropout.h says, and are fair */
int bench_run(const struct options *o);

#endif
