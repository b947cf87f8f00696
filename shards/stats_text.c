/* Counting text: it is tokenized as bert-tokenize does it, and counted as its token documents would be. */
#include "base/err.h"
#include "base/jsonl_documents.h"
#include "base/pool.h"
#include "shards/stats_impl.h"
#include "shards/tokdoc_encoder.h"

#include <stdlib.h>

#define BATCH (512 << 10)	/* bytes of documents handed to a thread at once */
#define KEPT (4 << 20)		/* bytes of memory kept from one batch for the next */

struct batch {
	struct jsonl_batch read;	/* of plain text the documents only */
	uint64_t place;			/* how far the input is read, for progress */
	struct buf keys;
};

/* What a thread has of its own. */
struct worker {
	struct tokdoc_encoder encoder;
	struct word_counts *unknown;
	unsigned number;
};

struct run {
	struct stats *s;
	struct lines *lines;
	struct vocab_special special;
	struct worker *workers;
	uint64_t documents, repaired;
};

static int read_batch(void *ctx, void *item)
{
	struct run *run = ctx;
	struct batch *b = item;
	uint64_t total;
	const int rc = jsonl_batch_read_any(&b->read, run->lines, run->s->form == LINES_JSON, BATCH);

	b->place = lines_progress(run->lines, &total);
	return rc;
}

static int work_batch(void *ctx, void *item, unsigned worker)
{
	const struct run *run = ctx;
	struct tokdoc_encoder *e = &run->workers[worker].encoder;
	struct batch *b = item;
	const struct document_list *docs = &b->read.docs;

	if (run->s->form == LINES_JSON && jsonl_batch_parse(&b->read, &(struct jsonl_how){ .strict = run->s->strict }))
		return -1;
	for (size_t i = 0; i < docs->count; i++) {
		const char *text = docs->text.data + docs->items[i].start;
		const size_t len = docs->items[i].len;

		if (tokdoc_encoder_run(e, text, len, key_of(text, len - 1)))
			return -1;
		tokdoc_encoder_name(e, jsonl_batch_id(&b->read, i), jsonl_batch_title(&b->read, i));
		if (stats_count_tokdoc(&run->s->tallies[worker], &run->special, &e->doc, &b->keys))
			return -1;
	}
	return 0;
}

static void release_batch(struct batch *b)
{
	jsonl_batch_release(&b->read);
	buf_release(&b->keys);
}

static int write_batch(void *ctx, void *item)
{
	struct run *run = ctx;
	struct batch *b = item;
	struct scan_progress *p = run->s->progress;

	if (stats_keep_keys(run->s, &b->keys))
		return -1;
	buf_clear(&b->keys);
	run->documents += b->read.docs.count;
	run->repaired += b->read.repaired;
	if (p)
		progress_update(&p->line, p->records + run->documents, p->bytes + b->place);
	if (jsonl_batch_memory(&b->read) > KEPT)	/* a giant among documents; the next ones are smaller */
		release_batch(b);
	return 0;
}

static int count_unknown(void *ctx, const char *word, size_t len)
{
	const struct worker *w = ctx;

	return word_counts_add(w->unknown, w->number, word, len);
}

static int open_workers(struct run *run)
{
	struct stats *s = run->s;

	run->workers = calloc(s->threads, sizeof(*run->workers));
	if (!run->workers)
		return err_memory();
	for (unsigned k = 0; k < s->threads; k++) {
		struct worker *w = &run->workers[k];

		*w = (struct worker){ .unknown = s->unknown, .number = k };
		if (tokdoc_encoder_open(&w->encoder, s->tokenizer, 0))
			return -1;
		encoder_on_unknown(w->encoder.encoder, count_unknown, w);
	}
	return stats_make_tallies(s);
}

static void close_workers(struct run *run)
{
	for (unsigned k = 0; run->workers && k < run->s->threads; k++)
		tokdoc_encoder_close(&run->workers[k].encoder);
	free(run->workers);
}

static int read_all(struct run *run)
{
	const unsigned threads = run->s->threads, depth = threads > 1 ? threads + 2 : 1;
	struct batch *batches = calloc(depth, sizeof(*batches));
	struct pool pool = { .threads = threads, .depth = depth, .items = batches, .item_size = sizeof(*batches),
			     .read = read_batch, .work = work_batch, .write = write_batch, .ctx = run };
	int rc;

	if (!batches)
		return err_memory();
	rc = pool_run(&pool);
	for (unsigned k = 0; k < depth; k++)
		release_batch(&batches[k]);
	free(batches);
	return rc;
}

/* Counts the N files themselves, and says what was mended in them. */
static int end_run(struct run *run, size_t n)
{
	struct stats *s = run->s;
	json_t *tokenizer = tokenizer_describe(s->tokenizer);
	char text[LINES_REPORT_MAX];
	uint64_t total;

	if (!tokenizer)
		return -1;
	s->sum.counts.files += n;
	s->sum.counts.bytes += lines_bytes(run->lines);
	s->sum.counts.files_miscased += stats_is_miscased(s, tokenizer_vocab(s->tokenizer), tokenizer) ? n : 0;
	json_decref(tokenizer);
	if (s->progress) {
		s->progress->records += run->documents;
		s->progress->bytes += lines_progress(run->lines, &total);
	}
	if (lines_bad_bytes(run->lines) && stats_note(s, lines_bad_report(run->lines, text, sizeof(text))))
		return -1;
	return run->repaired ? stats_note(s, jsonl_repaired_report(run->repaired, text, sizeof(text))) : 0;
}

static int open_tokenizer(struct stats *s)
{
	if (!s->tokenizer && tokenizer_open(&s->tokenizer, s->text))
		return -1;
	return s->unknown ? 0 : word_counts_open(&s->unknown, s->memory, s->threads);
}

int stats_add_text(struct stats *s, const char *const *paths, size_t n, struct in *in)
{
	const struct lines_opts lo = { .form = s->form, .strict = s->strict, .threads = s->threads };
	struct run run = { .s = s };
	int rc = -1;

	if (open_tokenizer(s)) {
		in_close(in);
		return -1;
	}
	run.special = vocab_special(tokenizer_vocab(s->tokenizer));
	if ((in ? lines_open_stream(&run.lines, in, &lo) : lines_open(&run.lines, paths, n, &lo)) || open_workers(&run))
		goto out;
	rc = read_all(&run);
	if (stats_add_tallies(s, !rc) || (!rc && end_run(&run, n)))
		rc = -1;
out:
	close_workers(&run);
	lines_close(run.lines);
	return rc;
}
