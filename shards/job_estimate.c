/* What a job would make: the input or a sample of it, built shard by shard and thrown away. */
#include "shards/job_impl.h"
#include "base/pool.h"
#include "base/spill.h"
#include "shards/build.h"
#include "shards/canon.h"
#include "shards/keys.h"

#include <math.h>
#include <time.h>

#define WHOLE ((uint64_t)64 << 20)	/* bytes of input up to which all of it is built */
#define PIECE ((uint64_t)512 << 10)	/* bytes of a piece of a larger one */
#define PIECES 64
#define KEPT ((uint64_t)64 << 20)	/* bytes of records built at most, of what must be read whole */

/* Of shards/FORMAT.md, "The frame": bytes of a block beside what is in it, and of a file beside header, blocks and totals. */
#define BLOCK_BYTES 80
#define FRAME_BYTES 160
#define TOTALS_BYTES 230

/* Of a spilled record of an instance and of a request (job_big.c), beside ids. */
#define SPILLED_INSTANCE 58
#define SPILLED_REQUEST 96

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* --- the sample ----------------------------------------------------------------------------------- */

struct sample {
	struct job *j;
	struct inputs_reading reading;
	struct spill *spill;		/* its records, by key */
	uint64_t bytes;			/* of records kept */
	uint64_t under;			/* kept are documents whose key's lower half is below it */
	bool whole;			/* all input was read */
};

static bool is_kept(const struct sample *s, const unsigned char *body)
{
	return tokdoc_body_key(body).lo <= s->under;
}

/* Where all must be read, ever fewer documents are kept: those of the least keys, by the half that decides nothing else. */
static int take(void *ctx, const unsigned char *body, size_t len)
{
	struct sample *s = ctx;

	if (!is_kept(s, body))
		return 0;
	s->bytes += len;
	if (s->reading.parts == 1 && s->bytes > KEPT) {
		s->under /= 2;
		s->bytes /= 2;
	}
	return spill_add(s->spill, body, len);
}

static bool divisible(const struct inputs *in)
{
	for (size_t i = 0; i < in->n; i++)
		if (in->files[i].stream || in->files[i].packed)
			return false;
	return true;
}

/* Even pieces of the input; all of it where it is small or cannot be divided. */
static int read_sample(struct sample *s)
{
	struct job *j = s->j;
	const bool pieces = j->inputs.bytes > WHOLE && divisible(&j->inputs);
	struct inputs_reading *r = &s->reading;
	const struct spill_opts opts = {
		.memory = (size_t)job_sorting_memory(j, 1), .folder = j->opts.tmp, .threads = (unsigned)j->opts.threads,
		.compare = spill_compare_bytes, .prefix = spill_prefix_bytes,
	};
	uint64_t read;
	int rc;

	*r = (struct inputs_reading){
		.inputs = &j->inputs, .tokenizer = j->tokenizer, .threads = (unsigned)j->opts.threads,
		.memory = (size_t)job_reading_memory(j), .longest = opts.memory / 4,
		.parts = pieces ? (j->inputs.bytes + PIECE - 1) / PIECE : 1,
		.keep_marks = !pieces && j->recipe.rules == SHARD_GOOGLE,
		.strict = j->opts.strict, .take = take, .ctx = s, .counts = calloc(j->inputs.n, sizeof(*r->counts)),
	};
	s->under = UINT64_MAX;
	s->whole = !pieces;
	read = r->parts < PIECES ? r->parts : PIECES;
	rc = r->counts ? spill_open(&s->spill, &opts) : err_memory();
	for (uint64_t k = 0; k < read && !rc; k++) {
		r->part = r->parts * k / read;
		rc = inputs_read(r);
	}
	if (!rc && !r->total.documents)
		rc = err_fail("the input holds no documents");
	return rc ? rc : spill_sort(s->spill);
}

static void scale_totals(struct tokdoc_totals *t, double by)
{
	uint64_t *const counts[] = { &t->documents, &t->sentences, &t->tokens, &t->text_bytes };

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		*counts[i] = (uint64_t)llround((double)*counts[i] * by);
}

/* What all input holds: token documents say so themselves, text is scaled by the bytes that were read of it. */
static int expect_corpus(const struct sample *s, struct job_estimate *e)
{
	const struct inputs *in = &s->j->inputs;
	struct tokdoc_totals text = { 0 };
	uint64_t text_bytes = 0;
	double read = (double)s->reading.text_bytes;

	for (size_t i = 0; i < in->n; i++) {
		struct tokdoc_file *f;
		const struct tokdoc_totals *is;

		if (!in->files[i].tokens) {
			tokdoc_totals_add(&text, &s->reading.counts[i]);
			text_bytes += in->files[i].bytes;
			continue;
		}
		if (tokdoc_file_open(&f, in->files[i].name))
			return -1;
		is = tokdoc_file_totals(f);
		tokdoc_totals_add(&e->corpus, is);
		read += is->tokens ? (double)in->files[i].bytes * (double)s->reading.counts[i].tokens / (double)is->tokens : 0;
		tokdoc_file_close(f);
	}
	if (s->reading.text_bytes)
		scale_totals(&text, (double)text_bytes / (double)s->reading.text_bytes);
	tokdoc_totals_add(&e->corpus, &text);
	e->share = fmin(read / (double)in->bytes, 1);
	return 0;
}

/* --- shards ------------------------------------------------------------------------------------------ */

struct making {
	struct build *build;
	struct buf *raw, *packed;	/* [threads] */
	uint64_t *raw_bytes, *packed_bytes;
	int level;
};

/* What is built so far, of the sample. */
struct built {
	const struct sample *sample;
	uint32_t shards;		/* that the sample makes: as many documents in each as there will be */
	struct docset docs;
	struct shard_recipe recipe;	/* with as many passes as fit */
	uint64_t documents, words;	/* of the sample: documents, and their tokens */
	double raw, packed, table, seconds;
	double instances, tokens, random_next, predictions;
};

static int make_block(void *ctx, size_t block, unsigned worker)
{
	struct making *m = ctx;
	uint32_t records;

	if (build_block(m->build, worker, block, m->level, &m->raw[worker], &m->packed[worker], &records))
		return -1;
	m->raw_bytes[worker] += m->raw[worker].len;
	m->packed_bytes[worker] += BLOCK_BYTES + (m->packed[worker].len ? m->packed[worker].len : m->raw[worker].len);
	return 0;
}

/* Builds all blocks; what they come to, each of PASSES times. */
static int make_all(struct built *t, struct build *b, double passes)
{
	const unsigned n = (unsigned)t->sample->j->opts.threads;
	struct making m = {
		.build = b,
		.level = (int)t->sample->j->opts.compress,
		.raw = calloc(n, sizeof(*m.raw)),
		.packed = calloc(n, sizeof(*m.packed)),
		.raw_bytes = calloc(n, sizeof(*m.raw_bytes)),
		.packed_bytes = calloc(n, sizeof(*m.packed_bytes)),
	};
	int rc = -1;

	if (!m.raw || !m.packed || !m.raw_bytes || !m.packed_bytes)
		err_memory();
	else
		rc = pool_for(n, build_blocks(b), make_block, &m);
	for (unsigned i = 0; !rc && i < n; i++) {
		t->raw += passes * (double)m.raw_bytes[i];
		t->packed += passes * (double)m.packed_bytes[i];
	}
	for (unsigned i = 0; m.raw && m.packed && i < n; i++) {
		buf_release(&m.raw[i]);
		buf_release(&m.packed[i]);
	}
	free(m.raw);
	free(m.packed);
	free(m.raw_bytes);
	free(m.packed_bytes);
	return rc;
}

/* The bytes of a block of the table, packed. */
static int close_table(struct built *t, struct buf *raw, struct buf *packed)
{
	const int rc = raw->len ? frame_pack(raw->data, raw->len, (int)t->sample->j->opts.compress, packed) : 0;

	if (raw->len)
		t->table += (double)(BLOCK_BYTES + (packed->len ? packed->len : raw->len));
	buf_clear(raw);
	return rc;
}

static int make_table(struct built *t)
{
	struct buf raw = BUF_INIT, packed = BUF_INIT;
	struct tokdoc d = TOKDOC_INIT;
	int rc = 0;

	for (size_t i = 0; i < t->docs.n && !rc; i++) {
		const struct docset_document *of = &t->docs.docs[i];
		struct shard_document entry;

		t->documents++;
		t->words += of->tokens;
		rc = tokdoc_decode_body(of->body, of->len, t->docs.id_bytes, t->docs.vocab_size, &d);
		entry = shard_document_of(&d, of->occurrence);
		rc = rc || shard_document_encode(&raw, &entry) ? -1 : 0;
		if (!rc && raw.len >= SHARD_DOCUMENT_BLOCK_BYTES)
			rc = close_table(t, &raw, &packed);
	}
	rc = rc || close_table(t, &raw, &packed) ? -1 : 0;
	tokdoc_release(&d);
	buf_release(&raw);
	buf_release(&packed);
	return rc;
}

static void count(struct built *t, const struct build *b, double passes)
{
	struct shard_totals one = { 0 };

	build_totals(b, &one);
	t->instances += passes * (double)one.instances;
	t->tokens += passes * (double)one.instance_tokens;
	t->random_next += passes * (double)one.random_next;
	t->predictions += passes * (double)one.predictions;
}

/* All shards of the sample: build_google_shard begins its totals anew. */
static int make_google(struct built *t, struct build *b, double passes)
{
	if (build_google(b, tokenizer_vocab(t->sample->j->tokenizer)))
		return -1;
	for (uint32_t k = 0; k < t->shards && !b->over; k++) {
		if (build_google_shard(b, k, t->shards) || make_all(t, b, passes))
			return -1;
		count(t, b, passes);
	}
	return 0;
}

/* With PASSES passes, each for as many as it takes: 1 done, 0 they do not fit. */
static int make_passes(struct built *t, uint64_t room, uint32_t passes)
{
	const struct job *j = t->sample->j;
	const double times = (double)j->recipe.dupe_factor / passes;
	struct build b = { .recipe = NULL };
	int rc;

	t->recipe = j->recipe;
	t->recipe.dupe_factor = passes;
	rc = build_init(&b, &t->recipe, tokenizer_vocab(j->tokenizer), &t->docs, (unsigned)j->opts.threads, room);
	if (!rc && j->recipe.rules == SHARD_GOOGLE)
		rc = make_google(t, &b, times);
	else if (!rc)
		rc = build_drafts(&b) || (!b.over && make_all(t, &b, times)) ? -1 : 0;
	if (!rc && !b.over && j->recipe.rules != SHARD_GOOGLE)
		count(t, &b, times);
	rc = rc ? rc : !b.over;
	build_release(&b);
	return rc;
}

/* What DOCS holds, as one shard. It is empty then. */
static int make_shard(struct built *t, uint64_t budget)
{
	uint32_t passes = t->sample->j->recipe.dupe_factor;
	int rc = t->docs.n ? docset_finish(&t->docs) || make_table(t) : 1;

	while (!rc) {
		rc = make_passes(t, budget - t->docs.bytes, passes);
		if (!rc && passes == 1)
			rc = err_fail("a part of the input makes more instances than fit: give more --memory");
		passes = (passes + 1) / 2;
	}
	docset_release(&t->docs);
	return rc < 0 ? -1 : 0;
}

/* All of the sample, a shard after the other; one that does not fit is cut into several. */
static int make_shards(struct built *t)
{
	const struct sample *s = t->sample;
	const struct job *j = s->j;
	const unsigned id_bytes = vocab_id_bytes(tokenizer_vocab(j->tokenizer));
	const uint64_t all = job_budget(j), held = spill_is_held(s->spill) ? spill_held_bytes(s->spill) : 0;
	const uint64_t budget = all - held > all / 2 ? all - held : all / 2;
	const bool google = j->recipe.rules == SHARD_GOOGLE;
	uint32_t shard = 0;
	const void *body;
	size_t len;
	int rc;

	docset_init(&t->docs, 0, 1, id_bytes, j->recipe.vocab_size, UINT64_MAX);
	while ((rc = spill_next(s->spill, &body, &len)) > 0) {
		const uint32_t of = google ? 0 : key_shard(tokdoc_body_key(body), t->shards);

		if (!is_kept(s, body))
			continue;
		if (t->docs.n && (of != shard || t->docs.bytes + 5 * len > budget / 2)) {
			if (make_shard(t, budget))
				return -1;
			docset_init(&t->docs, 0, 1, id_bytes, j->recipe.vocab_size, UINT64_MAX);
		}
		if (!t->docs.n)
			docset_init(&t->docs, of, t->shards, id_bytes, j->recipe.vocab_size, UINT64_MAX);
		shard = of;
		if (docset_add(&t->docs, body, len))
			return -1;
	}
	return rc ? -1 : make_shard(t, budget);
}

/* --- the whole ----------------------------------------------------------------------------------------- */

/* Bytes of disk that a run needs meanwhile: as job_index.c, job_lanes.c and job_big.c have it. */
static void expect_work(const struct job *j, const struct plan *p, struct job_estimate *e)
{
	const unsigned id_bytes = vocab_id_bytes(tokenizer_vocab(j->tokenizer));
	const uint64_t records = e->corpus.tokens * id_bytes + e->corpus.sentences + 24 * e->corpus.documents;
	const uint64_t sorting = records + 38 * e->corpus.documents, memory = job_sorting_memory(j, 1);
	const uint64_t instances = e->totals.instances / p->shards, tokens = e->totals.instance_tokens / p->shards;
	const uint64_t docs = records / p->shards + (4 * e->corpus.sentences + 160 * e->corpus.documents) / p->shards;
	const bool fits = sorting <= memory - (memory / 16 < (1 << 20) ? memory / 16 : 1 << 20);
	const bool big = docs + instances * BUILD_DRAFT_BYTES > job_budget(j);

	if (j->recipe.rules == SHARD_GOOGLE)
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

/* From what was built to all of it. */
static int expect_files(struct built *t, struct job_estimate *e, struct plan *p)
{
	const struct job *j = t->sample->j;
	const double by = t->words ? (double)e->corpus.tokens / (double)t->words : 1;
	const double documents = t->documents ? (double)e->corpus.documents / (double)t->documents : 1;
	const double tables = j->recipe.rules == SHARD_GOOGLE ? (double)p->shards : 1;
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
	e->seconds = t->sample->whole ? e->seconds + (by - 1) * t->seconds : by * e->seconds;
	return 0;
}

/* Builds the sample S, whose reading began at START. */
static int estimate(struct sample *s, struct job_estimate *e, double start)
{
	struct built t = { .sample = s };
	struct plan p = { .parts = 1 };
	double built, kept;
	int rc;

	if (s->whole)
		e->corpus = s->reading.total;
	else if (expect_corpus(s, e))
		return -1;
	kept = (double)s->reading.total.documents * ((double)s->under / (double)UINT64_MAX);
	e->shards = p.shards = plan_shards(s->j, &e->corpus);
	p.corpus = e->corpus;
	t.shards = (uint32_t)llround((double)p.shards * kept / (double)e->corpus.documents);
	t.shards = t.shards ? t.shards : 1;
	built = now();
	rc = make_shards(&t);
	docset_release(&t.docs);
	t.seconds = now() - built;
	e->seconds = now() - start;
	if (rc || expect_files(&t, e, &p))
		return -1;
	expect_work(s->j, &p, e);
	return 0;
}

int job_estimate(struct job *j, struct job_estimate *e)
{
	const double start = now();
	struct sample s = { .j = j };
	int rc;

	*e = (struct job_estimate){ .share = 1 };
	rc = read_sample(&s) ? -1 : estimate(&s, e, start);
	spill_close(s.spill);
	free(s.reading.counts);
	return rc;
}
