/*
 * kept_words.h - finds the tokens of a text that are never split. Under
 * encoder.c, and asked only where there are such tokens.
 *
 * A text is taken in stretches: white space, a Chinese character that is set
 * apart, or what stands between such. Of a stretch first its cleaned text is looked
 * for, then, when the normalizer has made words of it, these joined. Plain ones, tokens of
 * small letters and digits with white space between them, come many at once: they
 * are words as they stand, so nothing needs to be looked for.
 *
 *	struct kept_words k;
 *	kept_words_init(&k, &rules, &never_split);
 *	end = kept_words_stretch(&k, p, text_end, &plain);
 *	rc = kept_words_take(&k, p, end, spans, &words);	(1: WORDS is that one word)
 *	... normalizer_next(n, &words)
 *	kept_words_join(&k, &words);				(one word now, if that is in the list)
 *	kept_words_release(&k);
 */
#ifndef TOKENIZER_KEPT_WORDS_H
#define TOKENIZER_KEPT_WORDS_H

#include "base/buf.h"
#include "tokenizer/never_split.h"
#include "tokenizer/normalize.h"

struct kept_words {
	const struct chars *chars;
	bool split_cjk;
	const struct never_split *tokens;
	struct buf text;			/* a stretch, cleaned */
	struct span *spans;			/* of its code points */
	size_t n_spans, cap_spans;
	uint32_t start, end;			/* of the one word */
};

void kept_words_init(struct kept_words *k, const struct normalizer_opts *rules, const struct never_split *tokens);
void kept_words_release(struct kept_words *k);		/* accepts a zeroed one */

/* The end of the stretch at P, p < end; whether it is a plain one to *PLAIN. */
const char *kept_words_stretch(const struct kept_words *k, const char *p, const char *end, bool *plain);

/* 1: what stands from P to END is in the list, and *W is it, with spans where they are asked for; 0 it is not; -1 failed. */
int kept_words_take(struct kept_words *k, const char *p, const char *end, bool spans, struct words *w);

/* Makes one word of the words of a stretch, if that is in the list. */
void kept_words_join(struct kept_words *k, struct words *w);

#endif
