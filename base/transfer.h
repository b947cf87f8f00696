/*
 * transfer.h - one try at getting the bytes of a URL into a partial file. For fetch.c.
 */
#ifndef BASE_TRANSFER_H
#define BASE_TRANSFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum transfer_result {
	TRANSFER_DONE,		/* the partial file is whole, as far as the other side says */
	TRANSFER_SAME,		/* nothing was fetched: the other side has what is in place */
	TRANSFER_RESTART,	/* it has changed since, or does not go on from there: the partial file was emptied */
	TRANSFER_AGAIN,		/* the reason is set; it may pass */
	TRANSFER_FAILED,	/* the reason is set; it will not pass */
};

#define TRANSFER_VALIDATOR_MAX 512

struct transfer {
	const char *url;
	int fd;			/* the partial file */
	const char *path;	/* its name, for reasons */
	uint64_t have;		/* bytes in it; this try and later ones go on from there */
	uint64_t reused;	/* those of them that were there before the first try */
	char validator[TRANSFER_VALIDATOR_MAX];	/* tells the version they are from; "" unknown */
	bool in_place;		/* there is a finished file of this size and time (seconds since 1970) */
	uint64_t in_place_size;
	int64_t in_place_time;
	int (*remember)(struct transfer *t);	/* keeps the validator for later processes; -1 with the reason set */
	void (*advance)(struct transfer *t);	/* have has grown */
	void *ctx;
	/* filled: */
	int64_t modified;	/* time of the last change, -1 unknown */
	double wait;		/* seconds that the other side asks for, with TRANSFER_AGAIN */
};

enum transfer_result transfer_http(struct transfer *t);	/* http and https */
enum transfer_result transfer_local(struct transfer *t, const char *source);	/* a file on this machine */

/* For both: empties the partial file, for what VALIDATOR tells; adds bytes to it. -1 with the reason set. */
int transfer_begin(struct transfer *t, const char *validator);
int transfer_add(struct transfer *t, const void *bytes, size_t n);

#endif
