#include "tests/unit/model/tiny.h"

static const char plain[] = "{\"vocab_size\": 100, \"hidden_size\": 12, \"num_hidden_layers\": 3, \"num_attention_heads\": 4,"
			    " \"intermediate_size\": 48, \"max_position_embeddings\": 64}";

static void test_defaults(void **state)
{
	struct config c;

	(void)state;
	OK(config_parse(&c, plain, strlen(plain), "x"));
	assert_int_equal(c.vocab_size, 100);
	assert_int_equal(c.hidden_size, 12);
	assert_int_equal(c.num_hidden_layers, 3);
	assert_int_equal(config_head_size(&c), 3);
	assert_int_equal(c.layers[2].heads, 4);
	assert_int_equal(c.layers[2].intermediate_size, 48);
	assert_int_equal(c.type_vocab_size, 2);
	assert_int_equal(c.hidden_act, ACT_GELU);
	assert_int_equal(c.head, HEAD_UNSAID);
	assert_true(c.tie_word_embeddings);
	assert_true(c.layer_norm_eps == 1e-12 && c.hidden_dropout_prob == 0.1 && c.initializer_range == 0.02);
	assert_int_equal(c.num_labels, 2);
	assert_string_equal(c.labels[1], "LABEL_1");
	config_release(&c);
}

/* Each change to the plain config must be refused, naming the member. */
static void test_refused(void **state)
{
	static const struct {
		const char *changes, *says;
	} cases[] = {
		{ "{\"hidden_size\": 0}", "'hidden_size' is 0, not 1 to" },
		{ "{\"hidden_size\": -12}", "'hidden_size'" },
		{ "{\"hidden_size\": 13}", "'hidden_size' 13 is no multiple of 'num_attention_heads' 2" },
		{ "{\"hidden_size\": \"16\"}", "'hidden_size' is no whole number" },
		{ "{\"hidden_size\": 16.0}", "'hidden_size' is no whole number" },
		{ "{\"hidden_size\": null}", "'hidden_size' is missing" },
		{ "{\"hidden_size\": 9000000000}", "'hidden_size' is 9000000000" },
		{ "{\"vocab_size\": 2000000000}", "'vocab_size'" },
		{ "{\"num_hidden_layers\": 100000}", "'num_hidden_layers'" },
		{ "{\"num_attention_heads\": 0}", "'num_attention_heads'" },
		{ "{\"max_position_embeddings\": 65536}", "'max_position_embeddings'" },
		{ "{\"type_vocab_size\": 0}", "'type_vocab_size'" },
		{ "{\"hidden_dropout_prob\": 1}", "'hidden_dropout_prob' is no rate" },
		{ "{\"hidden_dropout_prob\": 0.99999999}", "'hidden_dropout_prob' is no rate" },
		{ "{\"attention_probs_dropout_prob\": -0.1}", "'attention_probs_dropout_prob' is no rate" },
		{ "{\"classifier_dropout\": \"no\"}", "'classifier_dropout' is no number" },
		{ "{\"layer_norm_eps\": 0}", "'layer_norm_eps'" },
		{ "{\"initializer_range\": -1}", "'initializer_range'" },
		{ "{\"hidden_act\": \"silu\"}", "'hidden_act' is none of" },
		{ "{\"hidden_act\": 3}", "'hidden_act' is none of" },
		{ "{\"model_type\": \"albert\"}", "'model_type' is not 'bert'" },
		{ "{\"position_embedding_type\": \"relative_key\"}", "'position_embedding_type'" },
		{ "{\"is_decoder\": true}", "'is_decoder' is true" },
		{ "{\"add_cross_attention\": true}", "'add_cross_attention'" },
		{ "{\"tie_word_embeddings\": 1}", "'tie_word_embeddings' is neither" },
		{ "{\"architectures\": \"BertModel\"}", "'architectures' is no list" },
		{ "{\"architectures\": [1]}", "'architectures'" },
		{ "{\"problem_type\": \"ranking\"}", "'problem_type'" },
		{ "{\"id2label\": {}}", "'id2label'" },
		{ "{\"id2label\": [\"a\"]}", "'id2label'" },
		{ "{\"id2label\": {\"0\": \"a\", \"2\": \"b\"}}", "'id2label' has 2 labels, but no name for 1" },
		{ "{\"id2label\": {\"0\": 5}}", "'id2label'" },
		{ "{\"pruned_heads\": [0]}", "'pruned_heads'" },
		{ "{\"pruned_heads\": {\"0\": [2]}}", "'pruned_heads'" },
		{ "{\"pruned_heads\": {\"0\": [0, 0]}}", "'pruned_heads' names a head twice" },
		{ "{\"pruned_heads\": {\"0\": [0, 1]}}", "'pruned_heads' leaves layer 0 no head" },
		{ "{\"pruned_heads\": {\"7\": [0]}}", "'pruned_heads' names a layer that is not there" },
		{ "{\"intermediate_sizes\": [4]}", "'intermediate_sizes'" },
		{ "{\"intermediate_sizes\": [4, 0]}", "'intermediate_sizes'" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *o = json_load_file(tiny_path("tiny/config.json"), 0, NULL), *new = json_loads(cases[i].changes, 0, NULL);
		struct config c;
		char *text;

		assert_non_null(new);
		json_object_update(o, new);
		text = json_dumps(o, 0);
		FAILS(config_parse(&c, text, strlen(text), "some/config.json"), EXIT_CORRUPT, cases[i].says);
		assert_non_null(strstr(err_text(), "'some/config.json'"));
		free(text);
		json_decref(new);
		json_decref(o);
	}
}

static void test_not_json(void **state)
{
	static const char *const texts[] = { "", "{", "[]", "{\"a\": 1, \"a\": 2}", "{} {}", "\xff" };
	struct config c;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		FAILS(config_parse(&c, texts[i], strlen(texts[i]), "x"), EXIT_CORRUPT, "'x'");
	FAILS(config_read(&c, "/nonexistent/config.json"), EXIT_FAILED, "/nonexistent/config.json");
}

/* What is written reads back as it was, members that mean nothing to us included. */
static void test_both_ways(void **state)
{
	static const char extra[] = "{\"transformers_version\": \"5.24.0\", \"use_cache\": true, \"torch_dtype\": \"float16\","
				    " \"classifier_dropout\": 0.25, \"layer_norm_eps\": 1e-05, \"hidden_act\": \"gelu_new\","
				    " \"initializer_range\": 0.12345678901234567, \"architectures\": [\"BertForTokenClassification\"]}";
	struct config a, b;
	char *first, *second;

	(void)state;
	tiny_config(&a, extra);
	first = config_print(&a);
	OK(config_parse(&b, first, strlen(first), "x"));
	second = config_print(&b);
	assert_string_equal(first, second);
	assert_true(b.initializer_range == 0.12345678901234567 && b.layer_norm_eps == 1e-5 && b.classifier_dropout == 0.25);
	assert_int_equal(b.head, HEAD_TOKENS);
	assert_int_equal(b.hidden_act, ACT_GELU_TANH);
	assert_int_equal(config_label(&b, "positive"), 2);
	assert_int_equal(config_label(&b, "else"), -1);
	assert_non_null(strstr(second, "\"transformers_version\": \"5.24.0\""));
	assert_non_null(strstr(second, "\"use_cache\": true"));
	assert_non_null(strstr(second, "\"torch_dtype\": \"float32\""));
	free(first);
	free(second);
	config_release(&a);
	config_release(&b);
}

/* Numbers as people write them. */
static void test_print(void **state)
{
	struct config c;
	char *text;

	(void)state;
	tiny_config(&c, "{\"id2label\": null}");
	text = config_print(&c);
	assert_non_null(strstr(text, "\"layer_norm_eps\": 1e-12"));
	assert_non_null(strstr(text, "\"hidden_dropout_prob\": 0.1,"));
	assert_non_null(strstr(text, "\"classifier_dropout\": null"));
	assert_null(strstr(text, "id2label"));
	assert_null(strstr(text, "pruned_heads"));
	free(text);
	config_release(&c);
	tiny_config(&c, "{}");
	c.head = HEAD_CLASSIFY;
	text = config_print(&c);
	assert_non_null(strstr(text, "\"neutral\": 1"));
	assert_non_null(strstr(text, "BertForSequenceClassification"));
	free(text);
	c.head = HEAD_PRETRAINING;
	text = config_print(&c);
	assert_non_null(strstr(text, "\"neutral\": 1"));
	free(text);
	c.head = HEAD_SPAN;
	text = config_print(&c);
	assert_null(strstr(text, "label"));
	free(text);
	config_release(&c);
}

static void test_layers_that_differ(void **state)
{
	struct config a, b, copy;
	char *text;

	(void)state;
	tiny_config(&a, "{\"pruned_heads\": {\"1\": [1]}, \"intermediate_sizes\": [8, 24]}");
	assert_int_equal(a.layers[0].heads, 2);
	assert_int_equal(a.layers[1].heads, 1);
	assert_int_equal(a.layers[0].intermediate_size, 8);
	text = config_print(&a);
	OK(config_parse(&b, text, strlen(text), "x"));
	assert_memory_equal(a.layers, b.layers, 2 * sizeof(*a.layers));
	OK(config_copy(&copy, &a));
	assert_memory_equal(a.layers, copy.layers, 2 * sizeof(*a.layers));
	assert_string_equal(copy.labels[2], "positive");
	free(text);
	config_release(&copy);
	config_release(&b);
	config_release(&a);
}

static void test_heads(void **state)
{
	static const struct {
		const char *changes;
		enum head head;
		int scores;
		bool pooler, regression;
		double dropout;
	} cases[] = {
		{ "{\"architectures\": [\"BertModel\"]}", HEAD_NONE, 0, true, false, 0 },
		{ "{\"architectures\": [\"BertForPreTraining\"]}", HEAD_PRETRAINING, 2, true, false, 0 },
		{ "{\"architectures\": [\"BertForMaskedLM\"]}", HEAD_MLM, 0, false, false, 0 },
		{ "{\"architectures\": [\"BertForNextSentencePrediction\"]}", HEAD_NSP, 2, true, false, 0 },
		{ "{\"architectures\": [\"BertForSequenceClassification\"]}", HEAD_CLASSIFY, 3, true, false, 0.1 },
		{ "{\"architectures\": [\"BertForSequenceClassification\"], \"id2label\": {\"0\": \"score\"}}", HEAD_CLASSIFY, 1, true, true, 0.1 },
		{ "{\"architectures\": [\"BertForSequenceClassification\"], \"problem_type\": \"regression\", \"classifier_dropout\": 0}",
		  HEAD_CLASSIFY, 3, true, true, 0 },
		{ "{\"architectures\": [\"BertForQuestionAnswering\"]}", HEAD_SPAN, 2, false, false, 0 },
		{ "{\"architectures\": [\"Mine\", \"BertForTokenClassification\"], \"classifier_dropout\": 0.3}", HEAD_TOKENS, 3, false, false, 0.3 },
		{ "{\"architectures\": [\"BertForMultipleChoice\"]}", HEAD_UNSAID, 0, false, false, 0 },
		{ "{\"architectures\": null}", HEAD_UNSAID, 0, false, false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct config c;

		tiny_config(&c, cases[i].changes);
		assert_int_equal(c.head, cases[i].head);
		assert_int_equal(config_scores(&c), cases[i].scores);
		assert_int_equal(config_has_pooler(&c), cases[i].pooler);
		assert_int_equal(config_is_regression(&c), cases[i].regression);
		assert_true(config_scores_dropout(&c) == cases[i].dropout);
		config_release(&c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults), cmocka_unit_test(test_refused), cmocka_unit_test(test_not_json),
		cmocka_unit_test(test_both_ways), cmocka_unit_test(test_print), cmocka_unit_test(test_layers_that_differ),
		cmocka_unit_test(test_heads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
