/*
 * labels.h - the names of classes, and their numbers.
 *
 *	struct labels l = LABELS_INIT;
 *	labels_add(&l, "Negative") ...		(each row's, in any order, often)
 *	labels_sort(&l, NULL);			(by bytes: numbers are final)
 *	labels_find(&l, "Negative")		(0; -1: no such class)
 *	labels_release(&l);
 */
#ifndef FINETUNE_LABELS_H
#define FINETUNE_LABELS_H

#include "base/map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LABELS_MAX 10000		/* more are a column of something else */

struct labels {
	const char **names;		/* [n], copies that live as long as the struct */
	int n;
	/* private */
	size_t cap;
	struct map numbers;
};
#define LABELS_INIT { .names = NULL }

/*
 * The number of NAME, the next one where it is new. -1 with the reason set: more
 * than LABELS_MAX (EXIT_CORRUPT, without the place), out of memory.
 */
int labels_add(struct labels *l, const char *name);

/* Numbers them anew, in the order of their bytes. *BY, when BY is not NULL: [n] the new number of each old one, to be freed. */
int labels_sort(struct labels *l, int32_t **by);

/* NUMBERS [n] of before become those of now. */
static inline void labels_renumber(int32_t *numbers, size_t n, const int32_t *by)
{
	for (size_t i = 0; i < n; i++)
		numbers[i] = by[numbers[i]];
}

int labels_find(const struct labels *l, const char *name);	/* -1: no such class; no reason set */
bool labels_same(const struct labels *l, const char *const *names, int n);	/* the same names, each once, in any order */
void labels_release(struct labels *l);				/* empty, ready for use again */

#endif
