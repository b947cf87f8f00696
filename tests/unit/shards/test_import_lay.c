/* Foreign rows: what is one becomes an instance, what is none is refused with the reason. */
#include "base/err.h"
#include "shards/import_impl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define LENGTH 10
#define PREDICTIONS 4

enum { PAD = 7, CLS = 2, SEP = 3, MASK = 4 };
static const struct shard_recipe recipe = {
	.vocab_size = 100, .special = { PAD, 1, CLS, SEP, MASK }, .max_seq_length = LENGTH,
	.max_predictions_per_seq = PREDICTIONS, .pairs = SHARD_NSP,
};

/* [CLS] 10 11 [SEP] 12 13 [SEP], of which 11 and 12 are masked. */
struct arrays {
	uint32_t ids[LENGTH], mask[LENGTH], types[LENGTH], positions[PREDICTIONS], labels[PREDICTIONS];
	struct row row;
};

static struct arrays *fresh(struct arrays *a)
{
	*a = (struct arrays){
		.ids = { CLS, 10, MASK, SEP, MASK, 13, SEP },
		.mask = { 1, 1, 1, 1, 1, 1, 1 },
		.types = { 0, 0, 0, 0, 1, 1, 1 },
		.positions = { 2, 4 },
		.labels = { 11, 12 },
	};
	a->row = (struct row){ LENGTH, PREDICTIONS, a->ids, a->mask, a->types, a->positions, a->labels, 2, 1 };
	return a;
}

static struct laying laying;

static int setup(void **state)
{
	(void)state;
	return import_laying_init(&laying, &recipe, PREDICTIONS);
}

static int teardown(void **state)
{
	(void)state;
	import_laying_release(&laying);
	return 0;
}

static void a_row_is_laid(void **state)
{
	const uint32_t want[] = { CLS, 10, MASK, SEP, MASK, 13, SEP };
	const struct instance *i = &laying.instance;
	struct arrays a;

	(void)state;
	for (uint32_t pad = 0; pad <= PAD; pad += PAD) {
		fresh(&a);
		a.ids[7] = a.ids[8] = a.ids[9] = pad;
		assert_int_equal(import_lay(&laying, &a.row), 0);
		assert_int_equal(i->n, 7);
		assert_memory_equal(i->ids, want, sizeof(want));
		assert_int_equal(i->predictions, 2);
		assert_int_equal(i->positions[1], 4);
		assert_int_equal(i->labels[1], 12);
		assert_int_equal(i->flags, INSTANCE_RANDOM_NEXT);
	}
}

static void refused(const struct arrays *a, const char *what)
{
	assert_int_equal(import_lay(&laying, &a->row), -1);
	assert_int_equal(err_code(), EXIT_CORRUPT);
	if (!strstr(err_text(), what))
		fail_msg("'%s', not '%s'", err_text(), what);
}

static void what_stands_beyond_the_end_is_refused(void **state)
{
	struct arrays a;

	(void)state;
	fresh(&a)->ids[7] = 20;
	refused(&a, "its input_mask ends at position 7, and position 7 has id 20");
	fresh(&a)->ids[9] = SEP;
	refused(&a, "position 9 has id 3");
	fresh(&a)->types[8] = 1;
	refused(&a, "position 8 has type 1");
	/* as it comes of a file whose first 0 ends the positions */
	fresh(&a)->positions[3] = 5;
	refused(&a, "its masked positions end after 2, and a later one is 5 with label 0");
	fresh(&a)->labels[2] = 13;
	refused(&a, "a later one is 0 with label 13");
}

static void other_faults(void **state)
{
	struct arrays a;

	(void)state;
	fresh(&a)->mask[8] = 1;
	refused(&a, "is not ones, then zeros");
	fresh(&a)->mask[6] = 0;
	refused(&a, "its input_mask ends at position 6");
	fresh(&a)->positions[1] = 2;
	refused(&a, "not ascending");
	fresh(&a)->positions[1] = 6;
	refused(&a, "on no token");
	fresh(&a)->labels[0] = 100;
	refused(&a, "label 100 is not below");
	fresh(&a)->ids[1] = 100;
	refused(&a, "id 100 is not below");
	fresh(&a)->types[3] = 1;
	refused(&a, "type 1 of position 3");
	fresh(&a)->row.label = 2;
	refused(&a, "label is 2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_row_is_laid),
		cmocka_unit_test(what_stands_beyond_the_end_is_refused),
		cmocka_unit_test(other_faults),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
