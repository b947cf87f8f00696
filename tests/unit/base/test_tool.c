#include "base/tool.h"

#include "base/args.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/out.h"
#include "tests/unit/base/capture.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static int fail_corrupt(void *arg)
{
	(void)arg;
	log_open("bert-x", LOG_ERROR);
	tool_start();
	err_corrupt("'f' is cut short");
	return tool_fail();
}

static int fail_unsaid(void *arg)
{
	(void)arg;
	log_open("bert-x", LOG_ERROR);
	err_clear();
	return tool_fail();
}

static void test_fail(void **state)
{
	struct capture c = { 0 };

	(void)state;
	capture_run(&c, fail_corrupt, NULL);
	assert_int_equal(c.exit_status, EXIT_CORRUPT);
	assert_string_equal(c.err, "bert-x: 'f' is cut short\n");
	capture_run(&c, fail_unsaid, NULL);
	assert_int_equal(c.exit_status, EXIT_FAILED);
	assert_non_null(strstr(c.err, "bert-x: "));
}

/* As a program would: parses its arguments, prints, finishes. */
static int whole_program(void *arg)
{
	static struct args_common common;
	const struct arg table[] = { ARG_COMMON(&common), ARG_END };
	struct args a = { .synopsis = "bert-x [options]", .about = "About.", .table = table, .common = &common };
	char name[] = "/bin/bert-x", verbose[] = "-v", threads[] = "--threads=1";
	char *argv[] = { name, threads, verbose, NULL };
	int rc = args_parse(&a, *(const bool *)arg ? 3 : 2, argv);

	if (rc != ARGS_RUN)
		return rc;
	tool_start();
	puts("data");
	return tool_finish("%d lines in, %d out", 7, 8);
}

static void test_finish(void **state)
{
	struct capture c = { 0 };
	bool verbose = false;

	(void)state;
	capture_run(&c, whole_program, &verbose);
	assert_int_equal(c.exit_status, 0);
	assert_string_equal(c.out, "data\n");
	assert_string_equal(c.err, "");
	verbose = true;
	capture_run(&c, whole_program, &verbose);
	assert_int_equal(c.exit_status, 0);
	assert_string_equal(c.out, "data\n");
	assert_memory_equal(c.err, "bert-x: 7 lines in, 8 out; ", 27);
	assert_non_null(strstr(c.err, " s real, "));
	assert_non_null(strstr(c.err, " s cpu, "));
	assert_non_null(strstr(c.err, " MiB peak; berttools " BERTTOOLS_VERSION ": bert-x --threads=1 -v\n"));
}

static void test_full_disk(void **state)
{
	struct capture c = { .stdout_path = "/dev/full" };
	bool verbose = true;

	(void)state;
	capture_run(&c, whole_program, &verbose);
	assert_int_equal(c.exit_status, EXIT_FAILED);
	assert_string_equal(c.err, "bert-x: cannot write to standard output: No space left on device\n");
}

/* The error came before the last flush, and its errno is gone. */
static int fail_early(void *arg)
{
	(void)arg;
	log_open("bert-x", LOG_WARN);
	tool_start();
	puts("data");
	fflush(stdout);
	errno = 0;
	return tool_finish("%d", 0);
}

static void test_earlier_error(void **state)
{
	struct capture c = { .stdout_path = "/dev/full" };

	(void)state;
	capture_run(&c, fail_early, NULL);
	assert_int_equal(c.exit_status, EXIT_FAILED);
	assert_string_equal(c.err, "bert-x: cannot write to standard output\n");
}

static int closed_stdout(void *arg)
{
	log_open("bert-x", LOG_WARN);
	close(STDOUT_FILENO);
	tool_start();
	if (*(const bool *)arg)
		puts("data");
	return tool_finish("%d", 0);
}

static void test_closed_stdout(void **state)
{
	struct capture c = { 0 };
	bool writes = false;

	(void)state;
	capture_run(&c, closed_stdout, &writes);
	assert_int_equal(c.exit_status, 0);
	writes = true;
	capture_run(&c, closed_stdout, &writes);
	assert_int_equal(c.exit_status, EXIT_FAILED);
	assert_non_null(strstr(c.err, "cannot write to standard output"));
}

/* Descriptors that the caller closed are taken, so that no output gets their numbers; using them fails. */
static int open_with_none(void *arg)
{
	char byte;

	(void)arg;
	for (int fd = 0; fd <= 2; fd++)
		close(fd);
	tool_start();
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			return 1;
	return read(0, &byte, 1) < 0 && write(1, "x", 1) < 0 && write(2, "x", 1) < 0 ? 0 : 2;
}

static void test_closed_descriptors(void **state)
{
	struct capture c = { 0 };

	(void)state;
	capture_run(&c, open_with_none, NULL);
	assert_int_equal(c.exit_status, 0);
}

struct dying {
	const char *folder;
	int sig;
	bool ignored;
};

static int die(void *arg)
{
	const struct dying *d = arg;
	char *path = fs_join(d->folder, "result");
	struct out *o;

	signal(d->sig, d->ignored ? SIG_IGN : SIG_DFL);
	tool_start();
	if (!path || out_open(&o, path) || out_write(o, "half", 4) || out_flush(o))
		return 1;
	raise(d->sig);
	out_discard(o);
	free(path);
	return 0;
}

static void check_empty(const char *folder)
{
	char **names;
	size_t n;

	assert_int_equal(fs_list(folder, &names, &n), 0);
	assert_int_equal(n, 0);
	fs_free_names(names, n);
}

static void test_signals(void **state)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	char folder[] = "/tmp/test_tool.XXXXXX";
	struct capture c = { 0 };

	(void)state;
	assert_non_null(mkdtemp(folder));
	for (size_t i = 0; i < 3; i++) {
		struct dying d = { folder, signals[i], false };

		capture_run(&c, die, &d);
		assert_int_equal(c.signal, signals[i]);
		check_empty(folder);
		d.ignored = true;
		capture_run(&c, die, &d);
		assert_int_equal(c.exit_status, 0);
		check_empty(folder);
	}
	assert_int_equal(fs_remove_tree(folder), 0);
}

static int write_to_nobody(void *arg)
{
	int fds[2];

	(void)arg;
	signal(SIGPIPE, SIG_IGN);	/* as some callers leave it */
	tool_start();
	if (pipe(fds) || dup2(fds[1], STDOUT_FILENO) < 0 || close(fds[1]) || close(fds[0]))
		return 1;
	puts("data");
	return tool_finish("%d", 0);
}

static void test_closed_pipe(void **state)
{
	struct capture c = { 0 };

	(void)state;
	capture_run(&c, write_to_nobody, NULL);
	assert_int_equal(c.signal, SIGPIPE);
	assert_string_equal(c.err, "");
}

static int version(void *arg)
{
	(void)arg;
	if (tool_print_version("bert-x"))
		return tool_fail();
	return 0;
}

static void test_version(void **state)
{
	struct capture c = { 0 };

	(void)state;
	capture_run(&c, version, NULL);
	assert_int_equal(c.exit_status, 0);
	assert_ptr_equal(strstr(c.out, "bert-x (berttools) " BERTTOOLS_VERSION "\nwith: "), c.out);
	assert_non_null(strstr(c.out, "\nwithout: cuda, mpi"));
	assert_non_null(strstr(c.out, "onednn"));
	assert_non_null(strstr(c.out, "\nprocessor: "));
	assert_non_null(strstr(c.out, "zstd 1."));
	assert_string_equal(c.err, "");
	c.stdout_path = "/dev/full";
	capture_run(&c, version, NULL);
	assert_int_equal(c.exit_status, EXIT_FAILED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fail),
		cmocka_unit_test(test_finish),
		cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_earlier_error),
		cmocka_unit_test(test_closed_stdout),
		cmocka_unit_test(test_closed_descriptors),
		cmocka_unit_test(test_signals),
		cmocka_unit_test(test_closed_pipe),
		cmocka_unit_test(test_version),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
