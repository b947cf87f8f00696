/* The first stage: a part's stretch of the input to token documents sorted by key. */
#include "shards/job_impl.h"
#include "base/spill.h"
#include "shards/canon.h"
#include "shards/keys.h"

#include <inttypes.h>

#define RESERVE_BASE ((uint64_t)24 << 20)
#define RESERVE_THREAD ((uint64_t)6 << 20)

static int compare(const void *a, size_t a_len, const void *b, size_t b_len, void *ctx)
{
	const int rc = memcmp(a, b, a_len < b_len ? a_len : b_len);

	(void)ctx;
	if (rc)
		return rc;
	return a_len < b_len ? -1 : a_len > b_len;
}

static uint64_t prefix(const void *record, size_t len, void *ctx)
{
	(void)ctx;
	return spill_prefix(record, len);
}

struct sorting {
	struct spill *spill;
	size_t memory;
};

static int take(void *ctx, const unsigned char *body, size_t len)
{
	struct sorting *s = ctx;

	if (len > s->memory / 4)
		return err_fail("a document of %zu bytes of tokens does not fit: give more --memory", len);
	return spill_add(s->spill, body, len);
}

/* What the trailer says beside the totals: whose index it is. */
static json_t *make_notes(const struct job *j, const struct inputs_reading *r)
{
	json_t *o = json_object(), *inputs = json_array();

	if (!o || !inputs || json_object_set(o, "inputs", inputs) ||
	    canon_set(o, "identity", canon_of_key(j->digest)) || canon_set(o, "part", canon_of_uint(r->part)) ||
	    canon_set(o, "parts", canon_of_uint(r->parts)))
		goto fail;
	for (size_t i = 0; i < j->inputs.n; i++)
		if (json_array_append_new(inputs, tokdoc_totals_json(&r->counts[i])))
			goto fail;
	json_decref(inputs);
	return o;
fail:
	json_decref(inputs);
	json_decref(o);
	err_memory();
	return NULL;
}

static int put_sorted(struct tokdoc_writer *w, struct spill *spill)
{
	struct tokdoc_block block = TOKDOC_BLOCK_INIT;
	const void *record;
	size_t len;
	int rc;

	while ((rc = spill_next(spill, &record, &len)) > 0) {
		if (tokdoc_block_put(&block, record, len)) {
			rc = -1;
			break;
		}
		if (!tokdoc_block_full(&block))
			continue;
		if (tokdoc_writer_add(w, &block)) {
			rc = -1;
			break;
		}
		tokdoc_block_clear(&block);
	}
	if (!rc)
		rc = tokdoc_writer_add(w, &block);
	tokdoc_block_release(&block);
	return rc;
}

/* Writes what SPILL holds, in order. */
static int write_index(const struct job *j, struct spill *spill, const struct inputs_reading *r)
{
	char *path = job_index_path(j, r->part, r->parts);
	struct tokdoc_writer *w = NULL;
	struct out *out = NULL;
	json_t *notes;
	int rc = -1;

	if (!path || spill_sort(spill) || out_open(&out, path) ||
	    tokdoc_writer_open(&w, out, j->recipe.tokenizer, true))
		goto done;
	tokdoc_writer_count(w, &r->total);
	if (put_sorted(w, spill) || !(notes = make_notes(j, r)))
		goto done;
	rc = tokdoc_writer_finish(w, notes);
	w = NULL;
	if (!rc)
		rc = out_commit(out);
	if (!rc)
		out = NULL;
done:
	tokdoc_writer_abandon(w);
	out_discard(out);
	free(path);
	return rc;
}

/* What is not needed for documents on their way and by tokenizers. */
static size_t spill_memory(const struct job *j)
{
	const uint64_t reserve = RESERVE_BASE + RESERVE_THREAD * j->opts.threads, least = j->opts.memory / 4;
	const uint64_t left = j->opts.memory > reserve ? j->opts.memory - reserve : 0;

	return (size_t)(left > least ? left : least);
}

int job_index(struct job *j, uint64_t part, uint64_t parts)
{
	struct sorting s = { .memory = spill_memory(j) };
	const struct spill_opts opts = {
		.memory = s.memory,
		.folder = j->opts.tmp,
		.threads = (unsigned)j->opts.threads,
		.compare = compare,
		.prefix = prefix,
	};
	struct inputs_reading r = {
		.inputs = &j->inputs,
		.tokenizer = j->tokenizer,
		.threads = (unsigned)j->opts.threads,
		.part = part,
		.parts = parts,
		.take = take,
		.ctx = &s,
		.progress = j->opts.progress,
	};
	struct tokdoc_file *f;
	int rc = -1;

	if (job_open_index(j, part, parts, &f))
		return -1;
	if (f) {
		tokdoc_file_close(f);
		return 0;
	}
	if (r.progress)
		progress_start(r.progress, "documents", parts == 1 ? j->inputs.bytes : 0);
	r.counts = calloc(j->inputs.n, sizeof(*r.counts));
	if (!r.counts)
		err_memory();
	else if (!spill_open(&s.spill, &opts) && !inputs_read(&r))
		rc = write_index(j, s.spill, &r);
	if (r.progress)
		progress_end(r.progress);
	j->report.bad_bytes += r.bad_bytes;
	j->report.indexed += r.total.documents;
	spill_close(s.spill);
	free(r.counts);
	return rc;
}
