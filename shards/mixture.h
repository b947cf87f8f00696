/*
 * mixture.h - several sets of shards as one, each by its weight.
 *
 *	const struct mixture_set sets[] = { { "wiki", 1 }, { "books", 2.5 } };
 *	struct mixture *m;
 *	if (mixture_open(&m, sets, 2, 1, &(struct reader_opts){ .max_seq_length = 512, .vocab_size = 30522 }))
 *		...					(one line says what does not fit)
 *	struct mixture_cursor *c = mixture_cursor_new(m);	(one a thread)
 *	for (...)
 *		const struct instance *i = mixture_get(c, epoch, number);	(NULL: failed)
 *	mixture_cursor_free(c);
 *	mixture_close(m);
 *
 * An epoch of the mixture has weight x instances of each set, rounded to the
 * nearest whole number, half up: its share. It takes them as they stand, from
 * where the epoch before ended, and after the last instance goes on with the
 * first one: passes over a set do not begin and end with epochs. So the share
 * q, q+1, .. of epoch e begins at q = e x share, and place q is instance q
 * mod n of pass q / n, of n instances. With weight 1 a pass is an epoch; with 2 each
 * instance comes twice an epoch, with 0.5 once in two. Dynamic masks are
 * drawn by the pass, so that an instance that comes twice has others.
 *
 * With an EXPONENT A below 1 the chances of sets are like weight x n^A (Devlin's multilingual BERT: 0.7), so that small ones come
 * oftener than their size says, and large ones less often: the weight of a set of n instances becomes weight x
 * n^(A - 1), all scaled so that an epoch has as many instances as by the weights alone; rounded to nine digits, so
 * that the last bits of a pow() decide nothing. 0 makes all sets equal, 1 changes nothing.
 *
 * Numbers of an epoch go through the sets in their order. Which instance has a
 * number is a pure function of (sizes, weights, epoch, number); nothing is
 * stored. One set of weight 1 is that set as reader.h numbers it.
 *
 * The sets must have the same vocabulary and rules of tokens, and the same kind
 * of pairs; lengths, masks and all else may differ. A cursor holds one of
 * reader.h for each set that it has read; all share one shelf of open shards.
 */
#ifndef SHARDS_MIXTURE_H
#define SHARDS_MIXTURE_H

#include "shards/reader.h"

#define MIXTURE_MAX_WEIGHT 1000

struct mixture_set {
	const char *path;		/* a folder of shards, or a shard */
	double weight;			/* above 0, at most MIXTURE_MAX_WEIGHT */
};

/*
 * "DIR" or "DIR:WEIGHT", without a weight 1. Where there is a file of the whole name, that is meant. S->path is a copy
 * that the caller frees. EXIT_USAGE.
 */
int mixture_set_parse(struct mixture_set *s, const char *text);

struct mixture;

/* SETS, of which there is one at least, are copied. EXPONENT: 0 to 1. OPTS hold for each set. */
int mixture_open(struct mixture **m, const struct mixture_set *sets, size_t n, double exponent,
		 const struct reader_opts *opts);
void mixture_close(struct mixture *m);					/* accepts NULL; after its cursors */
uint64_t mixture_size(const struct mixture *m);				/* of an epoch: 1 to 2^53 */
uint32_t mixture_max_seq_length(const struct mixture *m);		/* the most of any set */
uint32_t mixture_max_predictions(const struct mixture *m);		/* the same */
bool mixture_pairs(const struct mixture *m);				/* instances have two segments and a label */
const json_t *mixture_tokenizer(const struct mixture *m);		/* of all sets */

size_t mixture_sets(const struct mixture *m);
const struct mixture_set *mixture_set(const struct mixture *m, size_t k);
const struct reader *mixture_reader(const struct mixture *m, size_t k);
double mixture_weight(const struct mixture *m, size_t k);		/* by the exponent, too */
uint64_t mixture_share(const struct mixture *m, size_t k);		/* its instances in an epoch */
uint64_t mixture_first(const struct mixture *m, size_t k);		/* the number of its first one in an epoch */

/* Where NUMBER < mixture_size of EPOCH stands: instance INDEX of set K, in its pass PASS. */
struct mixture_place {
	size_t k;
	uint64_t pass, index;
};
struct mixture_place mixture_find(const struct mixture *m, uint64_t epoch, uint64_t number);

struct mixture_cursor;
struct mixture_cursor *mixture_cursor_new(const struct mixture *m);	/* NULL: reason set */
void mixture_cursor_free(struct mixture_cursor *c);			/* accepts NULL */

/* Instance NUMBER < mixture_size of EPOCH; good until the cursor's next call. NULL with the reason set. */
const struct instance *mixture_get(struct mixture_cursor *c, uint64_t epoch, uint64_t number);

/* The same by its place, INDEX < reader_size of set K. */
const struct instance *mixture_get_at(struct mixture_cursor *c, const struct mixture_place *at);

#endif
