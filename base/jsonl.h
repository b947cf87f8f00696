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
 * Reads LINE, valid UTF-8: "text" must be a string; "id" (a string or a whole
 * number; of 53 bits beside numbers that have more than 64) and "title" may be absent or null, anything else is passed over.
 * Each buffer is replaced. Halves of surrogate pairs that stand alone become
 * U+FFFD and are added to *REPAIRED. -1 with the reason set (EXIT_CORRUPT, without the place).
 */
int jsonl_read(struct jsonl_text line, struct buf *id, struct buf *title, struct buf *text, uint64_t *repaired);

/* Adds one line. The three are strings always, empty ones where nothing is known. */
int jsonl_put(struct buf *b, struct jsonl_text id, struct jsonl_text title, struct jsonl_text text);

/* Adds S, valid UTF-8, as a JSON string with its quotes. */
int jsonl_put_string(struct buf *b, struct jsonl_text s);

/* Call once before threads use jsonl_read: jansson seeds its tables at first use. */
void jsonl_init(void);

#endif
