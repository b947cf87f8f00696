/*
 * tokdoc_encoder.h - the text of one document to its token document. One a
 * thread.
 *
 *	struct tokdoc_encoder e;
 *	tokdoc_encoder_open(&e, tokenizer, 0)
 *	tokdoc_encoder_run(&e, text, len, key)	(e.doc is good until the next call)
 *	tokdoc_encoder_close(&e);				(accepts a zeroed one)
 */
#ifndef SHARDS_TOKDOC_ENCODER_H
#define SHARDS_TOKDOC_ENCODER_H

#include "base/key.h"
#include "base/jsonl.h"
#include "shards/tokdoc.h"
#include "tokenizer/tokenizer.h"

#include <stddef.h>
#include <stdint.h>

struct tokdoc_encoder {
	struct encoder *encoder;
	struct ids ids;
	struct encoded_lines lines;
	struct tokdoc doc;
	uint64_t tokens;		/* of the document, also of one that was refused */
	uint64_t most;			/* tokens beyond which a document is refused, unheld; 0: TOKDOC_TOKENS_MAX. The caller's */
};

/* CACHE_BYTES: of words met before; 0: as encoder_new */
int tokdoc_encoder_open(struct tokdoc_encoder *e, const struct tokenizer *t, size_t cache_bytes);

/*
 * Tokenizes a document into E->doc, without id or title. TEXT is its lines, each ended by \n, as struct document
 * (base/lines.h) has it. Refused: more than MOST tokens; E->tokens says how many then.
 */
int tokdoc_encoder_run(struct tokdoc_encoder *e, const char *text, size_t len, struct key key);

/* Names E->doc; the two are borrowed. What is longer than TOKDOC_NAME_MAX is cut, at a character's end. */
void tokdoc_encoder_name(struct tokdoc_encoder *e, struct jsonl_text id, struct jsonl_text title);
void tokdoc_encoder_close(struct tokdoc_encoder *e);

#endif
