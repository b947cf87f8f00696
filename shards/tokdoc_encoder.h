/*
 * tokdoc_encoder.h - the text of one document to its token document. One a
 * thread.
 *
 *	struct tokdoc_encoder e;
 *	tokdoc_encoder_open(&e, tokenizer, 0)
 *	tokdoc_encoder_run(&e, text, ends, n_lines, key)	(e.doc is good until the next call)
 *	tokdoc_encoder_close(&e);				(accepts a zeroed one)
 */
#ifndef SHARDS_TOKDOC_ENCODER_H
#define SHARDS_TOKDOC_ENCODER_H

#include "base/key.h"
#include "shards/tokdoc.h"
#include "tokenizer/tokenizer.h"

#include <stddef.h>
#include <stdint.h>

struct tokdoc_encoder {
	struct encoder *encoder;
	struct ids ids;
	struct tokdoc doc;
};

/* CACHE_BYTES: of words met before; 0: as encoder_new */
int tokdoc_encoder_open(struct tokdoc_encoder *e, const struct tokenizer *t, size_t cache_bytes);

/*
 * Tokenizes a document of N_LINES sentences into E->doc, without id or title.
 * Line i is text[ends[i-1] .. ends[i]-1), as struct document (base/lines.h) has
 * it. Refused: more than TOKDOC_TOKENS_MAX tokens.
 */
int tokdoc_encoder_run(struct tokdoc_encoder *e, const char *text, const uint64_t *ends, size_t n_lines, struct key key);
void tokdoc_encoder_close(struct tokdoc_encoder *e);

#endif
