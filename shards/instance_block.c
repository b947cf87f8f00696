/* Blocks of instances as columns: shards/FORMAT.md, "Shards". */
#define ZSTD_STATIC_LINKING_ONLY	/* ZSTD_c_literalCompressionMode */
#include "shards/instance.h"
#include "base/err.h"

#include <assert.h>
#include <inttypes.h>
#include <zstd.h>

unsigned instance_id_bytes(const struct instance_shape *shape)
{
	unsigned bytes = 1;

	for (uint64_t holds = 256; holds < shape->vocab_size; holds <<= 8)
		bytes++;
	return bytes;
}

unsigned instance_position_bytes(const struct instance_shape *shape)
{
	return shape->max_seq_length <= 256 ? 1 : 2;
}

static uint32_t segments_max(const struct instance_shape *shape)
{
	return shape->pairs ? 2 : INSTANCE_SEGMENTS_MAX;
}

/* --- writing --------------------------------------------------------------------------------- */

int instance_columns_init(struct instance_columns *c, const struct instance_shape *shape)
{
	const size_t r = shape->block_records, s = r * segments_max(shape), t = r * shape->max_seq_length;
	const size_t p = shape->masked ? r * shape->max_predictions : 0;
	unsigned char *at = malloc(s * 10 + r * 6 + p * 7 + t * 4);

	*c = (struct instance_columns){ .shape = *shape, .memory = at };
	if (!at || codes_init(&c->codes, shape->vocab_size)) {
		instance_columns_release(c);
		return err_memory();
	}
	c->documents = (uint32_t *)at;
	c->firsts = c->documents + s;
	c->ids = c->firsts + s;
	c->other = c->ids + t;
	c->passes = (uint16_t *)(c->other + p);
	c->masks = c->passes + r;
	c->lengths = c->masks + r;
	c->gaps = c->lengths + s;
	c->flags = (unsigned char *)(c->gaps + p);
	c->counts = c->flags + r;
	c->kinds = c->counts + r;
	return 0;
}

void instance_columns_release(struct instance_columns *c)
{
	if (!c)
		return;
	free(c->memory);
	codes_release(&c->codes);
	ZSTD_freeCCtx(c->zstd);
	*c = (struct instance_columns){ 0 };
}

/* The tokens of segments, which are all but [CLS] and the [SEP]s, masks still in them. */
static void add_tokens(struct instance_columns *c, const struct instance *i)
{
	const uint32_t *ids = i->ids + 1;
	uint32_t *out = c->ids + c->tokens;

	for (uint32_t s = 0; s < i->n_segments; s++) {
		const uint32_t n = i->segments[s].length;

		memcpy(out, ids, n * sizeof(*out));
		out += n;
		ids += n + 1;
	}
}

/* The masks, and under them the labels. */
static void add_masks(struct instance_columns *c, const struct instance *i)
{
	uint16_t *restrict gaps = c->gaps + c->predictions;
	unsigned char *restrict kinds = c->kinds + c->predictions;
	uint32_t *restrict tokens = c->ids + c->tokens, *restrict other = c->other;
	uint32_t before = 0, segment = 0, end = 1 + i->segments[0].length;
	size_t others = c->others;

	for (uint32_t k = 0; k < i->predictions; k++) {
		const uint32_t position = i->positions[k], label = i->labels[k], shown = i->ids[position];
		const unsigned kind = instance_kind_of(&c->shape, shown, label);

		while (position >= end)
			end += 1 + i->segments[++segment].length;
		gaps[k] = (uint16_t)(position - before);
		tokens[position - 1 - segment] = label;
		kinds[k] = (unsigned char)kind;
		other[others] = shown;
		others += kind == INSTANCE_OTHER;
		before = position;
	}
	c->others = others;
}

void instance_columns_add(struct instance_columns *c, const struct instance *i)
{
	const uint32_t r = c->records;

	assert(r < c->shape.block_records && i->n <= c->shape.max_seq_length &&
	       i->n_segments <= segments_max(&c->shape));
	assert(!i->predictions || (c->shape.masked && i->predictions <= c->shape.max_predictions));
	c->flags[r] = (unsigned char)i->flags;
	c->counts[r] = (unsigned char)i->n_segments;
	c->passes[r] = (uint16_t)i->pass;
	c->masks[r] = (uint16_t)i->predictions;
	for (uint32_t s = 0; s < i->n_segments; s++) {
		c->lengths[c->segments + s] = (uint16_t)i->segments[s].length;
		c->documents[c->segments + s] = i->segments[s].document;
		c->firsts[c->segments + s] = i->segments[s].first;
	}
	add_tokens(c, i);
	add_masks(c, i);
	c->records++;
	c->segments += i->n_segments;
	c->predictions += i->predictions;
	c->tokens += i->n - 1 - i->n_segments;
}

static unsigned char *planes16(unsigned char *out, const uint16_t *column, size_t m, unsigned width)
{
	for (unsigned k = 0; k < width; k++)
		for (size_t j = 0; j < m; j++)
			*out++ = (unsigned char)(column[j] >> (8 * k));
	return out;
}

static unsigned char *planes32(unsigned char *out, const uint32_t *column, size_t m, unsigned width)
{
	for (unsigned k = 0; k < width; k++)
		for (size_t j = 0; j < m; j++)
			*out++ = (unsigned char)(column[j] >> (8 * k));
	return out;
}

static unsigned char *copy(unsigned char *out, const unsigned char *column, size_t m)
{
	memcpy(out, column, m);
	return out + m;
}

/* M kinds, four to a byte. */
static unsigned char *quarters(unsigned char *out, const unsigned char *kinds, size_t m)
{
	for (size_t j = 0; j < m; j += 4) {
		unsigned char four[4] = { 0 };

		memcpy(four, kinds + j, m - j < 4 ? m - j : 4);
		*out++ = (unsigned char)(four[0] | four[1] << 2 | four[2] << 4 | four[3] << 6);
	}
	return out;
}

/* How many ids are common, and these as gaps. */
static unsigned char *lay_common(unsigned char *out, const struct codes *c, unsigned v)
{
	uint32_t gaps[CODES_COMMON_MAX];

	for (unsigned k = 0; k < c->n; k++)
		gaps[k] = c->common[k] - (k ? c->common[k - 1] : 0);
	*out++ = (unsigned char)c->n;
	return planes32(out, gaps, c->n, v);
}

/* Ends of the stretches of a block that have entropy tables of their own. */
struct cuts {
	size_t at[6 + INSTANCE_PLANES_MAX];
	unsigned count;
};

static void cut(struct cuts *cuts, const unsigned char *start, const unsigned char *at)
{
	cuts->at[cuts->count++] = (size_t)(at - start);
}

/* The columns of ids. */
static unsigned char *lay_ids(const struct instance_columns *c, const unsigned char *start, unsigned char *out,
			      struct cuts *cuts)
{
	const unsigned planes = c->codes.shape.planes;
	size_t n;

	out = lay_common(out, &c->codes, instance_id_bytes(&c->shape));
	cut(cuts, start, out);
	n = (codes_put(&c->codes, c->ids, c->tokens, out) - c->tokens) / planes;
	out += c->tokens;
	cut(cuts, start, out);
	for (unsigned k = 0; k < planes; k++) {
		out += n;
		cut(cuts, start, out);
	}
	return out;
}

/* Lays the columns into RAW, which has room. */
static void lay_columns(const struct instance_columns *c, struct buf *raw, struct cuts *cuts)
{
	const unsigned v = instance_id_bytes(&c->shape);
	unsigned char *start = (unsigned char *)raw->data, *out = start;

	out = copy(out, c->flags, c->records);
	out = copy(out, c->counts, c->records);
	out = planes16(out, c->passes, c->records, 2);
	out = planes16(out, c->masks, c->records, 2);
	out = planes16(out, c->lengths, c->segments, 2);
	out = planes32(out, c->documents, c->segments, 4);
	out = planes32(out, c->firsts, c->segments, 4);
	cut(cuts, start, out);
	out = planes16(out, c->gaps, c->predictions, instance_position_bytes(&c->shape));
	cut(cuts, start, out);
	out = quarters(out, c->kinds, c->predictions);
	cut(cuts, start, out);
	out = planes32(out, c->other, c->others, v);
	cut(cuts, start, out);
	out = lay_ids(c, start, out, cuts);
	raw->len = (size_t)(out - start);
	raw->data[raw->len] = 0;
}

static int zstd_failed(size_t rc)
{
	return ZSTD_isError(rc) ? err_fail("cannot compress: %s", ZSTD_getErrorName(rc)) : 0;
}

/*
 * In planes of bytes next to nothing stands twice, so level 1 looks for matches at few places only, which zstd's
 * fast strategy takes from targetLength; runs of zeros are found still. What is left is coding literals, which zstd would
 * not do where such steps are asked for. A libzstd that refuses to be told so packs by its own level 1.
 */
static int set_level(struct ZSTD_CCtx_s *z, int level)
{
	const int step = 256, match_least = 7, literals_coded = 1;

	if (zstd_failed(ZSTD_CCtx_reset(z, ZSTD_reset_session_and_parameters)) ||
	    zstd_failed(ZSTD_CCtx_setParameter(z, ZSTD_c_compressionLevel, level)))
		return -1;
	if (level > 1 || ZSTD_isError(ZSTD_CCtx_setParameter(z, ZSTD_c_literalCompressionMode, literals_coded)))
		return 0;
	return zstd_failed(ZSTD_CCtx_setParameter(z, ZSTD_c_targetLength, step)) ||
	       zstd_failed(ZSTD_CCtx_setParameter(z, ZSTD_c_minMatch, match_least)) ? -1 : 0;
}

/* One zstd frame with a block's end at every cut. */
static int pack(struct ZSTD_CCtx_s *z, int level, const struct buf *raw, const struct cuts *cuts, struct buf *packed)
{
	const size_t room = ZSTD_compressBound(raw->len) + 16 * (size_t)cuts->count;
	ZSTD_inBuffer in = { raw->data, 0, 0 };
	ZSTD_outBuffer out = { NULL, room, 0 };

	if (buf_reserve(packed, room))
		return -1;
	out.dst = packed->data;
	if (set_level(z, level) || zstd_failed(ZSTD_CCtx_setPledgedSrcSize(z, raw->len)))
		return -1;
	for (unsigned k = 0; k < cuts->count; k++) {
		const ZSTD_EndDirective how = k + 1 < cuts->count ? ZSTD_e_flush : ZSTD_e_end;

		in.size = cuts->at[k];
		if (in.size == in.pos && how == ZSTD_e_flush)
			continue;
		for (size_t left = 1; left;) {
			left = ZSTD_compressStream2(z, &out, &in, how);
			if (zstd_failed(left))
				return -1;
			assert(!left || out.pos < out.size);
		}
	}
	packed->len = out.pos < raw->len ? out.pos : 0;
	packed->data[packed->len] = 0;
	return 0;
}

int instance_columns_flush(struct instance_columns *c, int level, struct buf *raw, struct buf *packed)
{
	const unsigned v = instance_id_bytes(&c->shape), planes = c->codes.shape.planes;
	struct cuts cuts = { .count = 0 };

	buf_clear(raw);
	buf_clear(packed);
	if (codes_choose(&c->codes, c->ids, c->tokens) ||
	    buf_reserve(raw, 6 * (size_t)c->records + 10 * c->segments + 3 * c->predictions + 1 + v * c->others +
				     1 + CODES_COMMON_MAX * v + c->tokens * (1 + planes)))
		return -1;
	lay_columns(c, raw, &cuts);
	c->records = 0;
	c->segments = c->predictions = c->tokens = c->others = 0;
	if (level == 0)
		return 0;
	if (!c->zstd && !(c->zstd = ZSTD_createCCtx()))
		return err_memory();
	return pack(c->zstd, level, raw, &cuts, packed);
}
