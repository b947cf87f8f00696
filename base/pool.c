#include "base/pool.h"

#include "base/err.h"

#include <assert.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- a team of threads, the caller being worker 0 ------------------------------ */

struct member {
	pthread_t thread;
	void (*run)(void *state, unsigned worker);
	void *state;
	unsigned worker;
};

static void *member_main(void *arg)
{
	const struct member *m = arg;

	m->run(m->state, m->worker);
	return NULL;
}

/* Calls RUN(state, worker) on THREADS threads, or on as many as can be had, and returns when all have. */
static void team_run(unsigned threads, void (*run)(void *state, unsigned worker), void *state)
{
	struct member *team = threads > 1 ? calloc(threads, sizeof(*team)) : NULL;
	unsigned started = 1;

	for (; team && started < threads; started++) {
		team[started] = (struct member){ .run = run, .state = state, .worker = started };
		if (pthread_create(&team[started].thread, NULL, member_main, &team[started]))
			break;
	}
	run(state, 0);
	for (unsigned i = 1; team && i < started; i++)
		pthread_join(team[i].thread, NULL);
	free(team);
}

/* --- pool_run -------------------------------------------------------------------- */

/*
 * Item number s lives in slot s % depth. Items below next_write are written,
 * those below next_work were given to a worker, those below next_read are
 * filled. Each thread does what is most urgent: the next write, since it frees
 * a slot; else the next read, since nobody else may; else work.
 */
struct belt {
	struct pool *p;
	pthread_mutex_t lock;		/* of all below */
	pthread_cond_t changed;
	unsigned waiting;
	uint64_t next_read, next_work, next_write;
	uint64_t end;			/* items from here on do not count: the input's end, or the first failure */
	bool reading, writing;
	bool *worked;			/* of each slot: ready to be written */
	bool failed;
	struct err reason;
};

static void *belt_item(const struct belt *b, uint64_t number)
{
	return (char *)b->p->items + number % b->p->depth * b->p->item_size;
}

/* Item NUMBER failed on this thread. Only what failed before all else known so far counts. */
static void belt_fail(struct belt *b, uint64_t number)
{
	if (number >= b->end)
		return;
	b->end = number;
	b->failed = true;
	err_get(&b->reason);
}

static void belt_write(struct belt *b)
{
	const uint64_t number = b->next_write;
	int rc = 0;

	b->writing = true;
	pthread_mutex_unlock(&b->lock);
	if (b->p->write)
		rc = b->p->write(b->p->ctx, belt_item(b, number));
	pthread_mutex_lock(&b->lock);
	b->writing = false;
	if (rc) {
		belt_fail(b, number);
		return;
	}
	b->worked[number % b->p->depth] = false;
	b->next_write++;
}

static void belt_read(struct belt *b)
{
	const uint64_t number = b->next_read;
	int rc;

	b->reading = true;
	pthread_mutex_unlock(&b->lock);
	rc = b->p->read(b->p->ctx, belt_item(b, number));
	pthread_mutex_lock(&b->lock);
	b->reading = false;
	if (rc > 0)
		b->next_read++;
	else if (rc < 0)
		belt_fail(b, number);
	else if (number < b->end)
		b->end = number;
}

static void belt_work(struct belt *b, unsigned worker)
{
	const uint64_t number = b->next_work++;
	int rc;

	pthread_mutex_unlock(&b->lock);
	rc = b->p->work(b->p->ctx, belt_item(b, number), worker);
	pthread_mutex_lock(&b->lock);
	if (rc)
		belt_fail(b, number);
	else
		b->worked[number % b->p->depth] = true;
}

static bool belt_may_write(const struct belt *b)
{
	return !b->writing && b->worked[b->next_write % b->p->depth];
}

static bool belt_may_read(const struct belt *b)
{
	return !b->reading && b->next_read < b->end && b->next_read - b->next_write < b->p->depth;
}

static bool belt_may_work(const struct belt *b)
{
	return b->next_work < b->next_read && b->next_work < b->end;
}

static void belt_run(void *state, unsigned worker)
{
	struct belt *b = state;

	pthread_mutex_lock(&b->lock);
	while (b->next_write < b->end) {
		if (belt_may_write(b)) {
			belt_write(b);
		} else if (belt_may_read(b)) {
			belt_read(b);
		} else if (belt_may_work(b)) {
			belt_work(b, worker);
		} else {
			b->waiting++;
			pthread_cond_wait(&b->changed, &b->lock);
			b->waiting--;
			continue;
		}
		if (b->waiting)
			pthread_cond_broadcast(&b->changed);
	}
	pthread_mutex_unlock(&b->lock);
}

static int run_alone(struct pool *p)
{
	int rc;

	while ((rc = p->read(p->ctx, p->items)) > 0)
		if (p->work(p->ctx, p->items, 0) || (p->write && p->write(p->ctx, p->items)))
			return -1;
	return rc;
}

int pool_run(struct pool *p)
{
	struct belt b = {
		.p = p, .end = UINT64_MAX, .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER
	};

	assert(p->depth >= 1);
	if (p->threads <= 1)
		return run_alone(p);
	b.worked = calloc(p->depth, sizeof(*b.worked));
	if (!b.worked)
		return err_memory();
	team_run(p->threads, belt_run, &b);
	pthread_cond_destroy(&b.changed);
	pthread_mutex_destroy(&b.lock);
	free(b.worked);
	return b.failed ? err_put(&b.reason) : 0;
}

/* --- pool_for -------------------------------------------------------------------- */

struct loop {
	int (*work)(void *ctx, size_t i, unsigned worker);
	void *ctx;
	size_t n;
	atomic_size_t next;
	atomic_bool stop;
	pthread_mutex_t lock;		/* of what follows */
	size_t failed;			/* the lowest index that did; n = none */
	struct err reason;
};

/* Indices are handed out upwards, so when one fails, all below it were handed out and will be heard. */
static void loop_run(void *state, unsigned worker)
{
	struct loop *l = state;
	size_t i;

	while (!atomic_load(&l->stop) && (i = atomic_fetch_add(&l->next, 1)) < l->n) {
		if (!l->work(l->ctx, i, worker))
			continue;
		atomic_store(&l->stop, true);
		pthread_mutex_lock(&l->lock);
		if (i < l->failed) {
			l->failed = i;
			err_get(&l->reason);
		}
		pthread_mutex_unlock(&l->lock);
	}
}

int pool_for(unsigned threads, size_t n, int (*work)(void *ctx, size_t i, unsigned worker), void *ctx)
{
	struct loop l = { .work = work, .ctx = ctx, .n = n, .failed = n, .lock = PTHREAD_MUTEX_INITIALIZER };

	team_run(threads < n ? threads : (unsigned)n, loop_run, &l);
	pthread_mutex_destroy(&l.lock);
	return l.failed < n ? err_put(&l.reason) : 0;
}

/* --- how many threads ------------------------------------------------------------ */

static unsigned min_unsigned(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Processors that the scheduler may put this process on. */
static unsigned affinity_threads(void)
{
	for (int n = CPU_SETSIZE; n <= 1 << 20; n *= 2) {
		cpu_set_t *set = CPU_ALLOC(n);
		const size_t size = CPU_ALLOC_SIZE(n);
		int count = 0;

		if (!set)
			return UINT_MAX;
		if (!sched_getaffinity(0, size, set))
			count = CPU_COUNT_S(size, set);
		CPU_FREE(set);
		if (count > 0)
			return (unsigned)count;		/* else the kernel knows more processors than N */
	}
	return UINT_MAX;
}

/* Reads up to N numbers from a file of one line; "max" and "-1" are 0: no limit. Returns how many were there. */
static int read_numbers(const char *path, unsigned long long *numbers, int n)
{
	FILE *f = fopen(path, "re");
	char line[128];
	char *at = line;
	int count = 0;

	if (!f)
		return 0;
	if (!fgets(line, sizeof(line), f))
		line[0] = 0;
	fclose(f);
	for (; count < n && *at; count++) {
		char *end;

		numbers[count] = 0;
		if (!strncmp(at, "max", 3)) {
			at += 3;
			continue;
		}
		long long v = strtoll(at, &end, 10);
		if (end == at)
			break;
		numbers[count] = v > 0 ? (unsigned long long)v : 0;
		at = end;
	}
	return count;
}

static unsigned quota_to_threads(unsigned long long quota, unsigned long long period)
{
	if (!quota || !period || quota / period >= UINT_MAX)
		return UINT_MAX;
	return (unsigned)(quota / period + (quota % period != 0));
}

/* The quota of the one cgroup whose files are in FOLDER: version 2, else version 1. */
static unsigned folder_quota(const char *folder)
{
	unsigned long long v[2];
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/cpu.max", folder);
	if (read_numbers(path, v, 2) == 2)
		return quota_to_threads(v[0], v[1]);
	snprintf(path, sizeof(path), "%s/cpu.cfs_quota_us", folder);
	if (read_numbers(path, v, 1) != 1)
		return UINT_MAX;
	snprintf(path, sizeof(path), "%s/cpu.cfs_period_us", folder);
	if (read_numbers(path, v + 1, 1) != 1)
		return UINT_MAX;
	return quota_to_threads(v[0], v[1]);
}

/* The least quota on the way from MOUNT/CONTROLLER/GROUP up to its root. GROUP is cut on the way. */
static unsigned path_quota(const char *mount, const char *controller, char *group)
{
	unsigned least = UINT_MAX;
	char folder[PATH_MAX - 32];	/* leaves room for a file's name */

	for (;;) {
		int len = snprintf(folder, sizeof(folder), "%s%s%s", mount, controller, group);
		char *slash = strrchr(group, '/');

		if ((size_t)len < sizeof(folder))
			least = min_unsigned(least, folder_quota(folder));
		if (!slash)
			return least;
		*slash = 0;
	}
}

/* Whether the comma list of controllers LIST (of LEN bytes) names cpu. */
static bool names_cpu(const char *list, size_t len)
{
	while (len) {
		const char *comma = memchr(list, ',', len);
		const size_t n = comma ? (size_t)(comma - list) : len;

		if (n == 3 && !memcmp(list, "cpu", 3))
			return true;
		if (!comma)
			return false;
		list += n + 1;
		len -= n + 1;
	}
	return false;
}

/* A line is "ID:CONTROLLERS:PATH"; version 2 has the ID 0 and no controllers. */
unsigned pool_quota_threads(const char *cgroups, const char *mount)
{
	FILE *f = fopen(cgroups, "re");
	unsigned least = UINT_MAX;
	char line[PATH_MAX];

	if (!f)
		return UINT_MAX;
	while (fgets(line, sizeof(line), f)) {
		char *list = strchr(line, ':');
		char *path = list ? strchr(list + 1, ':') : NULL;

		if (!path)
			continue;
		path[strcspn(path, "\n")] = 0;
		*path++ = 0;
		list++;
		if (!*list)
			least = min_unsigned(least, path_quota(mount, "", path));
		else if (names_cpu(list, strlen(list)))
			least = min_unsigned(least, path_quota(mount, "/cpu", path));
	}
	fclose(f);
	return least;
}

static unsigned slurm_threads(void)
{
	const char *text = getenv("SLURM_CPUS_PER_TASK");
	unsigned long n = text ? strtoul(text, NULL, 10) : 0;

	return n >= 1 && n < UINT_MAX ? (unsigned)n : UINT_MAX;
}

unsigned pool_allowed_threads(void)
{
	unsigned n = min_unsigned(affinity_threads(), slurm_threads());

	n = min_unsigned(n, pool_quota_threads("/proc/self/cgroup", "/sys/fs/cgroup"));
	return n == UINT_MAX ? 1 : n;
}
