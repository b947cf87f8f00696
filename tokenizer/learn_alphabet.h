/*
 * learn_alphabet.h - the characters that a vocabulary knows.
 *
 *	struct alphabet a;
 *	if (alphabet_choose(&a, words, initial, n_initial, limit, longest))
 *		return -1;
 *	... a.letters[0 .. a.count-1], a.inside[i]
 *	alphabet_release(&a);
 *
 * Of all code points of the words the most frequent are kept, a tie going to
 * the lower code point, until there are LIMIT; the initial ones are kept
 * before all others, even those that no word has. Words of more than LONGEST
 * code points are not looked at.
 */
#ifndef TOKENIZER_LEARN_ALPHABET_H
#define TOKENIZER_LEARN_ALPHABET_H

#include "tokenizer/learn_words.h"
#include "tokenizer/normalize.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct alphabet {
	uint32_t *letters;		/* sorted by code point */
	bool *inside;			/* whether some word has it after its first character */
	size_t count, count_inside;
	uint32_t *place;		/* [0x110000]: 1 + place in LETTERS, 0: left out */
	size_t left_out;		/* different code points that are not kept */
	uint64_t left_out_count;	/* and how often they occur */
};

int alphabet_choose(struct alphabet *a, const struct learn_words *w, const uint32_t *initial, size_t n_initial,
		    uint64_t limit, uint32_t longest);
void alphabet_release(struct alphabet *a);

/*
 * The code points of the words of a text file, each once, for INITIAL above: *LETTERS is the caller's to free.
 * -1 with the reason set; ill-formed UTF-8 is EXIT_CORRUPT.
 */
int alphabet_read(const char *path, const struct normalizer_opts *o, uint32_t **letters, size_t *count);

#endif
