/* Shards as samples: each instance to the letter, at the place that the order says; and steps over the ends of epochs. */
#include "shards/job.h"
#include "tests/unit/model/tiny.h"
#include "trainer/feed.h"
#include "trainer/order.h"
#include "trainer/shard_source.h"

#include <unistd.h>

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

static void check_source(const char *folder, int masking, bool ordered)
{
	struct setting x;
	struct reader_cursor *c;
	struct order o;
	struct batch b;

	setting_open(&x, folder, masking, ordered);
	order_init(&o, 11, x.samples->size);
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

			instance = reader_get(c, ordered ? epoch : 0, ordered ? order_at(&o, epoch, at) : at);
			assert_non_null(instance);
			check_sequence(&b, i, instance, reader_shape(mixture_reader(shard_source_mixture(x.s), 0)));
			assert_int_equal(b.host.sample[i], k);
		}
	}
	batch_close(&b);
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
		cmocka_unit_test_setup_teardown(test_failure, tiny_enter, tiny_leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
