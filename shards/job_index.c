/* The first stage: a part's stretch of the input to token documents sorted by key. */
#include "shards/job_impl.h"
#include "base/frame.h"
#include "base/in.h"
#include "base/pool.h"
#include "base/spill.h"
#include "shards/canon.h"
#include "shards/keys.h"

#include <inttypes.h>

#define TOO_LONG 4				/* of the memory for sorting, a record is a share of this at most */
#define TEXT_TOO_LONG 3			/* of all memory, a text: tokens take up to half before they are too many */
#define NAMES ((uint64_t)256 << 10)		/* bytes of a record that may be id, title and numbers */
#define RESERVE ((uint64_t)12 << 20)		/* for all but documents */
#define BLOCKS 4				/* on their way to the index */
#define TABLES_SHARE 8				/* of memory that places of more cells than shards need may take */
#define DOCUMENT_LEAST 64			/* bytes: a block has one document at least */
#define TABLES_BLOCK 56				/* kept of a block: its entry in the index, its first key */
#define READING_THREAD ((uint64_t)16 << 20)	/* of memory that reading makes use of */

static int take(void *ctx, const unsigned char *body, size_t len)
{
	return spill_add(ctx, body, len);
}

/* What the trailer says beside the totals: whose index it is. */
static json_t *make_notes(const struct job *j, const struct inputs_reading *r)
{
	json_t *o = json_object();

	if (o && !canon_set(o, "inputs", tokdoc_totals_array(r->counts, j->inputs.n)) &&
	    !canon_set(o, "identity", canon_of_key(j->digest)) && !canon_set(o, "part", canon_of_uint(r->part)) &&
	    !canon_set(o, "parts", canon_of_uint(r->parts)))
		return o;
	json_decref(o);
	err_memory();
	return NULL;
}

/* --- cells: how finely a part is cut ------------------------------------------------------------- */

/* Bytes of a part's token documents, about. */
static uint64_t part_bytes(const struct job *j, const struct tokdoc_totals *part)
{
	return part->tokens * vocab_id_bytes(tokenizer_vocab(j->tokenizer)) + part->sentences + 24 * part->documents;
}

/*
 * Into how many stretches of keys, of which a block holds one's documents only: so that a shard is whole stretches. Of
 * --shards that is any multiple of them; else there will be a power of two of shards, and of as many stretches as there
 * would be shards were all parts like PART, twice that is enough (README.md, "To 10 TB, on paper"). A
 * stretch is a block at most, where memory allows.
 */
static uint32_t cells_for(const struct job *j, const struct tokdoc_totals *part, uint64_t parts)
{
	const uint64_t most = j->opts.memory / TABLES_SHARE / TOKDOC_CELLS_ENTRY, bytes = part_bytes(j, part);
	const struct tokdoc_totals all = {
		.documents = part->documents * parts,
		.sentences = part->sentences * parts,
		.tokens = part->tokens * parts,
	};
	uint64_t n = plan_shards_most(j, &all);

	if (!j->opts.shards)
		n *= 2;
	while (bytes / n > TOKDOC_BLOCK_BYTES && 2 * n <= most && 2 * n <= TOKDOC_CELLS_MAX)
		n *= 2;
	return (uint32_t)n;
}

/* What is kept, while a part's index is written, of its blocks and cells. */
static uint64_t tables_memory(const struct job *j, uint64_t parts)
{
	struct tokdoc_totals part;
	uint64_t bytes, cells, blocks;

	job_forecast_corpus(j, &part);
	part.tokens /= parts;
	part.sentences /= parts;
	part.documents /= parts;
	cells = cells_for(j, &part, parts);
	bytes = part_bytes(j, &part);
	blocks = bytes / TOKDOC_BLOCK_BYTES + (cells < bytes / DOCUMENT_LEAST ? cells : bytes / DOCUMENT_LEAST);
	return blocks * TABLES_BLOCK + cells * TOKDOC_CELLS_ENTRY;
}

/* --- writing: one thread gathers what is in order, another one writes it ------------------------ */

struct sorted {
	struct tokdoc_writer *writer;
	struct spill *spill;
	uint32_t cells;
	const void *record;		/* the next one, which began another cell; NULL: not looked at */
	size_t len;
};

static int next_record(struct sorted *s)
{
	return s->record ? 1 : spill_next(s->spill, &s->record, &s->len);
}

/* Up to the end of a block or of its cell, whichever comes first. */
static int gather_block(void *ctx, void *item)
{
	struct sorted *s = ctx;
	struct tokdoc_block *b = item;
	uint32_t cell = 0;

	tokdoc_block_clear(b);
	while (!tokdoc_block_full(b)) {
		const int rc = next_record(s);
		uint32_t own;

		if (rc <= 0)
			return rc ? -1 : b->records > 0;
		own = key_shard(tokdoc_body_key(s->record), s->cells);
		if (b->records && own != cell)
			break;
		cell = own;
		if (tokdoc_block_put(b, s->record, s->len))
			return -1;
		s->record = NULL;
	}
	return 1;
}

static int nothing_to_do(void *ctx, void *item, unsigned worker)
{
	(void)ctx;
	(void)item;
	(void)worker;
	return 0;
}

static int write_block(void *ctx, void *item)
{
	const struct sorted *s = ctx;

	return tokdoc_writer_add(s->writer, item);
}

static int put_sorted(struct tokdoc_writer *w, struct spill *spill, uint32_t cells, unsigned threads)
{
	struct sorted s = { .writer = w, .spill = spill, .cells = cells };
	struct tokdoc_block blocks[BLOCKS] = { TOKDOC_BLOCK_INIT };
	struct pool pool = { .threads = threads < 2 ? 1 : 2, .depth = BLOCKS, .items = blocks, .item_size = sizeof(*blocks),
			     .read = gather_block, .work = nothing_to_do, .write = write_block, .ctx = &s };
	const int rc = pool_run(&pool);

	for (unsigned i = 0; i < BLOCKS; i++)
		tokdoc_block_release(&blocks[i]);
	return rc;
}

/* Writes what SPILL holds, in order. */
static int write_index(const struct job *j, struct spill *spill, const struct inputs_reading *r)
{
	char *path = job_index_path(j, r->part, r->parts);
	const uint32_t cells = cells_for(j, &r->total, r->parts);
	struct tokdoc_writer *w = NULL;
	struct out *out = NULL;
	json_t *notes;
	int rc = -1;

	if (!path || out_open(&out, path) ||
	    tokdoc_writer_open(&w, out, j->recipe.tokenizer, true))
		goto done;
	tokdoc_writer_count(w, &r->total);
	tokdoc_writer_cells(w, cells, j->digest);
	if (put_sorted(w, spill, cells, (unsigned)j->opts.threads) || !(notes = make_notes(j, r)))
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

/* The rest is for sorting the documents. */
uint64_t job_reading_memory(const struct job *j)
{
	const uint64_t most = READING_THREAD * j->opts.threads, half = j->opts.memory / 2;

	return most < half ? most : half;
}

uint64_t job_sorting_memory(const struct job *j, uint64_t parts)
{
	const uint64_t left = j->opts.memory - job_reading_memory(j), least = j->opts.memory / 4;
	const uint64_t other = RESERVE + tables_memory(j, parts);

	return left > other && left - other > least ? left - other : least;
}

/* By the two above, and job_limit_documents. A record has lengths of sentences, and names, beside its tokens. */
static uint64_t enough(const void *job, uint64_t text, uint64_t record)
{
	const struct job *j = job;
	const uint64_t sorting = TOO_LONG * (record + record / 64 + NAMES), beside = READING_THREAD * j->opts.threads + RESERVE;
	const uint64_t all = sorting + beside < 4 * sorting ? sorting + beside : 4 * sorting;

	return all > TEXT_TOO_LONG * text ? all : TEXT_TOO_LONG * text;
}

void job_limit_documents(const struct job *j, uint64_t parts, struct inputs_reading *r)
{
	r->longest = (size_t)(job_sorting_memory(j, parts) / TOO_LONG);
	r->longest_text = (size_t)(j->opts.memory / TEXT_TOO_LONG);
	r->enough = enough;
	r->job = j;
}

/* --- what is there ------------------------------------------------------------------------------- */

int job_index_is_sound(const char *path)
{
	struct frame_block block = FRAME_BLOCK_INIT;
	struct frame_reader *frame = NULL;
	struct in *in;
	int rc;

	if (in_open(&in, path, 1))
		return -1;
	rc = frame_open(&frame, in, TOKDOC_KIND);
	while (!rc && (rc = frame_next(frame, &block)) > 0)
		rc = 0;
	if (rc)
		rc = err_code() == EXIT_CORRUPT ? 0 : -1;
	else
		rc = 1;
	frame_close(frame);
	frame_block_release(&block);
	return rc;
}

int job_blame_index(const struct job *j, uint32_t parts)
{
	struct err reason;
	int sound = 1;

	err_get(&reason);
	for (uint32_t i = 0; i < parts && sound == 1; i++) {
		char *path = job_index_path(j, i, parts);

		sound = path && fs_exists(path) ? job_index_is_sound(path) : -1;
		if (!sound) {
			err_get(&reason);
			err_corrupt("%.900s: run --stage index --part %" PRIu32 "/%" PRIu32 " again", reason.text, i, parts);
			err_get(&reason);
		}
		free(path);
	}
	return err_put(&reason);
}

/* Whether a part is there, every byte of it: 1, 0, -1 failed. */
static int is_there(const struct job *j, uint64_t part, uint64_t parts)
{
	struct tokdoc_cells *c;
	char *path;
	int rc;

	if (job_open_cells(j, part, parts, &c))
		return -1;
	tokdoc_cells_close(c);
	if (!c)
		return 0;
	path = job_index_path(j, part, parts);
	rc = path ? job_index_is_sound(path) : -1;
	free(path);
	return rc;
}

/* --- reading ------------------------------------------------------------------------------------- */

static void release(struct job_gathered *g)
{
	spill_close(g->spill);
	free(g->reading.counts);
	free(g);
}

static int read_and_sort(struct job *j, struct job_gathered *g)
{
	struct inputs_reading *r = &g->reading;
	int rc;

	if (r->progress)
		progress_start(r->progress, "documents", r->parts == 1 ? j->inputs.bytes : 0);
	rc = inputs_read(r) || spill_sort(g->spill) ? -1 : 0;
	if (r->progress)
		progress_end(r->progress);
	j->report.bad_bytes += r->bad_bytes;
	j->report.indexed += r->total.documents;
	return rc;
}

/* Reads a part. NULL: failed */
static struct job_gathered *gather(struct job *j, uint64_t part, uint64_t parts)
{
	const uint64_t tables = tables_memory(j, parts);
	const struct spill_opts opts = {
		.memory = (size_t)job_sorting_memory(j, parts),
		.folder = j->opts.tmp,
		.threads = (unsigned)j->opts.threads,
		.compare = spill_compare_bytes,
		.prefix = spill_prefix_bytes,
	};
	struct job_gathered *g;

	if (tables > j->opts.memory / 2) {
		err_fail("part %" PRIu64 "/%" PRIu64 " is too large for --memory: what is kept of its blocks takes %" PRIu64
			 "M of it: give more of it, or make more parts", part, parts, (tables >> 20) + 1);
		return NULL;
	}
	g = calloc(1, sizeof(*g));
	if (!g) {
		err_memory();
		return NULL;
	}
	g->reading = (struct inputs_reading){
		.inputs = &j->inputs,
		.tokenizer = j->tokenizer,
		.threads = (unsigned)j->opts.threads,
		.part = part,
		.parts = parts,
		.memory = (size_t)job_reading_memory(j),
		.strict = j->opts.strict,
		.take = take,
		.progress = j->opts.progress,
		.counts = calloc(j->inputs.n, sizeof(*g->reading.counts)),
	};
	job_limit_documents(j, parts, &g->reading);
	if (!g->reading.counts) {
		err_memory();
	} else if (!spill_open(&g->spill, &opts)) {
		g->reading.ctx = g->spill;
		if (!read_and_sort(j, g))
			return g;
	}
	release(g);
	return NULL;
}

/* --- the stage ----------------------------------------------------------------------------------- */

int job_index(struct job *j, uint64_t part, uint64_t parts)
{
	struct job_gathered *g;
	int rc = is_there(j, part, parts);

	if (rc)
		return rc < 0 ? -1 : 0;
	g = gather(j, part, parts);
	if (!g)
		return -1;
	rc = write_index(j, g->spill, &g->reading);
	release(g);
	return rc;
}

/* Makes the plan of what was gathered. */
static int plan_gathered(struct job *j, const struct inputs_reading *r, struct plan **out)
{
	struct plan *p = *out = plan_new(j);

	if (!p)
		return -1;
	memcpy(p->inputs, r->counts, p->n_inputs * sizeof(*p->inputs));
	p->corpus = r->total;
	p->parts = 1;
	return plan_settle(p, j);
}

int job_index_and_plan(struct job *j)
{
	struct plan *p = NULL;
	int rc = is_there(j, 0, 1);

	if (rc)
		return rc < 0 ? -1 : job_plan(j);
	j->held = gather(j, 0, 1);
	if (!j->held)
		return -1;
	rc = plan_gathered(j, &j->held->reading, &p);
	if (!rc && !job_can_hold(j, p))
		rc = job_let_go(j);
	if (!rc)
		rc = plan_save(p, j);
	plan_free(p);
	return rc;
}

int job_let_go(struct job *j)
{
	const int rc = j->held ? write_index(j, j->held->spill, &j->held->reading) : 0;

	job_forget_held(j);
	return rc;
}

void job_forget_held(struct job *j)
{
	if (j->held)
		release(j->held);
	j->held = NULL;
}
