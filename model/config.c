/* config.c - reads config.json. */
#include "model/config.h"

#include "base/err.h"
#include "base/json_file.h"
#include "kernels/dropout.h"
#include "model/config_json.h"

#define FILE_MAX_BYTES ((size_t)16 << 20)

/*
 * Largest sizes: a table of parameters of all of them still counts its elements in 64
 * bits, and attention's rows have numbers of 32 (kernels/dropout.h).
 */
enum {
	WIDTH_MAX = 1 << 20,
	LAYERS_MAX = 4096,
	HEADS_MAX = 65535,
	POSITIONS_MAX = 65535,
	LABELS_MAX = 65536,
	VOCAB_MAX = 1 << 30,
};

const struct act_name act_names[] = {
	{ "gelu", ACT_GELU }, { "gelu_python", ACT_GELU }, { "gelu_new", ACT_GELU_TANH },
	{ "gelu_pytorch_tanh", ACT_GELU_TANH }, { "gelu_fast", ACT_GELU_TANH }, { "relu", ACT_RELU }, { "tanh", ACT_TANH },
	{ NULL, ACT_NONE },
};

const char *const problem_names[] = { NULL, "regression", "single_label_classification", "multi_label_classification" };

const char *const config_members[] = {
	"architectures", "attention_probs_dropout_prob", "classifier_dropout", "hidden_act", "hidden_dropout_prob",
	"hidden_size", "id2label", "initializer_range", "intermediate_size", "intermediate_sizes", "label2id",
	"layer_norm_eps", "max_position_embeddings", "max_seq_length", "model_type", "num_attention_heads", "num_hidden_layers", "num_labels",
	"pad_token_id", "problem_type", "pruned_heads", "tie_word_embeddings", "tokenizer_compat", "type_vocab_size", "vocab_size", NULL,
};

/* A JSON object that is read, and its name for messages. */
struct source_json {
	json_t *object;
	const char *name;
};

static int wrong(const struct source_json *s, const char *member, const char *what)
{
	return err_corrupt("cannot use '%s': '%s' %s", s->name, member, what);
}

/* The member, or NULL where it is absent or null. */
static const json_t *member(const struct source_json *s, const char *name)
{
	const json_t *m = json_object_get(s->object, name);

	return json_is_null(m) ? NULL : m;
}

static int in_range(const struct source_json *s, const char *name, const json_t *m, int low, int high, int *value)
{
	if (!json_is_integer(m))
		return wrong(s, name, "is no whole number");
	if (json_integer_value(m) < low || json_integer_value(m) > high)
		return err_corrupt("cannot use '%s': '%s' is %lld, not %d to %d", s->name, name,
				   (long long)json_integer_value(m), low, high);
	*value = (int)json_integer_value(m);
	return 0;
}

/* A size that must be there. */
static int read_size(const struct source_json *s, const char *name, int high, int *value)
{
	const json_t *m = member(s, name);

	return m ? in_range(s, name, m, 1, high, value) : wrong(s, name, "is missing");
}

/* A size that stays as it is where it is absent. */
static int read_int(const struct source_json *s, const char *name, int low, int high, int *value)
{
	const json_t *m = member(s, name);

	return m ? in_range(s, name, m, low, high, value) : 0;
}

static int read_real(const struct source_json *s, const char *name, double *value)
{
	const json_t *m = member(s, name);

	if (!m)
		return 0;
	if (!json_is_number(m))
		return wrong(s, name, "is no number");
	*value = json_number_value(m);
	return 0;
}

static int read_rate(const struct source_json *s, const char *name, double *value)
{
	if (read_real(s, name, value))
		return -1;
	if (member(s, name) && !(*value >= 0 && *value < 1 && dropout_threshold(*value) < 65536))
		return wrong(s, name, "is no rate: at least 0, and less than 1");
	return 0;
}

static int read_bool(const struct source_json *s, const char *name, bool *value)
{
	const json_t *m = member(s, name);

	if (!m)
		return 0;
	if (!json_is_boolean(m))
		return wrong(s, name, "is neither true nor false");
	*value = json_is_true(m);
	return 0;
}

/* A member that makes it another model unless it is absent, null, or this. */
static int must_be(const struct source_json *s, const char *name, const char *text)
{
	const json_t *m = member(s, name);

	if (!m || (json_is_string(m) && !strcmp(json_string_value(m), text)))
		return 0;
	return err_corrupt("cannot use '%s': '%s' is not '%s', and nothing else is known here", s->name, name, text);
}

static int must_be_false(const struct source_json *s, const char *name)
{
	bool value = false;

	if (read_bool(s, name, &value))
		return -1;
	return value ? wrong(s, name, "is true, which makes it another kind of model") : 0;
}

static int read_sizes(struct config *c, const struct source_json *s)
{
	c->type_vocab_size = 2;
	if (read_size(s, "vocab_size", VOCAB_MAX, &c->vocab_size) ||
	    read_size(s, "hidden_size", WIDTH_MAX, &c->hidden_size) ||
	    read_size(s, "num_hidden_layers", LAYERS_MAX, &c->num_hidden_layers) ||
	    read_size(s, "num_attention_heads", HEADS_MAX, &c->num_attention_heads) ||
	    read_size(s, "intermediate_size", WIDTH_MAX, &c->intermediate_size) ||
	    read_size(s, "max_position_embeddings", POSITIONS_MAX, &c->max_position_embeddings) ||
	    read_int(s, "type_vocab_size", 1, POSITIONS_MAX, &c->type_vocab_size) ||
	    read_int(s, "pad_token_id", 0, VOCAB_MAX, &c->pad_token_id))
		return -1;
	if (c->hidden_size % c->num_attention_heads)
		return err_corrupt("cannot use '%s': 'hidden_size' %d is no multiple of 'num_attention_heads' %d", s->name,
				   c->hidden_size, c->num_attention_heads);
	return 0;
}

static int read_numbers(struct config *c, const struct source_json *s)
{
	c->hidden_dropout_prob = c->attention_probs_dropout_prob = 0.1;
	c->classifier_dropout = -1;
	c->layer_norm_eps = 1e-12;
	c->initializer_range = 0.02;
	c->tie_word_embeddings = true;
	if (read_rate(s, "hidden_dropout_prob", &c->hidden_dropout_prob) ||
	    read_rate(s, "attention_probs_dropout_prob", &c->attention_probs_dropout_prob) ||
	    read_rate(s, "classifier_dropout", &c->classifier_dropout) ||
	    read_real(s, "layer_norm_eps", &c->layer_norm_eps) ||
	    read_real(s, "initializer_range", &c->initializer_range) ||
	    read_bool(s, "tie_word_embeddings", &c->tie_word_embeddings))
		return -1;
	if (!(c->layer_norm_eps > 0 && c->layer_norm_eps < 1))
		return wrong(s, "layer_norm_eps", "is not between 0 and 1");
	if (!(c->initializer_range >= 0 && c->initializer_range <= 1))
		return wrong(s, "initializer_range", "is not between 0 and 1");
	return 0;
}

static int read_act(struct config *c, const struct source_json *s)
{
	const json_t *m = member(s, "hidden_act");

	c->hidden_act = ACT_GELU;
	if (!m)
		return 0;
	for (const struct act_name *a = act_names; json_is_string(m) && a->name; a++) {
		if (!strcmp(json_string_value(m), a->name)) {
			c->hidden_act = a->act;
			return 0;
		}
	}
	return wrong(s, "hidden_act", "is none of gelu, gelu_new, gelu_pytorch_tanh, gelu_fast, relu, tanh");
}

/* The first of "architectures" that is ours. */
static int read_head(struct config *c, const struct source_json *s)
{
	const json_t *m = member(s, "architectures");

	c->head = HEAD_UNSAID;
	c->pooler = true;
	if (m && !json_is_array(m))
		return wrong(s, "architectures", "is no list");
	for (size_t i = 0; i < json_array_size(m) && c->head == HEAD_UNSAID; i++) {
		if (!json_is_string(json_array_get(m, i)))
			return wrong(s, "architectures", "is no list of names");
		c->head = head_of_architecture(json_string_value(json_array_get(m, i)));
	}
	return 0;
}

static int read_problem(struct config *c, const struct source_json *s)
{
	const json_t *m = member(s, "problem_type");

	c->problem_type = PROBLEM_UNSAID;
	for (int p = PROBLEM_REGRESSION; m && p <= PROBLEM_SEVERAL; p++)
		if (json_is_string(m) && !strcmp(json_string_value(m), problem_names[p]))
			c->problem_type = (enum problem)p;
	return m && c->problem_type == PROBLEM_UNSAID ? wrong(s, "problem_type", "is none that transformers knows") : 0;
}

static int read_labels(struct config *c, const struct source_json *s)
{
	const json_t *m = member(s, "id2label");
	int n = 2;

	if (!m)
		return read_int(s, "num_labels", 1, LABELS_MAX, &n) ? -1 : config_set_labels(c, NULL, n);
	n = (int)json_object_size(m);
	if (!json_is_object(m) || !n || json_object_size(m) > LABELS_MAX)
		return wrong(s, "id2label", "is no table of labels");
	if (config_set_labels(c, NULL, n))
		return -1;
	for (int i = 0; i < n; i++) {
		const json_t *label;
		char key[16];

		snprintf(key, sizeof(key), "%d", i);
		label = json_object_get(m, key);
		if (!json_is_string(label))
			return err_corrupt("cannot use '%s': 'id2label' has %d labels, but no name for %d", s->name, n, i);
		free(c->labels[i]);
		c->labels[i] = strdup(json_string_value(label));
		if (!c->labels[i])
			return err_memory();
	}
	return 0;
}

/* The heads that "pruned_heads" takes from layer L. */
static int read_pruned(struct config *c, const struct source_json *s, int l, const json_t *list)
{
	unsigned char lost[HEADS_MAX] = { 0 };

	if (!json_is_array(list))
		return wrong(s, "pruned_heads", "is no table of lists");
	for (size_t i = 0; i < json_array_size(list); i++) {
		int head;

		if (in_range(s, "pruned_heads", json_array_get(list, i), 0, c->num_attention_heads - 1, &head))
			return -1;
		if (lost[head]++)
			return wrong(s, "pruned_heads", "names a head twice");
		c->layers[l].heads--;
	}
	if (c->layers[l].heads < 1)
		return err_corrupt("cannot use '%s': 'pruned_heads' leaves layer %d no head", s->name, l);
	return 0;
}

static int read_heads(struct config *c, const struct source_json *s)
{
	const json_t *pruned = member(s, "pruned_heads");
	size_t used = 0;

	if (pruned && !json_is_object(pruned))
		return wrong(s, "pruned_heads", "is no table of lists");
	for (int l = 0; l < c->num_hidden_layers; l++) {
		const json_t *list;
		char key[16];

		snprintf(key, sizeof(key), "%d", l);
		list = json_object_get(pruned, key);
		if (!list)
			continue;
		used++;
		if (read_pruned(c, s, l, list))
			return -1;
	}
	return used < json_object_size(pruned) ? wrong(s, "pruned_heads", "names a layer that is not there") : 0;
}

static int read_layers(struct config *c, const struct source_json *s)
{
	const json_t *widths = member(s, "intermediate_sizes");

	c->layers = calloc((size_t)c->num_hidden_layers, sizeof(*c->layers));
	if (!c->layers)
		return err_memory();
	if (widths && (!json_is_array(widths) || json_array_size(widths) != (size_t)c->num_hidden_layers))
		return wrong(s, "intermediate_sizes", "is no list with a number for each layer");
	for (int l = 0; l < c->num_hidden_layers; l++) {
		c->layers[l] = (struct layer_config){ c->num_attention_heads, c->intermediate_size };
		if (widths && in_range(s, "intermediate_sizes", json_array_get(widths, (size_t)l), 1, WIDTH_MAX,
				       &c->layers[l].intermediate_size))
			return -1;
	}
	return read_heads(c, s);
}

/* What it was tuned on. */
static int read_tuned(struct config *c, const struct source_json *s)
{
	const json_t *compat = member(s, "tokenizer_compat");

	if (compat && (!json_is_string(compat) || json_string_length(compat) >= sizeof(c->tokenizer_compat)))
		return wrong(s, "tokenizer_compat", "is no short word");
	if (compat)
		snprintf(c->tokenizer_compat, sizeof(c->tokenizer_compat), "%s", json_string_value(compat));
	return member(s, "max_seq_length") ? read_int(s, "max_seq_length", 3, c->max_position_embeddings, &c->max_seq_length) : 0;
}

/* What is not read above, as text. */
static int read_others(struct config *c, const struct source_json *s)
{
	json_t *others = json_copy(s->object);

	for (const char *const *m = config_members; others && *m; m++)
		json_object_del(others, *m);
	c->others = others ? json_dumps(others, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
	json_decref(others);
	return c->others ? 0 : err_memory();
}

static int read_object(struct config *c, const struct source_json *s)
{
	if (!json_is_object(s->object))
		return err_corrupt("cannot use '%s': not a JSON object", s->name);
	if (must_be(s, "model_type", "bert") || must_be(s, "position_embedding_type", "absolute") ||
	    must_be_false(s, "is_decoder") || must_be_false(s, "add_cross_attention") ||
	    must_be_false(s, "is_encoder_decoder"))
		return -1;
	if (read_sizes(c, s) || read_numbers(c, s) || read_act(c, s) || read_head(c, s) || read_problem(c, s) ||
	    read_labels(c, s) || read_layers(c, s) || read_tuned(c, s))
		return -1;
	return read_others(c, s);
}

static int parse(struct config *c, json_t *object, const char *name)
{
	const struct source_json s = { object, name };
	int rc;

	*c = (struct config)CONFIG_INIT;
	if (!object)
		return -1;
	rc = read_object(c, &s);
	json_decref(object);
	if (rc)
		config_release(c);
	return rc;
}

int config_parse(struct config *c, const char *text, size_t n, const char *name)
{
	return parse(c, json_file_parse(text, n, name), name);
}

int config_read(struct config *c, const char *path) { return parse(c, json_file_read(path, FILE_MAX_BYTES), path); }
