#include "base/pool.h"

#include "base/err.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

/* --- pool_run ----------------------------------------------------------------------- */

#define NEVER UINT_MAX

struct item {
	unsigned number;
	unsigned long result;
};

/* READ and WRITE touch their fields without a lock: the thread sanitizer sees whether pool_run keeps its word. */
struct job {
	unsigned items, threads;
	unsigned read_fails, work_fails, write_fails;	/* at this item and, for work, at every later one */
	unsigned reads, writes;
	unsigned long sum;
	atomic_int inside;	/* threads now at work */
	atomic_int most_inside;
	bool bad_worker;
};

static unsigned long spin(unsigned number)
{
	unsigned long x = number;

	for (unsigned i = 0; i < number * 7919 % 2000; i++)
		x = x * 6364136223846793005ul + 1442695040888963407ul;
	return x;
}

static int job_read(void *ctx, void *item)
{
	struct job *j = ctx;
	struct item *it = item;

	if (j->reads == j->read_fails)
		return err_fail("read %u", j->reads);
	if (j->reads == j->items)
		return 0;
	it->number = j->reads++;
	return 1;
}

static int job_work(void *ctx, void *item, unsigned worker)
{
	struct job *j = ctx;
	struct item *it = item;
	int inside = atomic_fetch_add(&j->inside, 1) + 1, most = atomic_load(&j->most_inside);

	while (inside > most && !atomic_compare_exchange_weak(&j->most_inside, &most, inside))
		;
	if (worker >= j->threads)
		j->bad_worker = true;
	it->result = spin(it->number);
	atomic_fetch_sub(&j->inside, 1);
	return it->number >= j->work_fails ? err_corrupt("work %u", it->number) : 0;
}

static int job_write(void *ctx, void *item)
{
	struct job *j = ctx;
	const struct item *it = item;

	if (it->number != j->writes)
		return err_fail("item %u out of order", it->number);
	if (it->number == j->write_fails)
		return err_usage("write %u", it->number);
	j->sum += it->result;
	j->writes++;
	return 0;
}

static struct job job_of(unsigned items, unsigned threads)
{
	return (struct job){
		.items = items, .threads = threads, .read_fails = NEVER, .work_fails = NEVER, .write_fails = NEVER
	};
}

static int job_run(struct job *j, unsigned depth)
{
	struct item items[64];
	struct pool p = { .threads = j->threads,
			  .depth = depth,
			  .items = items,
			  .item_size = sizeof(items[0]),
			  .read = job_read,
			  .work = job_work,
			  .write = job_write,
			  .ctx = j };

	assert_true(depth <= 64);
	return pool_run(&p);
}

static void test_order(void **state)
{
	(void)state;
	for (unsigned threads = 0; threads <= 5; threads++)
		for (unsigned depth = 1; depth <= 64; depth = depth * 3 + 1) {
			struct job j = job_of(300, threads ? threads : 1);
			unsigned long sum = 0;

			for (unsigned i = 0; i < 300; i++)
				sum += spin(i);
			assert_int_equal(job_run(&j, depth), 0);
			assert_int_equal(j.writes, 300);
			assert_true(j.sum == sum);
			assert_false(j.bad_worker);
			assert_true(atomic_load(&j.most_inside) <= (int)j.threads);
		}
}

static void test_few_items(void **state)
{
	(void)state;
	for (unsigned items = 0; items < 4; items++) {
		struct job j = job_of(items, 4);

		assert_int_equal(job_run(&j, 8), 0);
		assert_int_equal(j.writes, items);
	}
}

/* What fails, where, and which failure must be told: the first in order, with everything before it written. */
static void test_failures(void **state)
{
	static const struct {
		unsigned read, work, write;
		const char *reason;
		enum exit_code code;
		unsigned written;
	} cases[] = {
		{ 0, NEVER, NEVER, "read 0", EXIT_FAILED, 0 },
		{ 37, NEVER, NEVER, "read 37", EXIT_FAILED, 37 },
		{ NEVER, 0, NEVER, "work 0", EXIT_CORRUPT, 0 },
		{ NEVER, 41, NEVER, "work 41", EXIT_CORRUPT, 41 },
		{ NEVER, NEVER, 0, "write 0", EXIT_USAGE, 0 },
		{ NEVER, NEVER, 99, "write 99", EXIT_USAGE, 99 },
		{ 40, 38, 39, "work 38", EXIT_CORRUPT, 38 },
		{ 40, 39, 38, "write 38", EXIT_USAGE, 38 },
		{ 38, 39, 40, "read 38", EXIT_FAILED, 38 },
		{ 39, 38, NEVER, "work 38", EXIT_CORRUPT, 38 },
		{ 100, NEVER, NEVER, "read 100", EXIT_FAILED, 100 },
		{ NEVER, NEVER, 0, "write 0", EXIT_USAGE, 0 },
	};

	(void)state;
	for (unsigned threads = 1; threads <= 4; threads++)
		for (unsigned depth = 1; depth <= 16; depth *= 4)
			for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
				struct job j = job_of(100, threads);

				j.read_fails = cases[i].read;
				j.work_fails = cases[i].work;
				j.write_fails = cases[i].write;
				err_clear();
				assert_int_equal(job_run(&j, depth), -1);
				assert_string_equal(err_text(), cases[i].reason);
				assert_int_equal(err_code(), cases[i].code);
				assert_int_equal(j.writes, cases[i].written);
				assert_int_equal(atomic_load(&j.inside), 0);
			}
}

static int wait_for_partner(void *ctx, void *item, unsigned worker)
{
	atomic_int *arrived = ctx;

	(void)item;
	(void)worker;
	atomic_fetch_add(arrived, 1);
	while (atomic_load(arrived) < 2)	/* ends only when two threads are at work at once */
		usleep(100);
	return 0;
}

static int read_two(void *ctx, void *item)
{
	static int given;

	(void)ctx;
	*(char *)item = 0;
	return given++ < 2;
}

static void test_at_once_and_no_write(void **state)
{
	atomic_int arrived = 0;
	char items[2];
	struct pool p = { .threads = 2,
			  .depth = 2,
			  .items = items,
			  .item_size = 1,
			  .read = read_two,
			  .work = wait_for_partner,
			  .ctx = &arrived };

	(void)state;
	assert_int_equal(pool_run(&p), 0);
	assert_int_equal(atomic_load(&arrived), 2);
}

/* --- pool_for ----------------------------------------------------------------------- */

struct loop_state {
	unsigned threads;
	atomic_uint done[1000];
	size_t fails;	/* from here on, every third */
};

static int loop_work(void *ctx, size_t i, unsigned worker)
{
	struct loop_state *s = ctx;

	atomic_fetch_add(&s->done[i], 1);
	if (worker >= s->threads)
		return err_fail("worker %u", worker);
	if (i >= s->fails && (i - s->fails) % 3 == 0)
		return err_corrupt("index %zu", i);
	return 0;
}

static void test_for(void **state)
{
	(void)state;
	for (unsigned threads = 1; threads <= 5; threads++)
		for (size_t n = 0; n <= 1000; n = n * 7 + 1) {
			struct loop_state s = { .threads = threads, .fails = SIZE_MAX };

			assert_int_equal(pool_for(threads, n, loop_work, &s), 0);
			for (size_t i = 0; i < 1000; i++)
				assert_int_equal(atomic_load(&s.done[i]), i < n);
		}
}

static void test_for_fails(void **state)
{
	(void)state;
	for (unsigned threads = 0; threads <= 5; threads++)
		for (int again = 0; again < 20; again++) {
			struct loop_state s = { .threads = threads ? threads : 1, .fails = 500 };

			assert_int_equal(pool_for(threads, 1000, loop_work, &s), -1);
			assert_string_equal(err_text(), "index 500");
			assert_int_equal(err_code(), EXIT_CORRUPT);
			for (size_t i = 0; i < 500; i++)
				assert_int_equal(atomic_load(&s.done[i]), 1);
		}
}

/* --- how many threads ------------------------------------------------------------------ */

static char folder[] = "/tmp/bert-test-pool-XXXXXX";

static void put_file(const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void put_folder(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	assert_int_equal(mkdir(path, 0700), 0);
}

static unsigned quota(const char *cgroups)
{
	char path[256];

	put_file("cgroups", cgroups);
	snprintf(path, sizeof(path), "%s/cgroups", folder);
	return pool_quota_threads(path, folder);
}

static void remove_all(void)
{
	static const char *const names[] = { "a/b/cpu.max",
					     "a/b",
					     "a/cpu.max",
					     "a",
					     "cpu/x/cpu.cfs_quota_us",
					     "cpu/x/cpu.cfs_period_us",
					     "cpu/x",
					     "cpu/cpu.cfs_quota_us",
					     "cpu",
					     "cgroups",
					     "" };
	char path[256];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		assert_int_equal(remove(path), 0);
	}
}

static void test_quota(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(folder));
	put_folder("a");
	put_folder("a/b");
	put_file("a/cpu.max", "350000 100000\n");
	put_file("a/b/cpu.max", "max 100000\n");
	assert_int_equal(quota("0::/a\n"), 4);			/* rounded up */
	assert_int_equal(quota("0::/a/b\n"), 4);		/* the parent's counts */
	assert_int_equal(quota("0::/a/b/gone\n"), 4);		/* as a container may see it */
	put_file("a/b/cpu.max", "100000 100000\n");
	assert_int_equal(quota("0::/a/b\n"), 1);
	put_file("a/b/cpu.max", "5000 100000\n");
	assert_int_equal(quota("0::/a/b\n"), 1);
	put_file("a/b/cpu.max", "garbage\n");
	assert_int_equal(quota("0::/a/b\n"), 4);
	assert_int_equal(quota("0::/\n"), UINT_MAX);
	assert_int_equal(quota(""), UINT_MAX);
	assert_int_equal(quota("nonsense\n"), UINT_MAX);

	put_folder("cpu");
	put_folder("cpu/x");
	put_file("cpu/cpu.cfs_quota_us", "-1\n");
	put_file("cpu/x/cpu.cfs_quota_us", "200000\n");
	put_file("cpu/x/cpu.cfs_period_us", "100000\n");
	assert_int_equal(quota("4:cpu,cpuacct:/x\n3:cpuset:/x\n"), 2);
	assert_int_equal(quota("4:cpuacct,cpu:/x\n"), 2);
	assert_int_equal(quota("4:cpuset:/x\n"), UINT_MAX);
	assert_int_equal(quota("4:cpu:/x\n0::/a\n"), 2);
	put_file("cpu/x/cpu.cfs_quota_us", "-1\n");
	assert_int_equal(quota("4:cpu:/x\n"), UINT_MAX);
	assert_int_equal(pool_quota_threads("/nonexistent", folder), UINT_MAX);
	remove_all();
}

static void test_allowed(void **state)
{
	unsigned n;

	(void)state;
	unsetenv("SLURM_CPUS_PER_TASK");
	n = pool_allowed_threads();
	assert_true(n >= 1);
	assert_true(n <= (unsigned)sysconf(_SC_NPROCESSORS_CONF));
	setenv("SLURM_CPUS_PER_TASK", "1", 1);
	assert_int_equal(pool_allowed_threads(), 1);
	setenv("SLURM_CPUS_PER_TASK", "100000", 1);
	assert_int_equal(pool_allowed_threads(), n);
	setenv("SLURM_CPUS_PER_TASK", "x", 1);
	assert_int_equal(pool_allowed_threads(), n);
	setenv("SLURM_CPUS_PER_TASK", "0", 1);
	assert_int_equal(pool_allowed_threads(), n);
	unsetenv("SLURM_CPUS_PER_TASK");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_few_items),
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_at_once_and_no_write),
		cmocka_unit_test(test_for),
		cmocka_unit_test(test_for_fails),
		cmocka_unit_test(test_quota),
		cmocka_unit_test(test_allowed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
