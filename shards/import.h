/*
 * import.h - other programs' instances to a folder of shards.
 *
 *	struct import i = { .folder = "out", .files = files, .n = n, .tokenizer = { .vocab = "vocab.txt" }, ... };
 *	import_run(&i)
 *
 * FILES are TFRecord files as create_pretraining_data.py writes them, or HDF5
 * files as NVIDIA's scripts do (HAVE_HDF5); which, their first bytes tell. Each
 * becomes a shard. They are read twice: everything is checked, the checksums of TFRecord with it, and
 * nothing is written before that; a third time where it is not known from the first rows whether instances are pairs.
 *
 * A run that is given again after a kill keeps the shards that are whole, once it has checked that the files are
 * the same.
 *
 * What they do not say stays unknown: the shards' rules are SHARD_IMPORTED
 * (shards/FORMAT.md, "Imported instances"), and each has one document, the file.
 */
#ifndef SHARDS_IMPORT_H
#define SHARDS_IMPORT_H

#include "base/progress.h"
#include "shards/shard.h"
#include "tokenizer/tokenizer.h"

enum import_pairs { IMPORT_AUTO, IMPORT_NSP, IMPORT_SOP, IMPORT_NONE };

struct import {
	const char *folder;
	const char *const *files;
	size_t n;
	struct tokenizer_opts tokenizer;
	int pairs;			/* enum import_pairs; auto: nsp, or none where no instance has a token of type 1 */
	unsigned compress;		/* zstd level; 0: raw */
	unsigned threads;		/* 0 is 1; the shards do not depend on it */
	const char *name;		/* of the shards */
	const char *made_by;
	struct progress *progress;	/* may be NULL */
	/* filled */
	uint64_t instances, kept;	/* of all shards; shards that a run before had made */
};
int import_run(struct import *i);

#endif
