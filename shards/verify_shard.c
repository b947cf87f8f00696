/* Whether a shard's instances are those that its documents and its recipe make. */
#include "shards/verify_impl.h"
#include "base/err.h"
#include "base/rng.h"
#include "shards/folder.h"

#include <inttypes.h>

/* What instances are ordered by: shards/FORMAT.md, "Order". */
struct order {
	uint64_t drawn;
	struct key key;
	uint32_t occurrence, pass, first;
};

struct worker {
	struct instance instance;
	struct mask mask;		/* where masks are drawn again */
	struct codes codes;
	uint32_t *positions, *seen;	/* [max_predictions] the masks as stored */
};

/* What a block's WORK leaves for WRITE. */
struct summary {
	struct order first, last;
	struct verify_counts counts;
};

struct verify_shard {
	struct verify *v;
	struct worker *workers;		/* [threads] */
	bool static_masks, redraw;
	struct verify_chain *chain;	/* SHARD_OWN */
	struct verify_chain *links;	/* that instances are added to: it, or the folder's; NULL: none */
	uint32_t *sentences;		/* of each document */
	size_t n, cap;
	bool any_key, several_keys;	/* documents with tokens: there are some, of more than one key */
	struct key one_key;
	bool any_order;
	struct order last;		/* of the blocks so far */
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

static int open_chain(struct verify_shard *c, const struct shard_recipe *recipe)
{
	struct verify *v = c->v;

	if (recipe->rules == SHARD_OWN)
		c->links = c->chain = verify_chain_new(recipe, v->threads);
	else if (recipe->rules == SHARD_GOOGLE && v->in_folder)
		c->links = v->whole = v->whole ? v->whole : verify_chain_new(recipe, v->threads);
	else
		return 0;
	return c->links ? 0 : -1;
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
	if (open_chain(c, recipe))
		goto fail;
	if (!make_workers(c, &s->header))
		return c;
fail:
	verify_shard_free(c);
	return NULL;
}

uint32_t *verify_shard_sentences(struct verify_shard *c)
{
	uint32_t *sentences = c->sentences;

	c->sentences = NULL;
	return sentences;
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
	verify_chain_free(c->chain);
	free(c->sentences);
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
	if (array_grow(&c->sentences, &c->cap, c->n + 1, sizeof(*c->sentences)))
		return -1;
	c->sentences[c->n++] = (uint32_t)d->sentences;
	return 0;
}

/* --- instances -------------------------------------------------------------------------------- */

static int check_random_next(const struct shard_recipe *r, const struct documents *t, const struct instance_segment *a,
			     const struct instance_segment *b)
{
	const struct documents_entry *x = &t->items[a->document], *y = &t->items[b->document];

	if (!r->same_document_next && !key_compare(x->key, y->key))
		return err_corrupt("its random next is of the same document");
	if (y->occurrence && y[-1].tokens)
		return err_corrupt("its random next is of a repeated document");
	return 0;
}

static bool follows(const struct instance_segment *a, const struct instance_segment *b)
{
	return a->document == b->document && b->first >= a->first + a->length;
}

/* Whether what the label says of the two segments is true. */
static int check_pair(const struct shard_recipe *r, const struct documents *t, const struct instance *i)
{
	const struct instance_segment *a = &i->segments[0], *b = &i->segments[1];

	if (!(i->flags & INSTANCE_RANDOM_NEXT))
		return follows(a, b) ? 0 : err_corrupt("its second segment does not follow the first");
	if (r->pairs == SHARD_SOP)
		return follows(b, a) ? 0 : err_corrupt("its first segment does not follow the second");
	return r->rules == SHARD_GOOGLE ? 0 : check_random_next(r, t, a, b);
}

/* Whether segments are runs of their documents' tokens, as many as may be, and what the label says. */
static int check_segments(const struct shard_recipe *r, const struct documents *t, const struct instance *i)
{
	for (uint32_t s = 0; s < i->n_segments; s++) {
		const struct instance_segment *a = &i->segments[s];

		if ((uint64_t)a->first + a->length > t->items[a->document].tokens)
			return err_corrupt("a segment reaches beyond its document's tokens");
		if (i->n_segments > 1 && r->rules == SHARD_OWN && r->pairs == SHARD_NONE &&
		    a->first + a->length < t->items[a->document].tokens)
			return err_corrupt("it joins what is not the end of a document");
	}
	if (r->rules == SHARD_IMPORTED)
		return 0;
	if (r->pairs != SHARD_NONE)
		return check_pair(r, t, i);
	if (i->n_segments > 1 && !r->cross_documents)
		return err_corrupt("it joins several documents");
	return i->flags ? err_corrupt("it has a next sentence label, and no second segment") : 0;
}

static struct order order_of(const struct shard_recipe *recipe, const struct documents *t, const struct instance *i)
{
	const struct instance_segment *lead = shard_lead(recipe, i);
	const struct documents_entry *d = &t->items[lead->document];
	struct order o = { .key = d->key, .occurrence = d->occurrence, .pass = i->pass, .first = lead->first };
	struct rng r;

	rng_open(&r, recipe->seed, RNG_ORDER, o.key.hi, o.key.lo, o.occurrence, o.pass, o.first);
	o.drawn = rng_u64(&r);
	return o;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_orders(const struct order *a, const struct order *b)
{
	int rc = compare_numbers(a->drawn, b->drawn);

	rc = rc ? rc : key_compare(a->key, b->key);
	rc = rc ? rc : compare_numbers(a->occurrence, b->occurrence);
	rc = rc ? rc : compare_numbers(a->pass, b->pass);
	return rc ? rc : compare_numbers(a->first, b->first);
}

static int check_order(const struct order *before, const struct order *o)
{
	const int rc = compare_orders(before, o);

	if (!rc)
		return err_corrupt("it is the same as the one before");
	return rc > 0 ? err_corrupt("it is not in the order drawn for it") : 0;
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

/* O is the place in the order of the instance before, unless this is the FIRST of its block, and becomes its own. */
static int check_instance(struct verify_shard *c, const struct scan *s, struct worker *w, struct order *o, bool first)
{
	const struct shard_recipe *recipe = &s->header.recipe;
	const struct instance *i = &w->instance;
	const struct order before = *o;

	if (check_segments(recipe, &s->documents, i))
		return -1;
	if (recipe->rules != SHARD_OWN)
		return recipe->rules == SHARD_GOOGLE ? check_mask_count(recipe, i) : 0;
	*o = order_of(recipe, &s->documents, i);
	if (!first && check_order(&before, o))
		return -1;
	if (c->redraw)
		return check_masks(s, w);
	return c->static_masks ? check_mask_count(recipe, i) : 0;
}

int verify_shard_work(struct verify_shard *c, const struct scan *s, struct scan_block *b, unsigned worker)
{
	struct worker *w = &c->workers[worker];
	const struct verify_table table = { s->documents.items, c->sentences, c->n, s->header.shard, s->header.shards };
	struct summary sum = { .counts.full = 0 };

	if (buf_add(&b->out, &sum, sizeof(sum)))
		return -1;
	if (instance_block_check_ids(&b->instances, &w->codes))
		return scan_place(s, b, SCAN_BLOCK);
	for (uint32_t k = 0; k < b->frame.records; k++) {
		instance_block_get(&b->instances, k, &w->instance);
		if (instance_block_check_masks(&b->instances, k, &w->instance) || check_instance(c, s, w, &sum.last, !k))
			return scan_place(s, b, k);
		if (c->links && verify_chain_note(c->links, &w->instance, &b->out))
			return -1;
		verify_counts_add(&sum.counts, &s->header.recipe, &w->instance);
		if (!k)
			sum.first = sum.last;
	}
	memcpy(b->out.data, &sum, sizeof(sum));
	return verify_counts_check_block(&sum.counts, &s->header.recipe, &table) ? scan_place(s, b, SCAN_BLOCK) : 0;
}

int verify_shard_write(struct verify_shard *c, const struct scan *s, const struct scan_block *b)
{
	struct summary sum;

	memcpy(&sum, b->out.data, sizeof(sum));
	if (c->any_order && s->header.recipe.rules == SHARD_OWN && check_order(&c->last, &sum.first))
		return scan_place(s, b, 0);
	c->any_order = true;
	c->last = sum.last;
	verify_counts_join(&c->counts, &sum.counts);
	return c->links ? verify_chain_add(c->links, c->n, b->out.data + sizeof(sum), b->out.len - sizeof(sum)) : 0;
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
	const enum shard_rules rules = s->header.recipe.rules;
	const struct verify_table table = { s->documents.items, c->sentences, c->n, s->header.shard, s->header.shards };
	int rc = 0;

	if (rules == SHARD_GOOGLE)
		rc = check_whole_corpus(s);
	if (!rc && rules != SHARD_IMPORTED)
		rc = verify_counts_check(&c->counts, &s->header.recipe, &table, &s->totals,
					 c->several_keys || s->header.recipe.same_document_next);
	if (!rc && c->chain)
		rc = verify_chain_check(c->chain, &table, s->totals.dropped);
	if (rc)
		return err_prefix("'%s'", s->name);
	return describe(c, s, text);
}
