#include "tokenizer/token_stream.h"

#include "base/err.h"
#include "base/jsonl_documents.h"
#include "base/pool.h"
#include "tokenizer/segmenter.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK (128 << 10)	/* bytes of lines handed to a thread at once */
#define KEPT (4 << 20)		/* bytes of memory kept from one block for the next */

/* Lines as they are read. */
struct stretch {
	struct buf in;		/* each ended by \n; blank ones empty */
	uint64_t before;	/* lines of the input before it; counted for reasons of failure */
	uint64_t place;		/* how far the input is read, for progress */
	struct jsonl_batch json;
};

struct block {
	struct stretch text;
	struct buf cut;		/* what the segmenter made of it */
	struct buf out;
	size_t n_lines;
};

struct state {
	struct token_stream *stream;
	struct segmenter *segmenter;		/* NULL: none */
	bool numbers;				/* a reason of failure names the line */
	uint64_t read;				/* lines, where they are counted */
	struct token_printer **printers;	/* [thread] */
};

static uint64_t count_lines(const struct buf *text)
{
	uint64_t n = 0;

	for (size_t i = 0; i < text->len; i++)
		n += text->data[i] == '\n';
	return n;
}

/* The documents' lines, and a blank one after each. */
static int parse(const struct state *st, struct stretch *t)
{
	/* places are counted in the lines as they stand, marks and all */
	const struct jsonl_how how = { .keep_marks = true, .strict = st->stream->strict };

	buf_clear(&t->in);
	if (jsonl_batch_parse(&t->json, &how))
		return -1;
	for (size_t i = 0; i < t->json.docs.count; i++) {
		const struct document_place d = t->json.docs.items[i];

		if (buf_add(&t->in, t->json.docs.text.data + d.start, d.len) || buf_add_byte(&t->in, '\n'))
			return -1;
	}
	return 0;
}

static int read_stretch(void *ctx, void *item)
{
	struct state *st = ctx;
	struct stretch *t = item;
	const struct token_stream *s = st->stream;
	const int rc = s->jsonl ? jsonl_batch_read(&t->json, s->lines, BLOCK) : lines_next_text(s->lines, BLOCK, &t->in);
	uint64_t total;

	if (rc > 0 && s->jsonl && s->segmenter && parse(st, t))		/* it is to be given text */
		return -1;
	t->place = lines_progress(st->stream->lines, &total);
	t->before = st->read;
	if (rc > 0 && st->numbers)
		st->read += count_lines(&t->in);
	return rc;
}

static const struct buf *stretch_text(const void *item)
{
	return &((const struct stretch *)item)->in;
}

static void release_stretch(void *item)
{
	struct stretch *t = item;

	buf_release(&t->in);
	jsonl_batch_release(&t->json);
}

static int read_block(void *ctx, void *item)
{
	const struct state *st = ctx;
	struct block *b = item;

	return st->segmenter ? segmenter_next(st->segmenter, &b->text, &b->cut) : read_stretch(ctx, &b->text);
}

static int work_block(void *ctx, void *item, unsigned worker)
{
	const struct state *st = ctx;
	struct token_printer *const p = st->printers[worker];
	struct block *b = item;
	const struct buf *const in = &b->text.in;

	buf_clear(&b->out);
	b->n_lines = 0;
	if (st->stream->jsonl && !st->stream->segmenter && parse(st, &b->text))
		return -1;
	if (!(st->segmenter ? token_print_cut_lines(p, in->data, in->len, &b->cut, &b->out, &b->n_lines) :
			      token_print_lines(p, in->data, in->len, &b->out, &b->n_lines)))
		return 0;
	return st->numbers ? err_prefix("line %" PRIu64, b->text.before + b->n_lines + 1) : -1;
}

static void release_block(struct block *b)
{
	release_stretch(&b->text);
	buf_release(&b->cut);
	buf_release(&b->out);
}

static int write_block(void *ctx, void *item)
{
	struct token_stream *s = ((struct state *)ctx)->stream;
	struct block *b = item;
	const int rc = out_write(s->out, b->out.data, b->out.len);

	s->n_lines += b->n_lines;
	s->repaired += b->text.json.repaired;
	if (s->progress)
		progress_update(s->progress, s->n_lines, b->text.place);
	if (b->text.in.cap > KEPT || jsonl_batch_memory(&b->text.json) > KEPT)	/* a giant among lines; the next ones are shorter */
		release_block(b);
	return rc;
}

static int make_printers(struct state *st, unsigned threads)
{
	const struct token_stream *s = st->stream;

	for (unsigned i = 0; i < threads; i++) {
		st->printers[i] = token_printer_new(s->tokenizer, s->form, s->flags);
		if (!st->printers[i])
			return -1;
	}
	return 0;
}

int token_stream_run(struct token_stream *s)
{
	const unsigned threads = s->threads ? s->threads : 1, depth = threads > 1 ? 2 * threads + 2 : 1;
	struct state st = { .stream = s, .printers = calloc(threads, sizeof(*st.printers)),
			    .numbers = s->segmenter || s->form == TOKEN_DECODED };
	const struct segmenter_feed feed = { .item_size = sizeof(struct stretch), .read = read_stretch, .text = stretch_text,
					     .release = release_stretch, .ctx = &st };
	struct block *blocks = calloc(depth, sizeof(*blocks));
	struct pool pool = { .threads = threads, .depth = depth, .items = blocks, .item_size = sizeof(*blocks),
			     .read = read_block, .work = work_block, .write = write_block, .ctx = &st };
	int rc = -1;

	if (!blocks || !st.printers) {
		err_memory();
		goto out;
	}
	s->n_lines = s->n_tokens = s->repaired = 0;
	if (make_printers(&st, threads) || (s->segmenter && segmenter_open(&st.segmenter, s->segmenter, &feed)))
		goto out;
	rc = pool_run(&pool);
out:
	for (unsigned i = 0; st.printers && i < threads; i++) {
		s->n_tokens += st.printers[i] ? token_printer_count(st.printers[i]) : 0;
		token_printer_free(st.printers[i]);
	}
	segmenter_close(st.segmenter);
	for (unsigned i = 0; blocks && i < depth; i++)
		release_block(&blocks[i]);
	free(blocks);
	free(st.printers);
	return rc;
}
