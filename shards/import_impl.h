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

/* R as an instance, everything it says checked; with its masks put back. */
int import_lay(struct laying *l, const struct row *r);

#endif
