/* What a job would make: a sample of the input, built and thrown away. */
#include "shards/job_impl.h"
#include "base/pool.h"
#include "shards/build.h"
#include "shards/canon.h"
#include "shards/keys.h"

#include <time.h>

#define PIECE ((uint64_t)1 << 20)	/* bytes of input */
#define PIECES 16
#define PIECE_MEMORY (4 * PIECE)	/* that a piece may take, with its instances */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int take(void *ctx, const unsigned char *body, size_t len)
{
	return docset_add(ctx, body, len);
}

static bool divisible(const struct inputs *in)
{
	for (size_t i = 0; i < in->n; i++)
		if (in->files[i].stream || in->files[i].packed)
			return false;
	return true;
}

/* Even pieces of the input; all of it where it is small or cannot be divided. */
static int read_sample(struct job *j, struct docset *docs, struct job_estimate *e)
{
	const uint64_t pieces = divisible(&j->inputs) ? (j->inputs.bytes + PIECE - 1) / PIECE : 1;
	struct inputs_reading r = {
		.inputs = &j->inputs,
		.tokenizer = j->tokenizer,
		.threads = (unsigned)j->opts.threads,
		.parts = pieces ? pieces : 1,
		.strict = j->opts.strict,
		.take = take,
		.ctx = docs,
		.counts = calloc(j->inputs.n, sizeof(*r.counts)),
	};
	const uint64_t fit = j->opts.memory / PIECE_MEMORY, most = fit > PIECES ? PIECES : fit ? fit : 1;
	const uint64_t read = r.parts < most ? r.parts : most;
	int rc = r.counts ? 0 : err_memory();

	for (uint64_t k = 0; k < read && !rc; k++) {
		r.part = r.parts * k / read;
		rc = inputs_read(&r);
	}
	free(r.counts);
	e->corpus = r.total;
	e->share = (double)read / (double)r.parts;
	if (!rc && docs->over)
		rc = err_fail("the input cannot be sampled and does not fit: give more --memory");
	if (!rc && !r.total.documents)
		rc = err_fail("the input holds no documents");
	return rc ? rc : docset_finish(docs);
}

struct making {
	struct build *build;
	struct buf *raw, *packed;	/* [threads] */
	uint64_t *raw_bytes, *packed_bytes;
	int level;
};

static int make_block(void *ctx, size_t block, unsigned worker)
{
	struct making *m = ctx;
	uint32_t records;

	if (build_block(m->build, worker, block, m->level, &m->raw[worker], &m->packed[worker], &records))
		return -1;
	m->raw_bytes[worker] += m->raw[worker].len;
	m->packed_bytes[worker] += m->packed[worker].len ? m->packed[worker].len : m->raw[worker].len;
	return 0;
}

static int make_all(struct job *j, struct build *b, struct job_estimate *e)
{
	const unsigned n = (unsigned)j->opts.threads;
	struct making m = {
		.build = b,
		.level = (int)j->opts.compress,
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
		e->raw_bytes += m.raw_bytes[i];
		e->file_bytes += m.packed_bytes[i];
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

static uint64_t scaled(uint64_t v, double share)
{
	return (uint64_t)((double)v / share + 0.5);
}

/* From the sample to the whole. */
static void scale(const struct job *j, struct job_estimate *e)
{
	uint64_t *const counts[] = {
		&e->corpus.documents,
		&e->corpus.sentences,
		&e->corpus.tokens,
		&e->corpus.text_bytes,
		&e->totals.instances,
		&e->totals.random_next,
		&e->totals.instance_tokens,
		&e->totals.predictions,
		&e->totals.truncated,
		&e->totals.dropped,
		&e->raw_bytes,
		&e->file_bytes,
		&e->work_bytes,
	};

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		*counts[i] = scaled(*counts[i], e->share);
	e->seconds /= e->share;
	e->shards = plan_shards(j, &e->corpus);
}

/* Of English text and vocabularies of 30,000: bytes of a token, and of a sentence. */
#define TOKEN_BYTES 4.3
#define SENTENCE_BYTES 100
#define PACKED_BYTES 3			/* of text, to one of a packed file */

void job_forecast_corpus(const struct job *j, struct tokdoc_totals *corpus)
{
	const unsigned id_bytes = vocab_id_bytes(tokenizer_vocab(j->tokenizer));
	double text = 0;

	for (size_t i = 0; i < j->inputs.n; i++) {
		const struct input *in = &j->inputs.files[i];
		const double bytes = (double)in->bytes * (in->packed ? PACKED_BYTES : 1);

		text += in->tokens ? (double)in->bytes * TOKEN_BYTES / id_bytes : bytes;
	}
	*corpus = (struct tokdoc_totals){ 0 };
	corpus->tokens = (uint64_t)(text / TOKEN_BYTES);
	corpus->sentences = (uint64_t)(text / SENTENCE_BYTES) + 1;
}

bool job_forecast(const struct job *j, uint64_t *work, uint64_t *shards)
{
	const unsigned id_bytes = vocab_id_bytes(tokenizer_vocab(j->tokenizer));
	struct tokdoc_totals corpus;
	uint64_t instances;

	job_forecast_corpus(j, &corpus);
	*work = j->recipe.rules == SHARD_GOOGLE ? 0 : corpus.tokens * id_bytes + corpus.sentences;
	plan_expect(&j->recipe, &corpus, &instances, shards);
	return !j->inputs.streams;
}

int job_estimate(struct job *j, struct job_estimate *e)
{
	const struct vocab *vocab = tokenizer_vocab(j->tokenizer);
	const double start = now();
	struct build b = { .recipe = NULL };
	struct docset docs;
	int rc = -1;

	*e = (struct job_estimate){ .share = 1 };
	docset_init(&docs, 0, 1, vocab_id_bytes(vocab), j->recipe.vocab_size, j->opts.memory / 2);
	if (read_sample(j, &docs, e) ||
	    build_init(&b, &j->recipe, vocab, &docs, (unsigned)j->opts.threads, j->opts.memory / 2) || build_drafts(&b))
		goto done;
	if (b.over) {
		err_fail("the sample's instances do not fit: give more --memory");
		goto done;
	}
	rc = make_all(j, &b, e);
	build_totals(&b, &e->totals);
	e->work_bytes = e->corpus.tokens * vocab_id_bytes(vocab) + e->corpus.sentences + 32 * e->corpus.documents;
	e->file_bytes += 30 * e->corpus.documents;
	e->seconds = now() - start;
	if (!rc)
		scale(j, e);
done:
	build_release(&b);
	docset_release(&docs);
	return rc;
}
