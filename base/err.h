/*
 * err.h - how functions fail.
 *
 * A function that can fail returns -1 (or NULL) after it has set the
 * calling thread's reason: a kind and one line of text. Libraries neither
 * print nor exit; only tools print the reason (base/tool.h).
 *
 *	if (fd < 0)
 *		return err_sys("cannot open '%s'", path);
 *
 * The line is lower case, has no full stop, and quotes its subject:
 * "cannot read 'x': No such file or directory".
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#ifdef __cplusplus
extern "C" {
#endif

#define ERR_TEXT_MAX 1024

/* What every program exits with; listed in every man page. */
enum exit_code {
	EXIT_DONE = 0,		/* done */
	EXIT_FAILED = 1,	/* failed: a missing file, a full disk, ... */
	EXIT_USAGE = 2,		/* the command line is wrong */
	EXIT_CORRUPT = 3,	/* input is corrupt or truncated */
};

struct err {
	enum exit_code code;	/* what a tool that dies of it exits with */
	char text[ERR_TEXT_MAX];
};

/* Each sets the calling thread's reason and returns -1. A text longer than ERR_TEXT_MAX is cut. */
int err_set(enum exit_code code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int err_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));	/* EXIT_FAILED */
int err_usage(const char *fmt, ...) __attribute__((format(printf, 1, 2)));	/* EXIT_USAGE */
int err_corrupt(const char *fmt, ...) __attribute__((format(printf, 1, 2)));	/* EXIT_CORRUPT */
int err_sys(const char *fmt, ...) __attribute__((format(printf, 1, 2)));	/* EXIT_FAILED, ": strerror(errno)" added */
int err_memory(void);								/* "out of memory" */

/* Puts "text: " before the reason that is set, keeping its code; returns -1. */
int err_prefix(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

const char *err_text(void);		/* "" when nothing was set */
enum exit_code err_code(void);		/* EXIT_DONE when nothing was set */

/* Carries a reason from one thread to another; err_put returns -1. */
void err_get(struct err *e);
int err_put(const struct err *e);
void err_clear(void);

#ifdef __cplusplus
}
#endif

#endif
