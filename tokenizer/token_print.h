/*
 * token_print.h - a line's tokens as text.
 *
 *	struct token_printer *p = token_printer_new(t, TOKEN_IDS, 0);
 *	token_print(p, line, len, &out);		(adds to OUT, "\n" included)
 *	token_printer_free(p);
 *
 * One printer a thread: it holds an encoder.
 */
#ifndef TOKENIZER_TOKEN_PRINT_H
#define TOKENIZER_TOKEN_PRINT_H

#include "base/buf.h"
#include "tokenizer/tokenizer.h"

#include <stdint.h>

enum token_form {
	TOKEN_IDS,	/* "14477 20961 3468" */
	TOKEN_TOKENS,	/* "una ##ffa ##ble" */
	TOKEN_WORDS,	/* "unaffable": basic tokens */
	TOKEN_OFFSETS,	/* "14477:0:3 20961:3:6 3468:6:9": ids, and code points of the line */
	/* One word a line, and an empty line after each line of the text: */
	TOKEN_WORD_OFFSETS,	/* "unaffable 0 9" */
	TOKEN_EXPLAIN,	/* "Unaffable<TAB>unaffable<TAB>una ##ffa ##ble<TAB>14477 20961 3468", a reason after [UNK] */
	/* The way back: a line holds ids, between white space. */
	TOKEN_DECODED,	/* "unaffable" for "14477 20961 3468" */
};

enum token_flag {
	TOKEN_ADD_SPECIAL = 1,	/* [CLS] before and [SEP] after the ids or tokens of a line that has any */
	TOKEN_BYTES = 2,	/* places in bytes of the line, not code points */
};

struct token_printer;

/* FORM is an enum token_form; T must outlive it. NULL: out of memory, T's vocabulary lacks [CLS] or [SEP] and FLAGS ask for them, or as encoder_new. */
struct token_printer *token_printer_new(const struct tokenizer *t, int form, unsigned flags);
void token_printer_free(struct token_printer *p);		/* accepts NULL */

/* -1 with the reason set; to be decoded, a line of anything but ids that the vocabulary has is EXIT_CORRUPT. */
int token_print(struct token_printer *p, const char *text, size_t len, struct buf *out);

/* The same for many lines, each ended by \n, at once; how many there were, or came before the one that failed, to *N. */
int token_print_lines(struct token_printer *p, const char *text, size_t len, struct buf *out, size_t *n);

/*
 * The same of lines that a segmenter has cut (segmenter.h): CUT has a line for each of TEXT's that is not blank, each
 * ended by \n. Places and texts that are printed are those of TEXT. EXIT_FAILED where a line is another than TEXT's.
 */
int token_print_cut_lines(struct token_printer *p, const char *text, size_t len, const struct buf *cut, struct buf *out, size_t *n);

uint64_t token_printer_count(const struct token_printer *p);	/* tokens (or words) printed so far */

#endif
