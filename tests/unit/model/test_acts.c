/* Memory of passes: known before, kept to, and enough. */
#include "tests/unit/model/passes.h"

static const enum acts_mode modes[] = { ACTS_FORWARD, ACTS_HIDDEN, ACTS_RECOMPUTE, ACTS_TRAIN };
static const char *const backends[] = { "ref", "cpu" };

/* The plan is what is allocated, rises with the mode and with the batch, and asks nothing of the weights. */
static void test_plan(void **state)
{
	const struct batch_limits small = { .B = 2, .T = 16, .P = 4 }, large = { .B = 4, .T = 64, .P = 20 };

	(void)state;
	for (int k = 0; k < 2; k++) {
		struct ground g;
		struct model m;
		struct config c;
		size_t before = 0;

		ground_open(&g, backends[k]);
		tiny_config(&c, "{\"num_hidden_layers\": 6}");
		OK(model_init(&m, &g.k, g.q, &c, DTYPE_F32));
		for (int i = 0; i < 4; i++) {
			struct acts a;
			size_t bytes, less;

			OK(acts_plan(&m, &large, modes[i], &bytes));
			OK(acts_plan(&m, &small, modes[i], &less));
			OK(acts_open(&a, &m, &large, modes[i]));
			assert_int_equal(bytes, a.bytes + a.space_bytes);
			assert_true(bytes > before && less < bytes);
			before = bytes;
			acts_close(&a);
		}
		model_release(&m);
		ground_close(&g);
	}
}

/* The size that training needs, counted by hand. */
static void test_size(void **state)
{
	const struct batch_limits max = { .B = 16, .T = 160, .P = 16 };
	struct ground g;
	struct model m;
	struct config c;
	struct acts a;
	int64_t T = 160, H = 16, F = 24, P = 16, B = 16, per_layer, rest;

	(void)state;
	ground_open(&g, "ref");
	tiny_config(&c, "{}");
	OK(model_init(&m, &g.k, g.q, &c, DTYPE_F32));
	OK(acts_open(&a, &m, &max, ACTS_TRAIN));
	per_layer = T * (3 * H + H + 2 + H + 2 + H + F + F + H + 2);
	rest = T * (2 + 3 * H) + B * (3 * H + 2) + P * (3 * H + 2 + H);
	rest += T * (H + H + 4 * H) + B * (2 + 2 * H) + P * 2 * H;
	assert_int_equal(a.bytes, 4 * (2 * per_layer + rest));
	acts_close(&a);
	model_release(&m);
	ground_close(&g);
}

/* No batch is too large to be refused. */
static void test_too_large(void **state)
{
	const struct batch_limits max = { .B = 1 << 30, .T = 2000000000, .P = 2000000000 };
	struct ground g;
	struct model m;
	struct config c;
	size_t bytes;

	(void)state;
	ground_open(&g, "ref");
	tiny_config(&c, "{\"num_hidden_layers\": 4096, \"hidden_size\": 1048576, \"intermediate_size\": 1048576}");
	OK(model_init(&m, &g.k, g.q, &c, DTYPE_F32));
	FAILS(acts_plan(&m, &max, ACTS_TRAIN, &bytes), EXIT_FAILED, "more memory than there is");
	model_release(&m);
	ground_close(&g);
}

/* In every mode the same hidden states; what is shared and what is kept. */
static void test_modes(void **state)
{
	static const int lengths[] = { 12, 3, 8, 0 };

	(void)state;
	for (int k = 0; k < 2; k++) {
		struct ground g;
		struct model m;
		struct batch b;
		float *last = NULL;

		ground_open(&g, backends[k]);
		tiny_fresh(&m, &g, "{\"pruned_heads\": {\"0\": [0]}, \"intermediate_sizes\": [6, 20]}", HEAD_PRETRAINING, DTYPE_F32);
		tiny_batch(&b, &m, lengths, DTYPE_F32);
		for (int i = 0; i < 4; i++) {
			const size_t bytes = (size_t)b.T * 16 * sizeof(float);
			struct acts a;

			OK(acts_open(&a, &m, &b.max, modes[i]));
			model_forward(&m, &b, &(struct pass){ 0 }, &a);
			OK(g.k.sync(g.q));
			if (!last) {
				last = malloc(bytes);
				memcpy(last, a.hidden[2].data, bytes);
			}
			assert_memory_equal(last, a.hidden[2].data, bytes);
			assert_int_equal(a.hidden[1].data == a.hidden[2].data, modes[i] == ACTS_FORWARD);
			assert_int_equal(a.layers[0].qkv.data == a.layers[1].qkv.data, modes[i] != ACTS_TRAIN);
			assert_int_equal(tensor_given(a.layers[0].pre), modes[i] >= ACTS_RECOMPUTE);
			acts_close(&a);
		}
		free(last);
		batch_close(&b);
		model_release(&m);
		ground_close(&g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plan), cmocka_unit_test(test_size), cmocka_unit_test(test_too_large), cmocka_unit_test(test_modes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
