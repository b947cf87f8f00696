/*
 * shelf.h - open shards, so many at most, for all threads that read.
 *
 *	struct shelf *s = shelf_new(files, memory);
 *	struct shelf_place place = SHELF_PLACE_INIT;		(one for each shard there is)
 *	const struct shelf_shard *open = shelf_take(s, &place, fill, ctx);	(NULL: failed)
 *	... open->shard, open->documents
 *	shelf_give(s, &place);
 *	shelf_remove(s, &place);				(nobody has it)
 *	shelf_free(s);
 *
 * A shard that was given back stays open until others need its room: the one whose
 * last use is longest ago goes first. Beside FILES and MEMORY there may be what is
 * in use right now: one shard for each thread.
 *
 * Two threads that want one shard open it once; those that want others do not
 * wait for them.
 */
#ifndef SHARDS_SHELF_H
#define SHARDS_SHELF_H

#include "shards/documents.h"
#include "shards/shard.h"

#include <stdbool.h>
#include <stddef.h>

struct shelf_shard {
	struct shard *shard;
	struct documents documents;	/* where masks are drawn */
};

/* There may be a million: 16 bytes, and the rest while the shard is open. */
struct shelf_open;
struct shelf_place {
	struct shelf_open *open;	/* NULL: it is not */
	unsigned users;
	bool opening;
};
#define SHELF_PLACE_INIT { .open = NULL }

struct shelf;
/* FILES is less where the process may open few (a quarter of RLIMIT_NOFILE). NULL: reason set. */
struct shelf *shelf_new(size_t files, size_t memory);

/* FILL makes *OPEN, which is empty; on failure it leaves there what shelf is to release. */
const struct shelf_shard *shelf_take(struct shelf *s, struct shelf_place *p,
				     int (*fill)(void *ctx, struct shelf_shard *open), void *ctx);
void shelf_give(struct shelf *s, struct shelf_place *p);
void shelf_remove(struct shelf *s, struct shelf_place *p);

struct shelf_counts {
	size_t open;			/* shards */
	size_t bytes;			/* that they hold */
	uint64_t opened;		/* shards so far, each as often as it was */
	uint64_t mapped;		/* of these */
};
struct shelf_counts shelf_counts(struct shelf *s);
void shelf_free(struct shelf *s);	/* accepts NULL; after all places were removed */

#endif
