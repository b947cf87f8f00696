/*
 * letters.h - what a character may be to someone who looks for the ends of
 * sentences. Quotation marks come in three kinds because languages disagree:
 * "“" closes in German, "”" opens in Swedish, "»" does either.
 */
#ifndef CORPUS_LETTERS_H
#define CORPUS_LETTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum letter {
	LETTER_OTHER,		/* letters without case (Han, kana, Hangul, Arabic, Devanagari ...), symbols */
	LETTER_SPACE,
	LETTER_UPPER,
	LETTER_LOWER,
	LETTER_DIGIT,		/* currency signs too: they stand before digits */
	LETTER_DOT,		/* . */
	LETTER_STRONG,		/* ! ? and their doubles, Arabic question mark */
	LETTER_ELLIPSIS,	/* one character of three dots */
	LETTER_FULL,		/* ends a sentence without a space after it: CJK, danda, Urdu, Ethiopic, Khmer, ... */
	LETTER_OPEN,		/* opening brackets, inverted marks, low quotes: never close */
	LETTER_CLOSE,		/* closing brackets, superscript digits: never open */
	LETTER_QUOTE,		/* straight quotes, asterisk, underscore: no direction */
	LETTER_QUOTE_OPEN,	/* opens where it stands alone between spaces */
	LETTER_QUOTE_CLOSE,	/* closes where it stands alone between spaces */
	LETTER_DASH,
	LETTER_BULLET,
	LETTER_COMMA,		/* what a sentence does not begin with: , ; : / % ... */
};

enum letter letter_of(uint32_t cp);

/* Of the character at TEXT[at], at < len, in valid UTF-8; its size in bytes goes to *SIZE. */
enum letter letter_at(const char *text, size_t at, unsigned *size);

/* Of the character that ends before TEXT[at], start < at; *BEFORE is where it begins. */
enum letter letter_before(const char *text, size_t start, size_t at, size_t *before);

/* Whether L is a terminator: a dot, a strong one, an ellipsis or a full one. */
bool letter_stops(enum letter l);

/* Whether a letter or a digit stands at AT. */
bool letter_in_word(const char *text, size_t len, size_t at);

/* Whether WHAT stands at AT. */
bool letter_match(const char *text, size_t len, size_t at, const char *what);

/* Past the white space at AT. */
size_t letter_skip_spaces(const char *text, size_t len, size_t at);

#endif
