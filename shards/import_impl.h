/* import_impl.h - what the import*.c files share and nobody else includes. */
#ifndef SHARDS_IMPORT_IMPL_H
#define SHARDS_IMPORT_IMPL_H

#include "base/buf.h"
#include "shards/import_rows.h"
#include "shards/instance.h"
#include "shards/shard.h"

/* Where rows become instances, one after the other. */
struct laying {
	const struct shard_recipe *recipe;
	uint32_t max_predictions;	/* of a row: the recipe's are no more than tokens */
	struct instance instance;
	uint64_t offset;		/* tokens of the file before the next one */
	struct buf ids;			/* of all so far, without masks: u32 */
};
int import_laying_init(struct laying *l, const struct shard_recipe *recipe, uint32_t max_predictions);
void import_laying_release(struct laying *l);

/*
 * Makes FOLDER ready for shards of what IDENTITY tells of, and notes that there, so that a run that was killed can be
 * gone on with; or refuses one that holds shards of anything else, finished ones too, or in which another run is at
 * work. *LOCK, -1 before, is to be closed in the end, also on failure, unless it is -1 still.
 */
int import_claim(const char *folder, const json_t *identity, int *lock);
int import_finished(const char *folder);		/* the manifest is there: nothing is to be gone on with */
/* Whether a run before made the shard at PATH with HEADER, every byte of it: 1, 0, -1 failed */
int import_kept(const char *path, const char *header, unsigned threads);

/* What a file with these first bytes looks like that can not be imported, in words that end a sentence; NULL: unknown. */
const char *import_kind(const char *head, size_t n);

/* R as an instance, everything it says checked; with its masks put back. */
int import_lay(struct laying *l, const struct row *r);

#endif
