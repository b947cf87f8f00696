/*
 * Arbitrary bytes as lines of JSON: what can be read is written, and reads back the same.
 */
#include "base/err.h"
#include "base/utf8.h"
#include "corpus/jsonl.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void need(int ok)
{
	if (!ok)
		abort();
}

static struct span whole(const struct buf *b)
{
	return (struct span){ b->data ? b->data : "", b->len };
}

static void same(const struct buf *a, const struct buf *b)
{
	need(a->len == b->len && (!a->len || !memcmp(a->data, b->data, a->len)));
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	struct buf valid = BUF_INIT, line = BUF_INIT, a[3] = { BUF_INIT, BUF_INIT, BUF_INIT }, b[3] = { BUF_INIT, BUF_INIT, BUF_INIT };
	uint64_t bad = 0;

	need(!utf8_repair((const char *)data, size, &valid, &bad));
	if (jsonl_read(whole(&valid), &a[0], &a[1], &a[2], &bad)) {
		need(err_code() == EXIT_CORRUPT);
	} else {
		need(!jsonl_put(&line, whole(&a[0]), whole(&a[1]), whole(&a[2])));
		bad = 0;
		need(!jsonl_read((struct span){ line.data, line.len - 1 }, &b[0], &b[1], &b[2], &bad) && !bad);
		for (int i = 0; i < 3; i++)
			same(&a[i], &b[i]);
	}
	for (int i = 0; i < 3; i++) {
		buf_release(&a[i]);
		buf_release(&b[i]);
	}
	buf_release(&valid);
	buf_release(&line);
	return 0;
}
