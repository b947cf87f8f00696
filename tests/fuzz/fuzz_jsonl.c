/*
 * Arbitrary bytes as lines of JSON: what can be read is written, and reads back the same. The document in them has
 * lines that are not blank, and none that its text has not. What jansson makes of a line is what we make of it.
 */
#include "base/err.h"
#include "base/jsonl_documents.h"
#include "base/utf8.h"

#include <jansson.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void need(int ok)
{
	if (!ok)
		abort();
}

static struct jsonl_text whole(const struct buf *b)
{
	return (struct jsonl_text){ b->data ? b->data : "", b->len };
}

static void same(const struct buf *a, const struct buf *b)
{
	need(a->len == b->len && (!a->len || !memcmp(a->data, b->data, a->len)));
}

static void check_document(const struct document *d, const struct buf *text)
{
	size_t start = 0;

	for (size_t i = 0; i < d->n_lines; start = d->ends[i++]) {
		const size_t len = d->ends[i] - 1 - start;

		need(d->ends[i] > start && d->ends[i] <= d->text.len && d->text.data[d->ends[i] - 1] == '\n');
		need(!memchr(d->text.data + start, '\n', len) && !utf8_is_blank(d->text.data + start, len));
		need(memmem(text->data, text->len, d->text.data + start, len) != NULL);
	}
	need(start == d->text.len);
}

/* The bytes as a line of a file, which has TEXT where it is GOOD. */
static void read_document(const struct buf *valid, bool good, const struct buf *text)
{
	struct document line = { .number = 1 };
	struct jsonl j = JSONL_INIT;
	uint64_t repaired = 0;
	int rc;

	need(!buf_add(&line.text, valid->data, valid->len));
	rc = jsonl_document(&j, &line, "x", &(struct jsonl_how){ .keep_marks = valid->len % 2 }, &repaired);
	need(!rc == good);
	if (!rc)
		check_document(&line, text);
	jsonl_release(&j);
	document_release(&line);
}

static bool is_string(const json_t *value, const struct buf *is)
{
	return json_string_length(value) == is->len && !memcmp(json_string_value(value), whole(is).text, is->len);
}

/* A name in B, as jansson has it. */
static bool can_name(const json_t *value, const struct buf *b, bool good)
{
	if (json_is_string(value))
		return !good || is_string(value, b);
	return !value || json_is_null(value) ? !good || !b->len : json_is_number(value) && (!good || b->len);
}

/* Lines that another reader takes, and those that it does not. Twice the same member it refuses wherever that is; we only our three. */
static void read_otherwise(const struct buf *valid, bool good, uint64_t repaired, const struct buf *a)
{
	const size_t flags = JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL | JSON_REJECT_DUPLICATES;
	json_error_t error;
	json_t *object;

	if (memchr(valid->data, 0, valid->len))		/* jansson loses a zero byte that follows a number */
		return;
	object = json_loadb(valid->data, valid->len, flags, &error);
	if (object) {
		const bool takes = json_is_object(object) && json_is_string(json_object_get(object, "text")) &&
				   can_name(json_object_get(object, "id"), &a[0], good) && can_name(json_object_get(object, "title"), &a[1], good);

		need(good == takes && (!good || is_string(json_object_get(object, "text"), &a[2])) && !repaired);
	} else if (good) {
		const enum json_error_code code = json_error_code(&error);

		need(code == json_error_numeric_overflow || code == json_error_null_byte_in_key || code == json_error_duplicate_key ||
		     code == json_error_null_character || (code == json_error_invalid_syntax && strstr(error.text, "Unicode")));
	}
	json_decref(object);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	struct buf valid = BUF_INIT, line = BUF_INIT, a[3] = { BUF_INIT, BUF_INIT, BUF_INIT }, b[3] = { BUF_INIT, BUF_INIT, BUF_INIT };
	uint64_t bad = 0;

	need(!utf8_repair((const char *)data, size, &valid, &bad));
	need(!buf_add_byte(&valid, '\n'));
	bad = 0;
	if (jsonl_read((struct jsonl_text){ valid.data, valid.len - 1 }, &a[0], &a[1], &a[2], &bad)) {
		need(err_code() == EXIT_CORRUPT);
		read_document(&valid, false, NULL);
		read_otherwise(&valid, false, 0, a);
	} else {
		read_otherwise(&valid, true, bad, a);
		need(!jsonl_put(&line, whole(&a[0]), whole(&a[1]), whole(&a[2])));
		bad = 0;
		need(!jsonl_read((struct jsonl_text){ line.data, line.len - 1 }, &b[0], &b[1], &b[2], &bad) && !bad);
		for (int i = 0; i < 3; i++)
			same(&a[i], &b[i]);
		read_document(&valid, true, &a[2]);
	}
	for (int i = 0; i < 3; i++) {
		buf_release(&a[i]);
		buf_release(&b[i]);
	}
	buf_release(&valid);
	buf_release(&line);
	return 0;
}
