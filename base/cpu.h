/*
 * cpu.h - what this processor can do, found at run time, maskable so that one
 * machine can test the code of lesser ones.
 */
#ifndef BASE_CPU_H
#define BASE_CPU_H

#include <stdbool.h>

enum cpu_feature {
	CPU_SSE42 = 1 << 0,
	CPU_AVX2 = 1 << 1,		/* with FMA, F16C, BMI and BMI2 */
	CPU_AVX512 = 1 << 2,		/* F, BW, DQ, VL */
	CPU_AVX512_VBMI2 = 1 << 3,	/* VBMI and VBMI2 */
	CPU_AVX512_BF16 = 1 << 4,
	CPU_AVX512_VNNI = 1 << 5,
	CPU_NEON = 1 << 6,
};

/* Features present, supported by the operating system, and not masked. */
unsigned cpu_features(void);
static inline bool cpu_has(unsigned features) { return (cpu_features() & features) == features; }

/*
 * Limits what cpu_features reports from now on: a comma list of cpu_describe's
 * names, each of which allows that and everything it builds on ("avx2" allows
 * "sse4.2" too), or "none" (plain C), or "native" (no limit). -1 with the reason
 * set (EXIT_USAGE) for a name it does not know. The environment variable
 * BERTTOOLS_CPU does the same for every program (base/args.h).
 */
int cpu_limit(const char *names);

/* "sse4.2 avx2 avx512 avx512-vbmi2 avx512-bf16 avx512-vnni", "neon" or "", as cpu_features has it, into OUT; for --version. */
void cpu_describe(char *out, unsigned long n);

#endif
