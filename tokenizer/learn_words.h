/*
 * learn_words.h - distinct words with their counts, as many as there is room for.
 *
 *	struct learn_words w;
 *	learn_words_init(&w, room);
 *	... learn_words_add(&w, word, len, count) ...	(each word once, in any order)
 *	for (size_t i = 0; i < w.count; i++)
 *		... learn_words_text(&w, i), w.items[i].len, .count
 *	learn_words_release(&w);
 *
 * A word is charged with the memory that learning from it takes (LEARN_WORD_COST,
 * LEARN_LETTER_COST). When the words do not fit in ROOM, those that occur least
 * are dropped: all words of the lowest count, then all of the next, until the
 * rest fits. So which words are kept depends on the words and on ROOM, not on
 * the order in which they come.
 */
#ifndef TOKENIZER_LEARN_WORDS_H
#define TOKENIZER_LEARN_WORDS_H

#include "base/buf.h"

#include <stddef.h>
#include <stdint.h>

/* Bytes of memory that a word, and each of its code points, takes in learning: measured, rounded up. */
#define LEARN_WORD_COST 64
#define LEARN_LETTER_COST 48

/* Longer words are [UNK] to the tokenizer whatever the vocabulary, so nothing is learnt from them. */
#define LEARN_WORD_MAX 200		/* code points */

/* More code points than this, in all words together, are not kept: learn_bpe numbers them in 32 bits. */
#define LEARN_LETTERS_MAX ((uint64_t)1 << 30)

struct learn_word {
	size_t start;			/* in TEXT */
	uint32_t len, letters;		/* bytes, code points */
	uint64_t count;
};

struct learn_words {
	struct learn_word *items;
	size_t count, cap;
	struct buf text;
	uint64_t room, cost;
	uint64_t floor;			/* words with this count or less were dropped; 0: none */
	uint64_t dropped;		/* how many */
	uint64_t dropped_count;		/* the sum of their counts */
	uint64_t least, most;		/* counts of the rarest and the commonest word, of all that were added or noted */
};

void learn_words_init(struct learn_words *w, uint64_t room);
int learn_words_add(struct learn_words *w, const char *word, size_t len, uint64_t count);	/* count > 0, len > 0 */
void learn_words_note(struct learn_words *w, uint64_t count);	/* a word that nothing is learnt from */
void learn_words_release(struct learn_words *w);

static inline const char *learn_words_text(const struct learn_words *w, size_t i)
{
	return w->text.data + w->items[i].start;
}

#endif
