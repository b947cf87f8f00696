/*
 * Second pass: within a line. Quotes that make bold and italics, outer links,
 * character references, magic words, and brackets that closed nothing.
 */
#include "corpus/wiki_impl.h"

#include "base/utf8.h"
#include "corpus/entity.h"

#include <ctype.h>

static const unsigned char stops[256] = {
	[0x00 ... 0x1F] = 1, ['\''] = 1, ['['] = 1, [']'] = 1, ['{'] = 1, ['}'] = 1, ['&'] = 1, ['_'] = 1,
};

#define TARGET_MAX 256	/* bytes of a title, as MediaWiki has it */

struct walk {
	struct span rest;
	const char *apostrophe;		/* the run of quotes that is an apostrophe and italics; NULL */
	const char *link_end;		/* the ']' of an outer link */
	bool no_bracket;		/* no ']' in the rest */
	size_t brackets, braces;	/* plain ones open */
	struct buf *b;
};

static size_t run_of(struct span s, char c)
{
	size_t n = 0;

	while (n < s.len && s.text[n] == c)
		n++;
	return n;
}

/*
 * Where a line has both an odd number of bold and of italic marks, one "'''" was
 * meant as an apostrophe before italics (L'''amour''): after a word of one letter
 * if there is one, else after a longer word, else after a space.
 */
static const char *find_apostrophe(struct span line)
{
	const char *found[3] = { NULL, NULL, NULL };
	const char *p = line.text, *const end = line.text + line.len;
	unsigned bold = 0, italic = 0;

	while ((p = memmem(p, (size_t)(end - p), "''", 2)) != NULL) {
		const size_t n = run_of((struct span){ p, (size_t)(end - p) }, '\'');

		bold += n >= 3;
		italic += n == 2 || n >= 5;
		if (n == 3) {
			const bool space = p == line.text || p[-1] == ' ';
			const bool letter = !space && (p - line.text < 2 || p[-2] == ' ');
			const unsigned rank = letter ? 0 : space ? 2 : 1;

			if (!found[rank])
				found[rank] = p;
		}
		p += n;
	}
	if (bold % 2 == 0 || italic % 2 == 0)
		return NULL;
	return found[0] ? found[0] : found[1] ? found[1] : found[2];
}

/* Four are an apostrophe and bold, more than five apostrophes and both. */
static int quotes(struct walk *k)
{
	size_t n = run_of(k->rest, '\''), apostrophes = 0;

	if (n == 1 || n == 4 || k->rest.text == k->apostrophe)
		apostrophes = 1;
	else if (n > 5)
		apostrophes = n - 5;
	if (wiki_put(k->b, k->rest.text, apostrophes))
		return -1;
	k->rest = span_skip(k->rest, n);
	return 0;
}

/* A closing bracket: text if one is open, or if it stands alone; "}}" and "]]" that opened nothing go. */
static int closing(struct walk *k, char c, size_t *open)
{
	const char *const p = k->rest.text;
	const bool pair = k->rest.len > 1 && p[1] == c;

	if (p == k->link_end || (!*open && pair)) {
		k->rest = span_skip(k->rest, p == k->link_end ? 1 : 2);
		return 0;
	}
	*open -= *open > 0;
	k->rest = span_skip(k->rest, 1);
	return wiki_put_byte(k->b, c);
}

static int opening(struct walk *k, char c, size_t *open)
{
	++*open;
	k->rest = span_skip(k->rest, 1);
	return wiki_put_byte(k->b, c);
}

/* [http://x text] is its text, [http://x] nothing. */
static int bracket(struct walk *k)
{
	const struct span inside = span_skip(k->rest, 1);
	size_t end = inside.len, text = 0;

	if (!k->no_bracket && wiki_is_url(inside)) {
		/* one link within another ends where that does: looked for once */
		end = k->link_end > inside.text ? (size_t)(k->link_end - inside.text) : span_find(inside, ']');
		k->no_bracket = end == inside.len;
	}
	if (end == inside.len)
		return opening(k, '[', &k->brackets);
	while (text < end && inside.text[text] != ' ' && inside.text[text] != '\t')
		text++;
	if (text == end) {
		k->rest = span_skip(inside, end + 1);
		return wiki_put_byte(k->b, MARK_HOLE);
	}
	k->link_end = inside.text + end;
	k->rest = span_skip(inside, text + 1);
	return 0;
}

static int reference(struct walk *k)
{
	char text[UTF8_MAX];
	size_t size;
	const uint32_t cp = entity_decode(k->rest, &size);

	if (!cp) {
		k->rest = span_skip(k->rest, 1);
		return wiki_put_byte(k->b, '&');
	}
	k->rest = span_skip(k->rest, size);
	return cp < ' ' ? wiki_put_byte(k->b, ' ') : wiki_put(k->b, text, utf8_write(cp, text));
}

/* __NOTOC__ and its like in any language. */
static int underscore(struct walk *k)
{
	enum { WORD_MAX = 60 };
	size_t n = 2;

	if (span_starts(k->rest, "__")) {
		while (n < k->rest.len && n < WORD_MAX && (isupper((unsigned char)k->rest.text[n]) || k->rest.text[n] == '_' ||
							   (unsigned char)k->rest.text[n] >= 0x80))
			n++;
		if (n > 4 && k->rest.text[n - 1] == '_' && k->rest.text[n - 2] == '_') {
			k->rest = span_skip(k->rest, n);
			return wiki_put_byte(k->b, MARK_HOLE);
		}
	}
	k->rest = span_skip(k->rest, 1);
	return wiki_put_byte(k->b, '_');
}

/* A '{{' that nothing closes: to a '}' on the line, which may be half of what was meant, else the rest of the line goes. */
static int unclosed(struct walk *k)
{
	const size_t end = span_find(k->rest, '}');

	k->rest = span_skip(k->rest, end + 1);
	return wiki_put_byte(k->b, MARK_HOLE);
}

/* A '[[' that nothing closes: what stands before a bar would have been its target. */
static int unclosed_link(struct walk *k)
{
	const struct span text = span_skip(k->rest, 1);
	const size_t bar = span_find((struct span){ text.text, text.len < TARGET_MAX ? text.len : TARGET_MAX }, '|');

	k->rest = bar < text.len && text.text[bar] == '|' ? span_skip(text, bar + 1) : text;
	return 0;
}

static int raw(struct walk *k)
{
	const struct span text = span_skip(k->rest, 1);

	k->rest = span_skip(text, 1);
	return text.len ? wiki_put_byte(k->b, text.text[0]) : 0;
}

static int step(struct walk *k)
{
	const char c = k->rest.text[0];

	switch (c) {
	case '\'': return quotes(k);
	case '[': return bracket(k);
	case ']': return closing(k, c, &k->brackets);
	case '{': return opening(k, c, &k->braces);
	case '}': return closing(k, c, &k->braces);
	case '&': return reference(k);
	case '_': return underscore(k);
	case MARK_RAW: return raw(k);
	case MARK_OPEN: return unclosed(k);
	case MARK_LINK: return unclosed_link(k);
	}
	k->rest = span_skip(k->rest, 1);
	if (c == MARK_HOLE || c == MARK_NOTE)
		return wiki_put_byte(k->b, MARK_HOLE);
	return c == '\t' ? wiki_put_byte(k->b, c) : 0;
}

int wiki_inline(struct span line, struct buf *b)
{
	struct walk k = { .rest = line, .b = b };

	k.apostrophe = find_apostrophe(line);
	while (k.rest.len) {
		size_t n = 0;

		while (n < k.rest.len && !stops[(unsigned char)k.rest.text[n]])
			n++;
		if (wiki_put(b, k.rest.text, n))
			return -1;
		k.rest = span_skip(k.rest, n);
		if (k.rest.len && step(&k))
			return -1;
	}
	return 0;
}
