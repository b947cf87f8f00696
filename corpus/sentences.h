/*
 * sentences.h - where sentences end.
 *
 *	struct sentences *rules;
 *	if (sentences_open(&rules, "en"))	(EXIT_USAGE when the language is not known)
 *		return -1;
 *	struct sentence_scan scan;
 *	sentence_start(&scan, rules, line, len);
 *	while (sentence_next(&scan, &text, &n))
 *		...				(text points into line)
 *	sentences_close(rules);
 *
 * A line is a paragraph: a sentence never goes beyond it. The sentences of a
 * line, in order, are the line but for white space at its ends and where it was
 * cut; no sentence is empty. A blank line has none. The rules, in short:
 *
 *	1. Full stops of scripts without capitals (CJK, danda, Urdu, Khmer ...) end
 *	   a sentence wherever they stand, after any closing quotes and brackets.
 *	2. "!", "?" and ellipses end one when white space and then anything but a
 *	   small letter or a comma follow. (A line without any capital is taken for
 *	   lower-cased text: there small letters may follow.)
 *	3. So does ".", unless the word before it is an initial, a list's number, an
 *	   abbreviation of the language, or letters with stops between ("U.S."):
 *	   those end one only when a word follows that usually begins sentences.
 *	4. A line that begins with a list's mark ("1.", "2)", a bullet) is also cut
 *	   before each next mark of that list.
 *
 * Time is linear in the length of the line, whatever it holds. The rules are
 * read-only after sentences_open and may be shared by threads.
 */
#ifndef CORPUS_SENTENCES_H
#define CORPUS_SENTENCES_H

#include "corpus/listing.h"

#include <stdbool.h>
#include <stddef.h>

struct sentences;
int sentences_open(struct sentences **s, const char *language);	/* a code of abbreviations.h */
void sentences_close(struct sentences *s);			/* accepts NULL */

struct sentence_scan {
	const struct sentences *rules;
	const char *text;
	size_t len;
	size_t at;			/* where the next sentence begins */
	int lower_cased;		/* 1: the line has no capital, -1: it has; 0: not looked yet */
	struct listing list;		/* the list that the line is, if it is one */
};

/* TEXT is valid UTF-8 and outlives the scan. */
void sentence_start(struct sentence_scan *scan, const struct sentences *rules, const char *text, size_t len);

/* The next sentence: true, or false at the end of the line. */
bool sentence_next(struct sentence_scan *scan, const char **text, size_t *len);

#endif
