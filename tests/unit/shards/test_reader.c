/* Instances by number: the same whatever was read before, across shards; limits; dynamic masks by epoch. */
#include "shards/reader.h"
#include "tests/unit/shards/made_folder.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* Counts requests: stands for the C library's. */
static atomic_int requests;
static atomic_ullong bytes_read;

ssize_t preadv(int fd, const struct iovec *to, int n, off_t offset)
{
	const ssize_t got = syscall(SYS_preadv, fd, to, n, offset, 0L);

	atomic_fetch_add(&requests, 1);
	atomic_fetch_add(&bytes_read, got > 0 ? (unsigned long long)got : 0);
	return got;
}

static void make(const struct made *like)
{
	made_folder(made_set, like);
}

static struct reader *open_folder(const struct reader_opts *o)
{
	const char *path = made_set;
	struct reader *r;

	if (reader_open(&r, &path, 1, o))
		fail_msg("%s", err_text());
	return r;
}

/* A number that two instances share only when they are equal. */
static uint64_t digest(const struct instance *i)
{
	uint64_t h = i->n * 31 + i->predictions + i->flags * 7;

	for (uint32_t k = 0; k < i->n; k++)
		h = h * 1000003 + i->ids[k];
	for (uint32_t k = 0; k < i->predictions; k++)
		h = (h * 1000003 + i->positions[k]) * 1000003 + i->labels[k];
	return h;
}

static uint64_t digest_at(struct reader_cursor *c, uint64_t epoch, uint64_t index)
{
	const struct instance *i = reader_get(c, epoch, index);

	if (!i)
		fail_msg("%s", err_text());
	return digest(i);
}

/* All instances in order, by the files themselves. */
static uint64_t *by_file(uint64_t *n)
{
	static uint64_t all[MADE_SHARDS * MADE_INSTANCES_MAX];

	*n = 0;
	for (uint32_t k = 0; k < MADE_SHARDS; k++) {
		struct instance_block b = INSTANCE_BLOCK_INIT;
		struct frame_block f = FRAME_BLOCK_INIT;
		struct instance i;
		struct shard *s;

		assert_int_equal(shard_open(&s, made_path(made_set, k)), 0);
		assert_int_equal(instance_init(&i, shard_shape(s)), 0);
		for (uint64_t block = 0; block < shard_blocks(s); block++) {
			assert_int_equal(shard_read(s, block, &f, &b), 0);
			for (uint32_t j = 0; j < b.records; j++) {
				instance_block_get(&b, j, &i);
				all[(*n)++] = digest(&i);
			}
		}
		instance_release(&i);
		instance_block_release(&b);
		frame_block_release(&f);
		shard_close(s);
	}
	return all;
}

static void any_order_gives_the_same(void **state)
{
	struct reader_cursor *c;
	struct reader *r;
	uint64_t *all, n;

	(void)state;
	make(&(struct made){ .seed = 3 });
	all = by_file(&n);
	r = open_folder(&(struct reader_opts){ 0 });
	c = reader_cursor_new(r);
	assert_non_null(c);
	assert_int_equal(reader_size(r), n);
	for (uint64_t k = 0; k < n; k++)
		assert_int_equal(digest_at(c, 0, k), all[k]);
	for (uint64_t k = 0; k < 2 * n; k++)	/* a prime that is no factor of n: all of them, in no order */
		assert_int_equal(digest_at(c, k, k * 7919 % n), all[k * 7919 % n]);
	assert_null(reader_get(c, 0, n));
	assert_int_equal(digest_at(c, 0, n - 1), all[n - 1]);
	reader_cursor_free(c);
	reader_close(r);
}

/* The same through maps, with one shard open at a time, and by threads that share the reader. */
static void any_way_gives_the_same(void **state)
{
	struct reader_cursor *c;
	struct shelf *small;
	struct reader *r;
	uint64_t *all, n;

	(void)state;
	make(&(struct made){ .seed = 3 });
	all = by_file(&n);
	for (int way = 0; way < 4; way++) {
		assert_non_null(small = shelf_new(1, 1));
		r = open_folder(&(struct reader_opts){ .map = way & 1, .scattered = way & 2, .shelf = way & 2 ? small : NULL });
		c = reader_cursor_new(r);
		requests = 0;
		for (uint64_t k = 0; k < 2 * n; k++)
			assert_int_equal(digest_at(c, k, k * 7919 % n), all[k * 7919 % n]);
		assert_true(way & 1 ? !requests : requests > 0);
		if (way & 2) {
			assert_int_equal(reader_counts(r).open, 1);
			assert_true(reader_counts(r).opened > MADE_SHARDS);
		} else {
			assert_int_equal(reader_counts(r).open, MADE_SHARDS);
			assert_int_equal(reader_counts(r).opened, MADE_SHARDS);
		}
		assert_int_equal(reader_counts(r).mapped, way & 1 ? reader_counts(r).opened : 0);
		reader_cursor_free(c);
		reader_close(r);
		assert_int_equal(shelf_counts(small).open, 0);
		shelf_free(small);
	}
}

static struct reader *shared;
static const uint64_t *wanted;

static void *read_all(void *ctx)
{
	struct reader_cursor *c = reader_cursor_new(shared);
	const uint64_t n = reader_size(shared), step = (uintptr_t)ctx;

	assert_non_null(c);
	for (uint64_t k = 0; k < n; k++)
		assert_int_equal(digest_at(c, 0, k * step % n), wanted[k * step % n]);
	reader_cursor_free(c);
	return NULL;
}

static void many_threads(void **state)
{
	static const uintptr_t steps[3] = { 7919, 7907, 1 };
	pthread_t t[3];
	uint64_t n;

	(void)state;
	make(&(struct made){ .seed = 3 });
	wanted = by_file(&n);
	for (int map = 0; map < 2; map++) {
		shared = open_folder(&(struct reader_opts){ .map = map });
		for (int k = 0; k < 3; k++)
			assert_int_equal(pthread_create(&t[k], NULL, read_all, (void *)steps[k]), 0);
		for (int k = 0; k < 3; k++)
			assert_int_equal(pthread_join(t[k], NULL), 0);
		assert_int_equal(reader_counts(shared).opened, MADE_SHARDS);
		reader_close(shared);
	}
}

/*
 * All blocks in any order of blocks: one request for each block, two for each shard, and one for its documents where masks are drawn.
 * Nothing is read but what is needed, but for the ends of shards, which opening reads beside the blocks.
 */
static void few_requests(void **state)
{
	(void)state;
	for (int dynamic = 0; dynamic < 2; dynamic++) {
		struct reader_cursor *c;
		struct reader *r;
		uint64_t files = 0;
		int blocks = 0;

		make(&(struct made){ .seed = 3, .dynamic = dynamic });
		for (uint32_t k = 0; k < MADE_SHARDS; k++) {
			struct shard *s;

			assert_int_equal(shard_open(&s, made_path(made_set, k)), 0);
			blocks += (int)shard_blocks(s);
			files += shard_trailer(s)->file_bytes;
			shard_close(s);
		}
		assert_true(blocks > MADE_SHARDS);
		r = open_folder(&(struct reader_opts){ 0 });
		c = reader_cursor_new(r);
		requests = 0;
		bytes_read = 0;
		for (uint64_t k = reader_size(r); k--;)
			(void)digest_at(c, 0, k);
		assert_int_equal(requests, blocks + (2 + dynamic) * MADE_SHARDS);
		assert_in_range(bytes_read, files / 2, files + 2 * 4200 * MADE_SHARDS);
		reader_cursor_free(c);
		reader_close(r);
	}
}

static void without_a_manifest(void **state)
{
	struct reader_cursor *c;
	struct reader *r;
	uint64_t *all, n;
	char path[256];
	const char *folder_path = made_set;

	(void)state;
	make(&(struct made){ .seed = 3 });
	all = by_file(&n);
	snprintf(path, sizeof(path), "%s/manifest.json", made_set);
	unlink(path);
	r = open_folder(&(struct reader_opts){ 0 });
	c = reader_cursor_new(r);
	assert_int_equal(reader_size(r), n);
	assert_int_equal(digest_at(c, 0, n / 2), all[n / 2]);
	reader_cursor_free(c);
	reader_close(r);
	unlink(made_path(made_set, 0));
	assert_int_equal(reader_open(&r, &folder_path, 1, &(struct reader_opts){ 0 }), -1);
	assert_non_null(strstr(err_text(), "is not complete"));
}

static void another_manifest(void **state)
{
	struct reader_cursor *c;
	struct reader *r;
	struct manifest *m;
	char want[512];

	(void)state;
	make(&(struct made){ .seed = 3 });
	assert_int_equal(manifest_load(&m, made_set), 0);
	m->recipe.seed++;
	assert_int_equal(manifest_save(m, made_set), 0);
	manifest_free(m);
	r = open_folder(&(struct reader_opts){ 0 });
	c = reader_cursor_new(r);
	assert_null(reader_get(c, 0, 0));
	snprintf(want, sizeof(want), "'%s' was made by another recipe than the manifest says of '%s'", made_path(made_set, 0), made_set);
	assert_non_null(strstr(err_text(), want));
	reader_cursor_free(c);
	reader_close(r);
}

static void dynamic_masks(void **state)
{
	struct reader_cursor *c, *d;
	struct reader *r, *plain;
	const struct instance *i;

	(void)state;
	for (int whole_word = 0; whole_word < 2; whole_word++) {
		make(&(struct made){ .seed = 3, .dynamic = true, .whole_word = whole_word });
		r = open_folder(&(struct reader_opts){ 0 });
		plain = open_folder(&(struct reader_opts){ .unmasked = true });
		c = reader_cursor_new(r);
		d = reader_cursor_new(plain);
		assert_true(c && d);
		const uint64_t zero = digest_at(c, 0, 50), one = digest_at(c, 1, 50);

		assert_int_not_equal(zero, one);
		(void)digest_at(c, 9, 1);
		assert_int_equal(digest_at(c, 0, 50), zero);
		assert_int_equal(digest_at(c, 1, 50), one);
		i = reader_get(d, 1, 50);
		assert_int_equal(i->predictions, 0);
		/* Labels put back, it is the plain one. */
		const uint64_t bare = digest(i);

		i = reader_get(c, 1, 50);
		assert_true(i->predictions >= 1 && i->predictions <= 8);
		instance_unmask((struct instance *)(uintptr_t)i);
		assert_int_equal(digest(i), bare);
		reader_cursor_free(c);
		reader_cursor_free(d);
		reader_close(r);
		reader_close(plain);
	}
}

static void refuses(const struct reader_opts *o, const char *what)
{
	const char *path = made_set;
	struct reader *r;

	assert_int_equal(reader_open(&r, &path, 1, o), -1);
	assert_null(r);
	if (!strstr(err_text(), what))
		fail_msg("'%s', not '%s'", err_text(), what);
}

/* Masks that are chosen are those that shards of such a recipe have; the recipe that stands in the shards is not changed. */
static void chosen_masks(void **state)
{
	const struct mask_choice words = { .given = CHOICE_WHOLE_WORD, .whole_word_mask = true };
	const struct mask_choice many = { .given = CHOICE_PROB, .masked_lm_prob = 0.5 };
	struct reader_cursor *c;
	struct reader *r;
	uint64_t want;

	(void)state;
	make(&(struct made){ .seed = 3, .dynamic = true, .whole_word = true });
	r = open_folder(&(struct reader_opts){ 0 });
	c = reader_cursor_new(r);
	want = digest_at(c, 2, 50);
	reader_cursor_free(c);
	reader_close(r);
	make(&(struct made){ .seed = 3, .dynamic = true });
	r = open_folder(&(struct reader_opts){ .masks = &words });
	c = reader_cursor_new(r);
	assert_int_equal(digest_at(c, 2, 50), want);
	assert_true(reader_recipe(r)->whole_word_mask);
	assert_true(json_is_false(json_object_get(reader_recipe_json(r), "whole_word_mask")));
	reader_cursor_free(c);
	reader_close(r);
	r = open_folder(&(struct reader_opts){ .masks = &many });
	c = reader_cursor_new(r);
	assert_int_equal(reader_shape(r)->max_predictions, 12);
	assert_int_equal(reader_get(c, 0, 50)->predictions, (uint32_t)rint(reader_get(c, 0, 50)->n * 0.5));
	reader_cursor_free(c);
	reader_close(r);
	refuses(&(struct reader_opts){ .masks = &many, .max_predictions = 11 }, "max_predictions_per_seq 12");
	make(&(struct made){ .seed = 3 });
	refuses(&(struct reader_opts){ .masks = &many }, "its masks are static");
	reader_close(open_folder(&(struct reader_opts){ .masks = &(struct mask_choice){ 0 } }));
}

static void limits(void **state)
{
	(void)state;
	make(&(struct made){ .seed = 3 });
	reader_close(open_folder(&(struct reader_opts){ .max_seq_length = 23, .max_predictions = 8,
							.vocab_size = MADE_VOCAB }));
	refuses(&(struct reader_opts){ .max_seq_length = 22 }, "has max_seq_length 23, at most 22 fits");
	refuses(&(struct reader_opts){ .max_predictions = 7 }, "max_predictions_per_seq 8");
	refuses(&(struct reader_opts){ .vocab_size = 100 }, "a vocabulary of 200");
	make(&(struct made){ .seed = 3, .dynamic = true, .whole_word = true });
	char vocab[256];

	snprintf(vocab, sizeof(vocab), "%s/vocab.txt", made_set);
	unlink(vocab);
	refuses(&(struct reader_opts){ 0 }, "is needed to draw masks");
	reader_close(open_folder(&(struct reader_opts){ .unmasked = true }));
}

static void mixed_recipes(void **state)
{
	char other[256], vocab[256];
	const char *paths[2] = { made_set, other };
	struct reader *r;

	(void)state;
	make(&(struct made){ .seed = 3 });
	snprintf(other, sizeof(other), "%s/other.shard", made_top);
	snprintf(vocab, sizeof(vocab), "%s/vocab.txt", made_set);
	made_shard(other, vocab, &(struct made){ .seed = 4, .shards = 1 }, NULL, NULL);
	assert_int_equal(reader_open(&r, paths, 2, &(struct reader_opts){ 0 }), -1);
	assert_non_null(strstr(err_text(), "by another recipe"));
	made_shard(other, vocab, &(struct made){ .seed = 3, .shards = 1 }, NULL, NULL);
	assert_int_equal(reader_open(&r, paths, 2, &(struct reader_opts){ 0 }), 0);
	reader_close(r);
}

/* A shard that changed after the reader was opened, or is not what the manifest says. */
static void changed_shards(void **state)
{
	const struct made other = { .seed = 3, .shard = 2, .shards = MADE_SHARDS, .lie = LIE_NO_RANDOM };
	struct reader_cursor *c;
	struct reader *r;
	char vocab[256];

	(void)state;
	make(&(struct made){ .seed = 3 });
	r = open_folder(&(struct reader_opts){ 0 });
	c = reader_cursor_new(r);
	snprintf(vocab, sizeof(vocab), "%s/vocab.txt", made_set);
	made_shard(made_path(made_set, 2), vocab, &other, NULL, NULL);
	assert_non_null(reader_get(c, 0, 0));
	assert_null(reader_get(c, 0, reader_size(r) - 1));
	assert_non_null(strstr(err_text(), "instances, not"));
	assert_non_null(reader_get(c, 0, 1));
	reader_cursor_free(c);
	reader_close(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_order_gives_the_same), cmocka_unit_test(any_way_gives_the_same),
		cmocka_unit_test(many_threads), cmocka_unit_test(few_requests), cmocka_unit_test(without_a_manifest), cmocka_unit_test(another_manifest),
		cmocka_unit_test(dynamic_masks), cmocka_unit_test(chosen_masks), cmocka_unit_test(limits), cmocka_unit_test(mixed_recipes),
		cmocka_unit_test(changed_shards),
	};

	return cmocka_run_group_tests(tests, made_open, made_close);
}
