/* How fast the disk is. */
#include "shards/job_pace.h"
#include "shards/job_impl.h"
#include "base/out.h"
#include "base/pool.h"
#include "shards/build.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#define SHARDS_EACH 8			/* that a lane writes */
#define PROBE ((uint64_t)8 << 20)	/* bytes of a file; where not many more are written, the disk is not what a run waits for */
#define PIECE ((size_t)64 << 10)	/* of it, at once */

static double seconds_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double pace_now(void)
{
	return seconds_of(CLOCK_MONOTONIC);
}

/* --- shards ---------------------------------------------------------------------------------------- */

struct lane {
	struct job j;
	struct job_commit commit;
};

struct probe {
	struct plan plan;
	struct lane *lanes;
	unsigned n;
	struct docset docs;		/* of each shard */
};

/* Two sentences of a token. */
static int add_document(struct docset *s, uint32_t id)
{
	uint32_t lengths[] = { 1, 1 }, ids[] = { id, id };
	const struct tokdoc d = {
		.text_bytes = 3, .lengths = lengths, .n_sentences = 2, .ids = ids, .n_tokens = 2, .id_bytes = sizeof(*ids),
	};
	struct buf record = BUF_INIT;
	const unsigned char *p, *body;
	size_t len;
	int rc = tokdoc_encode(&record, &d, s->id_bytes);

	p = (const unsigned char *)record.data;
	rc = rc || tokdoc_split(&p, p + record.len, &body, &len) || docset_add(s, body, len) ? -1 : 0;
	buf_release(&record);
	return rc;
}

static int write_shard(void *ctx, size_t shard, unsigned worker)
{
	struct probe *p = ctx;
	struct job *j = &p->lanes[worker].j;
	const struct vocab *vocab = tokenizer_vocab(j->tokenizer);
	struct build b = { .recipe = NULL };
	int rc = build_init(&b, &j->recipe, vocab, &p->docs, 1, UINT64_MAX);

	if (!rc && j->recipe.rules == SHARD_GOOGLE)
		rc = build_google(&b, vocab) || build_google_shard(&b, 0, 1) ? -1 : 0;
	else if (!rc)
		rc = build_drafts(&b);
	if (!rc)
		rc = job_write_held(j, &p->plan, (uint32_t)shard, &b);
	build_release(&b);
	return rc;
}

static int write_shards(struct probe *p)
{
	int rc = pool_for(p->n, p->plan.shards, write_shard, p);

	for (unsigned k = 0; k < p->n; k++)
		rc = job_commit_wait(&p->lanes[k].commit) || rc ? -1 : 0;
	/* Whoever completes the set looks at each. */
	for (uint32_t k = 0; k < p->plan.shards && !rc; k++) {
		struct shard *s;

		rc = job_shard_open(&p->lanes[0].j, &p->plan, k, &s) == 1 ? 0 : -1;
		shard_close(s);
	}
	return rc;
}

/* Small shards into FOLDER, in as many lanes as SHARDS shards have. */
static void measure_shards(const struct job *j, const char *folder, uint32_t shards, struct pace *pace)
{
	const double start = pace_now(), cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
	struct probe p = { .n = (unsigned)(j->opts.threads < shards ? j->opts.threads : shards) };
	struct job_written written = { .lock = PTHREAD_MUTEX_INITIALIZER };

	p.plan = (struct plan){ .shards = p.n * SHARDS_EACH < shards ? p.n * SHARDS_EACH : shards, .parts = 1,
				.corpus = { .documents = 1 } };
	p.lanes = calloc(p.n, sizeof(*p.lanes));
	docset_init(&p.docs, 0, 1, vocab_id_bytes(tokenizer_vocab(j->tokenizer)), j->recipe.vocab_size, UINT64_MAX);
	for (unsigned k = 0; p.lanes && k < p.n; k++) {
		struct job *lane = &p.lanes[k].j;

		*lane = *j;
		lane->opts.folder = folder;
		lane->opts.threads = 1;
		lane->opts.progress = NULL;
		lane->report = (struct job_report){ 0 };
		lane->written = &written;
		lane->commit = &p.lanes[k].commit;
	}
	if (p.lanes && !add_document(&p.docs, j->recipe.special.mask) && !docset_finish(&p.docs) && !write_shards(&p)) {
		pace->shard_seconds = (pace_now() - start) / p.plan.shards;
		pace->shard_cpu = (seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu) / p.plan.shards / p.n;
	}
	docset_release(&p.docs);
	free(p.lanes);
	pthread_mutex_destroy(&written.lock);
}

/* --- bytes ------------------------------------------------------------------------------------------- */

/* One file, of what no file system makes smaller. */
static void measure_bytes(const char *folder, struct pace *pace)
{
	const double start = pace_now();
	unsigned char *piece = malloc(PIECE);
	char *path = fs_join(folder, "bytes");
	struct out *out = NULL;
	uint64_t x = 1;
	int rc = piece && path ? out_open(&out, path) : -1;

	for (uint64_t at = 0; at < PROBE && !rc; at += PIECE) {
		for (size_t i = 0; i < PIECE; i += sizeof(x)) {
			x = x * 6364136223846793005 + 1442695040888963407;
			memcpy(piece + i, &x, sizeof(x));
		}
		rc = out_write(out, piece, PIECE);
	}
	if (!rc)
		rc = out_commit(out);
	if (rc)
		out_discard(out);
	else
		pace->byte_seconds = (pace_now() - start) / (double)PROBE;
	free(piece);
	free(path);
}

static void measure_in(const char *folder, const struct job *j, uint32_t shards, uint64_t bytes, struct pace *p)
{
	measure_shards(j, folder, shards, p);
	if (bytes > PROBE)
		measure_bytes(folder, p);
	fs_remove_tree(folder);
}

/* Signals wait meanwhile, for the threads of this too: who ends the program knows of files, not of the folder. */
void pace_measure(const struct job *j, uint32_t shards, uint64_t bytes, struct pace *p)
{
	char *folder = fs_join(job_tmp(j), "bert-shard-XXXXXX");
	sigset_t ending, kept;

	*p = (struct pace){ 0 };
	sigemptyset(&ending);
	sigaddset(&ending, SIGINT);
	sigaddset(&ending, SIGTERM);
	sigaddset(&ending, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &ending, &kept);
	if (folder && mkdtemp(folder))
		measure_in(folder, j, shards, bytes, p);
	pthread_sigmask(SIG_SETMASK, &kept, NULL);
	free(folder);
}
