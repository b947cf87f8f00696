/* The stages as one, for create_pretraining_data.py's instances: every draw depends on all draws before it. */
#include "shards/job_impl.h"
#include "shards/build.h"

#include <inttypes.h>

#define MASK_BYTES 6		/* of a prediction that is drawn ahead */
#define TABLE_BYTES 22		/* of a document's entry in a shard's table, packed: its key, and a few small numbers */

static int take(void *ctx, const unsigned char *body, size_t len)
{
	return docset_add(ctx, body, len);
}

/* All documents into DOCS, in their order, and what they add up to into P. */
static int read_documents(struct job *j, struct docset *docs, struct plan *p)
{
	struct inputs_reading r = {
		.inputs = &j->inputs,
		.tokenizer = j->tokenizer,
		.threads = (unsigned)j->opts.threads,
		.parts = 1,
		.memory = (size_t)job_reading_memory(j),
		.keep_marks = true,	/* create_pretraining_data.py sees no blank line in a mark alone */
		.strict = j->opts.strict,
		.take = take,
		.ctx = docs,
		.counts = p->inputs,
		.progress = j->opts.progress,
	};
	int rc;

	job_limit_documents(j, 1, &r);
	r.longest = 0;			/* DOCS says what does not fit */
	if (r.progress)
		progress_start(r.progress, "documents", j->inputs.bytes);
	rc = inputs_read(&r);
	if (r.progress)
		progress_end(r.progress);
	j->report.bad_bytes += r.bad_bytes;
	j->report.indexed += r.total.documents;
	p->corpus = r.total;
	p->parts = 1;
	return rc ? rc : plan_settle(p, j);
}

uint64_t job_google_memory(const struct job *j, const struct tokdoc_totals *corpus, uint64_t docs)
{
	const struct shard_recipe *r = &j->recipe;
	uint64_t instances, bytes, masks;

	plan_expect(r, corpus, &instances, &bytes);
	masks = (uint64_t)(r->masked_lm_prob * r->max_seq_length) + 1;
	masks = masks < r->max_predictions_per_seq ? masks : r->max_predictions_per_seq;
	return docs + instances * (BUILD_DRAFT_BYTES + masks * MASK_BYTES) + 2 * job_reserve(j);
}

int job_google_refuse(const struct job *j, const struct tokdoc_totals *corpus, uint64_t docs)
{
	const uint64_t need = job_google_memory(j, corpus, docs);

	return err_fail("--compat google holds all in memory, and needs about %" PRIu64 " MiB: give --memory %" PRIu64 "M",
			(need >> 20) + 1, (need >> 20) + 1);
}

void job_google_init(const struct job *j, struct docset *docs)
{
	const uint64_t budget = job_budget(j), reading = job_reading_memory(j);

	docset_init(docs, 0, 1, vocab_id_bytes(tokenizer_vocab(j->tokenizer)), j->recipe.vocab_size,
		    budget > 2 * reading ? budget - reading : budget / 2);
}

/* Shards that are whole stay: the draws that made them are made again, since the others' depend on them. */
static int write_shards(struct job *j, const struct plan *p, struct build *b)
{
	for (uint32_t k = 0; k < p->shards; k++) {
		const int whole = job_shard_is_whole(j, p, k);

		if (whole < 0 || (!whole && (build_google_shard(b, k, p->shards) || job_write_held(j, p, k, b))))
			return -1;
		j->report.made += !whole;
		j->report.kept += (uint64_t)whole;
	}
	return job_finish(j, p, &j->report.complete);
}

/* Every shard names all documents: of many shards that is most. The bytes of instances are plan_expect's, packed. */
static void warn_of_tables(const struct job *j, const struct plan *p, uint64_t instances)
{
	const double tables = (double)p->shards * (double)p->corpus.documents * TABLE_BYTES;
	uint64_t expected, bytes;
	double packed;
	char text[200];

	plan_expect(&j->recipe, &p->corpus, &expected, &bytes);
	packed = (double)bytes * (double)instances / (double)(expected ? expected : 1) * (j->opts.compress ? JOB_PACKED_SHARE : 1);
	if (!j->opts.warn || p->shards == 1 || tables < (tables + packed) / 3)
		return;
	snprintf(text, sizeof(text), "about %.0f%% of the bytes will be tables of documents: every shard names all of them, so "
		 "fewer --shards take less", 100 * tables / (tables + packed));
	j->opts.warn(text);
}

/* The instances of all documents, then the shards. */
static int make_shards(struct job *j, const struct plan *p, const struct docset *docs)
{
	const struct vocab *vocab = tokenizer_vocab(j->tokenizer);
	struct build b = { .recipe = NULL };
	struct job_written written;
	int rc = -1;

	job_written_start(j, &written);
	if (!build_init(&b, &j->recipe, vocab, docs, (unsigned)j->opts.threads, job_budget(j) - docs->bytes) &&
	    !build_google(&b, vocab)) {
		if (!b.over)
			warn_of_tables(j, p, b.n_all);
		rc = b.over ? job_google_refuse(j, &p->corpus, docs->bytes) : write_shards(j, p, &b);
	}
	job_written_end(j);
	build_release(&b);
	return rc;
}

int job_google(struct job *j)
{
	struct plan *p = plan_new(j);
	struct docset docs;
	int rc = -1;

	if (!p)
		return -1;
	job_google_init(j, &docs);
	if (read_documents(j, &docs, p))
		goto done;
	if (docs.over) {
		job_google_refuse(j, &p->corpus, docs.bytes);
		goto done;
	}
	if (!plan_save(p, j) && !job_check_stream(j) && !job_refuse_others(j, p) && !docset_finish(&docs))
		rc = make_shards(j, p, &docs);
done:
	docset_release(&docs);
	plan_free(p);
	return rc;
}
