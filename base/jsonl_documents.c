#include "base/jsonl_documents.h"

#include "base/err.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GIANT ((size_t)1 << 20)		/* bytes of a text that is worth some care */

static int blame(const struct document *d, const char *path)
{
	const char *file = strcmp(path, "-") ? path : "standard input";

	if (d->number)
		return err_prefix("'%s', line %" PRIu64, file, d->number);
	return err_prefix("'%s', the line at byte %" PRIu64, file, d->offset);
}

/* What escapes and other members took, where it is much. */
static void give_back(struct buf *b)
{
	char *data;

	if (b->cap < GIANT || b->cap - b->len < b->len / 4)
		return;
	data = realloc(b->data, b->len + 1);
	if (!data)
		return;
	b->data = data;
	b->cap = b->len;
}

int jsonl_document(struct jsonl *j, struct document *d, const char *file, const struct jsonl_how *how, uint64_t *repaired)
{
	const uint64_t before = *repaired;

	d->text.len--;		/* the line's end */
	if (jsonl_take(&d->text, &j->id, &j->title, repaired))
		return blame(d, file);
	if (how->strict && *repaired > before) {
		err_corrupt("half of a surrogate pair stands alone");
		return blame(d, file);
	}
	if (document_of_text(d, how->keep_marks))
		return -1;
	give_back(&d->text);
	return 0;
}

void jsonl_release(struct jsonl *j)
{
	buf_release(&j->id);
	buf_release(&j->title);
}

const char *jsonl_repaired_report(uint64_t repaired, char *text, size_t size)
{
	snprintf(text, size, "lone halves of surrogate pairs were replaced by U+FFFD in %" PRIu64 " place%s", repaired,
		 repaired == 1 ? "" : "s");
	return text;
}

int jsonl_batch_read(struct jsonl_batch *b, struct lines *l, size_t bytes)
{
	size_t got = 0;

	for (b->n = 0; got < bytes || !b->n; b->n++) {
		const size_t was = b->cap;
		int rc;

		if (array_grow(&b->lines, &b->cap, b->n + 1, sizeof(*b->lines)) ||
		    array_grow(&b->files, &b->cap_files, b->n + 1, sizeof(*b->files)))
			return -1;
		for (size_t i = was; i < b->cap; i++)
			b->lines[i] = (struct document)DOCUMENT_INIT;
		rc = lines_next_document(l, &b->lines[b->n]);
		if (rc < 0)
			return -1;
		if (!rc)
			break;
		b->files[b->n] = lines_name(l, b->lines[b->n].file);
		got += b->lines[b->n].text.len;
	}
	return b->n > 0;
}

int jsonl_batch_read_any(struct jsonl_batch *b, struct lines *l, bool jsonl, size_t bytes)
{
	return jsonl ? jsonl_batch_read(b, l, bytes) : lines_next_documents(l, bytes, &b->docs);
}

/* The text of D to the others; a giant that comes first is not copied. */
static int add_text(struct jsonl_batch *b, struct document *d)
{
	const struct buf text = d->text;

	if (b->docs.text.len || text.len < GIANT)
		return buf_add(&b->docs.text, text.data, text.len);
	buf_release(&b->docs.text);
	b->docs.text = text;
	d->text = (struct buf)BUF_INIT;
	return 0;
}

static int add_document(struct jsonl_batch *b, struct document *d)
{
	const struct jsonl *j = &b->work;
	const size_t id = b->text_of_names.len, start = b->docs.text.len, len = d->text.len;

	if (!d->n_lines)
		return 0;
	if (array_grow(&b->names, &b->cap_names, b->n_names + 1, sizeof(*b->names)) ||
	    array_grow(&b->docs.items, &b->docs.cap, b->docs.count + 1, sizeof(*b->docs.items)) ||
	    buf_add(&b->text_of_names, j->id.data, j->id.len) || buf_add(&b->text_of_names, j->title.data, j->title.len) ||
	    add_text(b, d))
		return -1;
	b->names[b->n_names++] = (struct jsonl_names){ id, j->id.len, id + j->id.len, j->title.len };
	b->docs.items[b->docs.count++] = (struct document_place){ start, len };
	return 0;
}

int jsonl_batch_parse(struct jsonl_batch *b, const struct jsonl_how *how)
{
	buf_clear(&b->docs.text);
	buf_clear(&b->text_of_names);
	b->docs.count = b->n_names = 0;
	b->repaired = 0;
	for (size_t i = 0; i < b->n; i++)
		if (jsonl_document(&b->work, &b->lines[i], b->files[i], how, &b->repaired) || add_document(b, &b->lines[i]))
			return -1;
	return 0;
}

static struct jsonl_text name(const struct jsonl_batch *b, size_t start, size_t len)
{
	return len ? (struct jsonl_text){ b->text_of_names.data + start, len } : JSONL_TEXT("");
}

struct jsonl_text jsonl_batch_id(const struct jsonl_batch *b, size_t i)
{
	return i < b->n_names ? name(b, b->names[i].id, b->names[i].id_len) : JSONL_TEXT("");
}

struct jsonl_text jsonl_batch_title(const struct jsonl_batch *b, size_t i)
{
	return i < b->n_names ? name(b, b->names[i].title, b->names[i].title_len) : JSONL_TEXT("");
}

size_t jsonl_batch_memory(const struct jsonl_batch *b)
{
	size_t all = b->docs.text.cap + b->text_of_names.cap + b->work.id.cap + b->work.title.cap;

	for (size_t i = 0; i < b->cap; i++)
		all += b->lines[i].text.cap;
	return all;
}

void jsonl_batch_release(struct jsonl_batch *b)
{
	for (size_t i = 0; i < b->cap; i++)
		document_release(&b->lines[i]);
	free(b->lines);
	free(b->files);
	free(b->names);
	document_list_release(&b->docs);
	buf_release(&b->text_of_names);
	jsonl_release(&b->work);
	*b = (struct jsonl_batch)JSONL_BATCH_INIT;
}
