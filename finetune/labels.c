#include "finetune/labels.h"

#include "base/buf.h"
#include "base/err.h"

#include <stdlib.h>
#include <string.h>

int labels_add(struct labels *l, const char *name)
{
	const size_t len = strlen(name);
	const int known = labels_find(l, name);
	uint64_t *number;

	if (known >= 0)
		return known;
	if (l->n == LABELS_MAX)
		return err_corrupt("there are more than %d different labels", LABELS_MAX);
	if (len > UINT32_MAX)
		return err_corrupt("a label has %zu bytes", len);
	if (array_grow(&l->names, &l->cap, (size_t)l->n + 1, sizeof(*l->names)))
		return -1;
	number = map_put(&l->numbers, name, len);
	if (!number)
		return -1;
	*number = (uint64_t)l->n;
	l->names[l->n] = l->numbers.entries[l->n].key;
	return l->n++;
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int labels_sort(struct labels *l, int32_t **by)
{
	if (by) {
		*by = malloc(((size_t)l->n + 1) * sizeof(**by));
		if (!*by)
			return err_memory();
	}
	if (l->n)
		qsort(l->names, (size_t)l->n, sizeof(*l->names), by_bytes);
	for (int i = 0; i < l->n; i++) {
		uint64_t *number = map_put(&l->numbers, l->names[i], strlen(l->names[i]));	/* it is there: cannot fail */

		if (by)
			(*by)[*number] = i;
		*number = (uint64_t)i;
	}
	return 0;
}

int labels_find(const struct labels *l, const char *name)
{
	const uint64_t *number = map_get(&l->numbers, name, strlen(name));

	return number ? (int)*number : -1;
}

bool labels_same(const struct labels *l, const char *const *names, int n)
{
	bool seen[LABELS_MAX] = { false };

	if (n != l->n)
		return false;
	for (int i = 0; i < n; i++) {
		const int number = labels_find(l, names[i]);

		if (number < 0 || seen[number])
			return false;
		seen[number] = true;
	}
	return true;
}

void labels_release(struct labels *l)
{
	free(l->names);
	map_release(&l->numbers);
	*l = (struct labels)LABELS_INIT;
}
