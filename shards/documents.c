/* The table of documents of a shard. */
#include "shards/documents.h"
#include "base/err.h"
#include "shards/keys.h"

#include <inttypes.h>

#define VOCAB_SIZE_MAX (UINT32_C(1) << 24)	/* that a header alone is believed: drawing takes 4 bytes for each */

static int append(struct documents *t, const struct shard_header *header, const struct shard_document *d)
{
	const struct documents_entry *last = t->n ? &t->items[t->n - 1] : NULL;
	const int order = last ? key_compare(last->key, d->key) : -1;
	const struct shard_totals one = {
		.documents = 1, .sentences = d->sentences, .tokens = d->tokens, .text_bytes = d->text_bytes,
		.empty_documents = !d->tokens,
	};

	if (header->recipe.rules == SHARD_OWN && key_shard(d->key, header->shards) != header->shard)
		return err_corrupt("its key belongs to shard %" PRIu32, key_shard(d->key, header->shards));
	if (order > 0)
		return err_corrupt("its key is less than the one before");
	if (d->occurrence != (order ? 0 : last->occurrence + 1))
		return err_corrupt("it is occurrence %" PRIu32 " of its key, %" PRIu32 " is due", d->occurrence,
				   order ? 0 : last->occurrence + 1);
	if (t->n == UINT32_MAX)
		return err_corrupt("more than %" PRIu32 " documents", UINT32_MAX);
	if (array_grow(&t->items, &t->cap, t->n + 1, sizeof(*t->items)))
		return -1;
	t->items[t->n++] = (struct documents_entry){ d->key, d->occurrence, (uint32_t)d->tokens };
	t->keys = key_add(t->keys, d->key);
	shard_totals_add(&t->totals, &one);
	return 0;
}

int documents_add(struct documents *t, const struct shard_header *header, const struct frame_block *b,
		  int (*each)(void *ctx, const struct shard_document *d), void *ctx)
{
	const unsigned char *p = (const unsigned char *)b->raw.data, *end = p + b->raw.len;
	struct shard_document d;

	for (uint32_t k = 0; k < b->records; k++) {
		if (shard_document_decode(&p, end, &d) || append(t, header, &d))
			return err_prefix("document %zu", t->n);
		if (each && each(ctx, &d))
			return -1;
	}
	return p == end ? 0 : err_corrupt("a block holds %zu bytes more than its documents", (size_t)(end - p));
}

void documents_release(struct documents *t)
{
	if (!t)
		return;
	free(t->items);
	*t = (struct documents)DOCUMENTS_INIT;
}

/* --- masks ----------------------------------------------------------------------------- */

bool documents_can_draw(const struct shard_recipe *recipe, const struct vocab *vocab)
{
	if (recipe->words.count && !recipe->words.list)
		return false;
	return vocab || (!recipe->whole_word_mask && recipe->vocab_size <= VOCAB_SIZE_MAX);
}

int documents_mask_init(struct mask *m, const struct shard_recipe *recipe, const struct vocab *vocab)
{
	const struct mask_rule rule = shard_recipe_mask(recipe, vocab);
	uint64_t never = 0;

	if (!documents_can_draw(recipe, vocab))
		return err_fail("%s needed to draw masks", vocab ? "the list of words is" : "the vocabulary is");
	for (size_t k = 0; k < recipe->n_never; k++)
		never += recipe->never[k].last - recipe->never[k].first + 1;
	if (never >= recipe->vocab_size)
		return err_corrupt("its header leaves no id to draw as replacement");
	return mask_init(m, &rule);
}

void documents_draw(const struct documents *t, struct mask *m, const struct shard_recipe *recipe,
		    enum rng_purpose purpose, uint64_t epoch, struct instance *i)
{
	const struct instance_segment *first = shard_lead(recipe, i);
	const struct documents_entry *d = &t->items[first->document];
	const uint64_t pass = purpose == RNG_DYNAMIC_MASK ? epoch * recipe->dupe_factor + i->pass : i->pass;
	struct rng r;

	mask_stream(&r, purpose, recipe->seed, d->key, d->occurrence, (uint32_t)pass, first->first);
	mask_draw(m, &r, i);
}
