/*
 * spill.h - sorting more than memory holds.
 *
 *	struct spill *s;
 *	if (spill_open(&s, &(struct spill_opts){ .memory = 64 << 20, .folder = tmp, .compare = by_key }))
 *		return -1;
 *	... spill_add(s, record, len) ...	(records of any length up to memory / 4)
 *	if (spill_sort(s))
 *		...
 *	while ((rc = spill_next(s, &record, &len)) > 0)
 *		...				(in order; good until the next call)
 *	spill_close(s);				(removes its files; accepts NULL)
 *
 * Records that compare equal come out in the order in which they were added.
 * What fits in MEMORY is sorted there. Beyond that, sorted runs are written to
 * an unlinked file in FOLDER, so nothing is left after a kill; all runs are
 * merged at once while their buffers fit in MEMORY, in several passes beyond
 * that. Everything it holds is within MEMORY: the records, 24 bytes more and
 * their length in one to ten for each, and all buffers.
 *
 * A failed call leaves nothing to go on with but spill_close.
 */
#ifndef BASE_SPILL_H
#define BASE_SPILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct spill;
struct spill_opts {
	size_t memory;			/* bytes; at least 64 KiB */
	const char *folder;		/* for runs; NULL: $TMPDIR, else /tmp */
	unsigned threads;		/* for sorting runs; 0 is 1 */
	/* Called by several threads at once when threads > 1. Records have no alignment. */
	int (*compare)(const void *a, size_t a_len, const void *b, size_t b_len, void *ctx);
	/*
	 * Optional, for speed: a number that is less for no record that compares
	 * greater. compare is asked only where these are equal.
	 */
	uint64_t (*prefix)(const void *record, size_t len, void *ctx);
	/*
	 * Optional: folds record B into A where they compare equal (say, adds
	 * their counts); A keeps its length. Applied whenever equal records meet,
	 * so it must be associative, and commutative as far as that shows.
	 */
	void (*combine)(void *a, size_t a_len, const void *b, size_t b_len, void *ctx);
	void *ctx;
};

int spill_open(struct spill **s, const struct spill_opts *opts);
int spill_add(struct spill *s, const void *record, size_t len);
int spill_sort(struct spill *s);			/* no more spill_add after it */
int spill_next(struct spill *s, const void **record, size_t *len);	/* 1, 0 at the end, -1 failed */
uint64_t spill_bytes_written(const struct spill *s);	/* to FOLDER, for reports */

/*
 * What was sorted without writing a run may also be read in any order, by any threads, as long as S lives: record I <
 * spill_held, and the memory that all of them take. Not with combine.
 */
bool spill_is_held(const struct spill *s);
size_t spill_held(const struct spill *s);
size_t spill_held_bytes(const struct spill *s);
const void *spill_record(const struct spill *s, size_t i, size_t *len);

void spill_close(struct spill *s);

/* A prefix for what is compared as bytes: the first eight, the first one most significant. */
uint64_t spill_prefix(const void *bytes, size_t len);
/* The same as an option, and the order of all bytes, what is the beginning of another before it. Neither looks at CTX. */
uint64_t spill_prefix_bytes(const void *record, size_t len, void *ctx);
int spill_compare_bytes(const void *a, size_t a_len, const void *b, size_t b_len, void *ctx);

#endif
