/* Instances drawn again, but for their tokens and masks. */
#include "shards/verify_drafts.h"
#include "base/err.h"
#include "shards/build.h"
#include "shards/lengths.h"

#include <inttypes.h>

struct verify_drafts {
	unsigned threads;
	uint64_t memory;
	struct lengths_ends ends;	/* of all documents */
	size_t *ended;			/* [n] where in ENDS those of the document after are */
	size_t n, cap;
	const struct documents *table;
	struct shard_recipe recipe;	/* the header's; borrowed */
	struct docset docs;
	struct build build;
};

struct verify_drafts *verify_drafts_new(unsigned threads, uint64_t memory)
{
	struct verify_drafts *d = calloc(1, sizeof(*d));

	if (!d) {
		err_memory();
		return NULL;
	}
	d->threads = threads;
	d->memory = memory;
	d->ends.most = memory / sizeof(*d->ends.items) + 1;
	return d;
}

void verify_drafts_free(struct verify_drafts *d)
{
	if (!d)
		return;
	build_release(&d->build);
	docset_release(&d->docs);
	free(d->ends.items);
	free(d->ended);
	free(d);
}

int verify_drafts_add(struct verify_drafts *d, const struct documents *t, const struct frame_block *b)
{
	const unsigned char *p = (const unsigned char *)b->raw.data, *end = p + b->raw.len;

	for (uint32_t k = 0; k < b->records; k++) {
		if (d->n >= t->n)
			return err_corrupt("lengths of more documents than there are");
		if (lengths_get(&p, end, t->items[d->n].tokens, &d->ends))
			return err_prefix("lengths of document %zu", d->n);
		if (array_grow(&d->ended, &d->cap, d->n + 1, sizeof(*d->ended)))
			return -1;
		d->ended[d->n++] = d->ends.n;
	}
	return p == end ? 0 : err_corrupt("a block holds %zu bytes more than its lengths", (size_t)(end - p));
}

static void fill(const void *ctx, size_t i, struct docset_document *doc)
{
	const struct verify_drafts *d = ctx;
	const size_t from = i ? d->ended[i - 1] : 0;

	doc->key = d->table->items[i].key;
	doc->occurrence = d->table->items[i].occurrence;
	doc->sentences = (uint32_t)(d->ended[i] - from);
	doc->ends = doc->sentences ? d->ends.items + from : NULL;
}

int verify_drafts_make(struct verify_drafts *d, const struct shard_header *h, const struct documents *t)
{
	const unsigned __int128 passes = (unsigned __int128)t->n * h->recipe.dupe_factor;

	if (d->n != t->n)
		return err_corrupt("lengths of the sentences of %zu documents, there are %zu", d->n, t->n);
	d->table = t;
	d->recipe = h->recipe;
	docset_init(&d->docs, h->shard, h->shards, 0, d->recipe.vocab_size, d->memory);
	if (docset_outline(&d->docs, d->n, fill, d))
		return -1;
	if (d->docs.bytes > d->memory)
		return err_fail("its %zu documents have %zu sentences, which memory does not hold", t->n, d->ends.n);
	if (passes * BUILD_DRAFT_BYTES > d->memory)
		return err_fail("it says of %zu documents that %" PRIu32 " passes are made of each, which memory does not hold", t->n,
				h->recipe.dupe_factor);
	if (build_init_drafts(&d->build, &d->recipe, &d->docs, d->threads, d->memory - d->docs.bytes))
		return -1;
	d->build.within = true;
	return build_drafts(&d->build);
}

static bool is_as(const struct instance *a, const struct instance *b)
{
	if (a->n_segments != b->n_segments || a->pass != b->pass || (a->flags & INSTANCE_RANDOM_NEXT) != (b->flags & INSTANCE_RANDOM_NEXT))
		return false;
	for (uint32_t s = 0; s < a->n_segments; s++)
		if (a->segments[s].document != b->segments[s].document || a->segments[s].first != b->segments[s].first ||
		    a->segments[s].length != b->segments[s].length)
			return false;
	return true;
}

/* What is due in place of the instance that is there. */
static int differs(const struct instance *due)
{
	const struct instance_segment *a = &due->segments[0], *b = &due->segments[due->n_segments - 1];
	char second[96] = "";

	if (due->n_segments > 1)
		snprintf(second, sizeof(second), " and %s%" PRIu32 " from token %" PRIu32 " of document %" PRIu32,
			 due->n_segments > 2 ? "others, at last " : "", b->length, b->first, b->document);
	return err_corrupt("drawn again it has, in pass %" PRIu32 ", %" PRIu32 " tokens from token %" PRIu32 " of document %" PRIu32 "%s%s",
			   due->pass, a->length, a->first, a->document, second,
			   due->flags & INSTANCE_RANDOM_NEXT ? ", label 1" : "");
}

int verify_drafts_check(const struct verify_drafts *d, uint64_t number, const struct instance *i)
{
	struct instance_segment segments[INSTANCE_SEGMENTS_MAX];
	struct instance due = { .segments = segments };

	if (number >= d->build.n)
		return err_corrupt("its documents make %" PRIu64 " instances only", d->build.n);
	build_segments(&d->build, number, &due);
	return is_as(i, &due) ? 0 : differs(&due);
}

static int check_total(const char *what, uint64_t says, uint64_t is)
{
	return says == is ? 0 : err_corrupt("the trailer says %" PRIu64 " %s, drawn again there are %" PRIu64, says, what, is);
}

int verify_drafts_end(const struct verify_drafts *d, const struct shard_totals *t)
{
	struct shard_totals is = { 0 };

	if (t->sentences < d->ends.n)
		return err_corrupt("its documents have %" PRIu64 " sentences, there are lengths of %zu", t->sentences, d->ends.n);
	build_totals(&d->build, &is);
	return check_total("instances", t->instances, d->build.n) || check_total("truncated instances", t->truncated, is.truncated) ||
	       check_total("dropped chunks", t->dropped, is.dropped) ? -1 : 0;
}
