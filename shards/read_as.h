/*
 * read_as.h - ids that stand in shards as others than trainers get: pieces of Chinese words.
 *
 *	read_as_plain_cjk(&runs, &n, vocab)	(what bert-shard --plain-cjk writes into the recipe)
 *	read_as_apply(runs, n, &instance)	(by whoever gives instances away, once their masks are drawn)
 *
 * In BERT's Chinese vocabulary each character stands twice: by itself, and after ## as the piece of a word that
 * it continues. Models are trained on the former. Token documents of words that a segmenter has cut have the latter, which
 * tell whole words where the text was; so do the shards made of them, until they are read.
 */
#ifndef SHARDS_READ_AS_H
#define SHARDS_READ_AS_H

#include "shards/instance.h"
#include "tokenizer/vocab.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The ids FIRST..LAST, both included, are read as TO and those after it. */
struct read_as {
	uint32_t first, last, to;
};

/*
 * The ids of VOCAB whose token is ## and one Chinese character that is a token without ## too: ascending, apart, as few
 * runs as may be, none of whose targets is in a run. The caller frees *RUNS. EXIT_FAILED: there are none.
 */
int read_as_plain_cjk(struct read_as **runs, size_t *n, const struct vocab *vocab);

/* What ID is read as; itself where no run has it. RUNS ascend. */
uint32_t read_as_id(const struct read_as *runs, size_t n, uint32_t id);

/* Whether any run has an id of FIRST..LAST. */
bool read_as_meets(const struct read_as *runs, size_t n, uint32_t first, uint32_t last);

/* All ids of I, and its labels. */
void read_as_apply(const struct read_as *runs, size_t n, struct instance *i);

#endif
