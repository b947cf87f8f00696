#include "tokenizer/tokenizer.h"

#include "base/err.h"
#include "base/utf8.h"
#include "tokenizer/tokenizer_impl.h"
#include "tokenizer/wordcache.h"

#include <stdlib.h>
#include <string.h>

#define CACHE_BYTES ((size_t)8 << 20)	/* of an encoder, unless told otherwise */
#define GROUP 32			/* words looked up together */

struct encoder {
	const struct tokenizer *t;
	struct normalizer *normalizer;
	struct wordcache *cache;
};

struct encoder *encoder_new(const struct tokenizer *t)
{
	return encoder_new_sized(t, CACHE_BYTES);
}

struct encoder *encoder_new_sized(const struct tokenizer *t, size_t cache_bytes)
{
	struct encoder *e = calloc(1, sizeof(*e));

	if (!e) {
		err_memory();
		return NULL;
	}
	e->t = t;
	e->normalizer = normalizer_new(&t->rules);
	e->cache = wordcache_new(cache_bytes, vocab_id_bytes(t->vocab) > 2);
	if (e->normalizer && e->cache)
		return e;
	encoder_free(e);
	return NULL;
}

void encoder_free(struct encoder *e)
{
	if (!e)
		return;
	normalizer_free(e->normalizer);
	wordcache_free(e->cache);
	free(e);
}

/* --- reading a text ---------------------------------------------------------------- */

/*
 * A text is read in steps: a special token written in it (hf only), or a batch
 * of words of the ordinary text between two of them.
 */
struct reading {
	struct encoder *e;
	bool spans;			/* say where words come from */
	const char *at, *end;		/* what no step has begun with */
	uint64_t cp;			/* code points before AT; counted where there are special tokens */
	bool in_words;			/* the normalizer may have more */

	/* the step */
	const struct special *special;	/* NULL: words */
	struct words words;
	uint64_t base;			/* code points before the token, or before the stretch of text that WORDS counts from */
};

static const struct special *special_at(const struct tokenizer *t, const char *p, const char *end)
{
	for (size_t i = 0; i < t->n_specials; i++)
		if ((size_t)(end - p) >= t->specials[i].len && !memcmp(p, t->specials[i].text, t->specials[i].len))
			return &t->specials[i];
	return NULL;
}

/* Where the ordinary text at P, p < end, ends. */
static const char *special_before(const struct tokenizer *t, const char *p, const char *end)
{
	if (!t->n_specials)
		return end;
	while ((p = memchr(p, '[', (size_t)(end - p))) && !special_at(t, p, end))
		p++;
	return p ? p : end;
}

/* 1 a step, 0 the end, -1 failed. */
static int reading_next(struct reading *r)
{
	const struct tokenizer *const t = r->e->t;

	for (;;) {
		const char *const start = r->at;
		int rc = 0;

		if (r->in_words)
			rc = normalizer_next(r->e->normalizer, &r->words);
		if (rc)
			return rc;
		r->in_words = false;
		if (r->at == r->end)
			return 0;
		r->special = special_at(t, start, r->end);
		r->base = r->cp;
		r->at = r->special ? start + r->special->len : special_before(t, start, r->end);
		if (t->n_specials)
			r->cp += utf8_count(start, (size_t)(r->at - start));
		if (r->special)
			return 1;
		normalizer_start(r->e->normalizer, start, (size_t)(r->at - start), r->spans);
		r->in_words = true;
	}
}

/* --- encoding ------------------------------------------------------------------------- */

/* Nearly every word has one or two pieces: those are copied without counting, the others all at once. */
static int add_cached(const struct wordcache *c, const struct wordcache_entry *entry, struct ids *ids)
{
	uint32_t *to;

	if (ids_reserve(ids, WORDCACHE_NARROW))
		return -1;
	to = ids->items + ids->count;
	if (c->wide) {
		memcpy(to, entry->wide, sizeof(entry->wide));
	} else {
		for (size_t i = 0; i < 2; i++)
			to[i] = entry->narrow[i];
		if (entry->count > 2)
			for (size_t i = 2; i < WORDCACHE_NARROW; i++)
				to[i] = entry->narrow[i];
	}
	ids->count += entry->count;
	return 0;
}

/* A word, by its SET of the cache, or without one when it is too long for any (NULL). */
static int encode_word(struct encoder *e, struct wordcache_entry *set, struct wordkey k, const char *word, size_t len,
		       struct ids *ids)
{
	const struct wordcache_entry *const entry = set ? wordcache_find(set, k) : NULL;
	const size_t before = ids->count;

	if (entry)
		return add_cached(e->cache, entry, ids);
	if (wordpiece_encode(e->t->wordpiece, word, len, ids))
		return -1;
	if (set)
		wordcache_put(e->cache, set, k, ids->items + before, ids->count - before);
	return 0;
}

/* Words in groups: all their cache lines are asked for before the first is needed. */
static int encode_words(struct encoder *e, const struct words *w, struct ids *ids)
{
	struct wordkey keys[GROUP];
	struct wordcache_entry *sets[GROUP];

	for (size_t first = 0; first < w->count; first += GROUP) {
		const size_t n = w->count - first < GROUP ? w->count - first : GROUP;
		const struct word *const group = w->items + first;

		for (size_t i = 0; i < n; i++) {
			sets[i] = NULL;
			if (group[i].len > WORDCACHE_KEY)
				continue;
			keys[i] = wordcache_key(w->text + group[i].start, group[i].len);
			sets[i] = wordcache_set(e->cache, keys[i]);
			__builtin_prefetch(sets[i]);
		}
		for (size_t i = 0; i < n; i++)
			if (encode_word(e, sets[i], keys[i], w->text + group[i].start, group[i].len, ids))
				return -1;
	}
	return 0;
}

int encoder_encode(struct encoder *e, const char *text, size_t len, struct ids *ids)
{
	struct reading r = { .e = e, .at = text, .end = text + len };
	int rc;

	while ((rc = reading_next(&r)) > 0)
		if (r.special ? ids_add(ids, r.special->id) : encode_words(e, &r.words, ids))
			return -1;
	return rc;
}

/* --- with places ------------------------------------------------------------------------ */

/* From the first of these code points to the last, in a text that begins at code point BASE. */
static struct span span_over(const struct span *cps, size_t n, uint64_t base)
{
	return (struct span){ base + cps[0].start, base + cps[n - 1].end };
}

/* The spans of the pieces ids[FROM ..] of one word, whose code points came from CPS. */
static void place_pieces(const struct encoder *e, const char *word, size_t len, const struct span *cps, uint64_t base,
			 const struct ids *ids, size_t from, struct span *spans)
{
	const char *p = word;

	if (ids->count - from == 1) {		/* a whole word, known or not */
		spans[from] = span_over(cps, utf8_count(word, len), base);
		return;
	}
	for (size_t i = from; i < ids->count; i++) {
		size_t bytes, n;

		vocab_token(e->t->vocab, ids->items[i], &bytes);
		bytes -= i > from ? 2 : 0;	/* the "##" */
		n = utf8_count(p, bytes);
		spans[i] = span_over(cps, n, base);
		p += bytes;
		cps += n;
	}
}

static int encode_placed(struct encoder *e, const struct words *w, uint64_t base, struct ids *ids, struct span **spans,
			 size_t *cap)
{
	const struct span *cps = w->spans;

	for (size_t i = 0; i < w->count; i++) {
		const char *const word = w->text + w->items[i].start;
		const size_t len = w->items[i].len, from = ids->count;

		if (encode_words(e, &(struct words){ w->text, w->items + i, 1, NULL }, ids) ||
		    array_grow(spans, cap, ids->count, sizeof(**spans)))
			return -1;
		place_pieces(e, word, len, cps, base, ids, from, *spans);
		cps += utf8_count(word, len);
	}
	return 0;
}

static int place_special(const struct special *s, uint64_t base, struct ids *ids, struct span **spans, size_t *cap)
{
	if (ids_add(ids, s->id) || array_grow(spans, cap, ids->count, sizeof(**spans)))
		return -1;
	(*spans)[ids->count - 1] = (struct span){ base, base + s->len };
	return 0;
}

int encoder_encode_spans(struct encoder *e, const char *text, size_t len, struct ids *ids, struct span **spans, size_t *cap)
{
	struct reading r = { .e = e, .spans = true, .at = text, .end = text + len };
	int rc;

	while ((rc = reading_next(&r)) > 0)
		if (r.special ? place_special(r.special, r.base, ids, spans, cap) :
				encode_placed(e, &r.words, r.base, ids, spans, cap))
			return -1;
	return rc;
}

/* --- words --------------------------------------------------------------------------------- */

void word_list_clear(struct word_list *w)
{
	buf_clear(&w->text);
	w->count = 0;
}

void word_list_release(struct word_list *w)
{
	buf_release(&w->text);
	free(w->items);
	*w = (struct word_list)WORD_LIST_INIT;
}

static int add_word(struct word_list *w, const char *text, size_t len, struct span span, uint32_t special)
{
	const size_t start = w->text.len;

	if (array_grow(&w->items, &w->cap, w->count + 1, sizeof(*w->items)) || buf_add(&w->text, text, len))
		return -1;
	w->items[w->count++] = (struct placed_word){ start, len, span, special };
	return 0;
}

static int add_words(struct word_list *list, const struct words *w, uint64_t base)
{
	const struct span *cps = w->spans;

	for (size_t i = 0; i < w->count; i++) {
		const char *const word = w->text + w->items[i].start;
		const size_t len = w->items[i].len, n = utf8_count(word, len);

		if (add_word(list, word, len, span_over(cps, n, base), VOCAB_NONE))
			return -1;
		cps += n;
	}
	return 0;
}

int encoder_words(struct encoder *e, const char *text, size_t len, struct word_list *list)
{
	struct reading r = { .e = e, .spans = true, .at = text, .end = text + len };
	int rc;

	while ((rc = reading_next(&r)) > 0) {
		const struct special *const s = r.special;

		if (s ? add_word(list, s->text, s->len, (struct span){ r.base, r.base + s->len }, s->id) :
			add_words(list, &r.words, r.base))
			return -1;
	}
	return rc;
}
