/* Blocks of instances taken apart: all is checked, and ids are decoded, when a block is opened. */
#include "shards/instance.h"
#include "base/err.h"

#include <inttypes.h>

#define SAME UINT32_MAX		/* in `shown`: no id is that large */

/* Number J of a column of M numbers of 2 or 4 bytes. */
static uint32_t get16(const unsigned char *column, size_t m, size_t j)
{
	return column[j] | (uint32_t)column[m + j] << 8;
}

static uint32_t get32(const unsigned char *column, size_t m, size_t j)
{
	return get16(column, m, j) | get16(column + 2 * m, m, j) << 16;
}

static uint32_t get_id(const unsigned char *column, unsigned v, size_t m, size_t j)
{
	uint32_t id = 0;

	for (unsigned k = 0; k < v; k++)
		id |= (uint32_t)column[k * m + j] << (8 * k);
	return id;
}

static int bad(uint32_t k, const char *what)
{
	return err_corrupt("instance %" PRIu32 " of the block: %s", k, what);
}

/* --- checking ----------------------------------------------------------------------------------- */

/* The next N bytes of the block, or NULL when it ends before. */
static const unsigned char *take(const unsigned char **p, size_t *left, uint64_t n)
{
	const unsigned char *at = *p;

	if (n > *left)
		return NULL;
	*p += n;
	*left -= (size_t)n;
	return at;
}

static int reserve(struct instance_block *b, uint32_t records)
{
	const size_t need = 3 * ((size_t)records + 1);

	if (array_grow(&b->first_segment, &b->cap, need, sizeof(*b->first_segment)))
		return -1;
	b->first_prediction = b->first_segment + records + 1;
	b->first_token = b->first_prediction + records + 1;
	return 0;
}

/* Segments and predictions of each instance, from the columns at the front. */
static int add_up_counts(struct instance_block *b)
{
	const struct instance_shape *shape = &b->shape;
	const uint32_t most = shape->masked ? shape->max_predictions : 0;

	b->segments = b->predictions = 0;
	for (uint32_t k = 0; k < b->records; k++) {
		const uint32_t masks = get16(b->masks, b->records, k);

		if (b->flags[k] & ~INSTANCE_RANDOM_NEXT)
			return bad(k, "a flag that there is not");
		if (shape->pairs ? b->counts[k] != 2 : !b->counts[k])
			return bad(k, "wrong number of segments");
		if (get16(b->passes, b->records, k) >= shape->passes)
			return bad(k, "its pass is not below the dupe factor");
		if (masks > most)
			return bad(k, "more predictions than the header allows");
		b->first_segment[k] = (uint32_t)b->segments;
		b->first_prediction[k] = (uint32_t)b->predictions;
		b->segments += b->counts[k];
		b->predictions += masks;
	}
	b->first_segment[b->records] = (uint32_t)b->segments;
	b->first_prediction[b->records] = (uint32_t)b->predictions;
	return 0;
}

/* Lengths and documents of each instance's segments. */
static int add_up_segments(struct instance_block *b)
{
	b->tokens = 0;
	for (uint32_t k = 0; k < b->records; k++) {
		uint32_t n = 1;

		b->first_token[k] = (uint32_t)b->tokens;
		for (uint32_t s = b->first_segment[k]; s < b->first_segment[k + 1]; s++) {
			const uint32_t length = get16(b->lengths, b->segments, s);
			const uint32_t first = get32(b->firsts, b->segments, s);

			if (!length || first + length < first)
				return bad(k, "a segment that cannot be");
			if (get32(b->documents, b->segments, s) >= b->shape.documents)
				return bad(k, "a document that the shard has not");
			n += length + 1;
			b->tokens += length;
		}
		if (n > b->shape.max_seq_length)
			return bad(k, "it is longer than max_seq_length");
	}
	b->first_token[b->records] = (uint32_t)b->tokens;
	return 0;
}

/* Positions of instance K: ascending, on tokens of segments. */
static int check_positions(const struct instance_block *b, uint32_t k, unsigned width)
{
	uint32_t s = b->first_segment[k], position = 0;
	uint32_t border = 1 + get16(b->lengths, b->segments, s);	/* the [SEP] of segment s */

	for (uint32_t j = b->first_prediction[k]; j < b->first_prediction[k + 1]; j++) {
		const uint32_t gap = width == 1 ? b->gaps[j] : get16(b->gaps, b->predictions, j);

		position += gap;
		while (position > border && ++s < b->first_segment[k + 1])
			border += 1 + get16(b->lengths, b->segments, s);
		if (!gap || position >= border)
			return bad(k, "a masked position that is no token of a segment, or twice the same");
	}
	return 0;
}

/* Checks the kinds of all predictions and counts those that are another id. */
static int count_others(const struct instance_block *b, uint64_t *others)
{
	const uint64_t n = (b->predictions + 3) / 4;
	unsigned never = 0;

	*others = 0;
	for (uint64_t j = 0; j < n; j++) {
		const unsigned high = b->kinds[j] >> 1 & 0x55, sums = (high & 0x33) + (high >> 2 & 0x33);

		never |= b->kinds[j] & high;
		*others += (sums & 15) + (sums >> 4);
	}
	if (never)
		return err_corrupt("a masked position of a kind that there is not");
	if (b->predictions % 4 && b->kinds[n - 1] >> 2 * (b->predictions % 4))
		return err_corrupt("kinds of more masked positions than there are");
	return 0;
}

/* What stands at masked positions, of which the M others are in column OTHER. */
static int take_shown(struct instance_block *b, const unsigned char *other, uint64_t m, unsigned v)
{
	const uint32_t said[4] = { [INSTANCE_MASK] = b->shape.mask, [INSTANCE_SAME] = SAME, [INSTANCE_OTHER] = 0 };
	size_t at = 0;

	/* Up to three more, which a last byte has room for */
	if (array_grow(&b->shown, &b->shown_cap, b->predictions + 3, sizeof(*b->shown)))
		return -1;
	for (size_t j = 0; j < b->predictions; j += 4) {
		const unsigned kinds = b->kinds[j / 4];

#pragma GCC unroll 4
		for (unsigned k = 0; k < 4; k++)
			b->shown[j + k] = said[kinds >> 2 * k & 3];
		for (unsigned left = kinds & 0xAA; left; left &= left - 1)
			b->shown[j + (unsigned)__builtin_ctz(left) / 2] = get_id(other, v, m, at++);
	}
	return 0;
}

static int check_others(const struct instance_block *b, const unsigned char *other, uint64_t m, unsigned v)
{
	for (size_t j = 0; j < m; j++) {
		const uint32_t id = get_id(other, v, m, j);

		if (id >= b->shape.vocab_size)
			return err_corrupt("replacement %" PRIu32 " is not below the vocabulary's size %" PRIu32, id,
					   b->shape.vocab_size);
	}
	return 0;
}

/* The common ids, ascending, from the gaps between them. */
static int take_common(struct instance_block *b, const unsigned char *gaps, unsigned v)
{
	uint64_t id = 0;

	for (unsigned k = 0; k < b->n_common; k++) {
		const uint32_t gap = get_id(gaps, v, b->n_common, k);

		id += gap;
		if (id >= b->shape.vocab_size || (k && !gap))
			return err_corrupt("common ids that are not ascending below the vocabulary's size %" PRIu32,
					   b->shape.vocab_size);
		b->common[k] = (uint32_t)id;
	}
	return 0;
}

static int block_short(void)
{
	return err_corrupt("the block is too short for its instances");
}

/* The columns of masks: gap, kind, other. */
static int open_masks(struct instance_block *b, const unsigned char **p, size_t *n)
{
	const unsigned v = instance_id_bytes(&b->shape), width = instance_position_bytes(&b->shape);
	const unsigned char *other;
	uint64_t others;

	if (!(b->gaps = take(p, n, width * b->predictions)) || !(b->kinds = take(p, n, (b->predictions + 3) / 4)))
		return block_short();
	if (count_others(b, &others))
		return -1;
	if (!(other = take(p, n, v * others)))
		return block_short();
	for (uint32_t k = 0; k < b->records; k++)
		if (check_positions(b, k, width))
			return -1;
	return check_others(b, other, others, v) || take_shown(b, other, others, v) ? -1 : 0;
}

/* The columns of ids: common, code, rest. */
static int open_ids(struct instance_block *b, const unsigned char **p, size_t *n)
{
	const struct codes_shape s = codes_shape(b->shape.vocab_size);
	const unsigned v = instance_id_bytes(&b->shape);
	const unsigned char *common = take(p, n, 1), *gaps;

	if (!common)
		return block_short();
	b->n_common = *common;
	if (b->n_common > s.direct)
		return err_corrupt("%u ids are common, there are codes of %u", b->n_common, s.direct);
	if (!(gaps = take(p, n, v * b->n_common)) || !(b->code = take(p, n, b->tokens)))
		return block_short();
	if (take_common(b, gaps, v) || array_grow(&b->ids, &b->ids_cap, b->tokens, sizeof(*b->ids)))
		return -1;
	return codes_get(&s, b->common, b->n_common, b->code, b->tokens, *p, *n, b->ids);
}

int instance_block_open(struct instance_block *b, const struct instance_shape *shape, const void *raw, size_t n,
			uint32_t records)
{
	const unsigned char *p = raw;

	b->shape = *shape;
	b->records = records;
	if (!records || records > shape->block_records)
		return err_corrupt("a block of %" PRIu32 " instances, the header says %" PRIu32, records,
				   shape->block_records);
	if (!(b->flags = take(&p, &n, records)) || !(b->counts = take(&p, &n, records)) ||
	    !(b->passes = take(&p, &n, 2 * (uint64_t)records)) || !(b->masks = take(&p, &n, 2 * (uint64_t)records)))
		return block_short();
	if (reserve(b, records) || add_up_counts(b))
		return -1;
	if (!(b->lengths = take(&p, &n, 2 * b->segments)) || !(b->documents = take(&p, &n, 4 * b->segments)) ||
	    !(b->firsts = take(&p, &n, 4 * b->segments)))
		return block_short();
	return add_up_segments(b) || open_masks(b, &p, &n) || open_ids(b, &p, &n) ? -1 : 0;
}

void instance_block_release(struct instance_block *b)
{
	if (!b)
		return;
	free(b->first_segment);
	free(b->ids);
	free(b->shown);
	*b = (struct instance_block)INSTANCE_BLOCK_INIT;
}

/* --- taking ----------------------------------------------------------------------------------------- */

/* Puts the masks of instance K into I, whose ids are the labels so far. */
static void get_masks(const struct instance_block *b, uint32_t k, struct instance *i)
{
	const uint32_t first = b->first_prediction[k];
	const bool wide = instance_position_bytes(&b->shape) == 2;
	uint32_t position = 0;

	i->predictions = b->first_prediction[k + 1] - first;
	for (uint32_t j = 0; j < i->predictions; j++) {
		const uint32_t shown = b->shown[first + j];

		position += wide ? get16(b->gaps, b->predictions, first + j) : b->gaps[first + j];
		i->positions[j] = position;
		i->labels[j] = i->ids[position];
		i->ids[position] = shown == SAME ? i->labels[j] : shown;
	}
}

void instance_block_get(const struct instance_block *b, uint32_t k, struct instance *i)
{
	const uint32_t *ids = b->ids + b->first_token[k];
	uint32_t n = 1;

	i->flags = b->flags[k];
	i->pass = get16(b->passes, b->records, k);
	i->n_segments = b->counts[k];
	i->ids[0] = b->shape.cls;
	for (uint32_t s = 0; s < i->n_segments; s++) {
		struct instance_segment *segment = &i->segments[s];
		const uint32_t j = b->first_segment[k] + s;

		segment->length = get16(b->lengths, b->segments, j);
		segment->document = get32(b->documents, b->segments, j);
		segment->first = get32(b->firsts, b->segments, j);
		memcpy(i->ids + n, ids, segment->length * sizeof(*ids));
		ids += segment->length;
		n += segment->length;
		i->ids[n++] = b->shape.sep;
	}
	i->n = n;
	get_masks(b, k, i);
}

/* --- one way only ----------------------------------------------------------------------------------- */

int instance_block_check_ids(const struct instance_block *b, struct codes *c)
{
	unsigned differ = 0;

	if (codes_choose(c, b->ids, b->tokens))
		return -1;
	if (c->n != b->n_common || memcmp(c->common, b->common, c->n * sizeof(*c->common)))
		return err_corrupt("the common ids are not those that the block has most often");
	for (size_t j = 0; c->code && j < b->tokens; j++)
		differ |= b->code[j] ^ c->code[b->ids[j]];
	return differ ? err_corrupt("an id is common, and written as if it were not") : 0;
}

int instance_block_check_masks(const struct instance_block *b, uint32_t k, const struct instance *i)
{
	const uint32_t first = b->first_prediction[k];
	unsigned differ = 0;

	for (uint32_t j = 0; j < i->predictions; j++) {
		const unsigned kind = b->kinds[(first + j) / 4] >> 2 * ((first + j) % 4) & 3;

		differ |= kind ^ instance_kind_of(&b->shape, i->ids[i->positions[j]], i->labels[j]);
	}
	return differ ? err_corrupt("what stands at a masked position is said in another way than it has to be") : 0;
}
