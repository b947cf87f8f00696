/*
 * file_view.h - the bytes of a regular file at any offset, read or mapped.
 *
 *	struct file_view v;
 *	if (!file_view_open(&v, path, FILE_VIEW_MAPPED))
 *		...
 *	file_view_read(&v, offset, a, n_a, b, n_b)	(copies; one request)
 *	file_view_close(&v);				(after a failed open too)
 *
 * Reading is preadv, one call for each request unless the system gives less.
 *
 * A map costs no copy where the bytes are only looked at (file_view_at). What
 * it costs is another way to fail: bytes of a mapped file that cannot be had,
 * since the file became shorter or its disk fails, are SIGBUS, which ends the
 * program without a word. So every stretch is brought in by madvise before it is touched
 * (MADV_POPULATE_READ, Linux 5.14), which gives such failures as errors; on an older
 * kernel the file's size is looked at, which finds files that became
 * shorter. What remains is a file that is cut, or a disk that fails, in the microseconds between
 * that and the look: who keeps files as they are, or replaces them by
 * renaming, does not cut any. After the look the stretch is given back, so that the
 * process does not seem to grow by the files that it has seen.
 *
 * Where no map can be had (a file system without, ulimit -v), bytes are read; file_view_mapped tells.
 */
#ifndef BASE_FILE_VIEW_H
#define BASE_FILE_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum file_view_access {
	FILE_VIEW_SCATTERED = 1,	/* it is asked for in no order: the system reads no more than what is asked for */
	FILE_VIEW_MAPPED = 2,
};

struct file_view {
	const char *path;		/* borrowed */
	int fd;
	uint64_t size;			/* when it was opened */
	unsigned char *map;		/* NULL: it is read */
};

/* PATH must be a regular file. ACCESS: enum file_view_access, or'ed. */
int file_view_open(struct file_view *v, const char *path, unsigned access);
static inline bool file_view_mapped(const struct file_view *v)
{
	return v->map;
}

/* N_A bytes at OFFSET to A and the N_B that follow to B, which may be empty. EXIT_CORRUPT where the file ends before. */
int file_view_read(const struct file_view *v, uint64_t offset, void *a, size_t n_a, void *b, size_t n_b);

/* Of a mapped file the N bytes at OFFSET, good until file_view_done of the same; NULL with the reason set. */
const unsigned char *file_view_at(const struct file_view *v, uint64_t offset, size_t n);
void file_view_done(const struct file_view *v, uint64_t offset, size_t n);

void file_view_close(struct file_view *v);

#endif
