/* check.c - every op on random and extreme inputs, against ref in double. */
#include "tests/kernels/harness.h"

#include <math.h>

/*
 * Runs it once more, on one thread and elsewhere in memory: the bits must be those of GOT. (oneDNN promises as much for
 * equal threads only.)
 */
static const char *run_again(const struct trial *got, const struct trial *made, enum op op)
{
	struct kernels single = *got->k;
	struct trial again;
	struct queue *q;
	const char *fault;

	if (!strstr(single.gemm, "dnnl"))
		single.threads = 1;
	if (single.queue_open(&single, &q))
		return "no queue";
	trial_copy(&again, made, &single, q, DTYPE_F32, 1);
	trial_run(&again, op);
	fault = trial_damage(&again);
	if (!fault && !trial_same(got, &again))
		fault = "one thread, or another alignment, gives other bits";
	trial_release(&again);
	single.queue_close(q);
	return fault;
}

/* Case N of OP. *WORST: the largest error there was, in units of the tolerance. */
static const char *run_case(const struct options *o, const struct kernels *ref, struct queue *ref_q, const struct kernels *k, struct queue *q,
			    enum op op, int n, double *worst)
{
	struct trial made, want, got;
	const char *fault;

	trial_init(&made, ref, ref_q, o->seed, (uint32_t)op, (uint32_t)n);
	op_infos[op].test->make(&made, made.args, n);
	trial_round(&made);
	trial_copy(&want, &made, ref, ref_q, DTYPE_F64, 0);
	trial_run(&want, op);
	fault = trial_damage(&want);
	trial_copy(&got, &made, k, q, DTYPE_F32, 0);
	trial_run(&got, op);
	if (!fault)
		fault = trial_damage(&got);
	if (!fault)
		fault = trial_compare(&got, &want, op_infos[op].tolerance, worst);
	if (!fault)
		fault = run_again(&got, &made, op);
	trial_release(&got);
	trial_release(&want);
	trial_release(&made);
	return fault;
}

static void check_op(const struct options *o, const struct kernels *ref, struct queue *ref_q, const struct kernels *k, struct queue *q,
		     const char *variant, enum op op)
{
	const int cases = op_infos[op].test->cases;
	const char *fault = NULL;
	double worst = 0;
	int n;

	for (n = 0; n < cases && !fault; n++)
		fault = run_case(o, ref, ref_q, k, q, op, n, &worst);
	if (fault)
		tap(fault, "%s, %s (%s): case %d, --seed %llu", op_infos[op].name, variant, k->via[op], n - 1, (unsigned long long)o->seed);
	else
		tap(NULL, "%s, %s (%s): %d cases, error at most %.2f of the tolerance", op_infos[op].name, variant, k->via[op], cases, worst);
}

int check_run(const struct options *o)
{
	struct kernels ref, k;
	struct queue *ref_q, *q;

	if (kernels_open(&ref, "ref", 1) || ref.queue_open(&ref, &ref_q))
		return 1;
	for (int v = 0; v < n_variants; v++) {
		if (!variant_open(&variants[v], o, &k, &q))
			continue;
		for (int op = 0; op < OP_COUNT; op++) {
			if (op_wanted(o, op))
				check_op(o, &ref, ref_q, &k, q, variants[v].name, (enum op)op);
		}
		variant_close(&k, q);
	}
	ref.queue_close(ref_q);
	kernels_close(&ref);
	return 0;
}
