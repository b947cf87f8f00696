#include "base/clean_text.h"

#include "base/cpu.h"

clean_text_scan *clean_text_best(void)
{
#if HAVE_AVX512
	if (cpu_has(CPU_AVX512))
		return clean_text_avx512;
#endif
#if HAVE_AVX2
	if (cpu_has(CPU_AVX2))
		return clean_text_avx2;
#endif
	return NULL;
}
