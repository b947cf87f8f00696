/* One shard file, from wherever its documents and instances come. */
#include "shards/job_impl.h"
#include "base/frame.h"
#include "base/out.h"
#include "base/pool.h"
#include "shards/build.h"
#include "shards/canon.h"
#include "shards/lengths.h"

#define LENGTHS_BLOCK (64 << 10)	/* bytes of a block of lengths, and what the last document has beyond */
#define LENGTHS_HELD (1 << 20)		/* that wait for the end of the table, so that readers of it find it in one piece */

/* --- the table of documents -------------------------------------------------------------------- */

struct job_table {
	struct frame_writer *frame;
	int level;
	unsigned id_bytes;
	uint32_t vocab_size;
	uint32_t records;		/* in RAW */
	struct buf raw, packed;
	struct tokdoc document;
	struct shard_totals totals;
	/* Lengths of sentences (SHARD_OWN): of documents that are in the table, or in RAW */
	bool has_lengths;
	struct buf lengths;
	struct lengths_cut *cuts;	/* of these into blocks; the last one is open */
	size_t n_cuts, cap_cuts;
};

struct lengths_cut {
	size_t bytes;
	uint32_t records;
};

static int add_block_of(struct job_table *t, unsigned type, uint32_t records, const char *raw, size_t n)
{
	return frame_pack(raw, n, t->level, &t->packed) || frame_add(t->frame, type, records, raw, n, &t->packed) ? -1 : 0;
}

static int close_block(struct job_table *t)
{
	const int rc = t->records ? add_block_of(t, SHARD_DOCUMENTS, t->records, t->raw.data, t->raw.len) : 0;

	buf_clear(&t->raw);
	t->records = 0;
	return rc;
}

/* Of the document that T holds. */
static int add_lengths(struct job_table *t)
{
	struct lengths_cut *cut = t->n_cuts ? &t->cuts[t->n_cuts - 1] : NULL;
	const size_t before = t->lengths.len;

	if (!cut || cut->bytes >= LENGTHS_BLOCK) {
		if (array_grow(&t->cuts, &t->cap_cuts, t->n_cuts + 1, sizeof(*t->cuts)))
			return -1;
		cut = &t->cuts[t->n_cuts++];
		*cut = (struct lengths_cut){ 0, 0 };
	}
	if (lengths_put(&t->lengths, t->document.lengths, t->document.n_sentences))
		return -1;
	cut->bytes += t->lengths.len - before;
	cut->records++;
	return 0;
}

/* Behind all documents that they are of. */
static int write_lengths(struct job_table *t)
{
	const char *at = t->lengths.data;
	int rc = close_block(t);

	for (size_t k = 0; k < t->n_cuts && !rc; at += t->cuts[k].bytes, k++)
		rc = add_block_of(t, SHARD_LENGTHS, t->cuts[k].records, at, t->cuts[k].bytes);
	buf_clear(&t->lengths);
	t->n_cuts = 0;
	return rc;
}

int job_table_add(struct job_table *t, const unsigned char *body, size_t len, uint32_t occurrence)
{
	struct shard_document e;

	if (tokdoc_decode_body(body, len, t->id_bytes, t->vocab_size, &t->document))
		return -1;
	e = shard_document_of(&t->document, occurrence);
	t->totals.documents++;
	t->totals.sentences += e.sentences;
	t->totals.tokens += e.tokens;
	t->totals.text_bytes += e.text_bytes;
	t->totals.empty_documents += !e.tokens;
	t->records++;
	if (shard_document_encode(&t->raw, &e) || (t->has_lengths && add_lengths(t)))
		return -1;
	if (t->lengths.len >= LENGTHS_HELD)
		return write_lengths(t);
	return t->raw.len >= SHARD_DOCUMENT_BLOCK_BYTES ? close_block(t) : 0;
}

static int write_table(const struct job *j, const struct job_source *source, struct frame_writer *w,
		       struct shard_totals *totals)
{
	struct job_table t = {
		.frame = w, .level = (int)j->opts.compress,
		.id_bytes = vocab_id_bytes(tokenizer_vocab(j->tokenizer)), .vocab_size = j->recipe.vocab_size,
		.raw = BUF_INIT, .packed = BUF_INIT, .has_lengths = j->recipe.rules == SHARD_OWN, .lengths = BUF_INIT,
	};
	const int rc = source->documents(source->ctx, &t) || write_lengths(&t) ? -1 : 0;

	*totals = t.totals;
	tokdoc_release(&t.document);
	buf_release(&t.raw);
	buf_release(&t.packed);
	buf_release(&t.lengths);
	free(t.cuts);
	return rc;
}

/* --- the instances ------------------------------------------------------------------------------- */

struct making {
	const struct job_source *source;
	struct frame_writer *frame;
	struct job_written *written;
};

void job_written_start(struct job *j, struct job_written *w)
{
	*w = (struct job_written){ .lock = PTHREAD_MUTEX_INITIALIZER, .progress = j->opts.progress };
	j->written = w;
	if (w->progress)
		progress_start(w->progress, "instances", 0);
}

void job_written_end(struct job *j)
{
	if (j->written->progress)
		progress_end(j->written->progress);
	pthread_mutex_destroy(&j->written->lock);
	j->written = NULL;
}

static void show_written(struct job_written *w, uint32_t more)
{
	if (!w->progress)
		return;
	pthread_mutex_lock(&w->lock);
	w->instances += more;
	progress_update(w->progress, w->instances, 0);
	pthread_mutex_unlock(&w->lock);
}

static int read_block(void *ctx, void *item)
{
	const struct making *m = ctx;

	return m->source->read(m->source->ctx, item);
}

static int make_block(void *ctx, void *item, unsigned worker)
{
	const struct making *m = ctx;

	return m->source->make(m->source->ctx, item, worker);
}

static int add_block(void *ctx, void *item)
{
	struct making *m = ctx;
	struct job_block *b = item;

	show_written(m->written, b->records);
	return frame_add(m->frame, SHARD_INSTANCES, b->records, b->raw.data, b->raw.len, &b->packed);
}

static int write_instances(struct making *m, unsigned threads)
{
	const unsigned depth = 2 * threads;
	struct job_block *blocks = calloc(depth, sizeof(*blocks));
	struct pool pool = {
		.threads = threads, .depth = depth, .items = blocks, .item_size = sizeof(*blocks),
		.read = read_block, .work = make_block, .write = add_block, .ctx = m,
	};
	int rc;

	if (!blocks)
		return err_memory();
	rc = pool_run(&pool);
	for (unsigned i = 0; i < depth; i++) {
		buf_release(&blocks[i].in);
		buf_release(&blocks[i].raw);
		buf_release(&blocks[i].packed);
	}
	free(blocks);
	return rc;
}

/* --- the file --------------------------------------------------------------------------------------- */

static void *commit_main(void *arg)
{
	struct job_commit *c = arg;

	c->rc = out_commit(c->out);
	if (c->rc)
		err_get(&c->reason);
	return NULL;
}

int job_commit_wait(struct job_commit *c)
{
	if (!c->pending)
		return 0;
	pthread_join(c->thread, NULL);
	c->pending = false;
	if (!c->rc)
		return 0;
	out_discard(c->out);
	return err_put(&c->reason);
}

/* Takes OUT, also on failure. One at a time is on its way: the disk is not to fall further behind. */
static int commit(struct job_commit *c, struct out *out)
{
	if (c && !job_commit_wait(c)) {
		c->out = out;
		c->pending = !pthread_create(&c->thread, NULL, commit_main, c);
		if (c->pending)
			return 0;
	} else if (c) {
		out_discard(out);
		return -1;
	}
	if (!out_commit(out))
		return 0;
	out_discard(out);
	return -1;
}

int job_write_file(struct job *j, const struct plan *p, uint32_t shard, const struct job_source *source)
{
	const struct shard_header header = job_shard_header(j, p, shard);
	char *path = job_shard_path(j, shard, p->shards), *text = shard_header_print(&header);
	struct making m = { .source = source, .written = j->written };
	struct shard_totals totals;
	struct out *out = NULL;
	int rc = -1;

	if (!path || !text || out_open_tidied(&out, path) || frame_create(&m.frame, out, SHARD_KIND, text, strlen(text)))
		goto done;
	if (write_table(j, source, m.frame, &totals) || write_instances(&m, (unsigned)j->opts.threads)) {
		frame_abandon(m.frame);
		goto done;
	}
	build_totals(source->build, &totals);
	if (shard_finish(m.frame, &totals))
		goto done;
	rc = commit(j->commit, out);
	out = NULL;
	if (!rc)
		shard_totals_join(&j->report.totals, &header, &totals);
done:
	out_discard(out);
	free(text);
	free(path);
	return rc;
}

/* --- from memory --------------------------------------------------------------------------------------- */

struct held {
	struct build *build;
	uint64_t next;			/* block */
	int level;
};

static int held_documents(void *ctx, struct job_table *t)
{
	const struct docset *s = ((const struct held *)ctx)->build->docs;

	for (size_t i = 0; i < s->n; i++)
		if (job_table_add(t, s->docs[i].body, s->docs[i].len, s->docs[i].occurrence))
			return -1;
	return 0;
}

static int held_read(void *ctx, void *block)
{
	struct held *h = ctx;

	if (h->next == build_blocks(h->build))
		return 0;
	((struct job_block *)block)->number = h->next++;
	return 1;
}

static int held_make(void *ctx, void *block, unsigned worker)
{
	const struct held *h = ctx;
	struct job_block *b = block;

	return build_block(h->build, worker, b->number, h->level, &b->raw, &b->packed, &b->records);
}

int job_write_held(struct job *j, const struct plan *p, uint32_t shard, struct build *b)
{
	struct held h = { .build = b, .level = (int)j->opts.compress };
	const struct job_source source = {
		.documents = held_documents, .read = held_read, .make = held_make, .ctx = &h, .build = b
	};

	return job_write_file(j, p, shard, &source);
}
