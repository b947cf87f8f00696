/* Lengths of sentences. */
#include "shards/lengths.h"
#include "base/err.h"
#include "shards/varint.h"

#include <inttypes.h>

static size_t bytes_of(const uint32_t *lengths, size_t n)
{
	size_t bytes = 0;

	for (size_t k = 0; k < n; k++)
		for (uint32_t v = lengths[k]; v; v >>= 7)
			bytes++;
	return bytes;
}

int lengths_put(struct buf *raw, const uint32_t *lengths, size_t n)
{
	unsigned char *out;

	if (buf_reserve(raw, bytes_of(lengths, n) + 1))
		return -1;
	out = (unsigned char *)raw->data + raw->len;
	for (size_t k = 0; k < n; k++)
		if (lengths[k])
			out += varint_put(out, lengths[k]);
	raw->len = (size_t)(out - (unsigned char *)raw->data);
	raw->data[raw->len] = 0;
	return 0;
}

int lengths_get(const unsigned char **p, const unsigned char *end, uint32_t tokens, struct lengths_ends *ends)
{
	uint64_t length;

	for (uint32_t at = 0; at < tokens;) {
		if (varint_get(p, end, &length))
			return err_corrupt("its sentences have fewer than its %" PRIu32 " tokens", tokens);
		if (!length || length > tokens - at)
			return err_corrupt("a sentence of %" PRIu64 " tokens, where %" PRIu32 " are left", length, tokens - at);
		at += (uint32_t)length;
		if (ends->most && ends->n == ends->most)
			return err_fail("the documents have more than %zu sentences, which memory does not hold", ends->most);
		if (array_grow(&ends->items, &ends->cap, ends->n + 1, sizeof(*ends->items)))
			return -1;
		ends->items[ends->n++] = at;
	}
	return 0;
}
