/*
 * progress.h - one line on a terminal that says how far a program is.
 *
 *	struct progress p;
 *	progress_start(&p, "documents", total_bytes);	(0: total unknown)
 *	progress_update(&p, documents, bytes);		(cheap: writes at most ten times a second)
 *	progress_end(&p);				(wipes the line)
 *
 * Silent when stderr is no terminal, and under --quiet. For tools only; libraries
 * take a struct progress * and pass counts to it (NULL: nobody watches).
 */
#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct progress {
	const char *noun;
	uint64_t total;
	uint64_t start_ns, last_ns;
	bool shown;		/* whether it may write at all */
	bool dirty;		/* whether a line stands on the terminal */
};

void progress_start(struct progress *p, const char *noun, uint64_t total_bytes);
void progress_update(struct progress *p, uint64_t records, uint64_t bytes);
void progress_end(struct progress *p);

/*
 * The line: "12,345 documents  34.5 MB  120.3 MB/s  eta 0:12" (megabytes of 10^6),
 * AFTER_NS nanoseconds from the start; without bytes when there are none, without
 * eta when the total is unknown. Cut to N - 1 bytes.
 */
void progress_format(const struct progress *p, uint64_t records, uint64_t bytes, uint64_t after_ns, char *out, size_t n);

#endif
