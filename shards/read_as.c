/* Ids that are read as others. */
#include "shards/read_as.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/utf8.h"
#include "tokenizer/chars.h"

#include <stdlib.h>

#define MARK 2		/* bytes of ## */

/* The token that ID is without ##, if that is one Chinese character; else VOCAB_NONE. */
static uint32_t plain(const struct vocab *vocab, uint32_t id)
{
	size_t len;
	const char *token = vocab_token(vocab, id, &len);
	unsigned size;
	uint32_t cp;

	if (!vocab_is_continuation(vocab, id) || len == MARK)
		return VOCAB_NONE;
	cp = utf8_decode(token + MARK, len - MARK, &size, NULL);
	if (size != len - MARK || !(chars_entry(chars_google(NULL), cp)->flags & CHAR_CJK))
		return VOCAB_NONE;
	return vocab_id(vocab, token + MARK, len - MARK);
}

int read_as_plain_cjk(struct read_as **runs, size_t *n, const struct vocab *vocab)
{
	size_t cap = 0;

	*runs = NULL;
	*n = 0;
	for (uint32_t id = 0; id < vocab_size(vocab); id++) {
		const uint32_t to = plain(vocab, id);
		struct read_as *last = *n ? &(*runs)[*n - 1] : NULL;

		if (to == VOCAB_NONE)
			continue;
		if (last && last->last + 1 == id && last->to + (id - last->first) == to) {
			last->last = id;
			continue;
		}
		if (array_grow(runs, &cap, *n + 1, sizeof(**runs)))
			return -1;
		(*runs)[(*n)++] = (struct read_as){ id, id, to };
	}
	return *n ? 0 : err_fail("the vocabulary has no Chinese character both by itself and after ##");
}

/* The last of the runs that begins at ID or before; N > 0. Where none does, the first. */
static const struct read_as *find(const struct read_as *runs, size_t n, uint32_t id)
{
	size_t low = 0, high = n;

	while (high - low > 1) {
		const size_t middle = low + (high - low) / 2;

		if (runs[middle].first <= id)
			low = middle;
		else
			high = middle;
	}
	return &runs[low];
}

uint32_t read_as_id(const struct read_as *runs, size_t n, uint32_t id)
{
	const struct read_as *run;

	if (!n || id < runs[0].first || id > runs[n - 1].last)
		return id;
	run = find(runs, n, id);
	return id <= run->last ? run->to + (id - run->first) : id;
}

bool read_as_meets(const struct read_as *runs, size_t n, uint32_t first, uint32_t last)
{
	const struct read_as *run = n ? find(runs, n, last) : NULL;

	return run && run->first <= last && run->last >= first;
}

void read_as_apply(const struct read_as *runs, size_t n, struct instance *i)
{
	if (!n)
		return;
	for (uint32_t k = 0; k < i->n; k++)
		i->ids[k] = read_as_id(runs, n, i->ids[k]);
	for (uint32_t k = 0; k < i->predictions; k++)
		i->labels[k] = read_as_id(runs, n, i->labels[k]);
}
