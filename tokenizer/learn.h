/*
 * learn.h - what the ways to learn a vocabulary share: what they are given,
 * and what they give.
 *
 *	struct learn l = { .words = &words, .size = 30000, .min_count = 2, .alphabet = 1000 };
 *	if (learn_bpe_run(&l))			(or another: learn_topdown.h, learn_extend.h)
 *		return -1;
 *	... l.vocab.data, l.vocab.len		(one token a line)
 *	learn_release(&l);
 *
 * Every new vocabulary begins with [PAD], [unused0] ... as many as asked for,
 * [UNK], [CLS], [SEP], [MASK]. With 99 unused slots the five stand where the
 * published BERT vocabularies have them. It depends on the words and their counts
 * only, not on the order in which they come.
 */
#ifndef TOKENIZER_LEARN_H
#define TOKENIZER_LEARN_H

#include "base/buf.h"
#include "base/progress.h"
#include "tokenizer/learn_words.h"
#include "tokenizer/vocab.h"

#include <stddef.h>
#include <stdint.h>

#define LEARN_SPECIALS 5
#define LEARN_INSIDE "##"	/* begins a token that is not the first of its word */
#define LEARN_INSIDE_LEN 2

enum learn_order { LEARN_BY_COUNT, LEARN_BY_LIKELIHOOD };

struct learn {
	const struct learn_words *words;
	uint64_t size;			/* tokens wanted, specials and unused slots included; at most LEARN_SIZE_MAX */
	uint64_t min_count;		/* what occurs less often becomes no token; at least 1 */
	uint64_t alphabet;		/* characters to keep at most, those of INITIAL included */
	uint64_t unused;		/* [unusedN] slots */
	const uint32_t *initial;	/* code points that are kept whatever their count */
	size_t n_initial;
	enum learn_order order;		/* of pairs; for learn_bpe and learn_extend */
	const struct vocab *base;	/* for learn_extend, which needs no SIZE and UNUSED: the vocabulary, */
	uint64_t add;			/* and how many tokens to add, at least 1 */
	struct progress *progress;	/* may be NULL */
	/* filled: */
	struct buf vocab;		/* the tokens, a line each */
	uint64_t tokens;		/* how many */
	uint64_t letters, inside;	/* characters, and those with a "##" form; learn_extend: new ones */
	uint64_t added, slots;		/* learn_extend: new tokens, how many of them took the place of a slot */
	uint64_t unknown_count;		/* learn_extend: how often words occur that are [UNK] still */
	uint64_t left_out;		/* different characters that were not kept */
	uint64_t left_out_count;	/* and how often they occur */
	uint64_t last_count;		/* how often the last merged pair occurred, or what the threshold was; 0: there are characters only */
};

#define LEARN_SIZE_MAX ((uint64_t)1 << 30)

/* Adds the special tokens and the unused slots to the vocabulary, which is empty. */
int learn_add_specials(struct learn *l);
void learn_release(struct learn *l);

#endif
