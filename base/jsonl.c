#include "base/jsonl.h"

#include "base/err.h"
#include "base/in.h"
#include "base/utf8.h"

#include <ctype.h>
#include <string.h>

static struct jsonl_text skip(struct jsonl_text s, size_t n)
{
	return n < s.len ? (struct jsonl_text){ s.text + n, s.len - n } : (struct jsonl_text){ s.text + s.len, 0 };
}

static struct jsonl_text skip_space(struct jsonl_text s)
{
	while (s.len && (s.text[0] == ' ' || s.text[0] == '\t' || s.text[0] == '\n' || s.text[0] == '\r'))
		s = skip(s, 1);
	return s;
}

bool jsonl_begins(struct jsonl_text head)
{
	struct jsonl_text s = skip_space(head.len >= 3 && !memcmp(head.text, "\xEF\xBB\xBF", 3) ? skip(head, 3) : head);

	if (!s.len || s.text[0] != '{')
		return false;
	s = skip_space(skip(s, 1));
	return !s.len || s.text[0] == '"' || s.text[0] == '}';
}

int jsonl_refuse(struct in *in)
{
	char head[64];
	const ssize_t n = in_peek(in, head, sizeof(head));

	if (n < 0)
		return -1;
	if (!jsonl_begins((struct jsonl_text){ head, (size_t)n }))
		return 0;
	return err_usage("'%s' looks like JSON lines: give --from jsonl, or --from text to take it as it stands", in_name(in));
}

/* --- reading --------------------------------------------------------------------- */

#define DEPTH_MAX 512		/* of lists and objects in one another */

/*
 * A line that is being read. Strings lose their escapes where they stand, since none gets longer by that; so what
 * stands before AT may be written over.
 */
struct scan {
	const char *begin, *end;
	char *at;
};

static int not_json(const struct scan *s, const char *what)
{
	return err_corrupt("not JSON: %s after %zu bytes", what, (size_t)(s->at - s->begin));
}

/* What stands at S, white space passed over; 0 at the end. */
static char peek(struct scan *s)
{
	while (s->at < s->end && (*s->at == ' ' || *s->at == '\t' || *s->at == '\n' || *s->at == '\r'))
		s->at++;
	return s->at < s->end ? *s->at : 0;
}

static bool take(struct scan *s, char c)
{
	if (peek(s) != c)
		return false;
	s->at++;
	return true;
}

/* The four digits of a \uXXXX at S; -1 when it is none. */
static long code_unit(const struct scan *s)
{
	long unit = 0;

	if (s->end - s->at < 6 || s->at[0] != '\\' || s->at[1] != 'u')
		return -1;
	for (int i = 2; i < 6; i++) {
		const int c = tolower((unsigned char)s->at[i]);

		if (!isxdigit(c))
			return -1;
		unit = 16 * unit + (isdigit(c) ? c - '0' : c - 'a' + 10);
	}
	return unit;
}

/* The escape at S, to *TO, past which it moves. */
static int take_escape(struct scan *s, char **to, uint64_t *repaired)
{
	static const char of[256] = { ['"'] = '"', ['\\'] = '\\', ['/'] = '/', ['b'] = '\b', ['f'] = '\f', ['n'] = '\n', ['r'] = '\r', ['t'] = '\t' };
	const char plain = s->end - s->at > 1 ? of[(unsigned char)s->at[1]] : 0;
	long unit = plain ? 0 : code_unit(s), low;

	if (unit < 0)
		return not_json(s, "a backslash begins no escape");
	s->at += plain ? 2 : 6;
	if (plain) {
		*(*to)++ = plain;
		return 0;
	}
	low = unit >= 0xD800 && unit < 0xDC00 ? code_unit(s) : -1;
	if (low >= 0xDC00 && low < 0xE000) {
		unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
		s->at += 6;
	} else if (unit >= 0xD800 && unit < 0xE000) {
		unit = 0xFFFD;
		++*repaired;
	}
	*to += utf8_write((uint32_t)unit, *to);
	return 0;
}

/* The string at S. */
static int take_string(struct scan *s, struct jsonl_text *is, uint64_t *repaired)
{
	static const unsigned char stops[256] = { [0x00 ... 0x1F] = 1, ['"'] = 1, ['\\'] = 1 };
	char *to;

	if (!take(s, '"'))
		return not_json(s, "no string");
	is->text = to = s->at;
	for (;;) {
		const char *from = s->at;

		while (s->at < s->end && !stops[(unsigned char)*s->at])
			s->at++;
		if (to != from)
			memmove(to, from, (size_t)(s->at - from));
		to += s->at - from;
		if (s->at == s->end)
			return not_json(s, "a string has no end");
		if (*s->at == '"')
			break;
		if (*s->at != '\\')
			return not_json(s, "a control character in a string");
		if (take_escape(s, &to, repaired))
			return -1;
	}
	s->at++;
	is->len = (size_t)(to - is->text);
	return 0;
}

static size_t skip_digits(struct scan *s)
{
	const char *from = s->at;

	while (s->at < s->end && isdigit((unsigned char)*s->at))
		s->at++;
	return (size_t)(s->at - from);
}

/* The number at S, as it stands. */
static int take_number(struct scan *s, struct jsonl_text *is)
{
	size_t whole;
	bool good;

	is->text = s->at;
	s->at += *s->at == '-';
	whole = skip_digits(s);
	good = whole == 1 || (whole && s->at[-(ptrdiff_t)whole] != '0');
	if (good && s->at < s->end && *s->at == '.') {
		s->at++;
		good = skip_digits(s) > 0;
	}
	if (good && s->at < s->end && (*s->at == 'e' || *s->at == 'E')) {
		s->at++;
		s->at += s->at < s->end && (*s->at == '-' || *s->at == '+');
		good = skip_digits(s) > 0;
	}
	is->len = (size_t)(s->at - is->text);
	return good ? 0 : not_json(s, "a number breaks off");
}

static int take_constant(struct scan *s)
{
	static const char *const constants[] = { "null", "true", "false" };

	for (size_t i = 0; i < sizeof(constants) / sizeof(constants[0]); i++) {
		const size_t n = strlen(constants[i]);

		if ((size_t)(s->end - s->at) >= n && !memcmp(s->at, constants[i], n)) {
			s->at += n;
			return 0;
		}
	}
	return not_json(s, "no value");
}

static bool begins_number(char c)
{
	return c == '-' || isdigit((unsigned char)c);
}

/* A value at S that is no list and no object. */
static int pass_scalar(struct scan *s)
{
	struct jsonl_text is;
	uint64_t repaired = 0;
	const char c = peek(s);

	if (c == '"')
		return take_string(s, &is, &repaired);
	return begins_number(c) ? take_number(s, &is) : take_constant(s);
}

static int take_key(struct scan *s, struct jsonl_text *key)
{
	uint64_t repaired = 0;

	if (take_string(s, key, &repaired))
		return -1;
	return take(s, ':') ? 0 : not_json(s, "no colon");
}

/* Whatever value stands at S. */
static int pass_value(struct scan *s)
{
	char closes[DEPTH_MAX];
	struct jsonl_text key;
	size_t depth = 0;

	for (;;) {
		const char c = peek(s);
		bool empty = true;

		if (c == '{' || c == '[') {
			if (depth == DEPTH_MAX)
				return not_json(s, "lists and objects are nested too deep");
			closes[depth++] = c == '{' ? '}' : ']';
			s->at++;
			empty = peek(s) == closes[depth - 1];
		} else if (pass_scalar(s)) {
			return -1;
		}
		if (empty) {		/* a value has ended */
			while (depth && take(s, closes[depth - 1]))
				depth--;
			if (!depth)
				return 0;
			if (!take(s, ','))
				return not_json(s, "no comma");
		}
		if (closes[depth - 1] == '}' && take_key(s, &key))
			return -1;
	}
}

/* The members that are not passed over. */
enum { ID, TITLE, TEXT, MEMBERS };
static const char *const members[MEMBERS] = { "id", "title", "text" };

struct object {
	struct buf *names[TEXT];	/* the id and the title */
	struct jsonl_text text;		/* in the line; text.text NULL: there is none */
	bool seen[MEMBERS];
	uint64_t *repaired;
};

static int refuse_kind(struct scan *s, int which)
{
	const char c = peek(s), *const should = which == TEXT ? "not a string" : "neither a string nor a number";
	const char *const is = c == '{' ? "an object" : c == '[' ? "a list" : begins_number(c) ? "a number" : "a constant";

	if (strcmp(is, "a constant") || !take_constant(s))
		return err_corrupt("\"%s\" is %s, %s", members[which], is, should);
	return -1;
}

static int take_member(struct scan *s, struct object *o)
{
	struct jsonl_text key, is = { NULL, 0 };
	int which = 0;
	char c;

	if (take_key(s, &key))
		return -1;
	while (which < MEMBERS && (strlen(members[which]) != key.len || memcmp(members[which], key.text, key.len)))
		which++;
	if (which == MEMBERS)
		return pass_value(s);
	if (o->seen[which])
		return err_corrupt("the object has \"%s\" twice", members[which]);
	o->seen[which] = true;
	c = peek(s);
	if (c == '"') {
		if (take_string(s, &is, o->repaired))
			return -1;
	} else if (which != TEXT && begins_number(c)) {
		if (take_number(s, &is))
			return -1;
	} else if (which == TEXT || c != 'n') {
		return refuse_kind(s, which);
	} else if (take_constant(s)) {
		return -1;
	}
	if (which == TEXT)
		o->text = is;
	return which == TEXT ? 0 : buf_add(o->names[which], is.text, is.len);
}

static int take_object(struct scan *s, struct object *o)
{
	const char c = peek(s);

	if (!take(s, '{'))
		return c == '[' || c == '"' || begins_number(c) ? err_corrupt("not a JSON object") : not_json(s, "no object");
	if (!take(s, '}')) {
		do {
			if (take_member(s, o))
				return -1;
		} while (take(s, ','));
		if (!take(s, '}'))
			return not_json(s, "no comma and no brace");
	}
	if (peek(s) || s->at < s->end)
		return not_json(s, "more than an object");
	return o->text.text ? 0 : err_corrupt("no string \"text\"");
}

int jsonl_take(struct buf *line, struct buf *id, struct buf *title, uint64_t *repaired)
{
	struct scan s;
	struct object o = { .names = { id, title }, .repaired = repaired };

	buf_clear(id);
	buf_clear(title);
	if (buf_reserve(line, 0))
		return -1;
	s = (struct scan){ .begin = line->data, .end = line->data + line->len, .at = line->data };
	if (take_object(&s, &o))
		return -1;
	memmove(line->data, o.text.text, o.text.len);
	line->len = o.text.len;
	line->data[line->len] = 0;
	return 0;
}

int jsonl_read(struct jsonl_text line, struct buf *id, struct buf *title, struct buf *text, uint64_t *repaired)
{
	buf_clear(text);
	return buf_add(text, line.text, line.len) ? -1 : jsonl_take(text, id, title, repaired);
}

/* --- writing --------------------------------------------------------------------- */

int jsonl_put_string(struct buf *b, struct jsonl_text s)
{
	static const unsigned char escaped[256] = { [0x00 ... 0x1F] = 1, ['"'] = 1, ['\\'] = 1, [0x7F] = 1 };

	if (buf_reserve(b, s.len + 2) || buf_add_byte(b, '"'))
		return -1;
	while (s.len) {
		size_t n = 0;
		int rc;

		while (n < s.len && !escaped[(unsigned char)s.text[n]])
			n++;
		if (buf_add(b, s.text, n))
			return -1;
		s = skip(s, n);
		if (!s.len)
			break;
		switch (s.text[0]) {
		case '\n': rc = buf_adds(b, "\\n"); break;
		case '\t': rc = buf_adds(b, "\\t"); break;
		case '"': rc = buf_adds(b, "\\\""); break;
		case '\\': rc = buf_adds(b, "\\\\"); break;
		default: rc = buf_addf(b, "\\u%04x", (unsigned char)s.text[0]); break;
		}
		if (rc)
			return -1;
		s = skip(s, 1);
	}
	return buf_add_byte(b, '"');
}

int jsonl_put(struct buf *b, struct jsonl_text id, struct jsonl_text title, struct jsonl_text text)
{
	if (buf_adds(b, "{\"id\": ") || jsonl_put_string(b, id) || buf_adds(b, ", \"title\": ") || jsonl_put_string(b, title) ||
	    buf_adds(b, ", \"text\": ") || jsonl_put_string(b, text))
		return -1;
	return buf_adds(b, "}\n");
}
