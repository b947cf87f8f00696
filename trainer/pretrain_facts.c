/* pretrain_facts.c - what decides the result of a pre-training, and what its model says of it. */
#include "trainer/pretrain_facts.h"

#include "base/err.h"
#include "base/fs.h"
#include "shards/folder.h"
#include "shards/manifest.h"
#include "shards/mask_choice.h"
#include "tokenizer/chars.h"
#include "tokenizer/tokenizer_config.h"
#include "tokenizer/wordpiece.h"
#include "trainer/facts.h"
#include "trainer/run_folder.h"

#include <inttypes.h>
#include <xxhash.h>

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

/* What set K holds. */
static json_t *set_sum(const struct mixture *m, size_t k)
{
	char *text = json_dumps(reader_recipe_json(mixture_reader(m, k)), JSON_COMPACT | JSON_SORT_KEYS);
	struct buf b = BUF_INIT;
	json_t *sum = NULL;

	if (!text)
		err_memory();
	else if (!buf_adds(&b, text) && !add_digests(&b, mixture_set(m, k)->path))
		sum = facts_sum(XXH3_64bits(b.data, b.len));
	buf_release(&b);
	free(text);
	return sum;
}

json_t *pretrain_set_name(const char *path)
{
	size_t end = strlen(path), start;
	json_t *name;

	while (end > 1 && path[end - 1] == '/')
		end--;
	start = end;
	while (start > 0 && path[start - 1] != '/')
		start--;
	name = json_stringn(path + start, end - start);
	return name ? name : json_null();
}

static json_t *set_fact(const struct mixture *m, size_t k)
{
	const struct mixture_set *set = mixture_set(m, k);
	json_t *f = json_pack("{s:f, s:I}", "weight", set->weight, "instances", (json_int_t)reader_size(mixture_reader(m, k)));

	if (!f) {
		err_memory();
		return NULL;
	}
	if (facts_set(f, "name", pretrain_set_name(set->path)) || facts_set(f, "sum", set_sum(m, k))) {
		json_decref(f);
		return NULL;
	}
	return f;
}

/* One set by itself is its sum; several, or one of another weight, a list of them. */
static json_t *data_fact(const struct mixture *m)
{
	json_t *list;

	if (mixture_sets(m) == 1 && mixture_set(m, 0)->weight == 1)
		return set_sum(m, 0);
	list = json_array();
	if (!list)
		err_memory();
	for (size_t k = 0; list && k < mixture_sets(m); k++) {
		json_t *fact = set_fact(m, k);

		if (!fact || json_array_append_new(list, fact)) {
			if (fact)
				err_memory();
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

/* The order of instances: runs of the first rule say nothing of it. */
static int add_order(json_t *f, const struct shard_source *data)
{
	const int version = shard_source_order_version(data);

	return version == 1 ? 0 : facts_set(f, RUN_FOLDER_ORDER, json_integer(version));
}

/* What was chosen of masks, under the shards' own names. */
static int add_masks(json_t *f, const struct mask_choice *c)
{
	for (const struct mask_choice_member *m = mask_choice_members; m->bit; m++)
		if (c->given & m->bit && facts_set(f, m->name, mask_choice_json(c, m->bit)))
			return -1;
	return 0;
}

json_t *pretrain_facts(const struct pretrain_opts *o, const struct config *c, const struct shard_source *data)
{
	json_t *f = json_pack("{s:s, s:I, s:I, s:I, s:s, s:s, s:f, s:f, s:f}", "optimizer",
			      o->optimizer == OPTIMIZER_LAMB ? "lamb" : "adamw", "seed", (json_int_t)o->seed, "batch",
			      (json_int_t)o->batch, "warmup", (json_int_t)o->warmup, "compat",
			      o->compat == PRETRAIN_TORCH ? "torch" : "google", "decay", decay_word((enum decay)o->decay), "learning_rate",
			      o->learning_rate, "weight_decay", o->weight_decay, "clip", o->clip);

	if (!f) {
		err_memory();
		return NULL;
	}
	if (facts_set(f, "config", facts_config(c)) || facts_set(f, "init", facts_weights(o->init)) ||
	    facts_set(f, "data", data_fact(shard_source_mixture(data))) ||
	    facts_set(f, "instances", json_integer((json_int_t)mixture_size(shard_source_mixture(data)))) ||
	    add_masks(f, &o->masks) ||
	    (o->data_exponent != 1 && facts_set(f, "data_exponent", json_real(o->data_exponent))) ||
	    (o->decay != DECAY_CONSTANT && facts_set(f, "steps", json_integer((json_int_t)o->steps))) ||
	    (o->decay == DECAY_POLY && facts_set(f, "power", json_real(o->power))) || add_order(f, data)) {
		json_decref(f);
		return NULL;
	}
	return f;
}

/* --- the model's tokenizer ----------------------------------------------------------------------- */

static bool is_hf(const json_t *tokenizer)
{
	const char *const compat = json_string_value(json_object_get(tokenizer, "compat"));

	return compat && !strcmp(compat, "hf");
}

/* What a new model's file says of tokenizer T, but for words and Unicode. */
static json_t *describe(const struct config *c, const json_t *t)
{
	json_t *const o = json_pack("{s:b, s:i, s:b, s:b, s:s}", "do_lower_case", !json_is_true(json_object_get(t, "cased")),
				    "model_max_length", c->max_position_embeddings, "strip_accents",
				    json_is_true(json_object_get(t, "strip_accents")), "tokenize_chinese_chars",
				    json_is_true(json_object_get(t, "cjk")), "tokenizer_class", "BertTokenizer");
	json_t *never = json_object_get(t, "never_split"), *segmenter = json_object_get(t, "segmenter");

	if (o && (!never || !json_object_set(o, "never_split", never)) && (!segmenter || !json_object_set(o, "segmenter", segmenter)))
		return o;
	json_decref(o);
	err_memory();
	return NULL;
}

/* Member NAME of O: VALUE, or absent where that is NULL. */
static int put(json_t *o, const char *name, json_t *value)
{
	if (value)
		return json_object_set(o, name, value) ? err_memory() : 0;
	json_object_del(o, name);
	return 0;
}

/* What token documents may have otherwise than a model directory says: named where it is not the reference's own. */
static int put_words(json_t *o, const json_t *t)
{
	const bool hf = is_hf(t);
	json_t *const max = json_object_get(t, "max_word"), *const unicode = json_object_get(t, "unicode");
	const bool plain_max = json_integer_value(max) == (hf ? WORDPIECE_MAX_WORD_HF : WORDPIECE_MAX_WORD_GOOGLE);
	const bool plain_unicode = hf || !json_is_string(unicode) || !strcmp(json_string_value(unicode), chars_google(NULL)->unicode);

	return put(o, TOKENIZER_CONFIG_MAX_WORD, plain_max ? NULL : max) || put(o, TOKENIZER_CONFIG_UNICODE, plain_unicode ? NULL : unicode) ? -1 : 0;
}

static char *copy(const char *from)
{
	char *const text = strdup(from);

	if (!text)
		err_memory();
	return text;
}

static char *print(const json_t *o)
{
	char *const text = json_dumps(o, JSON_INDENT(2));

	if (!text)
		err_memory();
	return text;
}

/* PATH, a file that is there, with the words of T: to the byte what it was where it says the same. */
static char *amend(const char *path, const json_t *t)
{
	struct buf text = BUF_INIT;
	json_t *o = NULL, *was = NULL;
	char *amended = NULL;

	if (!fs_read_all(path, TOKENIZER_CONFIG_BYTES_MAX, &text))
		o = tokenizer_config_parse(text.data ? text.data : "", text.len, path);
	if (o) {
		was = json_copy(o);
		if (!was)
			err_memory();
		else if (!put_words(o, t))
			amended = json_equal(o, was) ? copy(text.data) : print(o);
	}
	json_decref(was);
	json_decref(o);
	buf_release(&text);
	return amended;
}

static char *describe_anew(const struct config *c, const json_t *t)
{
	json_t *const o = describe(c, t);
	char *const text = o && !put_words(o, t) ? print(o) : NULL;

	json_decref(o);
	return text;
}

char *pretrain_tokenizer_config(const struct config *c, const struct shard_source *data, const char *init)
{
	const json_t *const t = mixture_tokenizer(shard_source_mixture(data));
	char *const path = init ? fs_join(init, "tokenizer_config.json") : NULL;
	char *text = NULL;

	if (!init || path)
		text = path && fs_exists(path) ? amend(path, t) : describe_anew(c, t);
	free(path);
	return text;
}

void pretrain_note_compat(struct config *c, const struct shard_source *data)
{
	snprintf(c->tokenizer_compat, sizeof(c->tokenizer_compat), "%s", is_hf(mixture_tokenizer(shard_source_mixture(data))) ? "hf" : "");
}
