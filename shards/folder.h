/*
 * folder.h - the files of a folder of shards: the shards in order, the
 * vocabulary beside them.
 */
#ifndef SHARDS_FOLDER_H
#define SHARDS_FOLDER_H

#include "shards/shard.h"
#include "tokenizer/vocab.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FOLDER_VOCAB "vocab.txt"

/*
 * The shard files that PATH means: of a folder, those that its manifest lists,
 * or where there is none all named *.shard, in order; of anything else PATH
 * itself. A folder without any fails. The caller frees by fs_free_names.
 */
int folder_shards(const char *path, char ***paths, size_t *n);

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

/* Whether V is the vocabulary that TOKENIZER names. */
bool folder_vocab_is(const struct vocab *v, const json_t *tokenizer);

#endif
