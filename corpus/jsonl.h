/*
 * jsonl.h - documents as JSON lines: {"id": "12", "title": "...", "text": "..."}, paragraphs joined by \n.
 */
#ifndef CORPUS_JSONL_H
#define CORPUS_JSONL_H

#include "base/buf.h"
#include "corpus/span.h"

#include <stdint.h>

/*
 * Reads LINE, valid UTF-8: "text" must be a string; "id" (a string or a whole
 * number) and "title" may be absent or null, anything else is passed over.
 * Each buffer is replaced. Halves of surrogate pairs that stand alone become
 * U+FFFD and are added to *REPAIRED. -1 with the reason set (EXIT_CORRUPT, without the place).
 */
int jsonl_read(struct span line, struct buf *id, struct buf *title, struct buf *text, uint64_t *repaired);

/* Adds one line. The three are strings always, empty ones where nothing is known. */
int jsonl_put(struct buf *b, struct span id, struct span title, struct span text);

/* Adds S, valid UTF-8, as a JSON string with its quotes. */
int jsonl_put_string(struct buf *b, struct span s);

/* Call once before threads use jsonl_read: jansson seeds its tables at first use. */
void jsonl_init(void);

#endif
