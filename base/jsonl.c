#include "base/jsonl.h"

#include "base/err.h"
#include "base/in.h"
#include "base/utf8.h"

#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#define REAL_WHOLE 9007199254740992.0	/* 2^53: up to this every whole number is a double */

void jsonl_init(void)
{
	json_object_seed(1);	/* order within an object never shows */
}

static struct jsonl_text skip(struct jsonl_text s, size_t n)
{
	return n < s.len ? (struct jsonl_text){ s.text + n, s.len - n } : (struct jsonl_text){ s.text + s.len, 0 };
}

/* Where a backslash first stands in S; S.len when there is none. */
static size_t find_backslash(struct jsonl_text s)
{
	const char *p = memchr(s.text, '\\', s.len);

	return p ? (size_t)(p - s.text) : s.len;
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

/* The four digits of a \uXXXX at S; -1 when it is none. */
static long code_unit(struct jsonl_text s)
{
	long unit = 0;

	if (s.len < 6 || s.text[0] != '\\' || s.text[1] != 'u')
		return -1;
	for (int i = 2; i < 6; i++) {
		const int c = tolower((unsigned char)s.text[i]);

		if (!isxdigit(c))
			return -1;
		unit = 16 * unit + (isdigit(c) ? c - '0' : c - 'a' + 10);
	}
	return unit;
}

/* Copies LINE to B with escapes of lone surrogates, which jansson refuses, made \uFFFD. */
static int repair(struct jsonl_text line, struct buf *b, uint64_t *repaired)
{
	while (line.len) {
		const size_t n = find_backslash(line);
		size_t take = 2;
		long unit;

		if (buf_add(b, line.text, n))
			return -1;
		line = skip(line, n);
		unit = code_unit(line);
		if (unit >= 0)
			take = 6;
		if (unit >= 0xD800 && unit < 0xE000) {
			const long low = code_unit(skip(line, 6));

			if (unit < 0xDC00 && low >= 0xDC00 && low < 0xE000) {
				take = 12;
			} else {
				if (buf_adds(b, "\\uFFFD"))
					return -1;
				++*repaired;
				line = skip(line, 6);
				continue;
			}
		}
		if (take > line.len)
			take = line.len;
		if (buf_add(b, line.text, take))
			return -1;
		line = skip(line, take);
	}
	return 0;
}

static int take_string(const json_t *object, const char *key, struct buf *b)
{
	const json_t *value = json_object_get(object, key);

	buf_clear(b);
	if (json_is_string(value))
		return buf_add(b, json_string_value(value), json_string_length(value));
	if (json_is_integer(value))
		return buf_addf(b, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	if (json_is_real(value) && fabs(json_real_value(value)) <= REAL_WHOLE && trunc(json_real_value(value)) == json_real_value(value))
		return buf_addf(b, "%.0f", json_real_value(value));
	if (!value || json_is_null(value))
		return 0;
	return err_corrupt(json_is_real(value) ? "\"%s\" is not a string, nor a whole number up to 2^53" : "\"%s\" is not a string", key);
}

/* --- plain objects --------------------------------------------------------------- */

/*
 * Most lines are an object of strings, whole numbers and constants. These are read here, many times as fast as jansson does; whatever
 * is not plainly such a line, bad ones included, is left to it.
 */
#define DIGITS_MAX 18			/* of a whole number that fits in 64 bits for certain */

/* The byte that C stands for after a backslash; 0: not a plain one. */
static char unescape(char c)
{
	static const char of[256] = { ['"'] = '"', ['\\'] = '\\', ['/'] = '/', ['b'] = '\b', ['f'] = '\f', ['n'] = '\n', ['r'] = '\r', ['t'] = '\t' };

	return of[(unsigned char)c];
}

/* An escape at *S, past which it moves; false: to be left. */
static bool plain_escape(struct jsonl_text *s, struct buf *b, int *rc)
{
	char bytes[UTF8_MAX];
	const char c = s->len > 1 ? unescape(s->text[1]) : 0;
	const long unit = c ? 0 : code_unit(*s);

	if (!c && (unit < 0 || (unit >= 0xD800 && unit < 0xE000)))
		return false;
	*rc = c ? buf_add_byte(b, (unsigned char)c) : buf_add(b, bytes, utf8_write((uint32_t)unit, bytes));
	*s = skip(*s, c ? 2 : 6);
	return true;
}

/* The string at *S to B: 1, 0 to be left, -1 failed. */
static int plain_string(struct jsonl_text *s, struct buf *b)
{
	static const unsigned char stops[256] = { [0x00 ... 0x1F] = 1, ['"'] = 1, ['\\'] = 1 };
	int rc = 0;

	buf_clear(b);
	if (!s->len || s->text[0] != '"' || buf_reserve(b, 1))
		return s->len && s->text[0] == '"' ? -1 : 0;
	*s = skip(*s, 1);
	for (;;) {
		size_t n = 0;

		while (n < s->len && !stops[(unsigned char)s->text[n]])
			n++;
		if (n == s->len || (s->text[n] != '"' && s->text[n] != '\\'))
			return 0;
		if (buf_add(b, s->text, n))
			return -1;
		*s = skip(*s, n);
		if (s->text[0] == '"')
			break;
		if (!plain_escape(s, b, &rc))
			return 0;
		if (rc)
			return -1;
	}
	*s = skip(*s, 1);
	return 1;
}

/* A whole number or a constant at *S, which ends before a comma or a brace. The number to B. */
static int plain_word(struct jsonl_text *s, struct buf *b, bool *number)
{
	static const char *const constants[] = { "null", "true", "false" };
	size_t n = 0;

	buf_clear(b);
	while (n < s->len && isdigit((unsigned char)s->text[n]))
		n++;
	*number = n > 0;
	if (n > DIGITS_MAX || (n > 1 && s->text[0] == '0'))
		return 0;
	for (size_t i = 0; !n && i < sizeof(constants) / sizeof(constants[0]); i++)
		if (s->len >= strlen(constants[i]) && !memcmp(s->text, constants[i], strlen(constants[i])))
			n = strlen(constants[i]);
	if (!n || (*number && buf_add(b, s->text, n)))
		return n ? -1 : 0;
	*s = skip(*s, n);
	return s->len && strchr(",} \t\r\n", s->text[0]) && s->text[0];
}

/* Where the three of jsonl_read go, and what else is there. */
struct members {
	struct buf *id, *title, *text;
	struct buf key, other;
	bool has_text;
};

static int plain_member(struct jsonl_text *s, struct members *m)
{
	const char *key;
	struct buf *to = &m->other;
	bool number = false;
	int rc = plain_string(s, &m->key);

	if (rc <= 0)
		return rc;
	*s = skip_space(*s);
	if (!s->len || s->text[0] != ':' || memchr(m->key.data, 0, m->key.len))
		return 0;
	key = m->key.data;
	to = !strcmp(key, "id") ? m->id : !strcmp(key, "title") ? m->title : !strcmp(key, "text") ? m->text : to;
	*s = skip_space(skip(*s, 1));
	if (s->len && s->text[0] == '"') {
		m->has_text = m->has_text || to == m->text;
		return plain_string(s, to);
	}
	if (to == m->text || (to != &m->other && s->len && strchr("tf", s->text[0])))	/* of another kind than it should be */
		return 0;
	return plain_word(s, to, &number);
}

/* 1 read, 0 left to jansson, -1 failed. */
static int plain_object(struct jsonl_text s, struct members *m)
{
	int rc;

	s = skip_space(s);
	do {
		if (!s.len || (s.text[0] != '{' && s.text[0] != ','))
			return 0;
		s = skip_space(skip(s, 1));
		rc = plain_member(&s, m);
		if (rc <= 0)
			return rc;
		s = skip_space(s);
	} while (s.len && s.text[0] == ',');
	return s.len && s.text[0] == '}' && !skip_space(skip(s, 1)).len && m->has_text;
}

static int read_plain(struct jsonl_text line, struct buf *id, struct buf *title, struct buf *text)
{
	struct members m = { .id = id, .title = title, .text = text, .key = BUF_INIT, .other = BUF_INIT };
	int rc;

	buf_clear(id);
	buf_clear(title);
	rc = plain_object(line, &m);
	buf_release(&m.key);
	buf_release(&m.other);
	return rc;
}

int jsonl_read(struct jsonl_text line, struct buf *id, struct buf *title, struct buf *text, uint64_t *repaired)
{
	json_error_t error;
	json_t *object = NULL;
	int rc = read_plain(line, id, title, text);

	if (rc)
		return rc > 0 ? 0 : -1;
	rc = -1;
	buf_clear(text);
	if (memmem(line.text, line.len, "\\u", 2)) {
		if (repair(line, text, repaired))
			return -1;
		line = (struct jsonl_text){ text->data, text->len };
	}
	object = json_loadb(line.text, line.len, JSON_ALLOW_NUL, &error);
	if (!object && json_error_code(&error) == json_error_numeric_overflow)	/* of another member, as like as not */
		object = json_loadb(line.text, line.len, JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, &error);
	if (!object)
		return err_corrupt("not JSON: %s", error.text);
	if (!json_is_object(object))
		err_corrupt("not a JSON object");
	else if (!json_is_string(json_object_get(object, "text")))
		err_corrupt("no string \"text\"");
	else
		rc = take_string(object, "id", id) || take_string(object, "title", title) || take_string(object, "text", text) ? -1 : 0;
	json_decref(object);
	return rc;
}

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
