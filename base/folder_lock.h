/*
 * folder_lock.h - who is at work in a folder: one run, or the parts of one.
 *
 *	int lock;
 *	if (folder_lock(&lock, folder, false, "bert-import"))
 *		return -1;
 *	...
 *	close(lock);				(or the process ends, however)
 */
#ifndef BASE_FOLDER_LOCK_H
#define BASE_FOLDER_LOCK_H

#include <stdbool.h>

/*
 * Refused (EXIT_FAILED): another run of PROGRAM is at work in FOLDER, which exists; SHARED: one that is not. *LOCK is the
 * folder, open; -1 on failure. Where the file system has no such locks, nobody is refused.
 */
int folder_lock(int *lock, const char *folder, bool shared, const char *program);

#endif
