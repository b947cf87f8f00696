/* One shard file, from wherever its documents and instances come. */
#include "shards/job_impl.h"
#include "base/frame.h"
#include "base/out.h"
#include "base/pool.h"
#include "shards/build.h"
#include "shards/canon.h"
#include "shards/job_table.h"

/* --- the table of documents -------------------------------------------------------------------- */

static int add_to_frame(void *ctx, unsigned type, uint32_t records, const char *raw, size_t n, const struct buf *packed)
{
	return frame_add(ctx, type, records, raw, n, packed);
}

static int write_table(const struct job *j, const struct job_source *source, struct frame_writer *w, struct shard_totals *totals)
{
	struct job_table t;
	int rc;

	job_table_init(&t, j, add_to_frame, w);
	rc = source->documents(source->ctx, &t) || job_table_end(&t) ? -1 : 0;
	*totals = t.totals;
	job_table_release(&t);
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
