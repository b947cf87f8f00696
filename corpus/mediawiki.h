/*
 * mediawiki.h - pages of a MediaWiki XML dump, one by one.
 *
 *	struct mediawiki *m;
 *	if (mediawiki_open(&m, in, &site))	(IN and SITE stay the caller's and must outlive it)
 *		return -1;
 *	while ((rc = mediawiki_next(m, &page)) > 0)
 *		...				(page's texts are good until the next call)
 *	mediawiki_close(m);			(accepts NULL)
 *
 * SITE is filled from <siteinfo> before the first page is given, and not
 * touched afterwards. Of a page with several revisions (a history dump) the
 * last one is given. A page's namespace is what its <ns> says; only where a dump
 * has no <ns> (export formats before 0.4) is it read off the title, by the names in <siteinfo>.
 *
 * UTF-8 that is ill-formed, and characters that XML forbids, become U+FFFD and
 * are counted: one bad byte does not end a run. Dumps that say by a byte-order
 * mark or declaration that they are in another encoding (UTF-16, Latin-1) are read as
 * that. XML that is cut short or not well-formed is an error (EXIT_CORRUPT) that names
 * file and offset, once the whole pages before it were given. A document type
 * declaration, which no dump has, is refused.
 *
 * Memory is in proportion to the longest page.
 */
#ifndef CORPUS_MEDIAWIKI_H
#define CORPUS_MEDIAWIKI_H

#include "base/in.h"
#include "corpus/span.h"
#include "corpus/wiki_site.h"

#include <stdbool.h>
#include <stdint.h>

struct mediawiki;

struct mediawiki_page {
	struct span title, text;
	struct span id;			/* digits, as in the dump */
	int64_t ns;
	bool redirect;			/* has <redirect/> */
	bool wikitext;			/* its content model is wikitext, or not told */
};

int mediawiki_open(struct mediawiki **m, struct in *in, struct wiki_site *site);
int mediawiki_next(struct mediawiki *m, struct mediawiki_page *page);	/* 1 a page, 0 the end, -1 failed */
uint64_t mediawiki_repaired(const struct mediawiki *m);			/* bad parts replaced so far */
void mediawiki_close(struct mediawiki *m);

#endif
