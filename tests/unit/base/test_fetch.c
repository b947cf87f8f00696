/* Sums, and fetching from files; what needs a server is in tests/cli/bert-fetch.bats. */
#include "base/fetch.h"

#include "base/err.h"
#include "base/fs.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static char folder[] = "/tmp/test_fetch.XXXXXX";
static char *source, *target, *part, *url;

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	source = fs_join(folder, "a %source");
	target = fs_join(folder, "target");
	part = fs_join(folder, ".target.part");
	return asprintf(&url, "file://%s/a%%20%%25source", folder) < 0 || !source || !target || !part;
}

static int tear_down(void **state)
{
	(void)state;
	free(source);
	free(target);
	free(part);
	free(url);
	return fs_remove_tree(folder);
}

static int clean(void **state)
{
	(void)state;
	return fs_remove_tree(folder) || mkdir(folder, 0700);
}

static void put(const char *path, size_t n, int salt)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	for (size_t i = 0; i < n; i++)
		assert_true(putc((int)(i * 7 + i / 251 + (size_t)salt) & 0xff, f) != EOF);
	assert_int_equal(fclose(f), 0);
}

static void expect_files(size_t want)
{
	char **names;
	size_t n;

	assert_int_equal(fs_list(folder, &names, &n), 0);
	assert_int_equal(n, want);
	fs_free_names(names, n);
}

static void expect_same(void)
{
	char a[FETCH_DIGEST_MAX], b[FETCH_DIGEST_MAX];

	assert_int_equal(fetch_digest(source, FETCH_SUM_SHA256, a), 0);
	assert_int_equal(fetch_digest(target, FETCH_SUM_SHA256, b), 0);
	assert_string_equal(a, b);
}

/* "abc", as RFC 1321 and FIPS 180 give it. */
static void test_digests(void **state)
{
	char out[FETCH_DIGEST_MAX];

	(void)state;
	assert_int_equal(fs_write_all(target, "abc", 3), 0);
	assert_int_equal(fetch_digest(target, FETCH_SUM_MD5, out), 0);
	assert_string_equal(out, "900150983cd24fb0d6963f7d28e17f72");
	assert_int_equal(fetch_digest(target, FETCH_SUM_SHA1, out), 0);
	assert_string_equal(out, "a9993e364706816aba3e25717850c26c9cd0d89d");
	assert_int_equal(fetch_digest(target, FETCH_SUM_SHA256, out), 0);
	assert_string_equal(out, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	assert_int_equal(fetch_digest("/nonexistent", FETCH_SUM_MD5, out), -1);
	assert_non_null(strstr(err_text(), "'/nonexistent'"));
	assert_int_equal(fetch_digest(folder, FETCH_SUM_MD5, out), -1);
}

static void test_names(void **state)
{
	(void)state;
	for (enum fetch_sum s = FETCH_SUM_MD5; s <= FETCH_SUM_SHA256; s++)
		assert_int_equal(fetch_sum_of(fetch_sum_name(s), strlen(fetch_sum_name(s))), s);
	assert_int_equal(fetch_sum_of("sha1", 3), FETCH_SUM_NONE);
	assert_int_equal(fetch_sum_of("sha512", 6), FETCH_SUM_NONE);
	assert_true(fetch_is_digest(FETCH_SUM_MD5, "900150983cd24fb0D6963F7D28E17F72"));
	assert_false(fetch_is_digest(FETCH_SUM_MD5, "900150983cd24fb0d6963f7d28e17f7"));
	assert_false(fetch_is_digest(FETCH_SUM_MD5, "900150983cd24fb0d6963f7d28e17f722"));
	assert_false(fetch_is_digest(FETCH_SUM_MD5, "900150983cd24fb0d6963f7d28e17f7g"));
	assert_false(fetch_is_digest(FETCH_SUM_NONE, ""));
}

static void test_copy(void **state)
{
	struct fetch f = { .url = url, .path = target };

	(void)state;
	put(source, 3000000, 0);
	assert_int_equal(fetch_file(&f), 0);
	assert_int_equal(f.bytes, 3000000);
	assert_int_equal(f.resumed, 0);
	assert_false(f.kept);
	expect_same();
	expect_files(2);
	assert_int_equal(fetch_file(&f), 0);
	assert_true(f.kept);
	assert_int_equal(f.bytes, 3000000);
	put(source, 3000001, 0);
	assert_int_equal(fetch_file(&f), 0);
	assert_false(f.kept);
	expect_same();
}

static int fetch_at_most(struct fetch *f, rlim_t bytes)
{
	struct rlimit before, limit;
	void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
	int rc;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	limit.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	rc = fetch_file(f);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, handler);
	return rc;
}

/* A disk that is full in the midst of it leaves a part, and the next try goes on from there. */
static void test_resume(void **state)
{
	struct fetch f = { .url = url, .path = target };
	uint64_t size;

	(void)state;
	put(source, 3000000, 0);
	assert_int_equal(fetch_at_most(&f, 2000000), -1);
	assert_int_equal(err_code(), EXIT_FAILED);
	assert_false(fs_exists(target));
	assert_int_equal(fs_size(part, &size), 0);
	assert_int_equal(size, 2000000);
	assert_int_equal(fetch_file(&f), 0);
	assert_int_equal(f.resumed, 2000000);
	assert_int_equal(f.bytes, 3000000);
	expect_same();
	expect_files(2);
}

/* What has changed meanwhile is fetched from its begin. */
static void test_changed(void **state)
{
	struct fetch f = { .url = url, .path = target };

	(void)state;
	put(source, 3000000, 0);
	assert_int_equal(fetch_at_most(&f, 2000000), -1);
	put(source, 3000002, 1);
	assert_int_equal(fetch_file(&f), 0);
	assert_int_equal(f.resumed, 0);
	expect_same();
}

static void test_wrong_sum(void **state)
{
	struct fetch f = { .url = url, .path = target, .sum = FETCH_SUM_MD5, .digest = "00000000000000000000000000000000" };

	(void)state;
	put(source, 1000, 0);
	put(target, 10, 0);
	assert_int_equal(fetch_file(&f), -1);
	assert_int_equal(err_code(), EXIT_CORRUPT);
	assert_non_null(strstr(err_text(), url));
	expect_files(2);
	f.digest = "0";
	assert_int_equal(fetch_file(&f), -1);
	assert_int_equal(err_code(), EXIT_USAGE);
}

static void test_refusals(void **state)
{
	static const struct {
		const char *url;
		enum exit_code code;
	} cases[] = {
		{ "file:///nonexistent", EXIT_FAILED }, { "file:///", EXIT_FAILED }, { "file:///dev/null", EXIT_FAILED },
		{ "file://host/a", EXIT_USAGE }, { "file:a", EXIT_USAGE }, { "ftp://a/b", EXIT_USAGE }, { "a", EXIT_USAGE }, { "", EXIT_USAGE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fetch f = { .url = cases[i].url, .path = target };

		assert_int_equal(fetch_file(&f), -1);
		assert_int_equal(err_code(), cases[i].code);
		assert_non_null(strstr(err_text(), cases[i].url));
	}
	expect_files(0);
	put(source, 10, 0);
	assert_int_equal(fetch_file(&(struct fetch){ .url = url, .path = folder }), -1);
	assert_int_equal(fetch_file(&(struct fetch){ .url = url, .path = "/nonexistent/a" }), -1);
	assert_non_null(strstr(err_text(), "/nonexistent/"));
}

#define TEST(f) cmocka_unit_test_setup(f, clean)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_digests), TEST(test_names), TEST(test_copy), TEST(test_resume), TEST(test_changed), TEST(test_wrong_sum),
		TEST(test_refusals),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
