/*
 * clean_text.h - lines that need nothing done to them, found 64 bytes at a
 * time. Under lines.h, which does everything else.
 *
 *	if (clean_text_best())
 *		n = clean_text_best()(text, len, doubtful, max, &n_doubtful);
 *
 * TEXT begins with a line. Text[0 .. n) is whole lines, each ended by \n, in
 * well-formed UTF-8 and with no \r before their end. Those that begin with
 * anything but a printing character of ASCII (and so may be blank, or begin with a
 * byte-order mark) are DOUBTFUL: the places of their first bytes are given,
 * in order. N may be less than there is: a scan ends early where something has to be
 * done, at the text's last 64 bytes, and when MAX, 64 at least, is nearly reached.
 */
#ifndef BASE_CLEAN_TEXT_H
#define BASE_CLEAN_TEXT_H

#include <stddef.h>
#include <stdint.h>

#define CLEAN_TEXT_MAX ((size_t)1 << 30)	/* bytes of a text */

typedef size_t clean_text_scan(const char *text, size_t len, uint32_t *doubtful, size_t max, size_t *n_doubtful);

clean_text_scan clean_text_avx2, clean_text_avx512;

/* The fastest for this processor; NULL where going line by line is. */
clean_text_scan *clean_text_best(void);

#endif
