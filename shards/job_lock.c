/* One run at a time in a folder, or the parts of one. */
#include "shards/job_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

/*
 * The lock is on the folder itself, so there is no file whose removal others
 * could miss, and it goes with the process, however that ends. Where the file
 * system has no such locks, claim_work's look at options.json must do.
 */
int job_lock(struct job *j)
{
	int rc;

	j->lock = open(j->opts.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (j->lock < 0)
		return err_sys("cannot open '%s'", j->opts.folder);
	do
		rc = flock(j->lock, (j->opts.staged && !j->inputs.streams ? LOCK_SH : LOCK_EX) | LOCK_NB);
	while (rc && errno == EINTR);
	if (rc && errno == EWOULDBLOCK)
		return err_fail("another bert-shard is at work in '%s'", j->opts.folder);
	return 0;
}

void job_unlock(struct job *j)
{
	if (j->lock >= 0)
		close(j->lock);
	j->lock = -1;
}
