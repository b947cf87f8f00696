/* A model with another vocabulary: rows of tokens, and nothing else, are others. */
#include "model/resize.h"
#include "tests/unit/model/tiny.h"

/* New tokens 0 .. 4 of the 40 old ones: 7; 3 and 5; 39; 7 again; 0, 1, 2 and 2. */
static const uint32_t pieces[] = { 7, 3, 5, 39, 7, 0, 1, 2, 2 };
static const size_t ends[] = { 1, 3, 4, 5, 9 };

static float at(const struct tensor *t, int64_t row, int64_t col)
{
	return ((const float *)t->data)[row * t->cols + col];
}

static void check_row(const struct tensor *new, const struct tensor *old, int64_t i, bool vector)
{
	const int64_t width = vector ? 1 : new->cols;

	for (int64_t c = 0; c < width; c++) {
		double sum = 0;
		size_t n = 0;

		for (size_t k = i ? ends[i - 1] : 0; k < ends[i]; k++, n++)
			sum += (double)(vector ? at(old, 0, pieces[k]) : at(old, pieces[k], c));
		assert_true((vector ? at(new, 0, i) : at(new, i, c)) == (float)(sum / (double)n));
	}
}

static void check_rows(const struct model *new, const struct model *old)
{
	for (int64_t i = 0; i < 5; i++) {
		check_row(&new->w.word, &old->w.word, i, false);
		if (old->w.table.data)
			check_row(&new->w.table, &old->w.table, i, false);
		if (old->w.table_bias.data)
			check_row(&new->w.table_bias, &old->w.table_bias, i, true);
	}
}

/* All parameters that have no token's rows. */
static void check_rest(const struct model *new, const struct model *old)
{
	int same = 0;

	assert_int_equal(new->params.count, old->params.count);
	for (int i = 0; i < new->params.count; i++) {
		const struct param *p = &new->params.items[i], *q = &old->params.items[i];

		assert_string_equal(p->name, q->name);
		if (q->rows == 40)
			continue;
		assert_int_equal(p->count, q->count);
		assert_memory_equal(model_elements(new, p->first, p->count).data, model_elements(old, q->first, q->count).data,
				    (size_t)p->count * sizeof(float));
		same++;
	}
	assert_true(same >= 36);
}

static void resize(enum head head, bool untie)
{
	const struct vocab_rows r = { .pieces = pieces, .ends = ends, .count = 5, .pad_token_id = 3 };
	struct ground g;
	struct model old, new;

	ground_open(&g, "ref");
	if (untie) {
		struct config c;

		tiny_config(&c, "{\"tie_word_embeddings\": false}");
		c.head = head;
		OK(model_init(&old, &g.k, g.q, &c, DTYPE_F32));
		OK(model_fresh(&old, 7));
		for (int64_t i = 0; i < 40; i++)
			((float *)old.w.table_bias.data)[i] = (float)i * 0.3F;
	} else {
		tiny_load(&old, &g, head, DTYPE_F32);
	}
	OK(model_resize(&new, &old, &r));
	assert_int_equal(new.config.vocab_size, 5);
	assert_int_equal(new.config.pad_token_id, 3);
	assert_int_equal(old.config.vocab_size, 40);
	assert_int_equal(new.w.table.data == new.w.word.data, old.w.table.data == old.w.word.data);
	check_rows(&new, &old);
	check_rest(&new, &old);
	model_release(&new);
	model_release(&old);
	ground_close(&g);
}

static void rows_of_tokens_are_means_of_their_pieces(void **state)
{
	(void)state;
	resize(HEAD_PRETRAINING, false);
	resize(HEAD_NONE, false);
	resize(HEAD_CLASSIFY, false);
}

static void an_untied_table_is_resized_too(void **state)
{
	(void)state;
	resize(HEAD_PRETRAINING, true);
	resize(HEAD_MLM, true);
}

static void a_piece_without_a_row_is_refused(void **state)
{
	const uint32_t beyond[] = { 1, 40 };
	const size_t both[] = { 1, 2 };
	const struct vocab_rows r = { .pieces = beyond, .ends = both, .count = 2, .pad_token_id = -1 };
	struct ground g;
	struct model old, new;

	(void)state;
	ground_open(&g, "ref");
	tiny_load(&old, &g, HEAD_NONE, DTYPE_F32);
	FAILS(model_resize(&new, &old, &r), EXIT_FAILED, "token 40 of the old vocabulary has no row in a model of 40");
	assert_null(new.weights);
	model_release(&new);
	model_release(&old);
	ground_close(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(rows_of_tokens_are_means_of_their_pieces, tiny_enter, tiny_leave),
		cmocka_unit_test_setup_teardown(an_untied_table_is_resized_too, tiny_enter, tiny_leave),
		cmocka_unit_test_setup_teardown(a_piece_without_a_row_is_refused, tiny_enter, tiny_leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
