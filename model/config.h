/*
 * config.h - the shape of a model: config.json, as transformers writes it, both ways.
 *
 *	struct config c = CONFIG_INIT;
 *	if (config_read(&c, "model/config.json"))
 *		return -1;		(EXIT_CORRUPT, naming the member, when it cannot be)
 *	... c.hidden_size
 *	config_write(&c, "out/config.json")
 *	config_release(&c);
 *
 * A model without "architectures" is of head HEAD_UNSAID: the caller says which,
 * or refuses. Members that mean nothing to us are kept and written again;
 * members that would make it another model than ours (a decoder, relative
 * positions) are refused.
 *
 * Layers may differ, as after surgery. Their numbers of heads are told by
 * "pruned_heads", as transformers 4 has it: {"0": [2, 3]} leaves layer 0 two heads
 * less. Their widths are told by a member of ours, "intermediate_sizes": [512, 384].
 * Others of ours say what a model was trained on: "max_seq_length", "tokenizer_compat".
 */
#ifndef MODEL_CONFIG_H
#define MODEL_CONFIG_H

#include "kernels/ops.h"
#include "model/heads.h"

#include <stdbool.h>
#include <stddef.h>

/* What a class score is trained on: not said, squared error, one class, several at once. */
enum problem { PROBLEM_UNSAID, PROBLEM_REGRESSION, PROBLEM_ONE, PROBLEM_SEVERAL };

struct layer_config {
	int heads;				/* A */
	int intermediate_size;			/* F */
};

struct config {
	int vocab_size;				/* V */
	int hidden_size;			/* H */
	int num_hidden_layers;			/* L */
	int num_attention_heads;		/* of a layer that lost none: D is hidden_size / num_attention_heads */
	int intermediate_size;			/* of a layer that "intermediate_sizes" does not change */
	struct layer_config *layers;		/* [L] */
	int max_position_embeddings;		/* longest sequence; below 65536 */
	int max_seq_length;			/* that it was tuned on, for who uses it; 0: not said */
	char tokenizer_compat[16];		/* whose ids it was trained on ("google", "hf"); "": not said */
	int type_vocab_size;			/* token types, at least 1 */
	enum act hidden_act;
	double hidden_dropout_prob, attention_probs_dropout_prob;
	double classifier_dropout;		/* before the last layer; below 0: null, which means hidden_dropout_prob */
	double layer_norm_eps;
	double initializer_range;		/* standard deviation of new weights */
	int pad_token_id;
	bool tie_word_embeddings;		/* the MLM part's table is the word embeddings */
	enum head head;
	bool pooler;				/* HEAD_NONE only: whether it has one (a file without is loaded without) */
	enum problem problem_type;
	int num_labels;				/* of heads with labels */
	char **labels;				/* [num_labels] "id2label" */
	char *others;				/* other members, as one JSON object */
};

#define CONFIG_INIT { .layers = NULL }

int config_read(struct config *c, const char *path);
int config_write(const struct config *c, const char *path);

/* The same from and to memory; NAME is for messages. The text that config_print returns is the caller's to free. */
int config_parse(struct config *c, const char *text, size_t n, const char *name);
char *config_print(const struct config *c);

int config_copy(struct config *to, const struct config *from);
void config_release(struct config *c);

/* Gives C these labels, copied, or, with NAMES NULL, LABEL_0 and so on. */
int config_set_labels(struct config *c, const char *const *names, int n);

/* Parts and sizes that follow from it. */
static inline int config_head_size(const struct config *c) { return c->hidden_size / c->num_attention_heads; }	/* D */
bool config_has_pooler(const struct config *c);
int config_scores(const struct config *c);		/* C, outputs of the last layer; 0: none */
bool config_is_regression(const struct config *c);	/* a classifier of numbers: it says so, or has one label */
double config_scores_dropout(const struct config *c);	/* rate before it */
int config_label(const struct config *c, const char *name);	/* -1: no such label; no reason set */

#endif
