/*
 * capture.h - runs a function in a child process and keeps what it wrote.
 *
 *	struct capture c;
 *	capture_run(&c, function, argument);
 *	... c.exit_status, c.signal, c.out, c.err
 */
#ifndef TESTS_UNIT_BASE_CAPTURE_H
#define TESTS_UNIT_BASE_CAPTURE_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct capture {
	int exit_status;	/* -1 when a signal ended it */
	int signal;
	char out[8192], err[8192];
	const char *stdout_path;	/* where to send standard output instead; cleared by capture_run */
};

static inline void capture_need(int ok, const char *what)
{
	if (!ok) {
		perror(what);
		abort();
	}
}

static inline void capture_take(int fd, char *text, size_t size)
{
	ssize_t n = pread(fd, text, size - 1, 0);

	capture_need(n >= 0, "pread");
	text[n] = 0;
	close(fd);
}

static inline void capture_run(struct capture *c, int (*function)(void *), void *arg)
{
	int out = memfd_create("out", MFD_CLOEXEC), err = memfd_create("err", MFD_CLOEXEC), status;
	int elsewhere = c->stdout_path ? open(c->stdout_path, O_WRONLY | O_CLOEXEC) : -1;
	pid_t pid;

	capture_need(out >= 0 && err >= 0, "memfd_create");
	capture_need(!c->stdout_path || elsewhere >= 0, "open");
	fflush(NULL);
	pid = fork();
	capture_need(pid >= 0, "fork");
	if (pid == 0) {
		dup2(elsewhere >= 0 ? elsewhere : out, STDOUT_FILENO);
		dup2(err, STDERR_FILENO);
		status = function(arg);
		fflush(NULL);
		_exit(status);
	}
	capture_need(waitpid(pid, &status, 0) == pid, "waitpid");
	if (elsewhere >= 0)
		close(elsewhere);
	c->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	c->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	c->stdout_path = NULL;
	capture_take(out, c->out, sizeof(c->out));
	capture_take(err, c->err, sizeof(c->err));
}

#endif
