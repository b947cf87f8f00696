#include "shards/tokdoc_stream.h"

#include "base/err.h"
#include "base/pool.h"
#include "shards/tokdoc_encoder.h"

#define BATCH (512 << 10)	/* bytes of documents handed to a thread at once: they make a block */
#define KEPT (4 << 20)		/* bytes of memory kept from one batch for the next */

struct batch_document {
	struct key key;
	size_t text_len;
	size_t n_lines;
};

/* Documents, and the block of the file that they become. */
struct batch {
	struct buf text;		/* of all, one after the other */
	uint64_t *ends;			/* of all lines, each counted from the start of its document */
	size_t n_ends, cap_ends;
	struct batch_document *docs;
	size_t n_docs, cap_docs;
	struct tokdoc_block block;
};

struct run {
	struct tokdoc_stream *s;
	struct document doc;		/* the one just read */
	struct tokdoc_encoder *encoders;	/* a worker's own */
	struct tokdoc_writer *writer;
};

static int add_document(struct batch *b, const struct document *d)
{
	if (buf_add(&b->text, d->text.data, d->text.len) ||
	    array_grow(&b->docs, &b->cap_docs, b->n_docs + 1, sizeof(*b->docs)) ||
	    array_grow(&b->ends, &b->cap_ends, b->n_ends + d->n_lines, sizeof(*b->ends)))
		return -1;
	memcpy(b->ends + b->n_ends, d->ends, d->n_lines * sizeof(*b->ends));
	b->n_ends += d->n_lines;
	b->docs[b->n_docs++] = (struct batch_document){ d->key, d->text.len, d->n_lines };
	return 0;
}

static int read_batch(void *ctx, void *item)
{
	struct run *run = ctx;
	struct batch *b = item;
	uint64_t total;
	int rc = 0;

	buf_clear(&b->text);
	b->n_docs = b->n_ends = 0;
	while (b->text.len < BATCH && (rc = lines_next_document(run->s->lines, &run->doc)) > 0)
		if (add_document(b, &run->doc))
			return -1;
	if (rc < 0)
		return -1;
	run->s->documents += b->n_docs;
	if (run->s->progress)
		progress_update(run->s->progress, run->s->documents, lines_progress(run->s->lines, &total));
	return b->n_docs > 0;
}

static int work_batch(void *ctx, void *item, unsigned worker)
{
	const struct run *run = ctx;
	struct tokdoc_encoder *e = &run->encoders[worker];
	struct batch *b = item;
	const char *text = b->text.data;
	const uint64_t *ends = b->ends;
	const unsigned id_bytes = vocab_id_bytes(tokenizer_vocab(run->s->tokenizer));

	for (size_t i = 0; i < b->n_docs; i++) {
		const struct batch_document *d = &b->docs[i];

		if (tokdoc_encoder_run(e, text, ends, d->n_lines, d->key) || tokdoc_block_add(&b->block, &e->doc, id_bytes))
			return -1;
		text += d->text_len;
		ends += d->n_lines;
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
	if (b->text.cap > KEPT) {		/* a giant among documents; the next ones are smaller */
		buf_release(&b->text);
		tokdoc_block_release(&b->block);
	}
	return 0;
}

static void batch_release(struct batch *b)
{
	buf_release(&b->text);
	free(b->ends);
	free(b->docs);
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
	const unsigned threads = s->threads ? s->threads : 1, depth = 2 * threads + 2;
	struct run run = { .s = s, .doc = DOCUMENT_INIT, .encoders = calloc(threads, sizeof(*run.encoders)) };
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
		batch_release(&batches[i]);
	document_release(&run.doc);
	free(run.encoders);
	free(batches);
	return rc;
}
