/* build_impl.h - what the build*.c files share and nobody else includes. */
#ifndef SHARDS_BUILD_IMPL_H
#define SHARDS_BUILD_IMPL_H

#include "shards/build.h"

/* Beside enum instance_flags, in drafts only: the pair lost tokens to max_seq_length. */
#define DRAFT_TRUNCATED (1 << 8)

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

/* The tokens of draft D into I, without masks. */
void build_lay(const struct build *b, const struct draft *d, struct instance *i);

/* Masks I, which has none, as D says, whose masks build_google has drawn. */
void build_put_masks(const struct draft *d, struct instance *i);

#endif
