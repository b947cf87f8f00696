/*
 * cut_line.h - a line as a segmenter (segmenter.h) has cut it into words, held
 * against the line.
 *
 * A segmenter may add white space and leave some out, and nothing else. So
 * the two are gone through together, character by character; what comes out is the line's own
 * characters with a space wherever the segmenter has put white space, and for each of them
 * where it stands in the line.
 *
 *	struct cut_line c = CUT_LINE_INIT;
 *	if (cut_line_make(&c, line, len, cut, cut_len, true))
 *		...			(EXIT_FAILED: it is another text, or no UTF-8)
 *	... tokens of c.text, spans in it
 *	cut_line_spans(&c, spans, n);	(in the line now)
 *	cut_line_release(&c);
 */
#ifndef TOKENIZER_CUT_LINE_H
#define TOKENIZER_CUT_LINE_H

#include "base/buf.h"
#include "tokenizer/ids.h"

#include <stdbool.h>

struct cut_line {
	struct buf text;
	uint64_t *places;	/* of each code point of TEXT: that of the line which it is, or, of added white space, of what comes next */
	size_t n_places, cap_places;
};
#define CUT_LINE_INIT { BUF_INIT, NULL, 0, 0 }

/* LINE (valid UTF-8) and CUT are both without line ends. PLACES: spans will be asked for. */
int cut_line_make(struct cut_line *c, const char *line, size_t len, const char *cut, size_t cut_len, bool places);

/*
 * The same for TEXT, lines that are not blank and each end in \n, of which the first became the line at *CUT, which ends in \n
 * too, before CUT_END: adds what they became to OUT, each ended by \n, and moves *CUT behind them. The number of lines that
 * were done to *N: of all, or before the one that failed.
 */
int cut_lines(const char *text, size_t len, const char **cut, const char *cut_end, struct buf *out, size_t *n);

/* Spans, not empty, of words in c->text become those of the line. */
void cut_line_spans(const struct cut_line *c, struct span *spans, size_t n);
void cut_line_release(struct cut_line *c);

#endif
