/*
 * Arbitrary bytes as lines of JSON: what can be read is written, and reads back the same. The document in them has
 * lines that are not blank, and none that its text has not. A member that makes the line less plain changes nothing.
 */
#include "base/err.h"
#include "base/jsonl_documents.h"
#include "base/utf8.h"

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

/* The bytes as a line of a file. */
static void read_document(const struct buf *valid, bool good)
{
	struct document line = { .text = *valid, .number = 1 };
	struct jsonl j = JSONL_INIT;
	uint64_t repaired = 0;
	const int rc = jsonl_document(&j, &line, "x", &(struct jsonl_how){ .keep_marks = valid->len % 2 }, &repaired);

	need(!rc == good);
	if (!rc)
		check_document(&j.doc, &j.text);
	jsonl_release(&j);
}

/* With a list among the members another reader is at work; it must say the same: RC, and what is in A. */
static void read_otherwise(const struct buf *valid, int rc, const struct buf *a)
{
	const char *brace = memchr(valid->data, '{', valid->len - 1);
	struct buf line = BUF_INIT, b[3] = { BUF_INIT, BUF_INIT, BUF_INIT };
	uint64_t bad = 0;

	if (brace && (size_t)(brace - valid->data) == strspn(valid->data, " \t\r\n")) {
		const size_t n = (size_t)(brace - valid->data) + 1;

		need(!buf_add(&line, valid->data, n) && !buf_adds(&line, "\"_\": [],") && !buf_add(&line, brace + 1, valid->len - 1 - n));
		need(jsonl_read(whole(&line), &b[0], &b[1], &b[2], &bad) == rc);
		for (int i = 0; i < 3 && !rc; i++)
			same(&a[i], &b[i]);
	}
	for (int i = 0; i < 3; i++)
		buf_release(&b[i]);
	buf_release(&line);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	struct buf valid = BUF_INIT, line = BUF_INIT, a[3] = { BUF_INIT, BUF_INIT, BUF_INIT }, b[3] = { BUF_INIT, BUF_INIT, BUF_INIT };
	uint64_t bad = 0;

	need(!utf8_repair((const char *)data, size, &valid, &bad));
	need(!buf_add_byte(&valid, '\n'));
	if (jsonl_read((struct jsonl_text){ valid.data, valid.len - 1 }, &a[0], &a[1], &a[2], &bad)) {
		need(err_code() == EXIT_CORRUPT);
		read_document(&valid, false);
		read_otherwise(&valid, -1, a);
	} else {
		read_otherwise(&valid, 0, a);
		need(!jsonl_put(&line, whole(&a[0]), whole(&a[1]), whole(&a[2])));
		bad = 0;
		need(!jsonl_read((struct jsonl_text){ line.data, line.len - 1 }, &b[0], &b[1], &b[2], &bad) && !bad);
		for (int i = 0; i < 3; i++)
			same(&a[i], &b[i]);
		read_document(&valid, true);
	}
	for (int i = 0; i < 3; i++) {
		buf_release(&a[i]);
		buf_release(&b[i]);
	}
	buf_release(&valid);
	buf_release(&line);
	return 0;
}
