/* The unknown words that were met most. */
#include "base/err.h"
#include "shards/canon.h"
#include "shards/stats_impl.h"

#include <stdlib.h>
#include <string.h>

struct top_word {
	char *text;
	size_t len;
	uint64_t count, whole;		/* as in struct counted_word */
	struct key digest;
};

/* The first MOST of all so far, and maybe as many others. */
struct top {
	struct top_word *items;
	size_t n, cap, most;
	uint64_t least;			/* rarer ones are none of them */
	uint64_t distinct;
};

/* The most frequent first; equally frequent ones in the order of their bytes. */
static int compare_words(const void *a, const void *b)
{
	const struct top_word *x = a, *y = b;
	int rc;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	rc = memcmp(x->text, y->text, x->len < y->len ? x->len : y->len);
	if (rc || x->len != y->len)
		return rc ? rc : x->len < y->len ? -1 : 1;
	if (x->whole != y->whole)
		return x->whole < y->whole ? -1 : 1;
	return key_compare(x->digest, y->digest);
}

static void top_release(struct top *t)
{
	for (size_t k = 0; k < t->n; k++)
		free(t->items[k].text);
	free(t->items);
}

static void sort_and_cut(struct top *t)
{
	if (t->n)
		qsort(t->items, t->n, sizeof(*t->items), compare_words);
	for (; t->n > t->most; t->n--)
		free(t->items[t->n - 1].text);
	if (t->n == t->most && t->n)
		t->least = t->items[t->n - 1].count;
}

static int take_word(void *ctx, const struct counted_word *word)
{
	struct top *t = ctx;
	char *text;

	t->distinct++;
	if (!t->most || word->count < t->least)
		return 0;
	if (t->n >= 2 * t->most)
		sort_and_cut(t);
	text = strndup(word->text, word->len);
	if (!text || array_grow(&t->items, &t->cap, t->n + 1, sizeof(*t->items))) {
		free(text);
		return err_memory();
	}
	t->items[t->n++] = (struct top_word){ text, word->len, word->count, word->whole, word->digest };
	return 0;
}

static json_t *word_json(const struct top_word *w)
{
	json_t *o = json_object();

	if (!o || canon_set(o, "word", json_stringn(w->text, w->len)) || canon_set(o, "count", canon_of_uint(w->count)) ||
	    (w->whole > w->len && canon_set(o, "bytes", canon_of_uint(w->whole)))) {
		json_decref(o);
		return NULL;
	}
	return o;
}

static json_t *words_json(const struct top *t)
{
	json_t *list = json_array();

	for (size_t k = 0; list && k < t->n; k++) {
		if (json_array_append_new(list, word_json(&t->items[k]))) {
			json_decref(list);
			list = NULL;
		}
	}
	return list;
}

int stats_set_unknown(json_t *o, const struct stats *s)
{
	struct top t = { .most = s->unknown_most };
	int rc = word_counts_each(s->unknown, take_word, &t);

	if (!rc) {
		sort_and_cut(&t);
		rc = canon_set(o, "distinct_unknown_words", canon_of_uint(t.distinct)) ||
		     canon_set(o, "unknown_words", words_json(&t)) ? -1 : 0;
	}
	top_release(&t);
	return rc;
}
