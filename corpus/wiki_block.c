/*
 * Second pass: lines. What a line is shows in its first characters; consecutive
 * lines of text are one paragraph. A table's row is gathered as a paragraph
 * too, its cells joined by "; ".
 */
#include "corpus/wiki_impl.h"

#include "base/utf8.h"
#include "corpus/prose.h"

/* Where a line, or a stretch of one, ends. */
static const unsigned char stops[256] = {
	['\n'] = 1, [MARK_BREAK] = 1, [MARK_ITEM] = 1, [MARK_HEADING] = 1, [MARK_TABLE] = 1, [MARK_TABLE_END] = 1,
	[MARK_ROW] = 1, [MARK_CELL] = 1,
};

#define NO_LEAD_IN SIZE_MAX
#define LEAD_IN_MAX 160	/* bytes */
#define HTML_LEVEL 6	/* of a heading made by a tag: its section ends at any other */

static void count(struct wikitext *w, uint64_t *counter, struct span s)
{
	if (w->opts.count)
		*counter += utf8_count(s.text, s.len);
}

/* White space, and holes where something was dropped. */
static bool is_blank(struct span line)
{
	for (size_t i = 0; i < line.len; i++)
		if (line.text[i] != ' ' && line.text[i] != '\t' && line.text[i] != MARK_HOLE)
			return false;
	return true;
}

/* --- putting out ----------------------------------------------------------- */

/* Puts out the headings that wait. */
static int put_headings(struct wikitext *w)
{
	for (size_t i = 1; w->opts.headings && i < WIKI_LEVELS; i++) {
		if (!(w->waiting & 1u << i) || !w->heading[i].len)
			continue;
		if (buf_add(w->out, w->heading[i].data, w->heading[i].len) || buf_add_byte(w->out, '\n'))
			return -1;
	}
	return 0;
}

/* Puts out the paragraph; SENTENCE: only if it ends as one. */
static int put_paragraph(struct wikitext *w, bool sentence)
{
	const size_t before = w->out->len;
	size_t start;
	struct span s;

	if (put_headings(w))
		return -1;
	start = w->out->len;
	if (tidy(w->paragraph.data, w->paragraph.len, true, w->out))
		return -1;
	s = (struct span){ w->out->data + start, w->out->len - start };
	if (!prose_has_word(s) || (sentence && !prose_ends_sentence(s))) {
		w->out->len = before;	/* its headings wait on */
		return 0;
	}
	w->begun = true;
	w->counts->paragraphs++;
	w->lead_in_headings = w->waiting;
	w->lead_in_level = w->level;
	w->waiting = 0;
	w->lead_in = s.len < LEAD_IN_MAX && s.text[s.len - 1] == ':' ? before : NO_LEAD_IN;
	return buf_add_byte(w->out, '\n');
}

/* Something is left out; so is a short paragraph before it that only announced it ("The colours are:"). */
static void left_out(struct wikitext *w, uint64_t *counter, struct span s)
{
	count(w, counter, s);
	if (w->lead_in == NO_LEAD_IN)
		return;
	count(w, counter, (struct span){ w->out->data + w->lead_in, w->out->len - w->lead_in });
	w->out->len = w->lead_in;
	w->lead_in = NO_LEAD_IN;
	w->waiting |= w->lead_in_headings;
	w->counts->paragraphs--;
}

/* A heading of LEVEL: ends the sections of that level and deeper ones. */
static int begin_section(struct wikitext *w, unsigned level, struct span text)
{
	w->waiting = (w->waiting & ((1u << level) - 1)) | 1u << level;
	w->level = level;
	if (level <= w->lead_in_level)
		w->lead_in = NO_LEAD_IN;
	buf_clear(&w->heading[level]);
	if (w->skip_level && level <= w->skip_level)
		w->skip_level = 0;
	if (tidy(text.text, text.len, true, &w->heading[level]))
		return -1;
	if (!w->skip_level && (level <= 2 || level == HTML_LEVEL) &&
	    wiki_is_back_matter((struct span){ w->heading[level].data, w->heading[level].len }))
		w->skip_level = level;
	return 0;
}

/* Ends what is being gathered. */
static int end_paragraph(struct wikitext *w)
{
	const struct span s = { w->paragraph.data, w->paragraph.len };
	int rc = 0;

	if (s.len && w->in_heading)
		rc = begin_section(w, HTML_LEVEL, s);
	else if (s.len && w->skip_level)
		count(w, &w->counts->sections, s);
	else if (s.len && w->in_item && !w->opts.lists)
		left_out(w, &w->counts->lists, s);
	else if (s.len)
		rc = put_paragraph(w, false);
	w->paragraph.len = 0;
	w->in_item = w->in_heading = w->cell_owed = false;
	return rc;
}

/* --- gathering ------------------------------------------------------------- */

/* Chinese and Japanese, which write no spaces between words. */
static bool is_unspaced(uint32_t c)
{
	return (c >= 0x2E80 && c < 0xAC00) || (c >= 0xF900 && c < 0xFB00) || (c >= 0xFE30 && c < 0xFE50) ||
	       (c >= 0xFF00 && c < 0xFFF0) || (c >= 0x20000 && c < 0x40000);
}

static uint32_t last_character(const struct buf *b)
{
	size_t at = b->len;

	while (at && b->len - at < UTF8_MAX && ((unsigned char)b->data[--at] & 0xC0) == 0x80)
		;
	return b->len ? utf8_decode(b->data + at, b->len - at, &(unsigned){ 0 }, NULL) : 0;
}

static int add_text(struct wikitext *w, struct span s)
{
	struct buf *b = &w->paragraph;

	if (is_blank(s))
		return 0;
	if (w->cell_owed && b->len && wiki_put_byte(b, ';'))
		return -1;
	w->cell_owed = false;
	if (b->len && !(is_unspaced(last_character(b)) && is_unspaced(utf8_decode(s.text, s.len, &(unsigned){ 0 }, NULL))) &&
	    wiki_put_byte(b, ' '))
		return -1;
	return wiki_inline(s, b);
}

/* Cells of a row's line, behind its first '|' or '!': attributes stand before a single '|'. */
static int cells(struct wikitext *w, struct span line, bool header)
{
	for (;;) {
		size_t end = 0, bar = 0;
		struct span cell;

		while (end + 1 < line.len && !(line.text[end] == '|' && line.text[end + 1] == '|') &&
		       !(header && line.text[end] == '!' && line.text[end + 1] == '!'))
			end++;
		if (end + 1 >= line.len)
			end = line.len;
		cell = (struct span){ line.text, end };
		bar = span_find(cell, '|');
		if (bar < cell.len)
			cell = span_skip(cell, bar + 1);
		w->cell_owed = true;
		if (add_text(w, span_trim(cell)))
			return -1;
		if (end == line.len)
			return 0;
		line = span_skip(line, end + 2);
	}
}

/* --- lines ------------------------------------------------------------------ */

/* "== Text ==": its level, and TEXT; 0 for no heading. */
static unsigned heading_level(struct span line, struct span *text)
{
	size_t left = 0, right = 0, level;

	while (line.len && (line.text[line.len - 1] == ' ' || line.text[line.len - 1] == MARK_HOLE || line.text[line.len - 1] == '\t'))
		line.len--;
	while (left < line.len && line.text[left] == '=')
		left++;
	while (right < line.len && line.text[line.len - 1 - right] == '=')
		right++;
	if (!left || !right || line.len < 3)
		return 0;
	level = left < right ? left : right;
	if (left == line.len)			/* "=====": the middle ones are its text */
		level = (line.len - 1) / 2;
	if (level >= WIKI_LEVELS)
		level = WIKI_LEVELS - 1;
	*text = (struct span){ line.text + level, line.len - 2 * level };
	return (unsigned)level;
}

static int heading(struct wikitext *w, unsigned level, struct span text)
{
	if (end_paragraph(w) || wiki_inline(text, &w->paragraph))
		return -1;
	text = (struct span){ w->paragraph.data, w->paragraph.len };
	w->paragraph.len = 0;
	w->tables = 0;		/* a table that was never closed */
	return text.len ? begin_section(w, level, text) : 0;
}

/* A line that is in a table. */
static int table_line(struct wikitext *w, struct span line)
{
	const struct span s = span_trim(line);
	const char c = s.len ? s.text[0] : 0;

	if (span_starts(s, "|}")) {
		w->tables--;
		return end_paragraph(w);
	}
	if (!w->opts.tables) {
		left_out(w, &w->counts->tables, s);
		return 0;
	}
	if (span_starts(s, "|-"))
		return end_paragraph(w);
	if (span_starts(s, "|+"))
		return end_paragraph(w) || cells(w, span_skip(s, 2), false) || end_paragraph(w) ? -1 : 0;
	if (c == '|' || c == '!')
		return cells(w, span_skip(s, 1), c == '!');
	return add_text(w, s);
}

/* "* item", ": indented": an indented sentence is text, but for what stands above an article's first paragraph. */
static int list_line(struct wikitext *w, struct span line)
{
	bool indented = true;
	size_t n = 0;

	for (; n < line.len && memchr("*#:;", line.text[n], 4); n++)
		indented &= line.text[n] == ':';
	if (end_paragraph(w) || add_text(w, span_trim(span_skip(line, n))))
		return -1;
	if (!indented || !w->begun || w->skip_level || w->opts.lists) {
		w->in_item = true;
		return end_paragraph(w);
	}
	n = w->out->len;
	if (put_paragraph(w, true))
		return -1;
	if (n == w->out->len)
		left_out(w, &w->counts->lists, (struct span){ w->paragraph.data, w->paragraph.len });
	w->paragraph.len = 0;
	return 0;
}

/* A line from its beginning. */
static int whole_line(struct wikitext *w, struct span line)
{
	struct span text, s = line;
	const unsigned level = line.len && line.text[0] == '=' ? heading_level(line, &text) : 0;

	if (level)
		return heading(w, level, text);
	while (s.len && (s.text[0] == ' ' || s.text[0] == '\t' || s.text[0] == ':' || s.text[0] == MARK_HOLE))
		s = span_skip(s, 1);
	if (span_starts(s, "{|")) {
		w->tables++;
		return w->tables > 1 ? 0 : end_paragraph(w);
	}
	if (w->tables)
		return table_line(w, line);
	if (span_starts(s, "|"))	/* of a template or table that was torn */
		return end_paragraph(w);
	if (is_blank(line))
		return end_paragraph(w);
	if (memchr("*#:;", line.text[0], 4))
		return list_line(w, line);
	if (span_starts(line, "----")) {
		while (line.len && line.text[0] == '-')
			line = span_skip(line, 1);
		if (end_paragraph(w))
			return -1;
	}
	return add_text(w, span_trim(line));
}

/* What follows a stretch of a line. */
static int on_mark(struct wikitext *w, char mark)
{
	switch (mark) {
	case MARK_BREAK:
		return w->tables ? 0 : end_paragraph(w);
	case MARK_ITEM:
		if (w->tables)
			return 0;
		if (end_paragraph(w))
			return -1;
		w->in_item = true;
		return 0;
	case MARK_HEADING:
		if (end_paragraph(w))
			return -1;
		w->in_heading = true;
		return 0;
	case MARK_TABLE:
		w->tables++;
		return end_paragraph(w);
	case MARK_TABLE_END:
		w->tables -= w->tables > 0;
		return end_paragraph(w);
	case MARK_ROW:
		return end_paragraph(w);
	case MARK_CELL:
		w->cell_owed = w->tables > 0;
		return 0;
	}
	return 0;
}

int wiki_blocks(struct wikitext *w, struct buf *out)
{
	const struct span all = { w->resolved.data, w->resolved.len };
	size_t at = 0;
	bool fresh = true;	/* at a line's beginning */

	w->out = out;
	w->tables = w->skip_level = w->level = 0;
	w->in_item = w->in_heading = w->cell_owed = w->begun = false;
	w->lead_in = NO_LEAD_IN;
	w->paragraph.len = 0;
	w->waiting = 0;
	while (at < all.len) {
		const size_t start = at;
		struct span line;

		while (at < all.len && !stops[(unsigned char)all.text[at]])
			at++;
		line = (struct span){ all.text + start, at - start };
		if (fresh ? whole_line(w, line) : w->tables ? table_line(w, line) : add_text(w, span_trim(line)))
			return -1;
		fresh = true;
		if (at < all.len && all.text[at] != '\n') {
			if (on_mark(w, all.text[at]))
				return -1;
			fresh = all.text[at] == MARK_BREAK || all.text[at] == MARK_TABLE_END;
		}
		at++;
	}
	return end_paragraph(w);
}
