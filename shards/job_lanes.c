/*
 * Shards side by side. A thread that makes a whole shard waits for nobody: so while memory allows there
 * are as many lanes as threads, each with a share of both. What is too large for a lane is written alone, after the others. The disk
 * takes a shard while the lane's next one is made.
 */
#include "shards/job_impl.h"
#include "base/pool.h"
#include "shards/build.h"

#include <inttypes.h>

struct lanes {
	struct job *j;
	const struct plan *p;
	uint64_t part, parts;
	uint64_t first;			/* of this round: a number among the part's shards */
	struct job *lanes;		/* each lane's view: its threads, its memory, what it reports */
	struct job_commit *commits;	/* each lane's last shard */
	unsigned n;
	pthread_mutex_t lock;		/* of what follows */
	struct job_index index;		/* opened when it is needed: a folder of whole shards needs none */
	uint32_t *late;			/* shards that were too large */
	size_t n_late, cap_late;
};

uint64_t job_shard_memory(const struct job *j, const struct plan *p, bool held)
{
	const struct tokdoc_totals *c = &p->corpus;
	uint64_t instances, bytes, all;

	plan_expect(&j->recipe, c, &instances, &bytes);
	all = c->sentences * 8 + c->documents * 256 + instances * BUILD_DRAFT_BYTES;
	if (!held)
		all += c->tokens * vocab_id_bytes(tokenizer_vocab(j->tokenizer));
	return all / p->shards * 5 / 4;
}

/* J as lane K of N sees it. */
static struct job lane_of(const struct job *j, unsigned k, unsigned n)
{
	struct job lane = *j;

	lane.opts.threads = j->opts.threads / n + (k < j->opts.threads % n);
	lane.opts.memory = (j->opts.memory - job_held_bytes(j)) / n;
	lane.report = (struct job_report){ 0 };
	return lane;
}

/* Lanes for LEFT shards. */
static unsigned lanes_for(const struct job *j, const struct plan *p, uint64_t left)
{
	const uint64_t need = job_shard_memory(j, p, j->held);
	uint64_t n = j->opts.threads < left ? j->opts.threads : left;

	for (; n > 1; n--) {
		const struct job lane = lane_of(j, 0, (unsigned)n);

		if (need <= job_budget(&lane))
			break;
	}
	return (unsigned)n;
}

static int ready_index(struct lanes *l)
{
	int rc = 0;

	pthread_mutex_lock(&l->lock);
	if (!l->j->held && !l->index.files && job_index_open(&l->index, l->j, l->p->parts)) {
		job_index_close(&l->index);
		rc = -1;
	}
	pthread_mutex_unlock(&l->lock);
	return rc;
}

static int put_off(struct lanes *l, uint32_t shard)
{
	int rc;

	pthread_mutex_lock(&l->lock);
	rc = array_grow(&l->late, &l->cap_late, l->n_late + 1, sizeof(*l->late));
	if (!rc)
		l->late[l->n_late++] = shard;
	pthread_mutex_unlock(&l->lock);
	return rc;
}

static int write_in_lane(void *ctx, size_t i, unsigned worker)
{
	struct lanes *l = ctx;
	struct job *lane = &l->lanes[worker];
	const uint32_t shard = (uint32_t)(l->part + (l->first + i) * l->parts);
	int rc = job_shard_is_whole(lane, l->p, shard);

	if (rc) {
		lane->report.kept += rc > 0;
		return rc < 0 ? -1 : 0;
	}
	if (ready_index(l))
		return -1;
	rc = job_write_shard(lane, l->p, &l->index, shard, l->n > 1 || lane->held);
	lane->report.made += !rc;
	return rc > 0 ? put_off(l, shard) : rc;
}

/* Until all shards are in place; RC is how making them went. */
static int wait_for_commits(struct lanes *l, int rc)
{
	struct err reason;

	err_get(&reason);
	for (unsigned k = 0; k < l->n; k++) {
		if (!job_commit_wait(&l->commits[k]) || rc)
			continue;
		err_get(&reason);
		rc = -1;
	}
	return rc ? err_put(&reason) : 0;
}

/* N shards from the first on, in as many lanes as there are. */
static int write_round(struct lanes *l, uint64_t n)
{
	int rc = -1;

	l->lanes = calloc(l->n, sizeof(*l->lanes));
	l->commits = calloc(l->n, sizeof(*l->commits));
	if (!l->lanes || !l->commits) {
		err_memory();
		goto done;
	}
	for (unsigned k = 0; k < l->n; k++) {
		l->lanes[k] = lane_of(l->j, k, l->n);
		l->lanes[k].commit = &l->commits[k];
	}
	rc = wait_for_commits(l, pool_for(l->n, n, write_in_lane, l));
	for (unsigned k = 0; k < l->n; k++) {
		l->j->report.made += l->lanes[k].report.made;
		l->j->report.kept += l->lanes[k].report.kept;
		shard_totals_add(&l->j->report.totals, &l->lanes[k].report.totals);
	}
	l->first += n;
done:
	free(l->lanes);
	free(l->commits);
	return rc;
}

/* Shards that were too large for a lane, or beside what is held: one at a time, with all memory. */
static int write_late(struct lanes *l)
{
	struct job *j = l->j;
	int rc = l->n_late && (job_let_go(j) || ready_index(l)) ? -1 : 0;

	for (size_t i = 0; i < l->n_late && !rc; i++) {
		rc = job_write_shard(j, l->p, &l->index, l->late[i], false);
		j->report.made += !rc;
	}
	return rc;
}

int job_write_shards(struct job *j, const struct plan *p, uint64_t part, uint64_t parts)
{
	struct lanes l = { .j = j, .p = p, .part = part, .parts = parts, .lock = PTHREAD_MUTEX_INITIALIZER };
	const uint64_t all = part < p->shards ? (p->shards - part + parts - 1) / parts : 0;
	int rc = 0;

	while (l.first < all && !rc) {
		/* As many as the lanes do together; what is left over then has more threads each. */
		l.n = l.n_late ? 1 : lanes_for(j, p, all - l.first);
		rc = write_round(&l, (all - l.first) / l.n * l.n);
	}
	if (!rc)
		rc = write_late(&l);
	if (rc && err_code() == EXIT_CORRUPT)
		rc = job_blame_index(j, p->parts);
	job_index_close(&l.index);
	pthread_mutex_destroy(&l.lock);
	free(l.late);
	return rc;
}
