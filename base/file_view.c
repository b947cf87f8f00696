/* The bytes of a regular file, read or mapped. */
#include "base/file_view.h"
#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define AROUND (2 << 20)	/* Linux maps what is in memory around a page that is touched, up to a huge page */

static int ends_early(const struct file_view *v, uint64_t at)
{
	return err_corrupt("'%s' ends early (cut short?) at byte %" PRIu64, v->path, at);
}

/* A map that cannot be had is no failure. */
static void map_whole(struct file_view *v, unsigned access)
{
	void *map;

	if (!v->size || v->size > SIZE_MAX)
		return;
	map = mmap(NULL, (size_t)v->size, PROT_READ, MAP_SHARED, v->fd, 0);
	if (map == MAP_FAILED)
		return;
	if (access & FILE_VIEW_SCATTERED)
		(void)madvise(map, (size_t)v->size, MADV_RANDOM);
	v->map = map;
}

int file_view_open(struct file_view *v, const char *path, unsigned access)
{
	struct stat st;

	*v = (struct file_view){ .path = path, .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) };	/* waits for no pipe's writer */
	if (v->fd < 0)
		return err_sys("cannot open '%s'", path);
	if (fstat(v->fd, &st))
		return err_sys("cannot read '%s'", path);
	if (!S_ISREG(st.st_mode))
		return err_fail("cannot read '%s': not a regular file", path);
	v->size = (uint64_t)st.st_size;
	if (access & FILE_VIEW_MAPPED)
		map_whole(v, access);
	if (!v->map && access & FILE_VIEW_SCATTERED)
		(void)posix_fadvise(v->fd, 0, 0, POSIX_FADV_RANDOM);
	return 0;
}

void file_view_close(struct file_view *v)
{
	if (v->map)
		munmap(v->map, (size_t)v->size);
	if (v->fd >= 0)
		close(v->fd);
	v->map = NULL;
	v->fd = -1;
}

/* --- maps ------------------------------------------------------------------------------ */

/* The stretch of the map that holds N bytes at OFFSET and begins and ends at addresses that are multiples of UNIT, or with the map. */
static void *stretch(const struct file_view *v, uint64_t offset, size_t n, uintptr_t unit, size_t *len)
{
	const uintptr_t map = (uintptr_t)v->map, map_end = map + (size_t)v->size, at = map + (size_t)offset;
	const uintptr_t first = at / unit * unit, end = (at + n + unit - 1) / unit * unit;
	const uintptr_t from = first > map ? first : map, to = end < map_end ? end : map_end;

	*len = to - from;
	return v->map + (from - map);
}

static uintptr_t page_bytes(void)
{
	return (uintptr_t)sysconf(_SC_PAGESIZE);
}

/* Whether the file, as it is now, has END bytes. */
static int check_size(const struct file_view *v, uint64_t end)
{
	struct stat st;

	if (fstat(v->fd, &st))
		return err_sys("cannot read '%s'", v->path);
	return (uint64_t)st.st_size < end ? ends_early(v, (uint64_t)st.st_size) : 0;
}

const unsigned char *file_view_at(const struct file_view *v, uint64_t offset, size_t n)
{
	size_t len;
	void *at;

	if (offset > v->size || n > v->size - offset) {
		ends_early(v, v->size);
		return NULL;
	}
	if (!n)
		return v->map + offset;
	at = stretch(v, offset, n, page_bytes(), &len);
	(void)madvise(at, len, MADV_WILLNEED);	/* as one request, where pages would come one by one */
#ifdef MADV_POPULATE_READ
	if (!madvise(at, len, MADV_POPULATE_READ))
		return check_size(v, offset + n) ? NULL : v->map + offset;
	if (errno != EINVAL) {
		const int why = errno;

		if (!check_size(v, offset + n)) {
			errno = why == EFAULT || why == EHWPOISON ? EIO : why;
			err_sys("cannot read '%s' at byte %" PRIu64, v->path, offset);
		}
		return NULL;
	}
#endif
	return check_size(v, offset + n) ? NULL : v->map + offset;
}

void file_view_done(const struct file_view *v, uint64_t offset, size_t n)
{
	const uintptr_t unit = page_bytes() < AROUND ? AROUND : page_bytes();
	size_t len;
	void *at = stretch(v, offset, n, unit, &len);

	(void)madvise(at, len, MADV_DONTNEED);
}

/* --- reading ---------------------------------------------------------------------------- */

static int copy_from_map(const struct file_view *v, uint64_t offset, void *a, size_t n_a, void *b, size_t n_b)
{
	const unsigned char *from = file_view_at(v, offset, n_a + n_b);

	if (!from)
		return -1;
	memcpy(a, from, n_a);
	if (n_b)
		memcpy(b, from + n_a, n_b);
	file_view_done(v, offset, n_a + n_b);
	return 0;
}

int file_view_read(const struct file_view *v, uint64_t offset, void *a, size_t n_a, void *b, size_t n_b)
{
	const size_t n = n_a + n_b;
	size_t done = 0;

	if (v->map)
		return copy_from_map(v, offset, a, n_a, b, n_b);
	while (done < n) {
		struct iovec to[2] = { { (char *)a + done, n_a - done }, { b, n_b } };
		ssize_t got;

		if (done >= n_a)
			to[0] = (struct iovec){ (char *)b + (done - n_a), n - done };
		got = preadv(v->fd, to, done >= n_a ? 1 : 2, (off_t)(offset + done));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_sys("cannot read '%s'", v->path);
		if (!got)
			return ends_early(v, offset + done);
		done += (size_t)got;
	}
	return 0;
}
