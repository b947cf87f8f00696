/*
 * First pass: comments and tags. A tag is dropped, becomes a mark for the
 * second pass, or takes its content with it.
 */
#include "corpus/wiki_impl.h"

#include "base/utf8.h"
#include "corpus/wiki_math.h"
#include "corpus/wiki_raise.h"

#include <ctype.h>
#include <stdlib.h>

enum effect {
	INLINE,		/* nothing: its content is text */
	SPACE,
	BREAK,		/* begins or ends a block */
	ITEM, HEADING, TABLE, ROW, CELL,
	QUOTE,
	SUPER, SUB,
	DROP,		/* with its content, which is not wikitext */
	LOSE,		/* the same, and a hole stays: its content was to be seen at this place */
	NOWIKI,		/* content is text, whatever it looks like */
	MATH,		/* content is TeX */
};

struct tag {
	const char *name;
	enum effect effect;
};

/* Sorted. What is not here is no tag: "a < b", "<sic>". */
static const struct tag tags[] = {
	{ "abbr", INLINE }, { "b", INLINE }, { "bdi", INLINE }, { "bdo", INLINE }, { "big", INLINE },
	{ "blockquote", BREAK }, { "br", SPACE }, { "caption", ROW }, { "categorytree", LOSE }, { "ce", MATH },
	{ "center", BREAK }, { "chem", MATH }, { "cite", INLINE }, { "code", INLINE }, { "data", INLINE },
	{ "dd", ITEM }, { "del", INLINE }, { "dfn", INLINE }, { "div", BREAK }, { "dl", BREAK }, { "dt", ITEM },
	{ "em", INLINE }, { "font", INLINE }, { "gallery", LOSE }, { "graph", LOSE },
	{ "h1", HEADING }, { "h2", HEADING }, { "h3", HEADING }, { "h4", HEADING }, { "h5", HEADING }, { "h6", HEADING },
	{ "hiero", LOSE }, { "hr", BREAK }, { "i", INLINE }, { "imagemap", LOSE }, { "includeonly", DROP },
	{ "indicator", DROP }, { "inputbox", LOSE }, { "ins", INLINE }, { "kbd", INLINE }, { "li", ITEM },
	{ "mapframe", LOSE }, { "maplink", LOSE }, { "mark", INLINE }, { "math", MATH }, { "noinclude", INLINE },
	{ "nowiki", NOWIKI }, { "ol", BREAK }, { "onlyinclude", INLINE }, { "p", BREAK }, { "phonos", LOSE },
	{ "poem", BREAK }, { "pre", LOSE }, { "q", QUOTE }, { "rb", INLINE }, { "ref", DROP }, { "references", LOSE },
	{ "rp", DROP }, { "rt", DROP }, { "rtc", DROP }, { "ruby", INLINE }, { "s", INLINE }, { "samp", INLINE },
	{ "score", LOSE }, { "script", DROP }, { "section", INLINE }, { "small", INLINE }, { "source", LOSE },
	{ "span", INLINE }, { "strike", INLINE }, { "strong", INLINE }, { "style", DROP }, { "sub", SUB }, { "sup", SUPER },
	{ "syntaxhighlight", LOSE }, { "table", TABLE }, { "tbody", INLINE }, { "td", CELL }, { "templatedata", DROP },
	{ "templatestyles", DROP }, { "th", CELL }, { "thead", INLINE }, { "time", INLINE }, { "timeline", LOSE },
	{ "tr", ROW }, { "tt", INLINE }, { "u", INLINE }, { "ul", BREAK }, { "var", INLINE }, { "wbr", INLINE },
};
#define N_TAGS (sizeof(tags) / sizeof(tags[0]))
_Static_assert(N_TAGS <= 64 * WIKI_TAG_WORDS, "a bit for each tag");
#define TAG_NAME_MAX 16
#define NEAR 64	/* white space looked at around a comment */

struct found {
	const struct tag *tag;
	bool closes;		/* </x> */
	bool empty;		/* <x/> */
	size_t end;		/* offset behind its '>' */
};

static int compare_tag(const void *key, const void *item)
{
	return strcmp(key, ((const struct tag *)item)->name);
}

/* What a tag begins with at AT, just behind '<' or "</": the length of a known name, 0 when none. */
static size_t tag_name(struct span page, size_t at, const struct tag **tag)
{
	char name[TAG_NAME_MAX + 1];
	size_t n = 0;

	while (at + n < page.len && n < TAG_NAME_MAX && isalnum((unsigned char)page.text[at + n])) {
		name[n] = (char)tolower((unsigned char)page.text[at + n]);
		n++;
	}
	name[n] = 0;
	if (!n || (at + n < page.len && (isalnum((unsigned char)page.text[at + n]) || page.text[at + n] == '-')))
		return 0;
	*tag = bsearch(name, tags, N_TAGS, sizeof(tags[0]), compare_tag);
	return *tag ? n : 0;
}

/*
 * The tag whose '<' stands at AT. One without a '>' before the next '<' is none, unless it is one that takes its
 * content: "<ref name=x" without its '>' is no text either.
 */
static bool find_tag(struct span page, size_t at, struct found *f)
{
	size_t i = at + 1;
	size_t n;

	f->closes = i < page.len && page.text[i] == '/';
	i += f->closes;
	n = tag_name(page, i, &f->tag);
	if (!n)
		return false;
	for (i += n; i < page.len && page.text[i] != '>' && page.text[i] != '<'; i++)
		;
	if (i < page.len && page.text[i] == '>') {
		f->empty = page.text[i - 1] == '/';
		f->end = i + 1;
		return true;
	}
	f->empty = true;
	f->end = i;
	return f->tag->effect >= DROP && i < page.len && !f->closes;
}

/*
 * Where the content of *F, a tag that takes its content, ends: at its closing tag, whose
 * end goes to *END. False when there is none, or when the same tag opens again before it:
 * then somebody forgot to close it. (Other tags in between do not count.)
 */
static bool find_closer(struct wikitext *w, const struct found *f, size_t *content_end, size_t *end)
{
	const size_t index = (size_t)(f->tag - tags);
	const uint64_t bit = (uint64_t)1 << (index % 64);
	const char *const from = w->page.text, *p = from + f->end;
	struct found other;

	if (w->no_closer[index / 64] & bit)
		return false;
	while ((p = memchr(p, '<', (size_t)(from + w->page.len - p))) != NULL) {
		if (find_tag(w->page, (size_t)(p - from), &other) && other.tag == f->tag && !other.empty) {
			*content_end = (size_t)(p - from);
			*end = other.end;
			return other.closes;
		}
		p++;
	}
	w->no_closer[index / 64] |= bit;
	return false;
}

/* The content of *F goes to *CONTENT, and w->at behind its closing tag; false when it is not closed. */
static bool take_content(struct wikitext *w, const struct found *f, struct span *content)
{
	size_t content_end, end;

	if (!find_closer(w, f, &content_end, &end))
		return false;
	*content = (struct span){ w->page.text + f->end, content_end - f->end };
	w->at = end;
	return true;
}

/* Whether only what was dropped stood between two sentences: "end.<ref>...</ref>Next". */
static bool joins_sentences(const struct wikitext *w)
{
	const struct buf *b = &w->resolved;

	return b->len && strchr(".!?\"", b->data[b->len - 1]) && w->at < w->page.len && isupper((unsigned char)w->page.text[w->at]);
}

static int drop_content(struct wikitext *w, const struct found *f)
{
	struct span content;

	if (take_content(w, f, &content) && w->opts.count)
		w->counts->references += utf8_count(content.text, content.len);
	if (f->tag->effect == LOSE)
		return wiki_put_byte(&w->resolved, MARK_HOLE);
	if (strcmp(f->tag->name, "ref") != 0)
		return 0;
	if (joins_sentences(w) && wiki_put_byte(&w->resolved, ' '))
		return -1;
	return wiki_put_byte(&w->resolved, MARK_NOTE);
}

/* Plain formulas and formulas of few signs become text, others leave a hole. */
static int math(struct wikitext *w, const struct found *f)
{
	struct buf *b = &w->rendered;
	struct span tex;
	int hole;

	if (!take_content(w, f, &tex))
		return 0;
	buf_clear(b);
	hole = wiki_math(tex, strcmp(f->tag->name, "math") != 0, b);
	if (hole < 0)
		return -1;
	if (!hole)
		return wiki_put_raw(&w->resolved, (struct span){ b->data, b->len });
	if (w->opts.count)
		w->counts->references += utf8_count(tex.text, tex.len);
	return wiki_put_byte(&w->resolved, MARK_HOLE);
}

/* <sup>2</sup> and <sub>2</sub>: short numbers become Unicode's raised and lowered ones, so that 10<sup>6</sup> is not 106. */
static int raised(struct wikitext *w, const struct found *f)
{
	struct span content = { w->page.text + f->end, 0 };
	struct found closer;

	if (f->closes)
		return 0;
	while (content.len < WIKI_RAISED_MAX && f->end + content.len < w->page.len && content.text[content.len] != '<')
		content.len++;
	if (content.len == WIKI_RAISED_MAX || f->end + content.len == w->page.len || !find_tag(w->page, f->end + content.len, &closer) || closer.tag != f->tag || !closer.closes)
		return 0;
	content = span_trim(content);
	if (!wiki_can_raise(content))
		return 0;
	w->at = closer.end;
	return wiki_raise(content, f->tag->effect == SUB, &w->resolved);
}

static int nowiki(struct wikitext *w, const struct found *f)
{
	struct span content;

	return take_content(w, f, &content) ? wiki_put_raw(&w->resolved, content) : 0;
}

/* Marks by effect, for a tag that opens and one that closes; 0 is none. */
static int mark(struct wikitext *w, const struct found *f)
{
	static const char opens[] = { [SPACE] = ' ', [BREAK] = MARK_BREAK, [ITEM] = MARK_ITEM, [HEADING] = MARK_HEADING,
		[TABLE] = MARK_TABLE, [ROW] = MARK_ROW, [CELL] = MARK_CELL, [QUOTE] = '"' };
	static const char closes[] = { [SPACE] = ' ', [BREAK] = MARK_BREAK, [ITEM] = MARK_BREAK, [HEADING] = MARK_BREAK,
		[TABLE] = MARK_TABLE_END, [QUOTE] = '"' };
	const char c = f->closes ? closes[f->tag->effect] : opens[f->tag->effect];

	return c ? wiki_put_byte(&w->resolved, c) : 0;
}

/* A comment that has its line for itself takes the line with it. */
static void end_comment_line(struct wikitext *w)
{
	size_t before = w->resolved.len, after = w->at;

	while (before && w->resolved.len - before < NEAR && w->resolved.data[before - 1] == ' ')
		before--;
	if (before && w->resolved.data[before - 1] != '\n')
		return;
	while (after < w->page.len && after - w->at < NEAR && (w->page.text[after] == ' ' || w->page.text[after] == '\r'))
		after++;
	if (after >= w->page.len || w->page.text[after] != '\n')
		return;
	w->resolved.len = before;
	w->at = after + 1;
}

/* A comment that nothing closes ends with its line, rather than with the page. */
static int comment(struct wikitext *w)
{
	const struct span rest = span_skip(w->page, w->at + 4);
	const char *end = w->no_comment_end ? NULL : memmem(rest.text, rest.len, "-->", 3);

	if (end) {
		w->at = (size_t)(end + 3 - w->page.text);
		end_comment_line(w);
	} else {
		w->no_comment_end = true;
		w->at += 4 + span_find(rest, '\n');
	}
	return 0;
}

int wiki_tag(struct wikitext *w)
{
	struct found f;

	if (span_starts(span_skip(w->page, w->at), "<!--"))
		return comment(w);
	if (!find_tag(w->page, w->at, &f)) {
		w->at++;
		return wiki_put_byte(&w->resolved, '<');
	}
	w->at = f.end;
	if (f.tag->effect < SUPER)
		return mark(w, &f);
	if (f.tag->effect <= SUB)
		return raised(w, &f);
	if (f.closes)
		return 0;
	if (f.empty)
		return strcmp(f.tag->name, "ref") ? 0 : wiki_put_byte(&w->resolved, MARK_NOTE);
	switch (f.tag->effect) {
	case NOWIKI: return nowiki(w, &f);
	case MATH: return math(w, &f);
	default: return drop_content(w, &f);
	}
}
