/* The last stage: shards, out of the parts' sorted token documents. */
#include "shards/job_impl.h"
#include "base/frame.h"
#include "shards/build.h"
#include "shards/keys.h"
#include "shards/manifest.h"

#include <inttypes.h>
#include <sys/resource.h>

#define RESERVE_BASE ((uint64_t)8 << 20)	/* memory kept for all but documents and drafts */
#define RESERVE_THREAD ((uint64_t)2 << 20)

/* --- the documents of a shard ------------------------------------------------------------------ */

void job_index_close(struct job_index *x)
{
	for (uint32_t i = 0; x->files && i < x->n; i++)
		tokdoc_cells_close(x->files[i]);
	free(x->files);
	*x = (struct job_index){ NULL, 0 };
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

int job_index_open(struct job_index *x, const struct job *j, uint32_t parts)
{
	*x = (struct job_index){ .files = calloc(parts, sizeof(*x->files)), .n = parts };
	if (!x->files)
		return err_memory();
	if (parts > 200)
		allow_files();
	for (uint32_t i = 0; i < parts; i++) {
		if (job_open_cells(j, i, parts, &x->files[i]))
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

static int add_stretch(struct docset *s, const struct tokdoc_cells *f, struct frame_block *block)
{
	struct frame_stretch at;
	int rc = tokdoc_cells_find(f, s->shard, s->shards, &at);

	while (!rc && !s->over && (rc = tokdoc_cells_next(f, &at, block)) > 0)
		rc = add_block(s, block) ? err_prefix("'%s'", tokdoc_cells_name(f)) : 0;
	return rc;
}

static int load_indexed(struct docset *s, const struct job_index *x)
{
	struct frame_block block = FRAME_BLOCK_INIT;
	int rc = 0;

	for (uint32_t i = 0; i < x->n && !rc && !s->over; i++)
		rc = add_stretch(s, x->files[i], &block);
	frame_block_release(&block);
	return rc;
}

static int load_documents(const struct job *j, struct docset *s, const struct job_index *x)
{
	const int rc = j->held ? job_held_load(j, s) : load_indexed(s, x);

	return rc || s->over ? rc : docset_finish(s);
}

/* --- memory ---------------------------------------------------------------------------------------- */

uint64_t job_reserve(const struct job *j)
{
	return RESERVE_BASE + RESERVE_THREAD * j->opts.threads;
}

uint64_t job_budget(const struct job *j)
{
	return j->opts.memory > 2 * job_reserve(j) ? j->opts.memory - job_reserve(j) : j->opts.memory / 2;
}

int job_write_shard(struct job *j, const struct plan *p, const struct job_index *x, uint32_t shard, bool narrow)
{
	const struct vocab *vocab = tokenizer_vocab(j->tokenizer);
	struct build b = { .recipe = NULL };
	struct docset docs;
	bool over = true;
	int rc = -1;

	docset_init(&docs, shard, p->shards, vocab_id_bytes(vocab), j->recipe.vocab_size, job_budget(j));
	if (load_documents(j, &docs, x))
		goto done;
	if (!docs.over) {
		if (build_init(&b, &j->recipe, vocab, &docs, (unsigned)j->opts.threads, job_budget(j) - docs.bytes) ||
		    build_drafts(&b))
			goto done;
		over = b.over;
	}
	rc = over ? narrow : job_write_held(j, p, shard, &b);
done:
	build_release(&b);
	docset_release(&docs);
	return !rc && over ? job_write_big(j, p, x, shard) : rc;
}

static int refuse_other_numbers(const struct job *j, const struct plan *p)
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

int job_refuse_others(const struct job *j, const struct plan *p)
{
	int rc = refuse_other_numbers(j, p);

	for (uint32_t k = 0; j->mending && k < p->shards && !rc; k++) {
		struct shard *s;

		rc = job_shard_open(j, p, k, &s) < 0 ? -1 : 0;
		shard_close(s);
	}
	return rc;
}

/* Either another part has finished everything since job_start, or the stages before are missing. */
static int without_plan(struct job *j)
{
	struct manifest *m;

	if (manifest_load(&m, j->opts.folder))
		return -1;
	if (!m)
		return plan_lacks(j);
	j->report.complete = true;
	manifest_free(m);
	return fs_remove_tree(j->work);
}

int job_write(struct job *j, uint64_t part, uint64_t parts)
{
	struct job_written written;
	struct plan *p = NULL;
	int rc = -1;

	if (plan_load(&p, j))
		return -1;
	if (!p)
		return without_plan(j);
	job_written_start(j, &written);
	if (!job_refuse_others(j, p) && !job_write_shards(j, p, part, parts))
		rc = job_finish(j, p, &j->report.complete);
	job_written_end(j);
	job_forget_held(j);
	plan_free(p);
	return rc;
}
