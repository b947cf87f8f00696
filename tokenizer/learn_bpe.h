/*
 * learn_bpe.h - a WordPiece vocabulary by merging pairs of tokens.
 *
 * By count (struct learn's ORDER) this is byte-pair encoding (Sennrich, Haddow, Birch, "Neural Machine
 * Translation of Rare Words with Subword Units", ACL 2016) as Hugging Face's
 * WordPieceTrainer does it: every word begins as its characters, those after
 * the first one marked "##"; the pair of neighbouring tokens that occurs most
 * becomes one token in all words; and so on until the vocabulary is full or no
 * pair occurs MIN_COUNT times. Characters outside the alphabet are taken out of
 * the words first.
 *
 * By likelihood, not the pair AB is merged that occurs most but the one for which
 * count(AB) / (count(A) * count(B)) is highest: the one that makes the text likelier
 * by most, in a model in which tokens follow each other by chance (Schuster, Nakajima, "Japanese
 * and Korean Voice Search", ICASSP 2012). The counts are those of the words as they are cut
 * at that time. Equal scores are settled by the pair's count.
 *
 * Of pairs that are equal in this the one whose left token stands first in
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
