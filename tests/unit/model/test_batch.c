#include "tests/unit/model/tiny.h"

struct fixture {
	struct ground g;
	struct config c;
	struct batch b;
};

static void fixture_open(struct fixture *f, const struct batch_limits *max)
{
	ground_open(&f->g, "ref");
	tiny_config(&f->c, "{\"architectures\": [\"BertForSequenceClassification\"]}");
	OK(batch_open(&f->b, &f->g.k, max, DTYPE_F32));
}

static void fixture_close(struct fixture *f)
{
	batch_close(&f->b);
	config_release(&f->c);
	ground_close(&f->g);
}

/* N tokens of id ID. */
static int add(struct batch *b, int n, int id)
{
	const int i = batch_add(b, n, (uint64_t)(1000 + b->B));

	for (int t = 0; t < n; t++)
		b->host.ids[b->host.starts[i] + t] = id;
	return i;
}

/* What ops see: rows in use, then marks that the rest is not. */
static void test_packed(void **state)
{
	const struct batch_limits max = { .B = 4, .T = 33, .P = 5, .C = 2 };
	struct fixture f;
	const struct batch *b = &f.b;
	struct packing seqs;

	(void)state;
	fixture_open(&f, &max);
	assert_int_equal(b->max.T, 48);
	assert_int_equal(b->max.P, 16);
	assert_int_equal(add(&f.b, 3, 7), 0);
	assert_int_equal(add(&f.b, 11, 8), 1);
	f.b.host.class_labels[1] = 2;
	f.b.host.types[13] = 1;
	batch_add_prediction(&f.b, 1, 10, 30);
	batch_set_target(&f.b, 0, 1, 0.5);
	OK(batch_finish(&f.b, &f.c));
	batch_upload(&f.b, f.g.q);
	assert_true(b->B == 2 && b->T == 14 && b->P == 1 && b->S == 11 && b->rows == 16 && b->preds == 16);
	assert_memory_equal(b->on.starts, ((int32_t[]){ 0, 3, 14, 14, 14 }), 5 * sizeof(int32_t));
	assert_memory_equal(b->on.pooled_rows, ((int32_t[]){ 0, 3, -1, -1 }), 4 * sizeof(int32_t));
	assert_memory_equal(b->on.class_labels, ((int32_t[]){ -1, 2, -1, -1 }), 4 * sizeof(int32_t));
	assert_true(b->on.ids[2] == 7 && b->on.ids[3] == 8 && b->on.ids[13] == 8 && b->on.ids[14] == -1 && b->on.ids[15] == -1);
	assert_true(b->on.positions[2] == 2 && b->on.positions[3] == 0 && b->on.positions[13] == 10);
	assert_true(b->on.types[12] == 0 && b->on.types[13] == 1);
	assert_true(b->on.pred_rows[0] == 13 && b->on.pred_labels[0] == 30 && b->on.pred_rows[1] == -1 && b->on.pred_labels[15] == -1);
	assert_true(b->on.sample[1] == 1001 && b->on.token_labels[0] == -1 && b->on.token_labels[15] == -1 && b->on.first[1] == -1);
	assert_true(isnan(((float *)b->on.targets)[0]) && ((float *)b->on.targets)[1] == 0.5f && isnan(((float *)b->on.targets)[7]));
	seqs = batch_packing(b);
	assert_true(seqs.B == 4 && seqs.S == 11 && seqs.starts == b->on.starts);
	fixture_close(&f);
}

static void test_room(void **state)
{
	const struct batch_limits max = { .B = 3, .T = 32, .P = 16 };
	struct fixture f;

	(void)state;
	fixture_open(&f, &max);
	assert_true(batch_has_room(&f.b, 32, 16));
	assert_false(batch_has_room(&f.b, 33, 0));
	assert_false(batch_has_room(&f.b, 1, 17));
	add(&f.b, 30, 1);
	assert_false(batch_has_room(&f.b, 3, 0));
	add(&f.b, 1, 1);
	add(&f.b, 1, 1);
	assert_false(batch_has_room(&f.b, 0, 0));
	batch_clear(&f.b);
	assert_true(batch_has_room(&f.b, 32, 16));
	FAILS(batch_finish(&f.b, &f.c), EXIT_FAILED, "without tokens");
	fixture_close(&f);
}

/* Nothing that would be looked up beyond a table's end gets through. */
static void test_checked(void **state)
{
	static const struct {
		size_t array;
		int place, value;
		const char *says;
	} cases[] = {
		{ offsetof(struct batch_arrays, ids), 2, 40, "a token's id is 40, and this model knows 0 to 39" },
		{ offsetof(struct batch_arrays, ids), 0, -1, "a token's id is -1" },
		{ offsetof(struct batch_arrays, types), 1, 2, "a token's type is 2" },
		{ offsetof(struct batch_arrays, positions), 1, 12, "a token's position is 12" },
		{ offsetof(struct batch_arrays, pred_labels), 0, 40, "a masked token's id is 40" },
		{ offsetof(struct batch_arrays, class_labels), 0, 3, "a label is 3" },
		{ offsetof(struct batch_arrays, token_labels), 4, 3, "a token's label is 3" },
		{ offsetof(struct batch_arrays, first), 0, 5, "an answer's first token is 5" },
		{ offsetof(struct batch_arrays, last), 0, -2, "an answer's last token is -2" },
	};
	const struct batch_limits max = { .B = 2, .T = 16, .P = 16 };
	struct fixture f;

	(void)state;
	fixture_open(&f, &max);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int32_t *array;

		batch_clear(&f.b);
		add(&f.b, 5, 39);
		batch_add_prediction(&f.b, 0, 4, 39);
		OK(batch_finish(&f.b, &f.c));
		memcpy(&array, (char *)&f.b.host + cases[i].array, sizeof(array));
		array[cases[i].place] = cases[i].value;
		FAILS(batch_finish(&f.b, &f.c), EXIT_FAILED, cases[i].says);
	}
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packed), cmocka_unit_test(test_room), cmocka_unit_test(test_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
