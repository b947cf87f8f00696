/* tf.Example records: forms that writers use, and what is none. */
#include "shards/example.h"
#include "base/err.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#define RECORD(...) (const unsigned char[]){ __VA_ARGS__ }, sizeof((const unsigned char[]){ __VA_ARGS__ })

static void takes(const unsigned char *record, size_t len, const char *name, size_t n, const int64_t *values)
{
	struct example e = EXAMPLE_INIT;
	const struct example_list *l;

	if (example_parse(&e, record, len))
		fail_msg("%s", err_text());
	l = example_find(&e, name);
	assert_non_null(l);
	assert_int_equal(l->n, n);
	assert_memory_equal(e.values + l->first, values, n * sizeof(*values));
	assert_null(example_find(&e, "other"));
	example_release(&e);
}

static void refuses(const unsigned char *record, size_t len)
{
	struct example e = EXAMPLE_INIT;

	assert_int_equal(example_parse(&e, record, len), -1);
	assert_int_equal(err_code(), EXIT_CORRUPT);
	example_release(&e);
}

/* Features { a: int64_list [1, 300] }, packed and one by one; the name after the value; unknown fields between. */
static void integers(void **state)
{
	const int64_t want[] = { 1, 300 };

	(void)state;
	takes(RECORD(0x0A, 14, 0x0A, 12, 0x0A, 1, 'a', 0x12, 7, 0x1A, 5, 0x0A, 3, 1, 0xAC, 2), "a", 2, want);
	takes(RECORD(0x0A, 14, 0x0A, 12, 0x0A, 1, 'a', 0x12, 7, 0x1A, 5, 0x08, 1, 0x08, 0xAC, 2), "a", 2, want);
	takes(RECORD(0x0A, 14, 0x0A, 12, 0x12, 7, 0x1A, 5, 0x0A, 3, 1, 0xAC, 2, 0x0A, 1, 'a'), "a", 2, want);
	takes(RECORD(0x18, 5, 0x0A, 16, 0x0A, 14, 0x0A, 1, 'a', 0x12, 7, 0x1A, 5, 0x0A, 3, 1, 0xAC, 2, 0x18, 9), "a", 2, want);
}

static void floats(void **state)
{
	const int64_t want[] = { 1, 0 };

	(void)state;
	takes(RECORD(0x0A, 19, 0x0A, 17, 0x0A, 1, 'w', 0x12, 12, 0x12, 10, 0x0A, 8, 0, 0, 0x80, 0x3F, 0, 0, 0, 0x80), "w", 2,
	      want);
	takes(RECORD(0x0A, 19, 0x0A, 17, 0x0A, 1, 'w', 0x12, 12, 0x12, 10, 0x0D, 0, 0, 0x80, 0x3F, 0x0D, 0, 0, 0, 0), "w", 2,
	      want);
}

static void other_floats(void **state)
{
	const int64_t want[] = { EXAMPLE_OTHER, EXAMPLE_OTHER }, last[] = { 7 };

	(void)state;
	/* 0.5 and no number */
	takes(RECORD(0x0A, 19, 0x0A, 17, 0x0A, 1, 'w', 0x12, 12, 0x12, 10, 0x0A, 8, 0, 0, 0, 0x3F, 0, 0, 0xC0, 0x7F), "w", 2, want);
	/* Features { a: int64_list [5], a: int64_list [7] } */
	takes(RECORD(0x0A, 24, 0x0A, 10, 0x0A, 1, 'a', 0x12, 5, 0x1A, 3, 0x0A, 1, 5, 0x0A, 10, 0x0A, 1, 'a', 0x12, 5, 0x1A, 3, 0x0A, 1, 7), "a", 1, last);
}

/* Varints of every length, in runs of every length, so that each way of reading them meets each end. */
static void lengths(void **state)
{
	unsigned char record[4 + 8 * 300] = { 0 };
	int64_t want[300];

	(void)state;
	for (unsigned n = 1; n < 24; n++)
		for (unsigned run = 1; run < 12; run++)
			for (unsigned bytes = 2; bytes <= 9; bytes++) {
				unsigned char list[300], *p = list;
				const unsigned char heads[] = { 1, 'a' };
				size_t len, at;

				for (unsigned k = 0; k < n; k++) {
					uint64_t v = k % run == run - 1 ? UINT64_C(0x5555555555555555) >> (64 - 7 * bytes) : k;

					want[k] = (int64_t)v;
					for (; v > 127; v >>= 7)
						*p++ = (unsigned char)(v | 128);
					*p++ = (unsigned char)v;
				}
				len = (size_t)(p - list);
				if (len > 100)
					continue;
				at = 0;
				record[at++] = 0x0A;
				record[at++] = (unsigned char)(len + 11);
				record[at++] = 0x0A;
				record[at++] = (unsigned char)(len + 9);
				record[at++] = 0x0A;
				memcpy(record + at, heads, 2);
				at += 2;
				record[at++] = 0x12;
				record[at++] = (unsigned char)(len + 4);
				record[at++] = 0x1A;
				record[at++] = (unsigned char)(len + 2);
				record[at++] = 0x0A;
				record[at++] = (unsigned char)len;
				memcpy(record + at, list, len);
				takes(record, at + len, "a", n, want);
			}
}

static void what_is_none(void **state)
{
	unsigned char many[4 + 32 * 5 + 5] = { 0x0A, 0x80 | (33 * 5 & 127), 33 * 5 >> 7 };

	(void)state;
	refuses(RECORD(0x0A));
	refuses(RECORD(0x0A, 5, 0x0A));
	refuses(RECORD(0x0B, 1, 1));
	refuses(RECORD(0x0A, 14, 0x0A, 12, 0x0A, 1, 'a', 0x12, 7, 0x1A, 5, 0x0A, 3, 1, 0xAC, 0x82));
	refuses(RECORD(0x08, 1, 0x0A, 2, 0x08, 1));
	refuses(RECORD(0x0A, 17, 0x0A, 15, 0x0A, 1, 'w', 0x12, 10, 0x12, 8, 0x0A, 6, 0, 0, 0x80, 0x3F, 0, 0));
	for (unsigned k = 0; k < 33; k++)
		memcpy(many + 3 + 5 * k, "\x0A\x03\x0A\x01" "a", 5);
	refuses(many, 3 + 33 * 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers),
		cmocka_unit_test(floats), cmocka_unit_test(other_floats),
		cmocka_unit_test(lengths),
		cmocka_unit_test(what_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
