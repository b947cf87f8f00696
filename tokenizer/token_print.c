#include "tokenizer/token_print.h"

#include "base/err.h"
#include "base/utf8.h"
#include "tokenizer/cut_line.h"
#include "tokenizer/decode.h"
#include "tokenizer/tokenizer_impl.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS_MAX 20
#define THOUSAND 1000

/* Decimal digits of the numbers below a thousand, for three at a time. */
struct digits {
	char full[THOUSAND][4];		/* all three, then a space */
	char brief[THOUSAND][4];	/* without leading zeros, then spaces */
	unsigned char len[THOUSAND];	/* of these */
};

struct token_printer {
	const struct tokenizer *t;
	struct encoder *encoder;
	int form;
	unsigned flags;
	uint64_t count;
	struct digits digits;
	struct ids ids;
	struct encoded_lines lines;
	struct span *spans;
	size_t cap_spans;
	struct word_list words;
	struct cut_line cut;
	bool is_cut;		/* the line at hand: what is encoded is the text of CUT, which has places */
};

static void make_digits(struct digits *d)
{
	for (unsigned i = 0; i < THOUSAND; i++) {
		const char digits[] = { (char)('0' + i / 100), (char)('0' + i / 10 % 10), (char)('0' + i % 10), ' ' };
		const unsigned zeros = i < 10 ? 2 : i < 100 ? 1 : 0;

		memcpy(d->full[i], digits, 4);
		memset(d->brief[i], ' ', 4);
		memcpy(d->brief[i], digits + zeros, 3 - zeros);
		d->len[i] = (unsigned char)(3 - zeros);
	}
}

struct token_printer *token_printer_new(const struct tokenizer *t, int form, unsigned flags)
{
	const struct vocab_special s = vocab_special(tokenizer_vocab(t));
	struct token_printer *p;

	if (flags & TOKEN_ADD_SPECIAL && (s.cls == VOCAB_NONE || s.sep == VOCAB_NONE)) {
		err_fail("the vocabulary has no %s", s.cls == VOCAB_NONE ? "[CLS]" : "[SEP]");
		return NULL;
	}
	p = calloc(1, sizeof(*p));
	if (!p) {
		err_memory();
		return NULL;
	}
	p->t = t;
	p->form = form;
	p->flags = flags;
	make_digits(&p->digits);
	if (form != TOKEN_DECODED)
		p->encoder = encoder_new(t);
	if (form == TOKEN_DECODED || p->encoder)
		return p;
	token_printer_free(p);
	return NULL;
}

void token_printer_free(struct token_printer *p)
{
	if (!p)
		return;
	encoder_free(p->encoder);
	ids_release(&p->ids);
	encoded_lines_release(&p->lines);
	free(p->spans);
	word_list_release(&p->words);
	cut_line_release(&p->cut);
	free(p);
}

uint64_t token_printer_count(const struct token_printer *p)
{
	return p->count;
}

/* --- ids, tokens, offsets -------------------------------------------------------- */

/* Writes N at O, where DIGITS_MAX bytes fit; returns the end. */
static char *put_number(char *o, uint64_t n)
{
	char digits[DIGITS_MAX], *d = digits + DIGITS_MAX;

	do
		*--d = (char)('0' + n % 10);
	while (n /= 10);
	memcpy(o, d, (size_t)(digits + DIGITS_MAX - d));
	return o + (digits + DIGITS_MAX - d);
}

/* An id and a space at O, where DIGITS_MAX + 4 bytes fit; returns the end. */
static char *put_id(const struct digits *d, char *o, uint32_t id)
{
	if (id >= THOUSAND * THOUSAND) {
		o = put_number(o, id);
		*o++ = ' ';
		return o;
	}
	if (id >= THOUSAND) {
		memcpy(o, d->brief[id / THOUSAND], 4);
		memcpy(o + d->len[id / THOUSAND], d->full[id % THOUSAND], 4);
		return o + d->len[id / THOUSAND] + 4;
	}
	memcpy(o, d->brief[id], 4);
	return o + d->len[id] + 1;
}

/* IDs with spaces between them, and after them END. */
static int print_ids(const struct digits *d, const uint32_t *ids, size_t n, char end, struct buf *out)
{
	char *o;

	if (buf_reserve(out, (DIGITS_MAX + 1) * n + 4))
		return -1;
	o = out->data + out->len;
	for (size_t i = 0; i < n; i++)
		o = put_id(d, o, ids[i]);
	o -= n > 0;
	*o++ = end;
	*o = 0;
	out->len = (size_t)(o - out->data);
	return 0;
}

static int print_offsets(const struct ids *ids, const struct span *spans, struct buf *out)
{
	char *o;

	if (buf_reserve(out, 3 * (DIGITS_MAX + 1) * ids->count))
		return -1;
	o = out->data + out->len;
	for (size_t i = 0; i < ids->count; i++) {
		if (i)
			*o++ = ' ';
		o = put_number(o, ids->items[i]);
		*o++ = ':';
		o = put_number(o, spans[i].start);
		*o++ = ':';
		o = put_number(o, spans[i].end);
	}
	*o = 0;
	out->len = (size_t)(o - out->data);
	return 0;
}

static int print_tokens(const struct vocab *v, const struct ids *ids, struct buf *out)
{
	for (size_t i = 0; i < ids->count; i++) {
		size_t len;
		const char *const token = vocab_token(v, ids->items[i], &len);

		if ((i && buf_add_byte(out, ' ')) || buf_add(out, token, len))
			return -1;
	}
	return 0;
}

/* Places in the text that was encoded to those that are printed, in LINE. */
static void place_spans(const struct token_printer *p, const char *line, struct span *spans, size_t n)
{
	if (p->is_cut)
		cut_line_spans(&p->cut, spans, n);
	if (p->flags & TOKEN_BYTES)
		spans_to_bytes(spans, n, line);
}

/* The ids of TEXT, which is LINE or what a segmenter has made of it. */
static int encode(struct token_printer *p, const char *line, const char *text, size_t len)
{
	const bool add = p->flags & TOKEN_ADD_SPECIAL, spans = p->form == TOKEN_OFFSETS;
	const struct vocab_special s = vocab_special(tokenizer_vocab(p->t));

	p->ids.count = 0;
	if (ids_reserve(&p->ids, 1) || (spans && array_grow(&p->spans, &p->cap_spans, 1, sizeof(*p->spans))))
		return -1;
	p->ids.count = add;
	if (spans ? encoder_encode_spans(p->encoder, text, len, &p->ids, &p->spans, &p->cap_spans) :
		    encoder_encode(p->encoder, text, len, &p->ids))
		return -1;
	if (spans)
		place_spans(p, line, p->spans + add, p->ids.count - add);
	if (!add)
		return 0;
	if (p->ids.count == 1) {
		p->ids.count = 0;
		return 0;
	}
	if (ids_reserve(&p->ids, 1) || (spans && array_grow(&p->spans, &p->cap_spans, p->ids.count + 1, sizeof(*p->spans))))
		return -1;
	p->ids.items[0] = s.cls;
	p->ids.items[p->ids.count] = s.sep;
	if (spans)
		p->spans[0] = p->spans[p->ids.count] = (struct span){ 0, 0 };
	p->ids.count++;
	return 0;
}

/* --- words ------------------------------------------------------------------------ */

static int print_words(const struct word_list *w, struct buf *out)
{
	for (size_t i = 0; i < w->count; i++)
		if ((i && buf_add_byte(out, ' ')) || buf_add(out, w->text.data + w->items[i].start, w->items[i].len))
			return -1;
	return 0;
}

static int print_word_offsets(const struct word_list *w, struct buf *out)
{
	for (size_t i = 0; i < w->count; i++) {
		const struct placed_word *word = &w->items[i];

		if (buf_add(out, w->text.data + word->start, word->len) ||
		    buf_addf(out, " %" PRIu64 " %" PRIu64 "\n", word->span.start, word->span.end))
			return -1;
	}
	return 0;
}

/* Why WORD is [UNK]: too long, or the place where no token fits; or that it is never split. */
static int print_reason(const struct wordpiece *w, const char *word, size_t len, struct buf *out)
{
	size_t at = 0, n;
	uint32_t id;

	if (wordpiece_keeps(w, word, len))
		return buf_adds(out, wordpiece_match(w, word, len, false, &id) == len ? "\tnever split" : "\tnever split, and no token");
	if (wordpiece_too_long(w, word, len))
		return buf_adds(out, "\ttoo many characters");
	while (at < len && (n = wordpiece_match(w, word + at, len - at, at > 0, &id)))
		at += n;
	if (at == len)
		return 0;
	return buf_adds(out, at ? "\tno token begins ##" : "\tno token begins ") || buf_add(out, word + at, len - at) ? -1 : 0;
}

/* The bytes of TEXT at the span's code points, reached from *P at code point *CP, which move on to its start. */
static size_t find_source(struct span span, const char **p, uint64_t *cp)
{
	const char *q;

	while (*cp < span.start) {
		utf8_next(p);
		++*cp;
	}
	q = *p;
	for (uint64_t i = span.start; i < span.end; i++)
		utf8_next(&q);
	return (size_t)(q - *p);
}

static int explain_word(struct token_printer *p, const struct placed_word *word, const char *source, size_t source_len,
			struct buf *out)
{
	const struct wordpiece *w = p->t->wordpiece;
	const char *const text = p->words.text.data + word->start;

	p->ids.count = 0;
	if (word->special == VOCAB_NONE ? wordpiece_encode(w, text, word->len, &p->ids) :
					  ids_add(&p->ids, word->special))
		return -1;
	if (buf_add(out, source, source_len) || buf_add_byte(out, '\t') || buf_add(out, text, word->len) ||
	    buf_add_byte(out, '\t') || print_tokens(tokenizer_vocab(p->t), &p->ids, out) || buf_add_byte(out, '\t'))
		return -1;
	if (print_ids(&p->digits, p->ids.items, p->ids.count, 0, out))
		return -1;
	out->len--;			/* that 0 */
	if (word->special != VOCAB_NONE ? buf_adds(out, "\tspecial token in the text") :
					  print_reason(w, text, word->len, out))
		return -1;
	return buf_add_byte(out, '\n');
}

static int explain(struct token_printer *p, const char *text, struct buf *out)
{
	const char *source = text;
	uint64_t cp = 0;

	for (size_t i = 0; i < p->words.count; i++) {
		const struct placed_word *word = &p->words.items[i];
		const size_t len = find_source(word->span, &source, &cp);

		if (explain_word(p, word, source, len, out))
			return -1;
	}
	return 0;
}

/* --- the way back -------------------------------------------------------------------- */

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The ids of a line. */
static int read_ids(const char *text, size_t len, uint32_t below, struct ids *ids)
{
	const char *p = text, *const end = text + len;

	ids->count = 0;
	while (p < end) {
		const char *const word = p;
		uint64_t id = 0;

		if (is_blank(*p)) {
			p++;
			continue;
		}
		while (p < end && *p >= '0' && *p <= '9' && id < below)
			id = 10 * id + (uint64_t)(*p++ - '0');
		if ((p < end && !is_blank(*p)) || id >= below) {
			while (p < end && !is_blank(*p))
				p++;
			return err_corrupt("'%.*s' is no id below %" PRIu32, (int)(p - word < 40 ? p - word : 40), word, below);
		}
		if (ids_add(ids, (uint32_t)id))
			return -1;
	}
	return 0;
}

static int decode(struct token_printer *p, const char *text, size_t len, struct buf *out)
{
	const struct vocab *v = tokenizer_vocab(p->t);

	if (read_ids(text, len, vocab_size(v), &p->ids) || decode_ids(v, p->ids.items, p->ids.count, out))
		return -1;
	p->count += p->ids.count;
	return buf_add_byte(out, '\n');
}

static int find_words(struct token_printer *p, const char *line, const char *text, size_t len)
{
	word_list_clear(&p->words);
	if (encoder_words(p->encoder, text, len, &p->words))
		return -1;
	for (size_t i = 0; p->is_cut && i < p->words.count; i++)
		cut_line_spans(&p->cut, &p->words.items[i].span, 1);
	if (p->flags & TOKEN_BYTES && p->form == TOKEN_WORD_OFFSETS)
		word_list_to_bytes(&p->words, line);
	return 0;
}

/* The tokens of ENCODED, LEN bytes, which is LINE or what a segmenter has made of it. */
static int print_line(struct token_printer *p, const char *line, const char *encoded, size_t len, struct buf *out)
{
	const bool words = p->form == TOKEN_WORDS || p->form == TOKEN_WORD_OFFSETS || p->form == TOKEN_EXPLAIN;
	int rc = -1;

	if (words ? find_words(p, line, encoded, len) : encode(p, line, encoded, len))
		return -1;
	p->count += words ? p->words.count : p->ids.count;
	switch (p->form) {
	case TOKEN_IDS: return print_ids(&p->digits, p->ids.items, p->ids.count, '\n', out);
	case TOKEN_TOKENS: rc = print_tokens(tokenizer_vocab(p->t), &p->ids, out); break;
	case TOKEN_OFFSETS: rc = print_offsets(&p->ids, p->spans, out); break;
	case TOKEN_WORDS: rc = print_words(&p->words, out); break;
	case TOKEN_WORD_OFFSETS: rc = print_word_offsets(&p->words, out); break;
	case TOKEN_EXPLAIN: rc = explain(p, line, out); break;
	}
	return rc || buf_add_byte(out, '\n') ? -1 : 0;
}

int token_print(struct token_printer *p, const char *text, size_t len, struct buf *out)
{
	p->is_cut = false;
	return p->form == TOKEN_DECODED ? decode(p, text, len, out) : print_line(p, text, text, len, out);
}

/* Ids alone: all lines as one text. */
static int print_lines_of_ids(struct token_printer *p, const char *text, size_t len, struct buf *out)
{
	size_t before = 0;

	p->ids.count = p->lines.count = 0;
	if (encoder_encode_lines(p->encoder, text, len, &p->ids, &p->lines))
		return -1;
	p->count += p->ids.count;
	for (size_t i = 0; i < p->lines.count; i++) {
		if (print_ids(&p->digits, p->ids.items + before, p->lines.ends[i] - before, '\n', out))
			return -1;
		before = p->lines.ends[i];
	}
	return 0;
}

int token_print_lines(struct token_printer *p, const char *text, size_t len, struct buf *out, size_t *n)
{
	const char *const end = text + len;

	if (p->form == TOKEN_IDS && !p->flags) {
		if (print_lines_of_ids(p, text, len, out))
			return -1;
		*n = p->lines.count;
		return 0;
	}
	for (*n = 0; text < end; ++*n) {
		const char *const newline = memchr(text, '\n', (size_t)(end - text));

		if (token_print(p, text, (size_t)(newline - text), out))
			return -1;
		text = newline + 1;
	}
	return 0;
}

int token_print_cut_lines(struct token_printer *p, const char *text, size_t len, const struct buf *cut, struct buf *out, size_t *n)
{
	const bool places = p->form == TOKEN_OFFSETS || p->form == TOKEN_WORD_OFFSETS || p->form == TOKEN_EXPLAIN;
	const char *const end = text + len, *q = cut->data, *const cut_end = q + cut->len;

	for (*n = 0; text < end; ++*n) {
		const char *const newline = memchr(text, '\n', (size_t)(end - text));
		const char *const cut_newline = newline > text ? memchr(q, '\n', (size_t)(cut_end - q)) : q;

		if (cut_line_make(&p->cut, text, (size_t)(newline - text), q, (size_t)(cut_newline - q), places))
			return -1;
		p->is_cut = places;
		if (print_line(p, text, p->cut.text.data, p->cut.text.len, out))
			return -1;
		q = newline > text ? cut_newline + 1 : q;
		text = newline + 1;
	}
	return 0;
}
