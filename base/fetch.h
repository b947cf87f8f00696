/*
 * fetch.h - downloads that are whole, checked, and resumed (libcurl).
 */
#ifndef BASE_FETCH_H
#define BASE_FETCH_H

#include "base/progress.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fetch_sum { FETCH_SUM_NONE, FETCH_SUM_MD5, FETCH_SUM_SHA1, FETCH_SUM_SHA256 };

struct fetch {
	const char *url;		/* http, https or file */
	const char *path;		/* where it goes; its folder must be there */
	enum fetch_sum sum;
	const char *digest;		/* hexadecimal, of SUM's kind; either case */
	unsigned retries;		/* how often in a row to try again without getting further than ever, after a failure that may pass */
	double wait;			/* seconds before the first of them, doubled for each next up to 60; 0 = 1 */
	struct progress *progress;	/* may be NULL */
	uint64_t files_before, bytes_before;	/* of earlier files, for progress */
	/* filled: */
	uint64_t bytes;			/* size of the file */
	uint64_t resumed;		/* bytes that were there already */
	bool kept;			/* it was there, whole */
};

/*
 * Fetches into ".NAME.part" beside PATH, going on by range where an earlier try
 * stopped (only if the server's ETag or Last-Modified, kept in
 * ".NAME.part.tag", has not changed; without these only if there is a sum); verifies;
 * fsyncs; gives it the server's time; renames. A file that is at PATH already is kept,
 * and nothing is fetched, if it has the sum, or, without a sum, the size and time that
 * the server tells.
 *
 * -1 with the reason set; the partial file stays for the next try unless its sum
 * is wrong (EXIT_CORRUPT, and it is removed). An HTTP status is named in the
 * reason. What may pass and is tried again: a server that cannot be reached, is
 * silent for a minute or breaks off, the statuses 408, 429 and 5xx, and, but for the first time,
 * that what is there had to be given up since the server does not go on from it; a wait that the
 * server asks for (Retry-After) is kept up to ten minutes. Two processes cannot fetch
 * into one PATH at a time.
 */
int fetch_file(struct fetch *f);

/* Lower-case hexadecimal digest of a file. OUT must hold FETCH_DIGEST_MAX bytes. */
#define FETCH_DIGEST_MAX 65
int fetch_digest(const char *path, enum fetch_sum sum, char *out);

/* "sha256", "sha1", "md5", and back: FETCH_SUM_NONE for any other name. */
const char *fetch_sum_name(enum fetch_sum sum);
enum fetch_sum fetch_sum_of(const char *name, size_t len);

/* Whether TEXT is a digest of that kind: so many hexadecimal digits. */
bool fetch_is_digest(enum fetch_sum sum, const char *text);

#endif
