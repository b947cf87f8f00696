#include "base/coprocess.h"

#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define READ_BYTES (64 << 10)
#define GRACE_MS 10000		/* that it may live on once it is known to have ended */
#define LOOK_MS 5		/* between two looks whether it has */

extern char **environ;

struct coprocess {
	char *command;
	pid_t pid;		/* 0: it has been waited for */
	int in, out;		/* our ends of its standard input and output; -1: closed */
	bool deaf;		/* it has closed its input */
};

/* --- start ------------------------------------------------------------------------- */

/* With default signals, none blocked: whatever this process does with them is not the program's business. */
static int spawn(pid_t *pid, const char *command, int in, int out)
{
	char *const argv[] = { (char[]){ "sh" }, (char[]){ "-c" }, strdup(command), NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none, reset;
	int rc;

	sigemptyset(&none);
	sigemptyset(&reset);
	sigaddset(&reset, SIGPIPE);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attr);
	rc = argv[2] ? posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO) : ENOMEM;
	if (!rc)
		rc = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	if (!rc)
		rc = posix_spawnattr_setsigmask(&attr, &none);
	if (!rc)
		rc = posix_spawnattr_setsigdefault(&attr, &reset);
	if (!rc)
		rc = posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	if (!rc)
		rc = posix_spawn(pid, "/bin/sh", &actions, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	free(argv[2]);
	errno = rc;
	return rc ? -1 : 0;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Both pipes, and the process between them. */
static int connect_process(struct coprocess *p)
{
	int to[2] = { -1, -1 }, from[2] = { -1, -1 };
	int rc = -1;

	if (!pipe2(to, O_CLOEXEC) && !pipe2(from, O_CLOEXEC) && !fcntl(to[1], F_SETFL, O_NONBLOCK) &&
	    !fcntl(from[0], F_SETFL, O_NONBLOCK))
		rc = spawn(&p->pid, p->command, to[0], from[1]);
	if (rc) {
		p->pid = 0;
		err_sys("cannot start '%s'", p->command);
	}
	p->in = to[1];
	p->out = from[0];
	close_fd(&to[0]);
	close_fd(&from[1]);
	return rc;
}

static void want_status(void)
{
	struct sigaction sa;

	if (!sigaction(SIGCHLD, NULL, &sa) && !(sa.sa_flags & SA_SIGINFO) && sa.sa_handler == SIG_IGN)
		signal(SIGCHLD, SIG_DFL);
}

int coprocess_start(struct coprocess **out, const char *command)
{
	struct coprocess *p = calloc(1, sizeof(*p));

	*out = NULL;
	if (!p)
		return err_memory();
	p->in = p->out = -1;
	p->command = strdup(command);
	want_status();
	if (!p->command)
		err_memory();
	else if (!connect_process(p)) {
		*out = p;
		return 0;
	}
	coprocess_free(p);
	return -1;
}

/* --- to and from ------------------------------------------------------------------- */

/* COPROCESS_GAVE, COPROCESS_ENDED, -1, or COPROCESS_TAKES for nothing yet. */
static int read_some(struct coprocess *p, struct buf *out)
{
	ssize_t n;

	if (buf_reserve(out, READ_BYTES))
		return -1;
	n = read(p->out, out->data + out->len, READ_BYTES);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? COPROCESS_TAKES : err_sys("cannot read from '%s'", p->command);
	out->len += (size_t)n;
	out->data[out->len] = 0;
	return n ? COPROCESS_GAVE : COPROCESS_ENDED;
}

int coprocess_wait(struct coprocess *p, bool more, struct buf *out)
{
	for (;;) {
		struct pollfd fds[2] = { { .fd = p->out, .events = POLLIN },
					 { .fd = more && !p->deaf ? p->in : -1, .events = POLLOUT } };
		const int n = poll(fds, 2, p->deaf ? GRACE_MS : -1);
		int event;

		if (n < 0 && errno != EINTR)
			return err_sys("cannot wait for '%s'", p->command);
		if (n == 0)
			return COPROCESS_ENDED;
		if (n < 0)
			continue;
		if (fds[0].revents) {
			event = read_some(p, out);
			if (event != COPROCESS_TAKES)
				return event;
		}
		if (fds[1].revents)
			return COPROCESS_TAKES;
	}
}

/* write(2), but where nobody reads EPIPE alone tells, and no signal comes. */
static ssize_t write_quietly(int fd, const void *bytes, size_t n)
{
	const struct timespec at_once = { 0, 0 };
	sigset_t sigpipe, before, pending;
	ssize_t written;
	int reason;

	sigemptyset(&sigpipe);
	sigaddset(&sigpipe, SIGPIPE);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &sigpipe, &before);
	written = write(fd, bytes, n);
	reason = errno;
	if (written < 0 && reason == EPIPE && !sigismember(&pending, SIGPIPE))
		while (sigtimedwait(&sigpipe, NULL, &at_once) < 0 && errno == EINTR)
			;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = reason;
	return written;
}

size_t coprocess_write(struct coprocess *p, const void *bytes, size_t n)
{
	ssize_t taken;

	if (p->deaf || p->in < 0)
		return 0;
	taken = write_quietly(p->in, bytes, n);
	if (taken >= 0)
		return (size_t)taken;
	p->deaf = errno != EAGAIN && errno != EINTR;
	return 0;
}

bool coprocess_is_deaf(const struct coprocess *p)
{
	return p->deaf;
}

void coprocess_close_input(struct coprocess *p)
{
	close_fd(&p->in);
}

/* --- the end ------------------------------------------------------------------------- */

/* Waits for the process: 1 it has ended, 0 not within the time, -1 nobody knows. */
static int wait_for_end(struct coprocess *p, int *status)
{
	const struct timespec look = { 0, LOOK_MS * 1000000L };

	for (int ms = 0;; ms += LOOK_MS) {
		const pid_t pid = waitpid(p->pid, status, WNOHANG);

		if (pid == p->pid)
			return 1;
		if (pid < 0 && errno != EINTR)
			return -1;
		if (ms >= GRACE_MS)
			return 0;
		nanosleep(&look, NULL);
	}
}

int coprocess_end(struct coprocess *p)
{
	int status, ended;

	coprocess_close_input(p);
	close_fd(&p->out);
	ended = wait_for_end(p, &status);
	if (ended < 0) {
		p->pid = 0;
		return err_sys("cannot wait for '%s'", p->command);
	}
	if (!ended)
		return err_fail("'%s' does not end", p->command);
	p->pid = 0;
	if (WIFSIGNALED(status))
		return err_fail("'%s' was ended by signal %d (%s)", p->command, WTERMSIG(status), strsignal(WTERMSIG(status)));
	return WEXITSTATUS(status) ? err_fail("'%s' ended with status %d", p->command, WEXITSTATUS(status)) : 0;
}

void coprocess_free(struct coprocess *p)
{
	if (!p)
		return;
	close_fd(&p->in);
	close_fd(&p->out);
	if (p->pid) {
		kill(p->pid, SIGKILL);
		while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	free(p->command);
	free(p);
}
