/*
 * manifest.h - manifest.json: what a folder of shards was made from, and what
 * is in it. Written last, when every shard is whole, and the same whoever
 * writes it.
 */
#ifndef SHARDS_MANIFEST_H
#define SHARDS_MANIFEST_H

#include "shards/shard.h"
#include "shards/tokdoc.h"

#define MANIFEST_NAME "manifest.json"
#define MANIFEST_VERSION 1

struct manifest_input {
	char *name;			/* as given; "-": standard input */
	uint64_t bytes;			/* of the file; 0 for a stream */
	struct key sample;		/* a hash of pieces of it, to know it again (input.h); 0 for a stream */
	uint64_t documents;		/* that begin in it */
	struct key keys;		/* the sum of their keys modulo 2^128 */
};

struct manifest_shard {
	char *name;			/* NULL: the usual one, see manifest_shard_name */
	uint64_t bytes;			/* of the file */
	uint64_t instances, documents;
	struct key digest;		/* content digest (base/frame.h) */
};

struct manifest {
	char *made_by;			/* "berttools 0.1.0" */
	struct shard_recipe recipe;
	/* What bert-shard was asked beside the recipe: compress, name, shard_size, shards */
	json_t *options;
	struct manifest_input *inputs;
	size_t n_inputs;
	struct manifest_shard *shards;	/* [n_shards], in order */
	size_t n_shards;
	struct key corpus;
	uint64_t corpus_documents;
	struct shard_totals totals;
};

/*
 * The name of shard K: its own, or of NAME in the options shard_file_name's, in ROOM. Those that are read, or written by
 * who follows its options, are the usual ones, and 48 bytes are all that a shard takes.
 */
#define MANIFEST_ROOM 256
const char *manifest_shard_name(const struct manifest *m, size_t k, char room[MANIFEST_ROOM]);

/*
 * Reads FOLDER/manifest.json. *M is set to NULL with return 0 when there is none. One of which any
 * value was changed is refused (EXIT_CORRUPT): it holds a digest of itself. So is one of which any byte was: it is
 * canonical JSON (shards/canon.h). While it is read its text is in memory, too, 130 bytes a shard; of JSON one shard at a time.
 */
int manifest_load(struct manifest **m, const char *folder);
int manifest_parse(struct manifest **m, const char *text, size_t len);
/*
 * Whether FOLDER's manifest, which cannot be loaded (EXIT_CORRUPT), is so because another version wrote it: a higher
 * number, or a digest that is right. 1, 0 it is damaged, -1 failed.
 */
int manifest_is_foreign(const char *folder);
int manifest_save(const struct manifest *m, const char *folder);
void manifest_free(struct manifest *m);			/* accepts NULL */

#endif
