/*
 * wiki_site.h - what a dump says of its wiki: its language and the names of its namespaces.
 *
 * A name is folded before it is looked up: outer white space gone, '_' and
 * runs of white space one space, lower case. Beside the names that the dump
 * lists, the English ones and the older names of many wikis for files and
 * categories are known (a German page may still say [[Bild:...]]).
 */
#ifndef CORPUS_WIKI_SITE_H
#define CORPUS_WIKI_SITE_H

#include "base/buf.h"
#include "base/map.h"
#include "corpus/span.h"

#include <stdbool.h>
#include <stdint.h>

enum { NS_MEDIA = -2, NS_SPECIAL = -1, NS_MAIN = 0, NS_FILE = 6, NS_TEMPLATE = 10, NS_CATEGORY = 14 };

struct wiki_site {
	char lang[16];			/* "en", "" when not told */
	bool lang_is_given;		/* by the user: the dump's word for it does not count */
	struct buf name;		/* "Wikipedia" */
	struct map namespaces;		/* folded name to number */
	struct map listed;		/* the dump's own alone, for dumps that do not number their pages' namespaces */
};

int wiki_site_init(struct wiki_site *site);
void wiki_site_release(struct wiki_site *site);

void wiki_site_set_lang(struct wiki_site *site, const char *lang);		/* "pt-BR" is "pt" */
int wiki_site_add_namespace(struct wiki_site *site, struct span name, int64_t number);	/* a dump's <namespace> */

/* The namespace whose name stands before TITLE's first ':', its length with the ':' in *PREFIX; NS_MAIN and 0 when none does. */
int64_t wiki_site_namespace(const struct wiki_site *site, struct span title, size_t *prefix);
int64_t wiki_site_listed_namespace(const struct wiki_site *site, struct span title);

/* Whether PREFIX (folded) is the code of a language that has a Wikipedia: [[fr:Titre]] is a link to it. */
bool wiki_is_language(struct span prefix);

/* Writes TEXT folded to OUT[0..max); its length, 0 when it is blank or longer than that. */
size_t wiki_fold(struct span text, char *out, size_t max);
#define WIKI_NAME_MAX 128	/* room for any name that is known */

#endif
