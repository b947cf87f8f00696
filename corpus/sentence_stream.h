/*
 * sentence_stream.h - text documents with a paragraph a line to text documents
 * with a sentence a line.
 *
 * Blank lines end documents and stay, several in a row becoming one. Lines are
 * taken in blocks that threads work on; the output is the same for any number.
 */
#ifndef CORPUS_SENTENCE_STREAM_H
#define CORPUS_SENTENCE_STREAM_H

#include "base/lines.h"
#include "base/out.h"
#include "base/progress.h"
#include "corpus/sentences.h"

#include <stdbool.h>
#include <stdint.h>

struct sentence_stream {
	const struct sentences *rules;
	struct lines *lines;
	struct out *out;		/* not committed here */
	struct progress *progress;	/* may be NULL */
	unsigned threads;		/* 0 is 1 */
	bool document_per_file;		/* a blank line between files, as LINES was told */
	/* filled: */
	uint64_t paragraphs, sentences;
};

/* Reads all lines and writes all sentences; -1 with the reason set. */
int sentence_stream_run(struct sentence_stream *s);

#endif
