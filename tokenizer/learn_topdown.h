/*
 * learn_topdown.h - a WordPiece vocabulary from whole words downwards.
 *
 * The way of tensorflow-text's wordpiece_tokenizer_learner_lib, which made
 * BERT's own vocabularies; it gives the same tokens in the same order. For a
 * threshold T:
 *
 * Words of more than 50 characters, and words with a character outside the
 * alphabet, are left out; of the others the 5,000,000 most frequent are kept, equal
 * counts in order of their bytes. Tokens are at first all single characters, as they
 * are and with "##". Then, four times, every word is cut up, the first time before
 * each of its characters, later into the longest tokens that there are, from the
 * left; at each cut the rest of the word to its very end counts as one candidate, the
 * first one without and the others with "##"; and what T or more words
 * (with their counts) have for a candidate, and single characters, are the new tokens.
 *
 * (The learner counts all that begins at a cut, and takes from each the counts of
 * all that it begins: which leaves those that end where the word does.)
 *
 * The threshold is found by bisection: between MIN_COUNT or the rarest word's
 * count, if that is more, and 10,000,000 or the commonest word's, if that is less; until
 * the vocabulary has SIZE tokens or up to a twentieth fewer. Few texts allow
 * that for every size, so the vocabulary may be much smaller, and even larger.
 *
 * After the special tokens (learn.h) the vocabulary has the characters in order of
 * code points, then all other tokens, the most frequent first, then in order of their
 * bytes. "##" stands before every character, whether some word has it inside or not.
 */
#ifndef TOKENIZER_LEARN_TOPDOWN_H
#define TOKENIZER_LEARN_TOPDOWN_H

#include "tokenizer/learn.h"

#define TOPDOWN_MIN_COUNT 10		/* the learner's own */

int learn_topdown_run(struct learn *l);	/* -1 with the reason set: out of memory */

/* Whether a vocabulary of TOKENS tokens is what was sought when it should have SIZE. */
int learn_topdown_fits(uint64_t tokens, uint64_t size);

#endif
