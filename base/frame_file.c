/* Reading a frame by record, from a regular file. */
#include "base/frame_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* N bytes at OFFSET; two places, for a head and what follows it. The second may be empty. */
static int read_at(const struct frame_reader *r, uint64_t offset, void *a, size_t n_a, void *b, size_t n_b)
{
	const size_t n = n_a + n_b;
	size_t done = 0;

	while (done < n) {
		struct iovec v[2] = { { (char *)a + done, n_a - done }, { b, n_b } };
		ssize_t got;

		if (done >= n_a)
			v[0] = (struct iovec){ (char *)b + (done - n_a), n - done };
		got = preadv(r->fd, v, done >= n_a ? 1 : 2, (off_t)(offset + done));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_sys("cannot read '%s'", r->name);
		if (!got)
			return err_corrupt("'%s' ends early (cut short?) at byte %" PRIu64, r->name, offset + done);
		done += (size_t)got;
	}
	return 0;
}

/* --- opening ----------------------------------------------------------------------- */

/* Opens PATH, which must be a regular file. */
static int open_regular(const char *path, int *fd, uint64_t *size)
{
	struct stat st;

	*fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);	/* does not wait for the writer of a pipe */
	if (*fd < 0)
		return err_sys("cannot open '%s'", path);
	if (fstat(*fd, &st))
		return err_sys("cannot read '%s'", path);
	if (!S_ISREG(st.st_mode))
		return err_fail("cannot read '%s': not a regular file", path);
	*size = (uint64_t)st.st_size;
	return 0;
}

static int read_start(struct frame_reader *r, uint64_t size, const char kind[4])
{
	const size_t n = size < FRAME_PRELUDE ? (size_t)size : FRAME_PRELUDE;
	unsigned char prelude[FRAME_PRELUDE], checksum[FRAME_CHECKSUM];
	uint32_t len;

	if (read_at(r, 0, prelude, n, NULL, 0) || frame_check_prelude(r->name, prelude, n, kind, &len))
		return -1;
	memcpy(r->kind, prelude + 8, 4);
	if (size < (uint64_t)FRAME_PRELUDE + len + FRAME_CHECKSUM)
		return err_corrupt("'%s' ends early (cut short?) at byte %" PRIu64, r->name, size);
	if (buf_reserve(&r->header, len) || read_at(r, FRAME_PRELUDE, r->header.data, len, checksum, sizeof(checksum)))
		return -1;
	r->header.len = len;
	r->header.data[len] = 0;
	if (frame_get64(checksum) != XXH3_64bits(r->header.data, len))
		return err_corrupt("'%s': header at byte %d: checksum differs", r->name, FRAME_PRELUDE);
	r->sums.offset = FRAME_PRELUDE + len + FRAME_CHECKSUM;
	return 0;
}

static int read_trailer(struct frame_reader *r, uint64_t size, uint64_t *index_offset)
{
	const uint64_t offset = size - FRAME_TRAILER;
	unsigned char bytes[FRAME_TRAILER];

	if (size < r->sums.offset + FRAME_TRAILER)
		return err_corrupt("'%s' ends early (cut short?) at byte %" PRIu64, r->name, size);
	if (read_at(r, offset, bytes, sizeof(bytes), NULL, 0))
		return -1;
	if (!frame_has_trailer(bytes))
		return err_corrupt("'%s' ends early (cut short?) at byte %" PRIu64 ": no trailer there", r->name, size);
	if (frame_check_trailer(r->name, offset, bytes, &r->trailer, index_offset))
		return -1;
	if (r->trailer.file_bytes != size)
		return err_corrupt("'%s': trailer at byte %" PRIu64 ": says %" PRIu64 " bytes, the file has %" PRIu64,
				   r->name, offset, r->trailer.file_bytes, size);
	return 0;
}

/* The bytes between INDEX_OFFSET and the trailer, checked as a whole. */
static int load_index(struct frame_reader *r, uint64_t index_offset, struct buf *index)
{
	const uint64_t end = r->trailer.file_bytes - FRAME_TRAILER, least = FRAME_INDEX_HEAD + FRAME_CHECKSUM;
	const unsigned char *p;
	uint64_t blocks, room;

	if (index_offset < r->sums.offset || index_offset > end || end - index_offset < least)
		return err_corrupt("'%s': trailer at byte %" PRIu64 ": no index can be at byte %" PRIu64, r->name, end,
				   index_offset);
	room = end - index_offset - least;
	if (buf_reserve(index, (size_t)(end - index_offset)) ||
	    read_at(r, index_offset, index->data, (size_t)(end - index_offset), NULL, 0))
		return -1;
	index->len = (size_t)(end - index_offset);
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

int frame_open_ends(struct frame_reader *r, const char *path, const char kind[4], uint64_t *index_offset)
{
	uint64_t size;

	if (open_regular(path, &r->fd, &size) || read_start(r, size, kind))
		return -1;
	return read_trailer(r, size, index_offset);
}

static int open_all(struct frame_reader *r, const char *path, const char kind[4])
{
	struct buf index = BUF_INIT;
	uint64_t index_offset;
	int rc = -1;

	if (frame_open_ends(r, path, kind, &index_offset))
		return -1;
	if (!load_index(r, index_offset, &index) && !parse_index(r, index_offset, &index)) {
		sort_by_type(r);
		rc = 0;
	}
	buf_release(&index);
	return rc;
}

int frame_open_file(struct frame_reader **r, const char *path, const char kind[4])
{
	struct frame_reader *new = calloc(1, sizeof(*new));

	*r = NULL;
	if (!new)
		return err_memory();
	new->fd = -1;
	new->name = strdup(path);
	if (!new->name || open_all(new, path, kind)) {
		if (!new->name)
			err_memory();
		frame_close(new);
		return -1;
	}
	*r = new;
	return 0;
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

int frame_read(const struct frame_reader *r, uint64_t number, struct frame_block *b)
{
	unsigned char head[FRAME_BLOCK_HEAD], expected[FRAME_BLOCK_HEAD];
	const struct frame_entry *e;
	struct buf *bytes;

	if (number >= r->sums.blocks)
		return err_fail("'%s' has %" PRIu64 " blocks: no block %" PRIu64, r->name, r->sums.blocks, number);
	e = &r->blocks[number];
	bytes = e->packed_bytes < e->raw_bytes ? &b->packed : &b->raw;
	buf_clear(bytes);
	if (buf_reserve(bytes, (size_t)e->packed_bytes) ||
	    read_at(r, e->offset, head, sizeof(head), bytes->data, (size_t)e->packed_bytes))
		return -1;
	bytes->len = (size_t)e->packed_bytes;
	bytes->data[bytes->len] = 0;
	frame_put_block_head(expected, e);
	if (memcmp(head, expected, sizeof(head)))
		return err_corrupt("'%s': block %" PRIu64 " at byte %" PRIu64 ": its head is not what the index says",
				   r->name, number, e->offset);
	if (frame_block_checksum(head, bytes->data, bytes->len) != e->checksum)
		return err_corrupt("'%s': block %" PRIu64 " at byte %" PRIu64 ": checksum differs", r->name, number,
				   e->offset);
	if (bytes == &b->packed && frame_unpack(bytes->data, bytes->len, e->raw_bytes, &b->raw))
		return err_prefix("'%s': block %" PRIu64 " at byte %" PRIu64, r->name, number, e->offset);
	b->type = e->type;
	b->records = e->records;
	b->first_record = e->first_record;
	return 0;
}

/* --- kind ---------------------------------------------------------------------------- */

/* The first bytes of the file at PATH, FRAME_PRELUDE of them or all there are. */
static int read_prelude(const char *path, unsigned char *prelude, size_t *n)
{
	struct frame_reader r = { .fd = -1, .name = strdup(path) };
	uint64_t size;
	int rc = r.name ? open_regular(path, &r.fd, &size) : err_memory();

	if (!rc) {
		*n = size < FRAME_PRELUDE ? (size_t)size : FRAME_PRELUDE;
		rc = read_at(&r, 0, prelude, *n, NULL, 0);
	}
	if (r.fd >= 0)
		close(r.fd);
	free(r.name);
	return rc ? -1 : 0;
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
