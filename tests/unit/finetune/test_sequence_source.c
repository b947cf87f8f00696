/* Sequences as samples: every epoch has each once, in an order that follows from seed and epoch; types and labels. */
#include "finetune/sequence_source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define N 50

static struct sequences sequences = SEQUENCES_INIT;
static struct kernels k;
static struct batch batch;

/* Sequence i has 2 + i % 5 tokens, of id i, of which 2 are of type 0; its label is i. */
static int set_up(void **state)
{
	const struct batch_limits limits = { .B = N, .T = 6 * N };

	(void)state;
	for (int i = 0; i < N; i++) {
		const int n = 2 + i % 5;
		int32_t *ids = sequences_add(&sequences, n, 2, i);

		if (!ids)
			return -1;
		for (int j = 0; j < n; j++)
			ids[j] = i;
	}
	return kernels_open(&k, "ref", 1) || batch_open(&batch, &k, &limits, DTYPE_F32);
}

static int tear_down(void **state)
{
	(void)state;
	batch_close(&batch);
	kernels_close(&k);
	sequences_release(&sequences);
	return 0;
}

/* The labels of an epoch, in its order; each must come once. */
static void epoch_order(uint64_t seed, bool shuffled, uint64_t epoch, int order[N])
{
	bool seen[N] = { false };
	struct sequence_source s;

	sequence_source_init(&s, &sequences, seed, shuffled);
	assert_int_equal(s.samples.size, N);
	assert_int_equal(s.samples.max_length, 6);
	batch_clear(&batch);
	for (int i = 0; i < N; i++)
		assert_int_equal(s.samples.add(&s.samples, epoch, (uint64_t)i, 7 * (uint64_t)i, &batch), 0);
	for (int i = 0; i < N; i++) {
		order[i] = batch.host.class_labels[i];
		assert_in_range(order[i], 0, N - 1);
		assert_false(seen[order[i]]);
		seen[order[i]] = true;
		assert_int_equal(batch.host.sample[i], 7 * i);
	}
}

static void orders(void **state)
{
	int plain[N], a[N], again[N], next[N], other[N];

	(void)state;
	epoch_order(1, false, 3, plain);
	for (int i = 0; i < N; i++)
		assert_int_equal(plain[i], i);
	epoch_order(1, true, 0, a);
	epoch_order(1, true, 0, again);
	epoch_order(1, true, 1, next);
	epoch_order(2, true, 0, other);
	assert_memory_equal(a, again, sizeof(a));
	assert_memory_not_equal(a, plain, sizeof(a));
	assert_memory_not_equal(a, next, sizeof(a));
	assert_memory_not_equal(a, other, sizeof(a));
}

static void contents(void **state)
{
	(void)state;
	batch_clear(&batch);
	for (size_t i = 0; i < N; i++)
		sequence_add_to_batch(&sequences, i, i, &batch);
	for (int i = 0; i < N; i++) {
		const int row = batch.host.starts[i], n = batch.host.starts[i + 1] - row;

		assert_int_equal(n, 2 + i % 5);
		for (int j = 0; j < n; j++) {
			assert_int_equal(batch.host.ids[row + j], i);
			assert_int_equal(batch.host.types[row + j], j >= 2);
			assert_int_equal(batch.host.positions[row + j], j);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(orders), cmocka_unit_test(contents) };

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
