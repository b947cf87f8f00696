/* Writing a frame from beginning to end. */
#include "base/frame_impl.h"

#include <assert.h>
#include <stdlib.h>

struct frame_writer {
	struct out *out;		/* the caller's */
	struct frame_sums sums;
	struct buf entries;		/* of the index */
	XXH3_state_t *file, *content;
};

/* Every byte of the file before the trailer goes this way. */
static int put(struct frame_writer *w, const void *bytes, size_t n)
{
	if (out_write(w->out, bytes, n))
		return -1;
	XXH3_64bits_update(w->file, bytes, n);
	return 0;
}

static int put_header(struct frame_writer *w, const char kind[4], const char *header, size_t len)
{
	unsigned char prelude[FRAME_PRELUDE], checksum[FRAME_CHECKSUM];

	frame_put_prelude(prelude, kind, (uint32_t)len);
	frame_put64(checksum, XXH3_64bits(header, len));
	if (put(w, prelude, sizeof(prelude)) || put(w, header, len) || put(w, checksum, sizeof(checksum)))
		return -1;
	w->sums.offset = FRAME_PRELUDE + len + FRAME_CHECKSUM;
	return 0;
}

int frame_create(struct frame_writer **w, struct out *o, const char kind[4], const char *header, size_t len)
{
	struct frame_writer *new;

	*w = NULL;
	if (out_is_terminal(o))
		return err_usage("'%s' is a terminal: binary data are not written to one", out_name(o));
	if (len > FRAME_JSON_MAX)
		return err_fail("cannot write '%s': a header of %zu bytes is too long", out_name(o), len);
	new = calloc(1, sizeof(*new));
	if (!new)
		return err_memory();
	new->out = o;
	new->file = XXH3_createState();
	new->content = XXH3_createState();
	if (!new->file || !new->content) {
		frame_abandon(new);
		return err_memory();
	}
	XXH3_64bits_reset(new->file);
	XXH3_128bits_reset(new->content);
	if (put_header(new, kind, header, len)) {
		frame_abandon(new);
		return -1;
	}
	*w = new;
	return 0;
}

int frame_add(struct frame_writer *w, unsigned type, uint32_t records, const void *raw, size_t n,
	      const struct buf *packed)
{
	const bool shrunk = packed && packed->len;
	struct frame_entry e = {
		.offset = w->sums.offset,
		.first_record = w->sums.records[type & 0xFF],
		.raw_bytes = n,
		.packed_bytes = shrunk ? packed->len : n,
		.records = records,
		.type = (uint8_t)type,
	};
	unsigned char head[FRAME_BLOCK_HEAD], entry[FRAME_ENTRY];
	const void *bytes = shrunk ? packed->data : raw;

	assert(type <= 0xFF && (!shrunk || packed->len < n));
	if (frame_sums_add(&w->sums, &e))
		return err_fail("cannot write '%s': its size passes 2^64", out_name(w->out));
	frame_put_block_head(head, &e);
	e.checksum = frame_block_checksum(head, bytes, (size_t)e.packed_bytes);
	frame_put64(head + FRAME_BLOCK_HEAD - FRAME_CHECKSUM, e.checksum);
	frame_put_entry(entry, &e);
	if (buf_add(&w->entries, entry, sizeof(entry)) || put(w, head, sizeof(head)) ||
	    put(w, bytes, (size_t)e.packed_bytes))
		return -1;
	XXH3_128bits_update(w->content, raw, n);
	return 0;
}

uint64_t frame_offset(const struct frame_writer *w)
{
	return w->sums.offset;
}

/* The index, by itself: its checksum covers it and nothing else. */
static int put_index(struct frame_writer *w, const char *totals, size_t len)
{
	unsigned char head[FRAME_INDEX_HEAD], checksum[FRAME_CHECKSUM];
	XXH3_state_t *sum = XXH3_createState();

	if (!sum)
		return err_memory();
	frame_put_index_head(head, (uint32_t)len, w->sums.blocks);
	XXH3_64bits_reset(sum);
	XXH3_64bits_update(sum, head, sizeof(head));
	XXH3_64bits_update(sum, w->entries.data, w->entries.len);
	XXH3_64bits_update(sum, totals, len);
	frame_put64(checksum, XXH3_64bits_digest(sum));
	XXH3_freeState(sum);
	w->sums.offset += sizeof(head) + w->entries.len + len + sizeof(checksum);
	return put(w, head, sizeof(head)) || put(w, w->entries.data, w->entries.len) || put(w, totals, len) ||
	       put(w, checksum, sizeof(checksum)) ? -1 : 0;
}

int frame_finish(struct frame_writer *w, const char *totals, size_t len)
{
	const uint64_t index_offset = w->sums.offset;
	unsigned char trailer[FRAME_TRAILER];
	int rc = -1;

	if (len > FRAME_JSON_MAX) {
		err_fail("cannot write '%s': totals of %zu bytes are too long", out_name(w->out), len);
		goto done;
	}
	if (put_index(w, totals, len))
		goto done;
	const XXH128_hash_t digest = XXH3_128bits_digest(w->content);
	const struct frame_trailer t = {
		.blocks = w->sums.blocks,
		.records = w->sums.records[0],
		.raw_bytes = w->sums.raw_bytes,
		.packed_bytes = w->sums.packed_bytes,
		.digest_hi = digest.high64,
		.digest_lo = digest.low64,
		.file_bytes = w->sums.offset + FRAME_TRAILER,
	};
	frame_put_trailer(trailer, &t, index_offset, w->file);
	rc = out_write(w->out, trailer, sizeof(trailer));
done:
	frame_abandon(w);
	return rc;
}

void frame_abandon(struct frame_writer *w)
{
	if (!w)
		return;
	XXH3_freeState(w->file);
	XXH3_freeState(w->content);
	buf_release(&w->entries);
	free(w);
}
