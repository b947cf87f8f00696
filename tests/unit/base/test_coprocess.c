#include "base/coprocess.h"

#include "base/err.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

/* Sends all of TEXT through COMMAND; what comes back to OUT, how it ended is returned. */
static int pass(const char *command, const char *text, size_t len, struct buf *out)
{
	struct coprocess *p;
	size_t at = 0;
	int event, rc = -1;

	buf_clear(out);
	assert_int_equal(buf_reserve(out, 1), 0);
	assert_int_equal(coprocess_start(&p, command), 0);
	do {
		if (at == len)
			coprocess_close_input(p);
		event = coprocess_wait(p, at < len, out);
		if (event == COPROCESS_TAKES)
			at += coprocess_write(p, text + at, len - at);
	} while (event > 0);
	if (!event)
		rc = coprocess_end(p);
	coprocess_free(p);
	return rc;
}

static void expect_failure(const char *command, const char *reason)
{
	static char text[1 << 20];
	struct buf out = BUF_INIT;

	memset(text, 'x', sizeof(text));
	assert_int_equal(pass(command, text, sizeof(text), &out), -1);
	assert_int_equal(err_code(), EXIT_FAILED);
	if (!strstr(err_text(), reason))
		fail_msg("'%s' lacks '%s'", err_text(), reason);
	buf_release(&out);
}

static void text_comes_back_changed(void **state)
{
	struct buf out = BUF_INIT;

	(void)state;
	assert_int_equal(pass("tr a-z A-Z", "one\ntwo", 7, &out), 0);
	assert_string_equal(out.data, "ONE\nTWO");
	assert_int_equal(pass("cat; echo end | cat", "", 0, &out), 0);
	assert_string_equal(out.data, "end\n");
	buf_release(&out);
}

/* More than pipes hold, to a program that gives nothing before the end, one that gives all at once, and one that doubles it. */
static void neither_end_blocks_the_other(void **state)
{
	enum { SIZE = 3 << 20 };
	char *text = malloc(SIZE);
	struct buf out = BUF_INIT;

	(void)state;
	for (size_t i = 0; i < SIZE; i++)
		text[i] = i % 64 == 63 ? '\n' : (char)('a' + i % 23);
	assert_int_equal(pass("cat", text, SIZE, &out), 0);
	assert_int_equal(out.len, SIZE);
	assert_memory_equal(out.data, text, SIZE);
	assert_int_equal(pass("tail -n +1 | sort", text, SIZE, &out), 0);
	assert_int_equal(out.len, SIZE);
	assert_int_equal(pass("awk '{ print; print }'", text, SIZE, &out), 0);
	assert_int_equal(out.len, 2 * SIZE);
	buf_release(&out);
	free(text);
}

/* The text is more than a pipe holds, so these all end before they are given everything. */
static void how_it_ended_is_told(void **state)
{
	(void)state;
	expect_failure("head -c 10 >/dev/null; exit 3", "ended with status 3");
	expect_failure("kill -9 $$", "ended by signal 9");
	expect_failure("/nonexistent/program 2>/dev/null", "'/nonexistent/program 2>/dev/null' ended with status 127");
}

static void one_that_wants_no_more_is_deaf(void **state)
{
	static char text[1 << 20];
	struct buf out = BUF_INIT;
	struct coprocess *p;
	int event;

	(void)state;
	assert_int_equal(coprocess_start(&p, "head -c 3; exec <&-"), 0);
	while ((event = coprocess_wait(p, true, &out)) > 0)
		if (event == COPROCESS_TAKES)
			coprocess_write(p, text, sizeof(text));
	assert_int_equal(event, COPROCESS_ENDED);
	assert_int_equal(out.len, 3);
	assert_int_equal(coprocess_write(p, text, 1), 0);
	assert_true(coprocess_is_deaf(p));
	assert_int_equal(coprocess_write(p, text, 1), 0);
	assert_int_equal(coprocess_end(p), 0);
	coprocess_free(p);
	buf_release(&out);
}

static void signals_here_stay_as_they_were(void **state)
{
	struct sigaction sa;
	struct buf out = BUF_INIT;
	sigset_t blocked;

	(void)state;
	signal(SIGCHLD, SIG_IGN);
	expect_failure("exec <&-; exit 7", "ended with status 7");		/* not lost, though SIGCHLD was ignored */
	assert_int_equal(sigaction(SIGPIPE, NULL, &sa), 0);
	assert_true(sa.sa_handler == SIG_DFL);
	assert_int_equal(sigprocmask(SIG_BLOCK, NULL, &blocked), 0);
	assert_int_equal(sigismember(&blocked, SIGPIPE), 0);
	assert_int_equal(pass("trap - PIPE; (yes; kill -l $? >&2) 2>/dev/null | head -n 1", "", 0, &out), 0);
	assert_string_equal(out.data, "y\n");
	buf_release(&out);
}

/* Whether the process of this id is there, dead or alive. */
static bool is_there(pid_t pid)
{
	return !kill(pid, 0);
}

static void nothing_is_left_of_one_that_is_freed(void **state)
{
	struct buf out = BUF_INIT;
	struct coprocess *p;
	pid_t pid;

	(void)state;
	assert_int_equal(coprocess_start(&p, "echo $$; exec sleep 1000"), 0);
	while (!memchr(out.data ? out.data : "", '\n', out.len))
		assert_int_equal(coprocess_wait(p, false, &out), COPROCESS_GAVE);
	pid = (pid_t)strtol(out.data, NULL, 10);
	assert_true(is_there(pid));
	coprocess_free(p);
	assert_false(is_there(pid));
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	coprocess_free(NULL);
	buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_comes_back_changed),
		cmocka_unit_test(neither_end_blocks_the_other),
		cmocka_unit_test(how_it_ended_is_told),
		cmocka_unit_test(one_that_wants_no_more_is_deaf),
		cmocka_unit_test(signals_here_stay_as_they_were),
		cmocka_unit_test(nothing_is_left_of_one_that_is_freed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
