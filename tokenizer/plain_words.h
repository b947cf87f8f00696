/*
 * plain_words.h - text to words where that is easy, 64 bytes at a time where
 * the processor can. Under normalize.h, which does everything else.
 *
 * Most text is ASCII, and there the rules are few: letters and digits make
 * words, lower-cased where asked for; every other printing character is a word;
 * tab, line ends and the space separate; control characters are dropped, which
 * is left to the caller. Beyond ASCII the caller's table says of each character
 * below U+10000 whether it makes words, is one, or separates; then it stays as it is.
 *
 *	struct plain_words w = { .rules = ..., .out = ..., };
 *	p = plain_words_best()(&w, p, end);		(p is behind what was taken)
 *
 * Text is copied whole, separators too, so that only the places of words
 * are written beside it; a word lies in one piece, also when its letters come
 * from several calls and from the caller.
 */
#ifndef TOKENIZER_PLAIN_WORDS_H
#define TOKENIZER_PLAIN_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLAIN_WORDS_SLACK 192		/* room beyond what is asked for: bytes of OUT, items of the arrays */

/* What a character beyond ASCII is. */
enum plain_kind {
	PLAIN_LETTER,			/* part of a word */
	PLAIN_WORD,			/* a word */
	PLAIN_SPACE,			/* between words */
	PLAIN_NOT,			/* this and higher: none of these, which ends what is taken */
};

struct plain_rules {
	bool lower;			/* letters of ASCII are lower-cased */
	const unsigned char *kinds;	/* [0x10000]; of ASCII as above */
	unsigned char leads[16];	/* what all characters that begin with byte 0xE0 + i are; PLAIN_NOT: not all the same, or none of these */
};

struct plain_words {
	struct plain_rules rules;
	char *out;			/* room for STOP + PLAIN_WORDS_SLACK bytes */
	size_t len;			/* bytes in it */
	size_t stop;			/* return soon once LEN has reached it; at most UINT32_MAX - PLAIN_WORDS_SLACK */
	size_t word_start;		/* a word is open: out[word_start .. len); none if that is empty */
	uint32_t *starts, *ends;	/* of the finished words: out[starts[i] .. ends[i]); room for one a byte that OUT has room for */
	size_t count;
	uint32_t *lines;		/* words that were finished at each line end; room likewise */
	size_t n_lines;
};

/*
 * Takes text from P on, of valid UTF-8; returns where it stopped: at END, once w->len has reached w->stop, or before a
 * character that it does not take: a control character other than \t, \n and \r, one that is PLAIN_NOT, or one from U+10000 on.
 */
typedef const char *plain_words_take(struct plain_words *w, const char *p, const char *end);

plain_words_take plain_words_single, plain_words_avx2, plain_words_avx512;

/* The fastest for this processor; all give the same words. */
plain_words_take *plain_words_best(void);

/* Whether C is ASCII that the above takes. */
static inline bool plain_words_has_ascii(unsigned char c)
{
	return (c >= ' ' && c < 0x7F) || c == '\t' || c == '\n' || c == '\r';
}

#endif
