/*
 * sha256.h - the SHA-256 of bytes in memory, as people write it. (Of files: fetch_sum.h.)
 */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include <stddef.h>

#define SHA256_HEX (2 * 32 + 1)		/* digits, and the 0 */

/* HEX = 64 hexadecimal digits. -1 where libcrypto has no SHA-256. */
int sha256_hex(const void *data, size_t len, char hex[SHA256_HEX]);

#endif
