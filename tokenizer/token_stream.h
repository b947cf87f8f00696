/*
 * token_stream.h - lines of text, or of the documents in JSON lines, to lines of tokens.
 *
 * One line out for each line in (see token_print.h for the exceptions), in
 * order; a blank line stays empty. Lines are taken in blocks that threads work
 * on; the output is the same for any number of threads.
 */
#ifndef TOKENIZER_TOKEN_STREAM_H
#define TOKENIZER_TOKEN_STREAM_H

#include "base/lines.h"
#include "base/out.h"
#include "base/progress.h"
#include "tokenizer/token_print.h"

#include <stdint.h>

struct token_stream {
	const struct tokenizer *tokenizer;
	struct lines *lines;
	struct out *out;		/* not committed here */
	struct progress *progress;	/* may be NULL */
	unsigned threads;		/* 0 is 1 */
	int form;			/* enum token_form */
	unsigned flags;			/* enum token_flag */
	bool jsonl, strict;		/* LINES are LINES_JSON: a blank line follows each document. Not with TOKEN_DECODED */
	const char *segmenter;		/* a command that cuts lines into words first (segmenter.h); NULL: none. Not with TOKEN_DECODED */
	/* filled: */
	uint64_t n_lines, n_tokens;
	uint64_t repaired;		/* halves of surrogate pairs, in JSON lines */
};

/* Reads all lines and writes all tokens; -1 with the reason set. */
int token_stream_run(struct token_stream *s);

#endif
