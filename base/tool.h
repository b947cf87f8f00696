/*
 * tool.h - how a program begins and ends. For tools only.
 *
 *	int main(int argc, char **argv)
 *	{
 *		...
 *		int rc = args_parse(&a, argc, argv);
 *		if (rc != ARGS_RUN)
 *			return rc;
 *		tool_start();
 *		if (work(...))
 *			return tool_fail();
 *		return tool_finish("%" PRIu64 " lines in, %" PRIu64 " out", in, out);
 *	}
 */
#ifndef BASE_TOOL_H
#define BASE_TOOL_H

#include <stddef.h>

#define BERTTOOLS_VERSION "0.1.0"

/*
 * From here on SIGINT, SIGTERM and SIGHUP remove unfinished outputs
 * (base/out.h), then end the program by that same signal; one that was ignored
 * when the program began (nohup, a shell's background job) stays ignored.
 * SIGPIPE has its default, so that a closed pipe ends a program silently.
 * Descriptors 0 to 2 are opened where the caller left them closed, so that no
 * file gets their numbers; using them fails.
 */
void tool_start(void);

/*
 * For programs that compute: OpenMP's threads spin for long while they wait,
 * which makes a machine with other work several times slower, and libgomp reads
 * its settings when it is loaded. So where the environment has none, this starts
 * the program anew with a short spin, before anything was read or written.
 * Without /proc it does nothing.
 */
void tool_settle_openmp(char **argv);

/*
 * Prints the reason (base/err.h), and the usage line too when it is EXIT_USAGE;
 * removes unfinished outputs; returns the status to exit with.
 */
int tool_fail(void);

/*
 * Flushes and closes standard output, looking at the result; with --verbose
 * prints the closing line: version, command, the caller's counts, real and CPU
 * seconds, peak memory. Returns the status to exit with.
 */
int tool_finish(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The --version text: "bert-x (berttools) 0.1.0", then the features built in, a line each. Returns -1 when stdout failed. */
int tool_print_version(const char *program);

/* Writes a text such as --help's to standard output, now: -1 with the reason set when it did not get there. */
int tool_print(const char *text, size_t n);

#endif
