#include "tokenizer/learn_count.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/jsonl_documents.h"
#include "base/pool.h"
#include "tokenizer/word_counts.h"

#include <assert.h>
#include <stdlib.h>

#define BLOCK (256 << 10)	/* bytes of lines handed to a thread at once */
#define KEPT (4 << 20)		/* bytes of JSON lines' memory kept from one block for the next */

struct block {
	struct buf text;		/* lines, each ended by \n */
	struct jsonl_batch json;	/* in place of these */
};

static_assert(LEARN_WORD_MAX == WORD_COUNTS_WHOLE, "words that are cut are those that nothing is learnt from");

struct worker {
	struct normalizer *normalizer;
	uint64_t all, repaired;
};

struct state {
	struct learn_count *c;
	struct worker *workers;
	unsigned n_workers;
	struct word_counts *counts;
	uint64_t lines;
};

/* --- counting --------------------------------------------------------------------- */

static int read_lines(struct state *st, struct buf *text)
{
	struct line line;
	int rc = 0;

	buf_clear(text);
	while (text->len < BLOCK && (rc = lines_next(st->c->lines, &line)) > 0) {
		st->lines++;
		if (buf_add(text, line.text, line.len) || buf_add_byte(text, '\n'))
			return -1;
	}
	return rc < 0 ? -1 : text->len > 0;
}

static int read_block(void *ctx, void *item)
{
	struct state *st = ctx;
	struct block *b = item;
	const int rc = st->c->jsonl ? jsonl_batch_read(&b->json, st->c->lines, BLOCK) : read_lines(st, &b->text);
	uint64_t total;

	st->lines += b->json.n;
	if (rc > 0 && st->c->progress)
		progress_update(st->c->progress, st->lines, lines_progress(st->c->lines, &total));
	return rc;
}

static int count_text(struct state *st, unsigned worker, const struct buf *text)
{
	struct worker *w = &st->workers[worker];
	struct words batch;
	int rc;

	normalizer_start(w->normalizer, text->data, text->len, false);
	while ((rc = normalizer_next(w->normalizer, &batch)) > 0) {
		if (word_counts_add_batch(st->counts, worker, &batch))
			return -1;
		w->all += batch.count;
	}
	return rc;
}

static int work_block(void *ctx, void *item, unsigned worker)
{
	struct state *st = ctx;
	struct worker *w = &st->workers[worker];
	struct block *b = item;

	if (!st->c->jsonl)
		return count_text(st, worker, &b->text);
	if (jsonl_batch_parse(&b->json, &(struct jsonl_how){ .strict = st->c->strict }) ||
	    (b->json.docs.count && count_text(st, worker, &b->json.docs.text)))
		return -1;
	w->repaired += b->json.repaired;
	if (jsonl_batch_memory(&b->json) > KEPT)	/* a giant among documents */
		jsonl_batch_release(&b->json);
	return 0;
}

static void release_block(struct block *b)
{
	buf_release(&b->text);
	jsonl_batch_release(&b->json);
}

static int count_lines(struct state *st)
{
	const unsigned depth = 2 * st->n_workers + 2;
	struct block *blocks = calloc(depth, sizeof(*blocks));
	struct pool pool = { .threads = st->n_workers, .depth = depth, .items = blocks, .item_size = sizeof(*blocks),
			     .read = read_block, .work = work_block, .ctx = st };
	int rc;

	if (!blocks)
		return err_memory();
	rc = pool_run(&pool);
	for (unsigned i = 0; i < depth; i++)
		release_block(&blocks[i]);
	free(blocks);
	return rc;
}

/* Nothing is learnt from words that are too long, but how often the commonest of them occurs may matter (learn_words_note). */
static int add_word(void *ctx, const struct counted_word *word)
{
	struct learn_words *out = ctx;

	if (word->whole == word->len)
		return learn_words_add(out, word->text, word->len, word->count);
	learn_words_note(out, word->count);
	return 0;
}

static int open_workers(struct state *st)
{
	st->workers = calloc(st->n_workers, sizeof(*st->workers));
	if (!st->workers)
		return err_memory();
	for (unsigned k = 0; k < st->n_workers; k++) {
		st->workers[k].normalizer = normalizer_new(&st->c->normalizer);
		if (!st->workers[k].normalizer)
			return -1;
	}
	return word_counts_open(&st->counts, st->c->memory, st->n_workers);
}

static void close_state(struct state *st)
{
	for (unsigned k = 0; st->workers && k < st->n_workers; k++)
		normalizer_free(st->workers[k].normalizer);
	free(st->workers);
	word_counts_close(st->counts);
}

int learn_count_run(struct learn_count *c, struct learn_words *w)
{
	struct state st = { .c = c, .n_workers = c->threads ? c->threads : 1 };
	int rc;

	assert(c->memory >= LEARN_MEMORY_LEAST);
	c->words = c->long_words = c->repaired = c->spilled = 0;
	learn_words_init(w, c->memory - LEARN_MEMORY_FIXED);
	rc = open_workers(&st) || count_lines(&st) ? -1 : 0;
	for (unsigned k = 0; !rc && k < st.n_workers; k++) {
		c->words += st.workers[k].all;
		c->repaired += st.workers[k].repaired;
	}
	if (!rc) {
		c->long_words = word_counts_cut(st.counts);
		rc = word_counts_each(st.counts, add_word, w);
		c->spilled = word_counts_spilled(st.counts);
	}
	close_state(&st);
	if (rc)
		learn_words_release(w);
	return rc;
}
