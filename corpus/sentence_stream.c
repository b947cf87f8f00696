#include "corpus/sentence_stream.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/pool.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK (256 << 10)	/* bytes of lines handed to a thread at once */

struct block {
	struct buf in;		/* lines, each ended by \n; blank ones empty */
	struct buf out;
	uint64_t sentences;
};

struct state {
	struct sentence_stream *stream;
	unsigned file;		/* of the last line */
	bool blank;		/* whether the last line was blank */
};

static int add_line(struct state *st, const struct line *line, struct block *b)
{
	const bool new_file = line->file != st->file;

	st->file = line->file;
	if (st->stream->document_per_file && new_file && st->stream->paragraphs && !st->blank) {
		st->blank = true;
		if (buf_add_byte(&b->in, '\n'))
			return -1;
	}
	if (line->blank && st->blank)
		return 0;
	st->blank = line->blank;
	st->stream->paragraphs += !line->blank;
	return (!line->blank && buf_add(&b->in, line->text, line->len)) || buf_add_byte(&b->in, '\n') ? -1 : 0;
}

static int read_block(void *ctx, void *item)
{
	struct state *st = ctx;
	struct block *b = item;
	struct lines *lines = st->stream->lines;
	struct line line;
	uint64_t total;
	int rc = 0;

	buf_clear(&b->in);
	while (b->in.len < BLOCK && (rc = lines_next(lines, &line)) > 0)
		if (add_line(st, &line, b))
			return -1;
	if (rc < 0)
		return -1;
	if (st->stream->progress)
		progress_update(st->stream->progress, st->stream->paragraphs, lines_progress(lines, &total));
	return b->in.len > 0;
}

static int cut_line(const struct sentences *rules, const char *text, size_t len, struct block *b)
{
	struct sentence_scan scan;
	const char *sentence;
	size_t n;

	sentence_start(&scan, rules, text, len);
	while (sentence_next(&scan, &sentence, &n)) {
		b->sentences++;
		if (buf_add(&b->out, sentence, n) || buf_add_byte(&b->out, '\n'))
			return -1;
	}
	return 0;
}

static int work_block(void *ctx, void *item, unsigned worker)
{
	const struct sentences *rules = ((const struct state *)ctx)->stream->rules;
	struct block *b = item;
	const char *p = b->in.data, *const end = p + b->in.len;

	(void)worker;
	buf_clear(&b->out);
	b->sentences = 0;
	while (p < end) {
		const char *newline = memchr(p, '\n', (size_t)(end - p));

		if (newline == p ? buf_add_byte(&b->out, '\n') : cut_line(rules, p, (size_t)(newline - p), b))
			return -1;
		p = newline + 1;
	}
	return 0;
}

static int write_block(void *ctx, void *item)
{
	struct state *st = ctx;
	struct block *b = item;

	st->stream->sentences += b->sentences;
	return out_write(st->stream->out, b->out.data, b->out.len);
}

int sentence_stream_run(struct sentence_stream *s)
{
	struct state st = { .stream = s };
	const unsigned threads = s->threads ? s->threads : 1, depth = 2 * threads + 2;
	struct block *blocks = calloc(depth, sizeof(*blocks));
	struct pool pool = { .threads = threads, .depth = depth, .items = blocks, .item_size = sizeof(*blocks),
			     .read = read_block, .work = work_block, .write = write_block, .ctx = &st };
	int rc;

	if (!blocks)
		return err_memory();
	s->paragraphs = s->sentences = 0;
	rc = pool_run(&pool);
	for (unsigned i = 0; i < depth; i++) {
		buf_release(&blocks[i].in);
		buf_release(&blocks[i].out);
	}
	free(blocks);
	return rc;
}
