/*
 * learn_bpe.h - a WordPiece vocabulary by merging the most frequent pairs.
 *
 * This is byte-pair encoding (Sennrich, Haddow, Birch, "Neural Machine
 * Translation of Rare Words with Subword Units", ACL 2016) as Hugging Face's
 * WordPieceTrainer does it: every word begins as its characters, those after
 * the first one marked "##"; the pair of neighbouring tokens that occurs most
 * becomes one token in all words; and so on until the vocabulary is full or no
 * pair occurs MIN_COUNT times. Characters outside the alphabet are taken out of
 * the words first.
 *
 * Of pairs that occur equally often the one whose left token stands first in
 * the vocabulary comes first, then the one whose right token does; so the
 * vocabulary depends on the words and their counts only. Two pairs may make the
 * same token ("##a" + "##bc" and "##ab" + "##c"); it is in the vocabulary once.
 *
 * After the special tokens (learn.h) the vocabulary has the alphabet in order of
 * code points, "##" and each character that some word has after its first one in
 * the same order, and then the merged tokens as they were found. It is smaller
 * than SIZE only when no pair was left.
 */
#ifndef TOKENIZER_LEARN_BPE_H
#define TOKENIZER_LEARN_BPE_H

#include "tokenizer/learn.h"

/* -1 with the reason set: out of memory, or SIZE is less than what specials and alphabet need (which it names). */
int learn_bpe_run(struct learn *l);

#endif
