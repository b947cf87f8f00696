/*
 * prose.h - what a stretch of text looks like.
 */
#ifndef CORPUS_PROSE_H
#define CORPUS_PROSE_H

#include "corpus/span.h"

#include <stdbool.h>

bool prose_has_word(struct span s);		/* a letter or digit of any script */
bool prose_ends_sentence(struct span s);	/* '.', '!', '?' or their like, before any closing quotes and brackets */

#endif
