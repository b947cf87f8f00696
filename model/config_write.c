/* config_write.c - writes config.json; and the small things one does with a config in memory. */
#include "base/err.h"
#include "base/fs.h"
#include "model/config_json.h"

/* Puts VALUE into OBJECT, taking it; *BAD is set when memory ran out on the way. */
static void put(json_t *object, const char *name, json_t *value, bool *bad)
{
	if (!value || json_object_set_new(object, name, value))
		*bad = true;
}

static json_t *act_json(enum act act)
{
	for (const struct act_name *a = act_names; a->name; a++)
		if (a->act == act)
			return json_string(a->name);
	return NULL;
}

static void put_numbers(json_t *o, const struct config *c, bool *bad)
{
	put(o, "vocab_size", json_integer(c->vocab_size), bad);
	put(o, "hidden_size", json_integer(c->hidden_size), bad);
	put(o, "num_hidden_layers", json_integer(c->num_hidden_layers), bad);
	put(o, "num_attention_heads", json_integer(c->num_attention_heads), bad);
	put(o, "intermediate_size", json_integer(c->intermediate_size), bad);
	put(o, "max_position_embeddings", json_integer(c->max_position_embeddings), bad);
	put(o, "type_vocab_size", json_integer(c->type_vocab_size), bad);
	put(o, "pad_token_id", json_integer(c->pad_token_id), bad);
	put(o, "hidden_dropout_prob", json_real(c->hidden_dropout_prob), bad);
	put(o, "attention_probs_dropout_prob", json_real(c->attention_probs_dropout_prob), bad);
	put(o, "classifier_dropout", c->classifier_dropout < 0 ? json_null() : json_real(c->classifier_dropout), bad);
	put(o, "layer_norm_eps", json_real(c->layer_norm_eps), bad);
	put(o, "initializer_range", json_real(c->initializer_range), bad);
	put(o, "tie_word_embeddings", json_boolean(c->tie_word_embeddings), bad);
}

/*
 * Whether labels are written: they name what the head puts out, or they are others than the two that a config without
 * labels has. transformers gives a span's head as many outputs as there are labels, and cannot use it then.
 */
static bool wants_labels(const struct config *c)
{
	if (c->head != HEAD_UNSAID && head_infos[c->head].labels)
		return true;
	if (c->num_labels != 2)
		return c->head != HEAD_SPAN;
	return strcmp(c->labels[0], "LABEL_0") || strcmp(c->labels[1], "LABEL_1");
}

static void put_labels(json_t *o, const struct config *c, bool *bad)
{
	json_t *names = json_object(), *ids = json_object();

	for (int i = 0; i < c->num_labels; i++) {
		char key[16];

		snprintf(key, sizeof(key), "%d", i);
		put(names, key, json_string(c->labels[i]), bad);
		put(ids, c->labels[i], json_integer(i), bad);
	}
	put(o, "id2label", names, bad);
	put(o, "label2id", ids, bad);
}

/* Which heads a layer lost is not known any more: the first ones stand for them. */
static json_t *lost_heads(const struct config *c, int l)
{
	json_t *list = json_array();

	for (int h = 0; list && h < c->num_attention_heads - c->layers[l].heads; h++)
		json_array_append_new(list, json_integer(h));
	return list;
}

static void put_layers(json_t *o, const struct config *c, bool *bad)
{
	json_t *pruned = json_object(), *widths = json_array();
	bool widths_differ = false;

	for (int l = 0; l < c->num_hidden_layers; l++) {
		char key[16];

		snprintf(key, sizeof(key), "%d", l);
		if (c->layers[l].heads != c->num_attention_heads)
			put(pruned, key, lost_heads(c, l), bad);
		if (c->layers[l].intermediate_size != c->intermediate_size)
			widths_differ = true;
		if (!widths || json_array_append_new(widths, json_integer(c->layers[l].intermediate_size)))
			*bad = true;
	}
	if (json_object_size(pruned))
		put(o, "pruned_heads", json_incref(pruned), bad);
	if (widths_differ)
		put(o, "intermediate_sizes", json_incref(widths), bad);
	json_decref(pruned);
	json_decref(widths);
}

/* Weights are written in fp32, whatever the file was that they came from. */
static void put_dtype(json_t *o, bool *bad)
{
	static const char *const names[] = { "dtype", "torch_dtype" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (json_object_get(o, names[i]))
			put(o, names[i], json_string("float32"), bad);
}

static json_t *config_object(const struct config *c)
{
	json_t *o = c->others ? json_loads(c->others, 0, NULL) : json_object();
	bool bad = !o;

	put_numbers(o, c, &bad);
	put(o, "model_type", json_string("bert"), &bad);
	put(o, "hidden_act", act_json(c->hidden_act), &bad);
	if (c->head != HEAD_UNSAID)
		put(o, "architectures", json_pack("[s]", head_infos[c->head].architecture), &bad);
	if (wants_labels(c))
		put_labels(o, c, &bad);
	if (c->problem_type != PROBLEM_UNSAID)
		put(o, "problem_type", json_string(problem_names[c->problem_type]), &bad);
	if (c->max_seq_length)
		put(o, "max_seq_length", json_integer(c->max_seq_length), &bad);
	if (*c->tokenizer_compat)
		put(o, "tokenizer_compat", json_string(c->tokenizer_compat), &bad);
	put_layers(o, c, &bad);
	put_dtype(o, &bad);
	if (bad) {
		json_decref(o);
		return NULL;
	}
	return o;
}

/* Fifteen digits show 0.1 and 1e-12 as people write them; where they do not give the same numbers back, seventeen do. */
static char *dump(const json_t *o)
{
	const size_t flags = JSON_INDENT(2) | JSON_SORT_KEYS;
	char *text = json_dumps(o, flags | JSON_REAL_PRECISION(15));
	json_t *again = text ? json_loads(text, 0, NULL) : NULL;

	if (again && !json_equal(o, again)) {
		free(text);
		text = json_dumps(o, flags | JSON_REAL_PRECISION(17));
	}
	json_decref(again);
	return text;
}

char *config_print(const struct config *c)
{
	json_t *o = config_object(c);
	char *text = o ? dump(o) : NULL;

	json_decref(o);
	if (!text)
		err_memory();
	return text;
}

int config_write(const struct config *c, const char *path)
{
	char *text = config_print(c);
	struct buf b = BUF_INIT;
	int rc = -1;

	if (text && !buf_adds(&b, text) && !buf_add_byte(&b, '\n'))
		rc = fs_write_all(path, b.data, b.len);
	buf_release(&b);
	free(text);
	return rc;
}

static void free_labels(struct config *c)
{
	for (int i = 0; c->labels && i < c->num_labels; i++)
		free(c->labels[i]);
	free(c->labels);
	c->labels = NULL;
	c->num_labels = 0;
}

void config_release(struct config *c)
{
	free_labels(c);
	free(c->layers);
	free(c->others);
	*c = (struct config)CONFIG_INIT;
}

int config_set_labels(struct config *c, const char *const *names, int n)
{
	char **labels = calloc((size_t)n, sizeof(*labels));

	if (!labels)
		return err_memory();
	free_labels(c);
	c->labels = labels;
	c->num_labels = n;
	for (int i = 0; i < n; i++) {
		char numbered[24];

		snprintf(numbered, sizeof(numbered), "LABEL_%d", i);
		labels[i] = strdup(names ? names[i] : numbered);
		if (!labels[i])
			return err_memory();
	}
	return 0;
}

int config_copy(struct config *to, const struct config *from)
{
	const size_t layers = (size_t)from->num_hidden_layers * sizeof(*from->layers);

	*to = *from;
	to->labels = NULL;
	to->num_labels = 0;
	to->layers = malloc(layers ? layers : 1);
	to->others = from->others ? strdup(from->others) : NULL;
	if (to->layers)
		memcpy(to->layers, from->layers, layers);
	if (!to->layers || (from->others && !to->others) ||
	    (from->num_labels && config_set_labels(to, (const char *const *)from->labels, from->num_labels))) {
		config_release(to);
		return err_memory();
	}
	return 0;
}

bool config_has_pooler(const struct config *c)
{
	return c->head == HEAD_NONE ? c->pooler : c->head != HEAD_UNSAID && head_infos[c->head].pooler;
}

int config_scores(const struct config *c)
{
	if (c->head == HEAD_UNSAID || !head_infos[c->head].scores)
		return 0;
	return head_infos[c->head].labels ? c->num_labels : 2;
}

bool config_is_regression(const struct config *c)
{
	return c->head == HEAD_CLASSIFY &&
	       (c->problem_type == PROBLEM_REGRESSION || (c->problem_type == PROBLEM_UNSAID && c->num_labels == 1));
}

double config_scores_dropout(const struct config *c)
{
	if (c->head == HEAD_UNSAID || !head_infos[c->head].dropout)
		return 0;
	return c->classifier_dropout < 0 ? c->hidden_dropout_prob : c->classifier_dropout;
}

int config_label(const struct config *c, const char *name)
{
	for (int i = 0; i < c->num_labels; i++)
		if (!strcmp(c->labels[i], name))
			return i;
	return -1;
}
