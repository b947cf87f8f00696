#include "base/out.h"

#include "base/err.h"
#include "base/fs.h"

#include <assert.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_BYTES ((size_t)128 << 10)
#define BEGUN_BYTES ((uint64_t)4 << 20)	/* written, after which the disk is asked to begin: so that fsync has little left to wait for */
#define LINKS_MAX 40		/* symbolic links in a row, as the kernel has it */
#define NAME_KEPT 200		/* bytes of NAME in the temporary's, so that no name gets too long for a folder */

/* --- temporaries that a signal must remove ------------------------------------- */

/*
 * A list of slots that only grows; a slot's file is NULL while it is free. The
 * signal handler may run on any thread at any moment, so there is no lock:
 * it announces itself in `readers` before it looks at a file, and
 * whoever has taken a file out of its slot frees it only when nobody reads.
 */
struct unfinished {
	pid_t pid;		/* who made it: a forked child leaves its parent's alone */
	char path[];
};
struct slot {
	_Atomic(struct unfinished *) file;
	struct slot *next;
};
static _Atomic(struct slot *) slots;
static atomic_uint readers;
static atomic_uint serial;

static struct slot *unfinished_add(struct unfinished *u)
{
	struct slot *s;

	for (s = atomic_load(&slots); s; s = s->next) {
		struct unfinished *none = NULL;

		if (atomic_compare_exchange_strong(&s->file, &none, u))
			return s;
	}
	s = calloc(1, sizeof(*s));
	if (!s) {
		err_memory();
		return NULL;
	}
	atomic_init(&s->file, u);
	s->next = atomic_load(&slots);
	while (!atomic_compare_exchange_weak(&slots, &s->next, s))
		;
	return s;
}

static void unfinished_drop(struct slot *s)
{
	struct unfinished *u = atomic_exchange(&s->file, NULL);

	if (atomic_load(&readers) == 0)
		free(u);
}

void out_remove_unfinished(void)
{
	const pid_t self = getpid();
	const int saved = errno;

	atomic_fetch_add(&readers, 1);
	for (struct slot *s = atomic_load(&slots); s; s = s->next) {
		const struct unfinished *u = atomic_load(&s->file);

		if (u && u->pid == self)
			unlink(u->path);
	}
	atomic_fetch_sub(&readers, 1);
	errno = saved;
}

/* --- what killed processes left ------------------------------------------------- */

/* Bytes of TARGET before the last part of its name: 0, or with a slash at their end. */
static size_t folder_len(const char *target)
{
	const char *slash = strrchr(target, '/');

	return slash ? (size_t)(slash - target) + 1 : 0;
}

static char *folder_of(const char *target)
{
	const size_t len = folder_len(target);

	return len ? strndup(target, len > 1 ? len - 1 : 1) : strdup(".");
}

/* Whether NAME is ".NAME.PID.N.tmp"; its PID, and bytes of NAME. Read from the end, since NAME may hold dots. */
static bool is_temporary(const char *name, long *pid, size_t *name_len)
{
	const size_t len = strlen(name);
	const char *p = name + len - 4;
	unsigned numbers = 0;

	if (name[0] != '.' || len < 4 || strcmp(p, ".tmp"))
		return false;
	while (numbers < 2) {
		const char *end = p;

		while (p > name && isdigit((unsigned char)p[-1]))
			p--;
		if (p == end || p - 1 <= name || p[-1] != '.')
			return false;
		p--;
		numbers++;
	}
	*name_len = (size_t)(p - name) - 1;
	errno = 0;
	*pid = strtol(p + 1, NULL, 10);
	return errno == 0 && *pid > 0 && *pid <= INT_MAX;
}

/* Unlinks a temporary while holding its lock, so that no writer can believe that it has it. -1 and errno. */
static int remove_if_stale(const char *path, long pid)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	bool held;
	int why = 0;

	if (fd < 0)
		return errno == ENOENT || errno == EACCES || errno == ELOOP ? 0 : -1;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		held = false;
	else if (errno == EWOULDBLOCK)
		held = true;
	else
		held = kill((pid_t)pid, 0) == 0 || errno != ESRCH;
	if (!held && unlink(path) && errno != ENOENT)
		why = errno;
	close(fd);
	errno = why;
	return why ? -1 : 0;
}

/* Those of TARGET alone. What cannot be looked at or removed stays: nobody asked for it to be tidied up. */
static void remove_stale_of(const char *target)
{
	const char *base = target + folder_len(target);
	const size_t len = strnlen(base, NAME_KEPT);
	char *folder = folder_of(target), *path;
	DIR *dir = folder ? opendir(folder) : NULL;
	const struct dirent *entry;
	size_t name_len;
	long pid;

	free(folder);
	while (dir && (entry = readdir(dir))) {
		const char *name = entry->d_name;

		if (!is_temporary(name, &pid, &name_len) || name_len != len || memcmp(name + 1, base, len))
			continue;
		if (asprintf(&path, "%.*s%s", (int)folder_len(target), target, name) < 0)
			continue;
		remove_if_stale(path, pid);
		free(path);
	}
	if (dir)
		closedir(dir);
}

int out_remove_stale(const char *folder)
{
	char **names = NULL;
	size_t count = 0;
	int rc = fs_list(folder, &names, &count);

	for (size_t i = 0; i < count && rc == 0; i++) {
		char *path;
		size_t name_len;
		long pid;

		if (!is_temporary(names[i], &pid, &name_len))
			continue;
		path = fs_join(folder, names[i]);
		rc = path ? 0 : -1;
		if (path && remove_if_stale(path, pid))
			rc = err_sys("cannot remove '%s'", path);
		free(path);
	}
	fs_free_names(names, count);
	return rc;
}

/* --- opening ------------------------------------------------------------------- */

struct out {
	char *name;		/* as given */
	char *target;		/* what the temporary becomes; NULL: written in place */
	struct slot *slot;	/* its temporary, while there is one */
	int fd;
	bool keep_open;		/* a descriptor that is not ours */
	bool tidied;		/* the folder was, by who opens it */
	bool synced;		/* nothing was written since the last fsync */
	int error;		/* errno of the first write that failed */
	uint64_t flushed;	/* bytes written before the buffer's */
	uint64_t begun;		/* of these the disk was asked to take so many */
	size_t used;
	char *buffer;
};

static const char *temporary(const struct out *o)
{
	return atomic_load(&o->slot->file)->path;
}

/* The open descriptor that PATH is another name of, or -1: opening it anew would start at the file's first byte. */
static int descriptor_of(const char *path)
{
	static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };

	if (!strcmp(path, "/dev/stdout"))
		return STDOUT_FILENO;
	if (!strcmp(path, "/dev/stderr"))
		return STDERR_FILENO;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		const size_t n = strlen(folders[i]);
		char *end;
		long fd;

		if (strncmp(path, folders[i], n) || !isdigit((unsigned char)path[n]))
			continue;
		fd = strtol(path + n, &end, 10);
		if (!*end && fd <= INT_MAX)
			return (int)fd;
	}
	return -1;
}

/* "FOLDER/.NAME.PID.N.tmp" for TARGET. */
static struct unfinished *name_temporary(const char *target)
{
	const int folder = (int)folder_len(target);
	const char *base = target + folder;
	const size_t size = strlen(target) + 64;
	struct unfinished *u = malloc(sizeof(*u) + size);

	if (!u) {
		err_memory();
		return NULL;
	}
	u->pid = getpid();
	snprintf(u->path, size, "%.*s.%.*s.%ld.%u.tmp", folder, target, NAME_KEPT, base, (long)u->pid,
		 atomic_fetch_add(&serial, 1));
	return u;
}

/*
 * Makes one temporary and locks it. 1: made; 0: take another name, since this
 * one is taken, or out_remove_stale of another process got at it before the lock.
 */
static int try_temporary(struct out *o)
{
	struct unfinished *u = name_temporary(o->target);
	struct stat st;
	int why;

	if (!u)
		return -1;
	o->slot = unfinished_add(u);
	if (!o->slot) {
		free(u);
		return -1;
	}
	o->fd = open(u->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (o->fd >= 0) {
		while (flock(o->fd, LOCK_EX) && errno == EINTR)
			;
		if (fstat(o->fd, &st) == 0 && st.st_nlink > 0)
			return 1;
		close(o->fd);
		o->fd = -1;
		errno = EEXIST;
	}
	why = errno;
	unfinished_drop(o->slot);
	o->slot = NULL;
	errno = why;
	return why == EEXIST ? 0 : err_sys("cannot create '%s'", o->name);
}

/* What LINK, a symbolic link, says, as seen from where it stands; NULL and errno when it is none. */
static char *read_link(const char *link)
{
	char to[PATH_MAX], *path = NULL;
	const ssize_t n = readlink(link, to, sizeof(to));

	if (n < 0)
		return NULL;
	if (n == (ssize_t)sizeof(to)) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	if (asprintf(&path, "%.*s%.*s", *to == '/' ? 0 : (int)folder_len(link), link, (int)n, to) < 0)
		return NULL;
	return path;
}

/* The name that PATH leads to through symbolic links, whether there is a file or not; NULL and errno. */
static char *follow_links(const char *path)
{
	char *name = strdup(path), *next;

	for (int i = 0; name && i < LINKS_MAX; i++) {
		next = read_link(name);
		if (!next && (errno == EINVAL || errno == ENOENT))
			return name;
		free(name);
		name = next;
		if (!name)
			return NULL;
	}
	free(name);
	errno = ELOOP;
	return NULL;
}

static int open_temporary(struct out *o, const struct stat *existing)
{
	int rc;

	o->target = follow_links(o->name);
	if (!o->target)
		return err_sys("cannot create '%s'", o->name);
	if (!o->tidied)
		remove_stale_of(o->target);
	while ((rc = try_temporary(o)) == 0)
		;
	if (rc < 0)
		return -1;
	/* Only the owner may do this; another's file gets the mode of a new one. */
	if (existing && fchmod(o->fd, existing->st_mode & 0777) && errno != EPERM)
		return err_sys("cannot set the mode of '%s'", o->name);
	return 0;
}

static int open_named(struct out *o)
{
	const int fd = descriptor_of(o->name);
	struct stat st;
	const bool exists = stat(o->name, &st) == 0;

	if (fd >= 0) {
		o->fd = fd;
		o->keep_open = true;
		return fcntl(fd, F_GETFL) < 0 ? err_sys("cannot write '%s'", o->name) : 0;
	}
	if (exists && S_ISDIR(st.st_mode))
		return err_fail("cannot create '%s': is a directory", o->name);
	if (!*o->name || o->name[strlen(o->name) - 1] == '/')
		return err_fail("cannot create '%s': not the name of a file", o->name);
	if (!exists || S_ISREG(st.st_mode))
		return open_temporary(o, exists ? &st : NULL);
	o->fd = open(o->name, O_WRONLY | O_CLOEXEC);
	return o->fd < 0 ? err_sys("cannot open '%s'", o->name) : 0;
}

static int open_out(struct out **result, const char *path, bool tidied)
{
	const bool standard = !path || !strcmp(path, "-");
	struct out *o = calloc(1, sizeof(*o));

	*result = NULL;
	if (!o)
		return err_memory();
	o->fd = -1;
	o->tidied = tidied;
	o->name = strdup(standard ? "standard output" : path);
	o->buffer = malloc(BUFFER_BYTES);
	if (!o->name || !o->buffer) {
		out_discard(o);
		return err_memory();
	}
	if (standard) {
		o->fd = STDOUT_FILENO;
		o->keep_open = true;
	} else if (open_named(o)) {
		out_discard(o);
		return -1;
	}
	*result = o;
	return 0;
}

int out_open(struct out **o, const char *path)
{
	return open_out(o, path, false);
}

int out_open_tidied(struct out **o, const char *path)
{
	return open_out(o, path, true);
}

/* --- writing ------------------------------------------------------------------- */

static int write_failed(struct out *o)
{
	if (!o->error)
		o->error = errno;
	errno = o->error;
	return err_sys("cannot write '%s'", o->name);
}

/* Somebody may have made a descriptor that we share non-blocking. */
static bool wait_until_writable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	return poll(&p, 1, -1) >= 0 || errno == EINTR;
}

/* OFFSET < 0: at the descriptor's own place. */
static int write_all(struct out *o, const char *bytes, size_t n, off_t offset)
{
	if (n)
		o->synced = false;
	while (n) {
		const ssize_t done = offset < 0 ? write(o->fd, bytes, n) : pwrite(o->fd, bytes, n, offset);

		if (done < 0) {
			if (errno == EINTR || (errno == EAGAIN && wait_until_writable(o->fd)))
				continue;
			return write_failed(o);
		}
		bytes += done;
		n -= (size_t)done;
		if (offset >= 0)
			offset += done;
	}
	return 0;
}

/* N more bytes were written. Where the disk cannot be asked, fsync does all of it. */
static void count_flushed(struct out *o, size_t n)
{
	o->flushed += n;
	if (!o->target || o->flushed - o->begun < BEGUN_BYTES)
		return;
	(void)sync_file_range(o->fd, (off_t)o->begun, (off_t)(o->flushed - o->begun), SYNC_FILE_RANGE_WRITE);
	o->begun = o->flushed;
}

int out_flush(struct out *o)
{
	if (o->error)
		return write_failed(o);
	if (write_all(o, o->buffer, o->used, -1))
		return -1;
	count_flushed(o, o->used);
	o->used = 0;
	return 0;
}

int out_write(struct out *o, const void *bytes, size_t n)
{
	if (n > BUFFER_BYTES - o->used && out_flush(o))
		return -1;
	if (n >= BUFFER_BYTES) {
		if (write_all(o, bytes, n, -1))
			return -1;
		count_flushed(o, n);
	} else if (n) {
		memcpy(o->buffer + o->used, bytes, n);
		o->used += n;
	}
	return 0;
}

int out_printf(struct out *o, const char *fmt, ...)
{
	char small[256], *text = small;
	va_list ap;
	int n, rc;

	va_start(ap, fmt);
	n = vsnprintf(small, sizeof(small), fmt, ap);
	va_end(ap);
	if (n >= (int)sizeof(small)) {
		text = NULL;
		va_start(ap, fmt);
		n = vasprintf(&text, fmt, ap);
		va_end(ap);
	}
	if (n < 0)
		return err_memory();
	rc = out_write(o, text, (size_t)n);
	if (text != small)
		free(text);
	return rc;
}

int out_write_at(struct out *o, uint64_t offset, const void *bytes, size_t n)
{
	assert(offset + n <= out_offset(o));
	if (!o->target)
		return err_fail("cannot go back in '%s': not a file of its own", o->name);
	if (out_flush(o))
		return -1;
	return write_all(o, bytes, n, (off_t)offset);
}

uint64_t out_offset(const struct out *o)
{
	return o->flushed + o->used;
}

const char *out_name(const struct out *o)
{
	return o->name;
}

bool out_is_terminal(const struct out *o)
{
	return isatty(o->fd);
}

/* --- ending -------------------------------------------------------------------- */

static int sync_folder_of(const char *target)
{
	char *folder = folder_of(target);
	const int rc = folder ? fs_sync_folder(folder) : err_memory();

	free(folder);
	return rc;
}

int out_sync(struct out *o)
{
	if (out_flush(o))
		return -1;
	if (!o->target || o->synced)
		return 0;
	if (fsync(o->fd))
		return write_failed(o);
	o->synced = true;
	return 0;
}

int out_remove_old(struct out *o)
{
	if (!o->target)
		return 0;
	if (unlink(o->target))
		return errno == ENOENT ? 0 : err_sys("cannot remove the old '%s'", o->name);
	return sync_folder_of(o->target);
}

/* The lock is held until the temporary has its new name. */
static int put_in_place(struct out *o)
{
	if (rename(temporary(o), o->target))
		return err_sys("cannot rename the finished '%s' into place", o->name);
	unfinished_drop(o->slot);
	o->slot = NULL;
	return sync_folder_of(o->target);
}

int out_commit(struct out *o)
{
	if (out_sync(o) || (o->target && put_in_place(o)))
		return -1;
	if (!o->keep_open) {
		const int rc = close(o->fd);

		o->fd = -1;
		if (rc)
			return write_failed(o);
	}
	out_discard(o);
	return 0;
}

void out_discard(struct out *o)
{
	if (!o)
		return;
	if (o->slot) {
		unlink(temporary(o));
		unfinished_drop(o->slot);
	}
	if (o->fd >= 0 && !o->keep_open)
		close(o->fd);
	free(o->buffer);
	free(o->target);
	free(o->name);
	free(o);
}
