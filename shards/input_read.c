/* Reads the input: text is tokenized on the way, token documents are checked. */
#include "shards/input.h"
#include "base/err.h"
#include "base/jsonl_documents.h"
#include "base/pool.h"
#include "shards/canon.h"
#include "shards/keys.h"
#include "shards/tokdoc_encoder.h"

#include <inttypes.h>

#define BATCH_DOCUMENTS 64
#define BATCH_LEAST (16 << 10)		/* bytes of text, after which a batch is closed: between these, by memory */
#define BATCH_MOST (256 << 10)
#define CACHE_LEAST (128 << 10)		/* bytes of a thread's words met before, likewise */
#define CACHE_MOST (8 << 20)

/* OF names what N counts ("at byte 17", "number 17"), WHAT the LEN bytes. */
static int refuse(const struct inputs_reading *r, size_t file, const char *of, uint64_t n, uint64_t len, const char *what,
		  uint64_t memory)
{
	return err_fail("'%s': the document %s %" PRIu64 " has %" PRIu64 " bytes of %s, which do not fit: give more --memory, %"
			PRIu64 "M or so",
			r->inputs->files[file].name, of, n, len, what, (memory >> 20) + 1);
}

static int count_and_take(struct inputs_reading *r, size_t file, const struct tokdoc_totals *one,
			  const unsigned char *body, size_t len, const char *of, uint64_t n)
{
	if (r->longest && len > r->longest)
		return refuse(r, file, of, n, len, "tokens", r->enough(r->job, 0, len));
	tokdoc_totals_add(&r->counts[file], one);
	tokdoc_totals_add(&r->total, one);
	return r->take(r->ctx, body, len);
}

static void show(const struct inputs_reading *r, uint64_t bytes)
{
	if (r->progress)
		progress_update(r->progress, r->total.documents, bytes);
}

/* --- text ----------------------------------------------------------------------------------- */

/* Documents on their way through the pool. */
struct batch {
	struct document docs[BATCH_DOCUMENTS];
	uint32_t tokens[BATCH_DOCUMENTS];
	size_t n;
	uint64_t progress;		/* bytes read when it was full */
	uint64_t repaired;		/* in JSON lines */
	struct buf records;
};

struct text_run {
	struct inputs_reading *r;
	struct lines *lines;
	size_t first_file;		/* of the run, among all */
	unsigned id_bytes;
	struct tokdoc_encoder *workers;
	struct jsonl *documents;	/* a worker's, of JSON lines */
	size_t batch_bytes;
	uint64_t before;		/* bytes of files before this run, for progress */
	uint64_t offset, length;	/* of the document before, in FILE; length 0: there is none */
	unsigned file;
};

/* A document takes all up to the next one; the last of a file or stretch its text, and two line ends. */
static void count_bytes(struct text_run *run, const struct document *d)
{
	if (run->length && run->file == d->file && d->offset > run->offset)
		run->r->text_bytes += d->offset - run->offset - run->length;
	run->file = d->file;
	run->offset = d->offset;
	run->length = d->text.len + 1;
	run->r->text_bytes += run->length;
}

/* Where it was for its length, the reason says what memory would do: a byte of text is a byte of tokens at most, most likely. */
static int fail_to_read(const struct text_run *run)
{
	const struct lines_refused *is = lines_refused(run->lines);
	const struct inputs_reading *r = run->r;

	if (!is)
		return -1;
	return refuse(r, run->first_file + is->file, "at byte", is->offset, is->bytes, "text", r->enough(r->job, is->bytes, is->bytes));
}

static int read_batch(void *ctx, void *item)
{
	struct text_run *run = ctx;
	struct batch *b = item;
	uint64_t total;
	size_t bytes = 0;

	for (b->n = 0; b->n < BATCH_DOCUMENTS && bytes < run->batch_bytes; b->n++) {
		const int rc = lines_next_document(run->lines, &b->docs[b->n]);

		if (rc < 0)
			return fail_to_read(run);
		if (!rc)
			break;
		bytes += b->docs[b->n].text.len;
	}
	b->progress = run->before + lines_progress(run->lines, &total);
	return b->n > 0;
}

/* D, a JSON line, becomes its document, with the names in J. One of blank lines only has no line then. */
static int parse_line(const struct text_run *run, struct document *d, struct jsonl *j, uint64_t *repaired)
{
	const struct jsonl_how how = { .keep_marks = run->r->keep_marks, .strict = run->r->strict };

	return jsonl_document(j, d, run->r->inputs->files[run->first_file + d->file].name, &how, repaired);
}

static int tokenize(const struct text_run *run, struct tokdoc_encoder *e, const struct document *d)
{
	const struct inputs_reading *r = run->r;

	e->most = r->longest / run->id_bytes;
	if (!tokdoc_encoder_run(e, d->text.data, d->text.len, d->key))
		return 0;
	if (!e->most || e->tokens <= e->most)
		return -1;
	return refuse(r, run->first_file + d->file, "at byte", d->offset, e->tokens * run->id_bytes, "tokens",
		      r->enough(r->job, 0, e->tokens * run->id_bytes + d->n_lines));
}

static int encode_batch(void *ctx, void *item, unsigned worker)
{
	const struct text_run *run = ctx;
	struct tokdoc_encoder *e = &run->workers[worker];
	struct jsonl *j = run->documents ? &run->documents[worker] : NULL;
	struct batch *b = item;

	buf_clear(&b->records);
	b->repaired = 0;
	for (size_t i = 0; i < b->n; i++) {
		struct document *d = &b->docs[i];

		if (j && parse_line(run, d, j, &b->repaired))
			return -1;
		if (!d->n_lines)
			continue;
		if (tokenize(run, e, d))
			return -1;
		if (j)
			tokdoc_encoder_name(e, (struct jsonl_text){ j->id.data, j->id.len }, (struct jsonl_text){ j->title.data, j->title.len });
		if (tokdoc_encode(&b->records, &e->doc, run->id_bytes))
			return -1;
		b->tokens[i] = (uint32_t)e->doc.n_tokens;
	}
	return 0;
}

static int take_batch(void *ctx, void *item)
{
	struct text_run *run = ctx;
	struct batch *b = item;
	const unsigned char *p = (const unsigned char *)b->records.data, *end = p + b->records.len, *body;
	size_t len;

	for (size_t i = 0; i < b->n; i++) {
		struct document *d = &b->docs[i];
		const struct tokdoc_totals one = { 1, d->n_lines, b->tokens[i], d->text.len - 1, d->key };

		if (d->n_lines && (tokdoc_split(&p, end, &body, &len) ||
				   count_and_take(run->r, run->first_file + d->file, &one, body, len, "at byte", d->offset)))
			return -1;
		count_bytes(run, d);
		if (d->text.cap + d->cap_lines * sizeof(*d->ends) > run->batch_bytes / 8) {
			document_release(d);
			*d = (struct document)DOCUMENT_INIT;
		}
	}
	if (b->records.cap > 2 * run->batch_bytes)
		buf_release(&b->records);
	run->r->bad_bytes += b->repaired;
	show(run->r, b->progress);
	return 0;
}

static size_t between(size_t v, size_t least, size_t most)
{
	return v < least ? least : v > most ? most : v;
}

/*
 * Half the memory is for words met, half for batches. What a batch keeps for its next documents is up to
 * an eighth of it for each, and its records: about ten times its bytes, when it comes to the worst.
 */
static size_t share(const struct inputs_reading *r, size_t n, size_t least, size_t most)
{
	return r->memory ? between(r->memory / 2 / n, least, most) : most;
}

static void free_batches(struct batch *batches, size_t n)
{
	for (size_t i = 0; batches && i < n; i++) {
		for (size_t d = 0; d < BATCH_DOCUMENTS; d++)
			document_release(&batches[i].docs[d]);
		buf_release(&batches[i].records);
	}
	free(batches);
}

/* Tokenizes all that RUN's lines give. */
static int pump_text(struct text_run *run)
{
	const unsigned threads = run->r->threads ? run->r->threads : 1, depth = 2 * threads;
	struct batch *batches = calloc(depth, sizeof(*batches));
	struct pool pool = {
		.threads = threads, .depth = depth, .items = batches, .item_size = sizeof(*batches),
		.read = read_batch, .work = encode_batch, .write = take_batch, .ctx = run,
	};
	const size_t cache = share(run->r, threads, CACHE_LEAST, CACHE_MOST);
	int rc = -1;

	run->batch_bytes = share(run->r, 10 * (size_t)depth, BATCH_LEAST, BATCH_MOST);
	run->workers = calloc(threads, sizeof(*run->workers));
	if (run->r->inputs->form == LINES_JSON)
		run->documents = calloc(threads, sizeof(*run->documents));
	if (!batches || !run->workers || (run->r->inputs->form == LINES_JSON && !run->documents)) {
		err_memory();
		goto done;
	}
	for (unsigned i = 0; i < threads; i++)
		if (tokdoc_encoder_open(&run->workers[i], run->r->tokenizer, cache))
			goto done;
	rc = pool_run(&pool);
	run->r->bad_bytes += lines_bad_bytes(run->lines);
done:
	free_batches(batches, depth);
	for (unsigned i = 0; run->workers && i < threads; i++)
		tokdoc_encoder_close(&run->workers[i]);
	for (unsigned i = 0; run->documents && i < threads; i++)
		jsonl_release(&run->documents[i]);
	free(run->workers);
	free(run->documents);
	return rc;
}

/* Files FIRST .. FIRST+N-1, all text. */
static int read_text(struct inputs_reading *r, size_t first, size_t n, uint64_t before)
{
	struct lines_opts opts = { .form = r->inputs->form, .threads = r->threads, .keep_marks = r->keep_marks,
				   .strict = r->strict, .longest = r->longest_text };
	struct text_run run = {
		.r = r,
		.first_file = first,
		.before = before,
		.id_bytes = vocab_id_bytes(tokenizer_vocab(r->tokenizer)),
	};
	const char **names = calloc(n, sizeof(*names));
	struct in *standard = r->inputs->standard;
	int rc = -1;

	if (!names)
		return err_memory();
	for (size_t i = 0; i < n; i++)
		names[i] = r->inputs->files[first + i].name;
	if (standard) {
		r->inputs->standard = NULL;	/* lines owns it now */
		rc = lines_open_stream(&run.lines, standard, &opts);
	} else if (r->parts == 1 || !lines_divide(names, n, r->part, r->parts, &opts)) {
		rc = lines_open(&run.lines, names, n, &opts);
	}
	if (!rc) {
		rc = pump_text(&run);
		lines_close(run.lines);
	}
	free(names);
	return rc;
}

/* --- token documents: a file, by block ---------------------------------------------------------- */

struct checked_block {
	uint64_t number;
	struct frame_block block;
	struct tokdoc_totals *counts;	/* [block.records] */
	size_t cap;
};

struct token_run {
	struct inputs_reading *r;
	struct tokdoc_file *file;
	size_t number;			/* of the file */
	uint64_t next, end;		/* blocks */
	struct tokdoc *workers;
	uint64_t before, bytes;		/* for progress */
	struct tokdoc_totals seen;
};

static int read_number(void *ctx, void *item)
{
	struct token_run *run = ctx;

	if (run->next == run->end)
		return 0;
	((struct checked_block *)item)->number = run->next++;
	return 1;
}

static int check_block(void *ctx, void *item, unsigned worker)
{
	const struct token_run *run = ctx;
	const struct tokdoc_header *h = tokdoc_file_header(run->file);
	struct tokdoc *d = &run->workers[worker];
	struct checked_block *c = item;
	const unsigned char *p, *end;

	if (tokdoc_file_read(run->file, c->number, &c->block) ||
	    array_grow(&c->counts, &c->cap, c->block.records, sizeof(*c->counts)))
		return -1;
	p = (const unsigned char *)c->block.raw.data;
	end = p + c->block.raw.len;
	for (uint32_t i = 0; i < c->block.records; i++) {
		if (tokdoc_decode(&p, end, h->id_bytes, h->vocab_size, d))
			return err_prefix("'%s': block %" PRIu64, tokdoc_file_name(run->file), c->number);
		c->counts[i] = (struct tokdoc_totals){ 0 };
		tokdoc_totals_count(&c->counts[i], d);
	}
	if (c->block.records && p != end)
		return err_corrupt("'%s': block %" PRIu64 " holds more than its documents", tokdoc_file_name(run->file),
				   c->number);
	return 0;
}

static int take_block(void *ctx, void *item)
{
	struct token_run *run = ctx;
	struct checked_block *c = item;
	const unsigned char *p = (const unsigned char *)c->block.raw.data, *end = p + c->block.raw.len, *body;
	size_t len;

	for (uint32_t i = 0; i < c->block.records; i++) {
		if (tokdoc_split(&p, end, &body, &len) ||
		    count_and_take(run->r, run->number, &c->counts[i], body, len, "number",
				   c->block.first_record + i))
			return -1;
		tokdoc_totals_add(&run->seen, &c->counts[i]);
	}
	run->bytes += c->block.raw.len;
	show(run->r, run->before + run->bytes);
	return 0;
}

static int pump_blocks(struct token_run *run)
{
	const unsigned threads = run->r->threads ? run->r->threads : 1, depth = 2 * threads;
	struct checked_block *items = calloc(depth, sizeof(*items));
	struct pool pool = {
		.threads = threads, .depth = depth, .items = items, .item_size = sizeof(*items),
		.read = read_number, .work = check_block, .write = take_block, .ctx = run,
	};
	int rc = -1;

	run->workers = calloc(threads, sizeof(*run->workers));
	if (!items || !run->workers)
		err_memory();
	else
		rc = pool_run(&pool);
	for (unsigned i = 0; items && i < depth; i++) {
		frame_block_release(&items[i].block);
		free(items[i].counts);
	}
	for (unsigned i = 0; run->workers && i < threads; i++)
		tokdoc_release(&run->workers[i]);
	free(items);
	free(run->workers);
	return rc;
}

static int read_token_file(struct inputs_reading *r, size_t number, uint64_t before)
{
	struct token_run run = { .r = r, .number = number, .before = before };
	uint64_t blocks;
	int rc;

	if (tokdoc_file_open(&run.file, r->inputs->files[number].name))
		return -1;
	blocks = tokdoc_file_blocks(run.file);
	run.next = (uint64_t)((unsigned __int128)blocks * r->part / r->parts);
	run.end = (uint64_t)((unsigned __int128)blocks * (r->part + 1) / r->parts);
	rc = pump_blocks(&run);
	if (!rc && r->parts == 1 && !tokdoc_totals_equal(&run.seen, tokdoc_file_totals(run.file)))
		rc = err_corrupt("'%s': the trailer's totals are not those of its documents",
				 tokdoc_file_name(run.file));
	tokdoc_file_close(run.file);
	return rc;
}

/* --- token documents: a stream --------------------------------------------------------------------- */

/* Token documents through a pipe, or packed ones. */
static int read_token_stream(struct inputs_reading *r, size_t number)
{
	const struct input *f = &r->inputs->files[number];
	struct tokdoc_reader *reader = r->inputs->standard_tokens;
	struct tokdoc doc = TOKDOC_INIT;
	struct in *in;
	const unsigned char *body;
	size_t len;
	int rc = 0;

	r->inputs->standard_tokens = NULL;
	if (!reader && (in_open(&in, f->name, r->threads) || tokdoc_reader_open(&reader, in)))
		return -1;
	while (!rc && (rc = tokdoc_reader_next(reader, &doc)) > 0) {
		struct tokdoc_totals one = { 0 };

		tokdoc_totals_count(&one, &doc);
		tokdoc_reader_body(reader, &body, &len);
		rc = count_and_take(r, number, &one, body, len, "number", r->counts[number].documents);
		show(r, 0);
	}
	tokdoc_release(&doc);
	tokdoc_reader_close(reader);
	return rc;
}

/* --- all --------------------------------------------------------------------------------------------- */

static int check_divisible(const struct inputs_reading *r)
{
	for (size_t i = 0; r->parts > 1 && i < r->inputs->n; i++) {
		const struct input *f = &r->inputs->files[i];

		if (f->stream)
			return err_usage("%s cannot be read in parts: only files can",
					 strcmp(f->name, "-") ? "a pipe" : "standard input");
		if (f->packed)
			return err_usage(
				"'%s' is packed and cannot be read in parts: unpack it, or index with one part",
				f->name);
	}
	return 0;
}

int inputs_read(struct inputs_reading *r)
{
	const struct inputs *in = r->inputs;
	uint64_t before = 0;

	if (check_divisible(r))
		return -1;
	for (size_t i = 0, n; i < in->n; i += n) {
		const struct input *f = &in->files[i];
		int rc;

		n = 1;
		if (!f->tokens) {
			while (i + n < in->n && !in->files[i + n].tokens)
				n++;
			rc = read_text(r, i, n, before);
		} else if (f->stream || f->packed) {
			rc = read_token_stream(r, i);
		} else {
			rc = read_token_file(r, i, before);
		}
		if (rc)
			return -1;
		for (size_t k = i; k < i + n; k++)
			before += in->files[k].bytes;
	}
	return 0;
}
