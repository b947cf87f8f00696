/* Reading a frame by record, from a regular file. */
#include "base/frame_impl.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	START = 4096,		/* bytes read at once when a file is opened */
	SPAN = 1 << 20,		/* bytes of blocks that are read together */
};

/* --- opening ----------------------------------------------------------------------- */

/* What is read at both ends of a file to open it. */
struct ends {
	bool sparing;		/* FRAME_SPARING */
	unsigned char start[START];
	size_t n_start;
	struct buf tail;	/* the bytes from TAIL_AT on */
	uint64_t tail_at;
};

/* The header, of LEN bytes, and its checksum, of which START holds a part or all. */
static int take_header(struct frame_reader *r, const struct ends *ends, size_t len)
{
	const size_t here = ends->n_start - FRAME_PRELUDE, need = len + FRAME_CHECKSUM, have = need < here ? need : here;

	if (buf_reserve(&r->header, need))
		return -1;
	memcpy(r->header.data, ends->start + FRAME_PRELUDE, have);
	return need > have ? file_view_read(&r->file_view, FRAME_PRELUDE + have, r->header.data + have, need - have, NULL, 0) : 0;
}

static int read_start(struct frame_reader *r, struct ends *ends, const char kind[4])
{
	const uint64_t size = r->file_view.size;
	const size_t n = size < FRAME_PRELUDE ? (size_t)size : FRAME_PRELUDE;
	uint64_t checksum;
	uint32_t len;

	ends->n_start = ends->sparing ? n : size < START ? (size_t)size : START;
	if (file_view_read(&r->file_view, 0, ends->start, ends->n_start, NULL, 0) ||
	    frame_check_prelude(r->name, ends->start, n, kind, &len))
		return -1;
	memcpy(r->kind, ends->start + 8, 4);
	if (size < (uint64_t)FRAME_PRELUDE + len + FRAME_CHECKSUM)
		return err_corrupt("'%s' ends early (cut short?) at byte %" PRIu64, r->name, size);
	if (take_header(r, ends, len))
		return -1;
	checksum = frame_get64((unsigned char *)r->header.data + len);
	r->header.len = len;
	r->header.data[len] = 0;
	if (checksum != XXH3_64bits(r->header.data, len))
		return err_corrupt("'%s': header at byte %d: checksum differs", r->name, FRAME_PRELUDE);
	r->sums.offset = FRAME_PRELUDE + len + FRAME_CHECKSUM;
	return 0;
}

static int read_trailer(struct frame_reader *r, struct ends *ends, uint64_t *index_offset)
{
	const uint64_t size = r->file_view.size, offset = size - FRAME_TRAILER;
	const unsigned char *bytes;
	uint64_t tail;

	if (size < r->sums.offset + FRAME_TRAILER)
		return err_corrupt("'%s' ends early (cut short?) at byte %" PRIu64, r->name, size);
	tail = ends->sparing ? FRAME_TRAILER : START + size / 1024;	/* blocks are so large that their index fits */
	ends->tail_at = size > tail ? size - tail : 0;
	if (buf_reserve(&ends->tail, (size_t)(size - ends->tail_at)) ||
	    file_view_read(&r->file_view, ends->tail_at, ends->tail.data, (size_t)(size - ends->tail_at), NULL, 0))
		return -1;
	ends->tail.len = (size_t)(size - ends->tail_at);
	bytes = (unsigned char *)ends->tail.data + (offset - ends->tail_at);
	if (!frame_has_trailer(bytes))
		return err_corrupt("'%s' ends early (cut short?) at byte %" PRIu64 ": no trailer there", r->name, size);
	if (frame_check_trailer(r->name, offset, bytes, &r->trailer, index_offset))
		return -1;
	if (r->trailer.file_bytes != size)
		return err_corrupt("'%s': trailer at byte %" PRIu64 ": says %" PRIu64 " bytes, the file has %" PRIu64,
				   r->name, offset, r->trailer.file_bytes, size);
	return 0;
}

/* The bytes from INDEX_OFFSET to END, of which the file's tail holds a part or all. */
static int take_index(struct frame_reader *r, const struct ends *ends, uint64_t index_offset, uint64_t end, struct buf *index)
{
	const uint64_t here = index_offset > ends->tail_at ? index_offset : ends->tail_at;
	const size_t before = here < end ? (size_t)(here - index_offset) : (size_t)(end - index_offset);

	if (buf_reserve(index, (size_t)(end - index_offset)))
		return -1;
	index->len = (size_t)(end - index_offset);
	memcpy(index->data + before, ends->tail.data + (here - ends->tail_at), index->len - before);
	return before ? file_view_read(&r->file_view, index_offset, index->data, before, NULL, 0) : 0;
}

/* The bytes between INDEX_OFFSET and the trailer, checked as a whole. */
static int load_index(struct frame_reader *r, const struct ends *ends, uint64_t index_offset, struct buf *index)
{
	const uint64_t end = r->trailer.file_bytes - FRAME_TRAILER, least = FRAME_INDEX_HEAD + FRAME_CHECKSUM;
	const unsigned char *p;
	uint64_t blocks, room;

	if (index_offset < r->sums.offset || index_offset > end || end - index_offset < least)
		return err_corrupt("'%s': trailer at byte %" PRIu64 ": no index can be at byte %" PRIu64, r->name, end,
				   index_offset);
	room = end - index_offset - least;
	if (take_index(r, ends, index_offset, end, index))
		return -1;
	p = (const unsigned char *)index->data;
	if (frame_get32(p) != FRAME_MARK_INDEX)
		return err_corrupt("'%s': no index at byte %" PRIu64, r->name, index_offset);
	if (frame_get64(p + index->len - FRAME_CHECKSUM) != XXH3_64bits(p, index->len - FRAME_CHECKSUM))
		return err_corrupt("'%s': index at byte %" PRIu64 ": checksum differs", r->name, index_offset);
	blocks = frame_get64(p + 8);
	if (blocks > room / FRAME_ENTRY || room - blocks * FRAME_ENTRY != frame_get32(p + 4) ||
	    frame_get32(p + 4) > FRAME_JSON_MAX)
		return err_corrupt("'%s': index at byte %" PRIu64 ": its size is not that of its entries", r->name,
				   index_offset);
	return buf_add(&r->totals, p + FRAME_INDEX_HEAD + blocks * FRAME_ENTRY, frame_get32(p + 4));
}

/* Entry NUMBER at P; the block ends at END. Blocks must follow each other without a gap. */
static int parse_entry(struct frame_reader *r, uint64_t number, const unsigned char *p, uint64_t end,
		       struct frame_entry *e)
{
	*e = (struct frame_entry){
		.offset = frame_get64(p),
		.first_record = frame_get64(p + 8),
		.raw_bytes = frame_get64(p + 16),
		.checksum = frame_get64(p + 24),
		.records = frame_get32(p + 32),
		.type = p[36],
	};
	if (e->offset != r->sums.offset || end < e->offset || end - e->offset < FRAME_BLOCK_HEAD ||
	    frame_get32(p + 36) != e->type)
		goto wrong;
	e->packed_bytes = end - e->offset - FRAME_BLOCK_HEAD;
	if (e->packed_bytes > e->raw_bytes || e->first_record != r->sums.records[e->type] ||
	    frame_sums_add(&r->sums, e))
		goto wrong;
	return 0;
wrong:
	return err_corrupt("'%s': index: entry of block %" PRIu64 " contradicts the others", r->name, number);
}

static int parse_index(struct frame_reader *r, uint64_t index_offset, const struct buf *index)
{
	const unsigned char *p = (const unsigned char *)index->data;
	const uint64_t blocks = frame_get64(p + 8);

	p += FRAME_INDEX_HEAD;
	r->blocks = calloc(blocks ? (size_t)blocks : 1, sizeof(*r->blocks));
	r->order = calloc(blocks ? (size_t)blocks : 1, sizeof(*r->order));
	if (!r->blocks || !r->order)
		return err_memory();
	for (uint64_t i = 0; i < blocks; i++, p += FRAME_ENTRY) {
		const uint64_t end = i + 1 < blocks ? frame_get64(p + FRAME_ENTRY) : index_offset;

		if (parse_entry(r, i, p, end, &r->blocks[i]))
			return -1;
	}
	if (r->sums.offset != index_offset)
		return err_corrupt("'%s': index at byte %" PRIu64 ": bytes before it belong to no block", r->name,
				   index_offset);
	return frame_check_sums(r->name, r->trailer.file_bytes - FRAME_TRAILER, &r->trailer, &r->sums);
}

/* Block numbers by type, each type's in order. */
static void sort_by_type(struct frame_reader *r)
{
	uint64_t next[256];

	for (uint64_t i = 0; i < r->sums.blocks; i++)
		r->type_start[r->blocks[i].type + 1]++;
	for (unsigned t = 0; t < 256; t++) {
		r->type_start[t + 1] += r->type_start[t];
		next[t] = r->type_start[t];
	}
	for (uint64_t i = 0; i < r->sums.blocks; i++)
		r->order[next[r->blocks[i].type]++] = i;
}

/* Header and trailer; ENDS, empty, gets what was read for them, its TAIL for the caller to release, also on failure. */
static int open_ends(struct frame_reader *r, const char kind[4], unsigned access, struct ends *ends, uint64_t *index_offset)
{
	return file_view_open(&r->file_view, r->name, access) || read_start(r, ends, kind) ||
	       read_trailer(r, ends, index_offset) ? -1 : 0;
}

int frame_open_ends(struct frame_reader *r, const char kind[4], uint64_t *index_offset)
{
	struct ends ends = { .sparing = true, .tail = BUF_INIT };
	const int rc = open_ends(r, kind, 0, &ends, index_offset);

	buf_release(&ends.tail);
	return rc;
}

static int open_all(struct frame_reader *r, const char kind[4], unsigned access)
{
	struct ends ends = { .sparing = access & FRAME_SPARING, .tail = BUF_INIT };
	struct buf index = BUF_INIT;
	uint64_t index_offset;
	int rc = -1;

	if (!open_ends(r, kind, access, &ends, &index_offset) && !load_index(r, &ends, index_offset, &index) &&
	    !parse_index(r, index_offset, &index)) {
		sort_by_type(r);
		rc = 0;
	}
	buf_release(&ends.tail);
	buf_release(&index);
	return rc;
}

int frame_open_access(struct frame_reader **r, const char *path, const char kind[4], unsigned access)
{
	struct frame_reader *new = calloc(1, sizeof(*new));

	*r = NULL;
	if (!new)
		return err_memory();
	new->file_view.fd = -1;
	new->name = strdup(path);
	if (!new->name || open_all(new, kind, access)) {
		if (!new->name)
			err_memory();
		frame_close(new);
		return -1;
	}
	*r = new;
	return 0;
}

int frame_open_file(struct frame_reader **r, const char *path, const char kind[4])
{
	return frame_open_access(r, path, kind, 0);
}

bool frame_mapped(const struct frame_reader *r)
{
	return file_view_mapped(&r->file_view);
}

size_t frame_memory(const struct frame_reader *r)
{
	return sizeof(*r) + r->header.cap + r->totals.cap + (size_t)r->sums.blocks * (sizeof(*r->blocks) + sizeof(*r->order));
}

/* --- blocks ------------------------------------------------------------------------- */

uint64_t frame_blocks(const struct frame_reader *r)
{
	return r->sums.blocks;
}

uint64_t frame_records(const struct frame_reader *r, unsigned type)
{
	return type <= 0xFF ? r->sums.records[type] : 0;
}

int frame_find(const struct frame_reader *r, unsigned type, uint64_t record, uint64_t *number)
{
	uint64_t low, high;

	if (record >= frame_records(r, type))
		return err_fail("'%s' has %" PRIu64 " records of type %u: no record %" PRIu64, r->name,
				frame_records(r, type), type, record);
	low = r->type_start[type];
	high = r->type_start[type + 1];
	while (high - low > 1) {	/* the last block that begins at RECORD or before; empty ones precede it */
		const uint64_t middle = low + (high - low) / 2;

		if (r->blocks[r->order[middle]].first_record <= record)
			low = middle;
		else
			high = middle;
	}
	*number = r->order[low];
	return 0;
}

static int check_number(const struct frame_reader *r, uint64_t number)
{
	if (number < r->sums.blocks)
		return 0;
	return err_fail("'%s' has %" PRIu64 " blocks: no block %" PRIu64, r->name, r->sums.blocks, number);
}

static bool is_packed(const struct frame_entry *e)
{
	return e->packed_bytes < e->raw_bytes;
}

/* Makes *B of block NUMBER, whose HEAD and PACKED bytes were read; what was not packed lies in B->raw already. */
static int take_block(const struct frame_reader *r, uint64_t number, const unsigned char *head, const void *packed,
		      struct frame_block *b)
{
	const struct frame_entry *e = &r->blocks[number];
	unsigned char expected[FRAME_BLOCK_HEAD];

	frame_put_block_head(expected, e);
	if (memcmp(head, expected, sizeof(expected)))
		return err_corrupt("'%s': block %" PRIu64 " at byte %" PRIu64 ": its head is not what the index says",
				   r->name, number, e->offset);
	if (frame_block_checksum(head, packed, (size_t)e->packed_bytes) != e->checksum)
		return err_corrupt("'%s': block %" PRIu64 " at byte %" PRIu64 ": checksum differs", r->name, number,
				   e->offset);
	if (is_packed(e) && frame_unpack(packed, (size_t)e->packed_bytes, e->raw_bytes, &b->raw))
		return err_prefix("'%s': block %" PRIu64 " at byte %" PRIu64, r->name, number, e->offset);
	b->type = e->type;
	b->records = e->records;
	b->first_record = e->first_record;
	return 0;
}

/*
 * From a map, packed bytes are unpacked where they lie. Raw ones are copied, since whoever gets them believes what was
 * checked, and a mapped file may change under him.
 */
static int read_mapped(const struct frame_reader *r, uint64_t number, struct frame_block *b)
{
	const struct frame_entry *e = &r->blocks[number];
	const size_t n = (size_t)e->packed_bytes;
	const unsigned char *head = file_view_at(&r->file_view, e->offset, FRAME_BLOCK_HEAD + n);
	const void *packed = head ? head + FRAME_BLOCK_HEAD : NULL;
	int rc;

	if (!head)
		return -1;
	if (!is_packed(e)) {
		buf_clear(&b->raw);
		if (buf_add(&b->raw, packed, n))
			return -1;
		packed = b->raw.data;
	}
	rc = take_block(r, number, head, packed, b);
	file_view_done(&r->file_view, e->offset, FRAME_BLOCK_HEAD + n);
	return rc;
}

int frame_read(const struct frame_reader *r, uint64_t number, struct frame_block *b)
{
	unsigned char head[FRAME_BLOCK_HEAD];
	const struct frame_entry *e;
	struct buf *bytes;

	if (check_number(r, number))
		return -1;
	if (file_view_mapped(&r->file_view))
		return read_mapped(r, number, b);
	e = &r->blocks[number];
	bytes = is_packed(e) ? &b->packed : &b->raw;
	buf_clear(bytes);
	if (buf_reserve(bytes, (size_t)e->packed_bytes) ||
	    file_view_read(&r->file_view, e->offset, head, sizeof(head), bytes->data, (size_t)e->packed_bytes))
		return -1;
	bytes->len = (size_t)e->packed_bytes;
	bytes->data[bytes->len] = 0;
	return take_block(r, number, head, bytes->data, b);
}

/* Reads blocks from NUMBER on, below END, together: one, and as many more as SPAN holds. */
static int read_span(const struct frame_reader *r, struct frame_span *s, uint64_t number, uint64_t end)
{
	const struct frame_entry *e = r->blocks;
	const uint64_t from = e[number].offset;
	uint64_t k = number, n;

	s->first = s->end = 0;
	do
		n = e[k].offset + FRAME_BLOCK_HEAD + e[k].packed_bytes - from;
	while (++k < end && e[k].offset + FRAME_BLOCK_HEAD + e[k].packed_bytes - from <= SPAN);
	buf_clear(&s->bytes);
	if (buf_reserve(&s->bytes, (size_t)n) || file_view_read(&r->file_view, from, s->bytes.data, (size_t)n, NULL, 0))
		return -1;
	s->bytes.len = (size_t)n;
	s->first = number;
	s->end = k;
	return 0;
}

int frame_read_span(const struct frame_reader *r, struct frame_span *s, uint64_t number, uint64_t end, struct frame_block *b)
{
	const struct frame_entry *e;
	const unsigned char *head;

	if (check_number(r, number))
		return -1;
	if (end > r->sums.blocks)
		end = r->sums.blocks;
	if ((number < s->first || number >= s->end) && read_span(r, s, number, end))
		return -1;
	e = &r->blocks[number];
	head = (unsigned char *)s->bytes.data + (e->offset - r->blocks[s->first].offset);
	buf_clear(&b->raw);
	if (!is_packed(e) && buf_add(&b->raw, head + FRAME_BLOCK_HEAD, (size_t)e->packed_bytes))
		return -1;
	return take_block(r, number, head, head + FRAME_BLOCK_HEAD, b);
}

void frame_span_release(struct frame_span *s)
{
	buf_release(&s->bytes);
	s->first = s->end = 0;
}

/* --- kind ---------------------------------------------------------------------------- */

/* The first bytes of the file at PATH, FRAME_PRELUDE of them or all there are. */
static int read_prelude(const char *path, unsigned char *prelude, size_t *n)
{
	struct file_view v;
	int rc = file_view_open(&v, path, 0);

	if (!rc) {
		*n = v.size < FRAME_PRELUDE ? (size_t)v.size : FRAME_PRELUDE;
		rc = file_view_read(&v, 0, prelude, *n, NULL, 0);
	}
	file_view_close(&v);
	return rc;
}

int frame_kind(const char *path, char kind[5])
{
	unsigned char prelude[FRAME_PRELUDE];
	uint32_t len;
	size_t n;

	if (read_prelude(path, prelude, &n) || frame_check_prelude(path, prelude, n, NULL, &len))
		return -1;
	memcpy(kind, prelude + 8, 4);
	kind[4] = 0;
	return 0;
}

int frame_version(const char *path)
{
	unsigned char prelude[FRAME_PRELUDE];
	size_t n;

	return read_prelude(path, prelude, &n) ? -1 : frame_prelude_version(prelude, n);
}
