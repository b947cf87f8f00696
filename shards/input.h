/*
 * input.h - what bert-shard reads: a list of text files and files of token
 * documents, or a stream of either, as the records of token documents.
 *
 *	struct inputs in;
 *	if (inputs_open(&in, files, n_files, tokenizer, threads))	(looks at each; no files: standard input)
 *		...
 *	struct inputs_reading r = { .inputs = &in, .tokenizer = t, .part = 0, .parts = 1, .take = add, .ctx = ... };
 *	r.counts = calloc(in.n, sizeof(*r.counts));
 *	inputs_read(&r)
 *	inputs_close(&in)
 *
 * Text files that stand side by side are read as if joined (base/lines.h). Part
 * i of n takes the documents that begin in the i-th n-th of each run of text
 * files, and the i-th n-th of the blocks of each file of token documents; packed
 * text and streams are read by one part only.
 */
#ifndef SHARDS_INPUT_H
#define SHARDS_INPUT_H

#include "base/in.h"
#include "base/progress.h"
#include "shards/tokdoc.h"
#include "tokenizer/tokenizer.h"

#include <stdbool.h>
#include <stdint.h>

struct input {
	const char *name;
	uint64_t bytes;			/* on disk; 0 for a stream */
	struct key sample;		/* shards/FORMAT.md, "The manifest"; 0 for a stream */
	bool stream;			/* no regular file: can be read once */
	bool packed;
	bool tokens;			/* token documents */
};

struct inputs {
	struct input *files;
	size_t n;
	bool streams;			/* there is one among them */
	struct in *standard;		/* standard input, opened and looked at */
	uint64_t bytes;			/* of all */
};

/* Refused: token documents made with another vocabulary or tokenization than TOKENIZER describes. */
int inputs_open(struct inputs *in, const char *const *files, size_t n, const json_t *tokenizer, unsigned threads);
void inputs_close(struct inputs *in);
/* Size and sample of a regular file */
int inputs_sample(const char *name, uint64_t *bytes, struct key *sample);
/* EXIT_FAILED, naming what differs */
int inputs_check_tokenizer(const char *name, const struct tokdoc_header *h, const json_t *tokenizer);

struct inputs_reading {
	struct inputs *inputs;
	const struct tokenizer *tokenizer;
	unsigned threads;
	size_t memory;			/* for documents on their way and words met, about; 0: as much as is of use */
	size_t longest;			/* bytes of a record; one that is longer is refused, with its place. 0: any */
	uint64_t part, parts;
	bool keep_marks;		/* as in base/lines.h; in one part only */
	int (*take)(void *ctx, const unsigned char *body, size_t len);	/* a record (tokdoc_split); never two at once */
	void *ctx;
	struct progress *progress;	/* may be NULL */
	/* filled: */
	struct tokdoc_totals *counts;	/* [inputs->n], the caller's: of the documents that begin in each file */
	struct tokdoc_totals total;
	uint64_t bad_bytes;		/* ill-formed parts of text, replaced */
};
int inputs_read(struct inputs_reading *r);

#endif
