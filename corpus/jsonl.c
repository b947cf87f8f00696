#include "corpus/jsonl.h"

#include "base/err.h"

#include <ctype.h>
#include <jansson.h>

void jsonl_init(void)
{
	json_object_seed(1);	/* order within an object never shows */
}

/* The four digits of a \uXXXX at S; -1 when it is none. */
static long code_unit(struct span s)
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
static int repair(struct span line, struct buf *b, uint64_t *repaired)
{
	while (line.len) {
		const size_t n = span_find(line, '\\');
		size_t take = 2;
		long unit;

		if (buf_add(b, line.text, n))
			return -1;
		line = span_skip(line, n);
		unit = code_unit(line);
		if (unit >= 0)
			take = 6;
		if (unit >= 0xD800 && unit < 0xE000) {
			const long low = code_unit(span_skip(line, 6));

			if (unit < 0xDC00 && low >= 0xDC00 && low < 0xE000) {
				take = 12;
			} else {
				if (buf_adds(b, "\\uFFFD"))
					return -1;
				++*repaired;
				line = span_skip(line, 6);
				continue;
			}
		}
		if (take > line.len)
			take = line.len;
		if (buf_add(b, line.text, take))
			return -1;
		line = span_skip(line, take);
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
	if (!value || json_is_null(value))
		return 0;
	return err_corrupt("\"%s\" is not a string", key);
}

int jsonl_read(struct span line, struct buf *id, struct buf *title, struct buf *text, uint64_t *repaired)
{
	json_error_t error;
	json_t *object = NULL;
	int rc = -1;

	buf_clear(text);
	if (memmem(line.text, line.len, "\\u", 2)) {
		if (repair(line, text, repaired))
			return -1;
		line = (struct span){ text->data, text->len };
	}
	object = json_loadb(line.text, line.len, JSON_ALLOW_NUL, &error);
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

int jsonl_put_string(struct buf *b, struct span s)
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
		s = span_skip(s, n);
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
		s = span_skip(s, 1);
	}
	return buf_add_byte(b, '"');
}

int jsonl_put(struct buf *b, struct span id, struct span title, struct span text)
{
	if (buf_adds(b, "{\"id\": ") || jsonl_put_string(b, id) || buf_adds(b, ", \"title\": ") || jsonl_put_string(b, title) ||
	    buf_adds(b, ", \"text\": ") || jsonl_put_string(b, text))
		return -1;
	return buf_adds(b, "}\n");
}
