#include "shards/tokdoc_stream.h"

#include "base/err.h"
#include "base/pool.h"
#include "shards/tokdoc_encoder.h"

#define BATCH (512 << 10)	/* bytes of documents handed to a thread at once: they make a block */
#define KEPT (4 << 20)		/* bytes of memory kept from one batch for the next */

/* Documents, and the block of the file that they become. */
struct batch {
	struct document_list docs;
	struct tokdoc_block block;
};

struct run {
	struct tokdoc_stream *s;
	struct tokdoc_encoder *encoders;	/* a worker's own */
	struct tokdoc_writer *writer;
};

static int read_batch(void *ctx, void *item)
{
	struct run *run = ctx;
	struct batch *b = item;
	uint64_t total;
	const int rc = lines_next_documents(run->s->lines, BATCH, &b->docs);

	if (rc <= 0)
		return rc;
	run->s->documents += b->docs.count;
	if (run->s->progress)
		progress_update(run->s->progress, run->s->documents, lines_progress(run->s->lines, &total));
	return 1;
}

static int work_batch(void *ctx, void *item, unsigned worker)
{
	const struct run *run = ctx;
	struct tokdoc_encoder *e = &run->encoders[worker];
	struct batch *b = item;
	const unsigned id_bytes = vocab_id_bytes(tokenizer_vocab(run->s->tokenizer));

	for (size_t i = 0; i < b->docs.count; i++) {
		const struct document_place d = b->docs.items[i];
		const char *const text = b->docs.text.data + d.start;

		if (tokdoc_encoder_run(e, text, d.len, key_of(text, d.len - 1)) || tokdoc_block_add(&b->block, &e->doc, id_bytes))
			return -1;
	}
	return tokdoc_block_pack(&b->block, run->s->compress);
}

static int write_batch(void *ctx, void *item)
{
	struct run *run = ctx;
	struct batch *b = item;

	if (tokdoc_writer_add(run->writer, &b->block))
		return -1;
	tokdoc_block_clear(&b->block);
	if (b->docs.text.cap > KEPT) {		/* a giant among documents; the next ones are smaller */
		document_list_release(&b->docs);
		tokdoc_block_release(&b->block);
	}
	return 0;
}

static void release_batch(struct batch *b)
{
	document_list_release(&b->docs);
	tokdoc_block_release(&b->block);
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
	const unsigned threads = s->threads ? s->threads : 1, depth = threads > 1 ? 2 * threads + 2 : 1;
	struct run run = { .s = s, .encoders = calloc(threads, sizeof(*run.encoders)) };
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
	if (open_writer(&run) || pool_run(&pool))
		goto out;
	s->tokens = tokdoc_writer_totals(run.writer)->tokens;
	rc = tokdoc_writer_finish(run.writer, NULL);
	run.writer = NULL;
out:
	tokdoc_writer_abandon(run.writer);
	for (unsigned i = 0; run.encoders && i < threads; i++)
		tokdoc_encoder_close(&run.encoders[i]);
	for (unsigned i = 0; batches && i < depth; i++)
		release_batch(&batches[i]);
	free(run.encoders);
	free(batches);
	return rc;
}
