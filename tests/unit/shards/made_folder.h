/*
 * A whole folder of the shards of made_shard.h: shards, vocab.txt, manifest.json. A test has
 * one of its own, made_set in the fresh folder made_top:
 *
 *	return cmocka_run_group_tests(tests, made_open, made_close);
 */
#ifndef TESTS_MADE_FOLDER_H
#define TESTS_MADE_FOLDER_H

#include "shards/manifest.h"
#include "tests/unit/shards/made_shard.h"

enum { MADE_SHARDS = 3 };

static char made_top[] = "/tmp/bert-test-folder-XXXXXX", made_set[64];

static inline int made_open(void **state)
{
	(void)state;
	if (!mkdtemp(made_top))
		return -1;
	snprintf(made_set, sizeof(made_set), "%s/set", made_top);
	return 0;
}

static inline int made_close(void **state)
{
	(void)state;
	return fs_remove_tree(made_top);
}

/* The path of shard K in FOLDER; good until the next call. */
static inline const char *made_path(const char *folder, uint32_t k)
{
	static char path[256];
	char name[64];

	shard_file_name(name, sizeof(name), "shard", k, MADE_SHARDS);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

/* The corpus that MADE_SHARDS shards come from. */
static inline struct key made_corpus(void)
{
	struct key sum = { 0, 0 };

	for (uint32_t k = 0; k < MADE_SHARDS; k++)
		for (uint32_t d = 0; d < MADE_DOCUMENTS; d++)
			sum = key_add(sum, made_document(&(struct made){ .shard = k, .shards = MADE_SHARDS }, d).key);
	return sum;
}

static inline void made_manifest(const char *folder, struct manifest *m)
{
	static struct manifest_shard shards[MADE_SHARDS];
	static char names[MADE_SHARDS][64];

	for (uint32_t k = 0; k < MADE_SHARDS; k++) {
		struct shard *s;

		assert_int_equal(shard_open(&s, made_path(folder, k)), 0);
		shard_file_name(names[k], sizeof(names[k]), "shard", k, MADE_SHARDS);
		shards[k] = (struct manifest_shard){ .name = names[k], .bytes = shard_trailer(s)->file_bytes,
						     .instances = shard_instances(s),
						     .documents = MADE_DOCUMENTS,
						     .digest = { shard_trailer(s)->digest_hi,
								 shard_trailer(s)->digest_lo } };
		shard_close(s);
	}
	m->shards = shards;
	m->n_shards = MADE_SHARDS;
	assert_int_equal(manifest_save(m, folder), 0);
}

/* Makes FOLDER anew. LIKE says what all shards have in common. */
static inline void made_folder(const char *folder, const struct made *like)
{
	static char made_by[] = "test", input[] = "text";
	struct manifest_input in = { .name = input, .documents = MADE_SHARDS * MADE_DOCUMENTS, .keys = made_corpus() };
	struct manifest m = { .made_by = made_by, .inputs = &in, .n_inputs = 1, .corpus = in.keys,
			      .corpus_documents = in.documents };
	struct vocab *vocab;
	char vocab_path[256];

	assert_int_equal(fs_remove_tree(folder), 0);
	assert_int_equal(fs_make_folder(folder), 0);
	snprintf(vocab_path, sizeof(vocab_path), "%s/vocab.txt", folder);
	made_vocab(vocab_path);
	for (uint32_t k = 0; k < MADE_SHARDS; k++) {
		struct made one = *like;

		one.shard = k;
		one.shards = MADE_SHARDS;
		one.corpus = in.keys;
		one.corpus_documents = in.documents;
		made_shard(made_path(folder, k), vocab_path, &one, &m.totals, NULL);
	}
	assert_int_equal(vocab_load(&vocab, vocab_path), 0);
	m.recipe = made_recipe(like, vocab);
	m.options = json_pack("{s:i, s:s, s:i, s:n}", "compress", 1, "name", "shard", "shards", MADE_SHARDS, "shard_size");
	assert_non_null(m.options);
	made_manifest(folder, &m);
	json_decref(m.options);
	json_decref(m.recipe.tokenizer);
	vocab_free(vocab);
}

#endif
