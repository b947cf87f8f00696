/*
 * abbreviations.h - what the sentence rules know of each language.
 *
 * Constant data: for each language a few lists of words, parted by spaces.
 * A list's word is given without its last full stop ("mr", "z.b"). One that is
 * written in lower case stands for any case; a capital asks for that capital
 * ("Gen" is general, but not the end of "gen.").
 *
 *	const struct language *l = abbreviations_of("de");	(NULL: unknown)
 *	for (size_t i = 0; i < abbreviations_count; i++)
 *		... abbreviations[i].code, .name		(in the order of the codes)
 */
#ifndef CORPUS_ABBREVIATIONS_H
#define CORPUS_ABBREVIATIONS_H

#include <stdbool.h>
#include <stddef.h>

struct language {
	const char *code;	/* ISO 639-1; "und" is any other language */
	const char *name;
	const char *joins;	/* never end a sentence: "Mr.", "e.g." */
	const char *counts;	/* do not before a number: "vol. 3", "No. 7" */
	const char *ends;	/* may, when a starter follows: "Inc.", "p.m." */
	const char *starters;	/* words that, with a capital, most likely begin a sentence */
	const char *pronoun;	/* a word that has its capital everywhere; NULL: none */
	bool ordinals;		/* "3." is "third": whole numbers of one or two digits are like ENDS */
};

extern const struct language abbreviations[];
extern const size_t abbreviations_count;

const struct language *abbreviations_of(const char *code);

#endif
