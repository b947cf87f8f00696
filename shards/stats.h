/*
 * stats.h - what is in shards, token documents and text, and what their users fall into.
 *
 *	struct stats s = { .threads = 2 };
 *	stats_add(&s, paths, n)		(as often as wanted: everything adds up)
 *	json_t *o = stats_json(&s)	(the numbers, and the warnings in words)
 *	stats_release(&s);
 *
 * All is counted from the records; files are checked on the way (shards/scan.h).
 * Documents of shards, of token documents and of text are counted alike, so who gives
 * both a corpus and its shards has it twice. Only text has the words behind [UNK].
 */
#ifndef SHARDS_STATS_H
#define SHARDS_STATS_H

#include "base/key.h"
#include "base/lines.h"
#include "base/spill.h"
#include "shards/folder.h"
#include "shards/scan.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/vocab.h"
#include "tokenizer/word_counts.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define STATS_LENGTHS 65536	/* an instance has fewer tokens */
#define STATS_MEMORY ((uint64_t)256 << 20)
#define STATS_MEMORY_LEAST WORD_COUNTS_MEMORY_LEAST
#define STATS_OCTAVES 33	/* a sentence of n tokens is in octave bit_width(n) */

struct stats_counts {
	uint64_t files, bytes;
	/* documents */
	uint64_t documents, empty_documents, duplicate_documents;
	uint64_t one_sentence_documents;	/* with one sentence, or none */
	uint64_t few_sentence_documents;	/* with two or three */
	uint64_t sentences, tokens, text_bytes;
	/* where tokens themselves are there: in token documents, and in the instances of shards without their masks */
	uint64_t tokens_seen, unknown, special;	/* [UNK]; [PAD], [CLS], [SEP] and [MASK] that came from the text */
	uint64_t files_miscased;		/* cased with a vocabulary that has no capitals but small letters, or lower-cased with one that has capitals */
	uint64_t token_files_unnamed;		/* whose vocabulary was not found: their ids say nothing */
	/* instances */
	uint64_t instances, random_next, truncated, dropped;
	uint64_t pairs, random_pairs;		/* of next sentence prediction, of no chosen share: all; random ones */
	uint64_t instance_tokens, room;		/* [CLS] and [SEP] included; what max_seq_length would hold */
	uint64_t statics;			/* instances with masks of their own */
	uint64_t static_tokens, predictions;	/* of these */
	uint64_t masked, kept, replaced;	/* predictions that show [MASK], themselves, another token */
	uint64_t cut;				/* instances that max_predictions_per_seq cut masks from */
};

/* The document with the most tokens. */
struct stats_largest {
	uint64_t tokens;
	struct key key;
	struct buf title;
};

/* What one thread counts. */
struct stats_tally {
	struct stats_counts counts;
	struct stats_largest largest;
	uint64_t octaves[STATS_OCTAVES];	/* sentences by length */
	uint64_t *lengths;			/* [STATS_LENGTHS] instances by length */
	struct instance instance;
	struct tokdoc document;
};

struct stats {
	unsigned threads;
	uint64_t memory;			/* bytes for documents' keys and unknown words, at least STATS_MEMORY_LEAST, or 0: STATS_MEMORY; beyond it they go to files */
	const char *vocab_path;			/* of shards and token documents; NULL: vocab.txt beside each file */
	const struct tokenizer_opts *text;	/* how text is tokenized; NULL: it is refused (EXIT_USAGE) */
	enum lines_form form;			/* of text */
	bool strict;				/* ill-formed UTF-8 in text is an error (EXIT_CORRUPT) */
	size_t unknown_most;			/* how many unknown words are named */
	struct scan_progress *progress;		/* NULL: nobody watches */

	/* sums of all files so far */
	struct stats_tally sum;
	uint32_t max_seq_length, max_predictions;	/* the largest */
	uint32_t needed_predictions;			/* the most that masked_lm_prob gives at max_seq_length */
	json_t *notes;					/* of strings: which folders are not complete, what was mended in text; NULL: none */
	/* private */
	struct folder_set set;			/* of the folder being read, */
	size_t at;				/* and the number in it of the file being read */
	struct vocab *vocab;
	char looked_at[65];			/* the sha256 of that whose capitals were counted */
	double capitals, letters;		/* shares of its tokens that have some, and small letters */
	struct vocab_special special;		/* of the file being read */
	struct key google_corpus;		/* of SHARD_GOOGLE, seen last: its shards repeat its documents */
	bool unwanted;				/* the documents of this shard: repeated, or none really */
	struct stats_tally *tallies;		/* [threads] */
	struct spill *keys;			/* of token documents, and of text */
	struct tokenizer *tokenizer;		/* of text; NULL: there was none */
	struct word_counts *unknown;		/* its words that are [UNK] */
};

/*
 * Counts N PATHS: folders of shards, or those that are there, shards, files of token documents, text, "-". Text files that
 * stand side by side are read as if joined (base/lines.h); a pipe stands by itself.
 */
int stats_add(struct stats *s, const char *const *paths, size_t n);

/* Everything as one object, members in a fixed order, "warnings" an array of strings. NULL: reason set. Once only. */
json_t *stats_json(struct stats *s);

/* The warnings alone; for stats_json. NULL: out of memory. */
json_t *stats_warnings(const struct stats *s);
void stats_release(struct stats *s);

#endif
