#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local struct err reason;

/* Formats aside first, since an argument may be the reason's own text. */
static void set_text(enum exit_code code, const char *fmt, va_list ap, const char *between, const char *tail)
{
	char text[ERR_TEXT_MAX];
	int n = vsnprintf(text, sizeof(text), fmt, ap);
	size_t len = n < 0 ? 0 : (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1;

	text[len] = 0;
	snprintf(text + len, sizeof(text) - len, "%s%s", between, tail);
	reason.code = code;
	memcpy(reason.text, text, sizeof(text));
}

int err_set(enum exit_code code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	set_text(code, fmt, ap, "", "");
	va_end(ap);
	return -1;
}

int err_fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	set_text(EXIT_FAILED, fmt, ap, "", "");
	va_end(ap);
	return -1;
}

int err_usage(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	set_text(EXIT_USAGE, fmt, ap, "", "");
	va_end(ap);
	return -1;
}

int err_corrupt(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	set_text(EXIT_CORRUPT, fmt, ap, "", "");
	va_end(ap);
	return -1;
}

int err_sys(const char *fmt, ...)
{
	const char *why = strerror(errno);
	va_list ap;

	va_start(ap, fmt);
	set_text(EXIT_FAILED, fmt, ap, ": ", why);
	va_end(ap);
	return -1;
}

int err_memory(void)
{
	return err_fail("out of memory");
}

int err_prefix(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	set_text(reason.code, fmt, ap, ": ", reason.text);
	va_end(ap);
	return -1;
}

const char *err_text(void)
{
	return reason.text;
}

enum exit_code err_code(void)
{
	return reason.code;
}

void err_get(struct err *e)
{
	*e = reason;
}

int err_put(const struct err *e)
{
	reason = *e;
	return -1;
}

void err_clear(void)
{
	reason.code = EXIT_DONE;
	reason.text[0] = 0;
}
