/*
 * log.h - what a program says on standard error.
 *
 * For tools only: libraries hand back reasons (base/err.h) and counts.
 * Every line is written whole, by one write(2), as "tool: text". Control
 * characters (a file's name may hold any) show as '?'; a line longer than
 * LOG_LINE_MAX is cut.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#define LOG_LINE_MAX 4096	/* what a pipe takes in one piece */

enum log_level {
	LOG_ERROR,	/* the program fails because of this; always shown */
	LOG_WARN,	/* the result is good, but not what one may think; hidden by --quiet */
	LOG_INFO,	/* --verbose: closing line, what was found and chosen */
	LOG_DEBUG,	/* --verbose twice: for developers */
};

/* Names the program (its last path component is used) and the highest level that is shown. */
void log_open(const char *program, enum log_level shown);
const char *log_program(void);
enum log_level log_shown(void);

void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * Puts TEXT (at most LOG_LINE_MAX / 2 bytes) on the terminal's last line
 * without ending it; the next call replaces it, NULL wipes it, and lines from
 * the calls above go above it. For base/progress.h, which knows that stderr is
 * a terminal.
 */
void log_status(const char *text);

#endif
