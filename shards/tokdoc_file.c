/* Files of token documents. */
#include "shards/tokdoc.h"
#include "base/err.h"
#include "shards/canon.h"
#include "shards/keys.h"
#include "shards/tokdoc_cells.h"

#include <inttypes.h>

#define FORMAT "berttools token documents"
enum { DOCUMENTS = 0, FIRST_KEYS = 1 };

/* --- header -------------------------------------------------------------------------------- */

static char *header_print(const json_t *tokenizer, bool sorted)
{
	json_t *o = json_object();
	char *text = NULL;

	if (!o)
		err_memory();
	else if (!canon_set(o, "format", json_string(FORMAT)) &&
		 !canon_set(o, "version", json_integer(TOKDOC_VERSION)) &&
		 !canon_set(o, "sorted", json_boolean(sorted)) && !canon_set(o, "tokenizer", json_deep_copy(tokenizer)))
		text = canon_print(o);
	json_decref(o);
	return text;
}

/* What the object that tokenizer_describe() makes says of ids. */
static int tokenizer_parse(const json_t *tokenizer, uint32_t *vocab_size, unsigned *id_bytes)
{
	const json_t *vocab = canon_object(tokenizer, "vocab");
	uint64_t bytes;

	if (!vocab || !canon_string(vocab, "sha256") || canon_uint32(vocab, "size", 1, UINT32_MAX - 1, vocab_size) ||
	    canon_uint(tokenizer, "id_bytes", 2, 4, &bytes))
		return -1;
	if (bytes != (*vocab_size <= 65536 ? 2 : 4))
		return err_corrupt("'id_bytes' is %" PRIu64 " for a vocabulary of %" PRIu32, bytes, *vocab_size);
	*id_bytes = (unsigned)bytes;
	return 0;
}

int tokdoc_header_parse(struct tokdoc_header *h, const char *json, size_t len)
{
	json_t *o = canon_parse(json, len);
	const json_t *tokenizer;
	int rc = -1;

	*h = (struct tokdoc_header){ 0 };
	if (!o || canon_is(o, "format", FORMAT) || canon_is_version(o, TOKDOC_VERSION) ||
	    canon_bool(o, "sorted", &h->sorted))
		goto done;
	tokenizer = canon_object(o, "tokenizer");
	if (!tokenizer || tokenizer_parse(tokenizer, &h->vocab_size, &h->id_bytes))
		goto done;
	h->tokenizer = json_deep_copy(tokenizer);
	rc = h->tokenizer ? 0 : err_memory();
done:
	json_decref(o);
	return rc;
}

void tokdoc_header_release(struct tokdoc_header *h)
{
	if (!h)
		return;
	json_decref(h->tokenizer);
	*h = (struct tokdoc_header){ 0 };
}

/* --- writing --------------------------------------------------------------------------------- */

struct tokdoc_writer {
	struct frame_writer *frame;
	struct tokdoc_totals totals;
	bool sorted;
	struct buf keys;		/* sorted: the first key of each block */
	uint64_t blocks;
	struct tokdoc_cells_list cells;
	struct key owner;		/* whose these are */
};

int tokdoc_writer_open(struct tokdoc_writer **w, struct out *o, const json_t *tokenizer, bool sorted)
{
	char *header = header_print(tokenizer, sorted);
	struct tokdoc_writer *n = header ? calloc(1, sizeof(*n)) : NULL;

	*w = NULL;
	if (header && !n)
		err_memory();
	if (n)
		n->sorted = sorted;
	if (n && frame_create(&n->frame, o, TOKDOC_KIND, header, strlen(header))) {
		free(n);
		n = NULL;
	}
	free(header);
	*w = n;
	return n ? 0 : -1;
}

void tokdoc_writer_cells(struct tokdoc_writer *w, uint32_t cells, struct key owner)
{
	w->cells.cells = cells;
	w->owner = owner;
}

/* What a sorted file says of a block: its first key, and where it is. */
static int note_block(struct tokdoc_writer *w, const struct tokdoc_block *b)
{
	const unsigned char *p = (const unsigned char *)b->raw.data, *body;
	size_t len;

	if (tokdoc_split(&p, p + b->raw.len, &body, &len) || buf_add(&w->keys, body, KEY_BYTES))
		return -1;
	return w->cells.cells ? tokdoc_cells_reach(&w->cells, tokdoc_body_key(body), frame_offset(w->frame)) : 0;
}

int tokdoc_writer_add(struct tokdoc_writer *w, const struct tokdoc_block *b)
{
	if (!b->records)
		return 0;
	if (w->sorted && note_block(w, b))
		return -1;
	tokdoc_totals_add(&w->totals, &b->totals);
	w->blocks++;
	return frame_add(w->frame, DOCUMENTS, b->records, b->raw.data, b->raw.len, &b->packed);
}

void tokdoc_writer_count(struct tokdoc_writer *w, const struct tokdoc_totals *t)
{
	tokdoc_totals_add(&w->totals, t);
}

const struct tokdoc_totals *tokdoc_writer_totals(const struct tokdoc_writer *w)
{
	return &w->totals;
}

static int add_first_keys(struct tokdoc_writer *w)
{
	struct buf packed = BUF_INIT;

	if (!w->sorted || !w->blocks)
		return 0;
	if (w->blocks > UINT32_MAX)
		return err_fail("there are more than %" PRIu32 " blocks of token documents", (uint32_t)UINT32_MAX);
	return frame_add(w->frame, FIRST_KEYS, (uint32_t)w->blocks, w->keys.data, w->keys.len, &packed);
}

static int add_cells(struct tokdoc_writer *w, uint64_t end)
{
	struct tokdoc_cells_list *l = &w->cells;

	if (!l->cells)
		return 0;
	if (tokdoc_cells_finish(l, w->owner, end))
		return -1;
	return frame_add(w->frame, TOKDOC_CELLS_TYPE, l->cells + 1, l->entries.data, l->entries.len, NULL);
}

int tokdoc_writer_finish(struct tokdoc_writer *w, json_t *notes)
{
	json_t *totals = tokdoc_totals_json(&w->totals);
	char *text = NULL;
	uint64_t end;
	int rc = -1;

	if (totals && notes && json_object_update(totals, notes))
		err_memory();
	else if (totals)
		text = canon_print(totals);
	end = frame_offset(w->frame);
	if (text && !add_first_keys(w) && !add_cells(w, end)) {
		struct frame_writer *frame = w->frame;

		w->frame = NULL;
		rc = frame_finish(frame, text, strlen(text));
	}
	free(text);
	json_decref(totals);
	json_decref(notes);
	tokdoc_writer_abandon(w);
	return rc;
}

void tokdoc_writer_abandon(struct tokdoc_writer *w)
{
	if (!w)
		return;
	frame_abandon(w->frame);
	buf_release(&w->keys);
	buf_release(&w->cells.entries);
	free(w);
}

/* --- reading in sequence ------------------------------------------------------------------------ */

struct tokdoc_reader {
	struct frame_reader *frame;
	struct frame_block block;
	struct tokdoc_header header;
	struct tokdoc_totals totals;
	const unsigned char *p, *end;	/* what is left of the block */
	uint32_t left;			/* records of it */
	const unsigned char *body;	/* of the last record given */
	size_t len;
};

static int parse_header(struct tokdoc_header *h, const struct frame_reader *frame)
{
	size_t len;
	const char *json = frame_header(frame, &len);

	return tokdoc_header_parse(h, json, len) ? err_prefix("'%s': header", frame_name(frame)) : 0;
}

/* The trailer of FRAME: its sums into T, all of it into *NOTES unless that is NULL. */
static int parse_totals(struct tokdoc_totals *t, json_t **notes, const struct frame_reader *frame)
{
	size_t len;
	const char *json = frame_totals(frame, &len);
	json_t *o = canon_parse(json, len);
	const int rc = o ? tokdoc_totals_parse(t, o) : -1;

	if (!rc && notes)
		*notes = json_incref(o);
	json_decref(o);
	return rc ? err_prefix("'%s': trailer", frame_name(frame)) : 0;
}

int tokdoc_reader_open(struct tokdoc_reader **r, struct in *in)
{
	struct tokdoc_reader *n = calloc(1, sizeof(*n));

	*r = NULL;
	if (!n) {
		in_close(in);
		return err_memory();
	}
	if (frame_open(&n->frame, in, TOKDOC_KIND) || parse_header(&n->header, n->frame)) {
		tokdoc_reader_close(n);
		return -1;
	}
	*r = n;
	return 0;
}

const struct tokdoc_header *tokdoc_reader_header(const struct tokdoc_reader *r)
{
	return &r->header;
}

const struct tokdoc_totals *tokdoc_reader_totals(const struct tokdoc_reader *r)
{
	return &r->totals;
}

/* Once all blocks were read: the trailer must say what was counted. */
static int check_end(struct tokdoc_reader *r)
{
	struct tokdoc_totals t;

	if (parse_totals(&t, NULL, r->frame))
		return -1;
	if (!tokdoc_totals_equal(&t, &r->totals))
		return err_corrupt("'%s': the trailer's totals are not those of its documents", frame_name(r->frame));
	return 0;
}

/* The next block of documents: 1, 0 at the end, -1. */
static int next_block(struct tokdoc_reader *r)
{
	int rc;

	while ((rc = frame_next(r->frame, &r->block)) > 0) {
		if (r->block.type != DOCUMENTS)
			continue;
		r->p = (const unsigned char *)r->block.raw.data;
		r->end = r->p + r->block.raw.len;
		r->left = r->block.records;
		return 1;
	}
	return rc ? -1 : check_end(r);
}

int tokdoc_reader_next(struct tokdoc_reader *r, struct tokdoc *d)
{
	while (!r->left) {
		int rc;

		if (r->p != r->end)
			return err_corrupt("'%s': a block holds more than its %" PRIu32 " token documents",
					   frame_name(r->frame), r->block.records);
		rc = next_block(r);
		if (rc <= 0)
			return rc;
	}
	if (tokdoc_split(&r->p, r->end, &r->body, &r->len) ||
	    tokdoc_decode_body(r->body, r->len, r->header.id_bytes, r->header.vocab_size, d))
		return err_prefix("'%s': document %" PRIu64, frame_name(r->frame), r->totals.documents);
	r->left--;
	tokdoc_totals_count(&r->totals, d);
	return 1;
}

void tokdoc_reader_body(const struct tokdoc_reader *r, const unsigned char **body, size_t *len)
{
	*body = r->body;
	*len = r->len;
}

void tokdoc_reader_close(struct tokdoc_reader *r)
{
	if (!r)
		return;
	frame_close(r->frame);
	frame_block_release(&r->block);
	tokdoc_header_release(&r->header);
	free(r);
}

/* --- by block ---------------------------------------------------------------------------------------- */

struct tokdoc_file {
	struct frame_reader *frame;
	struct tokdoc_header header;
	struct tokdoc_totals totals;
	json_t *notes;
	uint64_t blocks;		/* of documents; they come first */
};

/* Counts the blocks of documents: all, or in a sorted file those before the one of their first keys. */
static int count_blocks(struct tokdoc_file *f)
{
	struct frame_block keys = FRAME_BLOCK_INIT;
	int rc = 0;

	f->blocks = f->header.sorted && !frame_records(f->frame, DOCUMENTS) ? 0 : frame_blocks(f->frame);
	if (!f->header.sorted || !f->blocks)
		return 0;
	if (!frame_records(f->frame, FIRST_KEYS))
		rc = err_corrupt("'%s': it is sorted, and lacks its first keys", frame_name(f->frame));
	else if (frame_find(f->frame, FIRST_KEYS, 0, &f->blocks) || frame_read(f->frame, f->blocks, &keys))
		rc = -1;
	else if (keys.records != f->blocks || keys.raw.len != f->blocks * KEY_BYTES)
		rc = err_corrupt("'%s': its first keys are not those of its blocks", frame_name(f->frame));
	frame_block_release(&keys);
	return rc;
}

int tokdoc_file_open(struct tokdoc_file **f, const char *path)
{
	struct tokdoc_file *n = calloc(1, sizeof(*n));

	*f = NULL;
	if (!n)
		return err_memory();
	if (frame_open_access(&n->frame, path, TOKDOC_KIND, FRAME_SPARING) || parse_header(&n->header, n->frame) ||
	    parse_totals(&n->totals, &n->notes, n->frame) || count_blocks(n)) {
		tokdoc_file_close(n);
		return -1;
	}
	*f = n;
	return 0;
}

const struct tokdoc_header *tokdoc_file_header(const struct tokdoc_file *f)
{
	return &f->header;
}

const struct tokdoc_totals *tokdoc_file_totals(const struct tokdoc_file *f)
{
	return &f->totals;
}

const json_t *tokdoc_file_notes(const struct tokdoc_file *f)
{
	return f->notes;
}

const struct frame_trailer *tokdoc_file_trailer(const struct tokdoc_file *f)
{
	return frame_trailer(f->frame);
}

const char *tokdoc_file_name(const struct tokdoc_file *f)
{
	return frame_name(f->frame);
}

uint64_t tokdoc_file_blocks(const struct tokdoc_file *f)
{
	return f->blocks;
}

int tokdoc_file_read(const struct tokdoc_file *f, uint64_t block, struct frame_block *b)
{
	if (frame_read(f->frame, block, b))
		return -1;
	if (b->type != DOCUMENTS)
		b->records = 0;		/* of a kind that this version does not know */
	return 0;
}

void tokdoc_file_close(struct tokdoc_file *f)
{
	if (!f)
		return;
	frame_close(f->frame);
	tokdoc_header_release(&f->header);
	json_decref(f->notes);
	free(f);
}
