#include "tokenizer/tokenizer.h"

#include "base/err.h"
#include "base/utf8.h"
#include "tokenizer/kept_words.h"
#include "tokenizer/tokenizer_impl.h"
#include "tokenizer/wordcache.h"

#include <stdlib.h>
#include <string.h>

#define CACHE_BYTES ((size_t)8 << 20)	/* of an encoder, unless told otherwise */

struct encoder {
	const struct tokenizer *t;
	struct normalizer *normalizer;
	struct wordcache *cache;
	struct kept_words kept;
	bool leaves;			/* the normalizer leaves words beyond ASCII as they stand: one that is never split is not to be finished */
	struct buf word;		/* a word that was left, finished */
	encoder_unknown_fn unknown;	/* NULL: nobody asks */
	void *unknown_ctx;
};

struct encoder *encoder_new(const struct tokenizer *t)
{
	return encoder_new_sized(t, CACHE_BYTES);
}

struct encoder *encoder_new_sized(const struct tokenizer *t, size_t cache_bytes)
{
	struct normalizer_opts rules = t->rules;
	struct encoder *e;

	if (t->segmenter && !t->is_cut) {
		err_usage("the model takes texts that a segmenter has cut into words: '%s'", t->segmenter);
		return NULL;
	}
	e = calloc(1, sizeof(*e));
	if (!e) {
		err_memory();
		return NULL;
	}
	e->t = t;
	kept_words_init(&e->kept, &t->rules, &t->never_split);
	rules.leave = e->leaves = !t->never_split.count;
	e->normalizer = normalizer_new(&rules);
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
	kept_words_release(&e->kept);
	buf_release(&e->word);
	free(e);
}

void encoder_on_unknown(struct encoder *e, encoder_unknown_fn unknown, void *ctx)
{
	e->unknown = unknown;
	e->unknown_ctx = ctx;
}

/* --- reading a text ---------------------------------------------------------------- */

/*
 * A text is read in steps: a special token written in it (hf only), or a batch
 * of words of the ordinary text between two of them. Where there are tokens that are
 * never split, the ordinary text is taken token by token.
 */
struct reading {
	struct encoder *e;
	bool spans;			/* say where words come from */
	const char *at, *end;		/* what no step has begun with */
	const char *known;		/* no special token begins from AT to here, KNOWN itself left out */
	uint64_t cp;			/* code points before AT; counted where a text may be taken in several stretches */
	bool in_words;			/* the normalizer may have more */
	bool keeps;			/* what it has may be a token that is never split */

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

/* Takes the next stretch of the text, r->at < r->end: a special token, or as much as the normalizer is given at once. */
static void take_stretch(struct reading *r)
{
	const struct tokenizer *const t = r->e->t;
	const char *const start = r->at;

	r->special = start < r->known ? NULL : special_at(t, start, r->end);
	r->base = r->cp;
	if (start >= r->known)		/* looked for once, however many stretches are before it */
		r->known = r->special ? start + r->special->len : special_before(t, start, r->end);
	r->at = r->known;
	r->keeps = false;
	if (!r->special && t->never_split.count) {
		bool plain;

		r->at = kept_words_stretch(&r->e->kept, start, r->at, &plain);
		r->keeps = !plain;
	}
	if (t->n_specials || t->never_split.count)
		r->cp += utf8_count(start, (size_t)(r->at - start));
}

/* 1 a step, 0 the end, -1 failed. */
static int reading_next(struct reading *r)
{
	struct encoder *const e = r->e;

	for (;;) {
		const char *const start = r->at;
		int rc = 0;

		if (r->in_words)
			rc = normalizer_next(e->normalizer, &r->words);
		if (rc > 0 && r->keeps)
			kept_words_join(&e->kept, &r->words);
		if (rc)
			return rc;
		r->in_words = false;
		if (r->at == r->end)
			return 0;
		take_stretch(r);
		if (r->special)
			return 1;
		rc = r->keeps ? kept_words_take(&e->kept, start, r->at, r->spans, &r->words) : 0;
		if (rc)
			return rc;
		normalizer_start(e->normalizer, start, (size_t)(r->at - start), r->spans);
		r->in_words = true;
	}
}

/* --- encoding ------------------------------------------------------------------------- */

static bool is_ascii(const char *word, size_t len)
{
	unsigned char all = 0;

	for (size_t i = 0; i < len; i++)
		all |= (unsigned char)word[i];
	return all < 0x80;
}

/* A word that the cache does not have. 1: it was told to be unknown, and the cache is not to have it, or it would not be the next time. */
static int encode_missing(struct encoder *e, const char *word, size_t len, struct ids *ids)
{
	const size_t before = ids->count;

	if (e->leaves && (e->t->rules.lower || e->t->rules.strip_accents) && !is_ascii(word, len)) {
		if (normalizer_word(e->normalizer, word, len, &e->word))
			return -1;
		word = e->word.data;
		len = e->word.len;
	}
	if (!len)
		return 0;
	if (wordpiece_encode(e->t->wordpiece, word, len, ids))
		return -1;
	if (!e->unknown || ids->count != before + 1 || ids->items[before] != vocab_special(e->t->vocab).unk)
		return 0;
	return e->unknown(e->unknown_ctx, word, len) ? -1 : 1;
}

/* Words FROM .. TO - 1 of a group, which begins with word FIRST of W. */
static int encode_some(struct encoder *e, const struct words *w, size_t first, const struct wordcache_group *g, size_t from,
		       size_t to, struct ids *ids)
{
	for (; from < to; from++) {
		const char *word;
		uint32_t *out;
		size_t before, len;
		int rc;

		if (ids_reserve(ids, WORDCACHE_ROOM * (to - from)))
			return -1;
		out = ids->items + ids->count;
		from = e->cache->take(e->cache, g, from, to, &out);
		before = ids->count = (size_t)(out - ids->items);
		if (from == to)
			return 0;
		word = w->text + w->starts[first + from];
		len = w->ends[first + from] - w->starts[first + from];
		if (wordcache_take_long(e->cache, g, from, word, len, &out)) {
			ids->count = (size_t)(out - ids->items);
			continue;
		}
		rc = encode_missing(e, word, len, ids);
		if (rc < 0)
			return -1;
		if (!rc)
			wordcache_put(e->cache, g, from, word, len, ids->items + before, ids->count - before);
	}
	return 0;
}

/* A batch of words. */
static int encode_words(struct encoder *e, const struct words *w, struct ids *ids, struct encoded_lines *lines)
{
	struct wordcache_group g;
	size_t line = 0;

	if (lines && array_grow(&lines->ends, &lines->cap, lines->count + w->n_lines, sizeof(*lines->ends)))
		return -1;
	for (size_t first = 0, n; first < w->count; first += n) {
		size_t done = 0;

		n = w->count - first < WORDCACHE_GROUP ? w->count - first : WORDCACHE_GROUP;
		e->cache->prepare(e->cache, w->text, w->starts + first, w->ends + first, n, &g);
		for (; lines && line < w->n_lines && w->lines[line] <= first + n; line++) {
			if (encode_some(e, w, first, &g, done, w->lines[line] - first, ids))
				return -1;
			done = w->lines[line] - first;
			lines->ends[lines->count++] = ids->count;
		}
		if (encode_some(e, w, first, &g, done, n, ids))
			return -1;
	}
	for (; lines && line < w->n_lines; line++)
		lines->ends[lines->count++] = ids->count;
	return 0;
}

static int encode(struct encoder *e, const char *text, size_t len, struct ids *ids, struct encoded_lines *lines)
{
	struct reading r = { .e = e, .at = text, .end = text + len, .known = text };
	int rc;

	while ((rc = reading_next(&r)) > 0)
		if (r.special ? ids_add(ids, r.special->id) : encode_words(e, &r.words, ids, lines))
			return -1;
	return rc;
}

int encoder_encode(struct encoder *e, const char *text, size_t len, struct ids *ids)
{
	return encode(e, text, len, ids, NULL);
}

int encoder_encode_lines(struct encoder *e, const char *text, size_t len, struct ids *ids, struct encoded_lines *lines)
{
	return encode(e, text, len, ids, lines);
}

void encoded_lines_release(struct encoded_lines *l)
{
	free(l->ends);
	*l = (struct encoded_lines)ENCODED_LINES_INIT;
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
		const char *const word = w->text + w->starts[i];
		const size_t len = w->ends[i] - w->starts[i], from = ids->count;

		if (encode_words(e, &(struct words){ .text = w->text, .starts = w->starts + i, .ends = w->ends + i, .count = 1 }, ids, NULL) ||
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
	struct reading r = { .e = e, .spans = true, .at = text, .end = text + len, .known = text };
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
		const char *const word = w->text + w->starts[i];
		const size_t len = w->ends[i] - w->starts[i], n = utf8_count(word, len);

		if (add_word(list, word, len, span_over(cps, n, base), VOCAB_NONE))
			return -1;
		cps += n;
	}
	return 0;
}

int encoder_words(struct encoder *e, const char *text, size_t len, struct word_list *list)
{
	struct reading r = { .e = e, .spans = true, .at = text, .end = text + len, .known = text };
	int rc;

	while ((rc = reading_next(&r)) > 0) {
		const struct special *const s = r.special;

		if (s ? add_word(list, s->text, s->len, (struct span){ r.base, r.base + s->len }, s->id) :
			add_words(list, &r.words, r.base))
			return -1;
	}
	return rc;
}
