/*
 * wiki_raise.h - raised and lowered numbers: km² for km<sup>2</sup>.
 */
#ifndef CORPUS_WIKI_RAISE_H
#define CORPUS_WIKI_RAISE_H

#include "base/buf.h"
#include "corpus/span.h"

#include <stdbool.h>

#define WIKI_RAISED_MAX 24	/* longer ones stay as they are */

/* Whether S is digits and signs alone, all of which Unicode has raised and lowered; not when empty. */
bool wiki_can_raise(struct span s);
int wiki_raise(struct span s, bool lower, struct buf *b);	/* adds it, raised or lowered */

#endif
