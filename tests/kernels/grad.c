/* grad.c - see grad.h. */
#include "tests/kernels/grad.h"
#include "tests/kernels/harness.h"

#include <err.h>
#include <math.h>

#define STEP 1e-5		/* h, for values around 1: its square is the error that finite differences make */
#define TOLERANCE 1e-7		/* of the largest element of a gradient */
#define ELEMENTS 60		/* looked at in each input */

void grad_run(struct trial *t, enum op op, void *args, void **space)
{
	const size_t bytes = kernels_space(t->k, op, args);

	if (space)
		*space = trial_memory(t, bytes);
	call_op(t->k, t->q, op, args);
}

void grad_input(struct grad_case *g, const char *name, struct tensor x, struct tensor gradient)
{
	const int i = g->n_inputs++;

	g->inputs[i].name = name;
	g->inputs[i].x = x;
	g->inputs[i].gradient = gradient;
}

static double value(struct grad_case *g)
{
	double sum = 0;

	if (g->loss)
		*g->loss = 0;
	trial_run(g->t, g->op);
	if (g->loss)
		return *g->loss;
	for (int64_t i = 0; i < tensor_count(g->output); i++)
		sum += ((double *)g->output.data)[i] * ((double *)g->cotangent.data)[i];
	return sum;
}

static double difference(struct grad_case *g, double *x)
{
	const double was = *x;
	double above, below;

	*x = was + STEP;
	above = value(g);
	*x = was - STEP;
	below = value(g);
	*x = was;
	return (above - below) / (2 * STEP);
}

const char *grad_compare(struct grad_case *g)
{
	static char text[256];

	for (int i = 0; i < g->n_inputs; i++) {
		const int64_t n = tensor_count(g->inputs[i].x), looked = n < ELEMENTS ? n : ELEMENTS;
		const double *gradient = g->inputs[i].gradient.data;
		double largest = 1e-3;

		for (int64_t e = 0; e < n; e++)
			largest = fmax(largest, fabs(gradient[e]));
		for (int64_t e = 0; e < looked; e++) {
			const int64_t at = looked == n ? e : trial_int(g->t, 0, (int)n - 1);
			const double want = difference(g, (double *)g->inputs[i].x.data + at);

			if (fabs(want - gradient[at]) <= TOLERANCE * largest)
				continue;
			snprintf(text, sizeof(text), "the gradient of %s is wrong in element %lld of %lld: %.9g, by differences %.9g",
				 g->inputs[i].name, (long long)at, (long long)n, gradient[at], want);
			return text;
		}
	}
	return NULL;
}

int grad_run_all(const struct options *o)
{
	struct kernels ref;
	struct queue *q;

	if (kernels_open(&ref, "ref", 1) || ref.queue_open(&ref, &q))
		return 1;
	for (int op = 0; op < OP_COUNT; op++) {
		const struct op_test *test = op_infos[op].test;
		const char *fault = NULL;
		struct trial t;

		if (!test->grads || !op_wanted(o, op))
			continue;
		for (int n = 0; n < test->grads && !fault; n++) {
			trial_init(&t, &ref, q, o->seed, (uint32_t)op, (uint32_t)n);
			fault = test->grad(&t, n);
			trial_release(&t);
		}
		tap(fault, "%s: %d cases against finite differences, --seed %llu", op_infos[op].name, test->grads, (unsigned long long)o->seed);
	}
	ref.queue_close(q);
	kernels_close(&ref);
	return 0;
}
