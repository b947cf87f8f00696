/* Bytes read and mapped are the same; what cannot be had is an error, not a signal. */
#include "base/file_view.h"
#include "base/err.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

enum { SIZE = 300000 };

static char path[] = "/tmp/bert-test-view-XXXXXX";
static const unsigned accesses[] = { 0, FILE_VIEW_SCATTERED, FILE_VIEW_MAPPED, FILE_VIEW_MAPPED | FILE_VIEW_SCATTERED };

static unsigned char byte_at(size_t i)
{
	return (unsigned char)(i * 31 + i / 251);
}

/* Makes the file anew; it keeps its inode. */
static int make(void **state)
{
	FILE *f = fopen(path, "wb");

	(void)state;
	for (size_t i = 0; f && i < SIZE; i++)
		putc(byte_at(i), f);
	return f ? fclose(f) : -1;
}

static int make_name(void **state)
{
	const int fd = mkstemp(path);

	(void)state;
	return fd < 0 ? -1 : close(fd);
}

static int drop_name(void **state)
{
	(void)state;
	return unlink(path);
}

static void check(const unsigned char *p, size_t from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_int_equal(p[i], byte_at(from + i));
}

static void same_bytes(void **state)
{
	static const size_t at[] = { 0, 1, 4095, 4096, 8191, 100000, SIZE - 70001, SIZE - 1 };
	static unsigned char a[30000], b[40000];

	(void)state;
	for (unsigned k = 0; k < 4; k++) {
		struct file_view v;

		assert_int_equal(file_view_open(&v, path, accesses[k]), 0);
		assert_int_equal(v.size, SIZE);
		assert_true(file_view_mapped(&v) == !!(accesses[k] & FILE_VIEW_MAPPED));
		for (unsigned i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
			const size_t left = SIZE - at[i], n_a = left < sizeof(a) ? left : sizeof(a);
			const size_t n_b = left - n_a < sizeof(b) ? left - n_a : sizeof(b);

			assert_int_equal(file_view_read(&v, at[i], a, n_a, b, n_b), 0);
			check(a, at[i], n_a);
			check(b, at[i] + n_a, n_b);
		}
		assert_int_equal(file_view_read(&v, SIZE, a, 0, NULL, 0), 0);
		assert_int_equal(file_view_read(&v, SIZE - 1, a, 2, NULL, 0), -1);
		assert_int_equal(err_code(), EXIT_CORRUPT);
		assert_non_null(strstr(err_text(), "ends early (cut short?) at byte 300000"));
		file_view_close(&v);
	}
}

/* A file that becomes shorter under a map: within a page, and by pages. */
static void cut_while_open(void **state)
{
	static const off_t cuts[] = { 99999, 99998, 98304, 50000, 0 };
	static unsigned char a[SIZE];

	(void)state;
	for (unsigned k = 0; k < 4; k++) {
		struct file_view v;

		assert_int_equal(make(NULL), 0);
		assert_int_equal(file_view_open(&v, path, accesses[k]), 0);
		assert_int_equal(file_view_read(&v, 0, a, SIZE, NULL, 0), 0);
		for (unsigned i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
			assert_int_equal(truncate(path, cuts[i]), 0);
			assert_int_equal(file_view_read(&v, 0, a, 100000, NULL, 0), -1);
			assert_int_equal(err_code(), EXIT_CORRUPT);
			assert_non_null(strstr(err_text(), "ends early"));
			assert_int_equal(file_view_read(&v, 0, a, (size_t)cuts[i], NULL, 0), 0);
			check(a, 0, (size_t)cuts[i]);
		}
		file_view_close(&v);
	}
	assert_int_equal(make(NULL), 0);
}

/* Where there is no room for a map, the file is read. */
static void no_room_for_a_map(void **state)
{
	pid_t child;
	int status;

	(void)state;
	assert_int_equal(truncate(path, (off_t)8 << 30), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		const struct rlimit limit = { (rlim_t)4 << 30, (rlim_t)4 << 30 };
		unsigned char bytes[100];
		struct file_view v;

		if (setrlimit(RLIMIT_AS, &limit) || file_view_open(&v, path, FILE_VIEW_MAPPED))
			_exit(1);
		if (file_view_mapped(&v) || file_view_read(&v, 5000, bytes, sizeof(bytes), NULL, 0) || bytes[0] != byte_at(5000))
			_exit(2);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(make(NULL), 0);
}

static void refuses(void **state)
{
	(void)state;
	for (unsigned k = 0; k < 4; k++) {
		struct file_view v;

		assert_int_equal(file_view_open(&v, "/tmp", accesses[k]), -1);
		assert_non_null(strstr(err_text(), "not a regular file"));
		file_view_close(&v);
		assert_int_equal(file_view_open(&v, "/nonexistent/x", accesses[k]), -1);
		file_view_close(&v);
	}
}

/* Nothing of it can be mapped. */
static void empty_file(void **state)
{
	struct file_view v;
	char c;

	(void)state;
	assert_int_equal(truncate(path, 0), 0);
	assert_int_equal(file_view_open(&v, path, FILE_VIEW_MAPPED), 0);
	assert_int_equal(file_view_read(&v, 0, &c, 1, NULL, 0), -1);
	file_view_close(&v);
	assert_int_equal(make(NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(same_bytes, make), cmocka_unit_test(cut_while_open),
		cmocka_unit_test_setup(no_room_for_a_map, make), cmocka_unit_test(refuses), cmocka_unit_test(empty_file),
	};

	return cmocka_run_group_tests(tests, make_name, drop_name);
}
