/*
 * verify_drafts.h - what each instance of a shard must be made of, drawn again: SHARD_OWN.
 *
 *	struct verify_drafts *d = verify_drafts_new(threads, memory);
 *	verify_drafts_add(d, &documents, &block)	(each block of lengths; DOCUMENTS is the table so far)
 *	verify_drafts_make(d, &header, &documents)	(once both are complete)
 *	verify_drafts_check(d, number, &instance)	(any thread)
 *	verify_drafts_end(d, &totals)
 *	verify_drafts_free(d);				(accepts NULL)
 *
 * Keys, lengths of sentences, recipe and seed are all that bert-shard draws instances by, and the same code draws them
 * here. So an instance that was left out, added, moved or made otherwise is found, though every
 * checksum and every count agrees. Whatever is wrong is EXIT_CORRUPT; the reasons name no file.
 *
 * Memory: 72 bytes an instance, 170 a document, 4 a sentence: MEMORY at most, else it is not looked at (EXIT_FAILED). So is it
 * with a shard whose sentences drop or cut far more than instances that MEMORY holds would: a kilobyte can ask for years of that.
 */
#ifndef SHARDS_VERIFY_DRAFTS_H
#define SHARDS_VERIFY_DRAFTS_H

#include "base/frame.h"
#include "shards/documents.h"
#include "shards/instance.h"
#include "shards/shard.h"

#include <stdint.h>

struct verify_drafts;
struct verify_drafts *verify_drafts_new(unsigned threads, uint64_t memory);	/* NULL: reason set */
int verify_drafts_add(struct verify_drafts *d, const struct documents *t, const struct frame_block *b);
int verify_drafts_make(struct verify_drafts *d, const struct shard_header *h, const struct documents *t);
int verify_drafts_check(const struct verify_drafts *d, uint64_t number, const struct instance *i);
int verify_drafts_end(const struct verify_drafts *d, const struct shard_totals *t);
void verify_drafts_free(struct verify_drafts *d);

#endif
