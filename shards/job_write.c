/* The last stage: shards, out of the parts' sorted token documents. */
#include "shards/job_impl.h"
#include "base/frame.h"
#include "base/out.h"
#include "base/pool.h"
#include "shards/build.h"
#include "shards/canon.h"
#include "shards/keys.h"
#include "shards/manifest.h"

#include <inttypes.h>
#include <sys/resource.h>

#define RESERVE_BASE ((uint64_t)8 << 20)	/* memory kept for all but documents and drafts */
#define RESERVE_THREAD ((uint64_t)2 << 20)

/* --- the documents of a shard ------------------------------------------------------------------ */

/* The index of every part, open. */
struct index {
	struct tokdoc_file **files;
	uint32_t n;
};

static void index_close(struct index *x)
{
	for (uint32_t i = 0; x->files && i < x->n; i++)
		tokdoc_file_close(x->files[i]);
	free(x->files);
	*x = (struct index){ NULL, 0 };
}

/* Asks for as many open files as may be had. */
static void allow_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == limit.rlim_max)
		return;
	limit.rlim_cur = limit.rlim_max;
	(void)!setrlimit(RLIMIT_NOFILE, &limit); /* if refused, opening too many fails with a reason of its own */
}

static int index_open(struct index *x, const struct job *j, uint32_t parts)
{
	*x = (struct index){ .files = calloc(parts, sizeof(*x->files)), .n = parts };
	if (!x->files)
		return err_memory();
	if (parts > 200)
		allow_files();
	for (uint32_t i = 0; i < parts; i++) {
		if (job_open_index(j, i, parts, &x->files[i]))
			return -1;
		if (!x->files[i])
			return err_fail("'%s': the index of part %" PRIu32 "/%" PRIu32
					" is missing: run --stage index --part %" PRIu32 "/%" PRIu32,
					j->work, i, parts, i, parts);
	}
	return 0;
}

/* Adds the documents of a block that belong to the shard. */
static int add_block(struct docset *s, const struct frame_block *b)
{
	const unsigned char *p = (const unsigned char *)b->raw.data, *end = p + b->raw.len, *body;
	size_t len;

	for (uint32_t i = 0; i < b->records; i++) {
		if (tokdoc_split(&p, end, &body, &len))
			return -1;
		if (key_shard(tokdoc_body_key(body), s->shards) == s->shard && docset_add(s, body, len))
			return -1;
	}
	return 0;
}

static int add_stretch(struct docset *s, const struct tokdoc_file *f, struct frame_block *block)
{
	const struct key from = key_shard_first(s->shard, s->shards);
	const struct key to =
		s->shard + 1 < s->shards ? key_shard_first(s->shard + 1, s->shards) : (struct key){ 0, 0 };
	uint64_t first, end;

	tokdoc_file_stretch(f, from, to, &first, &end);
	for (uint64_t i = first; i < end; i++)
		if (tokdoc_file_read(f, i, block) || add_block(s, block))
			return err_prefix("'%s'", tokdoc_file_name(f));
	return 0;
}

static int load_documents(struct docset *s, const struct index *x)
{
	struct frame_block block = FRAME_BLOCK_INIT;
	int rc = 0;

	for (uint32_t i = 0; i < x->n && !rc; i++)
		rc = add_stretch(s, x->files[i], &block);
	frame_block_release(&block);
	return rc || s->over ? rc : docset_finish(s);
}

/* --- memory ---------------------------------------------------------------------------------------- */

static uint64_t reserve(const struct job *j)
{
	return RESERVE_BASE + RESERVE_THREAD * j->opts.threads;
}

/* What is left for a shard's documents and drafts. */
uint64_t job_budget(const struct job *j)
{
	return j->opts.memory > 2 * reserve(j) ? j->opts.memory - reserve(j) : j->opts.memory / 2;
}

int job_does_not_fit(const struct job *j, const char *what, uint64_t documents, uint64_t instances, const char *or)
{
	const uint64_t need = documents + instances * BUILD_DRAFT_BYTES + 2 * reserve(j);

	return err_fail("%s needs about %" PRIu64 " MiB of memory: give --memory %" PRIu64 "M%s", what, (need >> 20) + 1,
			(need >> 20) + 1, or);
}

static int does_not_fit(const struct job *j, uint32_t shard, uint64_t documents, uint64_t instances)
{
	char what[32];

	snprintf(what, sizeof(what), "shard %" PRIu32, shard);
	return job_does_not_fit(j, what, documents, instances, ", or more --shards");
}

/* --- writing ------------------------------------------------------------------------------------------ */

static void document_entry(const struct docset_document *d, const struct tokdoc *t, struct shard_document *e)
{
	*e = (struct shard_document){
		.key = d->key,
		.occurrence = d->occurrence,
		.sentences = t->n_sentences,
		.tokens = t->n_tokens,
		.text_bytes = t->text_bytes,
		.id = t->id,
		.title = t->title,
		.id_len = t->id_len,
		.title_len = t->title_len,
	};
}

static int add_documents_block(struct frame_writer *w, struct buf *raw, struct buf *packed, uint32_t *records,
			       int level)
{
	const int rc = !*records ? 0
				 : frame_pack(raw->data, raw->len, level, packed) ||
					   frame_add(w, SHARD_DOCUMENTS, *records, raw->data, raw->len, packed);

	buf_clear(raw);
	*records = 0;
	return rc ? -1 : 0;
}

/* The table of documents. */
static int write_documents(const struct docset *s, struct frame_writer *w, int level, struct shard_totals *totals)
{
	struct buf raw = BUF_INIT, packed = BUF_INIT;
	struct tokdoc t = TOKDOC_INIT;
	uint32_t records = 0;
	int rc = 0;

	for (size_t i = 0; i < s->n && !rc; i++) {
		struct shard_document e;

		rc = tokdoc_decode_body(s->docs[i].body, s->docs[i].len, s->id_bytes, s->vocab_size, &t);
		if (rc)
			break;
		document_entry(&s->docs[i], &t, &e);
		totals->documents++;
		totals->sentences += e.sentences;
		totals->tokens += e.tokens;
		totals->text_bytes += e.text_bytes;
		totals->empty_documents += !e.tokens;
		rc = shard_document_encode(&raw, &e);
		records++;
		if (!rc && raw.len >= SHARD_DOCUMENT_BLOCK_BYTES)
			rc = add_documents_block(w, &raw, &packed, &records, level);
	}
	if (!rc)
		rc = add_documents_block(w, &raw, &packed, &records, level);
	tokdoc_release(&t);
	buf_release(&raw);
	buf_release(&packed);
	return rc;
}

struct made_block {
	uint64_t number;
	uint32_t records;
	struct buf raw, packed;
};

struct making {
	struct build *build;
	struct frame_writer *frame;
	uint64_t next;
	int level;
	struct progress *progress;
	uint64_t instances;		/* written, for progress */
};

static int read_number(void *ctx, void *item)
{
	struct making *m = ctx;

	if (m->next == build_blocks(m->build))
		return 0;
	((struct made_block *)item)->number = m->next++;
	return 1;
}

static int make_block(void *ctx, void *item, unsigned worker)
{
	const struct making *m = ctx;
	struct made_block *b = item;

	return build_block(m->build, worker, b->number, m->level, &b->raw, &b->packed, &b->records);
}

static int add_made(void *ctx, void *item)
{
	struct making *m = ctx;
	struct made_block *b = item;

	m->instances += b->records;
	if (m->progress)
		progress_update(m->progress, m->instances, 0);
	return frame_add(m->frame, SHARD_INSTANCES, b->records, b->raw.data, b->raw.len, &b->packed);
}

static int write_instances(struct making *m, unsigned threads)
{
	const unsigned depth = 2 * threads;
	struct made_block *blocks = calloc(depth, sizeof(*blocks));
	struct pool pool = {
		.threads = threads, .depth = depth, .items = blocks, .item_size = sizeof(*blocks),
		.read = read_number, .work = make_block, .write = add_made, .ctx = m,
	};
	int rc;

	if (!blocks)
		return err_memory();
	rc = pool_run(&pool);
	for (unsigned i = 0; i < depth; i++) {
		buf_release(&blocks[i].raw);
		buf_release(&blocks[i].packed);
	}
	free(blocks);
	return rc;
}

static int finish_frame(struct frame_writer *w, const struct shard_totals *t)
{
	json_t *o = shard_totals_json(t);
	char *text = o ? canon_print(o) : NULL;
	int rc = -1;

	if (text)
		rc = frame_finish(w, text, strlen(text));
	else
		frame_abandon(w);
	free(text);
	json_decref(o);
	return rc;
}

int job_write_file(struct job *j, const struct plan *p, uint32_t shard, struct build *b)
{
	const struct shard_header header = job_shard_header(j, p, shard);
	char *path = job_shard_path(j, shard, p->shards), *text = shard_header_print(&header);
	struct making m = {
		.build = b, .level = (int)j->opts.compress, .progress = j->opts.progress,
		.instances = j->report.totals.instances
	};
	struct shard_totals totals = { 0 };
	struct out *out = NULL;
	int rc = -1;

	if (!path || !text || out_open(&out, path) || frame_create(&m.frame, out, SHARD_KIND, text, strlen(text)))
		goto done;
	if (write_documents(b->docs, m.frame, m.level, &totals) || write_instances(&m, (unsigned)j->opts.threads)) {
		frame_abandon(m.frame);
		goto done;
	}
	build_totals(b, &totals);
	if (finish_frame(m.frame, &totals) || out_commit(out))
		goto done;
	out = NULL;
	shard_totals_join(&j->report.totals, &header, &totals);
	rc = 0;
done:
	out_discard(out);
	free(text);
	free(path);
	return rc;
}

static int write_shard(struct job *j, const struct plan *p, const struct index *x, uint32_t shard)
{
	const struct vocab *vocab = tokenizer_vocab(j->tokenizer);
	struct build b = { .recipe = NULL };
	struct docset docs;
	uint64_t instances, bytes;
	int rc = -1;

	docset_init(&docs, shard, p->shards, vocab_id_bytes(vocab), j->recipe.vocab_size, job_budget(j));
	if (load_documents(&docs, x))
		goto done;
	if (docs.over) {
		plan_expect(&j->recipe, &p->corpus, &instances, &bytes);
		does_not_fit(j, shard, docs.bytes, instances / p->shards);
		goto done;
	}
	if (build_init(&b, &j->recipe, vocab, &docs, (unsigned)j->opts.threads, job_budget(j) - docs.bytes) ||
	    build_drafts(&b))
		goto done;
	if (b.over)
		does_not_fit(j, shard, docs.bytes, b.n);
	else
		rc = job_write_file(j, p, shard, &b);
done:
	build_release(&b);
	docset_release(&docs);
	return rc;
}

int job_refuse_other_numbers(const struct job *j, const struct plan *p)
{
	char **names, want[32];
	const size_t name_len = strlen(j->opts.name);
	size_t n;
	int rc = 0;

	if (fs_list(j->opts.folder, &names, &n))
		return -1;
	snprintf(want, sizeof(want), "-of-%05" PRIu32 ".shard", p->shards);
	for (size_t i = 0; i < n && !rc; i++) {
		const size_t len = strlen(names[i]);

		if (strncmp(names[i], j->opts.name, name_len) || names[i][name_len] != '-' || len < 6 ||
		    strcmp(names[i] + len - 6, ".shard"))
			continue;
		if (len < strlen(want) || strcmp(names[i] + len - strlen(want), want))
			rc = err_fail("'%s' holds '%s', and now there are to be %" PRIu32
				      " shards: choose another folder, or empty it",
				      j->opts.folder, names[i], p->shards);
	}
	fs_free_names(names, n);
	return rc;
}

/* Either another part has finished everything since job_start, or the stages before are missing. */
static int without_plan(struct job *j)
{
	struct manifest *m;

	if (manifest_load(&m, j->opts.folder))
		return -1;
	if (!m)
		return err_fail("'%s' has no plan: run --stage index and --stage plan first", j->opts.folder);
	j->report.complete = true;
	manifest_free(m);
	return fs_remove_tree(j->work);
}

int job_write(struct job *j, uint64_t part, uint64_t parts)
{
	struct plan *p = NULL;
	struct index x = { NULL, 0 };
	int rc = -1;

	if (plan_load(&p, j))
		return -1;
	if (!p)
		return without_plan(j);
	if (job_refuse_other_numbers(j, p))
		goto done;
	if (j->opts.progress)
		progress_start(j->opts.progress, "instances", 0);
	for (uint64_t k = part; k < p->shards; k += parts) {
		const int whole = job_shard_is_whole(j, p, (uint32_t)k);

		if (whole < 0 || (!whole && !x.files && index_open(&x, j, p->parts)) ||
		    (!whole && write_shard(j, p, &x, (uint32_t)k)))
			goto done;
		j->report.made += !whole;
		j->report.kept += whole;
	}
	index_close(&x);
	rc = job_finish(j, p, &j->report.complete);
done:
	if (j->opts.progress)
		progress_end(j->opts.progress);
	index_close(&x);
	plan_free(p);
	return rc;
}
