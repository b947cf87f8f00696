#include "tokenizer/wordpiece.h"

#include "base/err.h"
#include "base/utf8.h"
#include "tokenizer/never_split.h"
#include "tokenizer/token_table.h"

#include <stdlib.h>

struct wordpiece {
	const struct token_table *table;
	struct token_start first, further;	/* nothing, and "##" */
	uint32_t unk;
	uint64_t max_word;
	const struct never_split *kept;		/* NULL: none */
};

struct wordpiece *wordpiece_new(const struct vocab *v, uint64_t max_word)
{
	struct wordpiece *w = malloc(sizeof(*w));

	if (!w) {
		err_memory();
		return NULL;
	}
	*w = (struct wordpiece){ .table = vocab_table(v), .first = token_start_of("", 0), .further = token_start_of("##", 2),
				 .unk = vocab_special(v).unk, .max_word = max_word };
	return w;
}

void wordpiece_free(struct wordpiece *w)
{
	free(w);
}

void wordpiece_keep(struct wordpiece *w, const struct never_split *n)
{
	w->kept = n;
}

bool wordpiece_keeps(const struct wordpiece *w, const char *word, size_t len)
{
	return w->kept && never_split_has(w->kept, word, len);
}

size_t wordpiece_match(const struct wordpiece *w, const char *text, size_t len, bool continued, uint32_t *id)
{
	return token_table_longest(w->table, continued ? &w->further : &w->first, text, len, id);
}

bool wordpiece_too_long(const struct wordpiece *w, const char *word, size_t len)
{
	return len > w->max_word && utf8_count(word, len) > w->max_word;
}

int wordpiece_encode(const struct wordpiece *w, const char *word, size_t len, struct ids *ids)
{
	const struct token_start *start = &w->first;
	uint32_t *out;

	if (wordpiece_keeps(w, word, len)) {
		const uint32_t whole = token_table_find(w->table, word, len);

		return ids_add(ids, whole == TOKEN_NONE ? w->unk : whole);
	}
	if (wordpiece_too_long(w, word, len))
		return ids_add(ids, w->unk);
	if (ids_reserve(ids, len))		/* a piece has a byte at least */
		return -1;
	out = ids->items + ids->count;
	for (size_t at = 0, n; at < len; at += n) {
		n = token_table_longest(w->table, start, word + at, len - at, out++);
		if (!n)
			return ids_add(ids, w->unk);
		start = &w->further;
	}
	ids->count = (size_t)(out - ids->items);
	return 0;
}
