#include "corpus/sentence_stream.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/jsonl_documents.h"
#include "base/pool.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK (256 << 10)	/* bytes of lines handed to a thread at once */
#define KEPT (4 << 20)		/* bytes of documents' memory kept from one block for the next */

struct block {
	struct buf in;		/* lines, each ended by \n; blank ones empty */
	struct buf out;
	struct buf text;	/* a document's sentences */
	uint64_t paragraphs, sentences;
	uint64_t place;		/* of the input: read so far (lines_progress) */
	struct jsonl_batch docs;
};

/* Of the stream's counts only who writes may change or read any: who reads is another thread at the same time. */
struct state {
	struct sentence_stream *stream;
	unsigned file;		/* of the last line */
	bool blank;		/* whether the last line was blank */
	bool begun;		/* whether any line was not */
};

static int add_line(struct state *st, const struct line *line, struct block *b)
{
	const bool new_file = line->file != st->file;

	st->file = line->file;
	if (st->stream->document_per_file && new_file && st->begun && !st->blank) {
		st->blank = true;
		if (buf_add_byte(&b->in, '\n'))
			return -1;
	}
	if (line->blank && st->blank)
		return 0;
	st->blank = line->blank;
	st->begun = st->begun || !line->blank;
	b->paragraphs += !line->blank;
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
	b->paragraphs = 0;
	while (b->in.len < BLOCK && (rc = lines_next(lines, &line)) > 0)
		if (add_line(st, &line, b))
			return -1;
	if (rc < 0)
		return -1;
	b->place = lines_progress(lines, &total);
	return b->in.len > 0;
}

/* The sentences of a line to B's OUT or TEXT. */
static int cut_line(const struct sentences *rules, const char *text, size_t len, struct block *b, struct buf *to)
{
	struct sentence_scan scan;
	const char *sentence;
	size_t n;

	sentence_start(&scan, rules, text, len);
	while (sentence_next(&scan, &sentence, &n)) {
		b->sentences++;
		if (buf_add(to, sentence, n) || buf_add_byte(to, '\n'))
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

		if (newline == p ? buf_add_byte(&b->out, '\n') : cut_line(rules, p, (size_t)(newline - p), b, &b->out))
			return -1;
		p = newline + 1;
	}
	return 0;
}

/* --- whole documents ---------------------------------------------------------- */

static int read_documents(void *ctx, void *item)
{
	const struct state *st = ctx;
	struct sentence_stream *s = st->stream;
	struct block *b = item;
	uint64_t total;
	const int rc = jsonl_batch_read_any(&b->docs, s->lines, s->from_jsonl, BLOCK);

	b->place = lines_progress(s->lines, &total);
	return rc;
}

static int cut_document(const struct sentence_stream *s, struct block *b, size_t i)
{
	const struct document_place d = b->docs.docs.items[i];
	const char *p = b->docs.docs.text.data + d.start, *const end = p + d.len;

	buf_clear(&b->text);
	while (p < end) {
		const char *newline = memchr(p, '\n', (size_t)(end - p));

		if (cut_line(s->rules, p, (size_t)(newline - p), b, &b->text))
			return -1;
		b->paragraphs++;
		p = newline + 1;
	}
	if (!b->text.len)
		return 0;
	if (s->to_jsonl)
		return jsonl_put(&b->out, jsonl_batch_id(&b->docs, i), jsonl_batch_title(&b->docs, i),
				 (struct jsonl_text){ b->text.data, b->text.len - 1 });
	return buf_add(&b->out, b->text.data, b->text.len) || buf_add_byte(&b->out, '\n') ? -1 : 0;
}

static int work_documents(void *ctx, void *item, unsigned worker)
{
	const struct sentence_stream *s = ((const struct state *)ctx)->stream;
	struct block *b = item;

	(void)worker;
	buf_clear(&b->out);
	b->sentences = b->paragraphs = 0;
	if (s->from_jsonl && jsonl_batch_parse(&b->docs, &(struct jsonl_how){ .strict = s->strict }))
		return -1;
	for (size_t i = 0; i < b->docs.docs.count; i++)
		if (cut_document(s, b, i))
			return -1;
	return 0;
}

/* --- both ------------------------------------------------------------------------ */

static void release_block(struct block *b)
{
	buf_release(&b->in);
	buf_release(&b->out);
	buf_release(&b->text);
	jsonl_batch_release(&b->docs);
}

static int write_block(void *ctx, void *item)
{
	struct state *st = ctx;
	struct block *b = item;

	st->stream->sentences += b->sentences;
	st->stream->paragraphs += b->paragraphs;
	st->stream->repaired += b->docs.repaired;
	if (st->stream->progress)
		progress_update(st->stream->progress, st->stream->paragraphs, b->place);
	if (out_write(st->stream->out, b->out.data, b->out.len))
		return -1;
	if (jsonl_batch_memory(&b->docs) > KEPT)	/* a giant among documents */
		release_block(b);
	return 0;
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
	s->paragraphs = s->sentences = s->repaired = 0;
	if (s->from_jsonl || s->to_jsonl) {
		pool.read = read_documents;
		pool.work = work_documents;
	}
	rc = pool_run(&pool);
	for (unsigned i = 0; i < depth; i++)
		release_block(&blocks[i]);
	free(blocks);
	return rc;
}
