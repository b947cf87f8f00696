/*
 * job.h - what bert-shard does: text or token documents into a folder of
 * shards, in three stages that can each be run in parts, killed and run again.
 *
 *	index	part i of n: its stretch of the input, tokenized, sorted by key, to
 *		FOLDER/.work/index-II-of-NN.tok		(job_index)
 *	plan	the parts' totals to the number of shards: .work/plan.json	(job_plan)
 *	write	part i of n: the shards k with k mod n = i	(job_write)
 *
 * Whoever sees all shards whole writes vocab.txt (and masking-words.txt) and
 * manifest.json, and removes .work. What is done stays done: a stage that finds its file whole leaves it.
 *
 *	struct job *j;
 *	if (job_open(&j, &opts) || job_run(j))		(or job_start, then one stage)
 *		...
 *	job_report(j)
 *	job_close(j);					(accepts NULL)
 *
 * A run of all stages over one part holds the documents in memory between index and write where it can, and then
 * writes no index; killed, it reads the input again, and leaves the shards that are whole.
 *
 * Where the rules are SHARD_GOOGLE the stages are one, which holds all in memory (job_google).
 *
 * A folder that was made with other options or from other input is refused
 * (EXIT_FAILED, naming what differs).
 */
#ifndef SHARDS_JOB_H
#define SHARDS_JOB_H

#include "base/lines.h"
#include "base/progress.h"
#include "shards/shard.h"
#include "shards/tokdoc.h"
#include "tokenizer/tokenizer.h"

#include <stdbool.h>
#include <stdint.h>

struct job_opts {
	const char *folder;
	const char *const *files;	/* none: standard input */
	size_t n_files;
	enum lines_form form;		/* of those that are not token documents */
	struct tokenizer_opts tokenizer;
	/* what decides the instances */
	uint64_t max_seq_length, max_predictions_per_seq, dupe_factor, seed;
	double masked_lm_prob, short_seq_prob;
	bool whole_word_mask, word_draws, document_lengths;
	double mask_replace_prob, random_replace_prob;
	bool same_document_next, words_across_sep, special_replacements;
	const char *masking_words;	/* a list of words that are masked whole, - for standard input; NULL: none */
	bool plain_cjk;			/* pieces of Chinese words are read as plain characters (read_as.h) */
	bool exact_next;		/* RANDOM_NEXT counts */
	double random_next;
	bool cross_documents;
	int rules, masking, pairs, mask_spans;	/* enum shard_rules, shard_masking, shard_pairs, mask_spans */
	/* what decides the files */
	uint64_t shards;		/* 0: by shard_size */
	uint64_t shard_size;		/* raw bytes of a shard, about */
	uint64_t compress;		/* zstd level; 0: raw */
	const char *name;		/* of the shards */
	const char *made_by;		/* for the manifest: program and version */
	/* what changes nothing */
	uint64_t memory;		/* bytes */
	const char *tmp;		/* for what does not fit; NULL: $TMPDIR, else /tmp */
	uint64_t threads;
	bool strict;			/* ill-formed text is an error, not replaced; token documents hold none */
	bool staged;			/* each stage is a run of its own: what can be read only once is refused */
	struct progress *progress;	/* may be NULL */
	void (*warn)(const char *text);	/* is told before the work what is better known then; NULL: nobody is */
};
#define JOB_OPTS_DEFAULT { .max_seq_length = 128, .max_predictions_per_seq = 20, .dupe_factor = 10, .seed = 12345, \
	.masked_lm_prob = 0.15, .mask_replace_prob = MASK_SHARE_MASK, .random_replace_prob = MASK_SHARE_RANDOM, \
	.short_seq_prob = 0.1, .shard_size = 64 << 20, .compress = 1, .name = "shard", \
	.memory = 1 << 30 }

struct job_report {
	uint64_t bad_bytes;		/* ill-formed parts of text, replaced */
	uint64_t indexed;		/* documents */
	uint64_t made, kept;		/* shards */
	struct shard_totals totals;	/* of the shards made */
	bool complete;			/* the manifest is there */
	uint64_t instances;		/* of the whole set, where this run completed it */
};

struct job;
/* Looks at vocabulary, options and input; touches nothing */
int job_open(struct job **j, const struct job_opts *opts);
int job_start(struct job *j);					/* makes the folder ready, or refuses it */
int job_index(struct job *j, uint64_t part, uint64_t parts);
int job_plan(struct job *j);
int job_write(struct job *j, uint64_t part, uint64_t parts);
int job_all(struct job *j);					/* all stages */
int job_run(struct job *j);					/* start and all stages */
const struct job_report *job_report(const struct job *j);
const struct vocab *job_vocab(const struct job *j);
const struct shard_recipe *job_recipe(const struct job *j);
uint64_t job_passed_words(const struct job *j);			/* lines of masking_words that are of no use (mask_words.h) */
void job_close(struct job *j);

/* --- without doing it ------------------------------------------------------------ */

/* What is done and what is missing in FOLDER, as text, added to B. */
int job_status(const char *folder, struct buf *b);

struct job_estimate {
	double share;			/* of the input that was read for it: 1 when all was */
	double made;			/* of its tokens, of which instances were made: 1 when of all */
	uint64_t memory_needed;		/* where SHARD_GOOGLE refuses to hold all of it in opts.memory: about as much as it asks for; else 0 */
	struct tokdoc_totals corpus;
	struct shard_totals totals;
	uint64_t shards;
	uint64_t raw_bytes, file_bytes;	/* of all shards */
	uint64_t table_bytes;		/* of these: tables of documents */
	uint64_t work_bytes;		/* of disk that the index needs meanwhile, in the folder */
	uint64_t spilled_bytes;		/* and what does not fit in memory, in opts.tmp */
	double seconds;
};
/*
 * Bytes of disk, about: of the work files, and of the shards before they are packed; from nothing but the size of the
 * input, so they may be wrong by half. False: there is a stream, whose size nobody knows.
 */
bool job_forecast(const struct job *j, uint64_t *work, uint64_t *shards);

/* What of the disk is still needed, and there; as far as the size of the input lets one guess. */
struct job_disk {
	bool known;			/* false: there is a stream, and nothing else is set but TMP */
	uint64_t work, shards;		/* job_forecast's */
	uint64_t needed;		/* in the folder: what of the stages asked for is not there yet; shards packed */
	uint64_t room;			/* there, if SEEN */
	uint64_t tmp_needed, tmp_room;	/* in TMP, if TMP_SEEN, where that is another file system */
	bool seen, tmp_seen;
	uint64_t memory_needed;		/* by SHARD_GOOGLE, where that is more than opts.memory; else 0 */
	const char *tmp;
};
/* INDEX, WRITE: which stages; the index in PARTS parts. Whatever cannot be found out is not seen. */
void job_disk(const struct job *j, bool index, bool write, uint64_t parts, struct job_disk *d);

/* Where the reason is a full disk: says also what is still to be written, and that another run goes on. */
void job_explain_full(const struct job *j);

/*
 * Makes the instances of the input or, where it is large, of a sample, and throws them away. Writes in opts.tmp only: what
 * does not fit in memory, and a few small files to see how long they take. Exact, but for bytes and time, are
 * SHARD_GOOGLE's instances where opts.memory holds them.
 */
int job_estimate(struct job *j, struct job_estimate *e);

#endif
