/*
 * pool.h - threads, in order.
 *
 * pool_run is a pipe inside the program: READ fills items one after the
 * other, WORK runs on several threads at once, WRITE takes the results in the
 * order in which they were read. At most DEPTH items exist, so memory is
 * bounded and a slow end holds back a fast one.
 *
 *	struct pool p = { .threads = 2, .depth = 8, .items = items, .item_size = sizeof(items[0]),
 *	                  .read = ..., .work = ..., .write = ..., .ctx = &state };
 *	if (pool_run(&p))
 *		return -1;		(the reason of the first failure, in order)
 *
 * READ and WRITE are never called by two threads at once, nor out of order;
 * they may run beside each other and beside WORK, on any of the threads. The
 * caller's thread is one of them; with threads = 1 there is no other. What was
 * read before the item that fails is written before pool_run returns, as with
 * one thread, and nothing after it is; all threads have ended by then. A
 * system that refuses more threads is no failure: fewer do the work.
 */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pool {
	unsigned threads;			/* workers; 0 is 1 */
	unsigned depth;				/* items; at least 1 */
	void *items;				/* item[depth], the caller's */
	size_t item_size;
	int (*read)(void *ctx, void *item);	/* 1: filled, 0: no more, -1: failed (reason set) */
	int (*work)(void *ctx, void *item, unsigned worker);	/* 0, or -1 failed; worker < threads */
	int (*write)(void *ctx, void *item);	/* 0, or -1 failed; may be NULL */
	void *ctx;
};

int pool_run(struct pool *p);

/* Calls WORK(ctx, i, worker) for every i < n, any order; -1 with the reason of the lowest i that failed. */
int pool_for(unsigned threads, size_t n, int (*work)(void *ctx, size_t i, unsigned worker), void *ctx);

/* Threads this process may use: affinity, cgroup quota, SLURM_CPUS_PER_TASK; the least of them, at least 1. */
unsigned pool_allowed_threads(void);

/*
 * Processors that the quotas of the cgroups listed in CGROUPS (as
 * /proc/self/cgroup) and of their ancestors allow, rounded up, their files being
 * under MOUNT (as /sys/fs/cgroup); UINT_MAX when none limits. Versions 2 and 1.
 */
unsigned pool_quota_threads(const char *cgroups, const char *mount);

#ifdef __cplusplus
}
#endif

#endif
