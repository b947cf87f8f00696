/* Stretches of keys in sorted files of token documents. */
#include "shards/tokdoc_cells.h"
#include "base/err.h"
#include "shards/keys.h"
#include "shards/tokdoc.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define FOOT 32
#define SCATTERED ((uint64_t)1 << 20)	/* bytes of a cell below which what follows it is not read ahead */

static void put_u64(unsigned char *out, uint64_t v)
{
	for (unsigned k = 0; k < 8; k++)
		out[k] = (unsigned char)(v >> (8 * k));
}

static uint64_t get_u64(const unsigned char *in)
{
	uint64_t v = 0;

	for (unsigned k = 0; k < 8; k++)
		v |= (uint64_t)in[k] << (8 * k);
	return v;
}

/* --- writing --------------------------------------------------------------------------------- */

static int add_entry(struct tokdoc_cells_list *l, uint64_t offset)
{
	unsigned char entry[TOKDOC_CELLS_ENTRY];

	put_u64(entry, offset);
	put_u64(entry + 8, XXH3_64bits_withSeed(entry, 8, l->next));
	l->next++;
	return buf_add(&l->entries, entry, sizeof(entry));
}

int tokdoc_cells_reach(struct tokdoc_cells_list *l, struct key k, uint64_t offset)
{
	const uint32_t cell = key_shard(k, l->cells);

	while (l->next <= cell)
		if (add_entry(l, offset))
			return -1;
	return 0;
}

int tokdoc_cells_finish(struct tokdoc_cells_list *l, struct key owner, uint64_t offset)
{
	unsigned char foot[FOOT];

	while (l->next <= l->cells)
		if (add_entry(l, offset))
			return -1;
	put_u64(foot, l->cells);
	key_put(owner, foot + 8);
	put_u64(foot + 24, XXH3_64bits(foot, 24));
	return buf_add(&l->entries, foot, sizeof(foot));
}

/* --- reading ---------------------------------------------------------------------------------- */

struct tokdoc_cells {
	struct frame_ends *frame;
	uint32_t cells;
	uint64_t entries;		/* offset of the first one */
};

static int read_foot(struct tokdoc_cells *c, struct key *owner)
{
	const uint64_t end = frame_ends_blocks_end(c->frame);
	unsigned char foot[FOOT];
	uint64_t cells;

	if (end < FOOT || frame_ends_read(c->frame, end - FOOT, foot, FOOT))
		return -1;
	cells = get_u64(foot);
	if (get_u64(foot + 24) != XXH3_64bits(foot, 24) || !cells || cells > TOKDOC_CELLS_MAX ||
	    end - FOOT < (cells + 1) * TOKDOC_CELLS_ENTRY)
		return err_corrupt("'%s': it does not say where its keys are", frame_ends_name(c->frame));
	*owner = key_get(foot + 8);
	c->cells = (uint32_t)cells;
	c->entries = end - FOOT - (cells + 1) * TOKDOC_CELLS_ENTRY;
	return 0;
}

int tokdoc_cells_open(struct tokdoc_cells **out, const char *path, struct key owner)
{
	struct tokdoc_cells *c = calloc(1, sizeof(*c));
	struct key is;

	*out = NULL;
	if (!c)
		return err_memory();
	if (frame_ends_open(&c->frame, path, TOKDOC_KIND) || read_foot(c, &is))
		goto fail;
	if (key_compare(is, owner)) {
		err_fail("'%s' was made with other options or from other input", path);
		goto fail;
	}
	if (c->entries / c->cells < SCATTERED)
		frame_ends_scattered(c->frame);
	*out = c;
	return 0;
fail:
	tokdoc_cells_close(c);
	return -1;
}

void tokdoc_cells_close(struct tokdoc_cells *c)
{
	if (!c)
		return;
	frame_ends_close(c->frame);
	free(c);
}

const char *tokdoc_cells_name(const struct tokdoc_cells *c)
{
	return frame_ends_name(c->frame);
}

static int find_cell(const struct tokdoc_cells *c, uint32_t cell, uint64_t *offset)
{
	unsigned char entry[TOKDOC_CELLS_ENTRY];

	if (frame_ends_read(c->frame, c->entries + (uint64_t)cell * TOKDOC_CELLS_ENTRY, entry, sizeof(entry)))
		return -1;
	if (get_u64(entry + 8) != XXH3_64bits_withSeed(entry, 8, cell))
		return err_corrupt("'%s': the place of cell %" PRIu32 " is damaged", frame_ends_name(c->frame), cell);
	*offset = get_u64(entry);
	return 0;
}

/* The number of cells that begin below K: those that hold keys below it. */
static uint32_t cells_below(const struct tokdoc_cells *c, struct key k)
{
	const uint32_t cell = key_shard(k, c->cells);

	return key_compare(key_shard_first(cell, c->cells), k) ? cell + 1 : cell;
}

int tokdoc_cells_find(const struct tokdoc_cells *c, uint32_t shard, uint32_t shards, struct frame_stretch *s)
{
	const uint32_t first = key_shard(key_shard_first(shard, shards), c->cells);
	const uint32_t end = shard + 1 < shards ? cells_below(c, key_shard_first(shard + 1, shards)) : c->cells;

	*s = (struct frame_stretch){ 0 };
	return find_cell(c, first, &s->at) || find_cell(c, end, &s->end) ? -1 : 0;
}

int tokdoc_cells_next(const struct tokdoc_cells *c, struct frame_stretch *s, struct frame_block *b)
{
	return frame_stretch_next(c->frame, s, b);
}
