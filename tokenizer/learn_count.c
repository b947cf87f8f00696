#include "tokenizer/learn_count.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/jsonl_documents.h"
#include "base/pool.h"
#include "base/spill.h"
#include "base/utf8.h"
#include "tokenizer/learn_table.h"

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define BLOCK (256 << 10)	/* bytes of lines handed to a thread at once */
#define KEPT (4 << 20)		/* bytes of JSON lines' memory kept from one block for the next */

struct block {
	struct buf text;		/* lines, each ended by \n */
	struct jsonl_batch json;	/* in place of these */
};

/* What one thread has counted since it last spilled. */
struct worker {
	struct normalizer *normalizer;
	struct learn_table words;
	uint64_t all, too_long, repaired;
};

struct state {
	struct learn_count *c;
	struct worker *workers;
	unsigned n_workers;
	size_t share;			/* bytes of a worker's table */
	struct spill *spill;		/* NULL until a table is full */
	pthread_mutex_t lock;		/* of SPILL and RECORD */
	struct buf record;
	uint64_t lines;
};

/* --- runs: a record is a count, then the word ------------------------------------ */

static const char *record_word(const void *record)
{
	return (const char *)record + sizeof(uint64_t);
}

static int compare_records(const void *a, size_t a_len, const void *b, size_t b_len, void *ctx)
{
	const size_t least = a_len < b_len ? a_len : b_len;
	const int c = memcmp(record_word(a), record_word(b), least - sizeof(uint64_t));

	(void)ctx;
	return c ? c : (a_len > b_len) - (a_len < b_len);
}

static uint64_t record_prefix(const void *record, size_t len, void *ctx)
{
	(void)ctx;
	return spill_prefix(record_word(record), len - sizeof(uint64_t));
}

static uint64_t record_count(const void *record)
{
	uint64_t count;

	memcpy(&count, record, sizeof(count));
	return count;
}

static void add_records(void *a, size_t a_len, const void *b, size_t b_len, void *ctx)
{
	const uint64_t sum = record_count(a) + record_count(b);

	(void)a_len;
	(void)b_len;
	(void)ctx;
	memcpy(a, &sum, sizeof(sum));
}

static int spill_words(struct state *st, const struct learn_table *words)
{
	const struct spill_opts o = { .memory = (size_t)(st->c->memory / 4), .threads = st->c->threads,
				      .compare = compare_records, .prefix = record_prefix, .combine = add_records };
	struct table_walk walk = { .slot = 0 };

	if (!st->spill && spill_open(&st->spill, &o))
		return -1;
	while (learn_table_next(words, &walk)) {
		buf_clear(&st->record);
		if (buf_add(&st->record, &walk.count, sizeof(walk.count)) || buf_add(&st->record, walk.word, walk.len) ||
		    spill_add(st->spill, st->record.data, st->record.len))
			return -1;
	}
	return 0;
}

/* --- words that are too long ------------------------------------------------------ */

/*
 * Nothing is learnt from them, but how often the commonest of them occurs may matter (learn_words_note). So they are
 * counted under a zero byte, which no word has, and a digest.
 */
#define DIGEST_LEN (1 + sizeof(XXH128_canonical_t))

static const char *digest_word(const char *word, size_t len, char digest[DIGEST_LEN])
{
	XXH128_canonical_t sum;

	XXH128_canonicalFromHash(&sum, XXH3_128bits(word, len));
	digest[0] = 0;
	memcpy(digest + 1, &sum, sizeof(sum));
	return digest;
}

static int add_word(struct learn_words *out, const char *word, size_t len, uint64_t count)
{
	if (word[0])
		return learn_words_add(out, word, len, count);
	learn_words_note(out, count);
	return 0;
}

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

static int count_longer(void *ctx, const char *word, size_t len)
{
	struct worker *w = ctx;
	char digest[DIGEST_LEN];

	if (len <= LEARN_WORD_MAX || utf8_count(word, len) <= LEARN_WORD_MAX)
		return learn_table_put(&w->words, word, len, 1);
	w->too_long++;
	return learn_table_put(&w->words, digest_word(word, len, digest), DIGEST_LEN, 1);
}

static int spill_worker(struct state *st, struct worker *w)
{
	int rc;

	pthread_mutex_lock(&st->lock);
	rc = spill_words(st, &w->words);
	pthread_mutex_unlock(&st->lock);
	return rc ? -1 : learn_table_restart(&w->words);
}

static int count_text(struct state *st, struct worker *w, const struct buf *text)
{
	struct words batch;
	int rc;

	normalizer_start(w->normalizer, text->data, text->len, false);
	while ((rc = normalizer_next(w->normalizer, &batch)) > 0) {
		if (learn_table_bytes(&w->words, batch.count) > st->share && spill_worker(st, w))
			return -1;
		if (learn_table_count(&w->words, &batch, count_longer, w))
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
		return count_text(st, w, &b->text);
	if (jsonl_batch_parse(&b->json, &(struct jsonl_how){ .strict = st->c->strict }) ||
	    (b->json.docs.count && count_text(st, w, &b->json.docs.text)))
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

/* --- adding up --------------------------------------------------------------------- */

/* All tables into the first; nothing was spilled. */
static int join_tables(struct state *st, struct learn_words *out)
{
	struct learn_table *first = &st->workers[0].words;
	struct table_walk walk = { .slot = 0 };

	for (unsigned k = 1; k < st->n_workers; k++) {
		if (learn_table_join(first, &st->workers[k].words))
			return -1;
		learn_table_release(&st->workers[k].words);
	}
	while (learn_table_next(first, &walk))
		if (add_word(out, walk.word, walk.len, walk.count))
			return -1;
	return 0;
}

static int join_runs(struct state *st, struct learn_words *out)
{
	const void *record;
	size_t len;
	int rc;

	for (unsigned k = 0; k < st->n_workers; k++) {
		if (spill_words(st, &st->workers[k].words))
			return -1;
		learn_table_release(&st->workers[k].words);
	}
	if (spill_sort(st->spill))
		return -1;
	while ((rc = spill_next(st->spill, &record, &len)) > 0)
		if (add_word(out, record_word(record), len - sizeof(uint64_t), record_count(record)))
			return -1;
	st->c->spilled = spill_bytes_written(st->spill);
	return rc;
}

static int open_workers(struct state *st)
{
	st->workers = calloc(st->n_workers, sizeof(*st->workers));
	if (!st->workers)
		return err_memory();
	for (unsigned k = 0; k < st->n_workers; k++) {
		st->workers[k].normalizer = normalizer_new(&st->c->normalizer);
		if (!st->workers[k].normalizer || learn_table_init(&st->workers[k].words))
			return -1;
	}
	return 0;
}

static void close_state(struct state *st)
{
	for (unsigned k = 0; st->workers && k < st->n_workers; k++) {
		normalizer_free(st->workers[k].normalizer);
		learn_table_release(&st->workers[k].words);
	}
	free(st->workers);
	spill_close(st->spill);
	buf_release(&st->record);
	pthread_mutex_destroy(&st->lock);
}

int learn_count_run(struct learn_count *c, struct learn_words *w)
{
	struct state st = { .c = c, .n_workers = c->threads ? c->threads : 1, .lock = PTHREAD_MUTEX_INITIALIZER };
	int rc;

	/* Tables are held twice while they grow; the other half of the memory is for the runs and the list. */
	st.share = (size_t)(c->memory / 4 / st.n_workers);
	assert(c->memory >= LEARN_MEMORY_LEAST);
	c->words = c->long_words = c->repaired = c->spilled = 0;
	learn_words_init(w, c->memory - LEARN_MEMORY_FIXED);
	rc = open_workers(&st) || count_lines(&st) ? -1 : 0;
	for (unsigned k = 0; !rc && k < st.n_workers; k++) {
		c->words += st.workers[k].all;
		c->long_words += st.workers[k].too_long;
		c->repaired += st.workers[k].repaired;
	}
	if (!rc)
		rc = st.spill ? join_runs(&st, w) : join_tables(&st, w);
	close_state(&st);
	if (rc)
		learn_words_release(w);
	return rc;
}
