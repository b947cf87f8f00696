/* Blocks of a framed file by their place. */
#include "base/frame_stretch.h"
#include "base/frame_impl.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(FRAME_STRETCH_HEAD == FRAME_BLOCK_HEAD, "the head of a block");

struct frame_ends {
	char *name;
	struct file_view view;
	uint64_t first, index;		/* offsets of the first block and of the index */
};

int frame_ends_open(struct frame_ends **out, const char *path, const char kind[4])
{
	struct frame_ends *f = calloc(1, sizeof(*f));
	struct frame_reader *r = calloc(1, sizeof(*r));
	int rc = -1;

	*out = NULL;
	if (r) {
		r->file_view.fd = -1;
		r->name = strdup(path);
	}
	if (!f || !r || !r->name) {
		err_memory();
	} else if (!frame_open_ends(r, kind, &f->index)) {
		f->first = r->sums.offset;
		if (f->index < f->first || f->index > r->trailer.file_bytes)
			rc = err_corrupt("'%s': no index can be at byte %" PRIu64, path, f->index);
		else
			rc = 0;
	}
	if (!rc) {
		f->name = r->name;
		f->view = r->file_view;
		r->name = NULL;
		r->file_view.fd = -1;
		*out = f;
	} else {
		free(f);
	}
	frame_close(r);
	return rc;
}

void frame_ends_close(struct frame_ends *f)
{
	if (!f)
		return;
	file_view_close(&f->view);
	free(f->name);
	free(f);
}

const char *frame_ends_name(const struct frame_ends *f)
{
	return f->name;
}

uint64_t frame_ends_blocks_end(const struct frame_ends *f)
{
	return f->index;
}

void frame_ends_scattered(const struct frame_ends *f)
{
	(void)posix_fadvise(f->view.fd, 0, 0, POSIX_FADV_RANDOM);	/* a hint, no more */
}

int frame_ends_read(const struct frame_ends *f, uint64_t offset, void *bytes, size_t n)
{
	if (offset > f->index || n > f->index - offset)
		return err_corrupt("'%s': byte %" PRIu64 " is beyond the blocks, which end at %" PRIu64, f->name,
				   offset, f->index);
	return file_view_read(&f->view, offset, bytes, n, NULL, 0);
}

static int read_head(const struct frame_ends *f, struct frame_stretch *s)
{
	if (s->at < f->first || s->end > f->index || s->end < s->at || s->end - s->at < FRAME_BLOCK_HEAD)
		return err_corrupt("'%s': no blocks stand from byte %" PRIu64 " to %" PRIu64, f->name, s->at, s->end);
	return s->has_head ? 0 : frame_ends_read(f, s->at, s->head, sizeof(s->head));
}

int frame_stretch_next(const struct frame_ends *f, struct frame_stretch *s, struct frame_block *b)
{
	unsigned char head[FRAME_BLOCK_HEAD];
	struct frame_entry e;
	struct buf *bytes;
	uint64_t after;

	if (s->at == s->end)
		return 0;
	if (read_head(f, s))
		return -1;
	if (frame_get32(s->head) != FRAME_MARK_BLOCK)
		return err_corrupt("'%s': no block at byte %" PRIu64, f->name, s->at);
	if (frame_check_block_head(f->name, 0, s->at, s->head, &e))
		return err_corrupt("'%s': the head of the block at byte %" PRIu64 " is damaged", f->name, s->at);
	after = s->end - s->at - FRAME_BLOCK_HEAD;
	if (e.packed_bytes > after || (e.packed_bytes < after && after - e.packed_bytes < FRAME_BLOCK_HEAD))
		return err_corrupt("'%s': the block at byte %" PRIu64 " does not end where it should", f->name, s->at);
	memcpy(head, s->head, sizeof(head));
	bytes = e.packed_bytes < e.raw_bytes ? &b->packed : &b->raw;
	buf_clear(bytes);
	s->has_head = e.packed_bytes < after;
	if (buf_reserve(bytes, (size_t)e.packed_bytes) ||
	    file_view_read(&f->view, s->at + FRAME_BLOCK_HEAD, bytes->data, (size_t)e.packed_bytes, s->head,
		     s->has_head ? FRAME_BLOCK_HEAD : 0))
		return -1;
	bytes->len = (size_t)e.packed_bytes;
	bytes->data[bytes->len] = 0;
	if (frame_block_checksum(head, bytes->data, bytes->len) != e.checksum)
		return err_corrupt("'%s': block at byte %" PRIu64 ": checksum differs", f->name, s->at);
	if (bytes == &b->packed && frame_unpack(bytes->data, bytes->len, e.raw_bytes, &b->raw))
		return err_prefix("'%s': block at byte %" PRIu64, f->name, s->at);
	s->at += FRAME_BLOCK_HEAD + e.packed_bytes;
	b->type = e.type;
	b->records = e.records;
	b->first_record = 0;
	return 1;
}
