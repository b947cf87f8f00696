#include "base/lz4_frames.h"

#include "base/buf.h"
#include "base/err.h"

#include <stdlib.h>
#include <string.h>

#define MAGIC 0x184d2204u
#define MAGIC_SKIPPABLE 0x184d2a50u	/* and the fifteen after it */
#define MAGIC_LEGACY 0x184c2102u
#define LEGACY_MAX (8u << 20)		/* unpacked; packed it is a little longer at most */
#define HISTORY (64u << 10)

/* What the bytes being gathered are. */
enum state {
	IN_MAGIC,
	IN_FLAGS,		/* FLG and BD */
	IN_BLOCK_SIZE,
	IN_SKIP_SIZE,
	IN_LEGACY_SIZE,
	IN_FAULT,
};

struct lz4_frames {
	enum state state;
	unsigned char field[4];
	unsigned need, have;	/* bytes of the field */
	uint64_t pass;		/* bytes to pass over before it */
	uint64_t offset;	/* packed bytes followed */
	bool linked, block_sums, content_sum;
	enum lz4_fault fault;
	uint64_t fault_offset;

	/* Blocks that were seen packed and are not unpacked yet: whether each may need more than the block before it. */
	bool *deep;
	size_t first, n, cap;
	unsigned in_frame;	/* blocks of this frame seen, at most 2 */
	size_t last;		/* bytes of the block unpacked last */
};

int lz4_frames_new(struct lz4_frames **result)
{
	struct lz4_frames *f = calloc(1, sizeof(*f));

	*result = f;
	if (!f)
		return err_memory();
	f->need = 4;
	return 0;
}

static void expect(struct lz4_frames *f, enum state state, unsigned need, uint64_t pass)
{
	f->state = state;
	f->need = need;
	f->have = 0;
	f->pass = pass;
}

static void set_fault(struct lz4_frames *f, enum lz4_fault fault)
{
	f->state = IN_FAULT;
	f->fault = fault;
	f->fault_offset = f->offset - f->need;
}

static void take_magic(struct lz4_frames *f, uint32_t magic)
{
	f->in_frame = 0;
	if (magic == MAGIC)
		expect(f, IN_FLAGS, 2, 0);
	else if (magic == MAGIC_LEGACY)
		expect(f, IN_LEGACY_SIZE, 4, 0);
	else if ((magic & ~15u) == MAGIC_SKIPPABLE)
		expect(f, IN_SKIP_SIZE, 4, 0);
	else
		set_fault(f, LZ4_GARBAGE);
}

/* libarchive checks what the flags say; here they only tell how long things are. */
static void take_flags(struct lz4_frames *f, unsigned char flags)
{
	const bool content_size = flags & 8;

	f->linked = !(flags & 32);
	f->block_sums = flags & 16;
	f->content_sum = flags & 4;
	if (flags & 1)
		set_fault(f, LZ4_DICTIONARY);
	else
		expect(f, IN_BLOCK_SIZE, 4, content_size ? 9 : 1);
}

static int add_block(struct lz4_frames *f)
{
	if (f->first > f->n / 2) {
		f->n -= f->first;
		memmove(f->deep, f->deep + f->first, f->n * sizeof(*f->deep));
		f->first = 0;
	}
	if (array_grow(&f->deep, &f->cap, f->n + 1, sizeof(*f->deep)))
		return -1;
	f->deep[f->n++] = f->linked && f->in_frame == 2;
	if (f->in_frame < 2)
		f->in_frame++;
	return 0;
}

static int take_block_size(struct lz4_frames *f, uint32_t size)
{
	if (size == 0) {
		expect(f, IN_MAGIC, 4, f->content_sum ? 4 : 0);
		return 0;
	}
	expect(f, IN_BLOCK_SIZE, 4, (uint64_t)(size & 0x7fffffffu) + (f->block_sums ? 4 : 0));
	return add_block(f);
}

/* A legacy frame has no end of its own: what cannot be a size is the next frame's magic. */
static int take_legacy_size(struct lz4_frames *f, uint32_t size)
{
	if (size > LEGACY_MAX + LEGACY_MAX / 255 + 16) {
		take_magic(f, size);
		return 0;
	}
	expect(f, IN_LEGACY_SIZE, 4, size);
	f->linked = false;
	return add_block(f);
}

static int take_field(struct lz4_frames *f)
{
	const uint32_t v = (uint32_t)f->field[0] | (uint32_t)f->field[1] << 8 | (uint32_t)f->field[2] << 16 | (uint32_t)f->field[3] << 24;

	switch (f->state) {
	case IN_MAGIC: take_magic(f, v); return 0;
	case IN_FLAGS: take_flags(f, f->field[0]); return 0;
	case IN_SKIP_SIZE: expect(f, IN_MAGIC, 4, v); return 0;
	case IN_BLOCK_SIZE: return take_block_size(f, v);
	case IN_LEGACY_SIZE: return take_legacy_size(f, v);
	case IN_FAULT: break;
	}
	return 0;
}

int lz4_frames_packed(struct lz4_frames *f, const unsigned char *bytes, size_t n)
{
	while (n && f->state != IN_FAULT) {
		size_t k = n;

		if (f->pass) {
			k = n < f->pass ? n : (size_t)f->pass;
			f->pass -= k;
		} else {
			if (k > f->need - f->have)
				k = f->need - f->have;
			memcpy(f->field + f->have, bytes, k);
			f->have += (unsigned)k;
		}
		bytes += k;
		n -= k;
		f->offset += k;
		if (!f->pass && f->have == f->need && take_field(f))
			return -1;
	}
	return 0;
}

enum lz4_fault lz4_frames_unpacked(struct lz4_frames *f, size_t n)
{
	const bool deep = f->first < f->n && f->deep[f->first++];
	const size_t last = f->last;

	f->last = n;
	return deep && last < HISTORY ? LZ4_LINKED : LZ4_GOOD;
}

enum lz4_fault lz4_frames_end(const struct lz4_frames *f, uint64_t *offset)
{
	const bool between = (f->state == IN_MAGIC || f->state == IN_LEGACY_SIZE) && !f->pass && !f->have;

	*offset = f->fault ? f->fault_offset : f->offset;
	return f->fault ? f->fault : between ? LZ4_GOOD : LZ4_CUT;
}

void lz4_frames_free(struct lz4_frames *f)
{
	if (!f)
		return;
	free(f->deep);
	free(f);
}
