/*
 * fs.h - files and folders, with reasons (base/err.h) when they fail.
 */
#ifndef BASE_FS_H
#define BASE_FS_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

char *fs_join(const char *folder, const char *name);	/* "folder/name"; the caller frees */
bool fs_exists(const char *path);
int fs_size(const char *path, uint64_t *bytes);		/* regular files only */
int fs_make_folder(const char *path);			/* with its parents; an existing folder is fine */
int fs_sync_folder(const char *path);			/* fsync of the folder itself */
int fs_read_all(const char *path, size_t limit, struct buf *b);	/* a whole small file, added to B; more than LIMIT bytes: EXIT_CORRUPT */
int fs_write_all(const char *path, const void *bytes, size_t n);	/* temporary + fsync + rename (base/out.h) */
int fs_remove_tree(const char *path);			/* a folder and all in it; absent is fine */

/* Names in FOLDER, sorted by bytes, without "." and "..". fs_free_names accepts NULL. */
int fs_list(const char *folder, char ***names, size_t *count);
void fs_free_names(char **names, size_t count);

#endif
