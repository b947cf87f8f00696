#include "tokenizer/token_stream.h"

#include "base/err.h"
#include "base/pool.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK (128 << 10)	/* bytes of lines handed to a thread at once */
#define KEPT (4 << 20)		/* bytes of memory kept from one block for the next */

struct block {
	struct buf in;		/* lines, each ended by \n; blank ones empty */
	struct buf out;
	size_t n_lines;
	uint64_t before;	/* lines of the input before it; counted for reasons of failure */
	uint64_t place;		/* how far the input is read, for progress */
};

struct state {
	struct token_stream *stream;
	uint64_t read;		/* lines, where they are counted */
	struct token_printer **printers;	/* [thread] */
};

static int read_block(void *ctx, void *item)
{
	struct token_stream *s = ((struct state *)ctx)->stream;
	struct block *b = item;

	const int rc = lines_next_text(s->lines, BLOCK, &b->in);
	uint64_t total;

	b->place = lines_progress(s->lines, &total);
	return rc;
}

static int work_block(void *ctx, void *item, unsigned worker)
{
	const struct state *st = ctx;
	struct block *b = item;

	buf_clear(&b->out);
	if (!token_print_lines(st->printers[worker], b->in.data, b->in.len, &b->out, &b->n_lines))
		return 0;
	return st->stream->form == TOKEN_DECODED ? err_prefix("line %" PRIu64, b->before + b->n_lines + 1) : -1;
}

static int write_block(void *ctx, void *item)
{
	struct token_stream *s = ((struct state *)ctx)->stream;
	struct block *b = item;
	const int rc = out_write(s->out, b->out.data, b->out.len);

	s->n_lines += b->n_lines;
	if (s->progress)
		progress_update(s->progress, s->n_lines, b->place);

	if (b->in.cap > KEPT) {		/* a giant among lines; the next ones are shorter */
		buf_release(&b->in);
		buf_release(&b->out);
	}
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
	struct state st = { .stream = s, .printers = calloc(threads, sizeof(*st.printers)) };
	struct block *blocks = calloc(depth, sizeof(*blocks));
	struct pool pool = { .threads = threads, .depth = depth, .items = blocks, .item_size = sizeof(*blocks),
			     .read = read_block, .work = work_block, .write = write_block, .ctx = &st };
	int rc = -1;

	if (!blocks || !st.printers) {
		err_memory();
		goto out;
	}
	s->n_lines = s->n_tokens = 0;
	if (make_printers(&st, threads))
		goto out;
	rc = pool_run(&pool);
out:
	for (unsigned i = 0; st.printers && i < threads; i++) {
		s->n_tokens += st.printers[i] ? token_printer_count(st.printers[i]) : 0;
		token_printer_free(st.printers[i]);
	}
	for (unsigned i = 0; blocks && i < depth; i++) {
		buf_release(&blocks[i].in);
		buf_release(&blocks[i].out);
	}
	free(blocks);
	free(st.printers);
	return rc;
}
