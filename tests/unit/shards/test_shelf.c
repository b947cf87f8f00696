/* Open shards: so many at most, the least recently used closed first, each opened once for all threads. */
#include "shards/shelf.h"
#include "tests/unit/shards/made_folder.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>

enum { PLACES = 6, LOTS = 1 << 30 };

static struct shelf_place places[PLACES];
static atomic_int fills;

static char path[256];

static int fill(void *ctx, struct shelf_shard *open)
{
	(void)ctx;
	atomic_fetch_add(&fills, 1);
	return shard_open(&open->shard, path);
}

static int fill_badly(void *ctx, struct shelf_shard *open)
{
	assert_int_equal(fill(ctx, open), 0);
	return err_corrupt("it is ill");
}

static struct shelf *open_shelf(size_t files, size_t memory)
{
	struct shelf *s = shelf_new(files, memory);

	assert_non_null(s);
	memset(places, 0, sizeof(places));
	fills = 0;
	return s;
}

static void close_shelf(struct shelf *s)
{
	for (int k = 0; k < PLACES; k++)
		shelf_remove(s, &places[k]);
	assert_int_equal(shelf_counts(s).open, 0);
	assert_int_equal(shelf_counts(s).bytes, 0);
	shelf_free(s);
}

static void use(struct shelf *s, int k)
{
	const struct shelf_shard *open = shelf_take(s, &places[k], fill, NULL);

	assert_non_null(open);
	assert_true(shard_instances(open->shard) > 0);
	shelf_give(s, &places[k]);
}

static void oldest_goes_first(void **state)
{
	static const struct {
		int k, fills;
	} uses[] = { { 0, 1 }, { 1, 2 }, { 2, 3 }, { 0, 3 }, { 3, 4 }, { 0, 4 }, { 1, 5 }, { 2, 6 }, { 0, 6 }, { 1, 6 }, { 3, 7 } };
	struct shelf *s = open_shelf(3, LOTS);

	(void)state;
	for (unsigned i = 0; i < sizeof(uses) / sizeof(uses[0]); i++) {
		use(s, uses[i].k);
		assert_int_equal(fills, uses[i].fills);
		assert_in_range(shelf_counts(s).open, 1, 3);
		assert_int_equal(shelf_counts(s).opened, fills);
	}
	close_shelf(s);
}

static void bounded_by_memory(void **state)
{
	struct shelf *s = open_shelf(PLACES, LOTS);
	size_t one;

	(void)state;
	use(s, 0);
	one = shelf_counts(s).bytes;
	assert_true(one > 100);
	close_shelf(s);
	s = open_shelf(PLACES, 2 * one + one / 2);
	for (int k = 0; k < PLACES; k++)
		use(s, k);
	assert_int_equal(shelf_counts(s).open, 2);
	assert_int_equal(shelf_counts(s).bytes, 2 * one);
	use(s, PLACES - 2);
	assert_int_equal(fills, PLACES);
	close_shelf(s);
}

/* What is in use stays, beside all bounds, and goes when it is no more and others come. */
static void in_use(void **state)
{
	struct shelf *s = open_shelf(1, 1);

	(void)state;
	for (int k = 0; k < 4; k++)
		assert_non_null(shelf_take(s, &places[k], fill, NULL));
	assert_int_equal(shelf_counts(s).open, 4);
	for (int k = 0; k < 4; k++)
		use(s, k);
	assert_int_equal(fills, 4);
	for (int k = 0; k < 4; k++)
		shelf_give(s, &places[k]);
	use(s, 5);
	assert_int_equal(shelf_counts(s).open, 1);
	close_shelf(s);
}

static void failures(void **state)
{
	struct shelf *s = open_shelf(3, LOTS);

	(void)state;
	assert_null(shelf_take(s, &places[0], fill_badly, NULL));
	assert_string_equal(err_text(), "it is ill");
	assert_int_equal(shelf_counts(s).open, 0);
	use(s, 0);
	close_shelf(s);
}

/* A process that may open few files has few open. */
static void few_files(void **state)
{
	struct rlimit had, few;
	struct shelf *s;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &had), 0);
	few = (struct rlimit){ 16, had.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	s = open_shelf(100, LOTS);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &had), 0);
	for (int k = 0; k < PLACES; k++)
		use(s, k);
	assert_int_equal(shelf_counts(s).open, 4);
	close_shelf(s);
}

static void *use_all(void *ctx)
{
	for (int i = 0; i < 200; i++)
		use(ctx, i * 7 % PLACES);
	return NULL;
}

static void threads(void **state)
{
	(void)state;
	for (size_t files = 2; files <= PLACES; files += PLACES - 2) {
		struct shelf *s = open_shelf(files, LOTS);
		pthread_t t[3];

		for (int k = 0; k < 3; k++)
			assert_int_equal(pthread_create(&t[k], NULL, use_all, s), 0);
		for (int k = 0; k < 3; k++)
			assert_int_equal(pthread_join(t[k], NULL), 0);
		assert_true(files < PLACES || fills == PLACES);
		close_shelf(s);
	}
}

static int setup(void **state)
{
	if (made_open(state))
		return -1;
	made_folder(made_set, &(struct made){ .seed = 3 });
	snprintf(path, sizeof(path), "%s", made_path(made_set, 0));
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(oldest_goes_first), cmocka_unit_test(bounded_by_memory), cmocka_unit_test(in_use),
		cmocka_unit_test(failures), cmocka_unit_test(few_files), cmocka_unit_test(threads),
	};

	return cmocka_run_group_tests(tests, setup, made_close);
}
