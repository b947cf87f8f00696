#include "base/tool.h"

#include "base/args.h"
#include "base/buf.h"
#include "base/cpu.h"
#include "base/err.h"
#include "base/log.h"
#include "base/out.h"

#include <archive.h>
#include <errno.h>
#include <expat.h>
#include <fcntl.h>
#include <jansson.h>
#include <openssl/opensslv.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <utf8proc.h>
#include <xxhash.h>
#include <zstd.h>
#if HAVE_CURL
#include <curl/curlver.h>
#endif

static double started;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void end_by_signal(int sig)
{
	int kept = errno;

	out_remove_unfinished();
	signal(sig, SIG_DFL);
	raise(sig);		/* blocked until this handler returns, then it ends the program */
	errno = kept;
}

static void catch_signal(int sig)
{
	struct sigaction sa;

	if (sigaction(sig, NULL, &sa) || sa.sa_handler == SIG_IGN)
		return;
	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = end_by_signal;
	sigemptyset(&sa.sa_mask);
	sigaction(sig, &sa, NULL);
}

void tool_start(void)
{
	started = now();
	for (int fd = 0; fd <= 2; fd++)		/* the lowest free number is FD itself */
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", fd ? O_RDONLY : O_WRONLY) != fd)
			break;
	catch_signal(SIGINT);
	catch_signal(SIGTERM);
	catch_signal(SIGHUP);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_IGN);	/* a file that grows beyond ulimit -f is a failed write like others */
}

void tool_settle_openmp(char **argv)
{
	if (!getenv("OMP_WAIT_POLICY") && !getenv("GOMP_SPINCOUNT") && setenv("GOMP_SPINCOUNT", "1000", 0) == 0)
		execv("/proc/self/exe", argv);
}

int tool_fail(void)
{
	const enum exit_code code = err_code();

	log_status(NULL);
	log_error("%s", *err_text() ? err_text() : "failed without a reason");
	if (code == EXIT_USAGE)
		args_print_usage();
	out_remove_unfinished();
	return code == EXIT_DONE ? EXIT_FAILED : (int)code;
}

int tool_print(const char *text, size_t n)
{
	signal(SIGPIPE, SIG_DFL);
	if (fwrite(text, 1, n, stdout) != n || fflush(stdout))
		return err_sys("cannot write to standard output");
	return 0;
}

static int close_stdout(void)
{
	const bool failed = ferror(stdout);

	errno = 0;
	if (fclose(stdout))
		return err_sys("cannot write to standard output");
	if (failed)
		return err_fail("cannot write to standard output");
	return 0;
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

static void say_closing(const char *counts)
{
	struct buf command = BUF_INIT;
	struct rusage self, children;

	if (args_command(&command) || getrusage(RUSAGE_SELF, &self) || getrusage(RUSAGE_CHILDREN, &children)) {
		log_info("%s", counts);
	} else {
		long peak = self.ru_maxrss > children.ru_maxrss ? self.ru_maxrss : children.ru_maxrss;	/* KiB */

		log_info("%s; %.2f s real, %.2f s cpu, %.1f MiB peak; berttools %s: %.2000s%s", counts, now() - started,
			 seconds(self.ru_utime) + seconds(self.ru_stime) + seconds(children.ru_utime) +
				 seconds(children.ru_stime),
			 (double)peak / 1024, BERTTOOLS_VERSION, command.data, command.len > 2000 ? " ..." : "");
	}
	buf_release(&command);
}

int tool_finish(const char *fmt, ...)
{
	char counts[1024];
	va_list ap;

	log_status(NULL);
	if (close_stdout())
		return tool_fail();
	if (log_shown() < LOG_INFO)
		return EXIT_DONE;
	va_start(ap, fmt);
	vsnprintf(counts, sizeof(counts), fmt, ap);
	va_end(ap);
	say_closing(counts);
	return EXIT_DONE;
}

static int add_names(struct buf *b, const char *title, bool wanted)
{
	static const struct {
		const char *name;
		bool built;
	} features[] = {
		{ "cuda", false }, { "mpi", false }, { "onednn", HAVE_DNNL }, { "http", HAVE_CURL },
		{ "https", HAVE_CURL }, { "avx2", HAVE_AVX2 }, { "avx512", HAVE_AVX512 },
		{ "hdf5", HAVE_HDF5 },
	};
	bool any = false;

	if (buf_addf(b, "%s:", title))
		return -1;
	for (size_t i = 0; i < sizeof(features) / sizeof(features[0]); i++) {
		if (features[i].built != wanted)
			continue;
		if (buf_addf(b, "%s%s", any ? ", " : " ", features[i].name))
			return -1;
		any = true;
	}
	return buf_adds(b, any ? "\n" : " nothing\n");
}

static int add_libraries(struct buf *b)
{
	if (buf_addf(b, "built with: zstd %s, libarchive %s, xxhash %d.%d.%d, utf8proc %d.%d.%d, ", ZSTD_VERSION_STRING,
		     ARCHIVE_VERSION_ONLY_STRING, XXH_VERSION_MAJOR, XXH_VERSION_MINOR, XXH_VERSION_RELEASE,
		     UTF8PROC_VERSION_MAJOR, UTF8PROC_VERSION_MINOR, UTF8PROC_VERSION_PATCH) ||
	    buf_addf(b, "expat %d.%d.%d, jansson %s, %s", XML_MAJOR_VERSION, XML_MINOR_VERSION,
		     XML_MICRO_VERSION, JANSSON_VERSION, OPENSSL_VERSION_TEXT))
		return -1;
#if HAVE_CURL
	if (buf_addf(b, ", curl %s", LIBCURL_VERSION))
		return -1;
#endif
	return buf_adds(b, "\n");
}

int tool_print_version(const char *program)
{
	struct buf b = BUF_INIT;
	char cpu[256];
	int rc;

	cpu_describe(cpu, sizeof(cpu));
	rc = buf_addf(&b, "%s (berttools) %s\n", program, BERTTOOLS_VERSION) || add_names(&b, "with", true) ||
	     add_names(&b, "without", false) || buf_addf(&b, "processor: %s\n", *cpu ? cpu : "plain C") ||
	     add_libraries(&b) || tool_print(b.data, b.len);
	buf_release(&b);
	return rc ? -1 : 0;
}
