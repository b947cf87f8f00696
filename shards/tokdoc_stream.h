/*
 * tokdoc_stream.h - lines of text to a file of token documents, on several
 * threads, or JSON lines: what bert-tokenize --to docs does. The bytes do not depend on how many.
 */
#ifndef SHARDS_TOKDOC_STREAM_H
#define SHARDS_TOKDOC_STREAM_H

#include "base/lines.h"
#include "base/out.h"
#include "base/progress.h"
#include "tokenizer/tokenizer.h"

#include <stdint.h>

struct tokdoc_stream {
	const struct tokenizer *tokenizer;
	struct lines *lines;
	struct out *out;		/* stays the caller's to commit; a terminal is refused (EXIT_USAGE) */
	struct progress *progress;	/* may be NULL */
	unsigned threads;
	bool jsonl, strict;		/* LINES are LINES_JSON: documents keep their ids and titles (base/jsonl_documents.h) */
	int compress;			/* zstd level; 0: none */
	const char *segmenter;		/* a command that cuts lines into words first (tokenizer/segmenter.h); NULL: none */
	/* filled: */
	uint64_t documents, tokens;
	uint64_t repaired;		/* halves of surrogate pairs, in JSON lines */
};

int tokdoc_stream_run(struct tokdoc_stream *s);

#endif
