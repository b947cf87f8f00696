#include "base/progress.h"

#include "base/log.h"
#include "tests/unit/base/capture.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <cmocka.h>

#define MS UINT64_C(1000000)
#define S (1000 * MS)

static void test_format(void **state)
{
	static const struct {
		uint64_t total, records, bytes, after;
		const char *want;
	} cases[] = {
		{ 0, 0, 0, 0, "0 documents" },
		{ 0, 999, 0, S, "999 documents" },
		{ 0, 1000, 999, S, "1,000 documents  999 B  999 B/s" },
		{ 0, 12345, 34500000, S, "12,345 documents  34.5 MB  34.5 MB/s" },
		{ 1477900000, 12345, 34500000, 287 * MS, "12,345 documents  34.5 MB  120.2 MB/s  eta 0:12" },
		{ 1000, 1234567, 500, 600 * S, "1,234,567 documents  500 B  1 B/s  eta 10:00" },
		{ 100000, 1, 1, S, "1 documents  1 B  1 B/s  eta 27:46:39" },
		{ UINT64_MAX, 1, 1, S, "1 documents  1 B  1 B/s  eta 99:59:59" },
		{ 1000, 1, 2000, S, "1 documents  2.0 kB  2.0 kB/s  eta 0:00" },
		{ 1000, 1, 999950, 0, "1 documents  1.0 MB  0 B/s" },
		{ 0, UINT64_MAX, UINT64_MAX, S,
		  "18,446,744,073,709,551,615 documents  18446744.1 TB  18446744.1 TB/s" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct progress p = { .noun = "documents", .total = cases[i].total };
		char line[200], cut[10];

		progress_format(&p, cases[i].records, cases[i].bytes, cases[i].after, line, sizeof(line));
		assert_string_equal(line, cases[i].want);
		progress_format(&p, cases[i].records, cases[i].bytes, cases[i].after, cut, sizeof(cut));
		assert_memory_equal(cut, line, sizeof(cut) - 1);
	}
}

/* The last update is moved an hour away from now, so that no pause of this test matters. */
#define HOUR (3600 * S)

static int show(void *arg)
{
	struct progress p;

	log_open("bert-x", *(const enum log_level *)arg);
	progress_start(&p, "lines", 0);
	if (p.last_ns != p.start_ns)
		return 1;
	p.last_ns += HOUR;
	progress_update(&p, 1, 0);	/* too early */
	p.last_ns = 0;
	progress_update(&p, 2, 0);
	if (p.shown && p.last_ns < p.start_ns)
		return 1;
	p.last_ns += HOUR;
	progress_update(&p, 3, 0);	/* too soon after the last */
	p.last_ns = 0;
	progress_update(&p, 4, 0);
	progress_end(&p);
	progress_update(&p, 5, 0);
	progress_end(&p);
	return 0;
}

static void test_silent_without_terminal(void **state)
{
	enum log_level level = LOG_DEBUG;
	struct capture c = { 0 };

	(void)state;
	capture_run(&c, show, &level);
	assert_int_equal(c.exit_status, 0);
	assert_string_equal(c.err, "");
	assert_string_equal(c.out, "");
}

struct on_terminal {
	const char *path;
	enum log_level level;
};

static int show_on_terminal(void *arg)
{
	struct on_terminal *t = arg;
	int fd = open(t->path, O_RDWR | O_NOCTTY);

	return fd < 0 || dup2(fd, STDERR_FILENO) < 0 ? 1 : show(&t->level);
}

/* What reaches a pseudo-terminal COLUMNS wide; false where there is none to be had. */
static bool on_terminal(enum log_level level, unsigned short columns, char *text, size_t size)
{
	const struct winsize w = { .ws_row = 24, .ws_col = columns };
	struct on_terminal t = { NULL, level };
	struct capture c = { 0 };
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), slave;
	size_t len = 0;
	ssize_t n;

	if (master < 0 || grantpt(master) || unlockpt(master) || !(t.path = ptsname(master)))
		return false;
	slave = open(t.path, O_RDWR | O_NOCTTY);	/* keeps the terminal alive after the child */
	assert_true(slave >= 0);
	assert_int_equal(ioctl(slave, TIOCSWINSZ, &w), 0);
	capture_run(&c, show_on_terminal, &t);
	assert_int_equal(c.exit_status, 0);
	assert_int_equal(write(slave, "$", 1), 1);	/* marks the end */
	do {
		assert_true(len < size - 1);
		n = read(master, text + len, size - 1 - len);
		assert_true(n > 0);
		len += (size_t)n;
	} while (text[len - 1] != '$');
	text[len] = 0;
	close(slave);
	close(master);
	return true;
}

static void test_terminal(void **state)
{
	char text[1024];

	(void)state;
	if (!on_terminal(LOG_WARN, 0, text, sizeof(text)))
		skip();
	assert_string_equal(text, "\r\033[K2 lines\r\033[K4 lines\r\033[K$");
	assert_true(on_terminal(LOG_WARN, 5, text, sizeof(text)));
	assert_string_equal(text, "\r\033[K2 li\r\033[K4 li\r\033[K$");
	assert_true(on_terminal(LOG_ERROR, 0, text, sizeof(text)));
	assert_string_equal(text, "$");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_format),
		cmocka_unit_test(test_silent_without_terminal),
		cmocka_unit_test(test_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
