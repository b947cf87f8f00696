/*
 * Reads instances as trainers do, and says how fast:
 *
 *	reading order DIR...			epochs of 300,000 instances at least, window by window, on one thread
 *	reading random DIR...			50,000 instances, each at a drawn place, on one thread
 *	reading train DIR...			an epoch as batches of 32, with the threads that read ahead
 *
 * Options before DIR: "mmap"; "delay MS", which makes every request wait so long. Prints on one line: instances,
 * seconds of processor time, seconds by the clock, blocks that were read, requests and their bytes (of the first epoch), peak
 * KiB. With train there is no number of blocks.
 */
#include "base/err.h"
#include "trainer/order.h"
#include "trainer/shard_source.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { LEAST = 300000, RANDOM = 50000, BATCH = 32 };

/* --- requests, counted and made slow ------------------------------------------------- */

static atomic_ullong requests, bytes;
static atomic_bool counted;
static long delay_ms;

/* Stands for the C library's. */
ssize_t preadv(int fd, const struct iovec *to, int n, off_t offset)
{
	const struct timespec wait = { delay_ms / 1000, delay_ms % 1000 * 1000000 };
	ssize_t got;

	if (delay_ms)
		nanosleep(&wait, NULL);
	got = syscall(SYS_preadv, fd, to, n, offset, 0L);
	if (counted)
		return got;
	atomic_fetch_add(&requests, 1);
	if (got > 0)
		atomic_fetch_add(&bytes, (unsigned long long)got);
	return got;
}

/* --- reading ---------------------------------------------------------------------------- */

struct bench {
	struct mixture_set sets[16];
	size_t n;
	bool map;
	uint64_t instances, blocks;
	volatile uint64_t tokens;	/* so that nothing is left out */
};

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int get(struct bench *b, struct mixture_cursor *c, const struct mixture_place *at)
{
	const struct instance *i = mixture_get_at(c, at);

	if (!i)
		return -1;
	b->instances++;
	b->tokens += i->n;
	return 0;
}

static int read_epoch(struct bench *b, struct order *o, uint64_t epoch, struct mixture_cursor *c)
{
	struct order_window w = { .count = 0 };

	for (uint64_t at = 0; at < order_size(o); at += w.count) {
		if (order_window(o, epoch, at, &w))
			return -1;
		b->blocks += w.n;
		for (unsigned i = 0; i < w.n; i++)
			for (uint32_t j = 0; j < w.runs[i].count; j++) {
				const struct mixture_place place = { w.runs[i].set, w.runs[i].pass, w.runs[i].index + j };

				b->tokens += order_place(&w, w.runs[i].at + j);	/* whoever reads needs it */
				if (get(b, c, &place))
					return -1;
			}
	}
	return 0;
}

static int read_order(struct bench *b, const struct mixture *m, struct mixture_cursor *c)
{
	struct order *o;
	int rc = shard_source_order(&o, 1, m);

	for (uint64_t epoch = 0; !rc && b->instances < LEAST; epoch++) {
		rc = read_epoch(b, o, epoch, c);
		counted = true;
	}
	order_close(o);
	return rc;
}

static int read_random(struct bench *b, const struct mixture *m, struct mixture_cursor *c)
{
	uint64_t before = UINT64_MAX;
	struct rng r;

	rng_open(&r, 1, 99, 0, 0, 0, 0, 0);
	for (int i = 0; i < RANDOM; i++) {
		const uint64_t number = rng_below(&r, (uint32_t)mixture_size(m));
		const struct mixture_place at = mixture_find(m, 0, number);

		if (get(b, c, &at))
			return -1;
		b->blocks += number / ORDER_RUN != before;
		before = number / ORDER_RUN;
	}
	return 0;
}

static int read_with_cursor(struct bench *b, bool ordered)
{
	struct mixture_cursor *c = NULL;
	struct mixture *m;
	int rc = mixture_open(&m, b->sets, b->n, 1, &(struct reader_opts){ .scattered = true, .map = b->map });

	if (!rc)
		c = mixture_cursor_new(m);
	rc = !c ? -1 : ordered ? read_order(b, m, c) : read_random(b, m, c);
	mixture_cursor_free(c);
	mixture_close(m);
	return rc;
}

static int read_batches(struct bench *b)
{
	const struct config config = { .vocab_size = 1 << 24, .max_position_embeddings = 65535, .type_vocab_size = 2 };
	const struct shard_source_opts o = { .seed = 1, .ordered = true, .map = b->map, .exponent = 1, .config = &config };
	struct sample_source *samples;
	struct shard_source *s;
	struct batch_limits limits;
	struct kernels k;
	struct batch batch;
	int rc = kernels_open(&k, "cpu", 1);

	if (rc || shard_source_open(&s, b->sets, b->n, &o))
		return -1;
	samples = shard_source_samples(s);
	limits = sample_source_limits(samples, BATCH);
	rc = batch_open(&batch, &k, &limits, DTYPE_F32);
	for (uint64_t i = 0; !rc && i < samples->size; i++) {
		if (i % BATCH == 0)
			batch_clear(&batch);
		rc = samples->add(samples, 0, i, i, &batch);
		b->instances++;
	}
	batch_close(&batch);
	shard_source_close(s);
	kernels_close(&k);
	return rc;
}

int main(int argc, char **argv)
{
	struct bench b = { .n = 0 };
	const double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID), wall = seconds(CLOCK_MONOTONIC);
	struct rusage usage;
	const char *how;
	int rc;

	if (argc < 3)
		return EXIT_USAGE;
	how = *++argv;
	for (argv++; *argv && b.n < 16; argv++) {
		if (!strcmp(*argv, "mmap"))
			b.map = true;
		else if (!strcmp(*argv, "delay") && argv[1])
			delay_ms = strtol(*++argv, NULL, 10);
		else
			b.sets[b.n++] = (struct mixture_set){ *argv, 1 };
	}
	rc = !strcmp(how, "train") ? read_batches(&b) : read_with_cursor(&b, !strcmp(how, "order"));
	if (rc) {
		fprintf(stderr, "reading: %s\n", err_text());
		return EXIT_FAILED;
	}
	getrusage(RUSAGE_SELF, &usage);
	printf("%" PRIu64 " %.4f %.4f %" PRIu64 " %llu %llu %ld\n", b.instances, seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu,
	       seconds(CLOCK_MONOTONIC) - wall, b.blocks, (unsigned long long)requests, (unsigned long long)bytes, usage.ru_maxrss);
	return 0;
}
