/* The table of documents, block by block. */
#include "shards/job_table.h"
#include "base/frame.h"
#include "shards/job_impl.h"
#include "shards/lengths.h"

#define LENGTHS_BLOCK (64 << 10)	/* bytes of a block of lengths, and what the last document has beyond */
#define LENGTHS_HELD (1 << 20)		/* that wait for the end of the table, so that readers of it find it in one piece */

/* Where the lengths that are held are cut into blocks. */
struct lengths_cut {
	size_t bytes;
	uint32_t records;
};

void job_table_init(struct job_table *t, const struct job *j, job_table_put *put, void *ctx)
{
	*t = (struct job_table){
		.put = put, .ctx = ctx, .level = (int)j->opts.compress, .id_bytes = vocab_id_bytes(tokenizer_vocab(j->tokenizer)),
		.vocab_size = j->recipe.vocab_size, .has_lengths = j->recipe.rules == SHARD_OWN,
		.raw = BUF_INIT, .packed = BUF_INIT, .lengths = BUF_INIT,
	};
}

void job_table_release(struct job_table *t)
{
	tokdoc_release(&t->document);
	buf_release(&t->raw);
	buf_release(&t->packed);
	buf_release(&t->lengths);
	free(t->cuts);
}

static int add_block_of(struct job_table *t, unsigned type, uint32_t records, const char *raw, size_t n)
{
	return frame_pack(raw, n, t->level, &t->packed) || t->put(t->ctx, type, records, raw, n, &t->packed) ? -1 : 0;
}

static int close_block(struct job_table *t)
{
	const int rc = t->records ? add_block_of(t, SHARD_DOCUMENTS, t->records, t->raw.data, t->raw.len) : 0;

	buf_clear(&t->raw);
	t->records = 0;
	return rc;
}

/* Of the document that T holds. */
static int add_lengths(struct job_table *t)
{
	struct lengths_cut *cut = t->n_cuts ? &t->cuts[t->n_cuts - 1] : NULL;
	const size_t before = t->lengths.len;

	if (!cut || cut->bytes >= LENGTHS_BLOCK) {
		if (array_grow(&t->cuts, &t->cap_cuts, t->n_cuts + 1, sizeof(*t->cuts)))
			return -1;
		cut = &t->cuts[t->n_cuts++];
		*cut = (struct lengths_cut){ 0, 0 };
	}
	if (lengths_put(&t->lengths, t->document.lengths, t->document.n_sentences))
		return -1;
	cut->bytes += t->lengths.len - before;
	cut->records++;
	return 0;
}

/* Behind all documents that they are of. */
static int write_lengths(struct job_table *t)
{
	const char *at = t->lengths.data;
	int rc = close_block(t);

	for (size_t k = 0; k < t->n_cuts && !rc; at += t->cuts[k].bytes, k++)
		rc = add_block_of(t, SHARD_LENGTHS, t->cuts[k].records, at, t->cuts[k].bytes);
	buf_clear(&t->lengths);
	t->n_cuts = 0;
	return rc;
}

int job_table_add(struct job_table *t, const unsigned char *body, size_t len, uint32_t occurrence)
{
	struct shard_document e;

	if (tokdoc_decode_body(body, len, t->id_bytes, t->vocab_size, &t->document))
		return -1;
	e = shard_document_of(&t->document, occurrence);
	t->totals.documents++;
	t->totals.sentences += e.sentences;
	t->totals.tokens += e.tokens;
	t->totals.text_bytes += e.text_bytes;
	t->totals.empty_documents += !e.tokens;
	t->records++;
	if (shard_document_encode(&t->raw, &e) || (t->has_lengths && add_lengths(t)))
		return -1;
	if (t->lengths.len >= LENGTHS_HELD)
		return write_lengths(t);
	return t->raw.len >= SHARD_DOCUMENT_BLOCK_BYTES ? close_block(t) : 0;
}

int job_table_end(struct job_table *t)
{
	return write_lengths(t);
}
