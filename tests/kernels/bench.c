/*
 * bench.c - GFLOP/s and GB/s of every op, beside what the machine can do. BERTTOOLS_CPU=avx2 in the environment shows the
 * code for lesser processors (base/cpu.h).
 */
#include "tests/kernels/harness.h"

#include <time.h>

#include "base/cpu.h"

#define SECONDS 0.15		/* at least, per line */

/* One thread's own time, where there is only one: the machine may be busy with others. */
static clockid_t timer = CLOCK_MONOTONIC;

static double now(void)
{
	struct timespec t;

	clock_gettime(timer, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The best of several runs: others use the machine too. */
static double best_time(struct trial *t, enum op op)
{
	const double end = now() + SECONDS;
	double best = 1e9;

	trial_run(t, op);
	for (int runs = 0; runs < 3 || now() < end; runs++) {
		const double start = now();

		trial_run(t, op);
		if (now() - start < best)
			best = now() - start;
	}
	return best;
}

/* GB/s of memory, read and written, by memcpy on one thread. */
static double copy_rate(void)
{
	const size_t bytes = (size_t)64 << 20;
	char *a = calloc(1, bytes), *b = calloc(1, bytes);
	double best = 1e9;

	for (int runs = 0; a && b && runs < 6; runs++) {
		const double start = now();

		memcpy(runs % 2 ? a : b, runs % 2 ? b : a, bytes);
		if (runs > 1 && now() - start < best)
			best = now() - start;
	}
	free(a);
	free(b);
	return 2.0 * (double)bytes / best * 1e-9;
}

/* GFLOP/s of one thread that does nothing but multiply and add in registers, with the widest vectors there are. */
#define PEAK(name, isa, bytes) \
	__attribute__((target(isa))) static double name(void) \
	{ \
		typedef float v __attribute__((vector_size(bytes))); \
		enum { SUMS = 12, TIMES = 2000000 }; \
		v sum[SUMS], x = { 0 }; \
		double start = now(), total = 0; \
		x += 0.999f; \
		for (int i = 0; i < SUMS; i++) \
			sum[i] = x; \
		for (int t = 0; t < TIMES; t++) { \
			_Pragma("GCC unroll 12") for (int i = 0; i < SUMS; i++) \
				sum[i] = sum[i] * x + x; \
		} \
		start = now() - start; \
		for (int i = 0; i < SUMS; i++) \
			total += (double)sum[i][0]; \
		return total == 0 ? 0 : 2.0 * SUMS * TIMES * (bytes / 4) / start * 1e-9; \
	}
#if HAVE_AVX512
PEAK(peak_avx512, "avx512f", 64)
#endif
#if HAVE_AVX2
PEAK(peak_avx2, "avx2,fma", 32)
#endif

static double peak_rate(void)
{
#if HAVE_AVX512
	if (cpu_has(CPU_AVX512))
		return peak_avx512();
#endif
#if HAVE_AVX2
	if (cpu_has(CPU_AVX2))
		return peak_avx2();
#endif
	return 0;
}

static void bench_op(const struct options *o, const struct kernels *ref, struct queue *ref_q, const struct kernels *k, struct queue *q, enum op op, double peak)
{
	for (int n = 0; n < op_infos[op].test->benches; n++) {
		struct trial made, t;
		double seconds;

		trial_init(&made, ref, ref_q, o->seed, (uint32_t)op, (uint32_t)n);
		op_infos[op].test->bench(&made, made.args, n);
		trial_copy(&t, &made, k, q, DTYPE_F32, 0);
		seconds = best_time(&t, op);
		printf("%-18s %-6s %-34s %9.3f ms", op_infos[op].name, k->via[op], t.label, seconds * 1e3);
		if (t.flops > 0 && peak > 0)
			printf(" %8.1f GFLOP/s (%2.0f%%)", t.flops / seconds * 1e-9, t.flops / seconds * 1e-7 / (peak * k->threads));
		else if (t.flops > 0)
			printf(" %8.1f GFLOP/s      ", t.flops / seconds * 1e-9);
		else
			printf(" %8s              ", "");
		printf(" %7.1f GB/s\n", t.bytes / seconds * 1e-9);
		fflush(stdout);
		trial_release(&t);
		trial_release(&made);
	}
}

int bench_run(const struct options *o)
{
	const struct variant v = { o->backend ? o->backend : "cpu", NULL, NULL };
	struct kernels ref, k;
	struct queue *ref_q, *q;
	const char *features = getenv("BERTTOOLS_CPU");
	double peak;

	if (features && cpu_limit(features))
		return 1;
	if (kernels_open(&ref, "ref", 1) || ref.queue_open(&ref, &ref_q) || !variant_open(&v, o, &k, &q))
		return 1;
	if (k.threads == 1)
		timer = CLOCK_THREAD_CPUTIME_ID;
	peak = peak_rate();
	printf("%s, %u threads, matrix products by %s; one thread alone: %.0f GFLOP/s in registers, %.1f GB/s by memcpy\n", k.name, k.threads, k.gemm, peak, copy_rate());
	for (int op = 0; op < OP_COUNT; op++) {
		if (op_wanted(o, op))
			bench_op(o, &ref, ref_q, &k, q, (enum op)op, peak);
	}
	variant_close(&k, q);
	ref.queue_close(ref_q);
	kernels_close(&ref);
	return 0;
}
