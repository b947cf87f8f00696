#include "base/progress.h"

#include "base/log.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)
#define INTERVAL (SECOND / 10)
#define LINE_MAX_BYTES 200

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

/* 1234567 as "1,234,567". OUT must hold 27 bytes. */
static void group_digits(uint64_t n, char *out)
{
	char digits[21];
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, n);

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			*out++ = ',';
		*out++ = digits[i];
	}
	*out = 0;
}

static void scale(double bytes, char *out, size_t n)
{
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB" };
	unsigned u = 0;

	for (; bytes >= 999.95 && u < 4; u++)
		bytes /= 1000;
	snprintf(out, n, u ? "%.1f %s" : "%.0f %s", bytes, units[u]);
}

static void clock_text(double s, char *out, size_t n)
{
	const uint64_t t = s < 360000 ? (uint64_t)(s + 0.5) : 359999;

	if (t < 3600)
		snprintf(out, n, "%" PRIu64 ":%02" PRIu64, t / 60, t % 60);
	else
		snprintf(out, n, "%" PRIu64 ":%02" PRIu64 ":%02" PRIu64, t / 3600, t / 60 % 60, t % 60);
}

void progress_format(const struct progress *p, uint64_t records, uint64_t bytes, uint64_t after_ns, char *out, size_t n)
{
	const double rate = after_ns ? (double)bytes / ((double)after_ns / (double)SECOND) : 0;
	char count[32], done[32], speed[32], left[32];

	group_digits(records, count);
	scale((double)bytes, done, sizeof(done));
	scale(rate, speed, sizeof(speed));
	if (!bytes) {
		snprintf(out, n, "%s %s", count, p->noun);
	} else if (!p->total || rate <= 0) {
		snprintf(out, n, "%s %s  %s  %s/s", count, p->noun, done, speed);
	} else {
		clock_text(p->total > bytes ? (double)(p->total - bytes) / rate : 0, left, sizeof(left));
		snprintf(out, n, "%s %s  %s  %s/s  eta %s", count, p->noun, done, speed, left);
	}
}

/* A line that wraps could not be wiped. */
static size_t terminal_width(void)
{
	struct winsize w;

	return ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col ? w.ws_col : 80;
}

void progress_start(struct progress *p, const char *noun, uint64_t total_bytes)
{
	const uint64_t t = now();

	*p = (struct progress){ .noun = noun, .total = total_bytes, .start_ns = t, .last_ns = t,
				.shown = log_shown() > LOG_ERROR && isatty(STDERR_FILENO) };
}

void progress_update(struct progress *p, uint64_t records, uint64_t bytes)
{
	char line[LINE_MAX_BYTES];
	size_t width;
	uint64_t t;

	if (!p->shown)
		return;
	t = now();
	if (t < p->last_ns + INTERVAL)
		return;
	width = terminal_width();
	progress_format(p, records, bytes, t - p->start_ns, line, width < sizeof(line) ? width : sizeof(line));
	log_status(line);
	p->last_ns = t;
	p->dirty = true;
}

void progress_end(struct progress *p)
{
	if (p->dirty)
		log_status(NULL);
	p->dirty = false;
	p->shown = false;
}
