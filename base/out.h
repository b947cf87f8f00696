/*
 * out.h - outputs that are whole or not there.
 *
 *	struct out *o;
 *	if (out_open(&o, path))			(NULL or "-": standard output)
 *		return -1;
 *	if (out_write(o, bytes, n) || ... || out_commit(o)) {
 *		out_discard(o);			(removes the temporary; accepts NULL)
 *		return -1;
 *	}					(a successful out_commit has freed O)
 *
 * A named file is written as ".NAME.PID.N.tmp" in the same folder, then fsynced,
 * renamed, and its folder fsynced, by out_commit. A signal that ends the
 * program (base/tool.h) removes it; one that a killed process left for the same
 * file is removed by out_open. What stood at PATH before stays until out_commit;
 * its mode is kept, a new file's follows the umask, and of a symbolic link the
 * file it leads to is replaced, or made if it is not there. A name that is a device or a pipe (/dev/full, a
 * FIFO), or that means an open descriptor (/dev/stdout, /dev/fd/3), is written
 * in place. A failed call leaves the reason set, naming the file; a write that
 * failed once fails again at every later call.
 */
#ifndef BASE_OUT_H
#define BASE_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct out;

int out_open(struct out **o, const char *path);
/*
 * The same for one of very many files of a folder that went through out_remove_stale: what was left for
 * this one is not looked for, since that takes a look at all names.
 */
int out_open_tidied(struct out **o, const char *path);
int out_write(struct out *o, const void *bytes, size_t n);
int out_printf(struct out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int out_write_at(struct out *o, uint64_t offset, const void *bytes, size_t n);	/* overwrites what was written; regular files only */
int out_flush(struct out *o);			/* what a reader at the other end of a pipe may wait for */
uint64_t out_offset(const struct out *o);	/* bytes written */
const char *out_name(const struct out *o);	/* as given; "standard output" */
bool out_is_terminal(const struct out *o);	/* binary writers refuse one */

/*
 * For several files that belong together: out_sync flushes and fsyncs, so that out_commit of what is
 * written until then has only to rename; out_remove_old removes, for good, what stands at the
 * file's name now. Neither does anything to what is written in place.
 */
int out_sync(struct out *o);
int out_remove_old(struct out *o);
int out_commit(struct out *o);			/* 0: whole, in place, o freed; -1: call out_discard */
void out_discard(struct out *o);

void out_remove_unfinished(void);		/* async-signal-safe: removes all temporaries of this process */

/*
 * Removes the temporaries that killed processes left in FOLDER: files named
 * ".NAME.PID.N.tmp" that no process holds. A writer holds a lock (flock) on its
 * temporary, so this is true of writers on other hosts and in other containers
 * too; where the file system has no locks, the PID must not live on this host.
 */
int out_remove_stale(const char *folder);

#endif
