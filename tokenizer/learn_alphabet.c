#include "tokenizer/learn_alphabet.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/lines.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

#define CODE_POINTS 0x110000

struct letter_count {
	uint32_t cp;
	bool initial;
	uint64_t count;
};

static int by_count(const void *pa, const void *pb)
{
	const struct letter_count *a = pa, *b = pb;

	if (a->initial != b->initial)
		return a->initial ? -1 : 1;
	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return (a->cp > b->cp) - (a->cp < b->cp);
}

static int by_code_point(const void *pa, const void *pb)
{
	const uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	return (a > b) - (a < b);
}

static void count_letters(const struct learn_words *w, uint32_t longest, uint64_t *counts, bool *inside)
{
	for (size_t i = 0; i < w->count; i++) {
		const char *p = learn_words_text(w, i), *const start = p, *const end = p + w->items[i].len;

		while (w->items[i].letters <= longest && p < end) {
			const bool first = p == start;
			const uint32_t cp = utf8_next(&p);

			counts[cp] += w->items[i].count;
			inside[cp] |= !first;
		}
	}
}

/* All code points that there are, in LIST; returns how many. */
static size_t list_letters(const uint64_t *counts, const bool *initial, struct letter_count *list)
{
	size_t n = 0;

	for (uint32_t cp = 0; cp < CODE_POINTS; cp++)
		if (counts[cp] || initial[cp]) {
			if (list)
				list[n] = (struct letter_count){ cp, initial[cp], counts[cp] };
			n++;
		}
	return n;
}

static int keep(struct alphabet *a, const struct letter_count *list, size_t n, uint64_t limit, const bool *inside)
{
	while (a->count < n && (list[a->count].initial || a->count < limit))
		a->count++;
	for (size_t i = a->count; i < n; i++)
		a->left_out_count += list[i].count;
	a->left_out = n - a->count;
	a->letters = malloc((a->count + 1) * sizeof(*a->letters));
	a->inside = malloc(a->count + 1);
	a->place = calloc(CODE_POINTS, sizeof(*a->place));
	if (!a->letters || !a->inside || !a->place)
		return err_memory();
	for (size_t i = 0; i < a->count; i++)
		a->letters[i] = list[i].cp;
	qsort(a->letters, a->count, sizeof(*a->letters), by_code_point);
	for (size_t i = 0; i < a->count; i++) {
		a->place[a->letters[i]] = (uint32_t)i + 1;
		a->inside[i] = inside[a->letters[i]];
		a->count_inside += a->inside[i];
	}
	return 0;
}

int alphabet_choose(struct alphabet *a, const struct learn_words *w, const uint32_t *initial, size_t n_initial,
		    uint64_t limit, uint32_t longest)
{
	uint64_t *counts = calloc(CODE_POINTS, sizeof(*counts));
	bool *inside = calloc(CODE_POINTS, 1), *is_initial = calloc(CODE_POINTS, 1);
	struct letter_count *list = NULL;
	size_t n;
	int rc = -1;

	memset(a, 0, sizeof(*a));
	if (!counts || !inside || !is_initial) {
		err_memory();
		goto end;
	}
	for (size_t i = 0; i < n_initial; i++)
		is_initial[initial[i]] = true;
	count_letters(w, longest, counts, inside);
	n = list_letters(counts, is_initial, NULL);
	list = malloc((n + 1) * sizeof(*list));
	if (!list) {
		err_memory();
		goto end;
	}
	list_letters(counts, is_initial, list);
	qsort(list, n, sizeof(*list), by_count);
	rc = keep(a, list, n, limit, inside);
end:
	if (rc)
		alphabet_release(a);
	free(list);
	free(is_initial);
	free(inside);
	free(counts);
	return rc;
}

void alphabet_release(struct alphabet *a)
{
	free(a->letters);
	free(a->inside);
	free(a->place);
	memset(a, 0, sizeof(*a));
}

/* --- initial letters --------------------------------------------------------------- */

static int mark_letters(struct normalizer *n, const char *text, size_t len, bool *seen)
{
	struct words batch;
	int rc;

	normalizer_start(n, text, len, false);
	while ((rc = normalizer_next(n, &batch)) > 0)
		for (size_t i = 0; i < batch.count; i++) {
			const char *p = batch.text + batch.starts[i], *const end = batch.text + batch.ends[i];

			while (p < end)
				seen[utf8_next(&p)] = true;
		}
	return rc;
}

static int list_seen(const bool *seen, uint32_t **letters, size_t *count)
{
	size_t cap = 0;

	for (uint32_t cp = 0; cp < CODE_POINTS; cp++) {
		if (!seen[cp])
			continue;
		if (array_grow(letters, &cap, *count + 1, sizeof(**letters)))
			return -1;
		(*letters)[(*count)++] = cp;
	}
	return 0;
}

int alphabet_read(const char *path, const struct normalizer_opts *o, uint32_t **letters, size_t *count)
{
	bool *seen = calloc(CODE_POINTS, 1);
	struct normalizer *n = normalizer_new(o);
	struct lines *lines = NULL;
	struct line line;
	int rc = -1;

	*letters = NULL;
	*count = 0;
	if (!seen)
		err_memory();
	if (!seen || !n || lines_open(&lines, &path, 1, &(struct lines_opts){ .strict = true }))
		goto end;
	while ((rc = lines_next(lines, &line)) > 0)
		if (mark_letters(n, line.text, line.len, seen)) {
			rc = -1;
			break;
		}
	if (!rc)
		rc = list_seen(seen, letters, count);
	if (rc) {
		free(*letters);
		*letters = NULL;
	}
end:
	lines_close(lines);
	normalizer_free(n);
	free(seen);
	return rc;
}
