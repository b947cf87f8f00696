/*
 * segmenter.h - an outside program that cuts lines into words (mecab -Owakati,
 * jieba, kiwi), between a text and the tokenizer.
 *
 * It is one process for the whole text, given each line that is not blank, in order,
 * and gives a line for each: the same characters, with white space between words.
 * How far it reads before it gives anything is its own affair, so the text is taken in
 * items (blocks of lines, batches of documents), which wait here until all their
 * lines are back. What a line became is held against it later, on threads (cut_line.h).
 *
 *	struct segmenter *s;
 *	const struct segmenter_feed f = { .item_size = sizeof(struct block), .read = ..., .text = ..., .release = ..., .ctx = ... };
 *	if (segmenter_open(&s, "mecab -Owakati", &f))
 *		return -1;
 *	while ((rc = segmenter_next(s, &block, &cut)) > 0)
 *		...					(cut.data: a line for each of the block's that is not blank)
 *	segmenter_close(s);				(accepts NULL)
 *
 * Memory is that of the items that the process has been given and not yet
 * given back. Every way in which it can fail is EXIT_FAILED: it cannot be started, ends early, gives fewer lines or more,
 * or lines without end, or ends with another status than 0.
 */
#ifndef TOKENIZER_SEGMENTER_H
#define TOKENIZER_SEGMENTER_H

#include "base/buf.h"

#include <stddef.h>
#include <stdint.h>

/* Where items come from. An item may be moved; zeroed memory is an empty one. */
struct segmenter_feed {
	size_t item_size;
	int (*read)(void *ctx, void *item);	/* the next one: 1, 0 the end, -1 failed; what the item held before may be reused */
	const struct buf *(*text)(const void *item);	/* its lines, each ended by \n; blank ones empty */
	void (*release)(void *item);
	void *ctx;
};

struct segmenter;
int segmenter_open(struct segmenter **s, const char *command, const struct segmenter_feed *f);
void segmenter_close(struct segmenter *s);		/* ends the process, if it has not ended */

/*
 * The next item to ITEM, whose memory goes on being used, and what became of its lines to CUT, each ended by \n: 1, 0 at the
 * end, when the process has ended well, -1 failed.
 */
int segmenter_next(struct segmenter *s, void *item, struct buf *cut);

#endif
