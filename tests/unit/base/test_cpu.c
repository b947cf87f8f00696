#include "base/cpu.h"

#include "base/err.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void test_limit(void **state)
{
	const unsigned native = cpu_features();

	(void)state;
	assert_int_equal(cpu_limit("none"), 0);
	assert_int_equal(cpu_features(), 0);
	assert_true(cpu_has(0));
	assert_false(cpu_has(CPU_SSE42));
	assert_int_equal(cpu_limit("avx2"), 0);
	assert_int_equal(cpu_features(), native & (CPU_AVX2 | CPU_SSE42));
	assert_int_equal(cpu_limit("avx512-vnni,neon"), 0);
	assert_int_equal(cpu_features(), native & (CPU_AVX512_VNNI | CPU_AVX512 | CPU_AVX2 | CPU_SSE42 | CPU_NEON));
	assert_int_equal(cpu_limit("native"), 0);
	assert_int_equal(cpu_features(), native);
}

static void test_unknown_name(void **state)
{
	const unsigned native = cpu_features();

	(void)state;
	assert_int_equal(cpu_limit("sse4.2,avx3"), -1);
	assert_string_equal(err_text(), "unknown processor feature 'avx3'");
	assert_int_equal(err_code(), EXIT_USAGE);
	assert_int_equal(cpu_limit(""), -1);
	assert_int_equal(cpu_limit("avx2,"), -1);
	assert_int_equal(cpu_limit("avx"), -1);
	assert_int_equal(cpu_features(), native);
}

/* What builds on something has it. */
static void test_consistent(void **state)
{
	const unsigned f = cpu_features();

	(void)state;
	if (f & (CPU_AVX512_BF16 | CPU_AVX512_VBMI2 | CPU_AVX512_VNNI))
		assert_true(cpu_has(CPU_AVX512));
	if (f & CPU_AVX512)
		assert_true(cpu_has(CPU_AVX2));
	if (f & CPU_AVX2)
		assert_true(cpu_has(CPU_SSE42));
}

/* The kernel's own finding, where it tells. */
static void test_as_the_kernel_says(void **state)
{
	static const struct {
		const char *flag;
		unsigned feature;
	} flags[] = {
		{ " sse4_2 ", CPU_SSE42 }, { " avx2 ", CPU_AVX2 }, { " avx512vl ", CPU_AVX512 },
		{ " avx512_vbmi2 ", CPU_AVX512_VBMI2 }, { " avx512_vnni ", CPU_AVX512_VNNI },
		{ " avx512_bf16 ", CPU_AVX512_BF16 },
	};
	FILE *f = fopen("/proc/cpuinfo", "r");
	char *line = NULL, *end;
	size_t cap = 0;

	(void)state;
	while (f && getline(&line, &cap, f) > 0 && strncmp(line, "flags", 5))
		continue;
	if (f)
		fclose(f);
	if (line && strncmp(line, "flags", 5) == 0) {
		end = strchr(line, '\n');
		if (end)
			*end = ' ';
		for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
			assert_int_equal(cpu_has(flags[i].feature), strstr(line, flags[i].flag) != NULL);
	}
	free(line);
}

static void test_describe(void **state)
{
	char text[256], cut[8];

	(void)state;
	cpu_limit("none");
	cpu_describe(text, sizeof(text));
	assert_string_equal(text, "");
	cpu_limit("native");
	cpu_describe(text, sizeof(text));
	if (*text) {
		for (char *c = text; *c; c++)
			if (*c == ' ')
				*c = ',';
		const unsigned native = cpu_features();

		assert_int_equal(cpu_limit(text), 0);	/* its words are those that cpu_limit knows */
		assert_int_equal(cpu_features(), native);
	}
	cpu_describe(cut, sizeof(cut));
	assert_true(strlen(cut) < sizeof(cut));
	cpu_describe(cut, 1);
	assert_string_equal(cut, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_unknown_name),
		cmocka_unit_test(test_consistent),
		cmocka_unit_test(test_as_the_kernel_says),
		cmocka_unit_test(test_describe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
