#include "base/fs.h"

#include "base/err.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *fs_join(const char *folder, const char *name)
{
	size_t f = strlen(folder), n = strlen(name);
	const size_t slash = f && folder[f - 1] != '/';
	char *path = malloc(f + slash + n + 1);

	if (!path) {
		err_memory();
		return NULL;
	}
	memcpy(path, folder, f);
	if (slash)
		path[f] = '/';
	memcpy(path + f + slash, name, n + 1);
	return path;
}

bool fs_exists(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0;
}

int fs_size(const char *path, uint64_t *bytes)
{
	struct stat st;

	if (stat(path, &st))
		return err_sys("cannot read '%s'", path);
	if (!S_ISREG(st.st_mode))
		return err_fail("cannot read '%s': not a regular file", path);
	*bytes = (uint64_t)st.st_size;
	return 0;
}

/* One level; somebody else may make it at the same moment. */
static int make_one(const char *path, const char *whole)
{
	struct stat st;

	if (mkdir(path, 0777) == 0)
		return 0;
	if (errno == EEXIST && stat(path, &st) == 0) {
		if (S_ISDIR(st.st_mode))
			return 0;
		errno = ENOTDIR;
	}
	return err_sys("cannot make folder '%s'", whole);
}

int fs_make_folder(const char *path)
{
	char *part = strdup(path);
	int rc = -1;

	if (!part)
		return err_memory();
	for (char *p = part; *p; p++) {
		struct stat st;

		if (*p != '/' || p == part || p[-1] == '/')
			continue;
		*p = 0;
		/* Parents that are there are left alone: mkdir may fail with EROFS or EACCES instead of EEXIST. */
		if ((stat(part, &st) || !S_ISDIR(st.st_mode)) && make_one(part, path))
			goto out;
		*p = '/';
	}
	rc = make_one(part, path);
out:
	free(part);
	return rc;
}

int fs_sync_folder(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = 0;

	if (fd < 0)
		return err_sys("cannot open folder '%s'", path);
	if (fsync(fd) && errno != EINVAL)	/* EINVAL: this file system has nothing to sync */
		rc = err_sys("cannot sync folder '%s'", path);
	close(fd);
	return rc;
}

static int read_fd(int fd, const char *path, size_t limit, struct buf *b)
{
	const size_t start = b->len;

	for (;;) {
		const size_t left = limit - (b->len - start);
		size_t want = b->cap - b->len;
		ssize_t n;

		if (want < 4096)
			want = 65536;
		if (want > left)
			want = left + 1;	/* one more, to see that there is more */
		if (buf_reserve(b, want))
			return -1;
		n = read(fd, b->data + b->len, want);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys("cannot read '%s'", path);
		if ((size_t)n > left)
			return err_corrupt("cannot read '%s': longer than %zu bytes", path, limit);
		b->len += (size_t)n;
		b->data[b->len] = 0;
		if (n == 0)
			return 0;
	}
}

int fs_read_all(const char *path, size_t limit, struct buf *b)
{
	const size_t start = b->len;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int rc;

	if (fd < 0)
		return err_sys("cannot read '%s'", path);
	rc = read_fd(fd, path, limit, b);
	if (rc && b->data) {
		b->len = start;
		b->data[start] = 0;
	}
	close(fd);
	return rc;
}

static int remove_at(int parent, const char *name, const char *top);

/* Empties the folder open at FD, which it closes. */
static int empty(int fd, const char *top)
{
	DIR *d = fdopendir(fd);
	int rc = 0;

	if (!d) {
		rc = err_sys("cannot remove '%s'", top);
		close(fd);
		return rc;
	}
	while (!rc) {
		struct dirent *e;

		errno = 0;
		e = readdir(d);
		if (!e) {
			if (errno)
				rc = err_sys("cannot remove '%s'", top);
			break;
		}
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			rc = remove_at(fd, e->d_name, top);
	}
	closedir(d);
	return rc;
}

/*
 * Never follows a link: what is no folder is unlinked, a folder is entered by
 * O_NOFOLLOW and emptied through its own descriptor.
 */
static int remove_at(int parent, const char *name, const char *top)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 && (errno == ENOTDIR || errno == ELOOP)) {
		if (unlinkat(parent, name, 0) && errno != ENOENT)
			return err_sys("cannot remove '%s' in '%s'", name, top);
		return 0;
	}
	if (fd < 0)
		return errno == ENOENT ? 0 : err_sys("cannot remove '%s' in '%s'", name, top);
	if (empty(fd, top))
		return -1;
	if (unlinkat(parent, name, AT_REMOVEDIR) && errno != ENOENT)
		return err_sys("cannot remove '%s' in '%s'", name, top);
	return 0;
}

int fs_remove_tree(const char *path)
{
	return remove_at(AT_FDCWD, path, path);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int fs_list(const char *folder, char ***names, size_t *count)
{
	DIR *d = opendir(folder);
	char **list = NULL;
	size_t n = 0, cap = 0;
	struct dirent *e;

	if (!d)
		return err_sys("cannot read folder '%s'", folder);
	while (errno = 0, (e = readdir(d))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		if (array_grow(&list, &cap, n + 1, sizeof(*list)))
			goto fail;
		list[n] = strdup(e->d_name);
		if (!list[n]) {
			err_memory();
			goto fail;
		}
		n++;
	}
	if (errno) {
		err_sys("cannot read folder '%s'", folder);
		goto fail;
	}
	closedir(d);
	if (n)
		qsort(list, n, sizeof(*list), by_name);
	*names = list;
	*count = n;
	return 0;
fail:
	closedir(d);
	fs_free_names(list, n);
	return -1;
}

void fs_free_names(char **names, size_t count)
{
	for (size_t i = 0; names && i < count; i++)
		free(names[i]);
	free(names);
}
