/* What a job would make: the input or a sample of it, made into shards that are thrown away (job_trial.h). */
#include "shards/job_impl.h"
#include "base/spill.h"
#include "shards/build.h"
#include "shards/job_pace.h"
#include "shards/job_trial.h"

#include <math.h>

#define WHOLE ((uint64_t)64 << 20)	/* bytes of input up to which all of it is read */
#define PIECES 256			/* of a larger one: many and small, since documents that are alike stand together */
#define PIECE ((uint64_t)128 << 10)	/* bytes, about */
#define PIECE_MEMORY ((uint64_t)2 << 20)	/* of each thread, for words met: a piece has no more */
#define STRETCH ((uint64_t)16 << 20)	/* bytes that are read to see how fast it goes, ... */
#define WARM ((uint64_t)1 << 20)	/* ... once so many bytes of records were made: words are known then */
#define KEPT ((uint64_t)64 << 20)	/* bytes of records built at most, of what must be read whole */

/* Of shards/FORMAT.md, "The frame": bytes of a file beside header, blocks and totals. */
#define FRAME_BYTES 160
#define TOTALS_BYTES 230

/* Of a spilled record of an instance and of a request (job_big.c), beside ids. */
#define SPILLED_INSTANCE 58
#define SPILLED_REQUEST 96

/*
 * Processor's seconds of a byte of a shard, or of an index or sorted run that is read again, beside what making it takes:
 * of 230 MB of novels at dupe factors 1 and 5, within 1 GiB and 64 MiB.
 */
#define BYTE_SECONDS 1.5e-9
#define BEGUN ((uint64_t)4 << 20)	/* bytes of a file that are left to write when all of it was made (base/out.c) */

/* --- the sample ----------------------------------------------------------------------------------- */

struct sample {
	struct job *j;
	struct inputs_reading reading;
	struct tokdoc_totals *counts;	/* [inputs.n] */
	struct spill *spill;		/* its records, by key; NULL: DOCS has them, in the order of the input */
	struct docset *docs;
	uint64_t bytes;			/* of records kept */
	uint64_t under;			/* kept are documents that trial_keeps */
	uint64_t read, pieces;		/* pieces read, of so many. All input: 1 of 1 */
	double reading_seconds, keeping_seconds;	/* keeping is a part of it, and sorting */
	double rate;			/* bytes of records in a second of reading, without keeping them; 0: not known */
};

static bool is_whole(const struct sample *s)
{
	return s->pieces == 1;
}

static bool is_google(const struct job *j)
{
	return j->recipe.rules == SHARD_GOOGLE;
}

/* Where all must be read, ever fewer documents are kept: those of the least keys, by the half that decides nothing else. */
static int keep(struct sample *s, const unsigned char *body, size_t len)
{
	if (s->docs)
		return docset_add(s->docs, body, len);
	if (!trial_keeps(body, s->under))
		return 0;
	s->bytes += len;
	if (is_whole(s) && s->bytes > KEPT) {
		s->under /= 2;
		s->bytes /= 2;
	}
	return spill_add(s->spill, body, len);
}

static int take(void *ctx, const unsigned char *body, size_t len)
{
	struct sample *s = ctx;
	const double start = pace_now();
	const int rc = keep(s, body, len);

	s->keeping_seconds += pace_now() - start;
	return rc;
}

static struct inputs_reading reading_of(struct sample *s)
{
	struct job *j = s->j;

	return (struct inputs_reading){
		.inputs = &j->inputs, .tokenizer = j->tokenizer, .threads = (unsigned)j->opts.threads, .parts = 1,
		.memory = (size_t)job_reading_memory(j), .strict = j->opts.strict,
		.take = take, .ctx = s, .counts = s->counts,
	};
}

/* --- in pieces -------------------------------------------------------------------------------------- */

/* What is read in parts by itself: text files that stand side by side, or one file of token documents. */
struct unit {
	size_t first, n;		/* files */
	uint64_t bytes, pieces;
};

static struct unit unit_at(const struct inputs *in, size_t first)
{
	struct unit u = { .first = first };

	do
		u.bytes += in->files[first + u.n++].bytes;
	while (!in->files[first].tokens && first + u.n < in->n && !in->files[first + u.n].tokens);
	u.pieces = (u.bytes + PIECE - 1) / PIECE;
	return u;
}

static bool divisible(const struct inputs *in)
{
	for (size_t i = 0; i < in->n; i++)
		if (in->files[i].stream || in->files[i].packed)
			return false;
	return true;
}

/* Part PART of PARTS of a unit, in the way of R. */
static int read_part(struct inputs_reading *r, struct inputs *all, const struct unit *u, uint64_t part, uint64_t parts)
{
	struct tokdoc_totals *const counts = r->counts;
	struct inputs own = { .files = all->files + u->first, .n = u->n, .form = all->form, .bytes = u->bytes };
	int rc;

	r->inputs = &own;
	r->counts = counts + u->first;
	r->part = part;
	r->parts = parts;
	rc = inputs_read(r);
	r->inputs = all;
	r->counts = counts;
	return rc;
}

/* The number of the K-th piece: anywhere in its share of all, since even distances may meet a period of the corpus. */
static uint64_t draw_piece(const struct sample *s, uint64_t k)
{
	const double golden = 0.6180339887498949;

	return (uint64_t)(((double)k + fmod(golden * (double)k, 1)) * (double)s->pieces / (double)s->read);
}

static int read_pieces(struct sample *s)
{
	struct inputs *in = &s->j->inputs;
	struct inputs_reading *r = &s->reading;
	struct unit u = unit_at(in, 0);
	uint64_t before = 0, next = 0;	/* pieces before the unit; the least that was not read */
	int rc = 0;

	for (uint64_t k = 0; k < s->read && !rc; k++) {
		uint64_t piece = draw_piece(s, k);

		piece = piece < next ? next : piece;
		next = piece + 1;
		while (piece - before >= u.pieces) {
			before += u.pieces;
			u = unit_at(in, u.first + u.n);
		}
		rc = read_part(r, in, &u, piece - before, u.pieces);
	}
	return rc;
}

/* --- how fast it is read -------------------------------------------------------------------------------- */

struct stopwatch {
	uint64_t bytes;			/* of records */
	double warm;			/* since when words are known, ... */
	uint64_t warm_bytes;		/* ... and of how many bytes */
};

static int watch(void *ctx, const unsigned char *body, size_t len)
{
	struct stopwatch *w = ctx;

	(void)body;
	w->bytes += len;
	if (!w->warm_bytes && w->bytes >= WARM) {
		w->warm = pace_now();
		w->warm_bytes = w->bytes;
	}
	return 0;
}

/* A stretch out of the middle of the largest unit. Pieces are no measure: each begins without knowing a word. */
static int measure_reading(struct sample *s)
{
	struct inputs *in = &s->j->inputs;
	struct inputs_reading r = reading_of(s);
	struct stopwatch w = { .bytes = 0 };
	struct unit largest = unit_at(in, 0);
	uint64_t parts;

	for (size_t i = largest.n; i < in->n;) {
		const struct unit u = unit_at(in, i);

		largest = u.bytes > largest.bytes ? u : largest;
		i += u.n;
	}
	parts = largest.bytes / STRETCH + 1;
	r.take = watch;
	r.ctx = &w;
	job_limit_documents(s->j, 1, &r);
	r.counts = calloc(in->n, sizeof(*r.counts));
	if (!r.counts)
		return err_memory();
	if (read_part(&r, in, &largest, parts / 2, parts)) {
		free(r.counts);
		return -1;
	}
	free(r.counts);
	if (w.bytes > 2 * w.warm_bytes && w.warm_bytes)
		s->rate = (double)(w.bytes - w.warm_bytes) / (pace_now() - w.warm);
	return 0;
}

/* --- reading it ------------------------------------------------------------------------------------------ */

static void count_pieces(struct sample *s)
{
	const struct inputs *in = &s->j->inputs;

	s->pieces = s->read = 1;
	if (in->bytes <= WHOLE || !divisible(in))
		return;
	s->pieces = 0;
	for (size_t i = 0; i < in->n;) {
		const struct unit u = unit_at(in, i);

		s->pieces += u.pieces;
		i += u.n;
	}
	s->read = PIECES;
}

static int nothing_read(const struct sample *s)
{
	return s->reading.total.documents ? 0 : err_fail("the input holds no documents");
}

/* Pieces of the input; all of it where it is small or cannot be divided. */
static int read_sample(struct sample *s)
{
	const struct job *j = s->j;
	const struct spill_opts opts = {
		.memory = (size_t)job_sorting_memory(j, 1), .folder = j->opts.tmp, .threads = (unsigned)j->opts.threads,
		.compare = spill_compare_bytes, .prefix = spill_prefix_bytes,
	};
	const double start = pace_now();
	double sorting;
	int rc;

	count_pieces(s);
	s->reading = reading_of(s);
	job_limit_documents(j, 1, &s->reading);
	if (!is_whole(s) && s->reading.memory > PIECE_MEMORY * j->opts.threads)
		s->reading.memory = PIECE_MEMORY * j->opts.threads;
	s->reading.keep_marks = is_whole(s) && is_google(j);
	if (spill_open(&s->spill, &opts))
		return -1;
	rc = is_whole(s) ? inputs_read(&s->reading) : read_pieces(s);
	sorting = pace_now();
	rc = rc || nothing_read(s) || spill_sort(s->spill) ? -1 : 0;
	s->keeping_seconds += pace_now() - sorting;
	s->reading_seconds = pace_now() - start;
	return rc || is_whole(s) ? rc : measure_reading(s);
}

/* All of it into S->docs, in its order: google's instances depend on that. 1: it is there; 0: it does not fit. */
static int read_all(struct sample *s)
{
	const double start = pace_now();

	s->pieces = s->read = 1;
	s->reading = reading_of(s);
	s->reading.keep_marks = true;
	job_limit_documents(s->j, 1, &s->reading);
	s->reading.longest = 0;		/* DOCS says what does not fit */
	job_google_init(s->j, s->docs);
	if (inputs_read(&s->reading) || nothing_read(s))
		return -1;
	s->reading_seconds = pace_now() - start;
	if (!s->docs->over)
		return 1;
	if (s->j->inputs.streams)
		return job_google_refuse(s->j, &s->reading.total, s->docs->bytes);
	docset_release(s->docs);
	s->docs = NULL;
	memset(s->counts, 0, s->j->inputs.n * sizeof(*s->counts));
	return 0;
}

/* --- all of the input -------------------------------------------------------------------------------------- */

/*
 * What all input holds: token documents say so themselves. Of text, documents are counted by the pieces in which they
 * begin, of which each is as likely to be read; what is in them is scaled by the bytes that were read of it.
 */
static int expect_corpus(const struct sample *s, struct job_estimate *e)
{
	const struct inputs *in = &s->j->inputs;
	struct tokdoc_totals text = { 0 };
	uint64_t text_bytes = 0;
	double read = (double)s->reading.text_bytes, by;

	for (size_t i = 0; i < in->n; i++) {
		struct tokdoc_file *f;
		const struct tokdoc_totals *is;

		if (!in->files[i].tokens) {
			tokdoc_totals_add(&text, &s->counts[i]);
			text_bytes += in->files[i].bytes;
			continue;
		}
		if (tokdoc_file_open(&f, in->files[i].name))
			return -1;
		is = tokdoc_file_totals(f);
		tokdoc_totals_add(&e->corpus, is);
		read += is->tokens ? (double)in->files[i].bytes * (double)s->counts[i].tokens / (double)is->tokens : 0;
		tokdoc_file_close(f);
	}
	by = s->reading.text_bytes ? (double)text_bytes / (double)s->reading.text_bytes : 0;
	e->corpus.documents += (uint64_t)llround((double)text.documents * (double)s->pieces / (double)s->read);
	e->corpus.sentences += (uint64_t)llround((double)text.sentences * by);
	e->corpus.tokens += (uint64_t)llround((double)text.tokens * by);
	e->corpus.text_bytes += (uint64_t)llround((double)text.text_bytes * by);
	e->share = fmin(read / (double)in->bytes, 1);
	return 0;
}

/* Bytes of the records of documents. */
static double record_bytes(const struct job *j, const struct tokdoc_totals *t)
{
	return (double)t->tokens * vocab_id_bytes(tokenizer_vocab(j->tokenizer)) + (double)t->sentences + 24 * (double)t->documents;
}

/* Bytes of disk that a run needs meanwhile: as job_index.c, job_lanes.c and job_big.c have it. */
static void expect_work(const struct job *j, const struct plan *p, struct job_estimate *e)
{
	const unsigned id_bytes = vocab_id_bytes(tokenizer_vocab(j->tokenizer));
	const uint64_t records = (uint64_t)record_bytes(j, &e->corpus);
	const uint64_t sorting = records + 38 * e->corpus.documents, memory = job_sorting_memory(j, 1);
	const uint64_t instances = e->totals.instances / p->shards, tokens = e->totals.instance_tokens / p->shards;
	const uint64_t docs = records / p->shards + (4 * e->corpus.sentences + 160 * e->corpus.documents) / p->shards;
	const bool fits = sorting <= memory - (memory / 16 < (1 << 20) ? memory / 16 : 1 << 20);
	const bool big = docs + instances * BUILD_DRAFT_BYTES > job_budget(j);

	if (is_google(j))
		return;
	if (!fits)
		e->spilled_bytes = records + 2 * e->corpus.documents;
	if (j->opts.staged || big || !fits || !job_could_hold(j, p, sorting))
		e->work_bytes = records;
	if (big) {
		const uint64_t random = e->totals.random_next / p->shards;
		const uint64_t spilled = instances * SPILLED_INSTANCE + tokens * id_bytes + random * SPILLED_REQUEST +
					 (instances ? random * (tokens / instances) * id_bytes / 2 : 0);

		e->spilled_bytes = spilled > e->spilled_bytes ? spilled : e->spilled_bytes;
	}
}

/* Bytes of a shard's file that holds nothing. */
static int empty_shard(const struct job *j, const struct plan *p, uint64_t *bytes)
{
	const struct shard_header header = job_shard_header(j, p, 0);
	char *text = shard_header_print(&header);

	*bytes = text ? FRAME_BYTES + strlen(text) + TOTALS_BYTES : 0;
	free(text);
	return text ? 0 : -1;
}

/* From what was made to all of it. */
static int expect_files(const struct job *j, const struct trial *t, const struct plan *p, struct job_estimate *e)
{
	const double by = t->words ? (double)e->corpus.tokens / (double)t->words : 1;
	const double documents = t->documents ? (double)e->corpus.documents / (double)t->documents : 1;
	const double tables = is_google(j) ? (double)p->shards : 1;
	uint64_t empty;

	if (empty_shard(j, p, &empty))
		return -1;
	e->totals.instances = (uint64_t)llround(by * t->instances);
	e->totals.instance_tokens = (uint64_t)llround(by * t->tokens);
	e->totals.random_next = (uint64_t)llround(by * t->random_next);
	e->totals.predictions = (uint64_t)llround(by * t->predictions);
	e->table_bytes = (uint64_t)llround(documents * tables * t->table);
	e->raw_bytes = (uint64_t)llround(by * t->raw);
	e->file_bytes = (uint64_t)llround(by * t->packed) + e->table_bytes + p->shards * empty;
	e->made = fmin(1 / by, 1);
	return 0;
}

/*
 * Reading, what goes through files, and making take processors; so does a part of what each shard takes however small
 * it is, while for the rest of it others can be made. The disk writes beside all of this, but for the end.
 */
static void expect_time(const struct sample *s, const struct trial *t, const struct plan *p, struct job_estimate *e)
{
	const struct job *j = s->j;
	const double records = record_bytes(j, &e->corpus), sample = record_bytes(j, &s->reading.total);
	const double by = t->words ? (double)e->corpus.tokens / (double)t->words : 1, shards = p->shards;
	const double tables = t->table_seconds * (is_google(j) ? shards : 1);
	const double written = (double)(e->file_bytes + e->work_bytes);
	const double last = fmin((double)e->file_bytes / shards, (double)BEGUN);
	const double making = by * (t->seconds + tables);
	struct pace pace;
	double computing = making + (written + (double)e->spilled_bytes) * BYTE_SECONDS;

	pace_measure(j, p->shards, e->file_bytes + e->work_bytes, &pace);
	if (s->rate > 0)
		computing += records / s->rate + s->keeping_seconds * records / sample;
	else
		computing += s->reading_seconds * records / sample;
	computing += shards * pace.shard_cpu + fmax(shards * (pace.shard_seconds - pace.shard_cpu) - making, 0);
	e->seconds = fmax(computing, written * pace.byte_seconds) + last * pace.byte_seconds;
}

/* --- the whole ----------------------------------------------------------------------------------------- */

/* What shards are made of: all, or what is left beside what lies there to be made. */
static uint64_t trial_budget(const struct sample *s)
{
	const uint64_t all = job_budget(s->j), held = s->spill && spill_is_held(s->spill) ? spill_held_bytes(s->spill) : 0;

	return all - held > all / 2 ? all - held : all / 2;
}

/* What --compat google holds, about. */
static uint64_t expect_memory(const struct sample *s, const struct tokdoc_totals *corpus)
{
	const uint64_t records = (uint64_t)record_bytes(s->j, corpus);

	return job_google_memory(s->j, corpus, s->docs ? s->docs->bytes : records + 4 * corpus->sentences + 160 * corpus->documents);
}

/* Makes shards of the sample. */
static int estimate(struct sample *s, struct trial *t, struct job_estimate *e)
{
	const double kept = (double)s->reading.total.documents * ((double)s->under / (double)UINT64_MAX);
	struct plan p = { .parts = 1 };
	uint64_t memory;

	if (is_whole(s))
		e->corpus = s->reading.total;
	else if (expect_corpus(s, e))
		return -1;
	e->shards = p.shards = plan_shards(s->j, &e->corpus);
	p.corpus = e->corpus;
	t->shards = (uint32_t)llround((double)p.shards * kept / (double)e->corpus.documents);
	t->shards = t->shards ? t->shards : 1;
	t->budget = trial_budget(s);
	memory = expect_memory(s, &e->corpus);
	if ((s->docs ? trial_docs(t) : trial_sorted(t, s->spill, s->under)) || expect_files(s->j, t, &p, e))
		return -1;
	if (is_google(s->j) && (s->docs ? t->less : memory > s->j->opts.memory))
		e->memory_needed = memory;
	expect_work(s->j, &p, e);
	expect_time(s, t, &p, e);
	return 0;
}

int job_estimate(struct job *j, struct job_estimate *e)
{
	struct trial t = { .j = j };
	struct sample s = { .j = j, .under = UINT64_MAX, .counts = calloc(j->inputs.n, sizeof(*s.counts)) };
	int rc = s.counts ? 0 : err_memory();

	*e = (struct job_estimate){ .share = 1, .made = 1 };
	if (!rc && is_google(j) && !job_forecast_memory(j)) {
		s.docs = &t.docs;
		rc = read_all(&s);
	}
	if (!rc)
		rc = read_sample(&s);
	if (rc >= 0)
		rc = estimate(&s, &t, e);
	docset_release(&t.docs);
	spill_close(s.spill);
	free(s.counts);
	return rc;
}
