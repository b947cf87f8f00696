/*
 * book.h - plain-text books as Project Gutenberg makes them.
 *
 *	struct book book;
 *	if (book_open(&book, bytes, len))	(the whole file)
 *		return -1;
 *	while ((rc = book_next(&book, headings, chapters, &title, &text)) > 0)
 *		...				(one document: the book, or a chapter)
 *	book_close(&book);
 *
 * What stands outside "*** START OF ..." and "*** END OF ..." (and older forms)
 * is left out, with the credits and notes at its beginning, its table of
 * contents, illustrations' captions, page numbers, rows of asterisks and "THE END". A file
 * without these marks is a book from first line to last. Lines are joined to
 * paragraphs (one that ends in a dash without a space), _emphasis_ loses
 * its underscores. Bytes that are no UTF-8 are read as windows-1252 when the
 * header says that the book is in Latin-1 or ASCII, else repaired.
 *
 * A heading is a paragraph of its own like "CHAPTER IV. The Rabbit", "Book the
 * First", "XII." or "PREFACE".
 */
#ifndef CORPUS_BOOK_H
#define CORPUS_BOOK_H

#include "base/buf.h"
#include "corpus/span.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct book_paragraph {
	size_t start, len;	/* in body */
	unsigned lines;
	bool heading;
};

struct book {
	struct buf body;	/* paragraphs, tidied */
	struct book_paragraph *paragraphs;
	size_t n, cap, next;
	struct buf id, title;	/* of the header: "84", "Frankenstein"; empty where it does not say */
	uint64_t repaired;	/* ill-formed parts */
};

int book_open(struct book *book, const char *bytes, size_t len);
int book_next(struct book *book, bool headings, bool chapters, struct buf *title, struct buf *text);	/* 1, 0 at the end, -1 failed */
void book_close(struct book *book);

/* Whether a file is such a book: by its very first words, by a mark of its beginning on one of its first lines. */
bool book_begins(struct span head);
bool book_has_mark(struct span lines);

/* Whether PARAGRAPH of so many lines is a heading. */
bool book_is_heading(struct span paragraph, unsigned lines);

#endif
