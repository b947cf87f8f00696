#include "shards/codes.h"

#include "base/err.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void test_shapes(void **state)
{
	static const struct codes_shape shapes[] = {
		{ 1, 8, 1, 255 },	      { 256, 8, 1, 255 },	  { 257, 8, 1, 254 },
		{ 30522, 8, 1, 136 },	      { 32768, 8, 1, 128 },	  { 32769, 10, 2, 223 },
		{ 65536, 10, 2, 192 },	      { 65537, 11, 2, 223 },	  { 119547, 11, 2, 197 },
		{ 1 << 22, 16, 2, 192 },      { (1 << 22) + 1, 17, 3, 223 }, { UINT32_C(1) << 31, 25, 4, 192 },
		{ UINT32_MAX - 1, 26, 4, 192 },
	};

	(void)state;
	for (unsigned k = 0; k < sizeof(shapes) / sizeof(shapes[0]); k++) {
		const struct codes_shape s = codes_shape(shapes[k].vocab_size);

		assert_int_equal(s.vocab_size, shapes[k].vocab_size);
		assert_int_equal(s.bits, shapes[k].bits);
		assert_int_equal(s.planes, shapes[k].planes);
		assert_int_equal(s.direct, shapes[k].direct);
		assert_int_equal(s.direct + ((s.vocab_size - 1) >> s.bits), 255);
	}
}

/* --- what is common ------------------------------------------------------------------------------- */

struct entry {
	uint32_t id, times;
};

static int by_times(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->times != y->times)
		return x->times > y->times ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static int by_id(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

/* As FORMAT.md says it. Returns the number of COMMON. */
static unsigned plainly(uint32_t vocab_size, const uint32_t *ids, size_t t, struct entry *e)
{
	const unsigned direct = codes_shape(vocab_size).direct;
	size_t n = 0, m = 0;
	unsigned kept = 0;

	for (size_t j = 0; j < t; j += 4)
		e[n++] = (struct entry){ ids[j], 1 };
	qsort(e, n, sizeof(*e), by_id);
	for (size_t j = 0; j < n; j++) {
		if (m && e[m - 1].id == e[j].id)
			e[m - 1].times++;
		else
			e[m++] = e[j];
	}
	qsort(e, m, sizeof(*e), by_times);
	while (vocab_size <= 1 << 20 && kept < m && kept < direct && e[kept].times > 1)
		kept++;
	qsort(e, kept, sizeof(*e), by_id);
	return kept;
}

/* --- there and back --------------------------------------------------------------------------------- */

static uint64_t random_state = 1;

static uint32_t below(uint64_t n)
{
	random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)((random_state >> 32) * n >> 32);
}

/* Number J of an ordered kind HOW. */
static uint32_t made(unsigned how, uint32_t vocab_size, size_t j)
{
	switch (how) {
	case 0:
		return vocab_size - 1;				/* all the same */
	case 1:
		return (uint32_t)(j * UINT64_C(2654435761) % vocab_size);	/* as different as may be */
	case 2:
		return below(1 + below(vocab_size));		/* some oftener than others */
	case 3:
		return below(vocab_size < 600 ? vocab_size : 600) * (vocab_size / 600 + 1) % vocab_size; /* equally often */
	default:
		return j % 3 ? vocab_size - 1 - below(vocab_size < 9 ? vocab_size : 9) : below(vocab_size);
	}
}

/* From a copy to the byte, so that reading beyond it is seen. */
static int get(const struct codes_shape *s, const struct codes *c, const unsigned char *column, size_t t, size_t bytes,
	       uint32_t *ids)
{
	unsigned char *code = malloc(t + 1), *rest = malloc(bytes + 1);
	int rc;

	assert_non_null(code);
	assert_non_null(rest);
	memcpy(code + 1, column, t);
	memcpy(rest + 1, column + t, bytes);
	rc = codes_get(s, c->common, c->n, code + 1, t, rest + 1, bytes, ids);
	if (rc)
		assert_int_equal(err_code(), EXIT_CORRUPT);
	free(code);
	free(rest);
	return rc;
}

static void round_trip(struct codes *c, unsigned how, size_t t)
{
	uint32_t *ids = malloc((t + 1) * sizeof(*ids)), *back = malloc((t + 1) * sizeof(*back));
	struct entry *want = malloc((t / 4 + 1) * sizeof(*want));
	unsigned char *column = malloc(5 * t + 1);
	size_t bytes;

	assert_true(ids && back && want && column);
	for (size_t j = 0; j < t; j++)
		ids[j] = made(how, c->shape.vocab_size, j);
	assert_int_equal(codes_choose(c, ids, t), 0);
	assert_int_equal(c->n, plainly(c->shape.vocab_size, ids, t, want));
	for (unsigned k = 0; k < c->n; k++)
		assert_int_equal(c->common[k], want[k].id);
	bytes = codes_put(c, ids, t, column) - t;
	assert_int_equal(get(&c->shape, c, column, t, bytes, back), 0);
	assert_memory_equal(ids, back, t * sizeof(*ids));
	if (bytes)
		assert_int_equal(get(&c->shape, c, column, t, bytes - c->shape.planes, back), -1);
	if (c->shape.planes > 1 && bytes)
		assert_int_equal(get(&c->shape, c, column, t, bytes - 1, back), -1);
	column[t + bytes] = 0;
	if (how < 2 || t < 1000)
		assert_int_equal(get(&c->shape, c, column, t, bytes + 1, back), -1);
	free(ids);
	free(back);
	free(want);
	free(column);
}

static void test_round_trips(void **state)
{
	static const uint32_t sizes[] = { 1,	 2,	10,	255,	256,	257,	     5000,
					  30522, 32768, 32769,	65536,	65537,	119547,	     1 << 20,
					  (1 << 20) + 1, (1 << 22) + 1, UINT32_C(1) << 31, UINT32_MAX - 1 };
	static const size_t lengths[] = { 0, 1, 2, 3, 4, 5, 31, 32, 33, 64, 100, 1000, 32768, 40001 };

	(void)state;
	for (unsigned v = 0; v < sizeof(sizes) / sizeof(sizes[0]); v++) {
		struct codes c;

		assert_int_equal(codes_init(&c, sizes[v]), 0);
		for (unsigned how = 0; how < 5; how++)
			for (unsigned l = 0; l < sizeof(lengths) / sizeof(lengths[0]); l++)
				round_trip(&c, how, lengths[l]);
		codes_release(&c);
	}
}

/* More ids tie than there are codes: the smaller ones are taken. */
static void test_ties(void **state)
{
	uint32_t ids[4 * 400];
	struct codes c;

	(void)state;
	assert_int_equal(codes_init(&c, 30522), 0);
	for (uint32_t j = 0; j < 4 * 400; j++)
		ids[j] = 30000 - j / 4 % 200;
	ids[0] = ids[4] = ids[8] = 30500;
	assert_int_equal(codes_choose(&c, ids, 4 * 400), 0);
	assert_int_equal(c.n, 136);
	assert_int_equal(c.common[0], 29801);
	assert_int_equal(c.common[134], 29801 + 134);
	assert_int_equal(c.common[135], 30500);
	codes_release(&c);
}

/* --- columns that lie ----------------------------------------------------------------------------------- */

static void refuses(uint32_t vocab_size, unsigned n, const unsigned char *column, size_t t, size_t bytes, const char *why)
{
	const struct codes_shape s = codes_shape(vocab_size);
	struct codes c = { .n = n };
	uint32_t ids[100];

	for (unsigned k = 0; k < n; k++)
		c.common[k] = k;
	if (!get(&s, &c, column, t, bytes, ids))
		fail_msg("not refused: %s", why);
	if (!strstr(err_text(), why))
		fail_msg("'%s' does not say '%s'", err_text(), why);
}

static void test_lies(void **state)
{
	unsigned char codes[65];

	(void)state;
	refuses(20, 3, (const unsigned char[]){ 0, 1, 3 }, 3, 0, "code 3, where 3 ids are common and classes begin at 255");
	refuses(20, 0, (const unsigned char[]){ 0 }, 1, 0, "code 0, where 0 ids");
	refuses(30522, 136, (const unsigned char[]){ 136, 255, 255, 0, 57, 58 }, 3, 3, "id 30522 is not below");
	refuses(30522, 136, (const unsigned char[]){ 136, 255, 0 }, 2, 1, "too short for its ids");
	refuses(30522, 136, (const unsigned char[]){ 136, 5, 0, 0 }, 2, 2, "1 bytes more than its ids");
	refuses(119547, 9, (const unsigned char[]){ 197, 5, 0 }, 2, 1, "too short for its ids");
	refuses(119547, 9, (const unsigned char[]){ 197, 5, 0, 0, 0 }, 2, 3, "1 bytes more than its ids");
	refuses(119547, 9, (const unsigned char[]){ 197, 5, 0, 8 }, 2, 2, "more than 11 bits");
	refuses(119547, 9, (const unsigned char[]){ 255, 255, 0xfb, 0xfa, 2, 2 }, 2, 4, "id 119547 is not below");
	memset(codes, 255, sizeof(codes));
	for (unsigned k = 0; k < 32; k++)
		codes[32 + k] = 9;
	codes[32 + 17] = 20;
	refuses(20, 0, codes, 32, 32, "id 20 is not below");
	refuses(20, 0, codes, 32, 31, "too short for its ids");
	refuses(20, 0, codes, 32, 33, "1 bytes more than its ids");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_round_trips),
		cmocka_unit_test(test_ties),
		cmocka_unit_test(test_lies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
