/*
 * downloads.h - what is to be fetched: lists of URLs, sums and names.
 *
 *	struct downloads d = DOWNLOADS_INIT;
 *	if (downloads_read_list(&d, path) || ...)
 *		...
 *	for (size_t i = 0; i < d.n; i++)
 *		... fetch_file of d.items[i] (base/fetch.h) ...
 *	downloads_release(&d);
 *
 * Names stay below the folder they are put into: relative, no "." or ".." in
 * them; and no two are the same.
 */
#ifndef BASE_DOWNLOADS_H
#define BASE_DOWNLOADS_H

#include "base/fetch.h"

#include <stddef.h>

struct download {
	char *url, *name;
	enum fetch_sum sum;
	char *digest;		/* NULL without a sum */
	uint64_t size;		/* 0 unknown */
};

struct downloads {
	struct download *items;
	size_t n, cap;
};
#define DOWNLOADS_INIT { NULL, 0, 0 }

/* All strings are copied. DIGEST NULL: no sum. -1: EXIT_USAGE for a bad name or digest. */
int downloads_add(struct downloads *d, const char *url, const char *name, enum fetch_sum sum, const char *digest);

/* The same, named by the last part of its URL, without a query. */
int downloads_add_url(struct downloads *d, const char *url, enum fetch_sum sum, const char *digest);

/*
 * Adds what a list says: a line each of URL, tab, "sha256:HEX" (or sha1, md5) or
 * "-", tab, name; the name may be left out, the sum too. Blank lines and those that begin
 * with # say nothing. A line that cannot be understood is EXIT_CORRUPT, named by its number.
 */
int downloads_read_list(struct downloads *d, const char *path);

/*
 * Wikimedia's dumps, as https://dumps.wikimedia.org and its mirrors have them.
 * downloads_find_date looks in the sums of the latest dump (WIKI-latest-sha1sums.txt) for
 * its date; downloads_read_dump takes from a dump's dumpstatus.json the article
 * files of its multistream form, which base/in.h unpacks on several threads, with
 * their SHA-1; a dump that is not finished is refused. URL is where the text is
 * from, for reasons. EXIT_CORRUPT when it is not what it should be.
 */
int downloads_find_date(const char *text, const char *url, const char *wiki, char date[9]);
int downloads_read_dump(struct downloads *d, const char *json, size_t len, const char *url, const char *wiki, const char *date,
			const char *mirror);

void downloads_release(struct downloads *d);

#endif
