/*
 * heads.h - what stands on top of an encoder: the table of the kinds of model.
 *
 * A kind is at most three parts. The pooler makes one row of each sequence's
 * first token. The MLM part turns rows at masked places into scores of the whole
 * vocabulary. The last layer gives a few scores, for each sequence (from its
 * pooled row) or for each token. transformers has a class for each kind; its
 * name stands in config.json, under "architectures".
 */
#ifndef MODEL_HEADS_H
#define MODEL_HEADS_H

#include <stdbool.h>

enum head {
	HEAD_NONE,		/* hidden states, and pooled rows */
	HEAD_PRETRAINING,	/* masked-LM, and is next */
	HEAD_MLM,
	HEAD_NSP,
	HEAD_CLASSIFY,		/* a class, or numbers, for each sequence */
	HEAD_SPAN,		/* where an answer starts and ends */
	HEAD_TOKENS,		/* a class for each token */
	HEAD_COUNT,
	HEAD_UNSAID = -1,	/* config.json names no kind */
};

struct head_info {
	const char *word;		/* on command lines */
	const char *architecture;	/* transformers' class */
	bool pooler, mlm;
	const char *scores;		/* name of the last layer; NULL: none */
	bool per_token;			/* it scores each token, else each sequence */
	bool dropout;			/* before it */
	bool labels;			/* as many scores as labels, else 2 */
};

extern const struct head_info head_infos[HEAD_COUNT];

/* The words as an option's operand: "none|pretraining|...". */
#define HEAD_WORDS "none|pretraining|mlm|nsp|classify|span|tokens"

/* HEAD_UNSAID for a name not in the table. */
enum head head_of_architecture(const char *name);

#endif
