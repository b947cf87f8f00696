/*
 * jsonl.h - documents as JSON lines: {"id": "12", "title": "...", "text": "..."}, paragraphs joined by \n.
 */
#ifndef BASE_JSONL_H
#define BASE_JSONL_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

/* Text that somebody else owns. */
struct jsonl_text {
	const char *text;		/* not ended by a 0 byte */
	size_t len;
};
#define JSONL_TEXT(literal) ((struct jsonl_text){ (literal), sizeof(literal) - 1 })

/* Whether a file that begins with HEAD (as much of it as there is, or 64 bytes) is one of JSON lines: '{' before '"'. */
bool jsonl_begins(struct jsonl_text head);

/* Refused (EXIT_USAGE): IN, from which nothing was read, where it begins so. */
struct in;
int jsonl_refuse(struct in *in);

/*
 * Reads LINE, valid UTF-8: an object whose "text" is a string. "id" and "title" are strings, or numbers, of which the
 * digits are kept as they stand ("007" is no number, 5.50 stays 5.50); they may be absent or null. Whatever else the object
 * has is passed over, as long as it is JSON. ID and TITLE are replaced. LINE becomes the text; nothing is
 * allocated but for the names. Halves of surrogate pairs that stand alone become U+FFFD and are added to *REPAIRED. -1
 * with the reason set (EXIT_CORRUPT, without the place): also where one of the three is there twice, or of another kind.
 */
int jsonl_take(struct buf *line, struct buf *id, struct buf *title, uint64_t *repaired);

/* The same, LINE staying as it is. TEXT is replaced. */
int jsonl_read(struct jsonl_text line, struct buf *id, struct buf *title, struct buf *text, uint64_t *repaired);

/* Adds one line. The three are strings always, empty ones where nothing is known. */
int jsonl_put(struct buf *b, struct jsonl_text id, struct jsonl_text title, struct jsonl_text text);

/* Adds S, valid UTF-8, as a JSON string with its quotes. */
int jsonl_put_string(struct buf *b, struct jsonl_text s);

#endif
