#include "base/fetch.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/transfer.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define WAIT_MAX 60.0		/* seconds, of our own */
#define ASKED_MAX 600.0		/* of the server's */
#define TAG_MAX (1 << 16)

struct job {
	struct fetch *f;
	struct transfer t;
	char *folder, *part, *tag;	/* paths */
	char *source;			/* of a file URL: the path it means */
};

/* --- names -------------------------------------------------------------------------- */

static int digit_of(char c)
{
	if (isdigit((unsigned char)c))
		return c - '0';
	return isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10 : -1;
}

/* The path of "file:///path", "file://localhost/path" or "file:/path", escapes undone; NULL with the reason set. */
static char *path_of(const char *url)
{
	const char *p = url + strlen("file:");
	char *path, *out;

	if (!strncmp(p, "//", 2)) {
		p += 2;
		if (!strncasecmp(p, "localhost/", 10))
			p += strlen("localhost");
	}
	if (*p != '/') {
		err_usage("cannot fetch '%s': a file URL is file:// and a path from the root", url);
		return NULL;
	}
	path = out = malloc(strlen(p) + 1);
	if (!path) {
		err_memory();
		return NULL;
	}
	while (*p) {
		if (*p == '%' && digit_of(p[1]) >= 0 && digit_of(p[2]) >= 0 && (p[1] != '0' || p[2] != '0')) {
			*out++ = (char)(digit_of(p[1]) << 4 | digit_of(p[2]));
			p += 3;
		} else {
			*out++ = *p++;
		}
	}
	*out = 0;
	return path;
}

static int name_files(struct job *j)
{
	const struct fetch *f = j->f;
	const char *slash = strrchr(f->path, '/'), *name = slash ? slash + 1 : f->path;
	const size_t folder = (size_t)(name - f->path), len = strlen(f->path) + 16;

	if (!strncasecmp(f->url, "file:", 5)) {
		j->source = path_of(f->url);
		if (!j->source)
			return -1;
	} else if (strncasecmp(f->url, "http://", 7) && strncasecmp(f->url, "https://", 8)) {
		return err_usage("cannot fetch '%s': no http, https or file URL", f->url);
	}
	j->folder = folder > 1 ? strndup(f->path, folder - 1) : strdup(folder ? "/" : ".");
	j->part = malloc(len);
	j->tag = malloc(len);
	if (!j->folder || !j->part || !j->tag)
		return err_memory();
	snprintf(j->part, len, "%.*s.%s.part", (int)folder, f->path, name);
	snprintf(j->tag, len, "%.*s.%s.part.tag", (int)folder, f->path, name);
	return 0;
}

/* --- the partial file ---------------------------------------------------------------- */

/* The tag: what the partial file is from, a line each: URL, validator. */
static int remember(struct transfer *t)
{
	const struct job *j = t->ctx;
	struct buf b = BUF_INIT;
	int rc = buf_addf(&b, "%s\n%s\n", t->url, t->validator) || fs_write_all(j->tag, b.data, b.len) ? -1 : 0;

	buf_release(&b);
	return rc;
}

/* Takes the validator from the tag. False when there is none for this URL, so that what is there is of no use. */
static bool recall(struct job *j)
{
	struct buf b = BUF_INIT;
	char *validator = NULL, *end = NULL;
	bool same = false;

	if (fs_exists(j->tag) && !fs_read_all(j->tag, TAG_MAX, &b) && b.len) {
		validator = strchr(b.data, '\n');
		end = validator ? strchr(validator + 1, '\n') : NULL;
	}
	if (end) {
		*validator++ = 0;
		*end = 0;
		snprintf(j->t.validator, sizeof(j->t.validator), "%s", validator);
		same = !strcmp(b.data, j->f->url) && (*validator || j->f->sum != FETCH_SUM_NONE);
	}
	buf_release(&b);
	return same;
}

static void advance(struct transfer *t)
{
	const struct job *j = t->ctx;

	if (j->f->progress)
		progress_update(j->f->progress, j->f->files_before, j->f->bytes_before + t->have);
}

/* Opens the partial file and holds it against other processes. */
static int open_part(struct job *j)
{
	struct stat mine, named;

	for (;;) {
		j->t.fd = open(j->part, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
		if (j->t.fd < 0)
			return err_sys("cannot create '%s'", j->part);
		if (flock(j->t.fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
			return err_fail("cannot fetch '%s': another process is at it", j->f->path);
		if (fstat(j->t.fd, &mine))
			return err_sys("cannot read '%s'", j->part);
		if (stat(j->part, &named) == 0 && named.st_ino == mine.st_ino && named.st_dev == mine.st_dev)
			break;
		close(j->t.fd);		/* another process has just put it in place */
	}
	j->t.have = (uint64_t)mine.st_size;
	if (!recall(j)) {
		*j->t.validator = 0;
		if (ftruncate(j->t.fd, 0))
			return err_sys("cannot empty '%s'", j->part);
		j->t.have = 0;
	}
	j->t.reused = j->t.have;
	return 0;
}

static void drop_part(const struct job *j)
{
	unlink(j->part);
	unlink(j->tag);
}

/* --- trying ---------------------------------------------------------------------------- */

static void sleep_for(double seconds)
{
	struct timespec t = { (time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9) };

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

static enum transfer_result try_once(struct job *j)
{
	return j->source ? transfer_local(&j->t, j->source) : transfer_http(&j->t);
}

/*
 * Tries until it is done, or has failed once too often in a row without a byte more than ever before. One
 * restart is no failure, since what an earlier process left may be of another version.
 */
static enum transfer_result try_often(struct job *j)
{
	const double first = j->f->wait > 0 ? j->f->wait : 1;
	uint64_t most = j->t.have;
	unsigned failures = 0, restarts = 0;
	double wait = first;

	for (;;) {
		const enum transfer_result r = try_once(j);

		if (r != TRANSFER_AGAIN && r != TRANSFER_RESTART)
			return r;
		if (r == TRANSFER_RESTART && restarts++ == 0)
			continue;
		if (r == TRANSFER_RESTART)
			err_fail("cannot fetch '%s': again the server does not go on where the last try stopped", j->f->url);
		if (j->t.have > most) {
			most = j->t.have;
			failures = 0;
			wait = first;
		}
		if (failures++ >= j->f->retries)
			return TRANSFER_FAILED;
		if (j->t.wait > ASKED_MAX) {
			err_prefix("the server wants to be left alone for %.0f seconds", j->t.wait);
			return TRANSFER_FAILED;
		}
		sleep_for(j->t.wait > wait ? j->t.wait : wait);
		wait = wait * 2 < WAIT_MAX ? wait * 2 : WAIT_MAX;
	}
}

static int check_sum(struct job *j)
{
	const struct fetch *f = j->f;
	char digest[FETCH_DIGEST_MAX];

	if (f->sum == FETCH_SUM_NONE)
		return 0;
	if (fetch_digest(j->part, f->sum, digest))
		return -1;
	if (!strcasecmp(digest, f->digest))
		return 0;
	drop_part(j);
	return err_corrupt("'%s' is not as expected: its %s is %s, not %s", f->url, fetch_sum_name(f->sum), digest, f->digest);
}

static int put_in_place(struct job *j)
{
	const struct timespec times[2] = { { 0, UTIME_OMIT }, { (time_t)j->t.modified, 0 } };

	if (j->t.modified >= 0 && futimens(j->t.fd, times))
		return err_sys("cannot set the time of '%s'", j->part);
	if (fsync(j->t.fd))
		return err_sys("cannot write '%s'", j->part);
	if (rename(j->part, j->f->path))
		return err_sys("cannot rename '%s' to '%s'", j->part, j->f->path);
	unlink(j->tag);
	j->f->bytes = j->t.have;
	j->f->resumed = j->t.reused;
	return fs_sync_folder(j->folder);
}

/* Looks at what is in place: 1 when it has the sum, else 0, and the transfer knows its size and time. -1 failed. */
static int look_in_place(struct job *j)
{
	const struct fetch *f = j->f;
	char digest[FETCH_DIGEST_MAX];
	struct stat st;

	if (stat(f->path, &st))
		return errno == ENOENT ? 0 : err_sys("cannot fetch into '%s'", f->path);
	if (!S_ISREG(st.st_mode))
		return err_fail("cannot fetch into '%s': not a regular file", f->path);
	j->f->bytes = (uint64_t)st.st_size;
	if (f->sum != FETCH_SUM_NONE)
		return fetch_digest(f->path, f->sum, digest) ? -1 : !strcasecmp(digest, f->digest);
	j->t.in_place = true;
	j->t.in_place_size = (uint64_t)st.st_size;
	j->t.in_place_time = st.st_mtim.tv_sec;
	return 0;
}

static int run(struct job *j)
{
	int rc;

	if (name_files(j))
		return -1;
	j->t.path = j->part;
	rc = look_in_place(j);
	if (rc < 0)
		return -1;
	j->f->kept = rc > 0;
	if (j->f->kept)
		return 0;
	if (open_part(j))
		return -1;
	switch (try_often(j)) {
	case TRANSFER_DONE: return check_sum(j) || put_in_place(j) ? -1 : 0;
	case TRANSFER_SAME:
		j->f->kept = true;
		drop_part(j);
		return 0;
	default:
		if (j->t.have == 0)
			drop_part(j);
		return -1;
	}
}

int fetch_file(struct fetch *f)
{
	struct job j = { .f = f, .t = { .url = f->url, .fd = -1, .remember = remember, .advance = advance, .modified = -1 } };
	int rc;

	f->bytes = f->resumed = 0;
	f->kept = false;
	if (f->sum != FETCH_SUM_NONE && !fetch_is_digest(f->sum, f->digest))
		return err_usage("'%s' is no %s", f->digest, fetch_sum_name(f->sum));
	j.t.ctx = &j;
	rc = run(&j);
	if (j.t.fd >= 0)
		close(j.t.fd);
	free(j.folder);
	free(j.part);
	free(j.tag);
	free(j.source);
	return rc;
}
