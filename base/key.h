/*
 * key.h - the 128-bit keys of documents.
 *
 * A document's key is XXH3-128 (seed 0) of its lines joined by \n, none at the
 * end (base/lines.h). The most significant half orders first.
 */
#ifndef BASE_KEY_H
#define BASE_KEY_H

#include <stddef.h>
#include <stdint.h>

struct key {
	uint64_t hi, lo;
};

int key_compare(struct key a, struct key b);		/* -1, 0, 1 */
struct key key_of(const char *text, size_t len);
void key_print(struct key k, char out[33]);		/* 32 lower-case hexadecimal digits */
int key_parse(const char *text, struct key *k);		/* its inverse, of either case; -1 with the reason set (EXIT_USAGE) */

#endif
