/* Padded tensors: what a file may hold, padding anywhere, and more sequences than one batch takes. */
#include "base/rng.h"
#include "model/padded.h"
#include "tests/unit/model/tiny.h"

struct tensor_in {
	const char *name;
	enum safetensors_dtype dtype;
	int64_t rows, cols;
	const void *data;
};

static void write_tensors(const char *path, const struct tensor_in *list, size_t n)
{
	struct safetensor entries[8] = { { .name = NULL } };
	struct safetensors_writer *w;

	for (size_t i = 0; i < n; i++)
		entries[i] = (struct safetensor){ .name = list[i].name, .dtype = list[i].dtype, .n_dims = 2, .shape = { list[i].rows, list[i].cols } };
	OK(safetensors_create(&w, path, entries, n));
	for (size_t i = 0; i < n; i++)
		OK(safetensors_put(w, list[i].data, (size_t)(list[i].rows * list[i].cols) * safetensors_dtype_size(list[i].dtype)));
	OK(safetensors_commit(w));
}

/* Every type of number that people save. */
static void test_types(void **state)
{
	static const int64_t ids[] = { 5, 6, 7, 8, 0, 0 };
	static const int16_t short_ids[] = { 5, 6, 7, 8, 0, 0 };
	static const unsigned char bools[] = { 1, 1, 1, 1, 0, 0 };
	static const float floats[] = { 1, 1, 1, 1, 0, 0 };
	static const uint64_t longs[] = { 0, 1, 1, 0, 0, 0 };
	const struct tensor_in files[][3] = {
		{ { "input_ids", ST_I64, 2, 3, ids }, { "attention_mask", ST_BOOL, 2, 3, bools }, { "token_type_ids", ST_U64, 2, 3, longs } },
		{ { "in.input_ids", ST_I16, 2, 3, short_ids }, { "in.attention_mask", ST_F32, 2, 3, floats }, { "in.token_type_ids", ST_U64, 2, 3, longs } },
	};
	const char *path = tiny_in(state, "in");
	struct padded_input in;

	for (size_t i = 0; i < 2; i++) {
		write_tensors(path, files[i], 3);
		OK(padded_read(&in, path));
		assert_true(in.B == 2 && in.S == 3);
		assert_memory_equal(in.ids, ((int32_t[]){ 5, 6, 7, 8, 0, 0 }), 24);
		assert_memory_equal(in.types, ((int32_t[]){ 0, 1, 1, 0, 0, 0 }), 24);
		assert_memory_equal(in.mask, bools, 6);
		padded_input_release(&in);
	}
	write_tensors(path, files[0], 1);
	OK(padded_read(&in, path));
	assert_memory_equal(in.mask, ((unsigned char[]){ 1, 1, 1, 1, 1, 1 }), 6);
	assert_memory_equal(in.types, ((int32_t[6]){ 0 }), 24);
	padded_input_release(&in);
}

static void test_refused(void **state)
{
	static const int64_t ids[] = { 1, 2, 3, 4294967297, 5, 6 };
	static const float halves[] = { 1, 1, 0.5f, 1, 1, 1 };
	static const int32_t twos[] = { 1, 1, 1, 1, 2, 1 }, plain[] = { 1, 2, 3, 4, 5, 6 };
	const struct {
		struct tensor_in list[2];
		const char *says;
	} cases[] = {
		{ { { "ids", ST_I64, 2, 3, ids }, { "mask", ST_I32, 2, 3, twos } }, "it has no tensor 'input_ids'" },
		{ { { "input_ids", ST_I64, 2, 3, ids }, { "mask", ST_I32, 2, 3, twos } }, "'input_ids' [1, 0] is no number" },
		{ { { "input_ids", ST_F32, 2, 3, halves }, { "mask", ST_I32, 2, 3, twos } }, "'input_ids' [0, 2] is no number" },
		{ { { "input_ids", ST_F16, 2, 3, ids }, { "mask", ST_I32, 2, 3, twos } }, "'input_ids' [0, 0] is no number" },
		{ { { "input_ids", ST_I32, 2, 0, plain }, { "mask", ST_I32, 2, 3, twos } }, "'input_ids' is not [sequences, tokens]" },
		{ { { "input_ids", ST_I32, 2, 3, plain }, { "attention_mask", ST_I32, 3, 2, twos } }, "'attention_mask' has another shape" },
		{ { { "input_ids", ST_I32, 2, 3, plain }, { "attention_mask", ST_I32, 2, 3, twos } }, "'attention_mask' [1, 1]" },
		{ { { "input_ids", ST_I32, 2, 3, plain }, { "attention_mask", ST_F32, 2, 3, halves } }, "'attention_mask' [0, 2]" },
		{ { { "input_ids", ST_I32, 2, 3, plain }, { "token_type_ids", ST_I32, 1, 6, twos } }, "'token_type_ids' has another shape" },
	};
	const char *path = tiny_in(state, "in");
	struct padded_input in;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		write_tensors(path, cases[i].list, 2);
		FAILS(padded_read(&in, path), EXIT_FAILED, cases[i].says);
	}
	FAILS(padded_read(&in, "/nonexistent/file"), EXIT_FAILED, "/nonexistent/file");
}

/* Ids, types and columns that the model does not have; at padding anything may stand. */
static void test_not_the_models(void **state)
{
	struct ground g;
	struct model m;
	int32_t ids[26] = { 0 }, types[26] = { 0 };
	unsigned char mask[26] = { 1, 1, [13] = 1 };
	const struct padded_input in = { .B = 2, .S = 13, .ids = ids, .types = types, .mask = mask };
	const struct padded_wanted wanted = { .hidden = false };
	struct padded_outputs out;

	(void)state;
	ground_open(&g, "ref");
	tiny_load(&m, &g, HEAD_NONE, DTYPE_F32);
	ids[5] = 1000;
	types[6] = -3;
	OK(padded_run(&m, &in, &wanted, &out));
	padded_outputs_release(&out);
	ids[1] = 40;
	FAILS(padded_run(&m, &in, &wanted, &out), EXIT_FAILED, "'input_ids' [0, 1] is 40, and this model's ids are 0 to 39");
	ids[1] = 39;
	types[13] = 2;
	FAILS(padded_run(&m, &in, &wanted, &out), EXIT_FAILED, "'token_type_ids' [1, 0] is 2");
	types[13] = 0;
	mask[12] = 1;
	FAILS(padded_run(&m, &in, &wanted, &out), EXIT_FAILED, "sequence 0 has a token in column 12");
	model_release(&m);
	ground_close(&g);
}

/* A great many sequences, padded anyhow: each as if it came alone. */
static void test_many(void **state)
{
	enum { B = 900, S = 12 };
	static const enum head heads[] = { HEAD_NONE, HEAD_MLM, HEAD_CLASSIFY, HEAD_SPAN };
	int32_t *ids = calloc(B * S, sizeof(*ids)), *types = calloc(B * S, sizeof(*types));
	unsigned char *mask = calloc(B * S, sizeof(*mask));
	const struct padded_input all = { .B = B, .S = S, .ids = ids, .types = types, .mask = mask };
	const struct padded_wanted wanted = { .hidden = true, .attention = true };
	struct rng r;

	(void)state;
	rng_open(&r, 6, RNG_TEST, 0, 0, 0, 0, 0);
	for (int i = 0; i < B * S; i++) {
		ids[i] = (int32_t)rng_below(&r, 40);
		types[i] = (int32_t)rng_below(&r, 2);
		mask[i] = i / S % 50 && rng_below(&r, 2);	/* every fiftieth is nothing but padding */
	}
	for (size_t h = 0; h < sizeof(heads) / sizeof(heads[0]); h++) {
		struct ground g;
		struct model m;
		struct padded_outputs out;

		ground_open(&g, "cpu");
		tiny_load(&m, &g, heads[h], DTYPE_F32);
		OK(padded_run(&m, &all, &wanted, &out));
		for (int b = 0; b < B; b += 1 + (int)rng_below(&r, 40)) {
			const struct padded_input one = { .B = 1, .S = S, .ids = ids + b * S, .types = types + b * S, .mask = mask + b * S };
			struct padded_outputs alone;

			OK(padded_run(&m, &one, &wanted, &alone));
			assert_int_equal(alone.count, out.count);
			for (size_t i = 0; i < out.count; i++) {
				const size_t n = (size_t)alone.items[i].entry.count;

				assert_int_equal(out.items[i].entry.count, n * B);
				assert_memory_equal(alone.items[i].data, out.items[i].data + (size_t)b * n, n * sizeof(float));
			}
			padded_outputs_release(&alone);
		}
		padded_outputs_release(&out);
		model_release(&m);
		ground_close(&g);
	}
	free(mask);
	free(types);
	free(ids);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_types, tiny_enter, tiny_leave),
		cmocka_unit_test_setup_teardown(test_refused, tiny_enter, tiny_leave),
		cmocka_unit_test(test_not_the_models),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
