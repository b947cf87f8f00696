/*
 * learn_extend.h - more tokens for a vocabulary that a model was trained with.
 *
 *	struct learn l = { .words = &words, .base = vocab, .add = 1000, .min_count = 2, .alphabet = 1000 };
 *	if (learn_extend_run(&l))
 *		return -1;
 *	... l.vocab, l.added, l.slots
 *
 * The words of a text from another field are cut into the pieces that the
 * vocabulary has, as the tokenizer does it, and pairs of them are merged as in
 * learn_bpe.h, until there are half as many again as ADD, or no pair occurs MIN_COUNT times.
 * Of these tokens those are added that occur most in the words as they are merged then.
 * What led to longer tokens only is thus left out: wordpiece.h takes the longest token, it
 * need not be reached by steps. Nothing is added that occurs less than MIN_COUNT times.
 *
 * Words that are [UNK] come first: for each place where nothing fits, the character there is wanted
 * as a token, with "##" or without; what is wanted MIN_COUNT times or more, and belongs to the
 * ALPHABET most frequent characters of the text, is added before any pair, the most wanted
 * first. Words that then are [UNK] still are left out.
 *
 * New tokens take the places of [unusedN] slots, from the first line on, and then
 * follow the last line; all other tokens keep their ids, and with them what a model
 * has learnt of them.
 */
#ifndef TOKENIZER_LEARN_EXTEND_H
#define TOKENIZER_LEARN_EXTEND_H

#include "tokenizer/learn.h"

int learn_extend_run(struct learn *l);		/* -1 with the reason set: out of memory, or more than VOCAB_MAX tokens */

#endif
