/*
 * learn_count.h - text to distinct words with their counts, in bounded memory.
 *
 * The words are those that the tokenizer would look up: the normalizer's
 * (normalize.h). Threads count blocks of lines into tables of their own; a table
 * that fills its share of the memory goes to sorted runs (base/spill.h),
 * and all are added up at the end. The counts, and which words learn_words.h
 * has room for, do not depend on threads or on the order of the lines.
 */
#ifndef TOKENIZER_LEARN_COUNT_H
#define TOKENIZER_LEARN_COUNT_H

#include "base/lines.h"
#include "base/progress.h"
#include "tokenizer/learn_words.h"
#include "tokenizer/normalize.h"

#include <stdbool.h>
#include <stdint.h>

#define LEARN_MEMORY_LEAST ((uint64_t)16 << 20)
#define LEARN_MEMORY_FIXED ((uint64_t)8 << 20)	/* of it, what the program takes whatever the words */

struct learn_count {
	struct lines *lines;
	bool jsonl, strict;		/* LINES are LINES_JSON: the words are those of the documents (base/jsonl_documents.h) */
	struct normalizer_opts normalizer;
	uint64_t memory;		/* bytes for counting and then for learning; at least LEARN_MEMORY_LEAST */
	unsigned threads;		/* 0 is 1 */
	struct progress *progress;	/* may be NULL */
	/* filled: */
	uint64_t words;			/* all of them, also those that are too long */
	uint64_t long_words;
	uint64_t repaired;		/* halves of surrogate pairs in JSON lines */
	uint64_t spilled;		/* bytes written to sorted runs */
};

/* Counts the words of all lines into W, which is made here; -1 with the reason set, and W needs no release. */
int learn_count_run(struct learn_count *c, struct learn_words *w);

#endif
