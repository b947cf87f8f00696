/* build_impl.h - what the build*.c files share and nobody else includes. */
#ifndef SHARDS_BUILD_IMPL_H
#define SHARDS_BUILD_IMPL_H

#include "base/rng.h"
#include "shards/build.h"

#include <stdatomic.h>

/* Beside enum instance_flags, in drafts only: the pair lost tokens to max_seq_length. */
#define DRAFT_TRUNCATED (1 << 8)
/* Where pairs are none: the last of its document and pass; and one that was joined to another, by what document[1] is. */
#define DRAFT_TAIL (1 << 9)
#define DRAFT_JOINED (1 << 10)

struct build_worker {
	/* drafting */
	struct draft *drafts;
	size_t n, cap;
	uint64_t counted;		/* drafts made, kept or not */
	bool full;			/* those of all workers are too many */
	uint64_t work;			/* that made none (build_spend) */
	atomic_uint_fast64_t all;	/* of the first one: drafts of all, by the thousand */
	struct shard_totals totals;
	/* blocks */
	struct instance instance;
	struct instance_columns columns;
	struct mask mask;
};

/* A run of tokens of one document that may yet be cut. */
struct stretch {
	uint32_t document, first, length;
};

/* Tokens before sentence I. */
static inline uint32_t start_of(const struct docset_document *d, uint32_t i)
{
	return i ? d->ends[i - 1] : 0;
}

/* The tokens of D's sentences FIRST .. END-1; D is document NUMBER. */
static inline struct stretch stretch_of(const struct docset_document *d, uint32_t number, uint32_t first, uint32_t end)
{
	return (struct stretch){ number, start_of(d, first), start_of(d, end) - start_of(d, first) };
}

/* Sentences from FIRST on, the fewest with at least TARGET tokens, or all that are left: the number after the last. */
static inline uint32_t take_sentences(const struct docset_document *d, uint32_t first, uint32_t target)
{
	const uint32_t start = start_of(d, first);
	uint32_t end = first;

	while (end < d->sentences && (end == first || d->ends[end - 1] - start < target))
		end++;
	return end;
}

/* Where the drafting of one document's pass stands. */
struct pass {
	const struct build *b;
	struct build_worker *worker;
	const struct build_sink *sink;
	void *ctx;			/* the sink's */
	bool others;			/* there are documents that a random next may be of (build_has_others) */
	const struct docset_document *doc;
	uint32_t number;		/* of the document */
	struct rng_key key;		/* the document's, for its streams */
	uint32_t pass;
	uint32_t sentence;		/* the next one */
	uint32_t target;		/* of all instances of the pass, with document_lengths */
	struct rng rng;
	uint64_t coins;			/* bits of draws that coins come from, ... */
	uint32_t coins_left;		/* ... so many */
};

/* Where drafts go. */
struct build_sink {
	/* An instance of P's pass; LEAD is the segment that names it. */
	int (*keep)(struct pass *p, const struct stretch *a, const struct stretch *b, const struct stretch *lead,
		    unsigned flags);
	/* A first segment whose next is random, at point U, and is wanted to have so many tokens: then build_finish. */
	int (*follow)(struct pass *p, const struct stretch *a, uint64_t u, uint32_t wanted);
};

bool build_has_others(const struct shard_recipe *r, uint64_t ring_size);	/* of so many keys with tokens */
int build_draft_document(struct pass *p);		/* all passes over P's document */
struct stretch build_random(struct pass *p, const struct docset_document *d, uint32_t number, uint32_t wanted);
int build_finish(struct pass *p, struct stretch a, struct stretch b, unsigned flags);	/* truncates, keeps */
uint64_t build_order(const struct pass *p, uint32_t first);	/* the place that is drawn for an instance of P's pass */
void build_open_stream(struct pass *p, uint32_t first);		/* P's rng: of the instance that begins at token FIRST */
int build_compare(const struct draft *x, const struct draft *y);	/* the order of a shard */

/* Draws the masks of the worker's instance, where they are stored; and adds it to the worker's columns. */
void build_mask(const struct build *b, unsigned worker, struct key key, uint32_t occurrence);
void build_put(struct build *b, unsigned worker);

/* The target of the next instance, by P's stream. */
uint32_t build_target(struct pass *p);

/* SHARD_NONE: a whole pass; then, with cross_documents, the joining of all tails. */
int build_sentences(struct pass *p);
int build_join_tails(struct build *b);

/* The tokens of draft D into I, without masks. */
void build_lay(const struct build *b, const struct draft *d, struct instance *i);

/* Masks I, which has none, as D says, whose masks build_google has drawn. */
void build_put_masks(const struct draft *d, struct instance *i);

#endif
