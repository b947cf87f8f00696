/* build_impl.h - what the build*.c files share and nobody else includes. */
#ifndef SHARDS_BUILD_IMPL_H
#define SHARDS_BUILD_IMPL_H

#include "base/rng.h"
#include "shards/build.h"

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
	const struct docset_document *doc;
	uint32_t number;		/* of the document */
	uint32_t pass;
	uint32_t sentence;		/* the next one */
	struct rng rng;
	uint32_t coins, coins_left;	/* bits of the draw that coins come from */
};

/* Keeps a draft of P; LEAD is the segment that names it. */
int build_keep(struct pass *p, const struct stretch *a, const struct stretch *b, const struct stretch *lead,
	       unsigned flags);
int build_compare(const struct draft *x, const struct draft *y);	/* the order of a shard */

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
