/*
 * TFRecord files as create_pretraining_data.py writes them: a tf.Example (tensorflow/core/example/example.proto) for
 * each instance, seven features by name, padded by zeros.
 */
#include "shards/export_impl.h"
#include "base/err.h"
#include "base/out.h"
#include "base/tfrecord.h"

#include <assert.h>

/* One feature: N values, then zeros up to PADDED of them. */
struct feature {
	const char *name;
	const uint32_t *values;		/* NULL: ones, from value FIRST_ONE on */
	uint32_t n, padded, first_one;
	bool floats;
	/* sizes, outside in */
	uint32_t payload, list, feature, entry;
};

#define FEATURES 7
/* Protocol buffers: field number and wire type 2, as one byte. */
#define FIELD(n) ((n) << 3 | 2)

static uint32_t varint_bytes(uint32_t v)
{
	uint32_t n = 1;

	while (v >>= 7)
		n++;
	return n;
}

static unsigned char *put_varint(unsigned char *out, uint32_t v)
{
	for (; v >= 128; v >>= 7)
		*out++ = (unsigned char)(v | 128);
	*out++ = (unsigned char)v;
	return out;
}

/* A field that holds SIZE bytes, with its number and length. */
static uint32_t field_bytes(uint32_t size)
{
	return 1 + varint_bytes(size) + size;
}

static unsigned char *put_field(unsigned char *out, unsigned number, uint32_t size)
{
	*out++ = (unsigned char)FIELD(number);
	return put_varint(out, size);
}

static void measure(struct feature *f)
{
	f->payload = f->floats ? 4 * f->padded : f->padded;
	for (uint32_t k = 0; f->values && k < f->n; k++)
		f->payload += varint_bytes(f->values[k]) - 1;
	f->list = field_bytes(f->payload);
	f->feature = field_bytes(f->list);
	f->entry = field_bytes((uint32_t)strlen(f->name)) + field_bytes(f->feature);
}

static unsigned char *put_floats(unsigned char *out, const struct feature *f)
{
	static const unsigned char one[4] = { 0, 0, 0x80, 0x3F };

	memset(out, 0, f->payload);
	for (uint32_t k = 0; k < f->n; k++)
		memcpy(out + 4 * k, one, 4);
	return out + f->payload;
}

static unsigned char *put_integers(unsigned char *out, const struct feature *f)
{
	unsigned char *end = out + f->payload;

	if (!f->values) {
		memset(out, 0, f->first_one);
		memset(out + f->first_one, 1, f->n - f->first_one);
		out += f->n;
	}
	for (uint32_t k = 0; f->values && k < f->n; k++)
		out = put_varint(out, f->values[k]);
	memset(out, 0, (size_t)(end - out));
	return end;
}

/* An entry of the map: its name, and a Feature with a FloatList (2) or Int64List (3). */
static unsigned char *put_feature(unsigned char *out, const struct feature *f)
{
	const uint32_t name = (uint32_t)strlen(f->name);

	out = put_field(out, 1, f->entry);
	out = put_field(out, 1, name);
	memcpy(out, f->name, name);
	out = put_field(out + name, 2, f->feature);
	out = put_field(out, f->floats ? 2 : 3, f->list);
	out = put_field(out, 1, f->payload);
	return f->floats ? put_floats(out, f) : put_integers(out, f);
}

/* Adds I's tf.Example to OUT, after its length. */
static int add_example(struct buf *out, const struct instance *i, const struct instance_shape *shape)
{
	const uint32_t l = shape->max_seq_length, p = shape->max_predictions;
	const uint32_t second = shape->pairs ? i->segments[0].length + 2 : i->n;
	const uint32_t label = i->flags & INSTANCE_RANDOM_NEXT ? 1 : 0;
	struct feature f[FEATURES] = {
		{ .name = "input_ids", .values = i->ids, .n = i->n, .padded = l },
		{ .name = "input_mask", .n = i->n, .padded = l },
		{ .name = "masked_lm_ids", .values = i->labels, .n = i->predictions, .padded = p },
		{ .name = "masked_lm_positions", .values = i->positions, .n = i->predictions, .padded = p },
		{ .name = "masked_lm_weights", .n = i->predictions, .padded = p, .floats = true },
		{ .name = "next_sentence_labels", .values = &label, .n = 1, .padded = 1 },
		{ .name = "segment_ids", .n = i->n, .padded = l, .first_one = second },
	};
	uint32_t features = 0, size;
	unsigned char *at;

	for (unsigned k = 0; k < FEATURES; k++) {
		measure(&f[k]);
		features += field_bytes(f[k].entry);
	}
	size = field_bytes(features);
	if (buf_reserve(out, sizeof(size) + size))
		return -1;
	at = (unsigned char *)out->data + out->len;
	memcpy(at, &size, sizeof(size));
	at = put_field(at + sizeof(size), 1, features);
	for (unsigned k = 0; k < FEATURES; k++)
		at = put_feature(at, &f[k]);
	assert(at == (unsigned char *)out->data + out->len + sizeof(size) + size);
	out->len += sizeof(size) + size;
	return 0;
}

/* --- the kind ------------------------------------------------------------------------------- */

static int open_file(struct exporting *x, const struct scan *s)
{
	char *path = export_file_path(x, export_tfrecord.suffix);
	struct out *out = NULL;
	const int rc = path ? out_open(&out, path) : -1;

	(void)s;
	x->state = out;
	free(path);
	return rc;
}

static int work(struct exporting *x, const struct scan *s, struct scan_block *b, unsigned worker)
{
	for (uint32_t k = 0; k < b->frame.records; k++)
		if (add_example(&b->out, export_instance(x, s, b, k, worker), &s->shape))
			return -1;
	return 0;
}

static int write_block(struct exporting *x, const struct scan *s, struct scan_block *b)
{
	uint32_t size;

	(void)s;
	for (size_t at = 0; at < b->out.len; at += size) {
		memcpy(&size, b->out.data + at, sizeof(size));
		at += sizeof(size);
		if (tfrecord_write(x->state, b->out.data + at, size))
			return -1;
	}
	return 0;
}

static int finish(struct exporting *x)
{
	if (out_commit(x->state))
		return -1;
	x->state = NULL;
	return 0;
}

static void release(struct exporting *x)
{
	out_discard(x->state);
}

const struct export_kind export_tfrecord = { ".tfrecord", false, open_file, work, write_block, finish, release };
