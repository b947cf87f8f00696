/* train_log.c - log.jsonl, and TensorBoard events. */
#include "trainer/train_log.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/in.h"
#include "base/out.h"
#include "trainer/events.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#define LOG_MAX ((size_t)1 << 30)

struct train_log {
	char *path;
	int fd;
	struct events *events;
	double start;
};

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* --- lines of an earlier start ---------------------------------------------------------- */

static bool is_kept(const char *line, size_t n, uint64_t step)
{
	json_t *o = json_loadb(line, n, 0, NULL);
	const json_t *s = json_object_get(o, "step");
	const bool kept = s && (!json_is_integer(s) || json_integer_value(s) <= (json_int_t)step);

	json_decref(o);
	return kept;
}

static int keep_lines(const char *path, uint64_t step)
{
	struct buf all = BUF_INIT, kept = BUF_INIT;
	int rc = -1;

	if (!fs_exists(path))
		return 0;
	if (!fs_read_all(path, LOG_MAX, &all))
		rc = 0;
	for (size_t at = 0; at < all.len && !rc;) {
		const char *line = all.data + at, *end = memchr(line, '\n', all.len - at);
		const size_t n = end ? (size_t)(end - line) + 1 : all.len - at;

		if (end && is_kept(line, n, step))
			rc = buf_add(&kept, line, n);
		at += n;
	}
	if (!rc && kept.len != all.len)
		rc = fs_write_all(path, kept.len ? kept.data : "", kept.len);
	buf_release(&kept);
	buf_release(&all);
	return rc;
}

/* --- writing ------------------------------------------------------------------------------ */

int train_log_open(struct train_log **l, const char *run, uint64_t step)
{
	struct train_log *new = calloc(1, sizeof(*new));

	*l = NULL;
	if (!new)
		return err_memory();
	new->fd = -1;
	new->start = seconds(CLOCK_MONOTONIC);
	new->path = fs_join(run, TRAIN_LOG_NAME);
	if (!new->path || keep_lines(new->path, step))
		goto fail;
	new->fd = open(new->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (new->fd < 0) {
		err_sys("cannot write '%s'", new->path);
		goto fail;
	}
	if (events_open(&new->events, run, step))
		goto fail;
	*l = new;
	return 0;
fail:
	train_log_close(new);
	return -1;
}

static int write_line(struct train_log *l, const char *text, size_t n)
{
	while (n) {
		const ssize_t done = write(l->fd, text, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return err_sys("cannot write '%s'", l->path);
		text += done;
		n -= (size_t)done;
	}
	return 0;
}

/* STEP and DATA are taken. */
static int put(struct train_log *l, json_t *step, json_t *data)
{
	json_t *o = step && data ? json_pack("{s:s, s:O, s:f, s:f, s:O}", "type", "LOG", "step", step, "timestamp", seconds(CLOCK_REALTIME),
					     "elapsedtime", seconds(CLOCK_MONOTONIC) - l->start, "data", data) : NULL;
	char *text = o ? json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(12)) : NULL;
	struct buf line = BUF_INIT;
	int rc = -1;

	if (!text)
		err_memory();
	else if (!buf_addf(&line, "%s\n", text))
		rc = write_line(l, line.data, line.len);
	buf_release(&line);
	free(text);
	json_decref(o);
	json_decref(step);
	json_decref(data);
	return rc;
}

static int put_events(struct train_log *l, uint64_t step, json_t *data)
{
	const char *name;
	json_t *value;

	json_object_foreach(data, name, value)
		if (json_is_number(value) && events_add(l->events, name, json_number_value(value)))
			return -1;
	return events_write(l->events, step);
}

int train_log_step(struct train_log *l, uint64_t step, json_t *data)
{
	if (!data)
		return err_memory();
	if (put_events(l, step, data)) {
		json_decref(data);
		return -1;
	}
	return put(l, json_integer((json_int_t)step), data);
}

int train_log_note(struct train_log *l, const char *step, json_t *data)
{
	return put(l, step ? json_string(step) : json_array(), data);
}

int train_log_close(struct train_log *l)
{
	int rc;

	if (!l)
		return 0;
	rc = events_close(l->events);
	if (l->fd >= 0 && close(l->fd) && !rc)
		rc = err_sys("cannot write '%s'", l->path);
	free(l->path);
	free(l);
	return rc;
}

int train_log_start(struct train_log **l, const char *run, uint64_t step, const json_t *facts, json_t *more)
{
	json_t *data = more ? json_deep_copy(facts) : NULL;
	int rc = -1;

	if (!data || json_object_update(data, more) || json_object_set_new(data, "first_step", json_integer((json_int_t)step)))
		err_memory();
	else
		rc = train_log_open(l, run, step);
	json_decref(more);
	if (!rc)
		return train_log_note(*l, "PARAMETER", data);
	json_decref(data);
	return -1;
}
