/*
 * learn_bpe.h - a WordPiece vocabulary by merging the most frequent pairs.
 *
 *	struct learn_bpe l = { .words = &words, .size = 30000, .min_count = 2, .alphabet = 1000 };
 *	if (learn_bpe_run(&l))
 *		return -1;
 *	... l.vocab.data, l.vocab.len		(one token a line)
 *	learn_bpe_release(&l);
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
 * The vocabulary is [PAD], [unused0] ... as many as asked for, [UNK], [CLS],
 * [SEP], [MASK], the alphabet in order of code points, "##" and each character
 * that some word has after its first one in the same order, and then the
 * merged tokens as they were found. With 99 unused slots the five stand where
 * the published BERT vocabularies have them.
 */
#ifndef TOKENIZER_LEARN_BPE_H
#define TOKENIZER_LEARN_BPE_H

#include "base/buf.h"
#include "base/progress.h"
#include "tokenizer/learn_words.h"

#include <stddef.h>
#include <stdint.h>

#define LEARN_SPECIALS 5

struct learn_bpe {
	const struct learn_words *words;
	uint64_t size;			/* tokens wanted, specials and unused slots included; at most LEARN_SIZE_MAX */
	uint64_t min_count;		/* a pair must occur so often to be merged; at least 1 */
	uint64_t alphabet;		/* characters to keep at most, those of INITIAL included */
	uint64_t unused;		/* [unusedN] slots */
	const uint32_t *initial;	/* code points that are kept whatever their count */
	size_t n_initial;
	struct progress *progress;	/* may be NULL */
	/* filled: */
	struct buf vocab;		/* the tokens, a line each */
	uint64_t tokens;		/* how many; fewer than SIZE when no pair was left */
	uint64_t letters, inside;	/* characters, and those with a "##" form */
	uint64_t left_out;		/* different characters that were not kept */
	uint64_t left_out_count;	/* and how often they occur */
	uint64_t last_count;		/* how often the last merged pair occurred; 0: none was */
};

#define LEARN_SIZE_MAX ((uint64_t)1 << 30)

/* -1 with the reason set: out of memory, or SIZE is less than what specials and alphabet need (which it names). */
int learn_bpe_run(struct learn_bpe *l);
void learn_bpe_release(struct learn_bpe *l);

#endif
