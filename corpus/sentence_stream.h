/*
 * sentence_stream.h - documents with a paragraph a line to documents with a
 * sentence a line: text, or JSON lines, which keep their ids and titles.
 *
 * Blank lines end documents and stay, several in a row becoming one. Lines are
 * taken in blocks that threads work on; the output is the same for any number.
 * Where either end is JSON lines, blocks are of whole documents, and a blank line follows each of text.
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
	bool from_jsonl, to_jsonl;	/* LINES are LINES_JSON; JSON lines are written */
	bool strict;			/* as in base/jsonl_documents.h */
	bool document_per_file;		/* a blank line between files, as LINES was told */
	/* filled: */
	uint64_t paragraphs, sentences;
	uint64_t repaired;		/* halves of surrogate pairs, in JSON lines */
};

/* Reads all lines and writes all sentences; -1 with the reason set. */
int sentence_stream_run(struct sentence_stream *s);

#endif
