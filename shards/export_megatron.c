/*
 * Megatron-LM's indexed data sets (megatron/core/datasets/indexed_dataset.py): NAME.bin holds the ids of all sequences,
 * NAME.idx their lengths, where they lie, and at which sequence each document begins:
 *
 *	"MMIDIDX\0\0"  u64 1  u8 type  u64 sequences  u64 documents + 1
 *	i32 length [sequences]  i64 byte [sequences]  i64 first sequence [documents + 1]
 *
 * Type 8 is uint16, for vocabularies of fewer than 65,500 tokens; 4 is int32.
 */
#include "shards/export_impl.h"
#include "base/err.h"
#include "base/out.h"

#include <errno.h>

#define NARROW 65500
#define TYPE_INT32 4
#define TYPE_UINT16 8

struct megatron {
	struct out *bin;
	char *idx_path;
	/* Numbers for the index, on disk until they are counted: a length (u32) a sequence; a document's sequences (u32). */
	FILE *lengths, *documents;
	uint64_t n_lengths, n_documents;
	unsigned width;
};

static int failed(const struct megatron *m)
{
	return err_sys("cannot write '%s'", m->idx_path);
}

static int open_files(struct exporting *x, const struct scan *s)
{
	struct megatron *m = calloc(1, sizeof(*m));
	const uint32_t vocab = s->kind == SCAN_TOKENS ? s->tokens.vocab_size : s->header.recipe.vocab_size;
	char *path = NULL;
	int rc = -1;

	x->state = m;
	if (!m)
		return err_memory();
	m->width = vocab < NARROW ? 2 : 4;
	m->idx_path = export_file_path(x, 0, ".idx");
	path = export_file_path(x, 0, ".bin");
	if (m->idx_path && path && !out_open_tidied(&m->bin, path)) {
		m->lengths = tmpfile();
		m->documents = tmpfile();
		rc = m->lengths && m->documents ? 0 : err_sys("cannot make a temporary file");
	}
	free(path);
	return rc;
}

/* --- blocks ----------------------------------------------------------------------------------- */

/*
 * What WORK leaves of a block: for each document the number of its sequences, their lengths, and their ids, these of
 * m->width bytes.
 */
static int add_ids(struct buf *out, unsigned width, const uint32_t *ids, uint32_t n)
{
	char *at;

	if (width == 4)
		return buf_add(out, ids, n * sizeof(*ids));
	if (buf_reserve(out, n * (size_t)2))
		return -1;
	at = out->data + out->len;
	for (uint32_t k = 0; k < n; k++) {
		const uint16_t id = (uint16_t)ids[k];

		memcpy(at + 2 * (size_t)k, &id, 2);
	}
	out->len += n * (size_t)2;
	return 0;
}

static int add_instance(struct buf *out, unsigned width, struct instance *i)
{
	uint32_t at = 1;

	instance_unmask(i);
	if (buf_add(out, &i->n_segments, 4))
		return -1;
	for (uint32_t s = 0; s < i->n_segments; s++)
		if (buf_add(out, &i->segments[s].length, 4))
			return -1;
	for (uint32_t s = 0; s < i->n_segments; at += i->segments[s++].length + 1)
		if (add_ids(out, width, i->ids + at, i->segments[s].length))
			return -1;
	return 0;
}

/* Sentences without tokens are left out, and documents without sentences. */
static int add_document(struct buf *out, unsigned width, const struct tokdoc *d)
{
	uint32_t sentences = 0, piece[1024];

	for (size_t k = 0; k < d->n_sentences; k++)
		sentences += d->lengths[k] > 0;
	if (!sentences)
		return 0;
	if (buf_add(out, &sentences, 4))
		return -1;
	for (size_t k = 0; k < d->n_sentences; k++)
		if (d->lengths[k] && buf_add(out, &d->lengths[k], 4))
			return -1;
	for (size_t done = 0, n; done < d->n_tokens; done += n) {
		n = d->n_tokens - done < 1024 ? d->n_tokens - done : 1024;
		tokdoc_ids(d, done, n, piece);
		if (add_ids(out, width, piece, (uint32_t)n))
			return -1;
	}
	return 0;
}

static int work(struct exporting *x, const struct scan *s, struct scan_block *b, unsigned worker)
{
	const struct megatron *m = x->state;
	struct export_worker *w = &x->workers[worker];
	int rc;

	if (s->kind == SCAN_TOKENS) {
		while ((rc = scan_next(s, b, &w->document)) > 0)
			if (add_document(&b->out, m->width, &w->document))
				return -1;
		return rc;
	}
	for (uint32_t k = 0; k < b->frame.records; k++) {
		export_instance(x, s, b, k, worker);
		if (add_instance(&b->out, m->width, &w->instance))
			return -1;
	}
	return 0;
}

static int write_block(struct exporting *x, const struct scan *s, struct scan_block *b)
{
	struct megatron *m = x->state;
	const char *at = b->out.data, *end = at + b->out.len;

	(void)s;
	while (at < end) {
		uint64_t tokens = 0;
		uint32_t n, length;

		memcpy(&n, at, 4);
		if (fwrite(at, 4, 1, m->documents) != 1 || fwrite(at + 4, 4, n, m->lengths) != n)
			return failed(m);
		for (uint32_t k = 0; k < n; k++) {
			memcpy(&length, at + 4 + 4 * (size_t)k, 4);
			tokens += length;
		}
		at += 4 + 4 * (size_t)n;
		if (out_write(m->bin, at, tokens * m->width))
			return -1;
		at += tokens * m->width;
		m->n_lengths += n;
		m->n_documents++;
	}
	x->bins[0].records += b->frame.records;
	return 0;
}

/* --- the index ---------------------------------------------------------------------------------- */

static int write_head(const struct megatron *m, struct out *out)
{
	static const unsigned char magic[9] = "MMIDIDX\0";
	const unsigned char type = m->width == 2 ? TYPE_UINT16 : TYPE_INT32;
	const uint64_t version = 1, documents = m->n_documents + 1;

	return out_write(out, magic, sizeof(magic)) || out_write(out, &version, 8) || out_write(out, &type, 1) ||
	       out_write(out, &m->n_lengths, 8) || out_write(out, &documents, 8) ? -1 : 0;
}

/* The lengths themselves; or where each begins, when they are added up in steps of WIDTH. */
static int write_numbers(const struct megatron *m, struct out *out, FILE *from, uint64_t n, unsigned width)
{
	uint64_t sum = 0;
	uint32_t v;

	rewind(from);
	for (uint64_t k = 0; k < n; k++) {
		if (fread(&v, sizeof(v), 1, from) != 1)
			return failed(m);
		if (width ? out_write(out, &sum, 8) : out_write(out, &v, 4))
			return -1;
		sum += (uint64_t)v * width;
	}
	return 0;
}

static int finish(struct exporting *x)
{
	struct megatron *m = x->state;
	const uint64_t end = m->n_lengths;
	struct out *idx = NULL;

	if (fflush(m->lengths) || fflush(m->documents))
		return failed(m);
	if (out_open_tidied(&idx, m->idx_path) || write_head(m, idx) || write_numbers(m, idx, m->lengths, m->n_lengths, 0) ||
	    write_numbers(m, idx, m->lengths, m->n_lengths, m->width) ||
	    write_numbers(m, idx, m->documents, m->n_documents, 1) || out_write(idx, &end, 8) || out_sync(idx) ||
	    out_remove_old(idx) || out_commit(m->bin)) {
		out_discard(idx);
		return -1;
	}
	m->bin = NULL;
	x->bins[0].listed = true;
	if (!out_commit(idx))
		return 0;
	out_discard(idx);
	return -1;
}

static void release(struct exporting *x)
{
	struct megatron *m = x->state;

	if (!m)
		return;
	if (m->lengths)
		fclose(m->lengths);
	if (m->documents)
		fclose(m->documents);
	out_discard(m->bin);
	free(m->idx_path);
	free(m);
}

const struct export_kind export_megatron = { ".bin", true, false, open_files, work, write_block, finish, release };
