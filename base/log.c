#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define WIPE "\r\033[K"

static const char *program = "berttools";
static enum log_level highest = LOG_WARN;
static atomic_bool status_stands;

void log_open(const char *name, enum log_level shown)
{
	const char *slash = strrchr(name, '/');

	program = slash ? slash + 1 : name;
	highest = shown;
}

const char *log_program(void)
{
	return program;
}

enum log_level log_shown(void)
{
	return highest;
}

/* Nothing can be said about a standard error that does not take it. */
static void write_all(const char *text, size_t n)
{
	while (n) {
		ssize_t w = write(STDERR_FILENO, text, n);

		if (w < 0 && errno == EINTR)
			continue;
		if (w <= 0)
			return;
		text += w;
		n -= (size_t)w;
	}
}

static void say(enum log_level level, const char *fmt, va_list ap)
{
	char line[LOG_LINE_MAX];
	const bool wipe = level <= highest && atomic_exchange(&status_stands, false);
	size_t start = 0, len;
	int n;

	if (level > highest)
		return;
	if (wipe) {
		start = sizeof(WIPE) - 1;
		memcpy(line, WIPE, start);
	}
	len = start;
	n = snprintf(line + len, sizeof(line) - len, "%.200s: ", program);
	len += n > 0 ? (size_t)n : 0;
	n = vsnprintf(line + len, sizeof(line) - len, fmt, ap);
	len += n > 0 ? (size_t)n : 0;
	if (len > sizeof(line) - 1)
		len = sizeof(line) - 1;
	for (size_t i = start; i < len; i++)
		if (((unsigned char)line[i] < 0x20 && line[i] != '\t') || line[i] == 0x7F)
			line[i] = '?';
	line[len++] = '\n';
	write_all(line, len);
}

void log_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(LOG_ERROR, fmt, ap);
	va_end(ap);
}

void log_warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(LOG_WARN, fmt, ap);
	va_end(ap);
}

void log_info(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(LOG_INFO, fmt, ap);
	va_end(ap);
}

void log_debug(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(LOG_DEBUG, fmt, ap);
	va_end(ap);
}

void log_status(const char *text)
{
	char line[LOG_LINE_MAX];

	if (text) {
		snprintf(line, sizeof(line), WIPE "%.*s", LOG_LINE_MAX / 2, text);
		atomic_store(&status_stands, true);
		write_all(line, strlen(line));
	} else if (atomic_exchange(&status_stands, false)) {
		write_all(WIPE, sizeof(WIPE) - 1);
	}
}
