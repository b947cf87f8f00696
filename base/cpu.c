#include "base/cpu.h"

#include "base/err.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#define HAVE_CPUID 1
#else
#define HAVE_CPUID 0
#endif

#define NOT_LOOKED (1u << 31)

static const struct {
	const char *name;
	unsigned feature, with;		/* WITH: itself and all it builds on */
} names[] = {
	{ "sse4.2", CPU_SSE42, CPU_SSE42 },
	{ "avx2", CPU_AVX2, CPU_AVX2 | CPU_SSE42 },
	{ "avx512", CPU_AVX512, CPU_AVX512 | CPU_AVX2 | CPU_SSE42 },
	{ "avx512-vbmi2", CPU_AVX512_VBMI2, CPU_AVX512_VBMI2 | CPU_AVX512 | CPU_AVX2 | CPU_SSE42 },
	{ "avx512-bf16", CPU_AVX512_BF16, CPU_AVX512_BF16 | CPU_AVX512 | CPU_AVX2 | CPU_SSE42 },
	{ "avx512-vnni", CPU_AVX512_VNNI, CPU_AVX512_VNNI | CPU_AVX512 | CPU_AVX2 | CPU_SSE42 },
	{ "neon", CPU_NEON, CPU_NEON },
	{ "none", 0, 0 },
	{ "native", 0, ~NOT_LOOKED },
};

static atomic_uint found = NOT_LOOKED;
static atomic_uint limit = ~NOT_LOOKED;

#if HAVE_CPUID
/* Register state that the operating system saves (XCR0): without it the instructions fault. */
static unsigned saved_state(void)
{
	unsigned low, high;

	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return low;
}

static bool all(unsigned reg, unsigned bits)
{
	return (reg & bits) == bits;
}

/* Bits as in Intel's Software Developer's Manual, volume 2, CPUID. */
static unsigned look(void)
{
	const unsigned fma_osxsave_avx_f16c = 1u << 12 | 1u << 27 | 1u << 28 | 1u << 29;
	const unsigned bmi_avx2_bmi2 = 1u << 3 | 1u << 5 | 1u << 8;
	const unsigned f_dq_bw_vl = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31;
	unsigned a, b, c, d, first_c, sub_a = 0, has = 0, state;

	if (!__get_cpuid(1, &a, &b, &first_c, &d))
		return 0;
	if (all(first_c, 1u << 20))
		has |= CPU_SSE42;
	if (!all(first_c, fma_osxsave_avx_f16c) || !__get_cpuid_count(7, 0, &a, &b, &c, &d))
		return has;
	state = saved_state();
	if (!all(state, 0x6) || !all(b, bmi_avx2_bmi2))
		return has;
	has |= CPU_AVX2;
	if (!all(state, 0xE6) || !all(b, f_dq_bw_vl))
		return has;
	has |= CPU_AVX512;
	if (a >= 1) {	/* EAX of subleaf 0: the last subleaf */
		unsigned ignored_b, ignored_c, ignored_d;

		__get_cpuid_count(7, 1, &sub_a, &ignored_b, &ignored_c, &ignored_d);
	}
	has |= all(c, 1u << 1 | 1u << 6) ? CPU_AVX512_VBMI2 : 0;
	has |= all(c, 1u << 11) ? CPU_AVX512_VNNI : 0;
	has |= all(sub_a, 1u << 5) ? CPU_AVX512_BF16 : 0;
	return has;
}
#elif defined(__aarch64__)
static unsigned look(void)
{
	return CPU_NEON;	/* part of the architecture */
}
#else
static unsigned look(void)
{
	return 0;
}
#endif

unsigned cpu_features(void)
{
	unsigned f = atomic_load_explicit(&found, memory_order_relaxed);

	if (f == NOT_LOOKED) {		/* several threads may look; they see the same */
		f = look();
		atomic_store_explicit(&found, f, memory_order_relaxed);
	}
	return f & atomic_load_explicit(&limit, memory_order_relaxed);
}

int cpu_limit(const char *list)
{
	const size_t n = sizeof(names) / sizeof(names[0]);
	unsigned allowed = 0;

	for (;;) {
		const size_t len = strcspn(list, ",");
		size_t i = 0;

		while (i < n && (strlen(names[i].name) != len || memcmp(names[i].name, list, len)))
			i++;
		if (i == n)
			return err_usage("unknown processor feature '%.*s'", (int)(len < 100 ? len : 100), list);
		allowed |= names[i].with;
		if (!list[len])
			break;
		list += len + 1;
	}
	atomic_store_explicit(&limit, allowed, memory_order_relaxed);
	return 0;
}

void cpu_describe(char *out, unsigned long n)
{
	const unsigned has = cpu_features();
	size_t len = 0;

	if (!n)
		return;
	out[0] = 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		int wrote;

		if (!(has & names[i].feature))
			continue;
		wrote = snprintf(out + len, n - len, "%s%s", len ? " " : "", names[i].name);
		if (wrote < 0 || (size_t)wrote >= n - len)
			return;
		len += (size_t)wrote;
	}
}
