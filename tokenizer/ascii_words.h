/*
 * ascii_words.h - ASCII text to words, 64 bytes at a time where the processor
 * can. Under normalize.h, which does everything else.
 *
 * Most text is ASCII, and there the rules are few: letters and digits make
 * words, lower-cased where asked for; every other printing character is a word;
 * tab, line ends and the space separate; control characters are dropped, which
 * is left to the caller. Beyond ASCII one block is known, U+2000 to U+203F, that
 * has the dashes and quotation marks of English.
 *
 *	struct ascii_words w = { .rules = ..., .out = ..., };
 *	p = ascii_words_best()(&w, p, end);		(p is behind what was taken)
 *
 * Text is copied whole, separators too, so that only the places of words
 * are written beside it; a word lies in one piece, also when its letters come
 * from several calls and from the caller.
 */
#ifndef TOKENIZER_ASCII_WORDS_H
#define TOKENIZER_ASCII_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ASCII_WORDS_SLACK 192		/* room beyond what is asked for: bytes of OUT, items of the arrays */

struct ascii_rules {
	bool lower;			/* letters are lower-cased */
	uint64_t dashes;		/* bit b: U+2000 + b is a mark that is a word and stays as it is */
};

struct ascii_words {
	struct ascii_rules rules;
	char *out;			/* room for STOP + ASCII_WORDS_SLACK bytes */
	size_t len;			/* bytes in it */
	size_t stop;			/* return soon once LEN has reached it; at most UINT32_MAX - ASCII_WORDS_SLACK */
	size_t word_start;		/* a word is open: out[word_start .. len); none if that is empty */
	uint32_t *starts, *ends;	/* of the finished words: out[starts[i] .. ends[i]); room for one a byte that OUT has room for */
	size_t count;
	uint32_t *lines;		/* words that were finished at each line end; room likewise */
	size_t n_lines;
};

/*
 * Takes text from P on; returns where it stopped: at END, once w->len has reached w->stop, or before a
 * character that it does not know: a control character other than \t, \n and \r, or one beyond ASCII.
 */
typedef const char *ascii_words_take(struct ascii_words *w, const char *p, const char *end);

ascii_words_take ascii_words_plain, ascii_words_avx2, ascii_words_avx512;

/* The fastest for this processor; all give the same words. */
ascii_words_take *ascii_words_best(void);

/* Whether C is ASCII that the above takes. */
static inline bool ascii_words_knows(unsigned char c)
{
	return (c >= ' ' && c < 0x7F) || c == '\t' || c == '\n' || c == '\r';
}

#endif
