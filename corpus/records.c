#include "corpus/records.h"

#include "base/err.h"
#include "base/in.h"
#include "base/jsonl.h"
#include "base/lines.h"
#include "corpus/book.h"
#include "corpus/mediawiki.h"
#include "corpus/wikitext.h"

#include <ctype.h>
#include <stdlib.h>

#define SNIFF 64	/* what in_peek gives */
#define HEAD_LINES 100	/* of a text, within which a book's header shows itself */
#define BLOCK 65536

struct records {
	enum record_kind kind;
	const char *path;
	struct in *in;			/* a dump or a book */
	struct mediawiki *mediawiki;
	struct lines *lines;		/* text or JSON lines */
	struct buf head;		/* a text's first lines, each ended by \n, blank ones empty */
	size_t head_pos;
	struct buf whole;		/* a book, or a document */
	bool done;
	uint64_t line;
	uint64_t repaired_before;	/* told of already */
};

static struct span skip_blank(struct span s)
{
	if (span_starts(s, "\xEF\xBB\xBF"))
		s = span_skip(s, 3);
	while (s.len && span_is_space(s.text[0]))
		s = span_skip(s, 1);
	return s;
}

static enum record_kind kind_of(struct span head)
{
	const struct span s = skip_blank(head);

	if (span_starts(head, "\xFF\xFE") || span_starts(head, "\xFE\xFF") || (s.len > 1 && !s.text[0] && s.text[1] == '<'))
		return RECORD_MEDIAWIKI;
	if (s.len > 1 && s.text[0] == '<' && (!s.text[1] || isalpha((unsigned char)s.text[1]) || strchr("?!", s.text[1])))
		return RECORD_MEDIAWIKI;
	if (span_starts(s, "{"))
		return jsonl_begins((struct jsonl_text){ head.text, head.len }) ? RECORD_JSONL : RECORD_TEXT;
	return book_begins(head) ? RECORD_GUTENBERG : RECORD_TEXT;
}

static int add_line(struct buf *b, const struct line *line)
{
	if (!line->blank && buf_add(b, line->text, line->len))
		return -1;
	return buf_add_byte(b, '\n');
}

/* A text may still be a book whose header comes late: its first lines tell. */
static int look_for_book(struct records *r)
{
	struct line line;
	int rc = 1;

	for (unsigned i = 0; i < HEAD_LINES && (rc = lines_next(r->lines, &line)) > 0; i++)
		if (add_line(&r->head, &line))
			return -1;
	if (rc >= 0 && book_has_mark((struct span){ r->head.data, r->head.len }))
		r->kind = RECORD_GUTENBERG;
	return rc < 0 ? -1 : 0;
}

int records_open(struct records **result, const char *path, enum record_kind kind, unsigned threads, struct wiki_site *site)
{
	struct records *r = calloc(1, sizeof(*r));
	char head[SNIFF];
	ssize_t n;

	*result = r;
	if (!r)
		return err_memory();
	r->path = path;
	if (in_open(&r->in, path, threads))
		return -1;
	n = in_peek(r->in, head, sizeof(head));
	if (n < 0)
		return -1;
	r->kind = kind == RECORD_AUTO ? kind_of((struct span){ head, (size_t)n }) : kind;
	if (r->kind == RECORD_MEDIAWIKI)
		return mediawiki_open(&r->mediawiki, r->in, site);
	if (r->kind == RECORD_TEXT || r->kind == RECORD_JSONL) {
		struct in *in = r->in;

		r->in = NULL;		/* the lines' from here on */
		if (lines_open_stream(&r->lines, in, &(struct lines_opts){ .threads = threads }))
			return -1;
		return kind == RECORD_AUTO && r->kind == RECORD_TEXT ? look_for_book(r) : 0;
	}
	return 0;
}

enum record_kind records_kind(const struct records *r)
{
	return r->kind;
}

/* The next page that is an article. */
static int next_page(struct records *r, struct record *record, struct record_counts *counts)
{
	struct mediawiki_page page;
	int rc;

	for (;;) {
		rc = mediawiki_next(r->mediawiki, &page);
		counts->repaired += mediawiki_repaired(r->mediawiki) - r->repaired_before;
		r->repaired_before = mediawiki_repaired(r->mediawiki);
		if (rc <= 0)
			return rc;
		counts->pages++;
		if (page.ns != NS_MAIN)
			counts->other_namespaces++;
		else if (page.redirect || wikitext_is_redirect(page.text))
			counts->redirects++;
		else if (!page.wikitext)
			counts->other_models++;
		else
			break;
	}
	*record = (struct record){ .id = page.id, .title = page.title, .text = page.text };
	return 1;
}

/* The rest of a file whose first lines were taken for a text's. */
static int read_lines(struct records *r)
{
	struct line line;
	int rc;

	if (buf_add(&r->whole, r->head.data, r->head.len))
		return -1;
	while ((rc = lines_next(r->lines, &line)) > 0)
		if (add_line(&r->whole, &line))
			return -1;
	return rc;
}

static int read_bytes(struct records *r)
{
	ssize_t n = 1;

	while (n > 0) {
		if (buf_reserve(&r->whole, BLOCK))
			return -1;
		n = in_read(r->in, r->whole.data + r->whole.len, BLOCK);
		if (n < 0)
			return -1;
		r->whole.len += (size_t)n;
	}
	return 0;
}

static int next_book(struct records *r, struct record *record)
{
	if (r->done)
		return 0;
	r->done = true;
	if (r->lines ? read_lines(r) : read_bytes(r))
		return -1;
	*record = (struct record){ .id = SPAN(""), .title = SPAN(""), .text = { r->whole.data, r->whole.len } };
	return r->whole.len > 0;
}

/* The next line of a text, from its head as long as that lasts: 1, 0 at the end, -1 failed. */
static int next_text_line(struct records *r, struct line *line)
{
	const struct span rest = { r->head.data + r->head_pos, r->head.len - r->head_pos };

	if (r->head_pos == r->head.len)
		return lines_next(r->lines, line);
	*line = (struct line){ .text = rest.text, .len = span_find(rest, '\n') };
	line->blank = line->len == 0;
	r->head_pos += line->len + 1;
	return 1;
}

/* Lines up to a blank one. */
static int next_document(struct records *r, struct record *record)
{
	struct line line;
	int rc;

	buf_clear(&r->whole);
	while ((rc = next_text_line(r, &line)) > 0) {
		if (line.blank && r->whole.len)
			break;
		if (!line.blank && add_line(&r->whole, &line))
			return -1;
	}
	*record = (struct record){ .id = SPAN(""), .title = SPAN(""), .text = { r->whole.data, r->whole.len } };
	return rc < 0 ? -1 : r->whole.len > 0;
}

static int next_line(struct records *r, struct record *record)
{
	struct line line;
	int rc;

	do {
		rc = lines_next(r->lines, &line);
		if (rc <= 0)
			return rc;
		r->line++;
	} while (line.blank);
	*record = (struct record){ .id = SPAN(""), .title = SPAN(""), .text = { line.text, line.len }, .line = r->line };
	return 1;
}

int records_next(struct records *r, struct record *record, struct record_counts *counts)
{
	int rc;

	if (r->kind == RECORD_MEDIAWIKI)
		return next_page(r, record, counts);
	if (r->kind == RECORD_GUTENBERG)
		rc = next_book(r, record);
	else
		rc = r->kind == RECORD_TEXT ? next_document(r, record) : next_line(r, record);
	if (r->lines) {
		counts->repaired += lines_bad_bytes(r->lines) - r->repaired_before;
		r->repaired_before = lines_bad_bytes(r->lines);
	}
	return rc;
}

uint64_t records_offset(const struct records *r)
{
	uint64_t total;

	return r->lines ? lines_progress(r->lines, &total) : r->in ? in_packed_offset(r->in) : 0;
}

void records_close(struct records *r)
{
	if (!r)
		return;
	mediawiki_close(r->mediawiki);
	lines_close(r->lines);
	in_close(r->in);
	buf_release(&r->head);
	buf_release(&r->whole);
	free(r);
}
