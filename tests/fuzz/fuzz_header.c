/*
 * Arbitrary bytes as a shard's header, as a table of documents, as the header of
 * token documents, and as a manifest: the first byte chooses. A header that is
 * taken must come back equal when it is printed and read again, and a manifest
 * must be the one text of what it says.
 */
#include "base/err.h"
#include "shards/canon.h"
#include "shards/manifest.h"
#include "shards/shard.h"
#include "shards/tokdoc.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void need(int ok)
{
	if (!ok)
		abort();
}

static void try_header(const char *text, size_t n)
{
	struct shard_header h, back;
	char *printed, *again;

	if (shard_header_parse(&h, text, n)) {
		need(err_code() == EXIT_CORRUPT);
		return;
	}
	printed = shard_header_print(&h);
	need(printed && !shard_header_parse(&back, printed, strlen(printed)));
	again = shard_header_print(&back);
	need(again && !strcmp(printed, again));
	free(printed);
	free(again);
	shard_header_release(&h);
	shard_header_release(&back);
}

static void try_documents(const unsigned char *p, const unsigned char *end)
{
	struct buf again = BUF_INIT;
	struct shard_document d;
	const unsigned char *before = p;

	while (p < end && !shard_document_decode(&p, end, &d)) {
		buf_clear(&again);
		need(!shard_document_encode(&again, &d));
		need(again.len == (size_t)(p - before) && !memcmp(again.data, before, again.len));
		before = p;
	}
	buf_release(&again);
}

/* What is read is the one text of what it says. */
static void try_manifest(const char *text, size_t len)
{
	struct manifest *m;
	json_t *o;
	char *printed;

	if (manifest_parse(&m, text, len))
		return;
	manifest_free(m);
	o = canon_parse(text, len);
	printed = o ? canon_print(o) : NULL;
	need(printed && strlen(printed) == len && !memcmp(printed, text, len));
	free(printed);
	json_decref(o);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	const char *text = (const char *)data + 1;
	struct tokdoc_header t;

	if (!size)
		return 0;
	switch (data[0] % 4) {
	case 0:
		try_header(text, size - 1);
		break;
	case 1:
		try_documents(data + 1, data + size);
		break;
	case 2:
		if (!tokdoc_header_parse(&t, text, size - 1))
			tokdoc_header_release(&t);
		break;
	case 3:
		try_manifest(text, size - 1);
		break;
	}
	return 0;
}
