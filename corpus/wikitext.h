/*
 * wikitext.h - MediaWiki's markup to clean paragraphs.
 *
 *	struct wikitext *w;
 *	if (wikitext_new(&w, &(struct wikitext_opts){ .lists = true }))	(one a thread)
 *		return -1;
 *	if (wikitext_convert(w, &site, title, text, &out, &counts))
 *		...			(adds to OUT one line a paragraph)
 *	wikitext_free(w);		(accepts NULL)
 *
 * Any bytes will do: broken markup gives less beautiful text, never a failure
 * (but for memory), and time and memory are linear in the text. The result
 * is a function of the arguments alone: nothing is read from the clock, and no
 * template is looked up in the dump. Templates that stand for words and
 * numbers within a sentence are rendered from tables (wiki_template.h); all
 * others are dropped, and counted by name if asked for.
 *
 * What stays: paragraphs, quotations, indented sentences (a line that begins
 * with ':' and ends as a sentence does), and what opts ask for. What goes:
 * markup, files, categories, links to other languages, references, formulas
 * that are not plain, code, galleries, tables, lists, headings, and whole
 * sections of references and links ("See also", "Einzelnachweise", ...).
 */
#ifndef CORPUS_WIKITEXT_H
#define CORPUS_WIKITEXT_H

#include "base/buf.h"
#include "corpus/span.h"
#include "corpus/wiki_site.h"

#include <stdbool.h>
#include <stdint.h>

struct wiki_formats;

struct wikitext_opts {
	bool lists;			/* keep items, a line each */
	bool tables;			/* keep rows, a line each, cells joined by "; " */
	bool headings;			/* keep headings of what is kept, a line each */
	bool count;			/* fill counts.dropped */
	const struct wiki_formats *formats;	/* the user's templates (wiki_formats.h), or NULL; not owned */
};

struct wikitext_counts {		/* added to; in characters (code points) of the source */
	uint64_t templates;		/* in templates that were dropped */
	uint64_t references;		/* in references, formulas, code, ... */
	uint64_t tables, lists, sections;	/* in what was dropped of these, less their markup */
	uint64_t paragraphs;		/* lines that were put out */
	struct buf dropped;		/* folded name of every template dropped, each ended by \n */
};

struct wikitext;

int wikitext_new(struct wikitext **w, const struct wikitext_opts *opts);
int wikitext_convert(struct wikitext *w, const struct wiki_site *site, struct span title, struct span text,
		     struct buf *out, struct wikitext_counts *counts);
void wikitext_free(struct wikitext *w);

/* Whether a page's text is a redirect, in any of the languages whose word for it is known. */
bool wikitext_is_redirect(struct span text);

#endif
