#include "shards/tokdoc_encoder.h"

#include "base/buf.h"
#include "base/err.h"

#include <inttypes.h>
#include <string.h>

#define PIECE ((size_t)1 << 20)		/* bytes of text that are tokenized at once */

int tokdoc_encoder_open(struct tokdoc_encoder *e, const struct tokenizer *t, size_t cache_bytes)
{
	*e = (struct tokdoc_encoder){ .encoder = cache_bytes ? encoder_new_sized(t, cache_bytes) : encoder_new(t) };
	return e->encoder ? 0 : -1;
}

/* The end of the lines from TEXT on that make a piece. */
static const char *find_piece(const char *text, const char *end)
{
	const char *newline = (size_t)(end - text) > PIECE ? memchr(text + PIECE, '\n', (size_t)(end - text) - PIECE) : NULL;

	return newline ? newline + 1 : end;
}

/* Piece by piece, so that tokens beyond MOST are counted only. */
static int encode(struct tokdoc_encoder *e, const char *text, size_t len)
{
	const uint64_t most = e->most && e->most < TOKDOC_TOKENS_MAX ? e->most : TOKDOC_TOKENS_MAX;
	const char *const end = text + len, *next;

	e->tokens = 0;
	e->ids.count = e->lines.count = 0;
	for (; text < end; text = next) {
		const size_t before = e->ids.count;

		next = find_piece(text, end);
		if (encoder_encode_lines(e->encoder, text, (size_t)(next - text), &e->ids, &e->lines))
			return -1;
		e->tokens += e->ids.count - before;
		if (e->tokens > most)
			e->ids.count = e->lines.count = 0;
	}
	return e->tokens > most ? err_fail("a document has more than %" PRIu64 " tokens", most) : 0;
}

int tokdoc_encoder_run(struct tokdoc_encoder *e, const char *text, size_t len, struct key key)
{
	struct tokdoc *t = &e->doc;
	size_t before = 0;

	if (encode(e, text, len) ||
	    array_grow(&t->lengths, &t->cap_lengths, e->lines.count, sizeof(*t->lengths)))
		return -1;
	for (size_t i = 0; i < e->lines.count; i++) {
		t->lengths[i] = (uint32_t)(e->lines.ends[i] - before);
		before = e->lines.ends[i];
	}
	t->key = key;
	t->id = t->title = NULL;
	t->id_len = t->title_len = 0;
	t->text_bytes = len ? len - 1 : 0;
	t->n_sentences = e->lines.count;
	t->ids = e->ids.items;
	t->n_tokens = e->ids.count;
	t->id_bytes = sizeof(*e->ids.items);
	return 0;
}

static size_t cut_name(struct jsonl_text name)
{
	size_t len = name.len < TOKDOC_NAME_MAX ? name.len : TOKDOC_NAME_MAX;

	while (len && len < name.len && (name.text[len] & 0xC0) == 0x80)	/* the next byte goes on with a character */
		len--;
	return len;
}

void tokdoc_encoder_name(struct tokdoc_encoder *e, struct jsonl_text id, struct jsonl_text title)
{
	e->doc.id = id.text;
	e->doc.id_len = cut_name(id);
	e->doc.title = title.text;
	e->doc.title_len = cut_name(title);
}

void tokdoc_encoder_close(struct tokdoc_encoder *e)
{
	encoder_free(e->encoder);
	ids_release(&e->ids);
	encoded_lines_release(&e->lines);
	tokdoc_release(&e->doc);
}
