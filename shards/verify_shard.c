/* Whether a shard's instances are those that its documents and its recipe make. */
#include "shards/verify_impl.h"
#include "base/err.h"
#include "base/rng.h"
#include "shards/folder.h"

#include <inttypes.h>

struct worker {
	struct instance instance;
	struct mask mask;		/* where masks are drawn again */
	struct codes codes;
	uint32_t *positions, *seen;	/* [max_predictions] the masks as stored */
};

struct verify_shard {
	struct verify *v;
	struct worker *workers;		/* [threads] */
	bool static_masks, redraw;
	struct verify_drafts *drafts;	/* SHARD_OWN */
	bool drawn;			/* they are made */
	struct verify_chain *whole;	/* the folder's: SHARD_GOOGLE */
	bool any_key, several_keys;	/* documents with tokens: there are some, of more than one key */
	struct key one_key;
	struct verify_counts counts;
};

/* --- begin -------------------------------------------------------------------------------- */

static int same_id(const char *name, uint32_t header, uint32_t vocab)
{
	if (header == vocab)
		return 0;
	return err_corrupt("header: its id of %s is not the vocabulary's", name);
}

/* The special ids of the header against the vocabulary's. */
static int check_special(const struct vocab_special *h, const struct vocab *vocab)
{
	const struct vocab_special s = vocab_special(vocab);

	if (same_id("[PAD]", h->pad, s.pad) || same_id("[UNK]", h->unk, s.unk) || same_id("[CLS]", h->cls, s.cls) ||
	    same_id("[SEP]", h->sep, s.sep) || same_id("[MASK]", h->mask, s.mask))
		return -1;
	return 0;
}

static int make_workers(struct verify_shard *c, const struct shard_header *h)
{
	const struct instance_shape shape = shard_header_shape(h, 0);
	const size_t n = shape.max_predictions;

	c->workers = calloc(c->v->threads, sizeof(*c->workers));
	if (!c->workers)
		return err_memory();
	for (unsigned k = 0; k < c->v->threads; k++) {
		struct worker *w = &c->workers[k];

		if (instance_init(&w->instance, &shape) || codes_init(&w->codes, shape.vocab_size) ||
		    (c->redraw && documents_mask_init(&w->mask, &h->recipe, c->v->vocab)))
			return -1;
		w->positions = malloc(2 * n * sizeof(*w->positions));
		if (!w->positions)
			return err_memory();
		w->seen = w->positions + n;
	}
	return 0;
}

/* What shows that instances were left out. */
static int open_drafts(struct verify_shard *c, const struct shard_recipe *recipe)
{
	struct verify *v = c->v;

	if (recipe->rules == SHARD_OWN) {
		c->drafts = verify_drafts_new(v->threads, v->memory ? v->memory : VERIFY_MEMORY);
		return c->drafts ? 0 : -1;
	}
	if (recipe->rules == SHARD_IMPORTED || !v->in_folder)
		return 0;
	c->whole = v->whole = v->whole ? v->whole : verify_chain_new(recipe, v->threads);
	v->chained++;
	return c->whole ? 0 : -1;
}

struct verify_shard *verify_shard_new(struct verify *v, struct scan *s)
{
	struct shard_recipe *recipe = &s->header.recipe;
	struct verify_shard *c = calloc(1, sizeof(*c));

	if (!c) {
		err_memory();
		return NULL;
	}
	c->v = v;
	if (v->n_absent && recipe->rules == SHARD_IMPORTED) {
		err_corrupt("'%s': of imported instances nobody knows the documents, nor that one is absent", s->name);
		goto fail;
	}
	if (folder_vocab(&v->vocab, v->vocab_path, s->path, recipe->tokenizer) ||
	    folder_words(&v->words, s->path, recipe, v->vocab))
		goto fail;
	if (v->vocab && check_special(&recipe->special, v->vocab)) {
		err_prefix("'%s'", s->name);
		goto fail;
	}
	c->static_masks = recipe->masking == SHARD_STATIC;
	c->redraw = c->static_masks && recipe->rules == SHARD_OWN && documents_can_draw(recipe, v->vocab);
	if (open_drafts(c, recipe))
		goto fail;
	if (!make_workers(c, &s->header))
		return c;
fail:
	verify_shard_free(c);
	return NULL;
}

void verify_shard_free(struct verify_shard *c)
{
	if (!c)
		return;
	for (unsigned k = 0; c->workers && k < c->v->threads; k++) {
		instance_release(&c->workers[k].instance);
		mask_release(&c->workers[k].mask);
		codes_release(&c->workers[k].codes);
		free(c->workers[k].positions);
	}
	free(c->workers);
	verify_drafts_free(c->drafts);
	free(c);
}

/* --- documents ------------------------------------------------------------------------------ */

int verify_shard_document(struct verify_shard *c, const struct shard_document *d)
{
	char key[33];

	if (verify_is_absent(c->v, d->key)) {
		key_print(d->key, key);
		return err_corrupt("the document with key %s is in it", key);
	}
	if (d->tokens && !c->any_key)
		c->one_key = d->key;
	else if (d->tokens && key_compare(c->one_key, d->key))
		c->several_keys = true;
	c->any_key = c->any_key || d->tokens;
	return 0;
}

int verify_shard_other(struct verify_shard *c, const struct scan *s, const struct scan_block *b)
{
	if (b->frame.type != SHARD_LENGTHS || !c->drafts)
		return 0;
	if (c->drawn)
		err_corrupt("lengths of sentences after instances");
	else if (!verify_drafts_add(c->drafts, &s->documents, &b->frame))
		return 0;
	return scan_place(s, b, SCAN_BLOCK);
}

int verify_shard_instances(struct verify_shard *c, const struct scan *s)
{
	if (!c->drafts || c->drawn)
		return 0;
	c->drawn = true;
	return verify_drafts_make(c->drafts, &s->header, &s->documents) ? err_prefix("'%s'", s->name) : 0;
}

/* --- instances -------------------------------------------------------------------------------- */

static bool follows(const struct instance_segment *a, const struct instance_segment *b)
{
	return a->document == b->document && b->first >= a->first + a->length;
}

/* Whether segments are runs of their documents' tokens, and what the label says. */
static int check_segments(const struct shard_recipe *r, const struct documents *t, const struct instance *i)
{
	for (uint32_t s = 0; s < i->n_segments; s++)
		if ((uint64_t)i->segments[s].first + i->segments[s].length > t->items[i->segments[s].document].tokens)
			return err_corrupt("a segment reaches beyond its document's tokens");
	if (r->rules != SHARD_GOOGLE || i->flags & INSTANCE_RANDOM_NEXT || follows(&i->segments[0], &i->segments[1]))
		return 0;
	return err_corrupt("its second segment does not follow the first");
}

/* Draws the masks of W's instance again. */
static int check_masks(const struct scan *s, struct worker *w)
{
	struct instance *i = &w->instance;
	const uint32_t n = i->predictions;

	memcpy(w->positions, i->positions, n * sizeof(*w->positions));
	for (uint32_t k = 0; k < n; k++)
		w->seen[k] = i->ids[i->positions[k]];
	instance_unmask(i);
	documents_draw(&s->documents, &w->mask, &s->header.recipe, RNG_STATIC_MASK, 0, i);
	if (i->predictions != n || memcmp(w->positions, i->positions, n * sizeof(*w->positions)))
		return err_corrupt("its masked positions are not those drawn for it");
	for (uint32_t k = 0; k < n; k++)
		if (w->seen[k] != i->ids[i->positions[k]])
			return err_corrupt("what stands at its masked position %" PRIu32 " is not what is drawn for it",
					   i->positions[k]);
	return 0;
}

/* Where masks cannot be drawn again. */
static int check_mask_count(const struct shard_recipe *recipe, const struct instance *i)
{
	const struct mask_rule rule = shard_recipe_mask(recipe, NULL);
	const uint32_t wanted = mask_count(&rule, i->n), tokens = i->n - 1 - i->n_segments;

	if (i->predictions > wanted)
		return err_corrupt("it has more masks than masked_lm_prob gives");
	if (!recipe->whole_word_mask && i->predictions < (wanted < tokens ? wanted : tokens))
		return err_corrupt("it has fewer masks than masked_lm_prob gives");
	return 0;
}

/* Number NUMBER of the shard. */
static int check_instance(struct verify_shard *c, const struct scan *s, struct worker *w, uint64_t number)
{
	const struct shard_recipe *recipe = &s->header.recipe;
	const struct instance *i = &w->instance;

	if (!c->drafts)
		return check_segments(recipe, &s->documents, i) || (recipe->rules == SHARD_GOOGLE && check_mask_count(recipe, i)) ? -1 : 0;
	if (verify_drafts_check(c->drafts, number, i))
		return -1;
	if (c->redraw)
		return check_masks(s, w);
	return c->static_masks ? check_mask_count(recipe, i) : 0;
}

int verify_shard_work(struct verify_shard *c, const struct scan *s, struct scan_block *b, unsigned worker)
{
	struct worker *w = &c->workers[worker];
	struct verify_counts counts = { .full = 0 };

	if (buf_add(&b->out, &counts, sizeof(counts)))
		return -1;
	if (instance_block_check_ids(&b->instances, &w->codes))
		return scan_place(s, b, SCAN_BLOCK);
	for (uint32_t k = 0; k < b->frame.records; k++) {
		instance_block_get(&b->instances, k, &w->instance);
		if (instance_block_check_masks(&b->instances, k, &w->instance) || check_instance(c, s, w, b->frame.first_record + k))
			return scan_place(s, b, k);
		if (c->whole && verify_chain_note(&w->instance, &b->out))
			return -1;
		verify_counts_add(&counts, &s->header.recipe, &w->instance);
	}
	memcpy(b->out.data, &counts, sizeof(counts));
	return verify_counts_check_block(&counts, &s->header.recipe, &s->documents) ? scan_place(s, b, SCAN_BLOCK) : 0;
}

int verify_shard_write(struct verify_shard *c, const struct scan *s, const struct scan_block *b)
{
	struct verify_counts counts;

	memcpy(&counts, b->out.data, sizeof(counts));
	verify_counts_join(&c->counts, &counts);
	return c->whole ? verify_chain_add(c->whole, s->documents.n, b->out.data + sizeof(counts), b->out.len - sizeof(counts)) : 0;
}

/* --- end ----------------------------------------------------------------------------------------- */

/* Every shard of SHARD_GOOGLE has all documents. */
static int check_whole_corpus(const struct scan *s)
{
	if (s->totals.documents != s->header.corpus_documents)
		return err_corrupt("it has %" PRIu64 " documents, its header says %" PRIu64, s->totals.documents,
				   s->header.corpus_documents);
	if (key_compare(s->documents.keys, s->header.corpus))
		return err_corrupt("the keys of its documents do not add up to the corpus digest of its header");
	return 0;
}

static int describe(const struct verify_shard *c, const struct scan *s, struct buf *text)
{
	const char *masks = "dynamic masks";

	if (c->static_masks)
		masks = c->redraw	  ? "masks drawn again"
			: c->v->vocab ? "masks not drawn again (no list of words)"
				      : "masks not drawn again (no vocabulary)";
	if (s->header.recipe.rules != SHARD_OWN)
		masks = s->header.recipe.rules == SHARD_GOOGLE ? "masks not drawn again (create_pretraining_data's)"
							       : "masks not drawn again (imported)";
	if (verify_add_count(text, s->totals.instances, "instance") || buf_adds(text, " of ") ||
	    verify_add_count(text, s->totals.documents, "document"))
		return -1;
	if (buf_addf(text, ", %s", masks))
		return -1;
	return s->header.recipe.rules == SHARD_IMPORTED ? verify_counts_describe(&c->counts, text) : 0;
}

int verify_shard_end(struct verify_shard *c, const struct scan *s, struct buf *text)
{
	const struct shard_recipe *recipe = &s->header.recipe;
	int rc = verify_shard_instances(c, s);

	if (rc)
		return rc;
	if (recipe->rules == SHARD_GOOGLE)
		rc = check_whole_corpus(s);
	if (!rc && c->drafts)
		rc = verify_drafts_end(c->drafts, &s->totals);
	if (!rc && recipe->rules != SHARD_IMPORTED)
		rc = verify_counts_check(&c->counts, recipe, &s->documents, &s->totals, c->several_keys);
	return rc ? err_prefix("'%s'", s->name) : describe(c, s, text);
}
