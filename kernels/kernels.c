/* kernels.c - opens backends. */
#include "kernels/kernels.h"

#include "base/err.h"
#include "base/pool.h"
#include "kernels/host.h"

const char *const kernels_backends[] = { "auto", "cpu", "ref", "cuda" };

int kernels_open(struct kernels *k, const char *backend, unsigned threads)
{
	const bool automatic = !strcmp(backend, "auto");

	*k = (struct kernels){ 0 };
	if (!strcmp(backend, "cuda"))
		return err_fail("backend 'cuda' is not in this build");
	if (!automatic && strcmp(backend, "cpu") && strcmp(backend, "ref"))
		return err_usage("no backend '%s': auto, cpu, ref", backend);
	host_fill(k, threads ? threads : pool_allowed_threads());
	ref_fill(k);
	if (automatic || !strcmp(backend, "cpu"))
		cpu_fill(k);
	return 0;
}

void kernels_close(struct kernels *k) { *k = (struct kernels){ 0 }; }

size_t kernels_space(const struct kernels *k, enum op op, const void *args)
{
	return k->space[op] ? k->space[op](k, args) : 0;
}

#if HAVE_AVX2
#define WITH_AVX2 " avx2"
#else
#define WITH_AVX2
#endif
#if HAVE_AVX512
#define WITH_AVX512 " avx512"
#else
#define WITH_AVX512
#endif
#if HAVE_DNNL
#define WITH_DNNL ", dnnl"
#else
#define WITH_DNNL
#endif

const char *kernels_describe(void) { return "ref cpu (c" WITH_AVX2 WITH_AVX512 WITH_DNNL ")"; }
