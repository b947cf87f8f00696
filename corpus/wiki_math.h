/*
 * wiki_math.h - formulas that can be read as text: "<math>x \le 2^n</math>" is "x ≤ 2^n".
 */
#ifndef CORPUS_WIKI_MATH_H
#define CORPUS_WIKI_MATH_H

#include "base/buf.h"
#include "corpus/span.h"

#include <stdbool.h>

/* Adds formula TEX (CHEMICAL: as in <chem> and <ce>) to B as text: 0; 1 when it is not plain enough (B holds rubbish then); -1 failed. */
int wiki_math(struct span tex, bool chemical, struct buf *b);

#endif
