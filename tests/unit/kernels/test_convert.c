#include "kernels/convert.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* Every value of 16 bits comes back as it was. */
static void test_round_trip(void **state)
{
	(void)state;
	for (uint32_t h = 0; h < 65536; h++) {
		const uint16_t bits = (uint16_t)h;
		const float b = f32_of_bf16(bits), f = f32_of_f16(bits);

		if (isnan(b))
			assert_true(isnan(f32_of_bf16(bf16_of_f32(b))));
		else
			assert_int_equal(bf16_of_f32(b), bits);
		if (isnan(f))
			assert_true(isnan(f32_of_f16(f16_of_f32(f))));
		else
			assert_int_equal(f16_of_f32(f), bits);
	}
}

/* Between neighbours: to the nearer one, in the middle to the even one. */
static void check_between(float (*get)(uint16_t), uint16_t (*put)(float), uint16_t low)
{
	const double a = (double)get(low), b = (double)get((uint16_t)(low + 1)), middle = (a + b) / 2;

	assert_int_equal(put((float)middle), low % 2 ? low + 1 : low);
	assert_int_equal(put(nextafterf((float)middle, (float)a)), low);
	assert_int_equal(put(nextafterf((float)middle, (float)b)), low + 1);
}

static void test_rounding(void **state)
{
	(void)state;
	for (uint32_t h = 0; h < 0x7BFF; h++)		/* up to the largest finite F16 */
		check_between(f32_of_f16, f16_of_f32, (uint16_t)h);
	for (uint32_t h = 0x8000; h < 0xFBFF; h++)
		check_between(f32_of_f16, f16_of_f32, (uint16_t)h);
	for (uint32_t h = 1; h < 0x7F7F; h += 7)
		check_between(f32_of_bf16, bf16_of_f32, (uint16_t)h);
}

static void test_known(void **state)
{
	(void)state;
	assert_int_equal(f16_of_f32(1), 0x3C00);
	assert_int_equal(f16_of_f32(-2), 0xC000);
	assert_int_equal(f16_of_f32(65504), 0x7BFF);
	assert_int_equal(f16_of_f32(65519.99f), 0x7BFF);
	assert_int_equal(f16_of_f32(65520), 0x7C00);
	assert_int_equal(f16_of_f32(0x1p-24f), 1);
	assert_int_equal(f16_of_f32(0x1p-26f), 0);
	assert_int_equal(bf16_of_f32(1), 0x3F80);
	assert_int_equal(bf16_of_f32(3.4e38f), 0x7F80);
	assert_int_equal(bf16_of_f32(-INFINITY), 0xFF80);
	assert_true(isnan(f32_of_bf16(bf16_of_f32(f32_of_bits(0x7F800001)))));
}

static void test_elements(void **state)
{
	unsigned char memory[32] = { 0 };

	(void)state;
	for (enum dtype d = 0; d < DTYPE_COUNT; d++) {
		element_put(memory, d, 2, -1.5);
		assert_true(element_get(memory, d, 2) == -1.5);
		assert_int_equal(dtype_size(d), d == DTYPE_F64 ? 8 : d == DTYPE_F32 ? 4 : 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip), cmocka_unit_test(test_rounding), cmocka_unit_test(test_known), cmocka_unit_test(test_elements),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
