#include "shards/tokdoc_encoder.h"

#include "base/buf.h"
#include "base/err.h"

int tokdoc_encoder_open(struct tokdoc_encoder *e, const struct tokenizer *t, size_t cache_bytes)
{
	*e = (struct tokdoc_encoder){ .encoder = cache_bytes ? encoder_new_sized(t, cache_bytes) : encoder_new(t) };
	return e->encoder ? 0 : -1;
}

int tokdoc_encoder_run(struct tokdoc_encoder *e, const char *text, const uint64_t *ends, size_t n_lines, struct key key)
{
	struct tokdoc *t = &e->doc;
	uint64_t start = 0;
	size_t before = 0;

	if (array_grow(&t->lengths, &t->cap_lengths, n_lines, sizeof(*t->lengths)))
		return -1;
	e->ids.count = 0;
	for (size_t i = 0; i < n_lines; i++) {
		if (encoder_encode(e->encoder, text + start, (size_t)(ends[i] - 1 - start), &e->ids))
			return -1;
		if (e->ids.count > TOKDOC_TOKENS_MAX)
			return err_fail("a document has more than %u tokens", TOKDOC_TOKENS_MAX);
		t->lengths[i] = (uint32_t)(e->ids.count - before);
		before = e->ids.count;
		start = ends[i];
	}
	t->key = key;
	t->text_bytes = n_lines ? start - 1 : 0;
	t->n_sentences = n_lines;
	t->ids = e->ids.items;
	t->n_tokens = e->ids.count;
	t->id_bytes = sizeof(*e->ids.items);
	return 0;
}

void tokdoc_encoder_close(struct tokdoc_encoder *e)
{
	encoder_free(e->encoder);
	ids_release(&e->ids);
	tokdoc_release(&e->doc);
}
