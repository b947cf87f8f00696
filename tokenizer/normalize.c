#include "tokenizer/normalize.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/utf8.h"
#include "tokenizer/plain_words.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define BATCH 8192		/* bytes of words after which a batch is closed */
#define STRETCH 512		/* bytes of words written between two looks at the room that is left */
#define TEXT_MAX (UINT32_MAX - 4096)	/* bytes of a batch */

enum { FINAL_SIGMA = 0x3C2, SMALL_SIGMA = 0x3C3 };

/* Hangul syllables are L x V x T, laid out by arithmetic (Unicode, 3.12). */
enum { HANGUL_FIRST = 0xAC00, L_FIRST = 0x1100, V_FIRST = 0x1161, T_FIRST = 0x11A7, V_COUNT = 21, T_COUNT = 28 };

/* What is to be done with a character, when nobody asks where words came from. */
enum kind {
	STAYS = PLAIN_LETTER,		/* part of a word, as it is, or left to normalizer_word */
	ALONE = PLAIN_WORD,		/* a word, likewise */
	SEPARATES = PLAIN_SPACE,
	ENDS_LINE = PLAIN_NOT,
	SPECIAL,			/* anything else */
};

/* A code point of a run of nonstarters. */
struct mark {
	uint32_t cp;
	uint8_t ccc;
	bool kept;		/* not of category Mn */
	bool joined;		/* came out of the decomposition of the character before */
};

struct normalizer {
	struct normalizer_opts o;
	enum char_form form;
	uint16_t special;		/* flags of characters that do not just become their form */
	uint16_t punct;			/* the flag that tells punctuation */
	plain_words_take *take_plain;
	unsigned char kinds[0x10000];	/* enum kind of characters below U+10000 */

	/* the text */
	const char *text, *at, *end;
	uint64_t cp;			/* code points before AT; counted only for spans */
	bool want_spans;

	struct plain_words w;		/* the batch */
	size_t cap;			/* bytes of w.out */
	size_t cap_words;		/* items of w.starts, w.ends, w.lines */
	struct span *spans;
	size_t n_spans, cap_spans;

	/* the marks at hand, as they stand and as they are sorted, and where they stand */
	struct mark *marks, *sorted;
	uint64_t *places;
	size_t n_marks, cap_marks, cap_sorted, n_places, cap_places;
};

/* plain_words.h knows of ASCII what the table says, as all tables say the same. */
static void check_ascii(const struct normalizer *n)
{
	for (unsigned c = 0; c < 128; c++) {
		const uint16_t flags = chars_entry(n->o.chars, c)->flags & (CHAR_DELETE | CHAR_SPACE | CHAR_PUNCT);
		const bool letter = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');

		assert((flags != CHAR_DELETE) == plain_words_has_ascii((unsigned char)c));
		assert(!flags == letter && (flags == CHAR_SPACE) == (plain_words_has_ascii((unsigned char)c) && c <= ' '));
		(void)flags;
		(void)letter;
	}
}

static enum kind kind_of(const struct normalizer *n, uint32_t cp)
{
	const struct char_entry *e = chars_entry(n->o.chars, cp);
	const bool changes = e->forms[n->form] && !n->o.leave && cp >= 0x80;
	uint16_t flags = e->flags & n->special;

	if (cp == '\n')
		return ENDS_LINE;
	if (n->o.leave && (flags == CHAR_HANGUL || (flags == CHAR_NONSTARTER && e->forms[CHAR_BARE])))
		flags = 0;
	if (flags == CHAR_SPACE)
		return SEPARATES;
	if (changes || flags & ~(CHAR_CJK | n->punct))
		return SPECIAL;
	return flags ? ALONE : STAYS;
}

/* The kind of all characters that begin with LEAD; PLAIN_NOT when they differ. Surrogates are none. */
static unsigned char kind_of_lead(const struct normalizer *n, uint32_t lead)
{
	const uint32_t i = lead & 0x0F, first = i ? i << 12 : 0x800, end = lead == 0xED ? 0xD800 : (i + 1) << 12;

	for (uint32_t cp = first; cp < end; cp++)
		if (n->kinds[cp] != n->kinds[first])
			return PLAIN_NOT;
	return n->kinds[first];
}

struct normalizer *normalizer_new(const struct normalizer_opts *o)
{
	struct normalizer *n = calloc(1, sizeof(*n));

	if (!n) {
		err_memory();
		return NULL;
	}
	n->o = *o;
	n->form = (o->lower ? CHAR_LOWER : 0) + (o->strip_accents ? CHAR_BARE : 0);
	n->punct = o->strip_accents ? CHAR_PUNCT_BARE : CHAR_PUNCT;
	n->special = CHAR_DELETE | CHAR_SPACE | n->punct;
	if (o->space_cjk)
		n->special |= CHAR_CJK;
	if (o->strip_accents)
		n->special |= CHAR_HANGUL | CHAR_NONSTARTER | CHAR_TAIL;
	if (o->lower)
		n->special |= CHAR_SIGMA;
	check_ascii(n);
	n->w.rules = (struct plain_rules){ .lower = o->lower, .kinds = n->kinds };
	n->take_plain = plain_words_best();
	for (uint32_t cp = 0; cp < 0x10000; cp++)
		n->kinds[cp] = (unsigned char)kind_of(n, cp);
	for (uint32_t i = 0; i < 16; i++)
		n->w.rules.leads[i] = kind_of_lead(n, 0xE0 + i);
	return n;
}

void normalizer_free(struct normalizer *n)
{
	if (!n)
		return;
	free(n->w.out);
	free(n->w.starts);
	free(n->w.ends);
	free(n->w.lines);
	free(n->spans);
	free(n->marks);
	free(n->sorted);
	free(n->places);
	free(n);
}

void normalizer_start(struct normalizer *n, const char *text, size_t len, bool spans)
{
	n->text = n->at = text;
	n->end = text + len;
	n->cp = 0;
	n->want_spans = spans;
	n->n_marks = n->n_places = 0;
}

/* --- writing ------------------------------------------------------------------- */

/* Room for MORE words and line ends. */
static int reserve_words(struct normalizer *n, size_t more)
{
	const size_t need = (n->w.count > n->w.n_lines ? n->w.count : n->w.n_lines) + more;
	size_t starts = n->cap_words, ends = n->cap_words, lines = n->cap_words;

	if (need <= n->cap_words)
		return 0;
	if (array_grow(&n->w.starts, &starts, need, sizeof(*n->w.starts)) ||
	    array_grow(&n->w.ends, &ends, need, sizeof(*n->w.ends)) || array_grow(&n->w.lines, &lines, need, sizeof(*n->w.lines)))
		return -1;
	n->cap_words = starts;
	return 0;
}

/* Room for what BYTES more bytes of words need. */
static int reserve(struct normalizer *n, size_t bytes)
{
	const size_t more = bytes + PLAIN_WORDS_SLACK;

	if (n->w.len + more > TEXT_MAX)
		return err_fail("a word is longer than %u bytes", TEXT_MAX);
	if (array_grow(&n->w.out, &n->cap, n->w.len + more, 1) || reserve_words(n, more))
		return -1;
	return n->want_spans ? array_grow(&n->spans, &n->cap_spans, n->n_spans + bytes, sizeof(*n->spans)) : 0;
}

static void end_word(struct normalizer *n)
{
	struct plain_words *w = &n->w;

	if (w->len > w->word_start) {
		w->starts[w->count] = (uint32_t)w->word_start;
		w->ends[w->count++] = (uint32_t)w->len;
	}
	w->word_start = w->len;
}

/* Adds a code point that came from the one at AT. */
static void put(struct normalizer *n, uint32_t cp, uint64_t at)
{
	n->w.len += utf8_write(cp, n->w.out + n->w.len);
	if (n->want_spans)
		n->spans[n->n_spans++] = (struct span){ at, at + 1 };
}

/* Adds the form of character CP. */
static void put_form(struct normalizer *n, const struct char_entry *e, uint32_t cp, uint64_t at)
{
	const unsigned char *const form = n->o.chars->forms + e->forms[n->form];

	if (!e->forms[n->form]) {
		put(n, cp, at);
		return;
	}
	memcpy(n->w.out + n->w.len, form + 1, CHARS_FORM_MAX);
	n->w.len += form[0];
	if (n->want_spans)
		for (size_t i = utf8_count((const char *)form + 1, form[0]); i > 0; i--)
			n->spans[n->n_spans++] = (struct span){ at, at + 1 };
}

/* The letters of a syllable; how many bytes. */
static size_t write_hangul(uint32_t cp, char *to)
{
	const uint32_t s = cp - HANGUL_FIRST;
	size_t n = utf8_write(L_FIRST + s / (V_COUNT * T_COUNT), to);

	n += utf8_write(V_FIRST + s / T_COUNT % V_COUNT, to + n);
	return s % T_COUNT ? n + utf8_write(T_FIRST + s % T_COUNT, to + n) : n;
}

static void put_hangul(struct normalizer *n, uint32_t cp, uint64_t at)
{
	const size_t bytes = write_hangul(cp, n->w.out + n->w.len);

	n->w.len += bytes;
	if (n->want_spans)
		for (size_t i = utf8_count(n->w.out + n->w.len - bytes, bytes); i > 0; i--)
			n->spans[n->n_spans++] = (struct span){ at, at + 1 };
}

/* --- sigma ----------------------------------------------------------------------- */

/* The nearest character before P that counts for its case: not deleted, not Case_Ignorable. NULL: there is none. */
static const struct char_entry *neighbour_before(const struct normalizer *n, const char *p)
{
	while (p > n->text) {
		const struct char_entry *e;
		const char *q;

		do
			p--;
		while (((unsigned char)*p & 0xC0) == 0x80);
		q = p;
		e = chars_entry(n->o.chars, utf8_next(&q));
		if (!(e->flags & (CHAR_DELETE | CHAR_IGNORABLE)))
			return e;
	}
	return NULL;
}

static const struct char_entry *neighbour_after(const struct normalizer *n, const char *p)
{
	while (p < n->end) {
		const struct char_entry *e = chars_entry(n->o.chars, utf8_next(&p));

		if (!(e->flags & (CHAR_DELETE | CHAR_IGNORABLE)))
			return e;
	}
	return NULL;
}

/*
 * Whether the sigma between START and END (in the text) is lower-cased to its
 * final form, as Python's str.lower has it of a whitespace token: after a cased
 * character, not before one. White space and ideographs, which end tokens, are
 * neither cased nor ignorable, so the search ends at them.
 */
static bool sigma_is_final(const struct normalizer *n, const char *start, const char *end)
{
	const struct char_entry *before = neighbour_before(n, start), *after = neighbour_after(n, end);

	return before && before->flags & CHAR_CASED && !(after && after->flags & CHAR_CASED);
}

/* --- nonstarters -------------------------------------------------------------------- */

static int add_mark(struct normalizer *n, uint32_t cp, bool joined)
{
	const struct char_entry *e = chars_entry(n->o.chars, cp);

	if (array_grow(&n->marks, &n->cap_marks, n->n_marks + 1, sizeof(*n->marks)))
		return -1;
	n->marks[n->n_marks++] = (struct mark){ cp, e->ccc, !e->forms[CHAR_BARE], joined };
	return 0;
}

/* Takes the nonstarters that follow; deleted characters among them are as if they were not there. */
static int take_marks(struct normalizer *n)
{
	while (n->at < n->end) {
		const char *p = n->at;
		const uint32_t cp = utf8_next(&p);
		const uint16_t flags = chars_entry(n->o.chars, cp)->flags;

		if (!(flags & (CHAR_DELETE | CHAR_NONSTARTER)))
			break;
		if (flags & CHAR_NONSTARTER) {
			if (array_grow(&n->places, &n->cap_places, n->n_places + 1, sizeof(*n->places)) || add_mark(n, cp, false))
				return -1;
			n->places[n->n_places++] = n->cp;
		}
		n->at = p;
		n->cp++;
	}
	return 0;
}

/* Canonical ordering: by class, equal ones as they stood. */
static int sort_marks(struct normalizer *n)
{
	size_t before[257] = { 0 };

	if (array_grow(&n->sorted, &n->cap_sorted, n->n_marks, sizeof(*n->sorted)))
		return -1;
	for (size_t i = 0; i < n->n_marks; i++)
		before[n->marks[i].ccc + 1]++;
	for (size_t c = 0; c < 256; c++)
		before[c + 1] += before[c];
	for (size_t i = 0; i < n->n_marks; i++)
		n->sorted[before[n->marks[i].ccc]++] = n->marks[i];
	return 0;
}

/*
 * Writes the marks at hand and those that follow, in canonical order, less
 * those of category Mn. Spans go by place, as Hugging Face's: the k-th mark
 * of the sorted run is said to come from the k-th of the unsorted one. BASE is
 * where the character before them stands.
 */
static int put_marks(struct normalizer *n, uint64_t base)
{
	size_t place = 0;

	if (take_marks(n) || sort_marks(n) || reserve(n, UTF8_MAX * n->n_marks + STRETCH))
		return -1;
	for (size_t i = 0; i < n->n_marks; i++) {
		const struct mark *m = &n->sorted[i];

		place += !m->joined;
		if (m->kept)
			put(n, m->cp, place ? n->places[place - 1] : base);
	}
	n->n_marks = n->n_places = 0;
	return 0;
}

/* Passes the nonstarters that follow as long as nothing is left of them; whether it met one that stays. */
static bool pass_marks(struct normalizer *n)
{
	while (n->at < n->end) {
		const char *p = n->at;
		const struct char_entry *e = chars_entry(n->o.chars, utf8_next(&p));

		if (!(e->flags & (CHAR_DELETE | CHAR_NONSTARTER)))
			return false;
		if (e->flags & CHAR_NONSTARTER && !e->forms[CHAR_BARE])
			return true;
		n->at = p;
		n->cp++;
	}
	return false;
}

/* The nonstarter at FIRST and those that follow: nearly always they are all of category Mn, and need no sorting. */
static int put_nonstarters(struct normalizer *n, const char *first, uint64_t at)
{
	n->at = first;
	n->cp = at;
	if (!pass_marks(n))
		return 0;
	n->at = first;
	n->cp = at;
	return put_marks(n, at);
}

/* A character whose bare form ends in nonstarters, which are sorted together with those that follow it. */
static int put_tailed(struct normalizer *n, const struct char_entry *e, uint64_t at)
{
	const unsigned char *form = n->o.chars->forms + e->forms[n->form];
	const char *p = (const char *)form + 1, *const end = p + form[0];

	while (p < end) {
		const uint32_t cp = utf8_next(&p);

		if (!(chars_entry(n->o.chars, cp)->flags & CHAR_NONSTARTER))
			put(n, cp, at);
		else if (add_mark(n, cp, true))
			return -1;
	}
	return put_marks(n, at);
}

/* --- reading ------------------------------------------------------------------------- */

/* The character CP that begins at START, with flags among n->special; N->AT is behind it. */
static int take_special(struct normalizer *n, const struct char_entry *e, uint32_t cp, const char *start, uint64_t at)
{
	if (e->flags & CHAR_DELETE)
		return 0;
	if (e->flags & CHAR_SPACE) {
		end_word(n);
	} else if (e->flags & n->special & (CHAR_CJK | n->punct)) {
		end_word(n);
		put_form(n, e, cp, at);
		end_word(n);
	} else if (e->flags & n->special & CHAR_HANGUL) {
		put_hangul(n, cp, at);
	} else if (e->flags & n->special & CHAR_SIGMA) {
		put(n, sigma_is_final(n, start, n->at) ? FINAL_SIGMA : SMALL_SIGMA, at);
	} else if (e->flags & CHAR_NONSTARTER) {
		return put_nonstarters(n, start, at);
	} else {
		return put_tailed(n, e, at);
	}
	return 0;
}

/* A character whatever it is. */
static int take_character(struct normalizer *n)
{
	const char *const start = n->at;
	const uint32_t cp = utf8_next(&n->at);
	const struct char_entry *e = chars_entry(n->o.chars, cp);
	const uint64_t at = n->cp++;

	if (e->flags & n->special)
		return take_special(n, e, cp, start, at);
	put_form(n, e, cp, at);
	return 0;
}

/* As many characters as there is room for. */
static int take_characters(struct normalizer *n)
{
	for (unsigned i = 0; i < STRETCH / CHARS_FORM_MAX && n->at < n->end; i++)
		if (take_character(n))
			return -1;
	return 0;
}

/* What kind the character at AT is; SPECIAL when it is one of four bytes. */
static enum kind kind_at(const struct normalizer *n, uint32_t *cp, const char **after)
{
	*after = n->at;
	*cp = utf8_next(after);
	return *cp < 0x10000 ? n->kinds[*cp] : SPECIAL;
}

/* Some of the characters that plain_words.h does not take. */
static int take_others(struct normalizer *n)
{
	struct plain_words *const w = &n->w;

	for (unsigned i = 0; i < STRETCH / CHARS_FORM_MAX && n->at < n->end; i++) {
		const char *after;
		uint32_t cp;
		const enum kind kind = kind_at(n, &cp, &after);

		if (kind <= SEPARATES)
			break;
		if (kind != ENDS_LINE) {
			if (take_character(n))
				return -1;
			continue;
		}
		n->at = after;
		end_word(n);
		w->lines[w->n_lines++] = (uint32_t)w->count;
		w->out[w->len++] = '\n';
		w->word_start = w->len;
	}
	return 0;
}

/* Characters, as many as there is room for. */
static int take_text(struct normalizer *n)
{
	n->at = n->take_plain(&n->w, n->at, n->end);
	return n->w.len < n->w.stop ? take_others(n) : 0;
}

static int next_batch(struct normalizer *n)
{
	struct plain_words *const b = &n->w;

	b->len = b->word_start = b->count = b->n_lines = n->n_spans = 0;
	while (n->at < n->end && (b->len < BATCH || b->word_start < b->len)) {
		b->stop = b->len < BATCH ? BATCH : b->len + 1;
		if (reserve(n, b->stop - b->len + STRETCH))
			return -1;
		if (n->want_spans ? take_characters(n) : take_text(n))
			return -1;
	}
	if (reserve(n, 0))
		return -1;
	end_word(n);
	return 0;
}

int normalizer_next(struct normalizer *n, struct words *w)
{
	const struct plain_words *const b = &n->w;

	do
		if (next_batch(n))
			return -1;
	while (!b->count && !b->n_lines && n->at < n->end);
	*w = (struct words){ b->out, b->starts, b->ends, b->count, b->lines, b->n_lines, n->want_spans ? n->spans : NULL };
	return b->count || b->n_lines;
}

/* Adds what becomes of a character, by its bytes; room for CHARS_FORM_MAX. */
static void add_form(const struct normalizer *n, uint32_t cp, const char *bytes, size_t size, struct buf *out)
{
	const struct char_entry *const e = chars_entry(n->o.chars, cp);
	const unsigned char *const form = n->o.chars->forms + e->forms[n->form];
	char *const to = out->data + out->len;

	if (e->flags & n->special & CHAR_HANGUL) {
		out->len += write_hangul(cp, to);
	} else if (e->forms[n->form]) {
		memcpy(to, form + 1, CHARS_FORM_MAX);
		out->len += form[0];
	} else {
		memcpy(to, bytes, size);
		out->len += size;
	}
}

int normalizer_word(const struct normalizer *n, const char *word, size_t len, struct buf *out)
{
	const char *p = word, *const end = word + len;

	buf_clear(out);
	while (p < end) {
		if (buf_reserve(out, STRETCH + CHARS_FORM_MAX + WORDS_SLACK))
			return -1;
		for (unsigned i = 0; i < STRETCH / CHARS_FORM_MAX && p < end; i++) {
			const char *const start = p;
			const uint32_t cp = utf8_next(&p);

			add_form(n, cp, start, (size_t)(p - start), out);
		}
	}
	return 0;
}
