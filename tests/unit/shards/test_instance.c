#include "shards/instance.h"

#include "base/err.h"
#include "base/frame_impl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct instance_shape shape_of(uint32_t vocab_size, uint32_t length)
{
	return (struct instance_shape){
		.max_seq_length = length,
		.max_predictions = 9,
		.masked = true,
		.block_records = 32,
		.vocab_size = vocab_size,
		.documents = 100000,
		.passes = 300,
		.cls = vocab_size - 1,
		.sep = vocab_size - 2,
		.pairs = true,
	};
}

/* Made-up instance number K: lengths, masks and ids of all kinds. */
static void make(struct instance *i, const struct instance_shape *s, uint32_t k)
{
	const uint32_t most = s->max_seq_length - 3, a = 1 + k * 7 % (most - 1),
		       b = k % 3 ? 1 + k * 5 % (most - a) : most - a;
	uint32_t n = 0;

	i->segments[0] = (struct instance_segment){ k * 997 % s->documents, k * 65537, a };
	i->segments[1] = (struct instance_segment){ s->documents - 1 - k, k, b };
	i->n_segments = 2;
	i->ids[n++] = s->cls;
	for (uint32_t t = 0; t < a + b; t++) {
		if (t == a)
			i->ids[n++] = s->sep;
		i->ids[n++] = (uint32_t)((k + 1) * (t + 3) * UINT64_C(2654435761) % s->vocab_size);
	}
	i->ids[n++] = s->sep;
	i->n = n;
	i->pass = k * 11 % s->passes;
	i->flags = k & 1;
	i->predictions = 0;
	for (uint32_t p = 1 + k % 2; s->masked && p < n - 1 && i->predictions < k % 10; p += 1 + k * p % 40) {
		if (p == a + 1)
			continue;
		i->positions[i->predictions] = p;
		i->labels[i->predictions++] = i->ids[p];
		i->ids[p] = (uint32_t)(p * UINT64_C(40503) % s->vocab_size);
	}
}

static void assert_same(const struct instance *a, const struct instance *b)
{
	assert_int_equal(a->n, b->n);
	assert_memory_equal(a->ids, b->ids, a->n * sizeof(*a->ids));
	assert_int_equal(a->n_segments, b->n_segments);
	assert_memory_equal(a->segments, b->segments, a->n_segments * sizeof(*a->segments));
	assert_int_equal(a->predictions, b->predictions);
	if (a->predictions) {
		assert_memory_equal(a->positions, b->positions, a->predictions * sizeof(*a->positions));
		assert_memory_equal(a->labels, b->labels, a->predictions * sizeof(*a->labels));
	}
	assert_int_equal(a->pass, b->pass);
	assert_int_equal(a->flags, b->flags);
}

/* A block of RECORDS made-up instances, packed and unpacked again. */
static void make_block(const struct instance_shape *s, uint32_t records, int level, struct buf *raw)
{
	struct instance_columns c;
	struct instance i;
	struct buf packed = BUF_INIT, unpacked = BUF_INIT;

	assert_int_equal(instance_init(&i, s), 0);
	assert_int_equal(instance_columns_init(&c, s), 0);
	for (uint32_t k = 0; k < records; k++) {
		make(&i, s, k);
		instance_columns_add(&c, &i);
	}
	assert_int_equal(instance_columns_flush(&c, level, raw, &packed), 0);
	if (packed.len) {
		assert_true(packed.len < raw->len);
		assert_int_equal(frame_unpack(packed.data, packed.len, raw->len, &unpacked), 0);
		assert_memory_equal(unpacked.data, raw->data, raw->len);
	}
	assert_int_equal(c.records, 0);
	buf_release(&packed);
	buf_release(&unpacked);
	instance_release(&i);
	instance_columns_release(&c);
}

static void round_trip(uint32_t vocab_size, uint32_t length, bool masked, int level)
{
	struct instance_shape s = shape_of(vocab_size, length);
	struct instance_block b = INSTANCE_BLOCK_INIT;
	struct instance want, got;
	struct buf raw = BUF_INIT;

	s.masked = masked;
	assert_int_equal(instance_init(&want, &s), 0);
	assert_int_equal(instance_init(&got, &s), 0);
	for (uint32_t records = 1; records <= s.block_records; records += 31) {
		make_block(&s, records, level, &raw);
		assert_int_equal(instance_block_open(&b, &s, raw.data, raw.len, records), 0);
		for (uint32_t k = records; k-- > 0;) {
			make(&want, &s, k);
			instance_block_get(&b, k, &got);
			assert_same(&want, &got);
		}
	}
	instance_release(&want);
	instance_release(&got);
	instance_block_release(&b);
	buf_release(&raw);
}

static void test_blocks_round_trip(void **state)
{
	const uint32_t sizes[] = { 3, 256, 257, 30522, 65536, 65537, 119547, 20000000 },
		       lengths[] = { 5, 30, 128, 256, 257, 512 };

	(void)state;
	for (unsigned v = 0; v < sizeof(sizes) / sizeof(sizes[0]); v++)
		for (unsigned l = 0; l < sizeof(lengths) / sizeof(lengths[0]); l++)
			round_trip(sizes[v], lengths[l], l != 2, (int)(l + v) % 3);
}

/* Ids of which nothing stands twice, but whose upper bytes are 16 only: three bytes for four, and little more; at level 1 as well. */
static void test_what_has_no_matches_is_packed(void **state)
{
	struct instance_shape s = shape_of(30522, 512);
	struct instance_columns c;
	struct instance i;
	struct buf raw = BUF_INIT, packed = BUF_INIT;
	uint64_t x = 1;

	(void)state;
	s.masked = false;
	assert_int_equal(instance_init(&i, &s), 0);
	assert_int_equal(instance_columns_init(&c, &s), 0);
	for (int level = 1; level <= 3; level++) {
		for (uint32_t k = 0; k < s.block_records; k++) {
			i.ids[0] = s.cls;
			i.n = 512;
			i.n_segments = 2;
			i.segments[0] = (struct instance_segment){ k, k, 254 };
			i.segments[1] = (struct instance_segment){ k, k, 255 };
			for (uint32_t t = 1; t < i.n; t++) {
				x = x * UINT64_C(6364136223846793005) + 1;
				i.ids[t] = (uint32_t)(x >> 40) & 0xFFF;
			}
			i.ids[255] = i.ids[511] = s.sep;
			i.pass = i.flags = i.predictions = 0;
			instance_columns_add(&c, &i);
		}
		assert_int_equal(instance_columns_flush(&c, level, &raw, &packed), 0);
		assert_true(packed.len && packed.len < raw.len * 77 / 100);
	}
	buf_release(&raw);
	buf_release(&packed);
	instance_release(&i);
	instance_columns_release(&c);
}

static void test_widths(void **state)
{
	const struct instance_shape a = shape_of(256, 256), b = shape_of(257, 257), c = shape_of(65537, 5),
				    d = shape_of(1 << 24, 5), e = shape_of((1 << 24) + 1, 5);

	(void)state;
	assert_int_equal(instance_id_bytes(&a), 1);
	assert_int_equal(instance_id_bytes(&b), 2);
	assert_int_equal(instance_id_bytes(&c), 3);
	assert_int_equal(instance_id_bytes(&d), 3);
	assert_int_equal(instance_id_bytes(&e), 4);
	assert_int_equal(instance_position_bytes(&a), 1);
	assert_int_equal(instance_position_bytes(&b), 2);
}

static void test_unmask_and_types(void **state)
{
	const struct instance_shape s = shape_of(1000, 40);
	struct instance masked, plain;

	(void)state;
	assert_int_equal(instance_init(&masked, &s), 0);
	assert_int_equal(instance_init(&plain, &s), 0);
	make(&masked, &s, 19);
	assert_true(masked.predictions > 0);
	instance_unmask(&masked);
	assert_int_equal(masked.predictions, 0);
	for (uint32_t p = 0, t = 0; p < masked.n; p++) {
		if (p && p != masked.segments[0].length + 1 && p + 1 != masked.n)
			assert_int_equal(masked.ids[p], 20 * (t++ + 3) * UINT64_C(2654435761) % 1000);
		assert_int_equal(instance_type(&masked, &s, p), p > masked.segments[0].length + 1);
	}
	instance_release(&masked);
	instance_release(&plain);
}

/* --- blocks that lie ------------------------------------------------------------------------ */

static int open_block(const struct instance_shape *s, const void *raw, size_t n, uint32_t records)
{
	unsigned char *copy = malloc(n ? n : 1);	/* so that reading beyond it is seen */
	struct instance_block b = INSTANCE_BLOCK_INIT;
	int rc;

	assert_non_null(copy);
	if (n)
		memcpy(copy, raw, n);
	rc = instance_block_open(&b, s, copy, n, records);
	if (rc)
		assert_int_equal(err_code(), EXIT_CORRUPT);
	instance_block_release(&b);
	free(copy);
	return rc;
}

/*
 * One instance: [CLS] 1 2 3 [SEP] 4 5 [SEP] of ids in one byte, masks at 2 and 5.
 * Offsets of the columns: flags 0, segments 1, pass 2, predictions 4, lengths 6,
 * documents 10, firsts 18, gaps 26, replacements 28, ids 30.
 */
static const unsigned char good[] = { 1, 2, 3, 0, 2, 0, 3, 2, 0, 0, 7,	8,  0, 0, 0, 0, 0, 0,
				      9, 9, 0, 0, 0, 0, 0, 0, 2, 3, 10, 11, 1, 2, 3, 4, 5 };
static const struct instance_shape small = {
	.max_seq_length = 8,
	.max_predictions = 2,
	.masked = true,
	.block_records = 4,
	.vocab_size = 20,
	.documents = 9,
	.passes = 4,
	.cls = 18,
	.sep = 19,
	.pairs = true,
};

static void test_a_block_by_hand(void **state)
{
	struct instance_block b = INSTANCE_BLOCK_INIT;
	struct instance i;
	const uint32_t ids[] = { 18, 1, 10, 3, 19, 11, 5, 19 };

	(void)state;
	assert_int_equal(instance_init(&i, &small), 0);
	assert_int_equal(instance_block_open(&b, &small, good, sizeof(good), 1), 0);
	instance_block_get(&b, 0, &i);
	assert_int_equal(i.n, 8);
	assert_memory_equal(i.ids, ids, sizeof(ids));
	assert_int_equal(i.predictions, 2);
	assert_int_equal(i.positions[0], 2);
	assert_int_equal(i.labels[0], 2);
	assert_int_equal(i.positions[1], 5);
	assert_int_equal(i.labels[1], 4);
	assert_int_equal(i.flags, INSTANCE_RANDOM_NEXT);
	assert_int_equal(i.pass, 3);
	assert_int_equal(i.segments[1].document, 8);
	assert_int_equal(i.segments[1].first, 9);
	instance_release(&i);
	instance_block_release(&b);
}

static void test_every_lie_is_refused(void **state)
{
	const struct {
		unsigned at, value;
	} lies[] = {
		{ 0, 2 },		/* an unknown flag */
		{ 1, 1 }, { 1, 3 },	/* segments */
		{ 2, 4 }, { 3, 1 },	/* pass */
		{ 4, 3 }, { 4, 1 }, { 5, 1 },	/* predictions */
		{ 6, 0 }, { 6, 4 }, { 7, 0 }, { 8, 1 },	/* lengths */
		{ 10, 9 }, { 12, 1 }, { 17, 1 },	/* documents */
		{ 26, 0 },		/* a position that is [CLS] */
		{ 26, 4 },		/* [SEP] */
		{ 27, 0 },		/* twice the same */
		{ 27, 2 },		/* the first [SEP] */
		{ 27, 5 },		/* the last */
		{ 27, 6 },		/* behind the end */
		{ 28, 20 }, { 29, 255 },	/* replacements */
		{ 30, 20 }, { 34, 20 },	/* ids */
	};
	unsigned char b[sizeof(good)];

	(void)state;
	assert_int_equal(open_block(&small, good, sizeof(good), 1), 0);
	for (unsigned i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		memcpy(b, good, sizeof(good));
		b[lies[i].at] = (unsigned char)lies[i].value;
		if (!open_block(&small, b, sizeof(b), 1))
			fail_msg("byte %u = %u was taken", lies[i].at, lies[i].value);
	}
	memcpy(b, good, sizeof(good));
	memset(b + 18, 0xff, 1);		/* first 0xff09ff..: the segment would pass 2^32 */
	b[20] = b[22] = b[24] = b[18] = 0xff;
	assert_int_equal(open_block(&small, b, sizeof(b), 1), -1);
}

static void test_cut_and_long_blocks_are_refused(void **state)
{
	unsigned char longer[sizeof(good) + 1] = { 0 };
	struct instance_shape s = shape_of(30522, 128);
	struct buf raw = BUF_INIT;

	(void)state;
	memcpy(longer, good, sizeof(good));
	assert_int_equal(open_block(&small, longer, sizeof(longer), 1), -1);
	assert_int_equal(open_block(&small, good, sizeof(good), 0), -1);
	assert_int_equal(open_block(&small, good, sizeof(good), 2), -1);
	assert_int_equal(open_block(&small, good, sizeof(good), 5), -1);
	make_block(&s, 7, 0, &raw);
	for (size_t n = 0; n < raw.len; n++)
		assert_int_equal(open_block(&s, raw.data, n, 7), -1);
	buf_release(&raw);
}

static void test_masks_have_no_place_in_dynamic_shards(void **state)
{
	struct instance_shape s = small;

	(void)state;
	s.masked = false;
	assert_int_equal(open_block(&s, good, sizeof(good), 1), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_has_no_matches_is_packed),
		cmocka_unit_test(test_widths),
		cmocka_unit_test(test_blocks_round_trip),
		cmocka_unit_test(test_unmask_and_types),
		cmocka_unit_test(test_a_block_by_hand),
		cmocka_unit_test(test_every_lie_is_refused),
		cmocka_unit_test(test_cut_and_long_blocks_are_refused),
		cmocka_unit_test(test_masks_have_no_place_in_dynamic_shards),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
