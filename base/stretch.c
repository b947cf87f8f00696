#include "base/stretch.h"

#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK 4096		/* bytes looked at at once, going backwards, at most */
#define CHUNK_FIRST 16		/* as a rule these tell */
#define MARK "\xef\xbb\xbf"	/* byte-order mark */
#define MARK_LEN 3

static int plain_size(const char *path, uint64_t *bytes)
{
	struct stat st;

	if (!strcmp(path, "-"))
		return err_usage("cannot read a part of standard input");
	if (stat(path, &st))
		return err_sys("cannot open '%s'", path);
	if (S_ISDIR(st.st_mode))
		return err_fail("cannot read '%s': is a directory", path);
	if (!S_ISREG(st.st_mode))
		return err_usage("cannot read a part of '%s': not a regular file", path);
	*bytes = (uint64_t)st.st_size;
	return 0;
}

int stretch_total(const char *const *files, size_t n_files, uint64_t *bytes)
{
	*bytes = 0;
	if (!n_files)
		return err_usage("cannot read a part of standard input");
	for (size_t i = 0; i < n_files; i++) {
		uint64_t size;

		if (plain_size(files[i], &size))
			return -1;
		*bytes += size;
	}
	return 0;
}

static int read_at(int fd, const char *path, char *bytes, size_t n, uint64_t offset)
{
	while (n) {
		const ssize_t got = pread(fd, bytes, n, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_sys("cannot read '%s'", path);
		if (got == 0)
			return err_fail("cannot read '%s': it has become shorter", path);
		bytes += got;
		offset += (uint64_t)got;
		n -= (size_t)got;
	}
	return 0;
}

bool stretch_never_space(unsigned char byte)
{
	return (byte > 0x20 && byte < 0x80) || byte == 0xe0 || (byte > 0xc2 && byte < 0xe0) || (byte > 0xe3 && byte != 0xef);
}

/* In TEXT, the bytes of a file up to somewhere: where its last line begins, in *BEGIN, and whether one byte tells that it is not blank. */
static bool glance(const char *text, size_t len, size_t *begin)
{
	const char *newline = memrchr(text, '\n', len);

	*begin = newline ? (size_t)(newline - text) + 1 : 0;
	for (size_t i = *begin; i < len; i++)
		if (stretch_never_space((unsigned char)text[i]))
			return true;
	return false;
}

/* Where the line begins that holds byte END-1; or *INSIDE, and an offset in it. */
static int find_line(int fd, const char *path, uint64_t end, uint64_t *offset, bool *inside)
{
	char text[CHUNK];
	size_t begin = 0, chunk = CHUNK_FIRST;

	*inside = false;
	*offset = end;
	for (; *offset > 0 && begin == 0; chunk = 2 * chunk < CHUNK ? 2 * chunk : CHUNK) {
		const size_t len = *offset < chunk ? (size_t)*offset : chunk;
		const bool ended = *offset == end;	/* the line's own newline may stand there, which is not the one before it */

		*offset -= len;
		if (read_at(fd, path, text, len, *offset))
			return -1;
		*inside = glance(text, len - (ended && text[len - 1] == '\n'), &begin);
		if (*inside)
			break;
	}
	*offset = *inside ? end - 1 : *offset + begin;
	return 0;
}

/* A file that holds a byte-order mark and nothing else has no line at all. */
static int is_mark_only(int fd, const char *path, uint64_t size, bool *yes)
{
	char text[MARK_LEN];

	*yes = false;
	if (size != MARK_LEN)
		return 0;
	if (read_at(fd, path, text, sizeof(text), 0))
		return -1;
	*yes = !memcmp(text, MARK, MARK_LEN);
	return 0;
}

/* The same for the line before END in one file; *FOUND false when there is none. */
static int find_in(const char *path, uint64_t size, uint64_t end, struct stretch *s, bool *found)
{
	int fd = -1, rc = -1;
	bool mark = false;

	*found = false;
	if (end == 0)
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_sys("cannot open '%s'", path);
	if (is_mark_only(fd, path, size, &mark))
		goto out;
	if (!mark && find_line(fd, path, end, &s->offset, &s->inside))
		goto out;
	*found = !mark;
	rc = 0;
out:
	close(fd);
	return rc;
}

int stretch_find(const char *const *files, size_t n_files, uint64_t place, struct stretch *s)
{
	uint64_t size = 0, end;
	bool found;

	*s = (struct stretch){ .file = 0 };
	for (;;) {
		if (s->file == n_files)
			return 0;
		if (plain_size(files[s->file], &size))
			return -1;
		if (place - s->base < size)
			break;
		s->base += size;
		s->file++;
	}
	end = place - s->base;
	for (;;) {
		if (find_in(files[s->file], size, end, s, &found))
			return -1;
		if (found)
			return 0;
		s->offset = 0;
		s->inside = false;
		if (s->file == 0)
			return 0;
		s->file--;
		if (plain_size(files[s->file], &size))
			return -1;
		s->base -= size;
		end = size;
	}
}
