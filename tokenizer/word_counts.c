#include "tokenizer/word_counts.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/spill.h"
#include "base/utf8.h"
#include "tokenizer/learn_table.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define SHARE_LEAST (64 << 10)	/* bytes of a thread's table: an empty one has room for some words */

/* What one thread has counted since it last spilled. */
struct counter {
	struct learn_table words;
	uint64_t cut;
};

struct word_counts {
	struct counter *counters;
	unsigned threads;
	uint64_t memory;
	size_t share;			/* bytes of a counter's table */
	struct spill *spill;		/* NULL until a table is full */
	pthread_mutex_t lock;		/* of SPILL and RECORD */
	struct buf record;
};

/* --- words that are too long: a zero byte, which no word has, their length, a digest, their beginning ------------ */

struct long_word {
	uint64_t whole;
	struct key digest;
};
#define LONG_HEAD (1 + sizeof(struct long_word))
#define LONG_MAX (LONG_HEAD + 4 * WORD_COUNTS_CUT)

static size_t name_long(const char *word, size_t len, char name[LONG_MAX])
{
	const struct long_word l = { len, key_of(word, len) };
	const char *end = word;

	for (int n = 0; n < WORD_COUNTS_CUT; n++)
		utf8_next(&end);
	name[0] = 0;
	memcpy(name + 1, &l, sizeof(l));
	memcpy(name + LONG_HEAD, word, (size_t)(end - word));
	return LONG_HEAD + (size_t)(end - word);
}

static struct counted_word counted(const char *word, size_t len, uint64_t count)
{
	struct long_word l;

	if (word[0])
		return (struct counted_word){ .text = word, .len = len, .count = count, .whole = len };
	memcpy(&l, word + 1, sizeof(l));
	return (struct counted_word){ .text = word + LONG_HEAD, .len = len - LONG_HEAD, .count = count, .whole = l.whole,
				      .digest = l.digest };
}

/* --- runs: a record is a count, then the word ------------------------------------ */

static const char *record_word(const void *record)
{
	return (const char *)record + sizeof(uint64_t);
}

static int compare_records(const void *a, size_t a_len, const void *b, size_t b_len, void *ctx)
{
	return spill_compare_bytes(record_word(a), a_len - sizeof(uint64_t), record_word(b), b_len - sizeof(uint64_t), ctx);
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

static int spill_table(struct word_counts *w, const struct learn_table *words)
{
	const struct spill_opts o = { .memory = (size_t)(w->memory / 4), .threads = w->threads,
				      .compare = compare_records, .prefix = record_prefix, .combine = add_records };
	struct table_walk walk = { .slot = 0 };

	if (!w->spill && spill_open(&w->spill, &o))
		return -1;
	while (learn_table_next(words, &walk)) {
		buf_clear(&w->record);
		if (buf_add(&w->record, &walk.count, sizeof(walk.count)) || buf_add(&w->record, walk.word, walk.len) ||
		    spill_add(w->spill, w->record.data, w->record.len))
			return -1;
	}
	return 0;
}

/* --- counting --------------------------------------------------------------------- */

/* Room for MORE words in C's table. */
static int make_room(struct word_counts *w, struct counter *c, size_t more)
{
	int rc;

	if (learn_table_bytes(&c->words, more) <= w->share)
		return 0;
	pthread_mutex_lock(&w->lock);
	rc = spill_table(w, &c->words);
	pthread_mutex_unlock(&w->lock);
	return rc ? -1 : learn_table_restart(&c->words);
}

static int put_longer(void *ctx, const char *word, size_t len)
{
	struct counter *c = ctx;
	char name[LONG_MAX];

	if (len <= WORD_COUNTS_WHOLE || utf8_count(word, len) <= WORD_COUNTS_WHOLE)
		return learn_table_put(&c->words, word, len, 1);
	c->cut++;
	return learn_table_put(&c->words, name, name_long(word, len, name), 1);
}

int word_counts_add(struct word_counts *w, unsigned k, const char *word, size_t len)
{
	struct counter *c = &w->counters[k];

	return make_room(w, c, 1) ? -1 : put_longer(c, word, len);
}

int word_counts_add_batch(struct word_counts *w, unsigned k, const struct words *batch)
{
	struct counter *c = &w->counters[k];

	return make_room(w, c, batch->count) ? -1 : learn_table_count(&c->words, batch, put_longer, c);
}

/* --- adding up --------------------------------------------------------------------- */

/* All tables into the first; nothing was spilled. */
static int each_of_tables(struct word_counts *w, int (*take)(void *ctx, const struct counted_word *word), void *ctx)
{
	struct learn_table *first = &w->counters[0].words;
	struct table_walk walk = { .slot = 0 };

	for (unsigned k = 1; k < w->threads; k++) {
		if (learn_table_join(first, &w->counters[k].words))
			return -1;
		learn_table_release(&w->counters[k].words);
	}
	while (learn_table_next(first, &walk)) {
		const struct counted_word word = counted(walk.word, walk.len, walk.count);

		if (take(ctx, &word))
			return -1;
	}
	return 0;
}

static int each_of_runs(struct word_counts *w, int (*take)(void *ctx, const struct counted_word *word), void *ctx)
{
	const void *record;
	size_t len;
	int rc;

	for (unsigned k = 0; k < w->threads; k++) {
		if (spill_table(w, &w->counters[k].words))
			return -1;
		learn_table_release(&w->counters[k].words);
	}
	if (spill_sort(w->spill))
		return -1;
	while ((rc = spill_next(w->spill, &record, &len)) > 0) {
		const struct counted_word word = counted(record_word(record), len - sizeof(uint64_t), record_count(record));

		if (take(ctx, &word))
			return -1;
	}
	return rc;
}

int word_counts_each(struct word_counts *w, int (*take)(void *ctx, const struct counted_word *word), void *ctx)
{
	return w->spill ? each_of_runs(w, take, ctx) : each_of_tables(w, take, ctx);
}

uint64_t word_counts_cut(const struct word_counts *w)
{
	uint64_t sum = 0;

	for (unsigned k = 0; k < w->threads; k++)
		sum += w->counters[k].cut;
	return sum;
}

uint64_t word_counts_spilled(const struct word_counts *w)
{
	return w->spill ? spill_bytes_written(w->spill) : 0;
}

/* --- life --------------------------------------------------------------------------- */

static int open_counters(struct word_counts *w)
{
	w->counters = calloc(w->threads, sizeof(*w->counters));
	if (!w->counters)
		return err_memory();
	for (unsigned k = 0; k < w->threads; k++)
		if (learn_table_init(&w->counters[k].words))
			return -1;
	return 0;
}

int word_counts_open(struct word_counts **out, uint64_t memory, unsigned threads)
{
	struct word_counts *w = malloc(sizeof(*w));

	assert(memory >= WORD_COUNTS_MEMORY_LEAST);
	*out = NULL;
	if (!w)
		return err_memory();
	*w = (struct word_counts){ .threads = threads ? threads : 1, .memory = memory, .lock = PTHREAD_MUTEX_INITIALIZER };
	w->share = (size_t)(memory / 4 / w->threads);		/* tables are held twice while they grow */
	if (w->share < SHARE_LEAST)
		w->share = SHARE_LEAST;
	if (open_counters(w)) {
		word_counts_close(w);
		return -1;
	}
	*out = w;
	return 0;
}

void word_counts_close(struct word_counts *w)
{
	if (!w)
		return;
	for (unsigned k = 0; w->counters && k < w->threads; k++)
		learn_table_release(&w->counters[k].words);
	free(w->counters);
	spill_close(w->spill);
	buf_release(&w->record);
	pthread_mutex_destroy(&w->lock);
	free(w);
}
