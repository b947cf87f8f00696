/*
 * hdf5.h - the HDF5 library with our reasons, where it is there (HAVE_HDF5).
 * One thread at a time.
 *
 * The library opens files by name, so ours are written to a file that loses its
 * name at once, and copied from there: a file is whole or not there, whatever
 * ends the program.
 */
#ifndef SHARDS_HDF5_H
#define SHARDS_HDF5_H

#if HAVE_HDF5

#include <hdf5.h>

void hdf5_start(void);			/* the library says nothing by itself; as often as wanted */

/* A new file in FOLDER, which has no name; *FD is the caller's to read and close. -1: reason set. */
hid_t hdf5_create(const char *folder, int *fd);

/* Sets the reason: the text, then the library's own. EXIT_FAILED; hdf5_corrupt: EXIT_CORRUPT. Both return -1. */
int hdf5_failed(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
int hdf5_corrupt(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
#endif
