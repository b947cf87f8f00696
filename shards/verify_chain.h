/*
 * verify_chain.h - whether create_pretraining_data's instances (SHARD_GOOGLE) go through their documents from the first token to
 * the last, in every pass: what shows that some were left out, though every checksum agrees.
 *
 *	struct verify_chain *c = verify_chain_new(&recipe, threads);
 *	verify_chain_note(&instance, &links)		(any thread: what is kept of it, added to LINKS)
 *	verify_chain_add(c, documents, &links)		(of a table of so many; one thread at a time)
 *	verify_chain_check(c, &table)			(once those of all shards were added)
 *	verify_chain_free(c);				(accepts NULL)
 *
 * All draws come from one generator there, so that none can be made again without all documents. But an
 * instance that is not of full length lost nothing, and the next one of its document and pass begins where it ends; of one that
 * is, the lengths of the two segments tell which was cut, always the longer. So of most instances it is known where the next one begins, and of
 * the others from where on: instances that are missing in a row show, one alone not always.
 *
 * Memory: 45 bytes an instance, up to 256 MiB; more is sorted in $TMPDIR.
 */
#ifndef SHARDS_VERIFY_CHAIN_H
#define SHARDS_VERIFY_CHAIN_H

#include "base/buf.h"
#include "shards/documents.h"
#include "shards/instance.h"
#include "shards/shard.h"

#include <stddef.h>

struct verify_chain;
struct verify_chain *verify_chain_new(const struct shard_recipe *r, unsigned threads);
int verify_chain_note(const struct instance *i, struct buf *links);
int verify_chain_add(struct verify_chain *c, size_t documents, const char *links, size_t bytes);
int verify_chain_check(struct verify_chain *c, const struct documents *t);	/* a broken chain is EXIT_CORRUPT */
void verify_chain_free(struct verify_chain *c);

#endif
