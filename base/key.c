#include "base/key.h"

#include "base/err.h"

#include <inttypes.h>
#include <stdio.h>
#include <xxhash.h>

struct key key_of(const char *text, size_t len)
{
	const XXH128_hash_t h = XXH3_128bits(text, len);

	return (struct key){ h.high64, h.low64 };
}

int key_compare(struct key a, struct key b)
{
	if (a.hi != b.hi)
		return a.hi < b.hi ? -1 : 1;
	return a.lo < b.lo ? -1 : a.lo > b.lo;
}

void key_print(struct key k, char out[33])
{
	snprintf(out, 33, "%016" PRIx64 "%016" PRIx64, k.hi, k.lo);
}

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

int key_parse(const char *text, struct key *k)
{
	struct key r = { 0, 0 };

	for (unsigned i = 0; i < 32; i++) {
		const int d = digit_of(text[i]);

		if (d < 0)
			return err_usage("'%s' is no key of 32 hexadecimal digits", text);
		r.hi = r.hi << 4 | r.lo >> 60;
		r.lo = r.lo << 4 | (uint64_t)d;
	}
	if (text[32])
		return err_usage("'%s' is no key of 32 hexadecimal digits", text);
	*k = r;
	return 0;
}
