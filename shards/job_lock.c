/* One run at a time in a folder, or the parts of one. */
#include "shards/job_impl.h"
#include "base/folder_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#define TRIES 6000
#define BETWEEN 10000000	/* nanoseconds */

/* Where the file system has no locks, claim_work's look at options.json must do. */
int job_lock(struct job *j)
{
	return folder_lock(&j->lock, j->opts.folder, j->opts.staged && !j->inputs.streams, "bert-shard");
}

void job_unlock(struct job *j)
{
	if (j->lock >= 0)
		close(j->lock);
	j->lock = -1;
}

int job_lock_samples(struct job *j)
{
	unsigned tries = 0;

	if (fs_make_folder(j->work))
		return -1;
	j->sampling = open(j->work, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (j->sampling < 0)
		return errno == ENOENT ? 0 : err_sys("cannot open '%s'", j->work);	/* another part may have finished all */
	while (flock(j->sampling, LOCK_EX | LOCK_NB) && (errno == EINTR || errno == EWOULDBLOCK) && tries++ < TRIES)
		(void)nanosleep(&(struct timespec){ .tv_nsec = BETWEEN }, NULL);
	return 0;
}

void job_unlock_samples(struct job *j)
{
	if (j->sampling >= 0)
		close(j->sampling);
	j->sampling = -1;
}
