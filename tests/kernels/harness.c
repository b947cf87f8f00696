/*
 * harness.c - checks and times every op of every backend.
 *
 *	harness [--op NAME] [--backend NAME] [--threads N] [--seed N] check|grad|packing|dropout|bench|list ...
 */
#include "tests/kernels/harness.h"

#include <getopt.h>
#include <stdarg.h>

#include "base/cpu.h"
#include "base/err.h"

const struct variant variants[] = {
	{ "ref", "native", "ref" }, { "cpu", "none", "cpu c" }, { "cpu", "avx2", "cpu avx2" }, { "cpu", "native", "cpu native" },
};
const int n_variants = TRIAL_COUNT(variants);

int variant_open(const struct variant *v, const struct options *o, struct kernels *k, struct queue **q)
{
	if (o->backend && strcmp(o->backend, v->backend))
		return 0;
	if (v->features && (cpu_limit("native") || (!strcmp(v->features, "avx2") && !cpu_has(CPU_AVX2)) || cpu_limit(v->features)))
		return 0;
	if (kernels_open(k, v->backend, o->threads) || k->queue_open(k, q)) {
		fprintf(stderr, "harness: %s\n", err_text());
		exit(1);
	}
	return 1;
}

void variant_close(struct kernels *k, struct queue *q)
{
	k->queue_close(q);
	kernels_close(k);
	(void)cpu_limit("native");
}

static int tap_count, tap_failed;

void tap(const char *fault, const char *fmt, ...)
{
	va_list ap;

	printf("%sok %d - ", fault ? "not " : "", ++tap_count);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	if (fault)
		printf("# %s\n", fault);
	fflush(stdout);
	tap_failed += fault != NULL;
}

static int tap_end(void)
{
	if (tap_count)
		printf("1..%d\n", tap_count);
	return tap_failed != 0;
}

bool op_wanted(const struct options *o, int op) { return !o->op || !strcmp(o->op, op_infos[op].name); }

static int list_run(const struct options *o)
{
	struct kernels k;
	struct queue *q;

	printf("%-18s %-8s %-5s", "op", "f32", "cuda");
	for (int v = 1; v < n_variants; v++)
		printf(" %-11s", variants[v].name);
	printf(" what\n");
	for (int op = 0; op < OP_COUNT; op++) {
		if (!op_wanted(o, op))
			continue;
		printf("%-18s %-8g %-5s", op_infos[op].name, op_infos[op].tolerance, op_infos[op].cuda ? "yes" : "-");
		for (int v = 1; v < n_variants; v++) {
			const bool open = variant_open(&variants[v], o, &k, &q);

			printf(" %-11s", open ? k.via[op] : "-");
			if (open)
				variant_close(&k, q);
		}
		printf(" %s\n", op_infos[op].what);
	}
	return 0;
}

static int usage(void)
{
	fprintf(stderr, "usage: harness [--op NAME] [--backend NAME] [--threads N] [--seed N] check|grad|packing|dropout|bench|list ...\n");
	return 2;
}

int main(int argc, char **argv)
{
	static const struct option table[] = {
		{ "op", 1, NULL, 'o' }, { "backend", 1, NULL, 'b' }, { "threads", 1, NULL, 't' }, { "seed", 1, NULL, 's' }, { 0 },
	};
	static const struct { const char *name; int (*run)(const struct options *o); } modes[] = {
		{ "check", check_run }, { "grad", grad_run_all }, { "packing", packing_run }, { "dropout", dropout_run }, { "bench", bench_run }, { "list", list_run },
	};
	struct options o = { .seed = 12345, .threads = 2 };
	int c;

	while ((c = getopt_long(argc, argv, "", table, NULL)) != -1) {
		if (c == 'o')
			o.op = optarg;
		else if (c == 'b')
			o.backend = optarg;
		else if (c == 't')
			o.threads = (unsigned)strtoul(optarg, NULL, 10);
		else if (c == 's')
			o.seed = strtoull(optarg, NULL, 10);
		else
			return usage();
	}
	for (int at = optind; at < argc; at++) {
		int i = 0;

		while (i < TRIAL_COUNT(modes) && strcmp(argv[at], modes[i].name))
			i++;
		if (i == TRIAL_COUNT(modes) || modes[i].run(&o))
			return i == TRIAL_COUNT(modes) ? usage() : 1;
	}
	return optind == argc ? usage() : tap_end();
}
