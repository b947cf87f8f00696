/* Shard files. shard_recipe.c has what their headers say. */
#include "shards/shard.h"
#include "base/err.h"
#include "base/utf8.h"
#include "shards/canon.h"
#include "shards/tokdoc.h"
#include "shards/varint.h"

#include <inttypes.h>

void shard_file_name(char *out, size_t n, const char *name, uint32_t shard, uint32_t shards)
{
	snprintf(out, n, "%s-%05" PRIu32 "-of-%05" PRIu32 ".shard", name, shard, shards);
}

/* --- the table of documents -------------------------------------------------------------- */

struct shard_document shard_document_of(const struct tokdoc *d, uint32_t occurrence)
{
	return (struct shard_document){
		.key = d->key,
		.occurrence = occurrence,
		.sentences = d->n_sentences,
		.tokens = d->n_tokens,
		.text_bytes = d->text_bytes,
		.id = d->id,
		.title = d->title,
		.id_len = d->id_len,
		.title_len = d->title_len,
	};
}

int shard_document_encode(struct buf *b, const struct shard_document *d)
{
	unsigned char *out;

	if (buf_reserve(b, KEY_BYTES + 6 * VARINT_MAX + d->id_len + d->title_len))
		return -1;
	out = (unsigned char *)b->data + b->len;
	key_put(d->key, out);
	out += KEY_BYTES;
	out += varint_put(out, d->occurrence);
	out += varint_put(out, d->sentences);
	out += varint_put(out, d->tokens);
	out += varint_put(out, d->text_bytes);
	out += varint_put(out, d->id_len);
	if (d->id_len)
		memcpy(out, d->id, d->id_len);
	out += d->id_len;
	out += varint_put(out, d->title_len);
	if (d->title_len)
		memcpy(out, d->title, d->title_len);
	out += d->title_len;
	b->len = (size_t)(out - (unsigned char *)b->data);
	b->data[b->len] = 0;
	return 0;
}

static int get_text(const unsigned char **p, const unsigned char *end, const char **text, size_t *len)
{
	uint64_t n;

	if (varint_get(p, end, &n) || n > TOKDOC_NAME_MAX || n > (size_t)(end - *p))
		return err_corrupt("a document's id or title does not fit in its block");
	*text = (const char *)*p;
	*len = (size_t)n;
	*p += n;
	return utf8_valid_prefix(*text, *len) == *len ? 0 : err_corrupt("a document's id or title is not UTF-8");
}

int shard_document_decode(const unsigned char **p, const unsigned char *end, struct shard_document *d)
{
	uint64_t occurrence;

	if (end - *p < KEY_BYTES)
		return err_corrupt("a document's entry is cut short");
	d->key = key_get(*p);
	*p += KEY_BYTES;
	if (varint_get(p, end, &occurrence) || varint_get(p, end, &d->sentences) || varint_get(p, end, &d->tokens) ||
	    varint_get(p, end, &d->text_bytes))
		return err_corrupt("a document's entry is cut short");
	if (occurrence > UINT32_MAX || d->sentences > UINT32_MAX || d->tokens > UINT32_MAX)
		return err_corrupt("a document's entry has a number beyond 32 bits");
	d->occurrence = (uint32_t)occurrence;
	return get_text(p, end, &d->id, &d->id_len) || get_text(p, end, &d->title, &d->title_len) ? -1 : 0;
}

/* --- files --------------------------------------------------------------------------------- */

struct shard {
	struct frame_reader *frame;
	struct shard_header header;
	struct shard_totals totals;
	struct instance_shape shape;
	uint64_t document_blocks;	/* up to the last with a document */
};

static int parse_totals(struct shard_totals *t, const struct frame_reader *frame)
{
	size_t len;
	const char *json = frame_totals(frame, &len);
	json_t *o = canon_parse(json, len);
	const int rc = o ? shard_totals_parse(t, o) : -1;

	json_decref(o);
	return rc ? err_prefix("trailer") : 0;
}

/* Whether the trailer's counts are those of the index. */
static int check_counts(const struct shard *s)
{
	const uint64_t instances = frame_records(s->frame, SHARD_INSTANCES),
		       documents = frame_records(s->frame, SHARD_DOCUMENTS);

	if (s->totals.instances != instances)
		return err_corrupt("the trailer says %" PRIu64 " instances, there are %" PRIu64, s->totals.instances,
				   instances);
	if (s->totals.documents != documents)
		return err_corrupt("the trailer says %" PRIu64 " documents, there are %" PRIu64, s->totals.documents,
				   documents);
	if (documents > UINT32_MAX)
		return err_corrupt("more than %" PRIu32 " documents", (uint32_t)UINT32_MAX);
	return 0;
}

struct instance_shape shard_header_shape(const struct shard_header *h, uint32_t documents)
{
	const struct shard_recipe *r = &h->recipe;

	return (struct instance_shape){
		.max_seq_length = r->max_seq_length,
		.max_predictions = r->max_predictions_per_seq,
		.masked = r->masking == SHARD_STATIC,
		.block_records = h->block_records,
		.vocab_size = r->vocab_size,
		.documents = documents,
		.passes = r->dupe_factor,
		.cls = r->special.cls,
		.sep = r->special.sep,
		.mask = r->special.mask,
		.pairs = r->pairs != SHARD_NONE,
		.swaps = r->pairs == SHARD_SOP,
	};
}

int shard_open_access(struct shard **s, const char *path, unsigned access)
{
	struct shard *n = calloc(1, sizeof(*n));
	const char *json;
	size_t len;

	*s = NULL;
	if (!n)
		return err_memory();
	if (frame_open_access(&n->frame, path, SHARD_KIND, access))
		goto fail;
	json = frame_header(n->frame, &len);
	if (shard_header_parse(&n->header, json, len)) {
		err_prefix("'%s': header", path);
		goto fail;
	}
	if (parse_totals(&n->totals, n->frame)) {
		err_prefix("'%s'", path);
		goto fail;
	}
	n->shape = shard_header_shape(&n->header, (uint32_t)n->totals.documents);
	if (check_counts(n)) {
		err_prefix("'%s'", path);
		goto fail;
	}
	if (n->totals.documents) {
		if (frame_find(n->frame, SHARD_DOCUMENTS, n->totals.documents - 1, &n->document_blocks))
			goto fail;
		n->document_blocks++;
	}
	*s = n;
	return 0;
fail:
	shard_close(n);
	return -1;
}

/* Whether the whole header of FRAME is of another version. */
static bool header_is_foreign(const struct frame_reader *frame)
{
	size_t len;
	const char *json = frame_header(frame, &len);
	json_t *o = canon_parse(json, len);
	uint64_t version;
	const bool foreign = o && !canon_uint(o, "version", 0, INT64_MAX, &version) && canon_is_version(o, SHARD_VERSION);

	json_decref(o);
	return foreign;
}

int shard_is_foreign(const char *path)
{
	const int version = frame_version(path);
	struct frame_reader *frame;
	char kind[5];
	struct in *in;
	bool foreign;

	if (version <= 0)
		return version;
	if (version != FRAME_VERSION)
		return frame_kind(path, kind) ? 1 : 0;
	if (in_open(&in, path, 1))
		return -1;
	if (frame_open(&frame, in, SHARD_KIND))
		return err_code() == EXIT_CORRUPT ? 0 : -1;
	foreign = header_is_foreign(frame);
	if (foreign)
		err_prefix("'%s'", path);
	frame_close(frame);
	return foreign;
}

int shard_open(struct shard **s, const char *path)
{
	return shard_open_access(s, path, 0);
}

bool shard_mapped(const struct shard *s)
{
	return frame_mapped(s->frame);
}

size_t shard_memory(const struct shard *s)
{
	return sizeof(*s) + frame_memory(s->frame);
}

const struct shard_header *shard_header(const struct shard *s)
{
	return &s->header;
}

const struct shard_totals *shard_totals(const struct shard *s)
{
	return &s->totals;
}

const struct instance_shape *shard_shape(const struct shard *s)
{
	return &s->shape;
}

const struct frame_trailer *shard_trailer(const struct shard *s)
{
	return frame_trailer(s->frame);
}

const char *shard_path(const struct shard *s)
{
	return frame_name(s->frame);
}

uint64_t shard_instances(const struct shard *s)
{
	return s->totals.instances;
}

uint64_t shard_blocks(const struct shard *s)
{
	const uint64_t r = s->shape.block_records;

	return s->totals.instances / r + (s->totals.instances % r != 0);
}

int shard_read(const struct shard *s, uint64_t block, struct frame_block *f, struct instance_block *b)
{
	const uint64_t first = block * s->shape.block_records, left = s->totals.instances - first;
	const uint64_t records = left < s->shape.block_records ? left : s->shape.block_records;
	uint64_t number;

	if (frame_find(s->frame, SHARD_INSTANCES, first, &number) || frame_read(s->frame, number, f))
		return -1;
	if (f->first_record != first || f->records != records)
		return err_corrupt("'%s': block %" PRIu64 " holds instances %" PRIu64 " to %" PRIu64
				   ", not from %" PRIu64 " on as many as the header says",
				   frame_name(s->frame), number, f->first_record, f->first_record + f->records, first);
	if (instance_block_open(b, &s->shape, f->raw.data, f->raw.len, f->records))
		return err_prefix("'%s': block %" PRIu64, frame_name(s->frame), number);
	return 0;
}

/* Blocks of documents come first; behind them may be others of types that this version does not know. */
uint64_t shard_document_blocks(const struct shard *s)
{
	return s->document_blocks;
}

static int take_documents(const struct shard *s, uint64_t block, struct frame_block *f)
{
	if (f->type == SHARD_INSTANCES)
		return err_corrupt("'%s': block %" PRIu64 " holds instances where documents belong",
				   frame_name(s->frame), block);
	if (f->type != SHARD_DOCUMENTS)
		f->records = 0;		/* of a kind that this version does not know */
	return 0;
}

int shard_read_documents(const struct shard *s, uint64_t block, struct frame_block *f)
{
	return frame_read(s->frame, block, f) ? -1 : take_documents(s, block, f);
}

int shard_read_documents_span(const struct shard *s, uint64_t block, struct frame_span *span, struct frame_block *f)
{
	return frame_read_span(s->frame, span, block, shard_document_blocks(s), f) ? -1 : take_documents(s, block, f);
}

void shard_close(struct shard *s)
{
	if (!s)
		return;
	frame_close(s->frame);
	shard_header_release(&s->header);
	free(s);
}
