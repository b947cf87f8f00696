#include "base/out.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static char folder[] = "/tmp/test_out.XXXXXX";
static char *path;	/* of the file that most tests write */

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	path = fs_join(folder, "file");
	return path ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	free(path);
	return fs_remove_tree(folder);
}

/* Empties the folder, so that every test begins alike. */
static int clean(void **state)
{
	(void)state;
	return fs_remove_tree(folder) || mkdir(folder, 0700);
}

static size_t count_files(void)
{
	char **names;
	size_t n;

	assert_int_equal(fs_list(folder, &names, &n), 0);
	fs_free_names(names, n);
	return n;
}

static void put(const char *name, const char *text)
{
	FILE *f = fopen(name, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
	assert_int_equal(fclose(f), 0);
}

static void expect_text(const char *name, const char *want)
{
	struct buf b = BUF_INIT;

	assert_int_equal(fs_read_all(name, 1 << 20, &b), 0);
	assert_string_equal(b.data, want);
	buf_release(&b);
}

static unsigned mode_of(const char *name)
{
	struct stat st;

	assert_int_equal(stat(name, &st), 0);
	return st.st_mode & 07777;
}

static void test_commit(void **state)
{
	struct out *o;

	(void)state;
	put(path, "old");
	assert_int_equal(out_open(&o, path), 0);
	assert_string_equal(out_name(o), path);
	assert_false(out_is_terminal(o));
	assert_int_equal(out_write(o, "new", 3), 0);
	assert_int_equal(out_printf(o, " %d", 42), 0);
	assert_int_equal(out_flush(o), 0);
	assert_int_equal(out_offset(o), 6);
	expect_text(path, "old");
	assert_int_equal(count_files(), 2);
	assert_int_equal(out_commit(o), 0);
	expect_text(path, "new 42");
	assert_int_equal(count_files(), 1);
}

static void test_discard(void **state)
{
	struct out *o;

	(void)state;
	assert_int_equal(out_open(&o, path), 0);
	assert_int_equal(out_write(o, "x", 1), 0);
	out_discard(o);
	assert_int_equal(count_files(), 0);
	out_discard(NULL);
}

/* Sizes about the buffer's, and text longer than out_printf's own room. */
static void test_sizes(void **state)
{
	static const size_t sizes[] = { 0, 1, 65535, 65536, 131071, 131072, 131073, 400000 };
	const size_t n_sizes = sizeof(sizes) / sizeof(sizes[0]);
	char *block = malloc(400000);
	struct buf want = BUF_INIT, got = BUF_INIT;
	struct out *o;

	(void)state;
	assert_int_equal(out_open(&o, path), 0);
	for (size_t i = 0; i < n_sizes * n_sizes; i++) {
		const size_t n = sizes[i < n_sizes ? i : (i * 5) % n_sizes];

		memset(block, 'a' + (int)(i % 26), n);
		assert_int_equal(out_write(o, block, n), 0);
		assert_int_equal(buf_add(&want, block, n), 0);
		assert_int_equal(out_offset(o), want.len);
	}
	assert_int_equal(out_printf(o, "%0*d", 1000, 7), 0);
	assert_int_equal(buf_addf(&want, "%0*d", 1000, 7), 0);
	assert_int_equal(out_commit(o), 0);
	assert_int_equal(fs_read_all(path, want.len, &got), 0);
	assert_int_equal(got.len, want.len);
	assert_memory_equal(got.data, want.data, want.len);
	buf_release(&want);
	buf_release(&got);
	free(block);
}

static void test_write_at(void **state)
{
	struct out *o;

	(void)state;
	assert_int_equal(out_open(&o, path), 0);
	assert_int_equal(out_write(o, "......", 6), 0);
	assert_int_equal(out_write_at(o, 0, "ab", 2), 0);
	assert_int_equal(out_write(o, "end", 3), 0);
	assert_int_equal(out_write_at(o, 5, "cd", 2), 0);
	assert_int_equal(out_offset(o), 9);
	assert_int_equal(out_commit(o), 0);
	expect_text(path, "ab...cdnd");
}

static void test_modes(void **state)
{
	struct out *o;
	const mode_t mask = umask(027);

	(void)state;
	assert_int_equal(out_open(&o, path), 0);
	assert_int_equal(out_commit(o), 0);
	assert_int_equal(mode_of(path), 0640);
	assert_int_equal(chmod(path, 0604), 0);
	assert_int_equal(out_open(&o, path), 0);
	assert_int_equal(out_commit(o), 0);
	assert_int_equal(mode_of(path), 0604);
	umask(mask);
}

static void test_symbolic_link(void **state)
{
	char *link = fs_join(folder, "link");
	struct out *o;
	struct stat st;

	(void)state;
	put(path, "old");
	assert_int_equal(symlink("file", link), 0);
	assert_int_equal(out_open(&o, link), 0);
	assert_int_equal(out_write(o, "new", 3), 0);
	assert_int_equal(out_commit(o), 0);
	assert_int_equal(lstat(link, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	expect_text(path, "new");
	free(link);
}

static void test_dangling_link(void **state)
{
	char *link = fs_join(folder, "link"), *next = fs_join(folder, "next"), *round = fs_join(folder, "round");
	struct out *o;
	struct stat st;

	(void)state;
	assert_int_equal(symlink("next", link), 0);
	assert_int_equal(symlink(path, next), 0);
	assert_int_equal(symlink("round", round), 0);
	assert_int_equal(out_open(&o, link), 0);
	assert_int_equal(out_write(o, "new", 3), 0);
	assert_int_equal(out_commit(o), 0);
	assert_int_equal(lstat(link, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISREG(st.st_mode));
	expect_text(link, "new");
	assert_int_equal(out_open(&o, round), -1);
	assert_non_null(strstr(err_text(), round));
	free(link);
	free(next);
	free(round);
}

/* Several files: all on disk, the old one of the last gone, then their names. */
static void test_sync(void **state)
{
	char *other = fs_join(folder, "other");
	struct out *a, *b;

	(void)state;
	put(path, "old");
	put(other, "old");
	assert_int_equal(out_open(&a, path), 0);
	assert_int_equal(out_open(&b, other), 0);
	assert_int_equal(out_write(a, "new", 3) || out_write(b, "new", 3), 0);
	assert_int_equal(out_sync(a) || out_sync(b) || out_sync(a), 0);
	expect_text(path, "old");
	assert_int_equal(out_remove_old(b), 0);
	assert_int_equal(out_remove_old(b), 0);
	assert_false(fs_exists(other));
	assert_int_equal(out_commit(a), 0);
	assert_int_equal(out_write(b, "er", 2), 0);
	assert_int_equal(out_commit(b), 0);
	expect_text(path, "new");
	expect_text(other, "newer");
	assert_int_equal(count_files(), 2);
	assert_int_equal(out_open(&a, "/dev/null"), 0);
	assert_int_equal(out_sync(a) || out_remove_old(a) || out_commit(a), 0);
	assert_int_equal(access("/dev/null", W_OK), 0);
	free(other);
}

static void test_long_name(void **state)
{
	char name[256];
	char *long_path;
	struct out *o;

	(void)state;
	memset(name, 'n', 255);
	name[255] = 0;
	long_path = fs_join(folder, name);
	assert_int_equal(out_open(&o, long_path), 0);
	assert_int_equal(out_commit(o), 0);
	assert_int_equal(mode_of(long_path) & 0600, 0600);
	free(long_path);
}

static void test_refusals(void **state)
{
	struct out *o;

	(void)state;
	assert_int_equal(out_open(&o, folder), -1);
	assert_int_equal(err_code(), EXIT_FAILED);
	assert_non_null(strstr(err_text(), folder));
	assert_int_equal(out_open(&o, "/nonexistent/x"), -1);
	assert_non_null(strstr(err_text(), "'/nonexistent/x'"));
	assert_null(o);
	assert_int_equal(out_open(&o, ""), -1);
	assert_int_equal(out_open(&o, "/tmp/nonexistent/"), -1);
}

/* The folder goes away before the rename. */
static void test_failing_commit(void **state)
{
	char *inner = fs_join(folder, "inner"), *file = fs_join(folder, "inner/file");
	struct out *o;

	(void)state;
	assert_int_equal(mkdir(inner, 0700), 0);
	assert_int_equal(out_open(&o, file), 0);
	assert_int_equal(fs_remove_tree(inner), 0);
	assert_int_equal(out_commit(o), -1);
	assert_non_null(strstr(err_text(), file));
	out_discard(o);
	free(inner);
	free(file);
}

static void test_full_device(void **state)
{
	char block[200000] = { 0 };
	struct out *o;

	(void)state;
	assert_int_equal(out_open(&o, "/dev/full"), 0);
	assert_int_equal(out_write(o, "x", 1), 0);
	assert_int_equal(out_commit(o), -1);
	assert_int_equal(err_code(), EXIT_FAILED);
	assert_string_equal(err_text(), "cannot write '/dev/full': No space left on device");
	out_discard(o);

	assert_int_equal(out_open(&o, "/dev/full"), 0);
	assert_int_equal(out_write(o, block, sizeof(block)), -1);
	err_clear();
	assert_int_equal(out_commit(o), -1);	/* still failed, and it says so again */
	assert_string_equal(err_text(), "cannot write '/dev/full': No space left on device");
	out_discard(o);
	assert_true(access("/dev/full", W_OK) == 0);
}

/* A file that may grow no further, as on a full disk. */
static void test_no_room(void **state)
{
	struct rlimit before, limit;
	void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
	struct out *o;

	(void)state;
	put(path, "old");
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	limit.rlim_cur = 10;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(out_open(&o, path), 0);
	assert_int_equal(out_write(o, "more than ten bytes", 19), 0);
	assert_int_equal(out_commit(o), -1);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, handler);
	assert_non_null(strstr(err_text(), path));
	out_discard(o);
	expect_text(path, "old");
	assert_int_equal(count_files(), 1);
}

static void test_in_place(void **state)
{
	char *fifo = fs_join(folder, "fifo"), got[8] = { 0 };
	struct out *o;
	struct stat st;
	int fd;

	(void)state;
	assert_int_equal(mkfifo(fifo, 0600), 0);
	fd = open(fifo, O_RDONLY | O_NONBLOCK);
	assert_true(fd >= 0);
	assert_int_equal(out_open(&o, fifo), 0);
	assert_int_equal(out_write(o, "abc", 3), 0);
	assert_int_equal(out_write_at(o, 0, "x", 1), -1);
	assert_int_equal(out_commit(o), 0);
	assert_int_equal(read(fd, got, sizeof(got)), 3);
	assert_string_equal(got, "abc");
	assert_int_equal(stat(fifo, &st), 0);
	assert_true(S_ISFIFO(st.st_mode));
	assert_int_equal(count_files(), 1);
	close(fd);
	free(fifo);
}

/* /dev/fd/N is the open file itself: what it holds already stays. */
static void test_descriptor(void **state)
{
	char name[32];
	struct out *o;
	int fd = open(path, O_RDWR | O_CREAT, 0600);

	(void)state;
	assert_int_equal(write(fd, "first ", 6), 6);
	snprintf(name, sizeof(name), "/dev/fd/%d", fd);
	assert_int_equal(out_open(&o, name), 0);
	assert_int_equal(out_write(o, "second", 6), 0);
	assert_int_equal(out_commit(o), 0);
	assert_int_equal(fcntl(fd, F_GETFD) < 0, 0);	/* not ours to close */
	expect_text(path, "first second");
	assert_int_equal(count_files(), 1);
	close(fd);
	assert_int_equal(out_open(&o, name), -1);
}

/* --- signals and kills ------------------------------------------------------------ */

/* A child with three outputs begun, one finished, one given up; waits to be killed by SIG, whether or not we ignore it. Its process id. */
static pid_t start_writer(int sig)
{
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		static const char *const names[] = { "a", "b", "c", "d", "e" };
		struct out *o[5];

		if (sig != SIGKILL)
			signal(sig, SIG_DFL);
		tool_start();
		for (int i = 0; i < 5; i++) {
			char *name = fs_join(folder, names[i]);

			if (!name || out_open(&o[i], name) || out_write(o[i], "x", 1) || out_flush(o[i]))
				_exit(9);
			free(name);
		}
		out_discard(o[3]);
		if (out_commit(o[1]) || write(ready[1], "r", 1) != 1)
			_exit(9);
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

static void end_writer(pid_t pid, int signal)
{
	int status;

	assert_int_equal(kill(pid, signal), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), signal);
}

static void test_signals(void **state)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	char *b = fs_join(folder, "b");

	(void)state;
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		end_writer(start_writer(signals[i]), signals[i]);
		assert_int_equal(count_files(), 1);
		expect_text(b, "x");
	}
	free(b);
}

/* A forked child must not remove what its parent is writing. */
static void test_fork(void **state)
{
	struct out *o;
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(out_open(&o, path), 0);
	pid = fork();
	if (pid == 0) {
		out_remove_unfinished();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(count_files(), 1);
	assert_int_equal(out_commit(o), 0);
}

static void test_remove_unfinished(void **state)
{
	struct out *a, *b;
	char *other = fs_join(folder, "other");

	(void)state;
	errno = 77;
	assert_int_equal(out_open(&a, path), 0);
	assert_int_equal(out_open(&b, other), 0);
	assert_int_equal(count_files(), 2);
	errno = 77;
	out_remove_unfinished();
	assert_int_equal(errno, 77);
	assert_int_equal(count_files(), 0);
	assert_int_equal(out_commit(a), -1);
	out_discard(a);
	out_discard(b);
	free(other);
}

static void test_stale(void **state)
{
	static const char *const names[] = { ".tmp", ".x.tmp", ".x.1.tmp", "x.1.2.tmp", ".1.2.tmp", ".x.1.2.tm", ".x.a.2.tmp", ".x.1..tmp" };
	const size_t n = sizeof(names) / sizeof(names[0]);
	struct out *mine;
	char *name;
	pid_t alive;

	(void)state;
	alive = start_writer(SIGTERM);
	assert_int_equal(count_files(), 4);	/* a, c and e unfinished, b whole */
	end_writer(start_writer(SIGKILL), SIGKILL);
	assert_int_equal(out_open(&mine, path), 0);
	for (size_t i = 0; i < n; i++) {
		name = fs_join(folder, names[i]);
		put(name, "");
		free(name);
	}
	name = fs_join(folder, ".with.dots.99999999.0.tmp");
	put(name, "");
	assert_int_equal(count_files(), 4 + 3 + 1 + n + 1);
	assert_int_equal(out_remove_stale(folder), 0);
	assert_int_equal(count_files(), 1 + 3 + 1 + n);
	assert_int_equal(out_commit(mine), 0);
	end_writer(alive, SIGTERM);
	assert_int_equal(count_files(), 2 + n);
	assert_int_equal(out_remove_stale("/nonexistent"), -1);
	free(name);
}

/* Opening a file removes what killed writers of the same file left; not what others are at, or others left. */
static void test_stale_of_target(void **state)
{
	static const char *const others[] = { ".file.1.99999999.0.tmp", ".file2.99999999.0.tmp", ".fil.99999999.0.tmp" };
	const size_t n = sizeof(others) / sizeof(others[0]);
	char *stale = fs_join(folder, ".file.99999999.7.tmp");
	struct out *first, *second;

	(void)state;
	for (size_t i = 0; i < n; i++) {
		char *name = fs_join(folder, others[i]);

		put(name, "");
		free(name);
	}
	put(stale, "left");
	assert_int_equal(out_open(&first, path), 0);
	assert_false(fs_exists(stale));
	assert_int_equal(count_files(), n + 1);
	assert_int_equal(out_open(&second, path), 0);
	assert_int_equal(count_files(), n + 2);
	assert_int_equal(out_commit(first), 0);
	assert_int_equal(out_commit(second), 0);
	assert_int_equal(count_files(), n + 1);
	put(stale, "left");
	assert_int_equal(out_open_tidied(&first, path), 0);
	assert_true(fs_exists(stale));
	assert_int_equal(count_files(), n + 3);
	assert_int_equal(out_commit(first), 0);
	assert_int_equal(count_files(), n + 2);
	free(stale);
}

/* A file of our own process's number that another process holds (of another container, say) is passed by. */
static void test_taken_name(void **state)
{
	int held[300];
	struct out *o;

	(void)state;
	for (int i = 0; i < 300; i++) {
		char *name, text[64];

		snprintf(text, sizeof(text), ".file.%ld.%d.tmp", (long)getpid(), i);
		name = fs_join(folder, text);
		held[i] = open(name, O_WRONLY | O_CREAT, 0600);
		assert_true(held[i] >= 0);
		assert_int_equal(flock(held[i], LOCK_EX), 0);
		free(name);
	}
	assert_int_equal(out_open(&o, path), 0);
	assert_int_equal(out_write(o, "x", 1), 0);
	assert_int_equal(out_commit(o), 0);
	expect_text(path, "x");
	assert_int_equal(count_files(), 301);
	for (int i = 0; i < 300; i++)
		close(held[i]);
	assert_int_equal(out_remove_stale(folder), 0);
	assert_int_equal(count_files(), 1);
}

#define TEST(f) cmocka_unit_test_setup(f, clean)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_commit), TEST(test_discard), TEST(test_sizes), TEST(test_write_at), TEST(test_modes),
		TEST(test_symbolic_link), TEST(test_dangling_link), TEST(test_sync), TEST(test_long_name), TEST(test_refusals), TEST(test_failing_commit),
		TEST(test_full_device), TEST(test_no_room), TEST(test_in_place), TEST(test_descriptor), TEST(test_signals), TEST(test_fork),
		TEST(test_remove_unfinished), TEST(test_stale), TEST(test_stale_of_target), TEST(test_taken_name),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
