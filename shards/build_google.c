/*
 * The instances of google-research/bert's create_pretraining_data.py (commit eedf5716), draw for draw: shards/FORMAT.md,
 * "Google's instances".
 */
#include "shards/build_impl.h"
#include "base/err.h"
#include "base/map.h"
#include "base/mt19937.h"

#include <assert.h>

#define TRIES 10		/* to draw another document */

struct google {
	struct build *b;
	struct mt19937 rng;
	struct mask_rule rule;
	uint32_t *documents;		/* those with tokens, in the order of the passes */
	uint32_t n_documents;
	uint32_t *pool;			/* ids that replace others, in the vocabulary's order */
	uint32_t pool_size;
	unsigned char *continues;	/* [vocab_size] with whole words: the token begins with "##" */
	struct instance instance;	/* the one that is being masked */
	uint32_t *candidates;		/* [max_seq_length] token runs: the first, and above it how many */
	uint32_t *shown;		/* [max_seq_length] of masked positions: what the model sees there */
	uint64_t *marks;		/* a bit a position: masked */
	size_t cap;			/* of b->drafts */
};

#define RUN_BITS 16		/* of a candidate's first token */

static void shuffle(struct mt19937 *r, uint32_t *items, size_t n)
{
	for (size_t i = n; i-- > 1;) {
		const size_t j = (size_t)mt19937_below(r, i + 1);
		const uint32_t t = items[i];

		items[i] = items[j];
		items[j] = t;
	}
}

/* --- making ready --------------------------------------------------------------------------- */

/* The distinct tokens in the order of their first lines, each with the id of its last one, as a Python dict has them. */
static int list_pool(struct google *g, const struct vocab *vocab)
{
	struct map map = MAP_INIT;
	int rc = 0;

	for (uint32_t id = 0; id < vocab_size(vocab) && !rc; id++) {
		size_t len;
		const char *token = vocab_token(vocab, id, &len);
		uint64_t *v = map_put(&map, token, len);

		rc = v ? 0 : -1;
		if (v)
			*v = id;
	}
	g->pool = rc ? NULL : malloc(map.count * sizeof(*g->pool));
	for (size_t k = 0; g->pool && k < map.count; k++)
		g->pool[g->pool_size++] = (uint32_t)map.entries[k].value;
	map_release(&map);
	return rc || g->pool ? rc : err_memory();
}

static int list_continuations(struct google *g, const struct vocab *vocab)
{
	g->continues = calloc(vocab_size(vocab), 1);
	if (!g->continues)
		return err_memory();
	for (uint32_t id = 0; id < vocab_size(vocab); id++)
		g->continues[id] = vocab_is_continuation(vocab, id);
	return 0;
}

/* Documents with tokens, in the order in which they were given, then shuffled. */
static int list_documents(struct google *g)
{
	const struct docset *docs = g->b->docs;
	uint32_t *by_place = malloc((docs->n + 1) * sizeof(*by_place));

	g->documents = by_place;
	if (!by_place)
		return err_memory();
	for (size_t d = 0; d < docs->n; d++)
		by_place[docs->docs[d].place] = (uint32_t)d;
	for (size_t k = 0; k < docs->n; k++)
		if (docs->docs[by_place[k]].tokens)
			by_place[g->n_documents++] = by_place[k];
	shuffle(&g->rng, g->documents, g->n_documents);
	return 0;
}

static int google_init(struct google *g, struct build *b, const struct vocab *vocab)
{
	const size_t n = b->recipe->max_seq_length;

	*g = (struct google){ .b = b, .rule = shard_recipe_mask(b->recipe, vocab) };
	mt19937_seed(&g->rng, b->recipe->seed);
	g->candidates = malloc(n * sizeof(*g->candidates));
	g->shown = malloc(n * sizeof(*g->shown));
	g->marks = malloc((n / 64 + 1) * sizeof(*g->marks));
	if (!g->candidates || !g->shown || !g->marks)
		return err_memory();
	if (instance_init(&g->instance, &b->shape) || list_pool(g, vocab) || list_documents(g))
		return -1;
	return g->rule.whole_word ? list_continuations(g, vocab) : 0;
}

static void google_release(struct google *g)
{
	free(g->documents);
	free(g->pool);
	free(g->continues);
	free(g->candidates);
	free(g->shown);
	free(g->marks);
	instance_release(&g->instance);
}

/* --- masks ------------------------------------------------------------------------------------ */

/* The position of token T of the instance's segments. */
static uint32_t position_of(const struct instance *i, uint32_t t)
{
	return 1 + t + (t >= i->segments[0].length);
}

/* What may be masked: tokens; or words, which reach across [SEP] where the second segment begins inside a word. */
static uint32_t list_candidates(struct google *g, const struct instance *i)
{
	const uint32_t tokens = i->segments[0].length + i->segments[1].length;
	uint32_t n = 0;

	for (uint32_t t = 0; t < tokens; t++) {
		if (n && g->continues && g->continues[i->ids[position_of(i, t)]])
			g->candidates[n - 1] += 1u << RUN_BITS;
		else
			g->candidates[n++] = 1u << RUN_BITS | t;
	}
	return n;
}

static void mask_one(struct google *g, uint32_t position)
{
	uint32_t id = g->rule.mask_id;

	if (!(mt19937_random(&g->rng) < 0.8)) {
		id = g->instance.ids[position];
		if (!(mt19937_random(&g->rng) < 0.5))
			id = g->pool[mt19937_below(&g->rng, g->pool_size)];
	}
	g->shown[position] = id;
	g->marks[position / 64] |= UINT64_C(1) << position % 64;
}

/* Marks what is masked; returns how many. */
static uint32_t choose(struct google *g)
{
	const struct instance *i = &g->instance;
	const uint32_t n = list_candidates(g, i), wanted = mask_count(&g->rule, i->n);
	uint32_t chosen = 0;

	memset(g->marks, 0, (i->n / 64 + 1) * sizeof(*g->marks));
	shuffle(&g->rng, g->candidates, n);
	for (uint32_t k = 0; k < n && chosen < wanted; k++) {
		const uint32_t first = g->candidates[k] & ((1u << RUN_BITS) - 1), run = g->candidates[k] >> RUN_BITS;

		if (run > wanted - chosen)
			continue;
		for (uint32_t t = first; t < first + run; t++)
			mask_one(g, position_of(i, t));
		chosen += run;
	}
	return chosen;
}

/* Draws the masks of D and leaves them in it. */
static int draw_masks(struct google *g, struct draft *d)
{
	struct instance *i = &g->instance;
	uint32_t n;
	uint16_t *at;

	build_lay(g->b, d, i);
	n = choose(g);
	d->masks = at = arena_alloc(&g->b->masks, (1 + 3 * (size_t)n) * sizeof(*at));
	if (!at)
		return -1;
	*at++ = (uint16_t)n;
	for (uint32_t w = 0; w <= i->n / 64; w++) {
		for (uint64_t bits = g->marks[w]; bits; bits &= bits - 1) {
			const uint32_t position = 64 * w + (uint32_t)__builtin_ctzll(bits);

			*at++ = (uint16_t)position;
			*at++ = (uint16_t)g->shown[position];
			*at++ = (uint16_t)(g->shown[position] >> 16);
		}
	}
	return 0;
}

void build_put_masks(const struct draft *d, struct instance *i)
{
	const uint16_t *at = d->masks;

	i->predictions = *at++;
	for (uint32_t k = 0; k < i->predictions; k++, at += 3) {
		i->positions[k] = at[0];
		i->labels[k] = i->ids[at[0]];
		i->ids[at[0]] = at[1] | (uint32_t)at[2] << 16;
	}
}

/* --- pairs -------------------------------------------------------------------------------------- */

/* A place in g->documents other than PLACE, unless ten draws do not give one. */
static uint32_t draw_document(struct google *g, uint32_t place)
{
	uint32_t other = place;

	for (unsigned k = 0; k < TRIES && other == place; k++)
		other = (uint32_t)mt19937_below(&g->rng, g->n_documents);
	return other;
}

static struct stretch random_next(struct google *g, uint32_t place, uint32_t wanted)
{
	const uint32_t number = g->documents[draw_document(g, place)];
	const struct docset_document *d = &g->b->docs->docs[number];
	const uint32_t first = (uint32_t)mt19937_below(&g->rng, d->sentences);

	return stretch_of(d, number, first, take_sentences(d, first, wanted));
}

static bool truncate_pair(struct google *g, struct stretch *a, struct stretch *b, uint32_t most)
{
	const bool cut = (uint64_t)a->length + b->length > most;

	while ((uint64_t)a->length + b->length > most) {
		struct stretch *longer = a->length > b->length ? a : b;

		longer->first += mt19937_random(&g->rng) < 0.5;
		longer->length--;
	}
	return cut;
}

static int keep_draft(struct google *g, const struct stretch *a, const struct stretch *b, uint32_t pass, unsigned flags)
{
	struct build *build = g->b;
	struct draft *d;

	build->over = (build->n + 1) * BUILD_DRAFT_BYTES + build->masks.bytes > build->limit;
	if (build->over)
		return 0;
	if (build->n == UINT32_MAX)
		return err_fail("there are more than %u instances", UINT32_MAX);
	if (array_grow(&build->drafts, &g->cap, (size_t)build->n + 1, sizeof(*d)))
		return -1;
	d = &build->drafts[build->n++];
	*d = (struct draft){
		.document = { a->document, b->document }, .first = { a->first, b->first },
		.length = { (uint16_t)a->length, (uint16_t)b->length }, .pass = (uint16_t)pass,
		.flags = (uint16_t)flags,
	};
	return draw_masks(g, d);
}

/* The instance that begins at *SENTENCE, and where the next one does. */
static int draft_one(struct google *g, uint32_t place, uint32_t pass, uint32_t target, uint32_t *sentence)
{
	const uint32_t number = g->documents[place], i = *sentence;
	const struct docset_document *d = &g->b->docs->docs[number];
	const uint32_t end = take_sentences(d, i, target);
	struct stretch a, b;
	uint32_t split = i + 1;
	bool random, cut;

	if (end - i > 1)
		split = i + (uint32_t)mt19937_randint(&g->rng, 1, end - i - 1);
	a = stretch_of(d, number, i, split);
	random = end - i == 1 || mt19937_random(&g->rng) < 0.5;
	if (random)
		b = random_next(g, place, target > a.length ? target - a.length : 0);
	else
		b = stretch_of(d, number, split, end);
	*sentence = random ? split : end;
	cut = truncate_pair(g, &a, &b, g->b->recipe->max_seq_length - 3);
	return keep_draft(g, &a, &b, pass, (random ? INSTANCE_RANDOM_NEXT : 0) | (cut ? DRAFT_TRUNCATED : 0));
}

static int draft_document(struct google *g, uint32_t place, uint32_t pass)
{
	const struct shard_recipe *r = g->b->recipe;
	const uint32_t sentences = g->b->docs->docs[g->documents[place]].sentences;
	uint32_t target = r->max_seq_length - 3;

	if (mt19937_random(&g->rng) < r->short_seq_prob)
		target = (uint32_t)mt19937_randint(&g->rng, 2, target);
	for (uint32_t i = 0; i < sentences && !g->b->over;)
		if (draft_one(g, place, pass, target, &i))
			return -1;
	return 0;
}

static int order_all(struct google *g)
{
	struct build *b = g->b;

	b->n_all = b->n;
	b->all = malloc((b->n + 1) * sizeof(*b->all));
	if (!b->all)
		return err_memory();
	for (uint64_t k = 0; k < b->n; k++)
		b->all[k] = (uint32_t)k;
	shuffle(&g->rng, b->all, b->n);
	return 0;
}

int build_google(struct build *b, const struct vocab *vocab)
{
	struct google g;
	int rc = google_init(&g, b, vocab);

	b->drawn = true;
	for (uint32_t pass = 0; pass < b->recipe->dupe_factor && !rc && !b->over; pass++)
		for (uint32_t place = 0; place < g.n_documents && !rc && !b->over; place++)
			rc = draft_document(&g, place, pass);
	if (!rc && !b->over)
		rc = order_all(&g);
	google_release(&g);
	return rc;
}

int build_google_shard(struct build *b, uint32_t shard, uint32_t shards)
{
	struct shard_totals *t = &b->workers[0].totals;

	for (unsigned k = 0; k < b->threads; k++)
		b->workers[k].totals = (struct shard_totals){ 0 };
	free(b->order);
	b->order = malloc((b->n_all / shards + 1) * sizeof(*b->order));
	if (!b->order)
		return err_memory();
	b->n = 0;
	for (uint64_t k = shard; k < b->n_all; k += shards) {
		const unsigned flags = b->drafts[b->all[k]].flags;

		b->order[b->n++] = b->all[k];
		t->random_next += (flags & INSTANCE_RANDOM_NEXT) != 0;
		t->truncated += (flags & DRAFT_TRUNCATED) != 0;
	}
	return 0;
}
