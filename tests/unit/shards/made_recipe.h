/*
 * What made shards (made_shard.h) are made of: how many, which lie, vocabulary and recipe.
 */
#ifndef TESTS_MADE_RECIPE_H
#define TESTS_MADE_RECIPE_H

#include "base/err.h"
#include "base/fs.h"
#include "base/rng.h"
#include "shards/canon.h"
#include "shards/keys.h"
#include "shards/lengths.h"
#include "shards/shard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { MADE_VOCAB = 200, MADE_DOCUMENTS = 12, MADE_TOKENS = 100, MADE_PASSES = 3, MADE_BLOCK = 8,
       MADE_INSTANCES_MAX = 1000 };

enum made_lie {
	LIE_NONE, LIE_KEY_ELSEWHERE, LIE_DOCUMENT_ORDER, LIE_OCCURRENCE, LIE_ORDER, LIE_TWICE, LIE_BEYOND,
	LIE_SAME_DOCUMENT, LIE_NOT_NEXT, LIE_REPEATED, LIE_MASK_POSITION, LIE_MASK_ID, LIE_COUNT, LIE_TRUNCATED,
	LIE_DROPPED, LIE_SHORT_BLOCK, LIE_NO_RANDOM, LIE_NOT_BEGUN,
	LIE_NO_LENGTHS, LIE_FEWER_LENGTHS, LIE_MORE_LENGTHS, LIE_CUT_LENGTHS, LIE_LENGTHS_LEFT, LIE_ZERO_LENGTH, LIE_OTHER_LENGTHS, LIE_LATE_LENGTHS,
};

struct made {
	uint32_t shard, shards;
	bool dynamic, whole_word;
	bool switches;			/* random nexts of the same document, other shares */
	bool read_as;			/* two ids as others, which the vocabulary does not have be so */
	uint64_t seed;
	enum made_lie lie;
	struct key corpus;		/* 0: of this shard alone */
	uint64_t corpus_documents;
};

/* vocab.txt: five special tokens, then words, every third with a continuation. */
static inline void made_vocab(const char *path)
{
	struct buf b = BUF_INIT;

	assert_int_equal(buf_adds(&b, "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n"), 0);
	for (unsigned k = 5; k < MADE_VOCAB; k++)
		assert_int_equal(buf_addf(&b, "%sw%u\n", k % 3 ? "" : "##", k), 0);
	assert_int_equal(fs_write_all(path, b.data, b.len), 0);
	buf_release(&b);
}

static inline struct shard_recipe made_recipe(const struct made *m, const struct vocab *vocab)
{
	static struct id_range never[] = { { 0, 4 } };
	static struct read_as runs[] = { { 20, 21, 10 } };

	return (struct shard_recipe){
		.tokenizer = json_pack("{s:i, s:{s:s, s:i}}", "id_bytes", 2, "vocab", "sha256", vocab_sha256(vocab),
				       "size", MADE_VOCAB),
		.vocab_size = MADE_VOCAB, .special = vocab_special(vocab), .never = never, .n_never = 1,
		.max_seq_length = 23, .max_predictions_per_seq = 8, .dupe_factor = m->dynamic ? 1 : MADE_PASSES,
		.masked_lm_prob = 0.15, .short_seq_prob = 0, .whole_word_mask = m->whole_word,
		.masking = m->dynamic ? SHARD_DYNAMIC : SHARD_STATIC, .pairs = SHARD_NSP, .seed = m->seed,
		.same_document_next = m->switches, .shares = { .given = m->switches, .mask = 0.5, .random = 0.25 },
		.read_as = runs, .n_read_as = m->read_as,
	};
}

#endif
