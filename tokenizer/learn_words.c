#include "tokenizer/learn_words.h"

#include "base/err.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

void learn_words_init(struct learn_words *w, uint64_t room)
{
	const uint64_t most = LEARN_LETTERS_MAX * LEARN_LETTER_COST;

	*w = (struct learn_words){ .text = BUF_INIT, .room = room < most ? room : most };
}

void learn_words_release(struct learn_words *w)
{
	free(w->items);
	buf_release(&w->text);
	memset(w, 0, sizeof(*w));
}

static uint64_t cost_of(const struct learn_word *item)
{
	return LEARN_WORD_COST + (uint64_t)LEARN_LETTER_COST * item->letters;
}

/* Drops all words of the lowest count that is there. */
static void drop_rarest(struct learn_words *w)
{
	uint64_t rarest = UINT64_MAX;
	size_t kept = 0, end = 0;

	for (size_t i = 0; i < w->count; i++)
		if (w->items[i].count < rarest)
			rarest = w->items[i].count;
	for (size_t i = 0; i < w->count; i++) {
		struct learn_word item = w->items[i];

		if (item.count == rarest) {
			w->cost -= cost_of(&item);
			w->dropped++;
			w->dropped_count += item.count;
			continue;
		}
		memmove(w->text.data + end, w->text.data + item.start, item.len);
		item.start = end;
		end += item.len;
		w->items[kept++] = item;
	}
	w->text.len = end;
	w->count = kept;
	w->floor = rarest;
}

void learn_words_note(struct learn_words *w, uint64_t count)
{
	if (!w->least || count < w->least)
		w->least = count;
	if (count > w->most)
		w->most = count;
}

int learn_words_add(struct learn_words *w, const char *word, size_t len, uint64_t count)
{
	struct learn_word item = { .start = w->text.len, .len = (uint32_t)len, .count = count };

	learn_words_note(w, count);
	if (count <= w->floor) {
		w->dropped++;
		w->dropped_count += count;
		return 0;
	}
	if (array_grow(&w->items, &w->cap, w->count + 1, sizeof(*w->items)) || buf_add(&w->text, word, len))
		return -1;
	item.letters = (uint32_t)utf8_count(word, len);
	w->items[w->count++] = item;
	w->cost += cost_of(&item);
	while (w->cost > w->room)
		drop_rarest(w);
	return 0;
}
