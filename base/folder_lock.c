#include "base/folder_lock.h"

#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

/*
 * The lock is on the folder itself, so there is no file whose removal others
 * could miss, and it goes with the process, however that ends.
 */
int folder_lock(int *lock, const char *folder, bool shared, const char *program)
{
	int rc;

	*lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*lock < 0)
		return err_sys("cannot open '%s'", folder);
	do
		rc = flock(*lock, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB);
	while (rc && errno == EINTR);
	if (!rc || errno != EWOULDBLOCK)
		return 0;
	close(*lock);
	*lock = -1;
	return err_fail("another %s is at work in '%s'", program, folder);
}
