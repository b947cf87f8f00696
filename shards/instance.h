/*
 * instance.h - one pretraining example, and the blocks of a shard that hold many.
 *
 * An instance is [CLS] segment [SEP] segment [SEP]; a segment is a run of tokens
 * of one document. Nothing is padded. Masks are part of it: ids are what the
 * model sees, labels what stood there before.
 *
 * A block holds a fixed number of instances as columns (shards/FORMAT.md): all
 * flags, all lengths, ..., all codes of ids. Columns pack much better than rows,
 * and are checked once for a whole block, so that taking an instance out of a
 * checked block cannot fail.
 *
 * Writing:
 *
 *	struct instance_columns c;
 *	instance_columns_init(&c, &shape)
 *	instance_columns_add(&c, &instance)		(up to shape.block_records times)
 *	instance_columns_flush(&c, level, &raw, &packed)	(replaces both, empties C; then frame_add)
 *
 * Reading:
 *
 *	struct instance_block b = INSTANCE_BLOCK_INIT;
 *	instance_init(&i, &shape)
 *	instance_block_open(&b, &shape, raw, n, records)	(checks everything; decodes ids; borrows RAW)
 *	instance_block_get(&b, k, &i)
 */
#ifndef SHARDS_INSTANCE_H
#define SHARDS_INSTANCE_H

#include "base/buf.h"
#include "shards/codes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INSTANCE_SEGMENTS_MAX 255

/* What every instance of a shard has in common; all of it follows from the shard's header. */
struct instance_shape {
	uint32_t max_seq_length;
	uint32_t max_predictions;	/* of an instance */
	bool masked;			/* masks are stored; else nobody's are */
	uint32_t block_records;
	uint32_t vocab_size;
	uint32_t documents;		/* of the shard's table */
	uint32_t passes;		/* dupe_factor */
	uint32_t cls, sep, mask;
	bool pairs;			/* two segments, the second of type 1 */
	bool swaps;			/* of pairs: label 1 says that they are swapped, not that the second is random */
};

enum instance_flags {
	/* next_sentence_label 1: the second segment does not follow the first, but is random, or stands before it */
	INSTANCE_RANDOM_NEXT = 1 << 0,
};

struct instance_segment {
	uint32_t document;	/* its number in the shard's table of documents */
	uint32_t first;		/* the segment's first token in that document */
	uint32_t length;	/* tokens, at least 1 */
};

/* Arrays are made by instance_init for the longest instance of a shape. */
struct instance {
	uint32_t *ids;			/* [n], as the model sees them: [CLS] ... [SEP], masks put in */
	uint32_t n;
	struct instance_segment *segments;	/* [n_segments] */
	uint32_t n_segments;
	uint32_t *positions;		/* [predictions] masked positions, ascending */
	uint32_t *labels;		/* [predictions] what stood there */
	uint32_t predictions;
	uint32_t pass;			/* < dupe_factor */
	uint32_t flags;			/* enum instance_flags */
};

int instance_init(struct instance *i, const struct instance_shape *shape);
void instance_release(struct instance *i);

/* Type of the token at POSITION: 0, or in pairs 1 from the second segment's first token on. */
uint32_t instance_type(const struct instance *i, const struct instance_shape *shape, uint32_t position);

/* Puts labels back into ids and forgets the masks. */
void instance_unmask(struct instance *i);

/* --- blocks ------------------------------------------------------------------- */

#define INSTANCE_PLANES_MAX 4

/* Bytes of an id and of a position in a block: the fewest that hold every id, 1 or 2. */
unsigned instance_id_bytes(const struct instance_shape *shape);
unsigned instance_position_bytes(const struct instance_shape *shape);

/* What the model sees at a masked position: [MASK], else the label itself, else another id. */
enum instance_kind { INSTANCE_MASK, INSTANCE_SAME, INSTANCE_OTHER };
static inline unsigned instance_kind_of(const struct instance_shape *shape, uint32_t shown, uint32_t label)
{
	const unsigned kind = shown == label ? INSTANCE_SAME : INSTANCE_OTHER;

	return shown == shape->mask ? INSTANCE_MASK : kind;
}

struct instance_columns {
	struct instance_shape shape;
	uint32_t records;
	uint64_t segments, predictions, tokens, others;	/* so far */
	unsigned char *memory;			/* holds all columns at their largest */
	uint32_t *documents, *firsts;		/* [segments] */
	uint32_t *ids;				/* [tokens], without masks */
	uint32_t *other;			/* [others] */
	uint16_t *passes, *masks;		/* [records]; masks of each */
	uint16_t *lengths;			/* [segments] */
	uint16_t *gaps;				/* [predictions] */
	unsigned char *flags, *counts;		/* [records]; segments of each */
	unsigned char *kinds;			/* [predictions] enum instance_kind */
	struct codes codes;
	struct ZSTD_CCtx_s *zstd;		/* made when first needed */
};
int instance_columns_init(struct instance_columns *c, const struct instance_shape *shape);
void instance_columns_add(struct instance_columns *c, const struct instance *i);
/* As frame_pack: packed.len 0 says "stays raw" */
int instance_columns_flush(struct instance_columns *c, int level, struct buf *raw, struct buf *packed);
void instance_columns_release(struct instance_columns *c);

/* A checked block: where each column lies, where each instance begins in them, and what had to be decoded. */
struct instance_block {
	struct instance_shape shape;
	uint32_t records;
	uint64_t segments, predictions, tokens;
	const unsigned char *flags, *counts, *passes, *masks, *lengths, *documents, *firsts, *gaps, *kinds, *code;
	uint32_t common[CODES_COMMON_MAX];	/* [n_common] */
	unsigned n_common;
	uint32_t *first_segment, *first_prediction, *first_token;	/* [records + 1] */
	uint32_t *ids;				/* [tokens], without masks */
	uint32_t *shown;			/* [predictions] what the model sees; UINT32_MAX: the token itself */
	size_t cap, ids_cap, shown_cap;
};
#define INSTANCE_BLOCK_INIT { .records = 0 }

/*
 * Checks the N bytes at RAW to be a block of RECORDS instances of SHAPE, every
 * value of them: counts and lengths that add up to N, segments inside the
 * shape's lengths, document numbers, positions that are no [CLS] or [SEP],
 * codes, ids below the vocabulary's size. RAW must live as long as B is used.
 */
int instance_block_open(struct instance_block *b, const struct instance_shape *shape, const void *raw,
			size_t n, uint32_t records);
void instance_block_get(const struct instance_block *b, uint32_t k, struct instance *i);
void instance_block_release(struct instance_block *b);

/*
 * Checks B to be what instance_columns_flush makes of its instances, EXIT_CORRUPT: its ids, C being of the vocabulary's
 * size, and the masks of instance K, which is I as instance_block_get gave it.
 */
int instance_block_check_ids(const struct instance_block *b, struct codes *c);
int instance_block_check_masks(const struct instance_block *b, uint32_t k, const struct instance *i);

#endif
