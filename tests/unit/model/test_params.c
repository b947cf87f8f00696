#include "tests/unit/model/tiny.h"

static void plan(struct params *p, struct config *c, const char *changes, enum head head)
{
	tiny_config(c, changes);
	c->head = head;
	OK(params_plan(p, c));
}

static const struct param *line(const struct params *p, const char *name)
{
	const int i = params_find(p, name);

	if (i < 0)
		fail_msg("no line '%s'", name);
	return &p->items[i];
}

/* Lines that are not tied neither overlap nor leave more than alignment free; layers' ranges tile the whole. */
static void check_layout(const struct params *p)
{
	int64_t at = 0, first, count;

	for (int i = 0; i < p->count; i++) {
		const struct param *item = &p->items[i];

		assert_int_equal(item->count, item->rows * item->cols);
		assert_int_equal(params_find(p, item->name), i);
		if (item->tied >= 0) {
			assert_int_equal(item->first, p->items[item->tied].first);
			continue;
		}
		assert_true(item->first >= at && item->first < at + PARAMS_ALIGN);
		at = item->first + item->count;
	}
	assert_true(p->total >= at && p->total < at + PARAMS_ALIGN && p->total % PARAMS_ALIGN == 0);
	at = 0;
	for (int l = LAYER_EMBEDDINGS; l <= p->n_layers; l++) {
		params_range(p, l, &first, &count);
		assert_int_equal(first, at);
		at += count;
		for (int i = 0; i < p->count; i++)
			if (p->items[i].tied < 0 && p->items[i].layer == l)
				assert_true(p->items[i].first >= first && p->items[i].first + p->items[i].count <= at);
	}
	assert_int_equal(at, p->total);
}

static void test_every_head(void **state)
{
	static const int counts[HEAD_COUNT] = { [HEAD_NONE] = 39, [HEAD_PRETRAINING] = 48, [HEAD_MLM] = 44, [HEAD_NSP] = 41,
						[HEAD_CLASSIFY] = 41, [HEAD_SPAN] = 39, [HEAD_TOKENS] = 39 };

	(void)state;
	for (int h = 0; h < HEAD_COUNT; h++) {
		struct config c;
		struct params p;

		plan(&p, &c, "{}", (enum head)h);
		assert_int_equal(p.count, counts[h]);
		check_layout(&p);
		line(&p, h == HEAD_NONE ? "embeddings.word_embeddings.weight" : "bert.embeddings.word_embeddings.weight");
		params_release(&p);
		config_release(&c);
	}
}

static void test_table(void **state)
{
	struct config c;
	struct params p;
	const struct param *x;

	(void)state;
	plan(&p, &c, "{}", HEAD_PRETRAINING);
	x = line(&p, "bert.encoder.layer.1.intermediate.dense.weight");
	assert_true(x->n_dims == 2 && x->rows == 24 && x->cols == 16 && x->layer == 1 && x->decays && x->init == INIT_NORMAL);
	x = line(&p, "bert.encoder.layer.1.output.LayerNorm.weight");
	assert_true(x->n_dims == 1 && x->rows == 16 && x->cols == 1 && !x->decays && x->init == INIT_ONE);
	x = line(&p, "cls.predictions.bias");
	assert_true(x->rows == 40 && !x->decays && x->init == INIT_ZERO && x->layer == 2);
	x = line(&p, "cls.predictions.decoder.weight");
	assert_true(x->tied == params_find(&p, "bert.embeddings.word_embeddings.weight") && !x->saved);
	x = line(&p, "cls.predictions.decoder.bias");
	assert_true(x->tied == params_find(&p, "cls.predictions.bias") && !x->saved);
	assert_int_equal(params_find(&p, "classifier.weight"), -1);
	params_release(&p);
	config_release(&c);
	plan(&p, &c, "{\"tie_word_embeddings\": false}", HEAD_PRETRAINING);
	x = line(&p, "cls.predictions.decoder.weight");
	assert_true(x->tied < 0 && x->saved && x->layer == 2 && x->decays);
	assert_true(line(&p, "cls.predictions.decoder.bias")->tied < 0 && line(&p, "cls.predictions.decoder.bias")->saved);
	x = line(&p, "cls.predictions.bias");
	assert_true(x->saved && x->tied == params_find(&p, "cls.predictions.decoder.bias"));
	check_layout(&p);
	params_release(&p);
	config_release(&c);
}

/* Query, key and value are neighbours, whatever the sizes, and views see them as one. */
static void test_neighbours(void **state)
{
	struct config c;
	struct params p;
	struct weights w;
	void *memory;

	(void)state;
	plan(&p, &c, "{\"hidden_size\": 15, \"num_attention_heads\": 3, \"pruned_heads\": {\"1\": [0]}, \"intermediate_sizes\": [7, 9]}",
	     HEAD_SPAN);
	check_layout(&p);
	memory = calloc((size_t)p.total, sizeof(float));
	OK(weights_init(&w, &p, &c, memory, DTYPE_F32));
	assert_true(w.layers[0].qkv.rows == 45 && w.layers[0].qkv.cols == 15 && w.layers[0].qkv_bias.cols == 45);
	assert_true(w.layers[1].qkv.rows == 30 && w.layers[1].out.rows == 15 && w.layers[1].out.cols == 10);
	assert_true(w.layers[0].up.rows == 7 && w.layers[1].down.cols == 9);
	assert_ptr_equal(w.layers[1].qkv.data, (float *)memory + line(&p, "bert.encoder.layer.1.attention.self.query.weight")->first);
	assert_int_equal(line(&p, "bert.encoder.layer.1.attention.self.value.bias")->first,
			 line(&p, "bert.encoder.layer.1.attention.self.query.bias")->first + 20);
	assert_true(w.scores.rows == 2 && w.scores.cols == 15);
	assert_false(tensor_given(w.pooler));
	assert_false(tensor_given(w.table));
	weights_release(&w);
	free(memory);
	params_release(&p);
	config_release(&c);
}

/* New weights: cut off at two deviations, of the deviation that a cut normal has (0.880), and a pure function of the name. */
static void test_fill(void **state)
{
	struct config c, d;
	struct params p, bare;
	float a[5000], b[5000], first[PARAM_CHUNK];
	double sum = 0, squares = 0;
	const struct param *x;

	(void)state;
	plan(&p, &c, "{\"vocab_size\": 500}", HEAD_PRETRAINING);
	plan(&bare, &d, "{\"vocab_size\": 500, \"num_hidden_layers\": 5}", HEAD_NONE);
	x = line(&p, "bert.embeddings.word_embeddings.weight");
	param_fill(x, &c, 9, 0, 5000, a);
	for (int i = 0; i < 5000; i++) {
		assert_true(fabs((double)a[i]) <= 2 * c.initializer_range);
		sum += (double)a[i] / c.initializer_range;
		squares += (double)a[i] * (double)a[i] / (c.initializer_range * c.initializer_range);
	}
	assert_true(fabs(sum / 5000) < 0.05);
	assert_true(fabs(sqrt(squares / 5000) - 0.880) < 0.03);
	param_fill(line(&bare, "embeddings.word_embeddings.weight"), &d, 9, 0, 5000, b);
	assert_memory_equal(a, b, sizeof(a));
	param_fill(x, &c, 9, PARAM_CHUNK, 900, b);
	assert_memory_equal(a + PARAM_CHUNK, b, 900 * sizeof(*b));
	param_fill(x, &c, 10, 0, PARAM_CHUNK, first);
	assert_memory_not_equal(a, first, sizeof(first));
	param_fill(line(&p, "bert.pooler.dense.weight"), &c, 9, 0, 256, b);
	assert_memory_not_equal(a, b, 256 * sizeof(*b));
	param_fill(line(&p, "bert.embeddings.LayerNorm.weight"), &c, 9, 0, 16, b);
	assert_true(b[0] == 1 && b[15] == 1);
	param_fill(line(&p, "bert.embeddings.LayerNorm.bias"), &c, 9, 0, 16, b);
	assert_true(b[0] == 0 && b[15] == 0);
	params_release(&bare);
	params_release(&p);
	config_release(&d);
	config_release(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_head), cmocka_unit_test(test_table), cmocka_unit_test(test_neighbours),
		cmocka_unit_test(test_fill),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
