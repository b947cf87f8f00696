/*
 * entity.h - HTML's character references.
 */
#ifndef CORPUS_ENTITY_H
#define CORPUS_ENTITY_H

#include "corpus/span.h"

#include <stdint.h>

/*
 * The code point that S, which begins with '&', refers to ("&amp;", "&#8211;",
 * "&#x2013;"), the bytes of the reference in *SIZE; 0 when it is none. Names
 * are those of HTML 4 and &apos;. Numbers 128 to 159 mean what windows-1252
 * says, as in browsers.
 */
uint32_t entity_decode(struct span s, size_t *size);

uint32_t entity_windows_1252(unsigned char byte);	/* the code point of a byte in that encoding; U+FFFD where it has none */

#endif
