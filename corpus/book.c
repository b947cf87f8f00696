#include "corpus/book.h"

#include "base/err.h"
#include "base/utf8.h"
#include "corpus/entity.h"
#include "corpus/prose.h"
#include "corpus/tidy.h"

#include <ctype.h>
#include <stdlib.h>

#define HEADER_LINES 400	/* the header's last line stands before this one */
#define HEADING_MAX 100
#define CREDITS 8		/* paragraphs among which credits stand */
#define FRONT 1200		/* paragraphs of title page and contents */
#define FRONT_GAP 12		/* of these between a heading and its first prose */
#define PROSE_LEAST 80

/* --- lines ------------------------------------------------------------------- */

/* The next line taken off *REST, without its end. */
static struct span take_line(struct span *rest)
{
	const size_t n = span_find(*rest, '\n');
	struct span line = { rest->text, n };

	*rest = span_skip(*rest, n + 1);
	if (line.len && line.text[line.len - 1] == '\r')
		line.len--;
	return line;
}

/* Whether LINE holds TEXT, whatever the case of its letters. */
static bool holds(struct span line, const char *text)
{
	for (; line.len >= strlen(text); line = span_skip(line, 1))
		if (span_starts_nocase(line, text))
			return true;
	return false;
}

static bool is_start(struct span line)
{
	if (!span_starts(line, "*"))
		return false;
	return (holds(line, "START OF TH") && holds(line, "GUTENBERG")) || (holds(line, "END") && holds(line, "SMALL PRINT"));
}

static bool is_end(struct span line)
{
	if (span_starts(line, "*"))
		return holds(line, "END OF TH") && holds(line, "GUTENBERG");
	return span_starts_nocase(line, "End of the Project Gutenberg") || span_starts_nocase(line, "End of Project Gutenberg") ||
	       span_starts_nocase(line, "End of this Project Gutenberg");
}

/* "[EBook #84]", "[Etext #84]" on LINE: the number. */
static struct span ebook_number(struct span line)
{
	const size_t at = span_find(line, '#');
	struct span number = span_skip(line, at + 1);
	size_t n = 0;

	if (!holds(line, "EBOOK #") && !holds(line, "ETEXT #"))
		return SPAN("");
	while (n < number.len && isdigit((unsigned char)number.text[n]))
		n++;
	return (struct span){ number.text, n };
}

/* A line of the header: "Title: ..." may go on in indented lines. */
static int header_line(struct book *book, struct span line, bool *in_title)
{
	const struct span text = span_trim(line);

	if (!book->id.len) {
		const struct span number = ebook_number(line);

		if (buf_add(&book->id, number.text, number.len))
			return -1;
	}
	if (span_starts_nocase(line, "Title:") && !book->title.len) {
		*in_title = true;
		return tidy(text.text + 6, text.len - 6, false, &book->title);
	}
	*in_title &= text.len && span_is_space(line.text[0]);
	if (!*in_title)
		return 0;
	return buf_add_byte(&book->title, ' ') || tidy(text.text, text.len, false, &book->title) ? -1 : 0;
}

/* What stands between the marks; a mark may go on to its closing asterisks on the next line. */
static int find_body(struct book *book, struct span *text, bool *marked)
{
	struct span rest = *text;
	bool in_title = false;

	*marked = false;
	for (unsigned i = 0; i < HEADER_LINES && rest.len && !*marked; i++) {
		struct span line = take_line(&rest);

		*marked = is_start(line);
		if (!*marked && header_line(book, line, &in_title))
			return -1;
		if (*marked && !holds(span_skip(line, 3), "*"))
			take_line(&rest);
	}
	if (*marked)
		*text = rest;
	else
		buf_clear(&book->title);
	for (rest = *text; rest.len;) {
		const struct span line = take_line(&rest);

		if (is_end(line)) {
			text->len = (size_t)(line.text - text->text);
			break;
		}
	}
	return 0;
}

/* --- paragraphs ---------------------------------------------------------------- */

/* Credits and notes that precede a book. */
static bool is_credit(struct span s)
{
	static const char *const begins[] = { "Produced by", "E-text prepared by", "Etext prepared by", "This etext was", "This e-text was",
		"This eBook was", "Transcribed ", "HTML version", "[Transcriber", "Transcriber", "Prepared by", "[Note:", "Note: Project",
		"Scanned and", "Scanned by", "Special thanks", "Digitized by", "Edition ", "Proofread" };

	while (s.len && s.text[0] == '*')
		s = span_skip(s, 1);
	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (span_starts(s, begins[i]))
			return true;
	return false;
}

static bool is_roman(struct span s)
{
	static const struct { const char *digits; int value; } table[] = {
		{ "C", 100 }, { "XC", 90 }, { "L", 50 }, { "XL", 40 }, { "X", 10 }, { "IX", 9 }, { "V", 5 }, { "IV", 4 }, { "I", 1 },
	};
	int least = 400;

	if (!s.len)
		return false;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		for (unsigned n = 0; span_starts(s, table[i].digits) && n < (strspn(table[i].digits, "CXI") == 1 ? 3u : 1u); n++) {
			s = span_skip(s, strlen(table[i].digits));
			least = table[i].value;
		}
	return !s.len && least > 0;
}

/* A word that counts: "12", "IV", "One", "the First". */
static bool is_ordinal(struct span s)
{
	static const char *const words[] = { "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
		"twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twent", "thirt", "fort", "fift",
		"first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "last" };
	size_t n = 0;

	if (span_starts_nocase(s, "the "))
		s = span_skip(s, 4);
	while (n < s.len && (isalnum((unsigned char)s.text[n]) || (unsigned char)s.text[n] >= 0x80))
		n++;
	s.len = n;
	if (!n || is_roman(s))
		return n > 0;
	for (n = 0; n < s.len && isdigit((unsigned char)s.text[n]); n++)
		;
	if (n == s.len)
		return true;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (span_starts_nocase(s, words[i]))
			return true;
	return false;
}

static bool has_lower(struct span s)
{
	for (size_t i = 0; i < s.len; i++)
		if (islower((unsigned char)s.text[i]))
			return true;
	return false;
}

/* "XII", "XII. Title", "3 THE AUDIENCE": a number alone, or one before a title. */
static bool is_numbered(struct span s)
{
	size_t n = 0, digits = 0;

	while (n < s.len && isalnum((unsigned char)s.text[n]))
		digits += isdigit((unsigned char)s.text[n++]) != 0;
	if (!n || (digits ? digits != n || n > 3 : !is_roman((struct span){ s.text, n })))
		return false;
	s = span_skip(s, n);
	if (span_starts(s, "."))
		return s.len == 1 || (span_starts(s, ". ") && !prose_ends_sentence(s));
	return !s.len || (s.text[0] == ' ' && !has_lower(s));
}

bool book_is_heading(struct span s, unsigned lines)
{
	static const char *const numbered[] = { "chapter", "book", "part", "volume", "letter", "scene", "act", "stave", "canto", "section",
		"adventure", "epoch", "chap." };
	static const char *const alone[] = { "preface", "introduction", "prologue", "epilogue", "conclusion", "appendix", "foreword",
		"afterword", "postscript", "contents", "etymology", "extracts" };

	if (s.len > HEADING_MAX || lines > 3 || !s.len || islower((unsigned char)s.text[0]))
		return false;
	for (size_t i = 0; i < sizeof(numbered) / sizeof(numbered[0]); i++) {
		const struct span after = span_skip(s, strlen(numbered[i]));

		if (span_starts_nocase(s, numbered[i]) && span_starts(after, " ") && is_ordinal(span_trim(after)))
			return true;
	}
	for (size_t i = 0; i < sizeof(alone) / sizeof(alone[0]); i++)
		if (span_starts_nocase(s, alone[i]) && (s.len == strlen(alone[i]) || span_is(span_skip(s, strlen(alone[i])), ".")))
			return true;
	return is_numbered(s);
}

static bool is_prose(const struct book *book, size_t i)
{
	const struct book_paragraph *p = &book->paragraphs[i];
	const struct span s = { book->body.data + p->start, p->len };
	size_t lower = 0;

	for (size_t j = 0; j < s.len; j++)
		lower += islower((unsigned char)s.text[j]) != 0;
	return !p->heading && s.len >= PROSE_LEAST && p->lines > 1 && 2 * lower > s.len && prose_ends_sentence(s);
}

/* Removes "[Pg 12]" and the underscores of _emphasis_ from B, in place. */
static void clean(struct buf *b)
{
	size_t out = 0;

	for (size_t i = 0; i < b->len; i++) {
		const char c = b->data[i], before = i ? b->data[i - 1] : ' ', after = i + 1 < b->len ? b->data[i + 1] : ' ';

		if (c == '_' && before != '_' && after != '_' &&
		    !(isalnum((unsigned char)before) && isalnum((unsigned char)after)))
			continue;
		if (c == '[' && b->len - i > 4 && !strncasecmp(b->data + i, "[pg ", 4)) {
			const char *end = memchr(b->data + i, ']', b->len - i < 16 ? b->len - i : 16);

			if (end) {
				i = (size_t)(end - b->data);
				continue;
			}
		}
		b->data[out++] = c;
	}
	b->len = out;
}

static bool is_ornament(struct span s)
{
	while (s.len && s.text[s.len - 1] == '.')
		s.len--;
	return span_starts_nocase(s, "[illustration") || (s.len == 7 && span_starts_nocase(s, "the end")) ||
	       (s.len == 5 && span_starts_nocase(s, "finis"));
}

/* Ends the paragraph whose LINES lines were joined in RAW. */
static int end_paragraph(struct book *book, struct buf *raw, unsigned lines)
{
	struct book_paragraph p = { .start = book->body.len, .lines = lines };
	struct span s = span_trim((struct span){ raw->data, raw->len });

	if (!prose_has_word(s) || is_ornament(s) || (book->n < CREDITS && is_credit(s))) {
		raw->len = 0;
		return 0;
	}
	clean(raw);
	if (array_grow(&book->paragraphs, &book->cap, book->n + 1, sizeof(*book->paragraphs)) ||
	    tidy(raw->data, raw->len, false, &book->body))
		return -1;
	p.len = book->body.len - p.start;
	p.heading = book_is_heading((struct span){ book->body.data + p.start, p.len }, lines);
	raw->len = 0;
	book->paragraphs[book->n] = p;
	book->n += p.len > 0;
	return 0;
}

/* Whether a line that ends B is joined to the next without a space: it ends in a dash that is no hyphen. */
static bool ends_in_dash(const struct buf *b)
{
	return b->len >= 3 && (!memcmp(b->data + b->len - 2, "--", 2) || !memcmp(b->data + b->len - 3, "—", 3));
}

static int gather(struct book *book, struct span text)
{
	struct buf raw = BUF_INIT;
	unsigned lines = 0;
	int rc = 0;

	while (text.len && !rc) {
		const struct span line = span_trim(take_line(&text));

		if (utf8_is_blank(line.text, line.len)) {
			rc = raw.len ? end_paragraph(book, &raw, lines) : 0;
			lines = 0;
			continue;
		}
		if (raw.len && !ends_in_dash(&raw))
			rc = buf_add_byte(&raw, ' ');
		rc = rc || buf_add(&raw, line.text, line.len) ? -1 : 0;
		lines++;
	}
	if (!rc && raw.len)
		rc = end_paragraph(book, &raw, lines);
	buf_release(&raw);
	return rc;
}

static struct span paragraph(const struct book *book, size_t i)
{
	return (struct span){ book->body.data + book->paragraphs[i].start, book->paragraphs[i].len };
}

/* The table of contents among the first N paragraphs; N when there is none. */
static size_t find_contents(const struct book *book, size_t n)
{
	size_t i = 0;

	while (i < n && !span_starts_nocase(paragraph(book, i), "contents") && !span_starts_nocase(paragraph(book, i), "table of contents"))
		i++;
	return i;
}

/* Whether heading I stands among the paragraphs from FROM on already. */
static bool is_repeated(const struct book *book, size_t i, size_t from)
{
	const struct span s = paragraph(book, i);

	for (; from < i; from++) {
		const struct span other = paragraph(book, from);

		if (s.len == other.len && !strncasecmp(s.text, other.text, s.len))
			return true;
	}
	return false;
}

/*
 * Where the book proper begins, behind its title page and contents: at its first prose, or at the heading
 * shortly before that; where there are contents, one that was among them, so that it is not their last line.
 */
static size_t skip_front(const struct book *book)
{
	size_t first = 0, contents, heading;

	while (first < book->n && first < FRONT && !is_prose(book, first))
		first++;
	if (first == book->n || first == FRONT)
		return 0;	/* verse, or a play */
	contents = find_contents(book, first);
	for (heading = first; heading > 0 && first - heading < FRONT_GAP; heading--)
		if (book->paragraphs[heading - 1].heading)
			break;
	if (!heading || first - heading >= FRONT_GAP)
		return first;
	heading--;
	if (contents < first)
		return is_repeated(book, heading, contents) ? heading : first;
	while (heading > 0 && book->paragraphs[heading - 1].heading)
		heading--;
	return heading;
}

/* Windows-1252, a superset of Latin-1, to UTF-8. */
static int recode(struct span text, struct buf *b)
{
	for (size_t i = 0; i < text.len; i++) {
		char one[UTF8_MAX];

		if (buf_add(b, one, utf8_write(entity_windows_1252((unsigned char)text.text[i]), one)))
			return -1;
	}
	return 0;
}

/* Whether the header says that the book is in an encoding of one byte a character. */
static bool says_latin(struct span text)
{
	for (unsigned i = 0; i < HEADER_LINES && text.len; i++) {
		const struct span line = take_line(&text);

		if (holds(line, "character set encoding:"))
			return holds(line, "8859") || holds(line, "latin") || holds(line, "1252") || holds(line, "ascii");
	}
	return false;
}

int book_open(struct book *book, const char *bytes, size_t len)
{
	struct span text = { bytes, len };
	struct buf valid = BUF_INIT;
	bool marked;
	int rc = 0;

	memset(book, 0, sizeof(*book));
	if (utf8_valid_prefix(bytes, len) < len) {
		rc = says_latin(text) ? recode(text, &valid) : utf8_repair(bytes, len, &valid, &book->repaired);
		text = (struct span){ valid.data, valid.len };
	}
	if (span_starts(text, "\xEF\xBB\xBF"))
		text = span_skip(text, 3);
	rc = rc || find_body(book, &text, &marked) || gather(book, text) ? -1 : 0;
	if (!rc && marked)
		book->next = skip_front(book);
	buf_release(&valid);
	return rc;
}

/* Adds paragraph I, a heading, to TITLE: "Frankenstein, Letter 1". */
static int add_title(const struct book *book, size_t i, struct buf *title)
{
	const struct span s = paragraph(book, i);

	return (title->len && buf_adds(title, ", ")) || buf_add(title, s.text, s.len) ? -1 : 0;
}

int book_next(struct book *book, bool headings, bool chapters, struct buf *title, struct buf *text)
{
	buf_clear(title);
	buf_clear(text);
	if (book->title.len && buf_add(title, book->title.data, book->title.len))
		return -1;
	for (; book->next < book->n; book->next++) {
		const struct span s = paragraph(book, book->next);
		const bool heading = book->paragraphs[book->next].heading;

		if (heading && chapters) {
			if (text->len && !book->paragraphs[book->next - 1].heading)
				break;
			if (add_title(book, book->next, title))
				return -1;
		}
		if (heading && !headings)
			continue;
		if (buf_add(text, s.text, s.len) || buf_add_byte(text, '\n'))
			return -1;
	}
	return text->len > 0;
}

void book_close(struct book *book)
{
	buf_release(&book->body);
	buf_release(&book->id);
	buf_release(&book->title);
	free(book->paragraphs);
	memset(book, 0, sizeof(*book));
}

bool book_begins(struct span head)
{
	if (span_starts(head, "\xEF\xBB\xBF"))
		head = span_skip(head, 3);
	head = span_trim(head);
	if (span_starts_nocase(head, "The "))
		head = span_skip(head, 4);
	return span_starts_nocase(head, "Project Gutenberg");
}

bool book_has_mark(struct span head)
{
	while (head.len)
		if (is_start(take_line(&head)))
			return true;
	return false;
}
