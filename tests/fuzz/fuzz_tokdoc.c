/*
 * Arbitrary bytes as records of token documents. What is taken must come back
 * to the same bytes when it is encoded again. The first byte chooses the width
 * of ids and the vocabulary's size.
 */
#include "base/err.h"
#include "shards/tokdoc.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void need(int ok)
{
	if (!ok)
		abort();
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	const unsigned char *p = data + 1, *end = data + size, *before;
	struct tokdoc d = TOKDOC_INIT;
	struct buf again = BUF_INIT;
	unsigned id_bytes;
	uint32_t limit;

	if (!size)
		return 0;
	id_bytes = data[0] & 1 ? 4 : 2;
	limit = data[0] & 2 ? 65536 : 1000;
	for (before = p; p < end && !tokdoc_decode(&p, end, id_bytes, limit, &d); before = p) {
		need(d.n_sentences <= size && d.n_tokens * id_bytes <= size);
		buf_clear(&again);
		need(!tokdoc_encode(&again, &d, id_bytes));
		need(again.len == (size_t)(p - before) && !memcmp(again.data, before, again.len));
	}
	if (p < end)
		need(err_code() == EXIT_CORRUPT);
	buf_release(&again);
	tokdoc_release(&d);
	return 0;
}
