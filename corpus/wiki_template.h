/*
 * wiki_template.h - {{templates}}: which stand for text, and what text.
 *
 * A dump's templates are programs (thousands of pages of wikitext and Lua).
 * Those whose text matters inside a sentence are few and stable, so they
 * are a table here: names to formats (wiki_formats.h), or to code where a format does not do.
 */
#ifndef CORPUS_WIKI_TEMPLATE_H
#define CORPUS_WIKI_TEMPLATE_H

#include "base/buf.h"
#include "corpus/wiki_formats.h"
#include "corpus/wiki_impl.h"

/* Adds what {{A}} or {{{A}}} stands for to B: 0; 1 when that is nothing, or not known; -1 failed. */
int wiki_template(struct wikitext *w, const struct wiki_args *a, struct buf *b);
int wiki_parameter(const struct wiki_args *a, struct buf *b);

/* A template that needs more than a format; FORMAT is whatever its table says. */
typedef int wiki_render(const struct wikitext *w, const char *format, const struct wiki_args *a, struct buf *b);

struct wiki_known {
	const char *name;	/* folded; "fr:date" is "date" on a French wiki alone */
	const char *format;
	wiki_render *render;	/* NULL: the format is all */
};
extern const struct wiki_known wiki_known[];	/* sorted by name */
extern const size_t wiki_n_known;
const char *wiki_language_name(struct span code);	/* "French" for "fr"; NULL when not known */

/* wiki_function.c: {{#if:...}}, {{lc:...}}, {{PAGENAME}}: as wiki_template, and 2 when NAME (part 0) is none. */
int wiki_function(struct wikitext *w, struct span name, const struct wiki_args *a, struct buf *b);

/* wiki_value.c */
wiki_render wiki_convert, wiki_val, wiki_frac, wiki_height, wiki_density, wiki_ordinal, wiki_chem, wiki_ship, wiki_harvtxt;
int wiki_format_number(const struct wikitext *w, struct span number, struct buf *b);	/* {{formatnum:}} in the wiki's language */

/* wiki_date.c: FORMAT says which arguments are the year of which date. */
wiki_render wiki_date, wiki_as_of, wiki_age;

#endif
