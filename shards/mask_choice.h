/*
 * mask_choice.h - the options by which a program that reads dynamic shards takes a struct mask_choice (shards/shard.h).
 *
 *	static struct mask_choice masks = MASK_CHOICE_NONE;
 *	const struct arg table[] = { ..., ARG_MASK_CHOICE(&masks), ... };
 *	args_parse(...)
 *	mask_choice_note(&masks);		(which of them were given)
 */
#ifndef SHARDS_MASK_CHOICE_H
#define SHARDS_MASK_CHOICE_H

#include "base/args.h"
#include "shards/shard.h"

#define ARG_MASK_CHOICE(c)                                                                                                \
	ARG_REAL("masked-lm-prob", 0, &(c)->masked_lm_prob, 0, 1, "P", "dynamic shards: share of tokens to mask"),         \
	ARG_UINT("max-predictions-per-seq", 0, &(c)->max_predictions_per_seq, 1, SHARD_MAX_SEQ_LENGTH, "N",                \
		 "dynamic shards: masked tokens of an instance at most"),                                                  \
	ARG_FLAG("whole-word-mask", 0, &(c)->whole_word_mask, "dynamic shards: mask whole words; =false: tokens"),         \
	ARG_CHOICE("mask-spans", 0, &(c)->mask_spans, "none|ngram|span",                                                   \
		   "dynamic shards: mask words one by one, 1 to 3 in a row, or 1 to 10"),                                  \
	ARG_FLAG("word-draws", 0, &(c)->word_draws, "dynamic shards: replace all of a masked word in one way"),            \
	ARG_REAL("mask-replace-prob", 0, &(c)->mask_replace_prob, 0, 1, "P",                                               \
		 "dynamic shards: share of masked positions that become [MASK]"),                                          \
	ARG_REAL("random-replace-prob", 0, &(c)->random_replace_prob, 0, 1, "P",                                           \
		 "dynamic shards: share of masked positions that become a random token")

void mask_choice_note(struct mask_choice *c);

/* The names of the members, by their bits in GIVEN; NULL ends the list. */
struct mask_choice_member {
	unsigned bit;
	const char *option, *name;
};
extern const struct mask_choice_member mask_choice_members[];
json_t *mask_choice_json(const struct mask_choice *c, unsigned bit);	/* the value of one; NULL: out of memory */

#endif
