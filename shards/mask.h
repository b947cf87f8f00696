/*
 * mask.h - which tokens of an instance are masked, and what stands there
 * instead: one function for masks drawn when a shard is made and for those
 * drawn by its reader.
 *
 *	struct mask m;
 *	mask_init(&m, &rule)				(one a thread: scratch)
 *	mask_stream(&r, RNG_STATIC_MASK, seed, &document, pass, instance)
 *	mask_draw(&m, &r, &instance)
 *	mask_release(&m)
 *
 * The number of predictions and the 80/10/10 rule, where no other shares are
 * asked for, are those of Devlin et al. 2018, appendix A.1, as google-research/bert's
 * create_masked_lm_predictions has them; the draws are our own (shards/FORMAT.md, "Masks").
 */
#ifndef SHARDS_MASK_H
#define SHARDS_MASK_H

#include "base/key.h"
#include "base/rng_many.h"
#include "shards/instance.h"
#include "shards/mask_words.h"
#include "tokenizer/vocab.h"

#include <stdbool.h>
#include <stdint.h>

/* Ids first..last, both included. */
struct id_range {
	uint32_t first, last;
};

/* How many words in a row are masked together. */
enum mask_spans {
	MASK_WORDS,	/* one; or tokens one by one */
	MASK_NGRAMS,	/* 1 to 3, n with a probability like 1 / n (Lan et al. 2019) */
	MASK_SPANS,	/* 1 to 10, geometric with p = 0.2 (Joshi et al. 2019); all of a span is replaced in one way */
};

/* Shares of masked positions: those that become [MASK], and those that become a random token. The others stay. */
struct mask_shares {
	bool given;			/* else they are those below */
	double mask, random;		/* together 1 at most */
};
#define MASK_SHARE_MASK 0.8
#define MASK_SHARE_RANDOM 0.1
/* Of MASK and RANDOM; not given where they are those above. -1 (EXIT_CORRUPT): they are more than 1 together. */
int mask_shares_set(struct mask_shares *s, double mask, double random);
struct mask_shares mask_shares_of(const struct mask_shares *s);		/* in numbers, given or not */

struct mask_rule {
	double masked_lm_prob;
	struct mask_shares shares;
	uint32_t max_predictions;
	uint32_t max_seq_length;
	uint32_t vocab_size;
	uint32_t mask_id;
	const struct id_range *never;	/* ids never drawn as replacement: ascending, apart */
	size_t n_never;
	bool whole_word;		/* so it is where SPANS says more than one */
	bool across_sep;		/* for whole_word: a segment's first token may go on the last word of the one before */
	enum mask_spans spans;
	bool word_draws;		/* all of a word is replaced in one way; of a span it is anyway */
	const struct vocab *vocab;	/* for whole_word: what continues a word */
	const struct mask_words *words;	/* for whole_word: tokens of a character each that are one word; NULL: none */
};

/* The ids of VOCAB that are never drawn: its five special tokens and [unusedN]. The caller frees *NEVER. */
int mask_never(const struct vocab *vocab, struct id_range **never, size_t *n_never);

struct mask {
	struct mask_rule rule;
	uint32_t *pool;			/* ids that are drawn */
	uint32_t pool_size;
	uint32_t *candidates, *lengths;	/* scratch: positions, or words by first position and length */
	uint32_t *order;		/* scratch: numbers of words */
	uint32_t *places;		/* 0, 1, 2, ... */
	uint64_t *marks;		/* scratch: a bit a position, those chosen */
	uint64_t *begins;		/* scratch: likewise, where what is replaced in one way begins */
	uint64_t *gaps;			/* scratch: likewise, [SEP]s, where words may lie across them */
	uint64_t masked, kept;		/* a draw below the first is [MASK], one below the second the token itself */
	struct rng_ahead draws;		/* scratch */
};

int mask_init(struct mask *m, const struct mask_rule *rule);	/* copies what RULE points to, but for vocabulary and words */
void mask_release(struct mask *m);

/* min(max_predictions, max(1, N * masked_lm_prob rounded half to even)): N counts [CLS] and [SEP]. */
uint32_t mask_count(const struct mask_rule *rule, uint32_t n);

/*
 * Opens the stream of an instance's masks: KEY and OCCURRENCE are those of its
 * first segment's document, FIRST that segment's first token. PASS is the
 * instance's, or epoch * dupe_factor + pass for RNG_DYNAMIC_MASK.
 */
void mask_stream(struct rng *r, enum rng_purpose purpose, uint64_t seed, struct key key, uint32_t occurrence,
		 uint32_t pass, uint32_t first);

/* Masks I, which has no masks yet, by the stream R. I must come from instance_init with room for max_predictions. */
void mask_draw(struct mask *m, const struct rng *r, struct instance *i);

#endif
