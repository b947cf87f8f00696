/* pretrain_facts.c - what decides the result of a pre-training. */
#include "trainer/pretrain_facts.h"

#include "base/err.h"
#include "base/fs.h"
#include "shards/folder.h"
#include "shards/manifest.h"
#include "trainer/file_sum.h"

#include <inttypes.h>
#include <xxhash.h>

static json_t *sum_json(uint64_t sum)
{
	char text[17];

	snprintf(text, sizeof(text), "%016" PRIx64, sum);
	return json_string(text);
}

static json_t *config_fact(const struct config *c)
{
	char *text = config_print(c);
	json_t *sum = text ? sum_json(XXH3_64bits(text, strlen(text))) : NULL;

	free(text);
	return sum;
}

/* Of a model that training starts from: its weights. */
static json_t *init_fact(const char *folder)
{
	char *path;
	struct file_sum sum;
	int rc;

	if (!folder)
		return json_string("new");
	path = fs_join(folder, MODEL_DIR_WEIGHTS);
	rc = path ? file_sum(path, &sum) : -1;
	free(path);
	return rc ? NULL : sum_json(sum.xxh3);
}

/* The contents of all shards, where a manifest tells. */
static int add_digests(struct buf *b, const char *folder)
{
	struct manifest *m = NULL;
	int rc = 0;

	if (!folder_is(folder))
		return 0;
	if (manifest_load(&m, folder))
		return -1;
	for (size_t i = 0; m && i < m->n_shards && !rc; i++)
		rc = buf_addf(b, "%016" PRIx64 "%016" PRIx64 "\n", m->shards[i].digest.hi, m->shards[i].digest.lo);
	manifest_free(m);
	return rc;
}

static json_t *data_fact(const char *folder, const struct shard_source *data)
{
	json_t *recipe = shard_recipe_json(reader_recipe(shard_source_reader(data)));
	char *text = recipe ? json_dumps(recipe, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
	struct buf b = BUF_INIT;
	json_t *sum = NULL;

	if (!text)
		err_memory();
	else if (!buf_adds(&b, text) && !add_digests(&b, folder))
		sum = sum_json(XXH3_64bits(b.data, b.len));
	buf_release(&b);
	free(text);
	json_decref(recipe);
	return sum;
}

static int set(json_t *o, const char *name, json_t *value)
{
	if (!value)
		return -1;
	return json_object_set_new(o, name, value) ? err_memory() : 0;
}

json_t *pretrain_facts(const struct pretrain_opts *o, const struct config *c, const struct shard_source *data)
{
	static const char *const decays[] = { "linear", "poly", "constant" };
	json_t *f = json_pack("{s:s, s:I, s:I, s:I, s:s, s:s, s:f, s:f, s:f}", "optimizer", "adamw", "seed", (json_int_t)o->seed, "batch",
			      (json_int_t)o->batch, "warmup", (json_int_t)o->warmup, "compat",
			      o->compat == PRETRAIN_TORCH ? "torch" : "google", "decay", decays[o->decay], "learning_rate",
			      o->learning_rate, "weight_decay", o->weight_decay, "clip", o->clip);

	if (!f) {
		err_memory();
		return NULL;
	}
	if (set(f, "config", config_fact(c)) || set(f, "init", init_fact(o->init)) || set(f, "data", data_fact(o->data, data)) ||
	    set(f, "instances", json_integer((json_int_t)reader_size(shard_source_reader(data)))) ||
	    (o->decay != DECAY_CONSTANT && set(f, "steps", json_integer((json_int_t)o->steps))) ||
	    (o->decay == DECAY_POLY && set(f, "power", json_real(o->power)))) {
		json_decref(f);
		return NULL;
	}
	return f;
}

char *pretrain_tokenizer_config(const struct config *c, const struct shard_source *data)
{
	const json_t *t = reader_recipe(shard_source_reader(data))->tokenizer;
	json_t *o = json_pack("{s:b, s:i, s:b, s:b, s:s}", "do_lower_case", !json_is_true(json_object_get(t, "cased")), "model_max_length",
			      c->max_position_embeddings, "strip_accents", json_is_true(json_object_get(t, "strip_accents")),
			      "tokenize_chinese_chars", json_is_true(json_object_get(t, "cjk")), "tokenizer_class", "BertTokenizer");
	char *text = o ? json_dumps(o, JSON_INDENT(2)) : NULL;

	if (!text)
		err_memory();
	json_decref(o);
	return text;
}
