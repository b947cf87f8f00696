/* Lines that need nothing done to them, many at once: found by base/clean_text.h. */
#include "base/lines_impl.h"

#include <stdlib.h>
#include <string.h>

#define DOUBTFUL_MAX 1024	/* lines of a clean stretch that are looked at */

/* --- many documents -------------------------------------------------------------- */

/* A list that is being filled: its last document may be open, and goes on with what is added to the text. */
struct filling {
	struct document_list *list;
	size_t bytes, wanted;	/* of finished documents */
	size_t start;		/* of the open document; the text's end when there is none */
	unsigned file;		/* of its first line */
};

static int end_document(struct filling *f)
{
	struct document_list *d = f->list;
	const size_t len = d->text.len - f->start;

	if (!len)
		return 0;
	if (array_grow(&d->items, &d->cap, d->count + 1, sizeof(*d->items)))
		return -1;
	d->items[d->count++] = (struct document_place){ f->start, len };
	f->bytes += len;
	f->start = d->text.len;
	return 0;
}

/* Whether lines of the window may be taken as they are. */
static bool can_scan(const struct lines *l)
{
	return l->scan && l->in && !l->pushed && !l->has_stretch && l->form != LINES_JSON && l->pos < l->end;
}

static bool is_marked(const struct lines *l, const char *line, const char *end)
{
	return !l->keep_marks && end - line >= MARK_LEN && !memcmp(line, MARK, MARK_LEN);
}

/* Takes N bytes of lines at pos, which end with a blank one or not. */
static void take_lines(struct lines *l, size_t n, bool blank)
{
	l->bytes += n;
	l->offset += n;
	l->pos += n;
	l->fresh = blank;
}

/* Adds lines that need nothing done to them, and are not blank. */
static int add_lines(struct lines *l, struct filling *f, const char *text, size_t len)
{
	if (len && f->start == f->list->text.len)
		f->file = (unsigned)l->file;
	return buf_add(&f->list->text, text, len);
}

/*
 * Takes all lines of the window up to the first that needs something done to it, or up to the end of the last document
 * that is wanted. How many bytes; -1 failed.
 */
static ssize_t take_clean(struct lines *l, struct filling *f)
{
	uint32_t doubtful[DOUBTFUL_MAX];
	const size_t room = l->end - l->pos;
	const char *const text = l->buffer + l->pos;
	size_t n, at = 0, clean = l->scan(text, room < CLEAN_TEXT_MAX ? room : CLEAN_TEXT_MAX, doubtful, DOUBTFUL_MAX, &n);
	bool blank = false;

	for (size_t i = 0; i < n && f->bytes < f->wanted; i++) {
		const char *const line = text + doubtful[i], *const newline = memchr(line, '\n', clean - doubtful[i]);

		if (is_marked(l, line, newline)) {
			clean = doubtful[i];
			break;
		}
		if (!is_blank(line, (size_t)(newline - line)))
			continue;
		if (add_lines(l, f, text + at, doubtful[i] - at) || end_document(f))
			return -1;
		at = (size_t)(newline - text) + 1;
		blank = true;
	}
	if (f->bytes < f->wanted && at < clean) {
		if (add_lines(l, f, text + at, clean - at))
			return -1;
		at = clean;
		blank = false;
	}
	if (at)
		take_lines(l, at, blank);
	return (ssize_t)at;
}

/* Takes the next line, whatever it needs: 1, 0 at the end, -1 failed. */
static int take_one(struct lines *l, struct filling *f)
{
	struct line line;
	const int rc = lines_next(l, &line);
	const bool open = f->start < f->list->text.len;

	if (rc <= 0)
		return rc;
	if (open && (line.blank || (l->document_per_file && line.file != f->file))) {
		if (end_document(f))
			return -1;
		if (f->bytes >= f->wanted && !line.blank) {
			l->last = line;
			l->pushed = true;
			return 1;
		}
	}
	if (line.blank)
		return 1;
	if (f->start == f->list->text.len)
		f->file = line.file;
	return buf_add(&f->list->text, line.text, line.len) || buf_add_byte(&f->list->text, '\n') ? -1 : 1;
}

int lines_next_documents(struct lines *l, size_t bytes, struct document_list *list)
{
	struct filling f = { .list = list, .wanted = bytes ? bytes : 1 };
	int rc = 1;

	buf_clear(&list->text);
	list->count = 0;
	while (rc > 0 && f.bytes < f.wanted) {
		const bool other_file = l->document_per_file && f.start < list->text.len && f.file != l->file;
		const ssize_t taken = can_scan(l) && !other_file ? take_clean(l, &f) : 0;

		if (taken < 0)
			return -1;
		if (!taken)
			rc = take_one(l, &f);
	}
	if (rc < 0 || end_document(&f))
		return -1;
	return list->count > 0;
}

void document_list_release(struct document_list *list)
{
	buf_release(&list->text);
	free(list->items);
	*list = (struct document_list)DOCUMENT_LIST_INIT;
}

/* --- many lines -------------------------------------------------------------------- */

/* As take_clean, for lines: blank ones are emptied. */
static ssize_t take_clean_text(struct lines *l, struct buf *to)
{
	uint32_t doubtful[DOUBTFUL_MAX];
	const size_t room = l->end - l->pos;
	const char *const text = l->buffer + l->pos;
	size_t n, at = 0, clean = l->scan(text, room < CLEAN_TEXT_MAX ? room : CLEAN_TEXT_MAX, doubtful, DOUBTFUL_MAX, &n);
	bool blank = false;

	for (size_t i = 0; i < n; i++) {
		const char *const line = text + doubtful[i], *const newline = memchr(line, '\n', clean - doubtful[i]);

		if (is_marked(l, line, newline)) {
			clean = doubtful[i];
			break;
		}
		blank = is_blank(line, (size_t)(newline - line));
		if (!blank || newline == line)
			continue;
		if (buf_add(to, text + at, doubtful[i] - at))
			return -1;
		at = (size_t)(newline - text);
	}
	if (buf_add(to, text + at, clean - at))
		return -1;
	if (clean)
		take_lines(l, clean, blank);
	return (ssize_t)clean;
}

int lines_next_text(struct lines *l, size_t bytes, struct buf *text)
{
	struct line line;
	int rc = 1;

	buf_clear(text);
	while (rc > 0 && text->len < bytes) {
		const ssize_t taken = can_scan(l) ? take_clean_text(l, text) : 0;

		if (taken < 0)
			return -1;
		if (taken)
			continue;
		rc = lines_next(l, &line);
		if (rc > 0 && ((!line.blank && buf_add(text, line.text, line.len)) || buf_add_byte(text, '\n')))
			return -1;
	}
	return rc < 0 ? -1 : text->len > 0;
}
