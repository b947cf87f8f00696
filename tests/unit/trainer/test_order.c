/*
 * The order of training: of every set its share, another order each epoch, windows that are what they say and can be
 * entered anywhere; blocks read once and shards open together, however many there are.
 */
#include "trainer/order.h"

#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* --- sets ------------------------------------------------------------------------------------ */

struct made_set {
	struct order_set is;
	uint64_t firsts[3001];
};

/* SHARDS shards of some AVERAGE instances each. */
static void make_set(struct made_set *s, size_t shards, uint32_t average, double weight, uint32_t block)
{
	struct rng r;
	uint64_t n = 0;

	rng_open(&r, 1, 99, 0, shards, 0, 0, 0);
	for (size_t k = 0; k < shards; k++) {
		s->firsts[k] = n;
		n += shards == 1 ? average : average / 2 + rng_below(&r, average + 1);
	}
	s->firsts[shards] = n;
	s->is = (struct order_set){ .firsts = s->firsts, .shards = shards, .share = (uint64_t)(weight * (double)n), .block = block };
}

static struct order *open_sets(uint64_t seed, const struct made_set *sets, size_t n)
{
	struct order_set is[8];
	struct order *o;

	for (size_t k = 0; k < n; k++)
		is[k] = sets[k].is;
	assert_int_equal(order_open(&o, seed, is, n), 0);
	return o;
}

static struct order *open_one(uint64_t seed, uint32_t size)
{
	static struct made_set s;

	make_set(&s, 1, size, 1, ORDER_RUN);
	return open_sets(seed, &s, 1);
}

/* The instance at INDEX of EPOCH, by a window entered there. */
static struct order_run instance_at(struct order *o, uint64_t epoch, uint64_t index)
{
	struct order_window w;

	assert_int_equal(order_window(o, epoch, index, &w), 0);
	assert_true(w.epoch == epoch && index >= w.first && index - w.first < w.count);
	return order_find(&w, index);
}

static size_t shard_of(const struct made_set *s, uint64_t index)
{
	size_t k = 0;

	while (s->firsts[k + 1] <= index)
		k++;
	return k;
}

/* --- what every epoch is ------------------------------------------------------------------------ */

/* Checks window W: runs that lie in one shard each, in order; the places of their instances a permutation. */
static void check_window(const struct order *o, const struct order_window *w, const struct made_set *sets)
{
	bool *seen = calloc(w->count, sizeof(*seen));
	uint32_t n = 0;

	assert_in_range(w->n, 1, ORDER_WINDOW);
	assert_in_range(w->count, 1, order_window_most(o));
	for (unsigned i = 0; i < w->n; i++) {
		const struct order_run *r = &w->runs[i], *last = i ? r - 1 : NULL;

		assert_true(r->count > 0);
		assert_int_equal(shard_of(&sets[r->set], r->index), shard_of(&sets[r->set], r->index + r->count - 1));
		assert_true(!last || last->set < r->set || last->pass < r->pass || last->index < r->index);
		for (uint32_t j = 0; j < r->count; j++) {
			const uint32_t place = order_place(w, r->at + j);
			const struct order_run back = order_find(w, w->first + place);

			assert_true(place < w->count && !seen[place]);
			seen[place] = true;
			assert_true(back.set == r->set && back.pass == r->pass && back.index == r->index + j);
		}
		n += r->count;
	}
	assert_int_equal(n, w->count);
	free(seen);
}

/* Over EPOCHS epochs, instances of a set come as often as its share says: those of whole passes, and none twice in a pass. */
static void check_epochs(const struct made_set *sets, size_t n, unsigned epochs)
{
	struct order *o = open_sets(7, sets, n);
	unsigned *counts[8];

	for (size_t k = 0; k < n; k++)
		counts[k] = calloc(sets[k].firsts[sets[k].is.shards], sizeof(*counts[k]));
	for (unsigned epoch = 0; epoch < epochs; epoch++) {
		struct order_window w, again;

		for (uint64_t at = 0; at < order_size(o); at += w.count) {
			assert_int_equal(order_window(o, epoch, at, &w), 0);
			assert_int_equal(w.first, at);
			check_window(o, &w, sets);
			assert_int_equal(order_window(o, epoch, at + w.count - 1, &again), 0);
			assert_memory_equal(&w.runs, &again.runs, w.n * sizeof(w.runs[0]));
			for (unsigned i = 0; i < w.n; i++) {
				const uint64_t size = sets[w.runs[i].set].firsts[sets[w.runs[i].set].is.shards];
				const uint64_t share = sets[w.runs[i].set].is.share;

				assert_in_range(w.runs[i].pass, epoch * share / size, ((epoch + 1) * share - 1) / size);
				for (uint32_t j = 0; j < w.runs[i].count; j++)
					counts[w.runs[i].set][w.runs[i].index + j]++;
			}
		}
	}
	for (size_t k = 0; k < n; k++) {
		const uint64_t size = sets[k].firsts[sets[k].is.shards], total = epochs * sets[k].is.share;
		uint64_t all = 0;

		for (uint64_t i = 0; i < size; i++) {
			assert_in_range(counts[k][i], total / size, (total + size - 1) / size);
			all += counts[k][i];
		}
		assert_int_equal(all, total);
		free(counts[k]);
	}
	order_close(o);
}

static void test_each_once(void **state)
{
	static const uint32_t sizes[] = { 1, 2, 3, 255, 256, 257, 300, 4096, 4097, 4351, 5000, 8192, 9000, 20000 };
	static struct made_set s;

	(void)state;
	for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
		make_set(&s, 1, sizes[k], 1, k % 2 ? 256 : 64);
		check_epochs(&s, 1, 3);
	}
	make_set(&s, 7, 1000, 1, 256);
	check_epochs(&s, 1, 3);
	make_set(&s, 500, 40, 1, 85);
	check_epochs(&s, 1, 3);
}

static void test_shares(void **state)
{
	static struct made_set s[4];

	(void)state;
	make_set(&s[0], 1, 3000, 2.5, 256);
	make_set(&s[1], 300, 20, 0.3, 64);
	make_set(&s[2], 1, 5, 40, 1000);
	make_set(&s[3], 40, 100, 1, 300);
	check_epochs(s, 4, 7);
	s[1].is.share = s[2].is.share = 1;
	make_set(&s[3], 3000, 3, 1, 256);	/* more parts than some sets have instances */
	check_epochs(s, 4, 2);
}

/* --- what is read -------------------------------------------------------------------------------- */

struct reading {
	uint64_t blocks, opened;	/* reads of blocks; openings of shards, with ROOM of them open, the oldest being closed */
};

static struct reading read_epoch(const struct made_set *sets, size_t n, size_t room)
{
	static size_t open[200][2];
	struct order *o = open_sets(7, sets, n);
	struct reading got = { 0, 0 };
	size_t n_open = 0;
	struct order_window w;

	for (uint64_t at = 0; at < order_size(o); at += w.count) {
		assert_int_equal(order_window(o, 1, at, &w), 0);
		for (unsigned i = 0; i < w.n; i++) {
			const struct made_set *s = &sets[w.runs[i].set];
			const size_t shard = shard_of(s, w.runs[i].index);
			const uint64_t from = w.runs[i].index - s->firsts[shard];
			size_t k = 0;

			got.blocks += (from + w.runs[i].count - 1) / s->is.block - from / s->is.block + 1;
			while (k < n_open && (open[k][0] != w.runs[i].set || open[k][1] != shard))
				k++;
			got.opened += k == n_open;
			n_open += k == n_open && n_open < room;
			k = k < n_open ? k : n_open - 1;
			memmove(open[1], open[0], k * sizeof(open[0]));
			open[0][0] = w.runs[i].set;
			open[0][1] = shard;
		}
	}
	order_close(o);
	return got;
}

static uint64_t all_blocks(const struct made_set *s)
{
	uint64_t n = 0;

	for (size_t k = 0; k < s->is.shards; k++)
		n += (s->firsts[k + 1] - s->firsts[k] + s->is.block - 1) / s->is.block;
	return n;
}

/* Of a set that is read once, whatever its blocks are: every block once, every shard opened once, with few open. */
static void test_reads_once(void **state)
{
	static const uint32_t blocks[] = { 64, 85, 256, 682 };
	static struct made_set s;
	struct reading got;

	(void)state;
	for (size_t k = 0; k < 4; k++) {
		make_set(&s, 64, 3000, 1, blocks[k]);
		got = read_epoch(&s, 1, 64);
		assert_int_equal(got.blocks, all_blocks(&s));
		assert_int_equal(got.opened, 64);
		/* What is cut are blocks and shards where a part ends, and there are 20 parts. */
		make_set(&s, 1280, 1000, 1, blocks[k]);
		got = read_epoch(&s, 1, 96);
		assert_in_range(got.blocks, all_blocks(&s), all_blocks(&s) + 19);
		assert_in_range(got.opened, 1280, 1280 + 19);
	}
}

/* Each set is cut in each part, and has two shards more in it. */
static void test_reads_sets_once(void **state)
{
	static struct made_set s[3];
	struct reading got;

	(void)state;
	make_set(&s[0], 500, 1000, 1, 256);
	make_set(&s[1], 100, 1000, 1, 64);
	make_set(&s[2], 1, 30000, 1, 256);
	got = read_epoch(s, 3, 96 + 9);
	assert_in_range(got.blocks, all_blocks(&s[0]) + all_blocks(&s[1]) + all_blocks(&s[2]),
			all_blocks(&s[0]) + all_blocks(&s[1]) + all_blocks(&s[2]) + 30);
	assert_in_range(got.opened, 601, 601 + 30);
}

/* Documents count as shards do: with as many as fit in two parts, a shard is in one of them. */
static void test_documents(void **state)
{
	static struct made_set s;
	struct reading got;

	(void)state;
	make_set(&s, 16, 2000, 1, 256);
	s.is.documents = 2 * ORDER_DOCUMENTS;
	got = read_epoch(&s, 1, 10);
	assert_in_range(got.opened, 16, 17);
	s.is.documents = 0;
	assert_true(read_epoch(&s, 1, 10).opened > 30);		/* one part */
}

/* All through an epoch of several parts, sets come as their shares say. */
static void test_even(void **state)
{
	static struct made_set s[2];
	struct order *o;
	uint64_t seen[10] = { 0 };

	(void)state;
	make_set(&s[0], 900, 1000, 1, 256);
	make_set(&s[1], 1, 90000, 1, 256);
	o = open_sets(3, s, 2);
	for (uint64_t i = 0; i < 10000; i++) {
		const uint64_t index = i * (order_size(o) / 10000);

		seen[i / 1000] += instance_at(o, 0, index).set;
	}
	for (int k = 0; k < 10; k++)
		assert_in_range(seen[k], 91 - 60, 91 + 60);
	order_close(o);
}

/* --- how it mixes ------------------------------------------------------------------------------------ */

/* Seeds and epochs give other orders; neighbours do not stay together. */
static void test_mixes(void **state)
{
	struct order *a = open_one(1, 9000), *b = open_one(2, 9000);
	int same_seed = 0, same_epoch = 0, neighbours = 0;

	(void)state;
	for (uint64_t i = 0; i + 1 < 9000; i++) {
		const uint64_t at = instance_at(a, 0, i).index;

		same_seed += at == instance_at(b, 0, i).index;
		neighbours += at + 1 == instance_at(a, 0, i + 1).index;
	}
	for (uint64_t i = 0; i < 9000; i += 10)
		same_epoch += instance_at(a, 0, i).index == instance_at(a, 1, i).index;
	assert_in_range(same_seed, 0, 20);
	assert_in_range(same_epoch, 0, 20);
	assert_in_range(neighbours, 0, 20);
	order_close(a);
	order_close(b);
}

/* Another pass has other shards first. */
static void test_shards_take_turns(void **state)
{
	static struct made_set s;
	uint64_t firsts[4] = { 0 };
	struct order *o;

	(void)state;
	make_set(&s, 1000, 50, 1, 256);
	o = open_sets(5, &s, 1);
	for (uint64_t epoch = 0; epoch < 4; epoch++)
		for (uint64_t i = 0; i < 100; i++)
			firsts[epoch] += instance_at(o, epoch, i).index;
	for (int k = 0; k < 4; k++)
		for (int j = 0; j < k; j++)
			assert_int_not_equal(firsts[k], firsts[j]);
	order_close(o);
}

/* A place is a pure function: entered after others or first, by this order or another one. */
static void test_pure(void **state)
{
	static struct made_set s[2];
	struct order *o;

	(void)state;
	make_set(&s[0], 300, 100, 1.5, 256);
	make_set(&s[1], 3, 500, 0.7, 64);
	o = open_sets(5, s, 2);
	for (uint64_t i = 0; i < 300; i++) {
		const uint64_t epoch = i * 7 % 5, index = i * 7919 % order_size(o);
		struct order *fresh = open_sets(5, s, 2);
		const struct order_run a = instance_at(o, epoch, index), b = instance_at(fresh, epoch, index);

		assert_memory_equal(&a, &b, sizeof(a));
		order_close(fresh);
	}
	order_close(o);
}

/* The order is part of what makes a run repeatable: these values never change. */
static void test_values(void **state)
{
	static const uint64_t want[8] = { 2402, 8697, 8485, 3893, 6572, 4957, 2151, 2264 };
	struct order *o = open_one(12345, 10000);

	(void)state;
	for (uint64_t i = 0; i < 8; i++)
		assert_int_equal(instance_at(o, 3, 1000 * i).index, want[i]);
	order_close(o);
}

static void test_values_of_many(void **state)
{
	static const uint64_t want[8] = { 28015, 28345, 36373, 28669, 29709, 38245, 26125, 16713 };
	static struct made_set s[2];
	struct order *o;

	(void)state;
	make_set(&s[0], 1, 1000, 1, 256);
	make_set(&s[1], 200, 100, 2, 64);
	for (size_t k = 0; k <= 200; k++)
		s[1].firsts[k] = 100 * k;
	s[1].is.share = 40000;
	o = open_sets(12345, s, 2);
	for (uint64_t i = 0; i < 8; i++) {
		const struct order_run r = instance_at(o, 3, 5000 * i);

		assert_int_equal(r.index * 2 + r.set, want[i]);
	}
	order_close(o);
}

/* That of before is named where it is the same: one shard, whole, whose blocks make runs of ORDER_RUN. */
static void test_version(void **state)
{
	static const struct {
		size_t shards;
		uint32_t block;
		double weight;
		int version;
	} cases[] = { { 1, 256, 1, 1 }, { 1, 64, 1, 1 }, { 1, 1, 1, 1 }, { 1, 512, 1, 2 }, { 1, 85, 1, 2 }, { 1, 256, 2, 2 },
		      { 1, 256, 0.5, 2 }, { 2, 256, 1, 2 } };
	static struct made_set s[2];

	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		struct order *o;

		make_set(&s[0], cases[k].shards, 1000, cases[k].weight, cases[k].block);
		o = open_sets(1, s, 1);
		assert_int_equal(order_version(o), cases[k].version);
		order_close(o);
		make_set(&s[1], 1, 1000, 1, 256);
		o = open_sets(1, s, 2);
		assert_int_equal(order_version(o), 2);
		order_close(o);
	}
	make_set(&s[0], 1, 1000, 1, 256);
	s[0].is.documents = ORDER_DOCUMENTS + 1;	/* makes two parts */
	struct order *o = open_sets(1, s, 1);
	assert_int_equal(order_version(o), 2);
	order_close(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_once), cmocka_unit_test(test_shares), cmocka_unit_test(test_reads_once),
		cmocka_unit_test(test_reads_sets_once), cmocka_unit_test(test_documents), cmocka_unit_test(test_even),
		cmocka_unit_test(test_mixes), cmocka_unit_test(test_shards_take_turns), cmocka_unit_test(test_pure),
		cmocka_unit_test(test_values), cmocka_unit_test(test_values_of_many), cmocka_unit_test(test_version),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
