/*
 * learn_report.h - what a vocabulary makes of a text.
 *
 *	struct learn_text t;
 *	if (learn_text_measure(&t, &count, &words, vocab, beside))
 *		return -1;
 *	json_t *json = learn_text_json(&t);		(NULL: out of memory)
 *
 * The words are cut as wordpiece.h does it, each different one once. Words that were dropped
 * for want of memory are in no figure but those that say so.
 */
#ifndef TOKENIZER_LEARN_REPORT_H
#define TOKENIZER_LEARN_REPORT_H

#include "tokenizer/learn_count.h"
#include "tokenizer/vocab.h"

#include <jansson.h>
#include <stdbool.h>

/* Of a vocabulary, over all words that were kept or are too long. */
struct learn_use {
	uint64_t tokens;		/* [UNK] is one */
	uint64_t unknown;		/* words that are [UNK] */
	uint64_t whole;			/* words that are one token, but not [UNK] */
	uint64_t used;			/* different tokens that occur */
};

struct learn_text {
	uint64_t words, different;	/* kept or too long; different ones kept */
	uint64_t too_long;		/* of WORDS */
	uint64_t dropped, dropped_different;
	struct learn_use own, beside;
	bool has_beside;
};

/* BESIDE may be NULL. */
int learn_text_measure(struct learn_text *t, const struct learn_count *c, const struct learn_words *w,
		       const struct vocab *own, const struct vocab *beside);

json_t *learn_text_json(const struct learn_text *t);

#endif
