/* Blocks of instances taken apart: all is checked when a block is opened. */
#include "shards/instance.h"
#include "base/err.h"
#include "shards/planes.h"

#include <inttypes.h>

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
			return bad(k, "a flag that no version 1 has");
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

static int check_ids(const struct instance_block *b, const unsigned char *column, unsigned v, uint64_t m,
		     const char *what)
{
	uint32_t most = 0;

	if (v == 2)
		most = planes_greatest(column, column + m, m);
	for (size_t j = 0; v != 2 && j < m; j++) {
		const uint32_t id = get_id(column, v, m, j);

		most = id > most ? id : most;
	}
	if (m && most >= b->shape.vocab_size)
		return err_corrupt("%s %" PRIu32 " is not below the vocabulary's size %" PRIu32, what, most,
				   b->shape.vocab_size);
	return 0;
}

static int block_short(void)
{
	return err_corrupt("the block is too short for its instances");
}

int instance_block_open(struct instance_block *b, const struct instance_shape *shape, const void *raw, size_t n,
			uint32_t records)
{
	const unsigned v = instance_id_bytes(shape), width = instance_position_bytes(shape);
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
	if (add_up_segments(b))
		return -1;
	if (!(b->gaps = take(&p, &n, width * b->predictions)) || !(b->replaced = take(&p, &n, v * b->predictions)) ||
	    !(b->ids = take(&p, &n, v * b->tokens)))
		return block_short();
	if (n)
		return err_corrupt("the block holds %zu bytes more than its instances", n);
	for (uint32_t k = 0; k < records; k++)
		if (check_positions(b, k, width))
			return -1;
	return check_ids(b, b->replaced, v, b->predictions, "replacement") || check_ids(b, b->ids, v, b->tokens, "id")
		       ? -1
		       : 0;
}

void instance_block_release(struct instance_block *b)
{
	if (!b)
		return;
	free(b->first_segment);
	*b = (struct instance_block)INSTANCE_BLOCK_INIT;
}

/* --- taking ----------------------------------------------------------------------------------------- */

/* N ids of a column of M, from number J. */
static void get_ids(uint32_t *out, const unsigned char *column, unsigned v, size_t m, size_t j, uint32_t n)
{
	if (v == 2) {
		planes_join(out, column + j, column + m + j, n);
		return;
	}
	for (uint32_t t = 0; t < n; t++)
		out[t] = get_id(column, v, m, j + t);
}

/* Puts the masks of instance K into I, whose ids are the labels so far. */
static void get_masks(const struct instance_block *b, uint32_t k, struct instance *i, unsigned v)
{
	const uint32_t first = b->first_prediction[k];
	const bool wide = instance_position_bytes(&b->shape) == 2;
	uint32_t position = 0;

	i->predictions = b->first_prediction[k + 1] - first;
	for (uint32_t j = 0; j < i->predictions; j++) {
		position += wide ? get16(b->gaps, b->predictions, first + j) : b->gaps[first + j];
		i->positions[j] = position;
		i->labels[j] = i->ids[position];
		i->ids[position] = get_id(b->replaced, v, b->predictions, first + j);
	}
}

void instance_block_get(const struct instance_block *b, uint32_t k, struct instance *i)
{
	const unsigned v = instance_id_bytes(&b->shape);
	uint32_t at = b->first_token[k], n = 1;

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
		get_ids(i->ids + n, b->ids, v, b->tokens, at, segment->length);
		at += segment->length;
		n += segment->length;
		i->ids[n++] = b->shape.sep;
	}
	i->n = n;
	get_masks(b, k, i, v);
}
