#include "tokenizer/token_stream.h"

#include "base/err.h"
#include "base/pool.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK (128 << 10)	/* bytes of lines handed to a thread at once */
#define KEPT (4 << 20)		/* bytes of memory kept from one block for the next */

struct block {
	struct buf in;		/* lines, each ended by \n; blank ones empty */
	struct buf out;
};

struct state {
	struct token_stream *stream;
	struct token_printer **printers;	/* [thread] */
};

static int read_block(void *ctx, void *item)
{
	struct token_stream *s = ((struct state *)ctx)->stream;
	struct block *b = item;
	struct line line;
	uint64_t total;
	int rc = 0;

	buf_clear(&b->in);
	while (b->in.len < BLOCK && (rc = lines_next(s->lines, &line)) > 0) {
		if ((!line.blank && buf_add(&b->in, line.text, line.len)) || buf_add_byte(&b->in, '\n'))
			return -1;
		s->n_lines++;
	}
	if (rc < 0)
		return -1;
	if (s->progress)
		progress_update(s->progress, s->n_lines, lines_progress(s->lines, &total));
	return b->in.len > 0;
}

static int work_block(void *ctx, void *item, unsigned worker)
{
	struct token_printer *const p = ((struct state *)ctx)->printers[worker];
	struct block *b = item;
	const char *line = b->in.data, *const end = line + b->in.len;

	buf_clear(&b->out);
	while (line < end) {
		const char *const newline = memchr(line, '\n', (size_t)(end - line));

		if (token_print(p, line, (size_t)(newline - line), &b->out))
			return -1;
		line = newline + 1;
	}
	return 0;
}

static int write_block(void *ctx, void *item)
{
	const struct state *st = ctx;
	struct block *b = item;
	const int rc = out_write(st->stream->out, b->out.data, b->out.len);

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
	const unsigned threads = s->threads ? s->threads : 1, depth = 2 * threads + 2;
	struct state st = { s, calloc(threads, sizeof(*st.printers)) };
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
