/*
 * features.h - one text, or two, to the sequence that a model takes:
 * [CLS] a [SEP], or [CLS] a [SEP] b [SEP], whose second part is of type 1.
 *
 *	struct features f;
 *	if (features_open(&f, tokenizer, 128))
 *		return -1;
 *	features_add(&f, "A fine film.", NULL, label, &sequences)
 *	features_close(&f);
 *
 * Too many tokens for max_seq_length: one text loses its end; of two the longer one
 * loses its last token, and at equal lengths the second one, until both fit
 * (google-research/bert, run_classifier.py, _truncate_seq_pair).
 */
#ifndef FINETUNE_FEATURES_H
#define FINETUNE_FEATURES_H

#include "finetune/sequences.h"
#include "tokenizer/tokenizer.h"

struct features {
	int max_seq_length;
	uint64_t cut;			/* sequences that lost tokens, so far */
	uint64_t empty;			/* sequences of special tokens alone: texts in which there is nothing to read */
	/* private */
	struct encoder *encoder;
	struct vocab_special special;
	struct ids a, b;
};

/* T must outlive it. -1 with the reason set: a vocabulary without [CLS] or [SEP], a max_seq_length below 3. */
int features_open(struct features *f, const struct tokenizer *t, int max_seq_length);
void features_close(struct features *f);	/* of a zeroed struct too */

/* B may be NULL. Line ends inside a text are white space to the tokenizer. */
int features_add(struct features *f, const char *a, const char *b, int32_t label, struct sequences *s);

#endif
