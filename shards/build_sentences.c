/* Instances of one segment: full sentences, packed to length. shards/FORMAT.md, "Full sentences". */
#include "shards/build_impl.h"
#include "base/err.h"

#include <stdlib.h>

/*
 * Where the instance ends that begins at token FIRST of D and aims at TARGET tokens, MOST at most: after the last
 * sentence that fits; where none does, after the sentence itself, or inside it. *SENTENCE is the one FIRST is in, and
 * becomes the one that the end is in.
 */
static uint32_t end_of(const struct docset_document *d, uint32_t first, uint32_t target, uint32_t most,
		       uint32_t *sentence)
{
	uint32_t end = first, s = *sentence;

	for (; s < d->sentences && d->ends[s] - first <= target; s++)
		end = d->ends[s];
	if (end == first && d->ends[s] - first <= most)
		end = d->ends[s++];
	*sentence = s;
	return end == first ? first + most : end;
}

int build_sentences(struct pass *p)
{
	const struct docset_document *d = p->doc;
	const struct shard_recipe *r = p->b->recipe;
	const uint32_t most = r->max_seq_length - shard_overhead(r);
	uint32_t end, sentence = 0;

	for (uint32_t first = 0; first < d->tokens; first = end) {
		const struct stretch none = { 0, 0, 0 };
		struct stretch a = { p->number, first, 0 };

		build_open_stream(p, first);
		end = end_of(d, first, build_target(p), most, &sentence);
		a.length = end - first;
		if (p->sink->keep(p, &a, &none, &a, end == d->tokens ? DRAFT_TAIL : 0))
			return -1;
	}
	return 0;
}

/* --- tails ------------------------------------------------------------------------------------ */

static int compare_tails(const void *a, const void *b, void *ctx)
{
	const struct draft *drafts = ctx, *x = &drafts[*(const uint32_t *)a], *y = &drafts[*(const uint32_t *)b];

	if (x->pass != y->pass)
		return x->pass < y->pass ? -1 : 1;
	return build_compare(x, y);
}

/* Joins each tail to the ones before it while they fit: TAILS are in order. */
static void join(struct build *b, const uint32_t *tails, size_t n)
{
	uint32_t room = 0, segments = 0;
	struct draft *last = NULL;

	for (size_t k = 0; k < n; k++) {
		struct draft *d = &b->drafts[tails[k]];

		if (last && last->pass == d->pass && d->length[0] + 1u <= room && segments < INSTANCE_SEGMENTS_MAX) {
			d->flags |= DRAFT_JOINED;
			last->document[1] = tails[k] + 1;
			segments++;
		} else {
			room = b->recipe->max_seq_length - 1;
			segments = 1;
		}
		room -= d->length[0] + 1u;
		last = d;
	}
}

int build_join_tails(struct build *b)
{
	uint32_t *tails = malloc((b->n + 1) * sizeof(*tails));
	size_t n = 0;

	if (!tails)
		return err_memory();
	for (uint64_t k = 0; k < b->n; k++)
		if (b->drafts[k].flags & DRAFT_TAIL)
			tails[n++] = (uint32_t)k;
	qsort_r(tails, n, sizeof(*tails), compare_tails, b->drafts);
	join(b, tails, n);
	free(tails);
	return 0;
}
