/* Model directories: names old and new, other types, what is missing, unused, or does not fit. */
#include "model/model_host.h"
#include "tests/unit/model/golden.h"

/* A copy of the tiny model's file in the making: tensors that a test renames, drops, adds to. */
struct altered {
	struct safetensor list[64];
	char names[64][96];
	unsigned char *data[64];
	size_t count;
};

static void altered_open(struct altered *c)
{
	struct safetensors *s;

	OK(safetensors_open(&s, tiny_path("tiny/model.safetensors")));
	c->count = s->count;
	for (size_t i = 0; i < s->count; i++) {
		c->list[i] = s->items[i];
		snprintf(c->names[i], sizeof(c->names[i]), "%s", s->items[i].name);
		c->data[i] = golden_tensor(s, s->items[i].name);
	}
	safetensors_close(s);
}

static size_t altered_find(const struct altered *c, const char *name)
{
	for (size_t i = 0; i < c->count; i++)
		if (!strcmp(c->names[i], name))
			return i;
	fail_msg("no tensor '%s'", name);
	return 0;
}

/* Another one, with the contents of tensor FROM. */
static size_t altered_add(struct altered *c, const char *name, size_t from)
{
	const size_t i = c->count++;

	c->list[i] = c->list[from];
	snprintf(c->names[i], sizeof(c->names[i]), "%s", name);
	c->data[i] = malloc((size_t)c->list[from].bytes + 1);
	memcpy(c->data[i], c->data[from], (size_t)c->list[from].bytes);
	return i;
}

static void altered_drop(struct altered *c, const char *name)
{
	const size_t i = altered_find(c, name), last = --c->count;

	free(c->data[i]);
	c->data[i] = c->data[last];
	c->list[i] = c->list[last];
	memcpy(c->names[i], c->names[last], sizeof(c->names[i]));
}

/* Every OLD in a name becomes NEW. */
static void altered_rename(struct altered *c, const char *old, const char *new)
{
	for (size_t i = 0; i < c->count; i++) {
		char *at = strstr(c->names[i], old), rest[96];

		if (!at)
			continue;
		snprintf(rest, sizeof(rest), "%s", at + strlen(old));
		snprintf(at, sizeof(c->names[i]) - (size_t)(at - c->names[i]), "%s%s", new, rest);
	}
}

/* Its directory, with a config changed as CHANGES say; frees it. */
static void altered_write(struct altered *c, const char *folder, const char *changes)
{
	struct safetensors_writer *w;
	struct config config;
	char path[600];

	OK(fs_make_folder(folder));
	snprintf(path, sizeof(path), "%s/model.safetensors", folder);
	for (size_t i = 0; i < c->count; i++)
		c->list[i].name = c->names[i];
	OK(safetensors_create(&w, path, c->list, c->count));
	for (size_t i = 0; i < c->count; i++) {
		OK(safetensors_put(w, c->data[i], (size_t)c->list[i].bytes));
		free(c->data[i]);
	}
	OK(safetensors_commit(w));
	snprintf(path, sizeof(path), "%s/config.json", folder);
	tiny_config(&config, changes);
	OK(config_write(&config, path));
	config_release(&config);
}

/* The model of a directory; -1 where it cannot be. FILLED: *s stays open for a look at the map. */
static int load(struct model *m, struct ground *g, const char *folder, enum head head, bool new_head, struct model_source **s)
{
	struct config c;
	int rc;

	*m = (struct model){ 0 };
	*s = NULL;
	if (model_dir_config(&c, folder, head) || model_init(m, &g->k, g->q, &c, DTYPE_F32))
		return -1;
	rc = model_dir_open(s, m, folder) || model_dir_check(*s, m, new_head) || model_dir_read(*s, m, 3) ? -1 : 0;
	return rc;
}

static void unload(struct model *m, struct model_source *s)
{
	model_dir_close(s);
	model_release(m);
}

/* Whether two models have the same weights, as far as both have them. */
static void same_weights(const struct model *a, const struct model *b)
{
	int compared = 0;

	for (int i = 0; i < a->params.count; i++) {
		const struct param *p = &a->params.items[i];
		const int j = params_find(&b->params, p->name);

		if (j < 0)
			continue;
		assert_int_equal(p->count, b->params.items[j].count);
		assert_memory_equal((float *)a->weights + p->first, (float *)b->weights + b->params.items[j].first,
				    (size_t)p->count * sizeof(float));
		compared++;
	}
	assert_true(compared > 35);
}

/* Names as files of several ages have them, all the same model. */
static void test_names(void **state)
{
	struct ground g;
	struct model want;

	ground_open(&g, "ref");
	tiny_load(&want, &g, HEAD_PRETRAINING, DTYPE_F32);
	for (int i = 0; i < 4; i++) {
		const char *folder = tiny_in(state, (const char *const[]){ "a", "b", "c", "d" }[i]);
		struct model_source *s;
		struct altered c;
		struct model m;
		size_t ids;

		altered_open(&c);
		if (i & 1)
			altered_rename(&c, "bert.", "");
		if (i & 2) {
			altered_rename(&c, "LayerNorm.weight", "LayerNorm.gamma");
			altered_rename(&c, "LayerNorm.bias", "LayerNorm.beta");
		}
		ids = altered_add(&c, i & 1 ? "embeddings.position_ids" : "bert.embeddings.position_ids", 0);
		c.list[ids] = (struct safetensor){ .dtype = ST_I64, .n_dims = 2, .shape = { 1, 2 }, .bytes = 16 };
		altered_write(&c, folder, "{}");
		OK(load(&m, &g, folder, HEAD_UNSAID, false, &s));
		assert_true(s->map.mapped == 46 && s->map.missing == 0 && s->map.unused == 4);
		assert_int_equal(s->map.items[s->map.count - 1].fate == FATE_PASSED || s->map.items[s->map.count - 5].fate == FATE_PASSED, 1);
		same_weights(&want, &m);
		unload(&m, s);
	}
	model_release(&want);
	ground_close(&g);
}

/* A bare encoder, from a file with heads, from one without prefix, and from one without pooler. */
static void test_bare(void **state)
{
	struct ground g;
	struct model m;
	struct model_source *s;
	struct altered c;

	ground_open(&g, "ref");
	OK(load(&m, &g, tiny_path("tiny"), HEAD_NONE, false, &s));
	assert_true(m.config.pooler && s->map.mapped == 39 && s->map.unused == 11);
	unload(&m, s);
	altered_open(&c);
	altered_drop(&c, "bert.pooler.dense.weight");
	altered_drop(&c, "bert.pooler.dense.bias");
	altered_rename(&c, "bert.", "");
	altered_write(&c, tiny_in(state, "a"), "{\"architectures\": [\"BertModel\"]}");
	OK(load(&m, &g, tiny_in(state, "a"), HEAD_UNSAID, false, &s));
	assert_true(!m.config.pooler && s->map.mapped == 37 && s->map.missing == 0 && m.w.pooler.data == NULL);
	unload(&m, s);
	ground_close(&g);
}

/* What the encoder lacks is an error; a head may be new. */
static void test_missing(void **state)
{
	struct ground g;
	struct model m, again;
	struct model_source *s, *t;
	struct altered c;

	ground_open(&g, "ref");
	altered_open(&c);
	altered_drop(&c, "classifier.weight");
	altered_drop(&c, "classifier.bias");
	altered_write(&c, tiny_in(state, "a"), "{}");
	FAILS(load(&m, &g, tiny_in(state, "a"), HEAD_CLASSIFY, false, &s), EXIT_FAILED,
	      "as a BertForSequenceClassification: 2 tensors are missing, the first is 'classifier.weight'");
	unload(&m, s);
	OK(load(&m, &g, tiny_in(state, "a"), HEAD_CLASSIFY, true, &s));
	OK(load(&again, &g, tiny_in(state, "a"), HEAD_CLASSIFY, true, &t));
	same_weights(&m, &again);
	assert_true(s->map.missing == 2 && ((float *)m.w.scores.data)[5] != 0 && ((float *)m.w.scores_bias.data)[1] == 0);
	unload(&again, t);
	unload(&m, s);
	altered_open(&c);
	altered_drop(&c, "bert.encoder.layer.1.output.dense.bias");
	altered_write(&c, tiny_in(state, "b"), "{}");
	FAILS(load(&m, &g, tiny_in(state, "b"), HEAD_CLASSIFY, true, &s), EXIT_FAILED, "the first is 'bert.encoder.layer.1.output.dense.bias'");
	unload(&m, s);
	ground_close(&g);
}

/* Another last layer over a trained one: the file's is passed over, though it would not fit, and nothing else is. */
static void test_new_scores(void **state)
{
	static const char *const five[] = { "a", "b", "c", "d", "e" };
	struct ground g;
	struct config c;
	struct model m, want;
	struct model_source *s;
	const struct param *scores;

	(void)state;
	ground_open(&g, "ref");
	tiny_load(&want, &g, HEAD_PRETRAINING, DTYPE_F32);
	OK(model_dir_config(&c, tiny_path("tiny"), HEAD_CLASSIFY));
	OK(config_set_labels(&c, five, 5));
	OK(model_init(&m, &g.k, g.q, &c, DTYPE_F32));
	FAILS(model_dir_open(&s, &m, tiny_path("tiny")), EXIT_FAILED, "'classifier.bias' is [3], and config.json makes it [5]");
	OK(model_dir_open_new_scores(&s, &m, tiny_path("tiny")));
	assert_true(s->map.missing == 2 && s->map.mapped == 39);
	for (size_t i = 0; i < s->map.count; i++)
		if (s->map.items[i].tensor && !strncmp(s->map.items[i].tensor->name, "classifier.", 11))
			assert_true(s->map.items[i].fate == FATE_PASSED && !s->map.items[i].param);
	FAILS(model_dir_check(s, &m, false), EXIT_FAILED, "'classifier.weight'");
	OK(model_dir_check(s, &m, true));
	OK(model_dir_read(s, &m, 3));
	same_weights(&want, &m);
	scores = &m.params.items[params_find(&m.params, "classifier.weight")];
	assert_true(scores->rows == 5 && ((float *)m.weights)[scores->first + 70] != 0);
	unload(&m, s);
	model_release(&want);
	ground_close(&g);
}

static void test_mismatches(void **state)
{
	static const struct {
		const char *changes, *says;
	} cases[] = {
		{ "{\"vocab_size\": 41}", "'bert.embeddings.word_embeddings.weight' is [40, 16], and config.json makes it [41, 16]" },
		{ "{\"num_hidden_layers\": 1}", NULL },
		{ "{\"num_hidden_layers\": 3}", "16 tensors are missing" },
		{ "{\"intermediate_size\": 25}", "is [24], and config.json makes it [25]" },
		{ "{\"hidden_size\": 1000000, \"intermediate_size\": 1000000}", "and config.json makes it" },
		{ "{\"num_hidden_layers\": 4000, \"vocab_size\": 40}", "tensors are missing" },
	};
	struct ground g;
	struct model m;
	struct model_source *s;
	struct altered c;

	ground_open(&g, "ref");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		altered_open(&c);
		altered_write(&c, tiny_in(state, "a"), cases[i].changes);
		if (cases[i].says)
			FAILS(load(&m, &g, tiny_in(state, "a"), HEAD_UNSAID, false, &s), EXIT_FAILED, cases[i].says);
		else
			OK(load(&m, &g, tiny_in(state, "a"), HEAD_UNSAID, false, &s));
		unload(&m, s);
	}
	altered_open(&c);
	altered_add(&c, "embeddings.LayerNorm.gamma", altered_find(&c, "bert.embeddings.LayerNorm.weight"));
	altered_write(&c, tiny_in(state, "a"), "{}");
	FAILS(load(&m, &g, tiny_in(state, "a"), HEAD_UNSAID, false, &s), EXIT_FAILED, "are the same parameter");
	unload(&m, s);
	altered_open(&c);
	c.list[altered_find(&c, "bert.pooler.dense.bias")].dtype = ST_I32;
	altered_write(&c, tiny_in(state, "a"), "{}");
	FAILS(load(&m, &g, tiny_in(state, "a"), HEAD_UNSAID, false, &s), EXIT_FAILED, "'bert.pooler.dense.bias' is I32");
	unload(&m, s);
	FAILS(load(&m, &g, tiny_in(state, "no"), HEAD_UNSAID, false, &s), EXIT_FAILED, "no/config.json");
	ground_close(&g);
}

/* The MLM part's table and bias have two names each. */
static void test_tied(void **state)
{
	struct ground g;
	struct model m;
	struct model_source *s;
	struct altered c;
	size_t i;

	ground_open(&g, "ref");
	altered_open(&c);
	altered_add(&c, "cls.predictions.decoder.weight", altered_find(&c, "bert.embeddings.word_embeddings.weight"));
	altered_rename(&c, "cls.predictions.bias", "cls.predictions.decoder.bias");
	altered_write(&c, tiny_in(state, "a"), "{}");
	OK(load(&m, &g, tiny_in(state, "a"), HEAD_UNSAID, false, &s));
	assert_true(s->map.missing == 0 && s->map.unused == 4);
	unload(&m, s);
	altered_open(&c);
	i = altered_add(&c, "cls.predictions.decoder.weight", altered_find(&c, "bert.embeddings.word_embeddings.weight"));
	c.data[i][40] ^= 1;
	altered_write(&c, tiny_in(state, "b"), "{}");
	FAILS(load(&m, &g, tiny_in(state, "b"), HEAD_UNSAID, false, &s), EXIT_FAILED, "'tie_word_embeddings'");
	unload(&m, s);
	altered_open(&c);
	i = altered_add(&c, "cls.predictions.decoder.weight", altered_find(&c, "bert.embeddings.word_embeddings.weight"));
	c.data[i][40] ^= 1;
	altered_write(&c, tiny_in(state, "b"), "{\"tie_word_embeddings\": false}");
	OK(load(&m, &g, tiny_in(state, "b"), HEAD_UNSAID, false, &s));
	assert_int_equal(((unsigned char *)m.w.table.data)[40] ^ ((unsigned char *)m.w.word.data)[40], 1);
	((float *)m.w.table_bias.data)[7] = 77;
	OK(model_dir_save(&m, tiny_in(state, "c")));
	unload(&m, s);
	OK(load(&m, &g, tiny_in(state, "c"), HEAD_UNSAID, false, &s));
	assert_non_null(safetensors_find(s->file, "cls.predictions.bias"));
	assert_true(((float *)m.w.table_bias.data)[7] == 77);
	assert_int_equal(((unsigned char *)m.w.table.data)[40] ^ ((unsigned char *)m.w.word.data)[40], 1);
	unload(&m, s);
	ground_close(&g);
}

/* F16, BF16 and F64 give the numbers that they hold. */
static void test_types(void **state)
{
	static const struct {
		enum safetensors_dtype type;
		enum dtype dtype;
		double digits;
	} cases[] = { { ST_F16, DTYPE_F16, 0x1p-11 }, { ST_BF16, DTYPE_BF16, 0x1p-8 }, { ST_F64, DTYPE_F64, 0 } };
	struct ground g;
	struct model want;

	ground_open(&g, "ref");
	tiny_load(&want, &g, HEAD_PRETRAINING, DTYPE_F32);
	for (size_t i = 0; i < 3; i++) {
		struct model_source *s;
		struct model m;
		struct altered c;

		altered_open(&c);
		for (size_t j = 0; j < c.count; j++) {
			const size_t bytes = (size_t)c.list[j].count * dtype_size(cases[i].dtype);
			unsigned char *cast = malloc(bytes);

			g.k.cast(g.q, &(struct cast){ .x = tensor_of(c.data[j], DTYPE_F32, 1, c.list[j].count),
						      .y = tensor_of(cast, cases[i].dtype, 1, c.list[j].count) });
			free(c.data[j]);
			c.data[j] = cast;
			c.list[j].dtype = cases[i].type;
			c.list[j].bytes = bytes;
		}
		altered_write(&c, tiny_in(state, "a"), "{\"torch_dtype\": \"float16\"}");
		OK(load(&m, &g, tiny_in(state, "a"), HEAD_UNSAID, false, &s));
		for (int64_t j = 0; j < want.params.total; j++) {
			const double a = (double)((float *)want.weights)[j], b = (double)((float *)m.weights)[j];

			assert_true(fabs(a - b) <= cases[i].digits * fabs(a));
		}
		unload(&m, s);
	}
	model_release(&want);
	ground_close(&g);
}

/* What is saved is what was loaded: the same file, in name order, byte for byte. */
static void test_save(void **state)
{
	struct ground g;
	struct model m, again;
	struct model_source *s, *t;
	struct buf one = BUF_INIT, two = BUF_INIT;

	ground_open(&g, "ref");
	OK(load(&m, &g, tiny_path("tiny"), HEAD_UNSAID, false, &s));
	OK(model_dir_save(&m, tiny_in(state, "x/y")));
	OK(load(&again, &g, tiny_in(state, "x/y"), HEAD_UNSAID, false, &t));
	same_weights(&m, &again);
	assert_true(t->map.unused == 0 && again.config.head == HEAD_PRETRAINING && again.config.num_labels == 3);
	for (size_t i = 1; i < t->file->count; i++)
		assert_true(strcmp(t->file->items[i - 1].name, t->file->items[i].name) < 0);
	OK(model_dir_save(&again, tiny_in(state, "z")));
	OK(fs_read_all(tiny_in(state, "x/y/model.safetensors"), 1 << 20, &one));
	OK(fs_read_all(tiny_in(state, "z/model.safetensors"), 1 << 20, &two));
	assert_int_equal(one.len, two.len);
	assert_memory_equal(one.data, two.data, one.len);
	buf_release(&two);
	buf_release(&one);
	unload(&again, t);
	unload(&m, s);
	ground_close(&g);
}

static void test_folder(void **state)
{
	struct ground g;
	struct config c;
	struct model m;
	struct model_source *s;
	struct buf b = BUF_INIT;

	ground_open(&g, "ref");
	OK(model_dir_config(&c, tiny_path("tiny"), HEAD_UNSAID));
	OK(model_init(&m, &g.k, g.q, &c, DTYPE_F32));
	OK(model_fresh(&m, 1));
	OK(model_dir_save(&m, tiny_in(state, "a")));
	model_release(&m);
	OK(unlink(tiny_in(state, "a/model.safetensors")));
	OK(fs_write_all(tiny_in(state, "a/pytorch_model.bin"), "x", 1));
	FAILS(load(&m, &g, tiny_in(state, "a"), HEAD_UNSAID, false, &s), EXIT_FAILED, "has no model.safetensors, and 'pytorch_model.bin' is not read");
	unload(&m, s);
	OK(fs_write_all(tiny_in(state, "a/vocab.txt"), "a\nb\n\n", 5));
	OK(fs_write_all(tiny_in(state, "a/tokenizer_config.json"), "{}", 2));
	OK(model_dir_copy_tokenizer(tiny_in(state, "a"), tiny_in(state, "b")));
	OK(fs_read_all(tiny_in(state, "b/vocab.txt"), 100, &b));
	assert_int_equal(b.len, 5);
	assert_true(fs_exists(tiny_in(state, "b/tokenizer_config.json")));
	assert_false(fs_exists(tiny_in(state, "b/pytorch_model.bin")));
	buf_clear(&b);
	for (int i = 0; i < 41; i++)
		OK(buf_addf(&b, "word%d\n", i));
	OK(fs_write_all(tiny_in(state, "a/vocab.txt"), b.data, b.len));
	FAILS(model_dir_config(&c, tiny_in(state, "a"), HEAD_UNSAID), EXIT_FAILED, "has 41 tokens, and 'vocab_size' of config.json is 40");
	OK(fs_write_all(tiny_in(state, "a/config.json"), "{}", 2));
	FAILS(model_dir_config(&c, tiny_in(state, "a"), HEAD_UNSAID), EXIT_CORRUPT, "'vocab_size' is missing");
	buf_release(&b);
	ground_close(&g);
}

static int open_host(struct model_host *h, const char *backend, const char *folder)
{
	return model_host_open(h, &(struct model_host_opts){ .backend = backend, .threads = 1, .folder = folder, .head = HEAD_TOKENS });
}

/* With its backend, in one; what fails leaves nothing open. */
static void test_host(void **state)
{
	struct model_host h;
	struct model want;
	struct ground g;
	struct altered c;

	ground_open(&g, "ref");
	tiny_load(&want, &g, HEAD_TOKENS, DTYPE_F32);
	OK(open_host(&h, "ref", tiny_path("tiny")));
	assert_true(h.source->map.mapped == 39 && !h.model.weights);
	OK(model_host_read(&h));
	assert_memory_equal(h.model.weights, want.weights, model_bytes(&want));
	model_host_close(&h);
	model_host_close(&h);
	FAILS(open_host(&h, "cuda", tiny_path("tiny")), EXIT_FAILED, "'cuda'");
	FAILS(open_host(&h, "ref", tiny_in(state, "no")), EXIT_FAILED, "no/config.json");
	altered_open(&c);
	altered_drop(&c, "classifier.weight");
	altered_write(&c, tiny_in(state, "a"), "{}");
	OK(open_host(&h, "ref", tiny_in(state, "a")));
	FAILS(model_host_read(&h), EXIT_FAILED, "'classifier.weight'");
	model_host_close(&h);
	model_release(&want);
	ground_close(&g);
}

static void test_unsaid(void **state)
{
	struct config c;
	struct altered copy;

	altered_open(&copy);
	altered_write(&copy, tiny_in(state, "a"), "{\"architectures\": [\"BertForMultipleChoice\"]}");
	FAILS(model_dir_config(&c, tiny_in(state, "a"), HEAD_UNSAID), EXIT_FAILED, "none of the architectures");
	OK(model_dir_config(&c, tiny_in(state, "a"), HEAD_MLM));
	assert_int_equal(c.head, HEAD_MLM);
	config_release(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_names, tiny_enter, tiny_leave),
		cmocka_unit_test_setup_teardown(test_bare, tiny_enter, tiny_leave),
		cmocka_unit_test_setup_teardown(test_missing, tiny_enter, tiny_leave),
		cmocka_unit_test_setup_teardown(test_new_scores, tiny_enter, tiny_leave),
		cmocka_unit_test_setup_teardown(test_mismatches, tiny_enter, tiny_leave),
		cmocka_unit_test_setup_teardown(test_tied, tiny_enter, tiny_leave),
		cmocka_unit_test_setup_teardown(test_types, tiny_enter, tiny_leave),
		cmocka_unit_test_setup_teardown(test_save, tiny_enter, tiny_leave),
		cmocka_unit_test_setup_teardown(test_folder, tiny_enter, tiny_leave),
		cmocka_unit_test_setup_teardown(test_host, tiny_enter, tiny_leave),
		cmocka_unit_test_setup_teardown(test_unsaid, tiny_enter, tiny_leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
