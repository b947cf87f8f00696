/* Sets by weight: every instance as often as its weight says, by passes that go on over epochs; what does not go together. */
#include "shards/mixture.h"
#include "tests/unit/shards/made_folder.h"

#include <math.h>

static char other_set[80];

static void make_both(const struct made *a, const struct made *b)
{
	snprintf(other_set, sizeof(other_set), "%s/other", made_top);
	made_folder(made_set, a);
	made_folder(other_set, b);
}

static struct mixture *open_flat(double a, double b, double exponent)
{
	const struct mixture_set sets[] = { { made_set, a }, { other_set, b } };
	struct mixture *m;

	if (mixture_open(&m, sets, 2, exponent, &(struct reader_opts){ 0 }))
		fail_msg("%s", err_text());
	return m;
}

static struct mixture *open_both(double a, double b)
{
	return open_flat(a, b, 1);
}

/* How often instance INDEX of set K is in epochs 0 .. EPOCHS-1. */
static unsigned *count(const struct mixture *m, size_t k, uint64_t epochs)
{
	const uint64_t n = reader_size(mixture_reader(m, k));
	unsigned *counts = calloc(n, sizeof(*counts));
	uint64_t pass = 0, index = 0;

	assert_non_null(counts);
	for (uint64_t epoch = 0; epoch < epochs; epoch++) {
		for (uint64_t number = 0; number < mixture_size(m); number++) {
			const struct mixture_place at = mixture_find(m, epoch, number);

			if (at.k != k)
				continue;
			assert_int_equal(at.pass, pass);	/* as they stand, without a gap */
			assert_int_equal(at.index, index);
			counts[index]++;
			index = (index + 1) % n;
			pass += !index;
		}
	}
	return counts;
}

static void check_counts(const struct mixture *m, size_t k, uint64_t epochs, unsigned wanted)
{
	unsigned *counts = count(m, k, epochs);

	for (uint64_t i = 0; i < reader_size(mixture_reader(m, k)); i++)
		assert_int_equal(counts[i], wanted);
	free(counts);
}

static void as_often_as_weights_say(void **state)
{
	struct mixture *m;
	uint64_t a, b;

	(void)state;
	make_both(&(struct made){ .seed = 3 }, &(struct made){ .seed = 4 });
	m = open_both(1, 2);
	a = reader_size(mixture_reader(m, 0));
	b = reader_size(mixture_reader(m, 1));
	assert_int_equal(mixture_share(m, 0), a);
	assert_int_equal(mixture_share(m, 1), 2 * b);
	assert_int_equal(mixture_size(m), a + 2 * b);
	for (uint64_t epochs = 1; epochs < 4; epochs++) {
		check_counts(m, 0, epochs, (unsigned)epochs);
		check_counts(m, 1, epochs, (unsigned)(2 * epochs));
	}
	mixture_close(m);
	/* A share that is no whole part of the set: after as many epochs as there are instances, all were seen as often. */
	m = open_both(0.3, 1.75);
	assert_int_equal(mixture_share(m, 0), (uint64_t)(0.3 * (double)a + 0.5));
	assert_int_equal(mixture_share(m, 1), (uint64_t)(1.75 * (double)b + 0.5));
	check_counts(m, 0, a, (unsigned)mixture_share(m, 0));
	check_counts(m, 1, b, (unsigned)mixture_share(m, 1));
	mixture_close(m);
}

/* Shares are as weight x size^A, and an epoch is as long as without. */
static void exponents_flatten(void **state)
{
	static const double exponents[] = { 0, 0.3, 0.7, 1 };
	uint64_t a, b;

	(void)state;
	make_both(&(struct made){ .seed = 3 }, &(struct made){ .seed = 4, .dynamic = true });
	for (unsigned e = 0; e < 4; e++) {
		for (double weight = 0.5; weight < 5; weight *= 4) {
			struct mixture *m = open_flat(1, weight, exponents[e]);
			double ratio;

			a = reader_size(mixture_reader(m, 0));
			b = reader_size(mixture_reader(m, 1));
			assert_true(a != b);
			ratio = weight * pow((double)b / (double)a, exponents[e]);
			assert_true(fabs((double)mixture_share(m, 1) / (double)mixture_share(m, 0) - ratio) < 0.02 * ratio);
			assert_true(fabs((double)mixture_size(m) - ((double)a + weight * (double)b)) <= 1.5);
			assert_true(fabs(mixture_weight(m, 0) * (double)a - (double)mixture_share(m, 0)) <= 0.5);
			assert_true(exponents[e] != 1 || mixture_weight(m, 1) == weight);
			assert_int_equal(mixture_first(m, 0), 0);
			assert_int_equal(mixture_first(m, 1), mixture_share(m, 0));
			check_counts(m, 1, b, (unsigned)mixture_share(m, 1));
			mixture_close(m);
		}
	}
}

static int same(const struct instance *a, const struct instance *b)
{
	return a->n == b->n && a->predictions == b->predictions && !memcmp(a->ids, b->ids, a->n * sizeof(*a->ids)) &&
	       !memcmp(a->positions, b->positions, a->predictions * sizeof(*a->positions));
}

/* The instances are those of the readers, masked for the pass; an instance that comes twice has other masks. */
static void instances_are_the_readers(void **state)
{
	struct reader_cursor *readers[2];
	struct mixture_cursor *c;
	struct mixture *m;
	uint64_t a, b;

	(void)state;
	make_both(&(struct made){ .seed = 3 }, &(struct made){ .seed = 4, .dynamic = true });
	m = open_both(0.5, 2);
	c = mixture_cursor_new(m);
	assert_non_null(c);
	for (size_t k = 0; k < 2; k++)
		assert_non_null(readers[k] = reader_cursor_new(mixture_reader(m, k)));
	for (uint64_t i = 0; i < 4 * mixture_size(m); i++) {
		const uint64_t epoch = i % 4, number = i * 7919 % mixture_size(m);
		const struct mixture_place at = mixture_find(m, epoch, number);
		const struct instance *is = mixture_get(c, epoch, number), *wanted = reader_get(readers[at.k], at.pass, at.index);

		assert_true(is && wanted && same(is, wanted));
	}
	a = mixture_share(m, 0);
	b = reader_size(mixture_reader(m, 1));
	assert_false(same(mixture_get(c, 0, a + 50), reader_get(readers[1], 1, 50)));
	assert_true(same(mixture_get(c, 0, a + b + 50), reader_get(readers[1], 1, 50)));
	for (size_t k = 0; k < 2; k++)
		reader_cursor_free(readers[k]);
	mixture_cursor_free(c);
	mixture_close(m);
}

static void one_set_of_weight_1_is_that_set(void **state)
{
	const struct mixture_set set = { made_set, 1 };
	struct mixture *m;

	(void)state;
	make_both(&(struct made){ .seed = 3 }, &(struct made){ .seed = 4 });
	assert_int_equal(mixture_open(&m, &set, 1, 1, &(struct reader_opts){ 0 }), 0);
	assert_int_equal(mixture_size(m), reader_size(mixture_reader(m, 0)));
	for (uint64_t epoch = 0; epoch < 3; epoch++) {
		for (uint64_t i = 0; i < mixture_size(m); i++) {
			const struct mixture_place at = mixture_find(m, epoch, i);

			assert_true(at.k == 0 && at.pass == epoch && at.index == i);
		}
	}
	mixture_close(m);
}

static void refuses(const struct mixture_set *sets, size_t n, const struct reader_opts *o, const char *what)
{
	struct mixture *m;

	assert_int_equal(mixture_open(&m, sets, n, 1, o), -1);
	assert_null(m);
	if (!strstr(err_text(), what))
		fail_msg("'%s', not '%s'", err_text(), what);
}

static void what_does_not_go_together(void **state)
{
	const struct mixture_set both[] = { { made_set, 1 }, { other_set, 1 } }, twice[] = { { made_set, 1 }, { made_set, 2 } },
				 rare[] = { { made_set, 1 }, { other_set, 1e-9 } }, absent[] = { { made_set, 1 }, { "/nowhere", 1 } };
	const struct reader_opts any = { 0 };

	(void)state;
	make_both(&(struct made){ .seed = 3 }, &(struct made){ .seed = 4 });
	refuses(twice, 2, &any, "is given twice");
	refuses(absent, 2, &any, "/nowhere");
	refuses(rare, 2, &any, "with weight 1e-09 no epoch has any of them");
	refuses(both, 2, &(struct reader_opts){ .vocab_size = 100 }, "a vocabulary of 200");
}

static void parses(const char *text, const char *path, double weight)
{
	struct mixture_set s;

	assert_int_equal(mixture_set_parse(&s, text), 0);
	assert_string_equal(s.path, path);
	assert_true(s.weight == weight);
	free((char *)(uintptr_t)s.path);
}

static void no_set(const char *text, const char *what)
{
	struct mixture_set s;

	assert_int_equal(mixture_set_parse(&s, text), -1);
	assert_int_equal(err_code(), EXIT_USAGE);
	if (!strstr(err_text(), what))
		fail_msg("'%s', not '%s'", err_text(), what);
}

static void sets_as_text(void **state)
{
	char odd[96];

	(void)state;
	parses("wiki", "wiki", 1);
	parses("wiki:2", "wiki", 2);
	parses("a:b:0.25", "a:b", 0.25);
	parses("wiki/:1e-3", "wiki/", 1e-3);
	snprintf(odd, sizeof(odd), "%s/odd:2", made_top);
	assert_int_equal(fs_make_folder(odd), 0);
	parses(odd, odd, 1);
	no_set("wiki:", "not '' as in 'wiki:'");
	no_set("wiki:x", "a weight is a number above 0");
	no_set("wiki:2x", "a weight is a number above 0");
	no_set("wiki:0", "a weight is a number above 0");
	no_set("wiki:-1", "a weight is a number above 0");
	no_set("wiki:nan", "a weight is a number above 0");
	no_set("wiki:1001", "at most 1000");
	no_set(":2", "names no folder");
	no_set("", "names no folder");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_often_as_weights_say), cmocka_unit_test(exponents_flatten),
		cmocka_unit_test(instances_are_the_readers),
		cmocka_unit_test(one_set_of_weight_1_is_that_set), cmocka_unit_test(what_does_not_go_together),
		cmocka_unit_test(sets_as_text),
	};

	return cmocka_run_group_tests(tests, made_open, made_close);
}
