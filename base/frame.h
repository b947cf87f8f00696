/*
 * frame.h - framed binary files: header, blocks of records, index, trailer.
 *
 * The frame of token documents (.tok), shards (.shard) and the work files
 * between them; shards/FORMAT.md specifies every byte. A reader notices any
 * flipped bit, a cut, a missing trailer (on pipes too) and bytes after the end:
 * all are EXIT_CORRUPT, with file and offset in the reason.
 *
 * Writing (one thread; frame_pack may run on many):
 *
 *	struct frame_writer *w;
 *	frame_create(&w, out, "TOKD", header, header_len)	(JSON)
 *	frame_pack(raw, n, level, &packed)			(zstd, level 1 to 19; 0: stays raw)
 *	frame_add(w, type, records, raw, n, &packed)
 *	frame_finish(w, totals, totals_len)			(JSON; index, trailer; frees w; then out_commit)
 *
 * OUT stays the caller's, who discards it when any of these fails. A terminal is refused.
 *
 * Reading in sequence, from a pipe or a packed file too:
 *
 *	struct frame_reader *r;
 *	frame_open(&r, in, "TOKD")			(owns IN from here on, even on failure)
 *	while ((rc = frame_next(r, &block)) > 0) ...	(0 only once the trailer was found good)
 *	frame_totals(r), frame_trailer(r)		(once frame_next gave 0)
 *	frame_close(r)					(at any time: a reader may stop early)
 *
 * It finds, beyond flipped bits, what has good checksums but does not add up:
 * counts, sizes, digests, an index that tells of other blocks.
 *
 * Reading by record:
 *
 *	frame_open_file(&r, path, "SHRD")		(regular files; index and trailer are read and checked first)
 *	frame_find(r, type, record) -> block number
 *	frame_read(r, number, &block)			(thread-safe: into the caller's block)
 *
 * Opening a file takes two requests, a block one: whole blocks are read, nothing beside them. frame_read_span reads
 * blocks that follow each other by the megabyte. frame_open_access opens for maps and for blocks in no order (base/file_view.h).
 *
 * This checks all it reads, but neither the file's checksum nor the content digest: only
 * reading in sequence does. KIND NULL takes any kind, which frame_reader_kind then tells.
 *
 * Record boundaries inside a block are the kind's own business.
 */
#ifndef BASE_FRAME_H
#define BASE_FRAME_H

#include "base/buf.h"
#include "base/in.h"
#include "base/out.h"

#include <stdbool.h>
#include <stdint.h>

#define FRAME_VERSION 1
#define FRAME_MAGIC_LEN 8
extern const unsigned char frame_magic[FRAME_MAGIC_LEN];	/* for sniffing */

/* A block as it was written; memory is reused by the next read into it. */
struct frame_block {
	unsigned type;			/* the kind's own; 0 = main records */
	uint32_t records;
	uint64_t first_record;		/* number of its first record among those of its type */
	struct buf raw;			/* the records */
	struct buf packed;		/* scratch */
};
#define FRAME_BLOCK_INIT { 0, 0, 0, BUF_INIT, BUF_INIT }
void frame_block_release(struct frame_block *b);

struct frame_trailer {
	uint64_t blocks, records;	/* records: of type 0 */
	uint64_t raw_bytes, packed_bytes;	/* of all blocks */
	uint64_t digest_hi, digest_lo;	/* content digest: XXH3-128 of all raw bytes in order */
	uint64_t file_bytes;
};

struct frame_writer;
int frame_create(struct frame_writer **w, struct out *o, const char kind[4], const char *header, size_t len);
/* PACKED is replaced; its len 0 says "stays raw". */
int frame_pack(const void *raw, size_t n, int level, struct buf *packed);
int frame_add(struct frame_writer *w, unsigned type, uint32_t records, const void *raw, size_t n,
	      const struct buf *packed);
uint64_t frame_offset(const struct frame_writer *w);	/* of the next block in the file */
int frame_finish(struct frame_writer *w, const char *totals, size_t len);	/* frees W, also on failure */
void frame_abandon(struct frame_writer *w);					/* accepts NULL */

struct frame_reader;
int frame_open(struct frame_reader **r, struct in *in, const char kind[4]);
int frame_next(struct frame_reader *r, struct frame_block *b);			/* 1, 0 the good end, -1 failed */
int frame_open_file(struct frame_reader **r, const char *path, const char kind[4]);
#define FRAME_SPARING 256	/* in ACCESS: opening reads what it needs and nothing beside, with more requests; where files are many and small */
/* ACCESS: as in base/file_view.h */
int frame_open_access(struct frame_reader **r, const char *path, const char kind[4], unsigned access);
bool frame_mapped(const struct frame_reader *r);				/* it was to be, and is */
size_t frame_memory(const struct frame_reader *r);				/* bytes that it holds */
uint64_t frame_blocks(const struct frame_reader *r);				/* frame_open_file only */
uint64_t frame_records(const struct frame_reader *r, unsigned type);		/* frame_open_file only */
int frame_find(const struct frame_reader *r, unsigned type, uint64_t record, uint64_t *number);
int frame_read(const struct frame_reader *r, uint64_t number, struct frame_block *b);

/* Blocks FIRST .. END-1 as they stand in the file. */
struct frame_span {
	uint64_t first, end;
	struct buf bytes;
};
#define FRAME_SPAN_INIT { 0, 0, BUF_INIT }
/* As frame_read; a block that S does not hold is read with those after it, below END, a megabyte at a time. */
int frame_read_span(const struct frame_reader *r, struct frame_span *s, uint64_t number, uint64_t end, struct frame_block *b);
void frame_span_release(struct frame_span *s);

const char *frame_header(const struct frame_reader *r, size_t *len);
const char *frame_totals(const struct frame_reader *r, size_t *len);
const struct frame_trailer *frame_trailer(const struct frame_reader *r);
const char *frame_name(const struct frame_reader *r);
const char *frame_reader_kind(const struct frame_reader *r);			/* "TOKD", "SHRD", ... */
void frame_close(struct frame_reader *r);					/* accepts NULL */

/* Whether the stream IN begins with a frame (peeks). */
bool frame_sniff(struct in *in);

/* The kind of the framed file at PATH into KIND; -1 when it is none (EXIT_CORRUPT) or cannot be read. */
int frame_kind(const char *path, char kind[5]);

/* The format version of the file at PATH, also one that this program does not read; 0: it is no framed file, or damaged. */
int frame_version(const char *path);

#endif
