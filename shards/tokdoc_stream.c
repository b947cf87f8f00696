#include "shards/tokdoc_stream.h"

#include "base/err.h"
#include "base/jsonl_documents.h"
#include "base/pool.h"
#include "shards/tokdoc_encoder.h"
#include "tokenizer/cut_line.h"
#include "tokenizer/segmenter.h"

#include <inttypes.h>

#define BATCH (512 << 10)	/* bytes of documents handed to a thread at once: they make a block */
#define KEPT (4 << 20)		/* bytes of memory kept from one batch for the next */

/* Documents as they are read. */
struct stack {
	struct jsonl_batch batch;	/* of text the documents only */
	uint64_t before;	/* documents before them; counted for a segmenter's faults */
	uint64_t place;		/* how far the input is read, for progress */
};

/* Documents, and the block of the file that they become. */
struct batch {
	struct stack read;
	struct buf cut, aligned;	/* what the segmenter made of all, and of one document */
	struct tokdoc_block block;
	uint64_t repaired;
};

struct run {
	struct tokdoc_stream *s;
	struct segmenter *segmenter;		/* NULL: none */
	bool segmented;				/* one there is, or is about to be */
	struct tokdoc_encoder *encoders;	/* a worker's own */
	struct tokdoc_writer *writer;
	uint64_t documents;
};

static int parse(const struct run *run, struct stack *k)
{
	return jsonl_batch_parse(&k->batch, &(struct jsonl_how){ .strict = run->s->strict });
}

static int read_stack(void *ctx, void *item)
{
	struct run *run = ctx;
	struct stack *k = item;
	uint64_t total;
	const int rc = jsonl_batch_read_any(&k->batch, run->s->lines, run->s->jsonl, BATCH);

	if (rc <= 0)
		return rc;
	if (run->s->jsonl && run->segmented && parse(run, k))	/* it is to be given text */
		return -1;
	k->before = run->documents;
	k->place = lines_progress(run->s->lines, &total);
	run->documents += k->batch.docs.count;
	return 1;
}

static const struct buf *stack_text(const void *item)
{
	return &((const struct stack *)item)->batch.docs.text;
}

static void release_stack(void *item)
{
	jsonl_batch_release(&((struct stack *)item)->batch);
}

static int read_batch(void *ctx, void *item)
{
	struct run *run = ctx;
	struct batch *b = item;

	return run->segmenter ? segmenter_next(run->segmenter, &b->read, &b->cut) : read_stack(run, &b->read);
}

/* Tokenizes TEXT, a document, or, where a segmenter has cut it, what stands at *CUT. */
static int encode(const struct run *run, struct tokdoc_encoder *e, struct batch *b, const char *text, size_t len, const char **cut)
{
	const struct key key = key_of(text, len - 1);
	size_t lines;

	if (!run->segmenter)
		return tokdoc_encoder_run(e, text, len, key);
	buf_clear(&b->aligned);
	if (cut_lines(text, len, cut, b->cut.data + b->cut.len, &b->aligned, &lines))
		return err_prefix("line %zu", lines + 1);
	if (tokdoc_encoder_run(e, b->aligned.data, b->aligned.len, key))
		return -1;
	e->doc.text_bytes = len - 1;
	return 0;
}

static void release_text(struct batch *b)
{
	release_stack(&b->read);
	buf_release(&b->cut);
	buf_release(&b->aligned);
}

static int work_batch(void *ctx, void *item, unsigned worker)
{
	const struct run *run = ctx;
	struct tokdoc_encoder *e = &run->encoders[worker];
	struct batch *b = item;
	const struct document_list *docs = &b->read.batch.docs;
	const unsigned id_bytes = vocab_id_bytes(tokenizer_vocab(run->s->tokenizer));
	const char *cut = b->cut.data;

	if (run->s->jsonl && !run->segmented && parse(run, &b->read))
		return -1;
	for (size_t i = 0; i < docs->count; i++) {
		const struct document_place d = docs->items[i];

		if (encode(run, e, b, docs->text.data + d.start, d.len, &cut))
			return run->segmenter ? err_prefix("document %" PRIu64, b->read.before + i + 1) : -1;
		tokdoc_encoder_name(e, jsonl_batch_id(&b->read.batch, i), jsonl_batch_title(&b->read.batch, i));
		if (tokdoc_block_add(&b->block, &e->doc, id_bytes))
			return -1;
	}
	b->repaired = b->read.batch.repaired;
	if (jsonl_batch_memory(&b->read.batch) > KEPT)		/* a giant among documents; the next ones are smaller */
		release_text(b);
	return tokdoc_block_pack(&b->block, run->s->compress);
}

static void release_batch(struct batch *b)
{
	release_text(b);
	tokdoc_block_release(&b->block);
}

static int write_batch(void *ctx, void *item)
{
	struct run *run = ctx;
	struct batch *b = item;

	if (tokdoc_writer_add(run->writer, &b->block))
		return -1;
	run->s->documents += b->block.records;
	run->s->repaired += b->repaired;
	if (run->s->progress)
		progress_update(run->s->progress, run->s->documents, b->read.place);
	if (b->block.raw.cap + b->block.packed.cap > KEPT)
		tokdoc_block_release(&b->block);
	else
		tokdoc_block_clear(&b->block);
	return 0;
}

static int open_writer(struct run *run)
{
	json_t *description;
	int rc;

	if (out_is_terminal(run->s->out))
		return err_usage("token documents are not written to a terminal: use -o FILE or a pipe");
	description = tokenizer_describe(run->s->tokenizer);
	if (!description)
		return -1;
	rc = tokdoc_writer_open(&run->writer, run->s->out, description, false);
	json_decref(description);
	return rc;
}

int tokdoc_stream_run(struct tokdoc_stream *s)
{
	const unsigned threads = s->threads ? s->threads : 1, depth = threads > 1 ? threads + 2 : 1;
	struct run run = { .s = s, .segmented = s->segmenter != NULL, .encoders = calloc(threads, sizeof(*run.encoders)) };
	const struct segmenter_feed feed = { .item_size = sizeof(struct stack), .read = read_stack, .text = stack_text,
					     .release = release_stack, .ctx = &run };
	struct batch *batches = calloc(depth, sizeof(*batches));
	struct pool pool = { .threads = threads, .depth = depth, .items = batches, .item_size = sizeof(*batches),
			     .read = read_batch, .work = work_batch, .write = write_batch, .ctx = &run };
	int rc = -1;

	if (!run.encoders || !batches) {
		err_memory();
		goto out;
	}
	for (unsigned i = 0; i < threads; i++)
		if (tokdoc_encoder_open(&run.encoders[i], s->tokenizer, 0))
			goto out;
	if (open_writer(&run) || (s->segmenter && segmenter_open(&run.segmenter, s->segmenter, &feed)) || pool_run(&pool))
		goto out;
	s->tokens = tokdoc_writer_totals(run.writer)->tokens;
	rc = tokdoc_writer_finish(run.writer, NULL);
	run.writer = NULL;
out:
	tokdoc_writer_abandon(run.writer);
	segmenter_close(run.segmenter);
	for (unsigned i = 0; run.encoders && i < threads; i++)
		tokdoc_encoder_close(&run.encoders[i]);
	for (unsigned i = 0; batches && i < depth; i++)
		release_batch(&batches[i]);
	free(run.encoders);
	free(batches);
	return rc;
}
