#include "base/spill.h"

#include "base/err.h"
#include "base/fs.h"

#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <cmocka.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

static char folder[] = "/tmp/bert-test-spill-XXXXXX";

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	return rmdir(folder);	/* fails if anything was left there */
}

static uint64_t draw(uint64_t *x)
{
	*x = *x * 6364136223846793005u + 1442695040888963407u;
	return *x >> 33;
}

/* --- records whose order is by bytes up to the first ':'; what follows tells equal ones apart ------ */

static int by_key(const void *a, size_t a_len, const void *b, size_t b_len, void *ctx)
{
	const char *a_end = memchr(a, ':', a_len), *b_end = memchr(b, ':', b_len);
	const size_t x = (size_t)(a_end - (const char *)a), y = (size_t)(b_end - (const char *)b);
	int c = memcmp(a, b, x < y ? x : y);

	(void)ctx;
	return c ? c : (x > y) - (x < y);
}

static uint64_t key_prefix(const void *record, size_t len, void *ctx)
{
	const char *end = memchr(record, ':', len);

	(void)ctx;
	return spill_prefix(record, (size_t)(end - (const char *)record));
}

struct sample {
	char *bytes;
	size_t *ends;	/* of each record in BYTES */
	size_t n;
};

struct shape {
	size_t records, keys, longest;
};

/* Record i is "KEY:i:padding". */
static struct sample make_sample(struct shape shape, uint64_t seed)
{
	struct sample s = { .bytes = malloc(shape.records * (shape.longest + 64)),
			    .ends = calloc(shape.records, sizeof(size_t)) };
	size_t at = 0;

	assert_non_null(s.bytes);
	assert_non_null(s.ends);
	for (; s.n < shape.records; s.n++) {
		const size_t key = draw(&seed) % shape.keys, padding = shape.longest ? draw(&seed) % shape.longest : 0;

		at += (size_t)snprintf(s.bytes + at, 64, key % 3 ? "%zx:%zu:" : "a common beginning %zx:%zu:", key,
				       s.n);
		memset(s.bytes + at, 'a' + (int)(key % 26), padding);
		at += padding;
		s.ends[s.n] = at;
	}
	return s;
}

static const char *sample_record(const struct sample *s, size_t i, size_t *len)
{
	const size_t start = i ? s->ends[i - 1] : 0;

	*len = s->ends[i] - start;
	return s->bytes + start;
}

static void free_sample(struct sample *s)
{
	free(s->bytes);
	free(s->ends);
}

static int by_key_then_number(const void *a, const void *b, void *sample)
{
	const size_t x = *(const size_t *)a, y = *(const size_t *)b;
	size_t x_len, y_len;
	const char *x_record = sample_record(sample, x, &x_len), *y_record = sample_record(sample, y, &y_len);
	int c = by_key(x_record, x_len, y_record, y_len, NULL);

	return c ? c : (x > y) - (x < y);
}

/* Sorts S and compares with qsort; returns the bytes that were written. */
static uint64_t check_sample(struct sample *s, size_t memory, unsigned threads, bool prefix)
{
	const struct spill_opts opts = { .memory = memory,
					 .folder = folder,
					 .threads = threads,
					 .compare = by_key,
					 .prefix = prefix ? key_prefix : NULL };
	size_t *order = calloc(s->n + 1, sizeof(*order)), len, expected_len;
	struct spill *sp;
	const void *record;
	uint64_t written;

	assert_non_null(order);
	for (size_t i = 0; i < s->n; i++)
		order[i] = i;
	qsort_r(order, s->n, sizeof(*order), by_key_then_number, s);
	assert_int_equal(spill_open(&sp, &opts), 0);
	for (size_t i = 0; i < s->n; i++) {
		const char *r = sample_record(s, i, &len);

		assert_int_equal(spill_add(sp, r, len), 0);
	}
	assert_int_equal(spill_sort(sp), 0);
	for (size_t i = 0; i < s->n; i++) {
		const char *expected = sample_record(s, order[i], &expected_len);

		if (spill_next(sp, &record, &len) != 1 || len != expected_len || memcmp(record, expected, len))
			fail_msg("record %zu of %zu differs", i, s->n);
	}
	assert_int_equal(spill_next(sp, &record, &len), 0);
	assert_int_equal(spill_next(sp, &record, &len), 0);
	written = spill_bytes_written(sp);
	spill_close(sp);
	free(order);
	return written;
}

static void test_in_memory(void **state)
{
	(void)state;
	for (size_t n = 0; n < 40; n++) {
		struct sample s = make_sample((struct shape){ n, 10, 20 }, n);

		for (unsigned threads = 0; threads < 4; threads++)
			assert_int_equal(check_sample(&s, 64 * KIB, threads, false), 0);
		free_sample(&s);
	}
	struct sample s = make_sample((struct shape){ 20000, 3000, 30 }, 1);

	for (unsigned threads = 1; threads < 7; threads++) {
		assert_int_equal(check_sample(&s, 4 * MIB, threads, false), 0);
		assert_int_equal(check_sample(&s, 4 * MIB, threads, true), 0);
	}
	free_sample(&s);
}

static void test_runs(void **state)
{
	struct sample s = make_sample((struct shape){ 20000, 3000, 30 }, 2);
	const size_t bytes = s.ends[s.n - 1] + s.n;	/* a length takes one byte here */

	(void)state;
	for (unsigned threads = 1; threads < 4; threads++) {
		assert_int_equal(check_sample(&s, 512 * KIB, threads, false), bytes);
		assert_int_equal(check_sample(&s, 512 * KIB, threads, true), bytes);
	}
	free_sample(&s);
}

/* So many runs that they are merged in several passes, and while records are still being added. */
static void test_passes(void **state)
{
	struct sample s = make_sample((struct shape){ 40000, 3000, 100 }, 3);
	const size_t bytes = s.ends[s.n - 1] + s.n;
	uint64_t written;

	(void)state;
	written = check_sample(&s, 64 * KIB, 1, false);
	assert_true(written > 2 * bytes);
	assert_true(written < 20 * bytes);
	assert_int_equal(check_sample(&s, 64 * KIB, 2, true), written);
	free_sample(&s);
}

static struct spill *open_small(const char *where)
{
	const struct spill_opts opts = { .memory = 64 * KIB, .folder = where, .compare = by_key };
	struct spill *sp;

	assert_int_equal(spill_open(&sp, &opts), 0);
	return sp;
}

/* Records as long as they may be, beside short ones. */
static void test_long_records(void **state)
{
	struct sample s = make_sample((struct shape){ 300, 50, 16 * KIB - 64 }, 4);
	char *longest = malloc(16 * KIB + 1);
	struct spill *sp;
	const void *record;
	size_t len;

	(void)state;
	check_sample(&s, 64 * KIB, 1, false);
	free_sample(&s);

	assert_non_null(longest);
	memset(longest, 'x', 16 * KIB + 1);
	longest[0] = ':';
	sp = open_small(folder);
	for (int i = 0; i < 50; i++) {
		longest[1] = (char)i;
		assert_int_equal(spill_add(sp, longest, 16 * KIB), 0);
	}
	assert_int_equal(spill_sort(sp), 0);
	for (int i = 0; i < 50; i++) {
		assert_int_equal(spill_next(sp, &record, &len), 1);
		assert_int_equal(len, 16 * KIB);
		assert_int_equal(((const char *)record)[1], i);
	}
	spill_close(sp);

	sp = open_small(folder);
	assert_int_equal(spill_add(sp, longest, 16 * KIB + 1), -1);
	assert_string_equal(err_text(), "cannot sort a record of 16385 bytes: 65536 bytes of memory allow up to 16384");
	spill_close(sp);
	free(longest);
}

/* --- combining --------------------------------------------------------------------------- */

/* A record is a count of eight bytes, then a word. */
static int by_word(const void *a, size_t a_len, const void *b, size_t b_len, void *ctx)
{
	int c = memcmp((const char *)a + 8, (const char *)b + 8, (a_len < b_len ? a_len : b_len) - 8);

	(void)ctx;
	return c ? c : (a_len > b_len) - (a_len < b_len);
}

static void add_counts(void *a, size_t a_len, const void *b, size_t b_len, void *ctx)
{
	uint64_t x, y;

	assert_int_equal(a_len, b_len);
	assert_memory_equal((char *)a + 8, (const char *)b + 8, a_len - 8);
	memcpy(&x, a, 8);
	memcpy(&y, b, 8);
	x += y;
	memcpy(a, &x, 8);
	*(uint64_t *)ctx += 1;
}

static uint64_t word_prefix(const void *record, size_t len, void *ctx)
{
	(void)ctx;
	return spill_prefix((const char *)record + 8, len - 8);
}

#define WORDS 500

static void check_counts(struct spill *sp, const uint64_t *counts)
{
	char previous[40] = "";
	const void *record;
	size_t len, seen = 0;
	int rc;

	while ((rc = spill_next(sp, &record, &len)) > 0) {
		char word[40];
		uint64_t count;

		memcpy(&count, record, 8);
		memcpy(word, (const char *)record + 8, len - 8);
		word[len - 8] = 0;
		assert_true(strcmp(previous, word) < 0);
		memcpy(previous, word, sizeof(previous));
		assert_int_equal(count, counts[strtoul(strrchr(word, '-') + 1, NULL, 10)]);
		seen++;
	}
	assert_int_equal(rc, 0);
	assert_int_equal(seen, WORDS);
}

static void count_words(size_t memory, bool prefix, size_t records)
{
	uint64_t seed = 7, combined = 0, counts[WORDS] = { 0 };
	const struct spill_opts opts = { .memory = memory,
					 .folder = folder,
					 .compare = by_word,
					 .prefix = prefix ? word_prefix : NULL,
					 .combine = add_counts,
					 .ctx = &combined };
	struct spill *sp;

	assert_int_equal(spill_open(&sp, &opts), 0);
	for (size_t i = 0; i < records; i++) {
		const uint64_t word = i < WORDS ? i : draw(&seed) % WORDS, count = draw(&seed) % 100;
		char record[48];
		int len = snprintf(record + 8, sizeof(record) - 8, word % 2 ? "word-%d" : "another word-%d", (int)word);

		memcpy(record, &count, 8);
		counts[word] += count;
		assert_int_equal(spill_add(sp, record, 8 + (size_t)len), 0);
	}
	assert_int_equal(spill_sort(sp), 0);
	check_counts(sp, counts);
	assert_int_equal(combined, records - WORDS);
	if (records > 100000)
		assert_true(spill_bytes_written(sp) < records * 10);	/* runs hold each word once */
	spill_close(sp);
}

static void test_combine(void **state)
{
	(void)state;
	for (int prefix = 0; prefix < 2; prefix++) {
		count_words(4 * MIB, prefix, 5000);
		count_words(64 * KIB, prefix, 30000);
		count_words(128 * KIB, prefix, 120000);
	}
}

/* --- trouble ---------------------------------------------------------------------------- */

static int add_much(struct spill *sp, size_t bytes)
{
	char record[1000];

	memset(record, ':', sizeof(record));
	for (size_t i = 0; i < bytes / sizeof(record); i++)
		if (spill_add(sp, record, sizeof(record)))
			return -1;
	return 0;
}

static void test_no_folder(void **state)
{
	struct spill *sp;

	(void)state;
	sp = open_small("/nonexistent");
	assert_int_equal(add_much(sp, 200000), -1);
	assert_string_equal(err_text(), "cannot make a temporary file in '/nonexistent': No such file or directory");
	spill_close(sp);
	assert_int_equal(spill_open(&sp, &(struct spill_opts){ .memory = 64 * KIB - 1, .compare = by_key }), -1);
	assert_int_equal(err_code(), EXIT_USAGE);
	assert_null(sp);
	spill_close(sp);
}

static void test_no_space(void **state)
{
	struct rlimit old, limit;
	struct spill *sp;
	char expected[128];

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = old;
	limit.rlim_cur = 150000;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	sp = open_small(folder);
	assert_int_equal(add_much(sp, 1000000), -1);
	snprintf(expected, sizeof(expected), "cannot write temporary data in '%s': File too large", folder);
	assert_string_equal(err_text(), expected);
	spill_close(sp);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	signal(SIGXFSZ, SIG_DFL);
}

static void test_closes_early(void **state)
{
	struct spill *sp;
	const void *record;
	char **names;
	size_t len, n;

	(void)state;
	sp = open_small(folder);
	assert_int_equal(add_much(sp, 500000), 0);
	assert_int_equal(spill_sort(sp), 0);
	assert_int_equal(spill_next(sp, &record, &len), 1);
	assert_int_equal(fs_list(folder, &names, &n), 0);
	assert_int_equal(n, 0);		/* a kill leaves nothing */
	fs_free_names(names, n);
	spill_close(sp);
	spill_close(NULL);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

static size_t peak_memory(void)
{
	struct rusage u;

	assert_int_equal(getrusage(RUSAGE_SELF, &u), 0);
	return (size_t)u.ru_maxrss * KIB;
}

/* Must run first: what other tests used would hide what this one does. */
static void test_memory(void **state)
{
	const struct spill_opts opts = { .memory = 8 * MIB, .folder = folder, .threads = 2, .compare = by_key };
	uint64_t seed = 9;
	struct spill *sp;
	const void *record;
	size_t before, len, n = 0;
	char text[80];

	(void)state;
	if (SANITIZED) {
		print_message("peak memory is not measured under a sanitizer\n");
		skip();
	}
	before = peak_memory();
	assert_int_equal(spill_open(&sp, &opts), 0);
	for (; n < 1000000; n++) {
		int k = snprintf(text, sizeof(text), "%08x:%zu", (unsigned)draw(&seed), n);

		assert_int_equal(spill_add(sp, text, (size_t)k), 0);
	}
	assert_int_equal(spill_sort(sp), 0);
	while (spill_next(sp, &record, &len) > 0)
		n--;
	assert_int_equal(n, 0);
	spill_close(sp);
	if (peak_memory() > before + 8 * MIB + 512 * KIB)	/* the threads' stacks */
		fail_msg("%zu bytes more in use", peak_memory() - before);
}

/* Sorted in memory, records can be had in any order, before and after they are given one by one. */
static void test_held(void **state)
{
	const struct spill_opts opts = { .memory = MIB, .folder = folder, .compare = by_key };
	struct spill *sp;
	const void *record, *other;
	size_t len, other_len, n = 0;
	uint64_t seed = 3;
	char text[80];

	(void)state;
	assert_int_equal(spill_open(&sp, &opts), 0);
	assert_false(spill_is_held(sp));
	for (; n < 5000; n++)
		assert_int_equal(spill_add(sp, text, (size_t)snprintf(text, sizeof(text), "%08x:%zu", (unsigned)draw(&seed), n)), 0);
	assert_int_equal(spill_sort(sp), 0);
	assert_true(spill_is_held(sp));
	assert_int_equal(spill_held(sp), n);
	assert_in_range(spill_held_bytes(sp), n * (12 + 24), MIB);
	for (size_t i = 0; i < n; i++) {
		record = spill_record(sp, n - 1 - i, &len);
		assert_int_equal(spill_next(sp, &other, &other_len), 1);
		assert_ptr_equal(other, spill_record(sp, i, &len));
		assert_int_equal(len, other_len);
		assert_non_null(record);
	}
	assert_int_equal(spill_next(sp, &other, &other_len), 0);
	spill_close(sp);

	assert_int_equal(spill_open(&sp, &opts), 0);
	for (n = 0; n < 50000; n++)
		assert_int_equal(spill_add(sp, text, (size_t)snprintf(text, sizeof(text), "%08x:%zu", (unsigned)draw(&seed), n)), 0);
	assert_int_equal(spill_sort(sp), 0);
	assert_false(spill_is_held(sp));		/* runs were written */
	spill_close(sp);
}

static void test_prefix(void **state)
{
	(void)state;
	assert_true(spill_prefix("abcdefghi", 9) == 0x6162636465666768u);
	assert_true(spill_prefix("\xFF", 1) == 0xFF00000000000000u);
	assert_true(spill_prefix("", 0) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_in_memory),
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_passes),
		cmocka_unit_test(test_long_records),
		cmocka_unit_test(test_combine),
		cmocka_unit_test(test_no_folder),
		cmocka_unit_test(test_no_space),
		cmocka_unit_test(test_closes_early),
		cmocka_unit_test(test_held),
		cmocka_unit_test(test_prefix),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
