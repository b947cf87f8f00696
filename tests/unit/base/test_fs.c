#include "base/fs.h"

#include "base/err.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

/* Every test runs in a fresh folder. */
static int enter(void **state)
{
	char path[] = "/tmp/test_fs.XXXXXX";

	if (!mkdtemp(path) || chdir(path))
		return -1;
	*state = strdup(path);
	return *state ? 0 : -1;
}

static int leave(void **state)
{
	int rc = chdir("/") || fs_remove_tree(*state) || fs_exists(*state);

	free(*state);
	return rc;
}

static void write_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fputs(text, f) < 0, 0);
	assert_int_equal(fclose(f), 0);
}

static void test_join(void **state)
{
	static const char *const cases[][3] = {
		{ "a", "b", "a/b" }, { "a/", "b", "a/b" }, { "", "b", "b" }, { "/", "b", "/b" }, { "a", "", "a/" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *p = fs_join(cases[i][0], cases[i][1]);

		assert_string_equal(p, cases[i][2]);
		free(p);
	}
}

static void test_size(void **state)
{
	uint64_t n = 0;

	(void)state;
	write_text("f", "hello");
	assert_true(fs_exists("f"));
	assert_false(fs_exists("g"));
	assert_int_equal(fs_size("f", &n), 0);
	assert_int_equal(n, 5);
	assert_int_equal(fs_size("g", &n), -1);
	assert_string_equal(err_text(), "cannot read 'g': No such file or directory");
	assert_int_equal(fs_size(".", &n), -1);
	assert_string_equal(err_text(), "cannot read '.': not a regular file");
}

static void test_make_folder(void **state)
{
	(void)state;
	assert_int_equal(fs_make_folder("a/b//c/"), 0);
	assert_int_equal(fs_make_folder("a/b/c"), 0);
	assert_int_equal(fs_make_folder("a/b/c/d"), 0);
	assert_int_equal(fs_make_folder("/tmp"), 0);
	assert_int_equal(fs_make_folder("/"), 0);
	assert_int_equal(fs_make_folder("."), 0);
	assert_true(fs_exists("a/b/c/d"));
	write_text("f", "");
	assert_int_equal(fs_make_folder("f"), -1);
	assert_string_equal(err_text(), "cannot make folder 'f': Not a directory");
	assert_int_equal(fs_make_folder("f/g"), -1);
	assert_string_equal(err_text(), "cannot make folder 'f/g': Not a directory");
	assert_int_equal(fs_make_folder(""), -1);
	assert_int_equal(symlink("a", "link"), 0);
	assert_int_equal(fs_make_folder("link/x"), 0);
	assert_true(fs_exists("a/x"));
	assert_int_equal(fs_sync_folder("a"), 0);
	assert_int_equal(fs_sync_folder("nowhere"), -1);
	assert_int_equal(fs_sync_folder("f"), -1);
}

static void test_read_all(void **state)
{
	struct buf b = BUF_INIT;
	char *large = malloc(300001);

	(void)state;
	assert_non_null(large);
	write_text("f", "hello");
	write_text("empty", "");
	assert_int_equal(fs_read_all("f", 5, &b), 0);
	assert_int_equal(fs_read_all("f", 100, &b), 0);
	assert_int_equal(fs_read_all("empty", 0, &b), 0);
	assert_string_equal(b.data, "hellohello");
	assert_int_equal(fs_read_all("f", 4, &b), -1);
	assert_string_equal(err_text(), "cannot read 'f': longer than 4 bytes");
	assert_int_equal(err_code(), EXIT_CORRUPT);
	assert_int_equal(fs_read_all("g", 4, &b), -1);
	assert_int_equal(fs_read_all(".", 4, &b), -1);
	assert_string_equal(b.data, "hellohello");	/* failures add nothing */
	assert_int_equal(b.len, 10);
	memset(large, 'x', 300000);
	large[300000] = 0;
	write_text("large", large);
	buf_clear(&b);
	assert_int_equal(fs_read_all("large", 299999, &b), -1);
	assert_int_equal(fs_read_all("large", SIZE_MAX, &b), 0);
	assert_int_equal(b.len, 300000);
	assert_string_equal(b.data, large);
	assert_int_equal(fs_read_all("/dev/zero", 1000, &b), -1);
	buf_release(&b);
	free(large);
}

static void test_write_all(void **state)
{
	struct buf b = BUF_INIT;
	char **names;
	size_t n;

	(void)state;
	assert_int_equal(fs_write_all("f", "one", 3), 0);
	assert_int_equal(fs_write_all("f", "a\0b", 3), 0);
	assert_int_equal(fs_read_all("f", 10, &b), 0);
	assert_int_equal(b.len, 3);
	assert_memory_equal(b.data, "a\0b", 3);
	assert_int_equal(fs_write_all("nowhere/f", "one", 3), -1);
	assert_non_null(strstr(err_text(), "nowhere/f"));
	assert_int_equal(fs_list(".", &names, &n), 0);
	assert_int_equal(n, 1);			/* no temporary is left */
	fs_free_names(names, n);
	buf_release(&b);
}

static void test_remove_tree(void **state)
{
	struct stat st;

	(void)state;
	assert_int_equal(fs_make_folder("kept/inside"), 0);
	write_text("kept/file", "");
	assert_int_equal(fs_make_folder("t/a/b/c"), 0);
	write_text("t/.hidden", "");
	write_text("t/a/f", "");
	assert_int_equal(symlink("../../kept", "t/a/link"), 0);
	assert_int_equal(symlink("nowhere", "t/a/broken"), 0);
	assert_int_equal(symlink("kept", "top"), 0);
	assert_int_equal(mkfifo("t/fifo", 0600), 0);
	assert_int_equal(fs_remove_tree("t"), 0);
	assert_false(fs_exists("t"));
	assert_true(fs_exists("kept/inside"));
	assert_true(fs_exists("kept/file"));
	assert_int_equal(fs_remove_tree("top"), 0);	/* the link, not what it points to */
	assert_int_not_equal(lstat("top", &st), 0);
	assert_true(fs_exists("kept/file"));
	assert_int_equal(fs_remove_tree("t"), 0);	/* absent */
	assert_int_equal(fs_remove_tree("kept/file"), 0);
	assert_false(fs_exists("kept/file"));
	assert_int_equal(fs_remove_tree("kept/inside/."), -1);
	assert_int_equal(fs_remove_tree("kept"), 0);
}

static void test_list(void **state)
{
	static const char *const want[] = { ".dot", "10", "9", "B", "a", "\xC3\xA9" };
	char **names;
	size_t n;

	(void)state;
	assert_int_equal(fs_list(".", &names, &n), 0);
	assert_int_equal(n, 0);
	fs_free_names(names, n);
	for (size_t i = 0; i < 6; i++)
		write_text(want[5 - i], "");
	assert_int_equal(fs_list(".", &names, &n), 0);
	assert_int_equal(n, 6);
	for (size_t i = 0; i < 6; i++)
		assert_string_equal(names[i], want[i]);
	fs_free_names(names, n);
	fs_free_names(NULL, 0);
	assert_int_equal(fs_list("nowhere", &names, &n), -1);
	assert_string_equal(err_text(), "cannot read folder 'nowhere': No such file or directory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_join),
		cmocka_unit_test_setup_teardown(test_size, enter, leave),
		cmocka_unit_test_setup_teardown(test_make_folder, enter, leave),
		cmocka_unit_test_setup_teardown(test_read_all, enter, leave),
		cmocka_unit_test_setup_teardown(test_write_all, enter, leave),
		cmocka_unit_test_setup_teardown(test_remove_tree, enter, leave),
		cmocka_unit_test_setup_teardown(test_list, enter, leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
