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
		.mask = vocab_size - 3,
		.pairs = true,
	};
}

/* Token T of instance K: some are in every instance, others anywhere. */
static uint32_t made_id(const struct instance_shape *s, uint32_t k, uint32_t t)
{
	const uint64_t x = (k + 1) * (t + 3) * UINT64_C(2654435761);

	return (uint32_t)((t % 3 ? x >> 8 & 31 : x) % s->vocab_size);
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
		i->ids[n++] = made_id(s, k, t);
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
		if (p % 4 < 2)
			i->ids[p] = s->mask;
		else if (p % 4 == 2)
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

static void assert_checked(const struct instance_block *b, struct codes *c, struct instance *i)
{
	assert_int_equal(instance_block_check_ids(b, c), 0);
	for (uint32_t k = 0; k < b->records; k++) {
		instance_block_get(b, k, i);
		assert_int_equal(instance_block_check_masks(b, k, i), 0);
	}
}

static void round_trip(uint32_t vocab_size, uint32_t length, bool masked, int level)
{
	struct instance_shape s = shape_of(vocab_size, length);
	struct instance_block b = INSTANCE_BLOCK_INIT;
	struct instance want, got;
	struct buf raw = BUF_INIT;
	struct codes codes;

	s.masked = masked;
	assert_int_equal(codes_init(&codes, vocab_size), 0);
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
		assert_checked(&b, &codes, &got);
	}
	codes_release(&codes);
	instance_release(&want);
	instance_release(&got);
	instance_block_release(&b);
	buf_release(&raw);
}

static void test_blocks_round_trip(void **state)
{
	const uint32_t sizes[] = { 3, 10, 255, 256, 257, 30522, 32768, 32769, 65536, 65537, 119547, 20000000, UINT32_C(1) << 31 },
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
			assert_int_equal(masked.ids[p], made_id(&s, 19, t++));
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
 * One instance: [CLS] 5 2 3 [SEP] 4 5 [SEP], masks at 2 (10 stands there), 5 ([MASK]) and 6 (5 itself). The sample is
 * the first and the last token, so 5 is common. Offsets of the columns: flags 0, segments 1, pass 2,
 * predictions 4, lengths 6, documents 10, firsts 18, gaps 26, kinds 29, others 30, common 31, codes 33, rest 38.
 */
static const unsigned char good[] = { 1, 2, 3, 0, 3, 0, 3, 2, 0, 0, 7,	8,    0,  0, 0, 0, 0,	 0,    9,    9, 0,
				      0, 0, 0, 0, 0, 2, 3, 1, 0x12, 10, 1, 5, 0, 255, 255, 255, 0, 2, 3, 4 };
static const struct instance_shape small = {
	.max_seq_length = 8,
	.max_predictions = 3,
	.masked = true,
	.block_records = 4,
	.vocab_size = 20,
	.documents = 9,
	.passes = 4,
	.cls = 18,
	.sep = 19,
	.mask = 17,
	.pairs = true,
};

static void test_a_block_by_hand(void **state)
{
	struct instance_block b = INSTANCE_BLOCK_INIT;
	struct instance i;
	const uint32_t ids[] = { 18, 5, 10, 3, 19, 17, 5, 19 }, positions[] = { 2, 5, 6 }, labels[] = { 2, 4, 5 };
	struct codes c;

	(void)state;
	assert_int_equal(instance_init(&i, &small) | codes_init(&c, 20), 0);
	assert_int_equal(instance_block_open(&b, &small, good, sizeof(good), 1), 0);
	instance_block_get(&b, 0, &i);
	assert_int_equal(i.n, 8);
	assert_memory_equal(i.ids, ids, sizeof(ids));
	assert_int_equal(i.predictions, 3);
	assert_memory_equal(i.positions, positions, sizeof(positions));
	assert_memory_equal(i.labels, labels, sizeof(labels));
	assert_int_equal(i.flags, INSTANCE_RANDOM_NEXT);
	assert_int_equal(i.pass, 3);
	assert_int_equal(i.segments[1].document, 8);
	assert_int_equal(i.segments[1].first, 9);
	assert_checked(&b, &c, &i);
	codes_release(&c);
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
		{ 4, 4 }, { 4, 2 }, { 4, 0 }, { 5, 1 },	/* predictions */
		{ 6, 0 }, { 6, 4 }, { 7, 0 }, { 8, 1 },	/* lengths */
		{ 10, 9 }, { 12, 1 }, { 17, 1 },	/* documents */
		{ 26, 0 },		/* a position that is [CLS] */
		{ 26, 4 },		/* [SEP] */
		{ 27, 0 },		/* twice the same */
		{ 27, 2 },		/* the first [SEP] */
		{ 27, 5 },		/* the last */
		{ 27, 6 },		/* behind the end */
		{ 28, 2 },		/* the last [SEP], one later */
		{ 29, 0x13 }, { 29, 0x32 },	/* a kind that there is not */
		{ 29, 0x52 }, { 29, 0x92 },	/* a fourth prediction's */
		{ 29, 0x10 }, { 29, 0x22 },	/* fewer others, more */
		{ 30, 20 }, { 30, 255 },	/* other */
		{ 31, 0 }, { 31, 2 }, { 31, 255 },	/* common: none, two the same, more than there is */
		{ 32, 20 },		/* beyond the vocabulary */
		{ 33, 1 }, { 37, 254 },	/* codes neither common nor a class */
		{ 33, 255 }, { 34, 0 },	/* more classes than there is of the rest, fewer */
		{ 38, 20 }, { 40, 255 },	/* ids */
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

/* What opens, but is not what the writer makes: N bytes that stand for those of `good` from AT on. */
static void refuses_to_check(size_t at, const unsigned char *bytes, size_t n, const char *why)
{
	struct instance_block b = INSTANCE_BLOCK_INIT;
	unsigned char raw[sizeof(good) + 8];
	struct instance i;
	struct codes c;

	memcpy(raw, good, sizeof(good));
	memcpy(raw + at, bytes, n);
	assert_int_equal(instance_init(&i, &small) | codes_init(&c, 20), 0);
	assert_int_equal(instance_block_open(&b, &small, raw, at + n > sizeof(good) ? at + n : sizeof(good), 1), 0);
	instance_block_get(&b, 0, &i);
	if (!instance_block_check_ids(&b, &c) && !instance_block_check_masks(&b, 0, &i))
		fail_msg("not found: %s", why);
	assert_non_null(strstr(err_text(), why));
	codes_release(&c);
	instance_release(&i);
	instance_block_release(&b);
}

static void test_only_one_way_is_right(void **state)
{
	static const char kind[] = "said in another way", common[] = "not those that the block has most often";

	(void)state;
	refuses_to_check(30, (const unsigned char[]){ 17 }, 1, kind);	/* another, but [MASK] */
	refuses_to_check(30, (const unsigned char[]){ 2 }, 1, kind);	/* another, but the label */
	refuses_to_check(32, (const unsigned char[]){ 17 }, 1, kind);	/* the label, but [MASK] */
	refuses_to_check(31, (const unsigned char[]){ 0, 255, 255, 255, 255, 255, 5, 2, 3, 4, 5 }, 11, common);
	refuses_to_check(31, (const unsigned char[]){ 2, 5, 1, 0, 255, 255, 255, 0, 2, 3, 4 }, 11, common);
	refuses_to_check(31, (const unsigned char[]){ 1, 2, 255, 0, 255, 255, 255, 5, 3, 4, 5 }, 11, common);
	refuses_to_check(33, (const unsigned char[]){ 0, 255, 255, 255, 255, 2, 3, 4, 5 }, 9, "common, and written as if");
}

/* As many common ids as there are codes, and one more. */
static void test_common_ids_have_codes(void **state)
{
	struct instance_shape s = small;
	unsigned char b[400] = { 0 };

	(void)state;
	s.vocab_size = 30522;
	s.masked = false;
	memcpy(b, good, 26);
	b[4] = 0;
	for (unsigned n = 136; n < 138; n++) {
		b[26] = (unsigned char)n;
		memset(b + 27, 0, 2 * n);
		memset(b + 27, 1, n);
		memset(b + 27 + 2 * n, 0, 5);
		assert_int_equal(open_block(&s, b, 27 + 2 * n + 5, 1), n == 136 ? 0 : -1);
	}
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
		cmocka_unit_test(test_only_one_way_is_right),
		cmocka_unit_test(test_common_ids_have_codes),
		cmocka_unit_test(test_cut_and_long_blocks_are_refused),
		cmocka_unit_test(test_masks_have_no_place_in_dynamic_shards),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
