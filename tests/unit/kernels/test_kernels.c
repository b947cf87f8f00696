#include "kernels/kernels.h"

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

static void test_open(void **state)
{
	struct kernels k;

	(void)state;
	assert_int_equal(kernels_open(&k, "cuda", 1), -1);
	assert_string_equal(err_text(), "backend 'cuda' is not in this build");
	assert_int_equal(err_code(), EXIT_FAILED);
	assert_int_equal(kernels_open(&k, "gpu", 1), -1);
	assert_string_equal(err_text(), "no backend 'gpu': auto, cpu, ref");
	assert_int_equal(err_code(), EXIT_USAGE);
	assert_int_equal(kernels_open(&k, "ref", 0), 0);
	assert_string_equal(k.name, "ref");
	assert_true(k.threads >= 1);
	assert_true(k.dtypes & 1u << DTYPE_F64);
	kernels_close(&k);
	assert_int_equal(kernels_open(&k, "auto", 3), 0);
	assert_string_equal(k.name, "cpu");
	assert_int_equal(k.threads, 3);
	assert_int_equal(k.dtypes, 1u << DTYPE_F32);
	kernels_close(&k);
	assert_non_null(strstr(kernels_describe(), "ref cpu (c"));
}

/* Code is chosen by what the processor is said to have. */
static void test_masked(void **state)
{
	struct kernels k;

	(void)state;
	assert_int_equal(cpu_limit("none"), 0);
	assert_int_equal(kernels_open(&k, "cpu", 1), 0);
	assert_string_equal(k.via[OP_linear_fwd], "c");
	assert_string_equal(k.via[OP_xent], "ref");
	kernels_close(&k);
	assert_int_equal(cpu_limit("native"), 0);
	assert_int_equal(kernels_open(&k, "cpu", 1), 0);
	if (HAVE_AVX512 && cpu_has(CPU_AVX512))
		assert_string_equal(k.via[OP_linear_fwd], "avx512");
	kernels_close(&k);
}

static void test_memory(void **state)
{
	static const size_t sizes[] = { 0, 1, 1000, 5 << 20 };
	struct kernels k;

	(void)state;
	assert_int_equal(kernels_open(&k, "cpu", 1), 0);
	for (int i = 0; i < 4; i++) {
		unsigned char *p;

		assert_int_equal(k.alloc((void **)&p, sizes[i]), 0);
		assert_int_equal((uintptr_t)p % 64, 0);
		for (size_t n = 0; n < sizes[i]; n++)
			assert_int_equal(p[n], 0);
		k.free(p, sizes[i]);
	}
	k.free(NULL, 0);
	kernels_close(&k);
}

static void test_too_much_memory(void **state)
{
	struct kernels k;
	void *p;

	(void)state;
	assert_int_equal(kernels_open(&k, "cpu", 1), 0);
	assert_int_equal(k.alloc(&p, SIZE_MAX), -1);
	assert_string_equal(err_text(), "out of memory");
	assert_null(p);
	kernels_close(&k);
}

static void test_queue(void **state)
{
	const float from[3] = { 1, 2, 3 };
	float to[3];
	void *there;
	struct kernels k;
	struct queue *q;
	struct event *e;

	(void)state;
	assert_int_equal(kernels_open(&k, "auto", 1), 0);
	assert_int_equal(k.queue_open(&k, &q), 0);
	assert_int_equal(k.event_open(&e), 0);
	assert_int_equal(k.alloc(&there, sizeof(from)), 0);
	k.upload(q, there, from, sizeof(from));
	k.add(q, &(struct add){ .a = tensor_of(there, DTYPE_F32, 1, 3), .b = tensor_of(there, DTYPE_F32, 1, 3), .y = tensor_of(there, DTYPE_F32, 1, 3) });
	k.event_record(q, e);
	k.event_wait(q, e);
	k.download(q, to, there, sizeof(to));
	assert_int_equal(k.event_sync(e), 0);
	assert_int_equal(k.sync(q), 0);
	assert_true(to[0] == 2 && to[1] == 4 && to[2] == 6);
	k.free(there, sizeof(from));
	k.event_close(e);
	k.event_close(NULL);
	k.queue_close(q);
	k.queue_close(NULL);
	kernels_close(&k);
}

static void test_tensor(void **state)
{
	float x[12] = { 0 };
	const struct tensor t = tensor_of(x, DTYPE_F32, 4, 3);

	(void)state;
	assert_int_equal(tensor_bytes(t), 48);
	assert_ptr_equal(tensor_rows(t, 2, 1).data, x + 6);
	assert_int_equal(tensor_rows(t, 2, 1).rows, 1);
	assert_int_equal(tensor_shaped(t, 2, 6).cols, 6);
	assert_false(tensor_given((struct tensor){ 0 }));
	assert_string_equal(dtype_name(DTYPE_BF16), "bf16");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_open), cmocka_unit_test(test_masked), cmocka_unit_test(test_memory), cmocka_unit_test(test_too_much_memory),
		cmocka_unit_test(test_queue), cmocka_unit_test(test_tensor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
