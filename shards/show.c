/* Instances and token documents as JSON lines. show_text.c has the form for people. */
#include "shards/show.h"
#include "base/err.h"

#include <inttypes.h>

#define NUMBERS 65536		/* below it, numbers are copied from a table; positions are all below it */
#define NUMBER_MAX 11		/* bytes of a 32-bit number and its comma */

/* Eight bytes, so that copying one is one move. */
struct show_number {
	char text[7];
	unsigned char len;
};

/* --- numbers --------------------------------------------------------------------------------- */

/* V and a comma to OUT, which has NUMBER_MAX bytes; returns the end. */
static char *print_number(char *out, uint32_t v)
{
	char digits[NUMBER_MAX];
	unsigned n = 0;

	do
		digits[n++] = (char)('0' + v % 10);
	while (v /= 10);
	while (n)
		*out++ = digits[--n];
	*out++ = ',';
	return out;
}

/* The same, fast; writes up to 8 bytes when it is in the table. */
static inline char *put_number(const struct show *s, char *out, uint32_t v)
{
	if (v >= NUMBERS)
		return print_number(out, v);
	memcpy(out, &s->numbers[v], sizeof(s->numbers[v]));
	return out + s->numbers[v].len;
}

static char *put_numbers(const struct show *s, char *out, const uint32_t *v, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++)
		out = put_number(s, out, v[k]);
	return out;
}

/* A literal. */
#define PUT(out, text) (memcpy((out), (text), sizeof(text) - 1), (out) + sizeof(text) - 1)

/* Ends a list: its last comma, if it has one, becomes the bracket. START is where it opened. */
static char *end_list(char *start, char *out)
{
	if (out == start)
		out++;
	out[-1] = ']';
	return out;
}

/* --- strings --------------------------------------------------------------------------------- */

/* TEXT (valid UTF-8) as a JSON string, to OUT, which has 6 * LEN + 2 bytes; returns the end. */
static char *put_string(char *out, const char *text, size_t len)
{
	static const char hex[] = "0123456789abcdef";

	*out++ = '"';
	for (size_t k = 0; k < len; k++) {
		const unsigned char c = (unsigned char)text[k];

		if (c == '"' || c == '\\') {
			*out++ = '\\';
		} else if (c < 0x20) {
			out = PUT(out, "\\u00");
			*out++ = hex[c >> 4];
			*out++ = hex[c & 15];
			continue;
		}
		*out++ = (char)c;
	}
	*out++ = '"';
	return out;
}

static int fill_strings(struct show *s)
{
	const uint32_t n = vocab_size(s->opts.vocab);

	s->ends = malloc(n * sizeof(*s->ends));
	if (!s->ends)
		return err_memory();
	for (uint32_t id = 0; id < n; id++) {
		size_t len;
		const char *token = vocab_token(s->opts.vocab, id, &len);
		char *out;

		if (buf_reserve(&s->strings, 6 * len + 3))
			return -1;
		out = put_string(s->strings.data + s->strings.len, token, len);
		*out++ = ',';
		s->ends[id] = s->strings.len = (size_t)(out - s->strings.data);
	}
	return 0;
}

static size_t string_of(const struct show *s, uint32_t id, const char **text)
{
	const size_t start = id ? s->ends[id - 1] : 0;

	*text = s->strings.data + start;
	return s->ends[id] - start;
}

/* Adds "[" and the strings of N ids, each with a comma, the last one's becoming "]". */
static int add_strings(const struct show *s, struct buf *out, const uint32_t *ids, size_t n)
{
	size_t start;
	const char *text;

	if (buf_add_byte(out, '['))
		return -1;
	start = out->len;
	for (size_t k = 0; k < n; k++) {
		const size_t len = string_of(s, ids[k], &text);

		if (buf_add(out, text, len))
			return -1;
	}
	if (buf_reserve(out, 1))
		return -1;
	out->len = (size_t)(end_list(out->data + start, out->data + out->len) - out->data);
	return 0;
}

/* --- instances -------------------------------------------------------------------------------- */

/* N times DIGIT and a comma. */
static char *put_digits(char *out, char digit, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++) {
		*out++ = digit;
		*out++ = ',';
	}
	return out;
}

static char *put_types(char *out, const struct instance *i, const struct instance_shape *shape)
{
	const uint32_t first = shape->pairs ? i->segments[0].length + 2 : i->n;

	out = put_digits(out, '0', first);
	return put_digits(out, '1', i->n - first);
}

static int json_instance(const struct show *s, struct buf *out, const struct instance *i,
			 const struct instance_shape *shape)
{
	const size_t room = 128 + (NUMBER_MAX + 2) * (size_t)i->n + (NUMBER_MAX + 7) * (size_t)i->predictions;
	char *p, *start;

	if (buf_reserve(out, room))
		return -1;
	p = out->data + out->len;
	start = p = PUT(p, "{\"input_ids\":[");
	p = end_list(start, put_numbers(s, p, i->ids, i->n));
	start = p = PUT(p, ",\"segment_ids\":[");
	p = end_list(start, put_types(p, i, shape));
	start = p = PUT(p, ",\"masked_lm_positions\":[");
	p = end_list(start, put_numbers(s, p, i->positions, i->predictions));
	start = p = PUT(p, ",\"masked_lm_ids\":[");
	p = end_list(start, put_numbers(s, p, i->labels, i->predictions));
	p = PUT(p, ",\"next_sentence_label\":");
	*p++ = i->flags & INSTANCE_RANDOM_NEXT ? '1' : '0';
	out->len = (size_t)(p - out->data);
	if (s->opts.vocab && (buf_adds(out, ",\"tokens\":") || add_strings(s, out, i->ids, i->n)))
		return -1;
	return buf_add(out, "}\n", 2);
}

int show_instance(const struct show *s, struct buf *out, const struct instance *i, const struct instance_shape *shape,
		  uint64_t number)
{
	if (s->opts.form == SHOW_TEXT)
		return show_text_instance(s->opts.vocab, out, i, shape, number);
	return json_instance(s, out, i, shape);
}

/* --- documents --------------------------------------------------------------------------------- */

/* Ids of a sentence are taken in pieces, so that no sentence asks for memory. */
#define PIECE 1024

static int add_piece(const struct show *s, struct buf *out, const uint32_t *ids, size_t n)
{
	if (buf_reserve(out, NUMBER_MAX * n + 8))
		return -1;
	out->len = (size_t)(put_numbers(s, out->data + out->len, ids, (uint32_t)n) - out->data);
	return 0;
}

static int add_piece_strings(const struct show *s, struct buf *out, const uint32_t *ids, size_t n)
{
	const char *text;

	for (size_t k = 0; k < n; k++) {
		const size_t len = string_of(s, ids[k], &text);

		if (buf_add(out, text, len))
			return -1;
	}
	return 0;
}

typedef int (*piece_fn)(const struct show *s, struct buf *out, const uint32_t *ids, size_t n);

/* One sentence of N ids from number FIRST on: "[...]," */
static int add_sentence(const struct show *s, struct buf *out, const struct tokdoc *d, size_t first, size_t n,
			piece_fn add)
{
	uint32_t ids[PIECE];
	size_t start;

	if (buf_add_byte(out, '['))
		return -1;
	start = out->len;
	for (size_t done = 0; done < n;) {
		const size_t now = n - done < PIECE ? n - done : PIECE;

		tokdoc_ids(d, first + done, now, ids);
		if (add(s, out, ids, now))
			return -1;
		done += now;
	}
	if (buf_reserve(out, 2))
		return -1;
	out->len = (size_t)(end_list(out->data + start, out->data + out->len) - out->data);
	out->data[out->len++] = ',';
	return 0;
}

static int add_sentences(const struct show *s, struct buf *out, const struct tokdoc *d, piece_fn add)
{
	const size_t start = out->len;
	size_t first = 0;

	for (size_t k = 0; k < d->n_sentences; k++) {
		if (add_sentence(s, out, d, first, d->lengths[k], add))
			return -1;
		first += d->lengths[k];
	}
	if (buf_reserve(out, 1))
		return -1;
	out->len = (size_t)(end_list(out->data + start, out->data + out->len) - out->data);
	return 0;
}

/* A string, or null when it is empty. */
static int add_name(struct buf *out, const char *name, const char *text, size_t len)
{
	if (buf_addf(out, ",\"%s\":", name))
		return -1;
	if (!len)
		return buf_adds(out, "null");
	if (buf_reserve(out, 6 * len + 2))
		return -1;
	out->len = (size_t)(put_string(out->data + out->len, text, len) - out->data);
	return 0;
}

static int json_document(const struct show *s, struct buf *out, const struct tokdoc *d)
{
	char key[33];

	key_print(d->key, key);
	if (buf_addf(out, "{\"key\":\"%s\"", key) || add_name(out, "id", d->id, d->id_len) ||
	    add_name(out, "title", d->title, d->title_len) || buf_adds(out, ",\"sentences\":[") ||
	    add_sentences(s, out, d, add_piece))
		return -1;
	if (s->opts.vocab && (buf_adds(out, ",\"tokens\":[") || add_sentences(s, out, d, add_piece_strings)))
		return -1;
	return buf_add(out, "}\n", 2);
}

int show_document(const struct show *s, struct buf *out, const struct tokdoc *d, uint64_t number)
{
	if (s->opts.form == SHOW_TEXT)
		return show_text_document(s->opts.vocab, out, d, number);
	return json_document(s, out, d);
}

/* --- making ---------------------------------------------------------------------------------------- */

int show_init(struct show *s, const struct show_opts *opts)
{
	*s = (struct show){ .opts = *opts, .numbers = malloc(NUMBERS * sizeof(*s->numbers)) };
	if (!s->numbers)
		return err_memory();
	for (uint32_t v = 0; v < NUMBERS; v++)
		s->numbers[v].len = (unsigned char)(print_number(s->numbers[v].text, v) - s->numbers[v].text);
	if (!opts->vocab || opts->form == SHOW_TEXT || !fill_strings(s))
		return 0;
	show_release(s);
	return -1;
}

void show_release(struct show *s)
{
	if (!s)
		return;
	free(s->numbers);
	free(s->ends);
	buf_release(&s->strings);
	*s = (struct show){ .numbers = NULL };
}
