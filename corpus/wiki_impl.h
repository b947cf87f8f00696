/*
 * wiki_impl.h - what the wiki_*.c files share. Others use wikitext.h.
 *
 * A page goes through two passes. The first (wiki_scan.c) resolves what nests:
 * comments, tags, {{templates}}, [[links]], with a stack of open brackets and
 * no recursion; each closed bracket is replaced by its text at once. The
 * second (wiki_block.c) takes the result line by line: tables, lists,
 * headings and paragraphs, and within lines quotes, outer links and entities
 * (wiki_inline.c). Paragraphs are tidied last (tidy.c).
 *
 * The first pass tells the second things by control characters, which no
 * page holds (XML forbids them; any that come are made spaces).
 */
#ifndef CORPUS_WIKI_IMPL_H
#define CORPUS_WIKI_IMPL_H

#include "base/buf.h"
#include "corpus/span.h"
#include "corpus/tidy.h"
#include "corpus/wikitext.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	MARK_HOLE = TIDY_HOLE,	/* something was dropped here */
	MARK_RAW = 0x02,	/* the next byte is text, whatever it looks like */
	MARK_OPEN = 0x03,	/* a '{{' that nothing closes */
	MARK_LINK = 0x04,	/* a '[[' that nothing closes */
	MARK_BREAK = 0x05,	/* a paragraph ends */
	MARK_ITEM = 0x06,	/* a list item begins, up to the next break */
	MARK_HEADING = 0x07,	/* a heading begins, up to the next break */
	MARK_TABLE = 0x0E,	/* a table begins */
	MARK_TABLE_END = 0x0F,
	MARK_ROW = 0x10,	/* a table's row begins */
	MARK_CELL = 0x11,	/* a table's cell begins */
	MARK_NOTE = 0x12,	/* a reference was dropped here: a hole, but a line that holds nothing else is not blank */
};

#define WIKI_TAG_WORDS 2	/* of 64 bits: wiki_tag.c knows fewer than 128 tags */

#define WIKI_LEVELS 7		/* of headings: 1 to 6 */

/* An open bracket. Offsets point into wikitext.resolved. */
struct wiki_open {
	uint8_t kind;		/* enum in wiki_scan.c */
	uint8_t uses;		/* times that a run of braces was closed in part */
	bool deep;		/* nested too deeply to be rendered */
	uint32_t braces;	/* of the run, not yet closed */
	uint32_t mark;		/* where its mark stands; its text follows */
	uint32_t first_part;	/* index of its first part */
	uint32_t brackets;	/* single '[' open within */
	uint32_t links, variants;	/* brackets of that kind from here down to the next '{{' */
	size_t source;		/* offset in the page */
};

/* A part of a bracket: what stands between two bars. */
struct wiki_part {
	uint32_t start;
	uint32_t equals;	/* offset of its first '='; 0 for none */
};

/* The parts of a {{template}} or [[link]], inner markup resolved; part 0 is its name or target. */
struct wiki_args {
	const char *text;
	const struct wiki_part *parts;
	size_t n;
	size_t end;		/* of the last part */
};

struct wikitext {
	struct wikitext_opts opts;
	const struct wiki_site *site;	/* of the page at hand */
	struct span title;
	bool english;
	struct wikitext_counts *counts;

	/* first pass */
	struct span page;
	size_t at;		/* in the page */
	struct buf resolved;
	struct wiki_open *open;
	size_t n_open, cap_open;
	struct wiki_part *parts;
	size_t n_parts, cap_parts;
	size_t n_templates;	/* open '{{' */
	uint64_t no_closer[WIKI_TAG_WORDS];	/* a bit for each tag that is not closed in the rest of the page */
	bool no_comment_end;
	struct buf rendered;	/* a bracket's text on its way */

	/* second pass */
	struct buf *out;
	struct buf paragraph;	/* so far, its lines joined */
	struct buf heading[WIKI_LEVELS];	/* of the section at hand and those around it */
	unsigned waiting;	/* a bit for each level whose heading waits for a paragraph */
	unsigned skip_level;	/* of the heading whose section is left out; 0 none */
	unsigned tables;	/* open */
	bool in_item, in_heading;	/* what the paragraph is, beside a paragraph */
	bool cell_owed;		/* what comes next is a table's next cell */
	bool begun;		/* one was put out */
	size_t lead_in;		/* where the last one stands in out, if it announces what follows */
	unsigned lead_in_headings;	/* those put out with it */
	unsigned level, lead_in_level;	/* of the section at hand, and of the one that it stands in */
};

static inline int wiki_put(struct buf *b, const char *text, size_t n)
{
	if (b->cap - b->len <= n && buf_reserve(b, n + 1))
		return -1;
	if (n)
		memcpy(b->data + b->len, text, n);
	b->len += n;
	return 0;
}

static inline int wiki_put_byte(struct buf *b, char c)
{
	return wiki_put(b, &c, 1);
}

static inline int wiki_put_span(struct buf *b, struct span s)
{
	return wiki_put(b, s.text, s.len);
}

int wiki_put_raw(struct buf *b, struct span s);		/* character references made characters, what could be markup put behind MARK_RAW */

/* wiki_scan.c: resolves brackets and tags of w->page into w->resolved. */
int wiki_scan(struct wikitext *w);

/* wiki_tag.c: what stands at w->at, a '<'. Moves w->at past it, or past the '<' alone when it is no tag. */
int wiki_tag(struct wikitext *w);

/* wiki_link.c: text of a closed [[link]] added to B; 1 when there is none. */
int wiki_link(const struct wikitext *w, const struct wiki_args *a, struct buf *b);
bool wiki_link_is_file(const struct wikitext *w, struct span target);
bool wiki_is_url(struct span s);				/* begins with a protocol that outer links may have */
int wiki_variant(const struct wiki_args *a, struct buf *b);	/* the same for -{...}- */

/* wiki_args.c */
struct span wiki_part_text(const struct wiki_args *a, size_t i);	/* trimmed; empty beyond the last */
struct span wiki_arg(const struct wiki_args *a, unsigned n);		/* {{{N}}}, N >= 1: the last "N=" or the Nth without a name */
struct span wiki_arg_named(const struct wiki_args *a, const char *name);
size_t wiki_arg_count(const struct wiki_args *a);			/* how many have no name */

/* wiki_section.c: whether a heading's section holds references and links alone. */
bool wiki_is_back_matter(struct span heading);

/* wiki_block.c: lines of w->resolved to paragraphs in OUT. */
int wiki_blocks(struct wikitext *w, struct buf *out);

/* wiki_inline.c: text of one line, added to B. */
int wiki_inline(struct span line, struct buf *b);

#endif
