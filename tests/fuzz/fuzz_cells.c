/*
 * Token documents with places of cells, all of whose checksums are right, and nothing else need be: what is found is
 * read, or refused as corrupt.
 *
 * The first byte is the number of cells, less one; then, for each cell and for the end of the last, two bytes
 * (little-endian): below 0x8000 the number of the block that it begins with, else an offset. Then blocks: type, records,
 * length (two bytes), bytes. An input that begins as a framed file is taken as it is.
 */
#include "base/err.h"
#include "shards/keys.h"
#include "shards/tokdoc.h"
#include "shards/tokdoc_cells.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HEADER "{}"
#define BLOCKS 64

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static const struct key owner = { 1, 2 };

static void need(int ok)
{
	if (!ok)
		abort();
}

static void write_blocks(struct frame_writer *w, const unsigned char *p, size_t size, uint64_t places[BLOCKS])
{
	const struct buf raw = BUF_INIT;
	size_t n = 0;

	for (size_t at = 0; at + 4 <= size && n + 1 < BLOCKS;) {
		const size_t said = p[at + 2] | (size_t)p[at + 3] << 8, left = size - at - 4;
		const size_t bytes = said < left ? said : left;

		places[n++] = frame_offset(w);
		need(!frame_add(w, p[at], p[at + 1], p + at + 4, bytes, &raw));
		at += 4 + bytes;
	}
	while (n < BLOCKS)
		places[n++] = frame_offset(w);
}

static void write_file(const char *path, const unsigned char *p, size_t size)
{
	const uint32_t cells = p[0] + 1;
	const size_t head = 1 + 2 * ((size_t)cells + 1);
	struct tokdoc_cells_list l = { .cells = cells, .entries = BUF_INIT };
	uint64_t places[BLOCKS], end = 0;
	struct frame_writer *w;
	struct out *out;

	need(!out_open(&out, path) && !frame_create(&w, out, TOKDOC_KIND, HEADER, strlen(HEADER)));
	write_blocks(w, size > head ? p + head : p, size > head ? size - head : 0, places);
	for (uint32_t k = 0; k <= cells; k++) {
		const size_t at = 1 + 2 * (size_t)k;
		const uint64_t said = at + 1 < size ? p[at] | (uint64_t)p[at + 1] << 8 : 0;

		end = said < 0x8000 ? places[said % BLOCKS] : said - 0x8000;
		if (k < cells)
			need(!tokdoc_cells_reach(&l, key_shard_first(k, cells), end));
	}
	need(!tokdoc_cells_finish(&l, owner, end));
	need(!frame_add(w, TOKDOC_CELLS_TYPE, cells + 1, l.entries.data, l.entries.len, NULL));
	need(!frame_finish(w, "{}", 2) && !out_commit(out));
	buf_release(&l.entries);
}

static void read_shards(const struct tokdoc_cells *c, uint32_t shards, size_t most)
{
	struct frame_block b = FRAME_BLOCK_INIT;
	struct frame_stretch s;

	for (uint32_t k = 0; k < shards; k++) {
		size_t sum = 0;
		int rc = tokdoc_cells_find(c, k, shards, &s);

		while (!rc && (rc = tokdoc_cells_next(c, &s, &b)) > 0) {
			need(s.at <= s.end);
			sum += b.raw.len;
			rc = 0;
		}
		need(!rc || err_code() == EXIT_CORRUPT);
		need(sum <= most);
	}
	frame_block_release(&b);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	static const uint32_t shards[] = { 1, 3, 16, 256, 300 };
	struct tokdoc_cells *c;
	char path[64];
	const int fd = memfd_create("cells", MFD_CLOEXEC);

	need(fd >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (size >= FRAME_MAGIC_LEN && !memcmp(data, frame_magic, FRAME_MAGIC_LEN))
		need(write(fd, data, size) == (ssize_t)size);
	else if (size)
		write_file(path, data, size);
	if (!tokdoc_cells_open(&c, path, owner)) {
		for (size_t k = 0; k < sizeof(shards) / sizeof(shards[0]); k++)
			read_shards(c, shards[k], size + 100000);
		tokdoc_cells_close(c);
	}
	close(fd);
	return 0;
}
