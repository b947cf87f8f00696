/*
 * stop.h - full stops and their like: where they are, and what belongs to them.
 *
 *	while ((at = stop_find(text, len, at)) < len) {
 *		struct stop st = stop_read(text, len, at);
 *		...
 *		at = st.end;
 *	}
 *
 * TEXT is valid UTF-8. Whether a sentence ends there is for sentences.h to say.
 */
#ifndef CORPUS_STOP_H
#define CORPUS_STOP_H

#include <stdbool.h>
#include <stddef.h>

/* A stretch of terminators with what closes after it. */
struct stop {
	size_t first;		/* its first terminator */
	size_t end;		/* past its last one and all that closes */
	size_t dots;		/* how many full stops, if all are; else 0 */
	bool strong, ellipsis, full;
	bool wide;		/* the last terminator is U+FF0E, which digits may follow */
	bool closed;		/* something closes after it */
	bool quoted;		/* that is U+300D or U+300F, a Japanese quotation's end */
};

/* The next terminator at AT or later; LEN when there is none. */
size_t stop_find(const char *text, size_t len, size_t at);

/*
 * What begins with the terminator at AT: all terminators in a row, an ellipsis of
 * dots that stand apart (". . ."), and then what closes: brackets, quotation
 * marks, references such as "[12]", also after white space where they cannot open.
 */
struct stop stop_read(const char *text, size_t len, size_t at);

#endif
