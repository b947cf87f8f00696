/*
 * tokdoc_cells.h - where in a sorted file of token documents each stretch of
 * keys stands: for files of which many readers take a little each.
 *
 * The ring of all keys is cut into CELLS equal stretches (keys.h). No block holds documents of two of them, so whoever
 * reads one, or several, reads whole blocks and nothing else. A block of type 2, the file's last and never packed,
 * says for each cell where its blocks begin; each entry has a checksum of its own, so that two are read, not all.
 * Nothing that a reader keeps grows with the file.
 *
 *	entry	16 bytes, one for each cell and one for the end of the last: u64 offset of the cell's first block, or of
 *		what follows, u64 XXH3-64 of these 8 bytes, seeded by the entry's number
 *	foot	32 bytes: u64 cells, the key of whose file it is (16), u64 XXH3-64 of the 24 bytes before
 *
 * Writing: tokdoc_writer_cells (tokdoc.h). Reading:
 *
 *	struct tokdoc_cells *c;
 *	tokdoc_cells_open(&c, path, owner)		(EXIT_FAILED: it is another's)
 *	tokdoc_cells_find(c, shard, shards, &s)		(all documents of the shard are in S, and few others)
 *	while ((rc = tokdoc_cells_next(c, &s, &block)) > 0) ...
 *	tokdoc_cells_close(c);				(accepts NULL)
 *
 * All but opening is thread-safe. What is wrong with the file is EXIT_CORRUPT.
 */
#ifndef SHARDS_TOKDOC_CELLS_H
#define SHARDS_TOKDOC_CELLS_H

#include "base/frame_stretch.h"
#include "base/key.h"

#include <stdint.h>

#define TOKDOC_CELLS_TYPE 2
#define TOKDOC_CELLS_ENTRY 16
#define TOKDOC_CELLS_MAX (1 << 26)

struct tokdoc_cells;
int tokdoc_cells_open(struct tokdoc_cells **c, const char *path, struct key owner);
int tokdoc_cells_find(const struct tokdoc_cells *c, uint32_t shard, uint32_t shards, struct frame_stretch *s);
/* 1, 0 at the end, -1 failed */
int tokdoc_cells_next(const struct tokdoc_cells *c, struct frame_stretch *s, struct frame_block *b);
const char *tokdoc_cells_name(const struct tokdoc_cells *c);
void tokdoc_cells_close(struct tokdoc_cells *c);

/* Of the block of type 2: what tokdoc_file.c gathers while it writes. */
struct tokdoc_cells_list {
	uint32_t cells;			/* 0: none are wanted */
	uint32_t next;			/* the first cell whose place is not known yet */
	struct buf entries;
};
/* A block that begins with KEY is to stand at OFFSET. */
int tokdoc_cells_reach(struct tokdoc_cells_list *l, struct key k, uint64_t offset);
/* No block comes any more. */
int tokdoc_cells_finish(struct tokdoc_cells_list *l, struct key owner, uint64_t offset);

#endif
