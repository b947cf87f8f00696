/*
 * tuned_on.h - how a model's sequences are made: as it was tuned, or as a user says.
 *
 *	struct tuned_on t;
 *	if (tuned_on_settle(&t, &config, folder, max_seq_length, compat))
 *		return -1;
 *	... t.max_seq_length, t.compat
 *	tuned_on_note(&t, &config);		(for who uses the tuned model)
 */
#ifndef FINETUNE_TUNED_ON_H
#define FINETUNE_TUNED_ON_H

#include "model/config.h"

#include <stdint.h>

struct tuned_on {
	int max_seq_length;
	int compat;			/* enum tokenizer_compat */
};

#define TUNED_ON_WORDS "model|google|hf"
enum { TUNED_ON_MODEL, TUNED_ON_GOOGLE, TUNED_ON_HF };

/*
 * MAX_SEQ_LENGTH 0 and COMPAT TUNED_ON_MODEL: as C says, the config of FOLDER; where that is silent, 128 tokens, or as many as
 * it has positions, and google's ids. -1: more than its positions (EXIT_USAGE), or it names ids that are unknown here (EXIT_CORRUPT).
 */
int tuned_on_settle(struct tuned_on *t, const struct config *c, const char *folder, uint64_t max_seq_length, int compat);

void tuned_on_note(const struct tuned_on *t, struct config *c);

#endif
