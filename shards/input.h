/*
 * input.h - what bert-shard reads: a list of text files and files of token
 * documents, or a stream of either, as the records of token documents.
 *
 *	struct inputs in;
 *	if (inputs_open(&in, files, n_files, LINES_TEXT, threads))	(looks at each; no files: standard input)
 *		...
 *	is = inputs_tokenizer(&in)			(what made the token documents, where there is no text)
 *	if (inputs_check_tokenizer(&in, is or another))
 *		...
 *	struct inputs_reading r = { .inputs = &in, .tokenizer = t, .part = 0, .parts = 1, .take = add, .ctx = ... };
 *	r.counts = calloc(in.n, sizeof(*r.counts));
 *	inputs_read(&r)
 *	inputs_close(&in)
 *
 * Text files that stand side by side are read as if joined (base/lines.h). Part
 * i of n takes the documents that begin in the i-th n-th of each run of text
 * files, and the i-th n-th of the blocks of each file of token documents; packed
 * text and streams are read by one part only. Of JSON lines (base/jsonl_documents.h), which are divided as text is,
 * documents keep their ids and titles.
 */
#ifndef SHARDS_INPUT_H
#define SHARDS_INPUT_H

#include "base/in.h"
#include "base/lines.h"
#include "base/progress.h"
#include "shards/tokdoc.h"
#include "tokenizer/tokenizer.h"

#include <stdbool.h>
#include <stdint.h>

struct input {
	const char *name;
	uint64_t bytes;			/* on disk; 0 for a stream */
	struct key sample;		/* shards/FORMAT.md, "The manifest"; 0 for a stream. Once KNOWN */
	struct key mark;		/* of its size, inode and times: while it has it, the sample is this. 0: it may not tell */
	bool known;
	bool stream;			/* no regular file: can be read once */
	bool packed;
	bool tokens;			/* token documents */
	json_t *tokenizer;		/* what made them; owned */
};

struct inputs {
	struct input *files;
	size_t n;
	enum lines_form form;
	bool streams;			/* there is one among them */
	struct in *standard;		/* standard input, opened and looked at; or, of token documents, their reader */
	struct tokdoc_reader *standard_tokens;
	uint64_t bytes;			/* of all */
};

/* What an earlier run found out of a file. */
struct input_seen {
	struct key mark, sample;
};
/* FORM: what files that are not token documents hold. */
int inputs_open(struct inputs *in, const char *const *files, size_t n, enum lines_form form, unsigned threads);
void inputs_close(struct inputs *in);

/* Knows what has the mark that it has in SEEN, of the same files: *ALL are known. None is read. */
int inputs_recall(struct inputs *in, const struct input_seen *seen, bool *all);
/*
 * Knows all of them: samples those that it does not. A file that changed a moment ago gets a mark once that moment is
 * over, since what is written in the same tick of a clock would not show: WAIT for that, two seconds at most, or it has none.
 * BESIDE is open, ours, and as a rule in the same file system, whose clock it tells by being touched; -1: there is none.
 */
int inputs_sample_all(struct inputs *in, int beside, bool wait);

/* Size and sample of a regular file */
int inputs_sample(const char *name, uint64_t *bytes, struct key *sample);

/* What made the first token documents, if there is no text among the files; else NULL. Borrowed. */
const json_t *inputs_tokenizer(const struct inputs *in);

/* Refused (EXIT_FAILED), naming what differs: token documents that were made by another TOKENIZER than this, as tokenizer_describe gives it. */
int inputs_check_tokenizer(const struct inputs *in, const json_t *tokenizer);

struct inputs_reading {
	struct inputs *inputs;
	const struct tokenizer *tokenizer;
	unsigned threads;
	size_t memory;			/* for documents on their way and words met, about; 0: as much as is of use */
	size_t longest;			/* bytes of a record; one that is longer is refused, with its place. 0: any */
	size_t longest_text;		/* the same of a document's text, or line of JSON, before that is held */
	uint64_t (*enough)(const void *job, uint64_t text, uint64_t record);	/* with LONGEST: the --memory that so many bytes want */
	const void *job;
	uint64_t part, parts;
	bool keep_marks;		/* as in base/lines.h; in one part only */
	bool strict;			/* as in base/lines.h and, of JSON lines, base/jsonl_documents.h */
	int (*take)(void *ctx, const unsigned char *body, size_t len);	/* a record (tokdoc_split); never two at once */
	void *ctx;
	struct progress *progress;	/* may be NULL */
	/* filled: */
	struct tokdoc_totals *counts;	/* [inputs->n], the caller's: of the documents that begin in each file */
	struct tokdoc_totals total;
	uint64_t bad_bytes;		/* ill-formed parts of text, replaced; of JSON lines, halves of surrogate pairs too */
	uint64_t text_bytes;		/* of text files, that these documents take there, about */
};
int inputs_read(struct inputs_reading *r);

#endif
