/*
 * folder.h - the files of a folder of shards: the shards in order, the
 * vocabulary beside them.
 */
#ifndef SHARDS_FOLDER_H
#define SHARDS_FOLDER_H

#include "shards/manifest.h"
#include "shards/shard.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/vocab.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FOLDER_VOCAB "vocab.txt"

/*
 * The shard files that PATH means: of a folder, those that its manifest lists, or where there is none all named
 * *.shard, in order; of anything else PATH itself. A folder that does not hold all of its shards, each with the bytes
 * that the manifest says, is refused: with EXIT_FAILED where some are missing, with EXIT_CORRUPT where all are there
 * and some of another size. For that no file but the first is opened, and none where there is a manifest: 100,000 of them
 * are asked for their size in less time than it takes to read their list. What is in each, folder_set_check sees when it is opened. The caller frees by fs_free_names.
 */
int folder_shards(const char *path, char ***paths, size_t *n);

/* The same for who can use a part: those that are there, and in LACKS, which is empty otherwise, why they are not all. */
int folder_shards_there(const char *path, char ***paths, size_t *n, struct buf *lacks);

/* Refuses FOLDER unless it holds the shards of its manifest M: folder_shards for who has read it already. */
int folder_check(const char *folder, const struct manifest *m);

/*
 * What is known of the shards of one folder once one was opened. Each has its place in it, once, and all say the same but
 * for their number: recipe, corpus, how many.
 */
struct folder_set {
	size_t n;			/* of them; 0: a file by itself, or not all are there: nothing is checked */
	char *header;			/* of the first that was opened, as shard 0 */
};

/* Refuses (EXIT_CORRUPT) shard PATH with header H unless it is number K of the set. */
int folder_set_check(struct folder_set *s, const char *path, size_t k, const struct shard_header *h);
void folder_set_release(struct folder_set *s);

/* Of this the part that needs no other shard: H is that of number K of N. */
int folder_check_place(const char *path, size_t k, size_t n, const struct shard_header *h);

/* The names of all files in FOLDER that end in ".shard", in order, maybe none. The caller frees by fs_free_names. */
int folder_names(const char *folder, char ***names, size_t *n);

bool folder_is(const char *path);	/* whether PATH is a folder */
bool folder_holds(const char *folder, const char *path);	/* whether the file PATH leads to lies in FOLDER */
char *folder_of(const char *path);	/* a copy of PATH where it is one, else of the folder that it stands in; NULL: reason set */

/* Bytes of the files PATHS and of the shards in those that are folders, as far as known: for progress. */
uint64_t folder_bytes(const char *const *paths, int n);

/* Whether the last part of PATH is a name such as "X-00003-of-00016.shard": shard 3 of 16. */
bool folder_parse_name(const char *path, uint32_t *shard, uint32_t *shards);

/*
 * Puts the vocabulary that TOKENIZER (of a header) names into *V, which holds
 * NULL or one that was loaded before and is kept where it is the same: GIVEN,
 * which must be it; or where that is NULL, vocab.txt in the folder of BESIDE,
 * *V being NULL where that is absent or another. The caller frees *V.
 */
int folder_vocab(struct vocab **v, const char *given, const char *beside, const json_t *tokenizer);

/*
 * Sets R->words.list, where R lists words and VOCAB, R's, is not NULL, to *W, which is loaded from the folder of BESIDE
 * unless it holds those words already. Both become NULL where the file is absent or another. The caller frees *W.
 */
int folder_words(struct mask_words **w, const char *beside, struct shard_recipe *r, const struct vocab *vocab);

/* The vocabulary that T names, as it stands, becomes FOLDER's. */
int folder_copy_vocab(const char *folder, const struct tokenizer_opts *t);

/* Whether V is the vocabulary that TOKENIZER names. */
bool folder_vocab_is(const struct vocab *v, const json_t *tokenizer);

#endif
