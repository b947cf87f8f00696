/*
 * learn_bpe_impl.h - merging pairs of tokens in words, for what starts from
 * characters (learn_bpe.c) and from the pieces of a vocabulary (learn_extend.c).
 */
#ifndef TOKENIZER_LEARN_BPE_IMPL_H
#define TOKENIZER_LEARN_BPE_IMPL_H

#include "base/map.h"
#include "tokenizer/learn.h"
#include "tokenizer/learn_alphabet.h"
#include "tokenizer/learn_pairs.h"
#include "tokenizer/learn_scores.h"

/* In a new vocabulary its number comes after the specials; in one that is extended it is the id. */
struct bpe_token {
	size_t start;		/* in bpe.text */
	uint32_t len;
};

/* A word of at least two tokens. */
struct piece_word {
	uint64_t count;
	uint32_t start;		/* in bpe.pieces */
	uint8_t len;
};

struct bpe {
	struct learn *l;
	struct alphabet alphabet;
	struct buf text;		/* all tokens' bytes */
	struct bpe_token *tokens;
	size_t n_tokens, cap_tokens;
	struct map ids;			/* token to its index */
	uint32_t *inside;		/* of each letter of the alphabet: its "##" token; learn_bpe.c's */
	struct piece_word *words;
	size_t n_words;
	uint32_t *pieces;
	size_t n_pieces;
	struct pairs pairs;
	uint64_t *freqs;		/* how often each token occurs */
	size_t cap_freqs;
	uint64_t merged;		/* how often the pair of this step was merged */
	struct scores scores;
	uint32_t *touched;		/* pairs that this step made more frequent */
	size_t n_touched, cap_touched;
	uint32_t *visit;		/* words that have the pair of this step */
	size_t n_visit, cap_visit;
	uint32_t step;
	uint32_t left, right, joined;	/* tokens of this step */
};

/* A new token, whether or not there is one like it; or the token of these bytes, made when there is none. PAIRS_NONE: out of memory. */
uint32_t bpe_add_token(struct bpe *b, const char *bytes, size_t len);
uint32_t bpe_put_token(struct bpe *b, const char *bytes, size_t len);

/* Room for all words as tokens, a letter each at most; then the words one by one, as tokens written at b->pieces + b->n_pieces. */
int bpe_reserve_words(struct bpe *b);
void bpe_add_word(struct bpe *b, size_t n, uint64_t count);

int bpe_count_pairs(struct bpe *b);		/* after the last word */
int bpe_step(struct bpe *b);			/* merges the pair that comes first: 1, 0 when there is none, -1 failed */
void bpe_release(struct bpe *b);

#endif
