/*
 * verify.h - whether shards, folders of them and token documents are what they
 * say: every byte, every sum, every claim that can be checked.
 *
 *	struct verify v = { .threads = 2, .say = print_line, .ctx = ... };
 *	verify_path(&v, path)		(as often as wanted)
 *	... v.files, v.faults, v.unread ...
 *	verify_release(&v);
 *
 * Of every file: the frame (base/frame.h) from the first byte to the last, all
 * records and values, counts and sums against the trailer.
 *
 * Of a shard: its documents are in order, numbered, and belong to it; its instances are those that are drawn of them, one by one, when this is
 * done again (verify_drafts.h), and so are static masks. Of SHARD_GOOGLE no draws can be made again: a true next follows, each document begins an
 * instance in each pass, whose instances go through it from the first token to the last (verify_chain.h), random nexts are not fewer than
 * draws give (by six standard deviations of n draws of probability 0.5), and masks show what draws give.
 *
 * Of a folder: all shards are there, each once and under its name, of one
 * recipe and one corpus, whose documents and digest they add up to; vocab.txt
 * and masking-words.txt are those of the recipe; manifest.json is unchanged to the byte and tells of these very files.
 * Shards of SHARD_GOOGLE have their instances dealt in turn, and all together leave none out.
 *
 * Of token documents: their order where they are sorted, and the keys of blocks.
 */
#ifndef SHARDS_VERIFY_H
#define SHARDS_VERIFY_H

#include "base/key.h"
#include "shards/scan.h"
#include "tokenizer/vocab.h"

#include <stddef.h>
#include <stdint.h>

enum verify_verdict {
	VERIFY_GOOD,
	VERIFY_FAULT,		/* it is not what it says (EXIT_CORRUPT) */
	VERIFY_UNREAD,		/* it could not be looked at (EXIT_FAILED) */
};

#define VERIFY_MEMORY (UINT64_C(1) << 30)

struct verify {
	unsigned threads;
	uint64_t memory;		/* bytes for drawing a shard's instances again; 0: VERIFY_MEMORY */
	const char *vocab_path;		/* NULL: vocab.txt beside each file; with none, masks of words are believed */
	const struct key *absent;	/* documents that must not be in */
	size_t n_absent;
	struct scan_progress *progress;	/* NULL: nobody watches */
	/* One call for each file, and each fault of a folder: its name, and what was found. */
	void (*say)(void *ctx, const char *name, enum verify_verdict verdict, const char *text);
	void *ctx;

	/* counted */
	uint64_t files, faults, unread;
	/* private */
	struct vocab *vocab;
	struct mask_words *words;
	bool in_folder;			/* whose shards are looked at, ... */
	struct verify_chain *whole;	/* ... which have their documents' chains in common: SHARD_GOOGLE */
	uint64_t chained;		/* shards whose instances are in it, whatever else they are */
};

/* Looks at PATH: a folder of shards, a shard, a file of token documents, "-". Goes on after faults. */
void verify_path(struct verify *v, const char *path);
void verify_release(struct verify *v);

#endif
