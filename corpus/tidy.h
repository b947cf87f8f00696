/*
 * tidy.h - the last touch on a line of text: white space, and what holes leave behind.
 *
 * Runs of white space of any kind (Unicode's, no-break spaces and control
 * characters) become one space, none stays at the ends; soft hyphens, zero width
 * spaces, direction marks and byte-order marks go. Joiners stay: scripts and emoji need them.
 *
 * A hole is a mark that the extractor leaves where it dropped something. Only
 * there is punctuation mended: "Albedo (HOLE) or" is "Albedo or", "(HOLE; born
 * 1900)" is "(born 1900)", "in HOLE, the" is "in, the"; "f()" without a hole
 * stays as it is.
 */
#ifndef CORPUS_TIDY_H
#define CORPUS_TIDY_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

#define TIDY_HOLE 0x01

/* Adds TEXT (valid UTF-8) to B, tidied. HOLES: whether TIDY_HOLE marks a hole; else it is a control character as others. */
int tidy(const char *text, size_t len, bool holes, struct buf *b);

#endif
