/*
 * scan.h - a shard or a file of token documents from its first byte to its
 * last: every checksum, count and sum is checked, blocks are handed to threads,
 * their results taken in order. For who reads all of a file; who reads parts of
 * shards takes shards/reader.h.
 *
 *	struct scan s = { .path = path, .threads = 2, .work = ..., .write = ..., .ctx = &state };
 *	if (scan_run(&s))
 *		...			(EXIT_CORRUPT: what is wrong, with the place)
 *	... s.header, s.totals ...	(what the file says, and it is true)
 *	scan_release(&s);		(in any case)
 *
 * What comes before damage is handed out; that the file is whole is known only
 * when scan_run gives 0.
 */
#ifndef SHARDS_SCAN_H
#define SHARDS_SCAN_H

#include "base/frame.h"
#include "base/progress.h"
#include "shards/documents.h"
#include "shards/instance.h"
#include "shards/shard.h"
#include "shards/tokdoc.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum scan_kind { SCAN_SHARD, SCAN_TOKENS };

struct scan_block {
	uint64_t number;		/* of the frame's blocks */
	struct frame_block frame;	/* frame.first_record: the number of its first instance or document */
	struct instance_block instances;	/* of a shard: checked */
	struct buf out;			/* empty for WORK, whose result it is for WRITE */
	/* of token documents: what scan_next has still to give, and has counted */
	const unsigned char *at;
	uint32_t left;
	struct tokdoc_totals totals;
};

/* A line on the terminal for all files together; the caller starts and ends it. */
struct scan_progress {
	struct progress line;
	uint64_t records, bytes;	/* of the files before */
};

struct scan {
	const char *path;		/* "-": standard input; packed files are unpacked */
	struct in *in;			/* PATH where it is open already (say, to sniff it), else NULL; the scan's from scan_run on */
	unsigned threads;
	struct scan_progress *progress;	/* NULL: nobody watches */
	/* All return 0, or -1 failed. All but WORK may be NULL. */
	int (*begin)(void *ctx, struct scan *s);	/* once the header is known */
	/* Of a shard, every entry of its table, before any WORK. */
	int (*document)(void *ctx, const struct shard_document *d);
	/* A block of another type, before any WORK of the blocks after it. */
	int (*other)(void *ctx, const struct scan *s, const struct scan_block *b);
	/* Of a shard, before any WORK: its documents are complete. A shard of no instances has no such moment. */
	int (*instances)(void *ctx, const struct scan *s);
	/* On any thread: a block of instances; or of token documents: then it must call scan_next until 0. */
	int (*work)(void *ctx, const struct scan *s, struct scan_block *b, unsigned worker);
	/* In order. */
	int (*write)(void *ctx, const struct scan *s, struct scan_block *b);
	void *ctx;

	/* what is known of the file; valid from BEGIN on */
	const char *name;		/* for reasons */
	enum scan_kind kind;
	struct shard_header header;	/* SCAN_SHARD */
	struct tokdoc_header tokens;	/* SCAN_TOKENS */
	/* SCAN_SHARD, valid in WORK */
	struct instance_shape shape;
	struct documents documents;
	/* valid after scan_run gave 0 */
	struct shard_totals totals;
	struct tokdoc_totals token_totals;
	struct frame_trailer trailer;
	bool whole;			/* not stopped before the end */

	/* private */
	struct frame_reader *frame;
	uint64_t blocks;
	bool instances_begun;
	atomic_bool stop;
};

int scan_run(struct scan *s);
void scan_release(struct scan *s);

/* Whether every byte of the file at PATH is as its checksums say: 1, 0, -1 failed */
int scan_is_sound(const char *path, unsigned threads);

/* Nothing more is needed: scan_run then gives 0 without having seen the end. For the callbacks. */
void scan_stop(struct scan *s);

/* The next token document of B: 1, 0 at the end, -1 failed. */
int scan_next(const struct scan *s, struct scan_block *b, struct tokdoc *d);

/* Puts before the reason that is set: the file, and the block or its instance or document RECORD. Returns -1. */
#define SCAN_BLOCK UINT32_MAX
int scan_place(const struct scan *s, const struct scan_block *b, uint32_t record);

#endif
