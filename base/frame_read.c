/* Reading a frame in sequence, from any stream, and what both ways of reading share. */
#include "base/frame_impl.h"
#include "base/intake.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int ends_early(const struct frame_reader *r)
{
	return err_corrupt("'%s' ends early (cut short?) at byte %" PRIu64, r->name, in_offset(r->in));
}

/* The next N bytes of the file, known to no checksum yet. */
static int take_bare(struct frame_reader *r, void *bytes, size_t n)
{
	ssize_t got = in_read(r->in, bytes, n);

	if (got < 0)
		return -1;
	return (size_t)got < n ? ends_early(r) : 0;
}

static int take(struct frame_reader *r, void *bytes, size_t n)
{
	if (take_bare(r, bytes, n))
		return -1;
	XXH3_64bits_update(r->file, bytes, n);
	return 0;
}

/* The next N bytes into B (replaced), which grows only as they arrive. */
static int take_growing(struct frame_reader *r, struct buf *b, uint64_t n)
{
	if (intake_read(r->in, b, n))
		return -1;
	if (b->len < n)
		return ends_early(r);
	XXH3_64bits_update(r->file, b->data, b->len);
	return 0;
}

/* Bytes and the checksum that follows them. WHAT and its place are for the reason. */
static int take_checksum(struct frame_reader *r, uint64_t is, const char *what, uint64_t offset)
{
	unsigned char checksum[FRAME_CHECKSUM];

	if (take(r, checksum, sizeof(checksum)))
		return -1;
	if (frame_get64(checksum) != is)
		return err_corrupt("'%s': %s at byte %" PRIu64 ": checksum differs", r->name, what, offset);
	return 0;
}

static int read_header(struct frame_reader *r, const char kind[4])
{
	unsigned char prelude[FRAME_PRELUDE];
	uint32_t len;
	ssize_t n = in_read(r->in, prelude, sizeof(prelude));

	if (n < 0 || frame_check_prelude(r->name, prelude, (size_t)n, kind, &len))
		return -1;
	XXH3_64bits_update(r->file, prelude, sizeof(prelude));
	memcpy(r->kind, prelude + 8, 4);
	if (take_growing(r, &r->header, len) ||
	    take_checksum(r, XXH3_64bits(r->header.data, r->header.len), "header", FRAME_PRELUDE))
		return -1;
	r->sums.offset = FRAME_PRELUDE + len + FRAME_CHECKSUM;
	return 0;
}

int frame_open(struct frame_reader **r, struct in *in, const char kind[4])
{
	struct frame_reader *new = calloc(1, sizeof(*new));

	*r = NULL;
	if (!new) {
		in_close(in);
		return err_memory();
	}
	new->file_view.fd = -1;
	new->in = in;
	new->name = strdup(in_name(in));
	new->file = XXH3_createState();
	new->content = XXH3_createState();
	if (!new->name || !new->file || !new->content) {
		frame_close(new);
		return err_memory();
	}
	XXH3_64bits_reset(new->file);
	XXH3_128bits_reset(new->content);
	if (read_header(new, kind)) {
		frame_close(new);
		return -1;
	}
	*r = new;
	return 0;
}

/* --- blocks ------------------------------------------------------------------------- */

/* A block, of whose head the first FRAME_INDEX_HEAD bytes were taken. */
static int read_block(struct frame_reader *r, unsigned char head[FRAME_BLOCK_HEAD], struct frame_block *b)
{
	const uint64_t number = r->sums.blocks, offset = r->sums.offset;
	unsigned char entry[FRAME_ENTRY];
	struct frame_entry e;
	struct buf *bytes;

	if (take(r, head + FRAME_INDEX_HEAD, FRAME_BLOCK_HEAD - FRAME_INDEX_HEAD) ||
	    frame_check_block_head(r->name, number, offset, head, &e))
		return -1;
	e.first_record = r->sums.records[e.type];
	if (frame_sums_add(&r->sums, &e))
		return err_corrupt("'%s': block %" PRIu64 " at byte %" PRIu64 ": sizes pass 2^64", r->name, number,
				   offset);
	bytes = e.packed_bytes < e.raw_bytes ? &b->packed : &b->raw;
	if (take_growing(r, bytes, e.packed_bytes))
		return -1;
	if (frame_block_checksum(head, bytes->data, bytes->len) != e.checksum)
		return err_corrupt("'%s': block %" PRIu64 " at byte %" PRIu64 ": checksum differs", r->name, number,
				   offset);
	if (bytes == &b->packed && frame_unpack(bytes->data, bytes->len, e.raw_bytes, &b->raw))
		return err_prefix("'%s': block %" PRIu64 " at byte %" PRIu64, r->name, number, offset);
	XXH3_128bits_update(r->content, b->raw.data, b->raw.len);
	frame_put_entry(entry, &e);
	b->type = e.type;
	b->records = e.records;
	b->first_record = e.first_record;
	return buf_add(&r->entries, entry, sizeof(entry)) ? -1 : 1;
}

/* --- the end ------------------------------------------------------------------------- */

static int compare_entries(struct frame_reader *r, XXH3_state_t *sum)
{
	const unsigned char *seen = (const unsigned char *)r->entries.data;
	unsigned char entry[FRAME_ENTRY];

	for (uint64_t i = 0; i < r->sums.blocks; i++) {
		if (take(r, entry, sizeof(entry)))
			return -1;
		XXH3_64bits_update(sum, entry, sizeof(entry));
		if (memcmp(entry, seen + i * FRAME_ENTRY, sizeof(entry)))
			return err_corrupt("'%s': index at byte %" PRIu64 ": does not agree with block %" PRIu64,
					   r->name, r->sums.offset, i);
	}
	return 0;
}

/* The index, of which HEAD was taken. It must say what the blocks said. */
static int read_index(struct frame_reader *r, const unsigned char head[FRAME_INDEX_HEAD], XXH3_state_t *sum)
{
	const uint32_t totals_len = frame_get32(head + 4);
	const uint64_t blocks = frame_get64(head + 8);

	XXH3_64bits_reset(sum);
	XXH3_64bits_update(sum, head, FRAME_INDEX_HEAD);
	if (blocks != r->sums.blocks)
		return err_corrupt("'%s': index at byte %" PRIu64 ": lists %" PRIu64 " blocks, there are %" PRIu64,
				   r->name, r->sums.offset, blocks, r->sums.blocks);
	if (totals_len > FRAME_JSON_MAX)
		return err_corrupt("'%s': index at byte %" PRIu64 ": its totals are too long", r->name, r->sums.offset);
	if (compare_entries(r, sum) || take_growing(r, &r->totals, totals_len))
		return -1;
	XXH3_64bits_update(sum, r->totals.data, r->totals.len);
	return take_checksum(r, XXH3_64bits_digest(sum), "index", r->sums.offset);
}

static int check_digests(struct frame_reader *r, const unsigned char *bytes, uint64_t offset)
{
	const XXH128_hash_t content = XXH3_128bits_digest(r->content);
	const struct frame_trailer *t = &r->trailer;

	if (content.high64 != t->digest_hi || content.low64 != t->digest_lo)
		return err_corrupt("'%s': trailer at byte %" PRIu64 ": content digest differs", r->name, offset);
	if (frame_trailer_says(bytes) != frame_trailer_checksum(bytes, r->file))
		return err_corrupt("'%s': trailer at byte %" PRIu64 ": checksum of the file differs", r->name, offset);
	return 0;
}

static int read_trailer(struct frame_reader *r)
{
	const uint64_t offset = r->sums.offset + FRAME_INDEX_HEAD + r->entries.len + r->totals.len + FRAME_CHECKSUM;
	unsigned char bytes[FRAME_TRAILER], more;
	uint64_t index_offset;
	ssize_t n;

	if (take_bare(r, bytes, sizeof(bytes)) ||
	    frame_check_trailer(r->name, offset, bytes, &r->trailer, &index_offset) ||
	    frame_check_sums(r->name, offset, &r->trailer, &r->sums))
		return -1;
	if (index_offset != r->sums.offset || r->trailer.file_bytes != offset + FRAME_TRAILER)
		return err_corrupt("'%s': trailer at byte %" PRIu64 ": is of another file", r->name, offset);
	if (check_digests(r, bytes, offset))
		return -1;
	n = in_read(r->in, &more, 1);
	if (n > 0)
		return err_corrupt("'%s': bytes after the end at byte %" PRIu64, r->name, offset + FRAME_TRAILER);
	return (int)n;
}

static int read_end(struct frame_reader *r, const unsigned char head[FRAME_INDEX_HEAD])
{
	XXH3_state_t *sum = XXH3_createState();
	int rc = sum ? read_index(r, head, sum) : err_memory();

	XXH3_freeState(sum);
	if (!rc)
		rc = read_trailer(r);
	r->at_end = !rc;
	return rc;
}

int frame_next(struct frame_reader *r, struct frame_block *b)
{
	unsigned char head[FRAME_BLOCK_HEAD];
	int rc;

	assert(r->in);
	if (r->at_end)
		return 0;
	if (r->failure.code != EXIT_DONE)
		return err_put(&r->failure);
	rc = take(r, head, FRAME_INDEX_HEAD);
	if (!rc && frame_get32(head) == FRAME_MARK_BLOCK)
		rc = read_block(r, head, b);
	else if (!rc && frame_get32(head) == FRAME_MARK_INDEX)
		rc = read_end(r, head);
	else if (!rc)
		rc = err_corrupt("'%s': neither block nor index at byte %" PRIu64, r->name, r->sums.offset);
	if (rc < 0)
		err_get(&r->failure);
	return rc;
}

/* --- both ways of reading ---------------------------------------------------------------- */

void frame_block_release(struct frame_block *b)
{
	buf_release(&b->raw);
	buf_release(&b->packed);
}

const char *frame_header(const struct frame_reader *r, size_t *len)
{
	*len = r->header.len;
	return r->header.data;
}

const char *frame_totals(const struct frame_reader *r, size_t *len)
{
	*len = r->totals.len;
	return r->totals.data;
}

const struct frame_trailer *frame_trailer(const struct frame_reader *r)
{
	return &r->trailer;
}

const char *frame_name(const struct frame_reader *r)
{
	return r->name;
}

const char *frame_reader_kind(const struct frame_reader *r)
{
	return r->kind;
}

void frame_close(struct frame_reader *r)
{
	if (!r)
		return;
	in_close(r->in);
	file_view_close(&r->file_view);
	XXH3_freeState(r->file);
	XXH3_freeState(r->content);
	buf_release(&r->header);
	buf_release(&r->totals);
	buf_release(&r->entries);
	free(r->blocks);
	free(r->order);
	free(r->name);
	free(r);
}

bool frame_sniff(struct in *in)
{
	unsigned char bytes[FRAME_MAGIC_LEN];

	return in_peek(in, bytes, sizeof(bytes)) == (ssize_t)sizeof(bytes) &&
	       !memcmp(bytes, frame_magic, sizeof(bytes));
}
