/* Shards that are made and thrown away. */
#include "shards/job_trial.h"
#include "shards/job_impl.h"
#include "base/pool.h"
#include "base/spill.h"
#include "shards/build.h"
#include "shards/job_pace.h"
#include "shards/job_table.h"
#include "shards/keys.h"

#define BLOCK_BYTES 80		/* of a block beside what is in it: shards/FORMAT.md, "The frame" */
#define DOCUMENT_SHARE 16	/* of the budget, that a document's record may take before it is cut: so that it has others beside it */
#define DOCUMENT_TIMES 5	/* bytes of memory for one of a record, when it comes to the worst: sentences of one token */

/* --- instances ------------------------------------------------------------------------------------- */

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
	m->packed_bytes[worker] += BLOCK_BYTES + (m->packed[worker].len ? m->packed[worker].len : m->raw[worker].len);
	return 0;
}

/* Builds all blocks of B, each for TIMES like it. */
static int make_blocks(struct trial *t, struct build *b, double times)
{
	const unsigned n = (unsigned)t->j->opts.threads;
	struct making m = {
		.build = b,
		.level = (int)t->j->opts.compress,
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
		t->raw += times * (double)m.raw_bytes[i];
		t->packed += times * (double)m.packed_bytes[i];
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

static void count(struct trial *t, const struct build *b, double times)
{
	struct shard_totals one = { 0 };

	build_totals(b, &one);
	t->instances += times * (double)one.instances;
	t->tokens += times * (double)one.instance_tokens;
	t->random_next += times * (double)one.random_next;
	t->predictions += times * (double)one.predictions;
}

static int make_own(struct trial *t, struct build *b, double times)
{
	if (build_drafts(b) || (!b->over && make_blocks(t, b, times)))
		return -1;
	if (!b->over)
		count(t, b, times);
	return 0;
}

/* All shards: build_google_shard begins its totals anew. */
static int make_google(struct trial *t, struct build *b, double times)
{
	if (build_google(b, tokenizer_vocab(t->j->tokenizer)))
		return -1;
	for (uint32_t k = 0; k < t->shards && !b->over; k++) {
		if (build_google_shard(b, k, t->shards) || make_blocks(t, b, times))
			return -1;
		count(t, b, times);
	}
	return 0;
}

/* With PASSES passes, each for as many as it takes: 1 done, 0 they do not fit, and nothing is counted. */
static int make_passes(struct trial *t, uint32_t passes)
{
	const struct job *j = t->j;
	const struct vocab *vocab = tokenizer_vocab(j->tokenizer);
	const uint64_t room = t->budget > t->docs.bytes ? t->budget - t->docs.bytes : 0;
	const double times = (double)j->recipe.dupe_factor / passes;
	struct shard_recipe recipe = j->recipe;
	struct build b = { .recipe = NULL };
	int rc;

	recipe.dupe_factor = passes;
	rc = build_init(&b, &recipe, vocab, &t->docs, (unsigned)j->opts.threads, room);
	if (!rc)
		rc = recipe.rules == SHARD_GOOGLE ? make_google(t, &b, times) : make_own(t, &b, times);
	if (!rc)
		rc = !b.over;
	build_release(&b);
	return rc;
}

/* --- tables ------------------------------------------------------------------------------------------ */

/* Counts the bytes of a block. */
static int count_block(void *ctx, unsigned type, uint32_t records, const char *raw, size_t n, const struct buf *packed)
{
	struct trial *t = ctx;

	(void)type;
	(void)records;
	(void)raw;
	t->table += (double)(BLOCK_BYTES + (packed->len ? packed->len : n));
	return 0;
}

static int make_table(struct trial *t)
{
	const double start = pace_now();
	struct job_table table;
	int rc = 0;

	job_table_init(&table, t->j, count_block, t);
	for (size_t i = 0; i < t->docs.n && !rc; i++) {
		const struct docset_document *of = &t->docs.docs[i];

		t->documents++;
		t->words += of->tokens;
		rc = job_table_add(&table, of->body, of->len, of->occurrence);
	}
	rc = rc || job_table_end(&table) ? -1 : 0;
	job_table_release(&table);
	t->table_seconds += pace_now() - start;
	return rc;
}

/* --- what is too large --------------------------------------------------------------------------------- */

/* Adds a document's first sentences: SHARE of them, or one. */
static int add_beginning(struct docset *s, const unsigned char *body, size_t len, double share)
{
	struct tokdoc d = TOKDOC_INIT;
	struct buf record = BUF_INIT;
	const unsigned char *p;
	size_t wanted;
	int rc = tokdoc_decode_body(body, len, s->id_bytes, s->vocab_size, &d);

	wanted = (size_t)(share * (double)d.n_sentences);
	if (!rc && wanted < d.n_sentences) {
		d.n_sentences = wanted ? wanted : 1;
		d.n_tokens = 0;
		for (size_t i = 0; i < d.n_sentences; i++)
			d.n_tokens += d.lengths[i];
	}
	rc = rc || tokdoc_encode(&record, &d, s->id_bytes) ? -1 : 0;
	tokdoc_release(&d);
	p = (const unsigned char *)record.data;
	rc = rc || tokdoc_split(&p, p + record.len, &body, &len) || docset_add(s, body, len) ? -1 : 0;
	buf_release(&record);
	return rc;
}

/* Half of DOCS stays. */
static int halve(struct trial *t)
{
	struct docset half;
	int rc = 0;

	if (t->docs.n == 1 && t->docs.docs[0].sentences < 2)
		return err_fail("a part of the input makes more instances than fit: give more --memory");
	docset_init(&half, t->docs.shard, t->docs.shards, t->docs.id_bytes, t->docs.vocab_size, UINT64_MAX);
	if (t->docs.n == 1)
		rc = add_beginning(&half, t->docs.docs[0].body, t->docs.docs[0].len, 0.5);
	for (size_t i = 0; i < t->docs.n / 2 && !rc; i++)
		rc = docset_add(&half, t->docs.docs[i].body, t->docs.docs[i].len);
	docset_release(&t->docs);
	t->docs = half;
	return rc || docset_finish(&t->docs) ? -1 : 0;
}

/* --- shards ------------------------------------------------------------------------------------------------ */

void trial_init(struct trial *t, uint32_t shard)
{
	const bool google = t->j->recipe.rules == SHARD_GOOGLE;

	docset_init(&t->docs, shard, google ? 1 : t->shards, vocab_id_bytes(tokenizer_vocab(t->j->tokenizer)),
		    t->j->recipe.vocab_size, UINT64_MAX);
}

int trial_docs(struct trial *t)
{
	const double start = pace_now(), tables = t->table_seconds;
	uint32_t passes = t->j->recipe.dupe_factor;
	int rc = t->docs.n ? docset_finish(&t->docs) : 1;

	while (!rc && !(rc = make_passes(t, passes))) {
		t->less = true;
		if (passes == 1)
			rc = halve(t);
		passes = (passes + 1) / 2;
	}
	if (rc > 0)
		rc = make_table(t);
	docset_release(&t->docs);
	t->seconds += pace_now() - start - (t->table_seconds - tables);
	return rc;
}

bool trial_keeps(const unsigned char *body, uint64_t under)
{
	return tokdoc_body_key(body).lo <= under;
}

/* A document of SHARD, after the shards before are made. */
static int add(struct trial *t, uint32_t shard, const unsigned char *body, size_t len)
{
	const uint64_t most = t->budget / DOCUMENT_SHARE, takes = DOCUMENT_TIMES * (len < most ? len : most);

	if (t->docs.n && (shard != t->docs.shard || t->docs.bytes + takes > t->budget / 2) && trial_docs(t))
		return -1;
	if (!t->docs.n)
		trial_init(t, shard);
	if (len <= most)
		return docset_add(&t->docs, body, len);
	t->less = true;
	return add_beginning(&t->docs, body, len, (double)most / (double)len);
}

int trial_sorted(struct trial *t, struct spill *s, uint64_t under)
{
	const bool google = t->j->recipe.rules == SHARD_GOOGLE;
	const void *body;
	size_t len;
	int rc;

	trial_init(t, 0);
	while ((rc = spill_next(s, &body, &len)) > 0) {
		const uint32_t shard = google ? 0 : key_shard(tokdoc_body_key(body), t->shards);

		if (trial_keeps(body, under) && add(t, shard, body, len))
			return -1;
	}
	return rc ? -1 : trial_docs(t);
}
