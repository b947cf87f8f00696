/*
 * word_counts.h - distinct words and how often each was met, in bounded memory.
 *
 *	struct word_counts *w;
 *	if (word_counts_open(&w, memory, threads))
 *		...
 *	word_counts_add(w, k, word, len)		(on thread K, from 0; each with a K of its own)
 *	word_counts_add_batch(w, k, &batch)
 *	...						(and when no thread adds any more)
 *	word_counts_each(w, take, ctx)			(each word once, in no order that means anything)
 *	word_counts_close(w);				(accepts NULL)
 *
 * Each thread has a table of its own; one that fills its share of the memory goes to sorted runs (base/spill.h),
 * and all are added up at the end. So the counts depend neither on threads nor on memory.
 *
 * Words are not empty and hold no zero byte. One of more than WORD_COUNTS_WHOLE code points may be as long as the text:
 * of it the beginning is kept, and a digest tells it from others.
 */
#ifndef TOKENIZER_WORD_COUNTS_H
#define TOKENIZER_WORD_COUNTS_H

#include "base/key.h"
#include "tokenizer/normalize.h"

#include <stddef.h>
#include <stdint.h>

#define WORD_COUNTS_MEMORY_LEAST ((uint64_t)1 << 20)
#define WORD_COUNTS_WHOLE 200		/* code points */
#define WORD_COUNTS_CUT 100		/* code points of a longer word that are kept */

struct word_counts;

/* It holds at most three quarters of MEMORY, which is WORD_COUNTS_MEMORY_LEAST or more; or 96 KiB for each thread, where that is more. */
int word_counts_open(struct word_counts **w, uint64_t memory, unsigned threads);
void word_counts_close(struct word_counts *w);

int word_counts_add(struct word_counts *w, unsigned k, const char *word, size_t len);
int word_counts_add_batch(struct word_counts *w, unsigned k, const struct words *batch);

struct counted_word {
	const char *text;		/* good until TAKE returns */
	size_t len;
	uint64_t count;
	uint64_t whole;			/* bytes of the word; more than LEN: TEXT is its beginning, */
	struct key digest;		/* and this the whole one's; else 0 */
};

/* Once only. TAKE: 0, or -1 failed, which ends it. */
int word_counts_each(struct word_counts *w, int (*take)(void *ctx, const struct counted_word *word), void *ctx);

uint64_t word_counts_cut(const struct word_counts *w);		/* how often a word was met that is not kept whole */
uint64_t word_counts_spilled(const struct word_counts *w);	/* bytes written to sorted runs */

#endif
