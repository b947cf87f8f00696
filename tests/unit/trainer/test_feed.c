/* Shards as samples: each instance to the letter, at the place that the order says; and steps over the ends of epochs. */
#include "shards/job.h"
#include "tests/unit/model/tiny.h"
#include "trainer/feed.h"
#include "trainer/order.h"
#include "trainer/shard_source.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* Where GATED, a request waits until another one is there too, once: OVERLAPPED. */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t came = PTHREAD_COND_INITIALIZER;
static bool gated, overlapped;
static int waiting;

/* Stands for the C library's. */
ssize_t preadv(int fd, const struct iovec *to, int n, off_t offset)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += 20;		/* then requests do not overlap */
	pthread_mutex_lock(&gate);
	if (gated && !overlapped) {
		overlapped = ++waiting > 1;
		pthread_cond_broadcast(&came);
		while (!overlapped && !pthread_cond_timedwait(&came, &gate, &end))
			;
		waiting--;
	}
	pthread_mutex_unlock(&gate);
	return syscall(SYS_preadv, fd, to, n, offset, 0L);
}

static const char *data(const char *name)
{
	static char path[512];
	const char *top = getenv("TOP");

	snprintf(path, sizeof(path), "%s/tests/data/man/%s", top ? top : ".", name);
	return path;
}

/* FOLDER/NAME: shards of the corpus. */
static void make_shards(const char *folder, int masking)
{
	struct job_opts o = JOB_OPTS_DEFAULT;
	char *corpus = strdup(data("corpus.txt")), *vocab = strdup(data("vocab.txt"));
	const char *files[] = { corpus };
	struct job *j;

	o.folder = folder;
	o.files = files;
	o.n_files = 1;
	o.tokenizer.vocab = vocab;
	o.max_seq_length = 48;
	o.max_predictions_per_seq = 8;
	o.dupe_factor = masking == SHARD_DYNAMIC ? 1 : 2;
	o.masking = masking;
	o.shards = 2;
	o.threads = 1;
	o.made_by = "a test";
	OK(job_open(&j, &o));
	OK(job_run(j));
	job_close(j);
	free(vocab);
	free(corpus);
}

struct setting {
	struct ground g;
	struct model m;
	struct shard_source *s;
	struct sample_source *samples;
};

static void setting_open(struct setting *x, const char *folder, int masking, bool ordered)
{
	struct config c;

	make_shards(folder, masking);
	ground_open(&x->g, "ref");
	OK(config_read(&c, data("config.json")));
	c.head = HEAD_PRETRAINING;
	OK(model_init(&x->m, &x->g.k, x->g.q, &c, DTYPE_F32));
	OK(shard_source_open(&x->s, &(struct mixture_set){ folder, 1 }, 1, &(struct shard_source_opts){ .seed = 11, .ordered = ordered, .exponent = 1, .config = &x->m.config }));
	x->samples = shard_source_samples(x->s);
}

static void setting_close(struct setting *x)
{
	shard_source_close(x->s);
	model_release(&x->m);
	ground_close(&x->g);
}

/* Sequence I of B is INSTANCE. */
static void check_sequence(const struct batch *b, int i, const struct instance *instance, const struct instance_shape *shape)
{
	const int row = b->host.starts[i];
	uint32_t found = 0;

	assert_int_equal(b->host.starts[i + 1] - row, instance->n);
	for (uint32_t t = 0; t < instance->n; t++) {
		assert_int_equal(b->host.ids[row + (int)t], instance->ids[t]);
		assert_int_equal(b->host.types[row + (int)t], instance_type(instance, shape, t));
		assert_int_equal(b->host.positions[row + (int)t], t);
	}
	for (int p = 0; p < b->P; p++) {
		if (b->host.pred_rows[p] < row || b->host.pred_rows[p] >= row + (int)instance->n)
			continue;
		assert_int_equal(b->host.pred_rows[p], row + (int)instance->positions[found]);
		assert_int_equal(b->host.pred_labels[p], instance->labels[found]);
		found++;
	}
	assert_int_equal(found, instance->predictions);
	assert_int_equal(b->host.class_labels[i], instance->flags & INSTANCE_RANDOM_NEXT ? 1 : 0);
}

/* The order of the first set alone, as the source has it. */
static struct order *open_order(const struct setting *x)
{
	const struct reader *r = mixture_reader(shard_source_mixture(x->s), 0);
	const uint64_t firsts[] = { 0, reader_shard_first(r, 1), reader_size(r) };
	const struct order_set set = { .firsts = firsts, .shards = 2, .share = reader_size(r), .block = shard_block_records(48) };
	struct order *o;

	assert_int_equal(reader_shards(r), 2);
	OK(order_open(&o, 11, &set, 1));
	return o;
}

static uint64_t number_at(struct order *o, uint64_t epoch, uint64_t index)
{
	struct order_window w;

	OK(order_window(o, epoch, index, &w));
	return order_find(&w, index).index;
}

static void check_source(const char *folder, int masking, bool ordered)
{
	struct setting x;
	struct reader_cursor *c;
	struct order *o;
	struct batch b;

	setting_open(&x, folder, masking, ordered);
	o = open_order(&x);
	c = reader_cursor_new(mixture_reader(shard_source_mixture(x.s), 0));
	assert_true(x.samples->size > 20);
	OK(batch_open(&b, &x.g.k, &(struct batch_limits){ .B = 3, .T = 3 * 48, .P = 3 * 8, .C = 1 }, DTYPE_F32));
	for (uint64_t k = 0; k < 2 * x.samples->size; k++) {
		/* Not in order of places, over two epochs. */
		const uint64_t epoch = k % 2, index = k * 7 % x.samples->size;
		const struct instance *instance;

		batch_clear(&b);
		for (int i = 0; i < 3; i++)
			OK(x.samples->add(x.samples, epoch, (index + (uint64_t)i) % x.samples->size, k, &b));
		OK(batch_finish(&b, &x.m.config));
		for (int i = 0; i < 3; i++) {
			const uint64_t at = (index + (uint64_t)i) % x.samples->size;

			instance = reader_get(c, ordered ? epoch : 0, ordered ? number_at(o, epoch, at) : at);
			assert_non_null(instance);
			check_sequence(&b, i, instance, reader_shape(mixture_reader(shard_source_mixture(x.s), 0)));
			assert_int_equal(b.host.sample[i], k);
		}
	}
	batch_close(&b);
	order_close(o);
	reader_cursor_free(c);
	setting_close(&x);
}

static void test_source(void **state)
{
	check_source(tiny_in(state, "static"), SHARD_STATIC, true);
	check_source(tiny_in(state, "dynamic"), SHARD_DYNAMIC, true);
	check_source(tiny_in(state, "plain"), SHARD_DYNAMIC, false);
}

/* All samples of some steps, one after the other: the lengths and ids of each, as one number. */
static uint64_t digest_of_steps(const struct feed_opts *opts, uint64_t *after)
{
	uint64_t h = 1;
	struct feed *f;

	OK(feed_open(&f, opts));
	for (uint64_t k = 0; k < opts->steps; k++) {
		struct feed_step *s = feed_take(f);

		assert_non_null(s);
		for (int i = 0; i < s->n; i++)
			for (int j = 0; j < s->batches[i].B; j++) {
				h = (h * 1000003 + s->batches[i].host.sample[j]) * 31;
				for (int t = s->batches[i].host.starts[j]; t < s->batches[i].host.starts[j + 1]; t++)
					h = h * 1000003 + (uint64_t)s->batches[i].host.ids[t];
			}
		*after = s->after.epoch * opts->source->size + s->after.index;
		feed_give(f, s);
	}
	feed_close(f);
	return h;
}

/* The same samples however steps are cut, also where epochs end; and a feed that begins later begins where that one was. */
static void test_steps(void **state)
{
	struct setting x;
	struct feed_opts o;
	uint64_t after, later, whole, other;

	setting_open(&x, tiny_in(state, "s"), SHARD_DYNAMIC, true);
	o = (struct feed_opts){ .source = x.samples, .model = &x.m, .batch = 10, .micro_batch = 4, .steps = 9 };
	whole = digest_of_steps(&o, &after);
	assert_int_equal(after, 90);
	assert_true(after > x.samples->size);
	o.micro_batch = 10;
	assert_true(digest_of_steps(&o, &after) == whole);
	o.batch = 15;
	o.steps = 6;
	assert_true(digest_of_steps(&o, &after) == whole);
	o = (struct feed_opts){ .source = x.samples, .model = &x.m, .batch = 10, .micro_batch = 10, .steps = 1 };
	o.at = (struct feed_place){ .epoch = 80 / x.samples->size, .index = 80 % x.samples->size };
	later = digest_of_steps(&o, &after);
	assert_int_equal(after, 90);
	o.at.index++;
	other = digest_of_steps(&o, &after);
	assert_true(later != other);
	setting_close(&x);
}

/* While one request is waited for, others are made. */
static void test_overlap(void **state)
{
	struct feed_opts o = { .batch = 10, .micro_batch = 10, .steps = 1 };
	struct setting x;
	uint64_t after;

	setting_open(&x, tiny_in(state, "s"), SHARD_STATIC, true);
	o.source = x.samples;
	o.model = &x.m;
	gated = true;
	(void)digest_of_steps(&o, &after);
	setting_close(&x);	/* ends its threads */
	gated = false;
	assert_true(overlapped);
}

/* Samples FIRST, FIRST + STEP, ... of two epochs, each as a number, put where they belong in DIGESTS. */
static void take_every(struct setting *x, struct sample_source *s, uint64_t first, uint64_t step, uint64_t *digests)
{
	struct batch b;

	OK(batch_open(&b, &x->g.k, &(struct batch_limits){ .B = 1, .T = 48, .P = 8, .C = 1 }, DTYPE_F32));
	for (uint64_t at = first; at < 2 * s->size; at += step) {
		uint64_t h = 1;

		batch_clear(&b);
		OK(s->add(s, at / s->size, at % s->size, 0, &b));
		for (int t = 0; t < b.host.starts[1]; t++)
			h = h * 1000003 + (uint64_t)b.host.ids[t];
		digests[at] = h;
	}
	batch_close(&b);
}

/*
 * Any number of ranks, each with a source of its own and mapped or not, has the samples that one has: what is at an index depends
 * on nothing else.
 */
static void test_ranks(void **state)
{
	uint64_t one[2000] = { 0 }, many[2000];
	struct setting x;

	setting_open(&x, tiny_in(state, "s"), SHARD_DYNAMIC, true);
	assert_true(2 * x.samples->size < 2000);
	take_every(&x, x.samples, 0, 1, one);
	for (uint64_t ranks = 2; ranks < 6; ranks++) {
		memset(many, 0, sizeof(many));
		for (uint64_t rank = 0; rank < ranks; rank++) {
			const struct shard_source_opts o = { .seed = 11, .ordered = true, .map = rank % 2, .exponent = 1, .config = &x.m.config };
			const struct mixture_set set = { tiny_in(state, "s"), 1 };
			struct shard_source *s;

			OK(shard_source_open(&s, &set, 1, &o));
			take_every(&x, shard_source_samples(s), rank, ranks, many);
			shard_source_close(s);
		}
		assert_memory_equal(one, many, 2 * x.samples->size * sizeof(one[0]));
	}
	setting_close(&x);
}

/* Turns over the byte in the middle of shard 1. */
static void turn_over(const char *folder)
{
	char path[600];
	unsigned char c;
	int fd;

	snprintf(path, sizeof(path), "%s/shard-00001-of-00002.shard", folder);
	fd = open(path, O_RDWR);
	assert_true(fd >= 0);
	assert_int_equal(pread(fd, &c, 1, lseek(fd, 0, SEEK_END) / 2), 1);
	c ^= 0xFF;
	assert_int_equal(pwrite(fd, &c, 1, lseek(fd, 0, SEEK_END) / 2), 1);
	close(fd);
}

/* What fails on another thread is told to the one that asks; and when the shard is whole again, so are the samples. */
static void test_ill_shard(void **state)
{
	char folder[512];
	struct setting x;
	struct batch b;

	snprintf(folder, sizeof(folder), "%s", tiny_in(state, "s"));
	setting_open(&x, folder, SHARD_STATIC, true);
	OK(batch_open(&b, &x.g.k, &(struct batch_limits){ .B = 1, .T = 48, .P = 8, .C = 1 }, DTYPE_F32));
	turn_over(folder);
	for (int k = 0; k < 3; k++) {
		batch_clear(&b);
		FAILS(x.samples->add(x.samples, 0, 0, 0, &b), EXIT_CORRUPT, "checksum differs");
	}
	turn_over(folder);
	batch_clear(&b);
	OK(x.samples->add(x.samples, 0, 0, 0, &b));
	batch_close(&b);
	setting_close(&x);
}

static int fail_at_5(struct sample_source *s, uint64_t epoch, uint64_t index, uint64_t key, struct batch *b)
{
	(void)s;
	if (epoch || index == 5)
		return err_corrupt("sample %d is ill", (int)index);
	b->host.ids[b->host.starts[batch_add(b, 1, key)]] = 1;
	return 0;
}

/* What was made before the failure is there; then its reason comes to the thread that takes. */
static void test_failure(void **state)
{
	struct sample_source source = { .size = 100, .max_length = 4, .max_predictions = 1, .add = fail_at_5 };
	struct feed_opts o = { .source = &source, .batch = 2, .micro_batch = 2, .steps = 50 };
	struct setting x;
	struct feed *f;

	setting_open(&x, tiny_in(state, "s"), SHARD_STATIC, true);
	o.model = &x.m;
	OK(feed_open(&f, &o));
	for (int k = 0; k < 2; k++) {
		struct feed_step *s = feed_take(f);

		assert_non_null(s);
		feed_give(f, s);
	}
	err_clear();
	assert_null(feed_take(f));
	assert_string_equal(err_text(), "sample 5 is ill");
	assert_int_equal(err_code(), EXIT_CORRUPT);
	feed_close(f);
	OK(feed_open(&f, &o));		/* closed before anything was taken */
	feed_close(f);
	setting_close(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_source, tiny_enter, tiny_leave),
		cmocka_unit_test_setup_teardown(test_steps, tiny_enter, tiny_leave),
		cmocka_unit_test_setup_teardown(test_overlap, tiny_enter, tiny_leave),
		cmocka_unit_test_setup_teardown(test_ranks, tiny_enter, tiny_leave),
		cmocka_unit_test_setup_teardown(test_ill_shard, tiny_enter, tiny_leave),
		cmocka_unit_test_setup_teardown(test_failure, tiny_enter, tiny_leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
