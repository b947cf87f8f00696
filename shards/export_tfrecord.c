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

/* What stands before an example in a block's output. */
struct head {
	uint32_t bin, size;
};

/* Adds I's tf.Example, padded to L tokens, to OUT, after its head. */
static int add_example(struct buf *out, const struct instance *i, const struct instance_shape *shape, uint32_t bin, uint32_t l)
{
	const uint32_t p = shape->max_predictions;
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
	uint32_t features = 0;
	struct head head = { .bin = bin };
	unsigned char *at;

	for (unsigned k = 0; k < FEATURES; k++) {
		measure(&f[k]);
		features += field_bytes(f[k].entry);
	}
	head.size = field_bytes(features);
	if (buf_reserve(out, sizeof(head) + head.size))
		return -1;
	at = (unsigned char *)out->data + out->len;
	memcpy(at, &head, sizeof(head));
	at = put_field(at + sizeof(head), 1, features);
	for (unsigned k = 0; k < FEATURES; k++)
		at = put_feature(at, &f[k]);
	assert(at == (unsigned char *)out->data + out->len + sizeof(head) + head.size);
	out->len += sizeof(head) + head.size;
	return 0;
}

/* --- the kind ------------------------------------------------------------------------------- */

static int open_bin(struct exporting *x, uint32_t bin)
{
	struct out **files = x->state;
	char *path = export_file_path(x, bin, export_tfrecord.suffix);
	const int rc = path ? out_open_tidied(&files[bin], path) : -1;

	x->bins[bin].listed = true;
	free(path);
	return rc;
}

/* Bins get a file when they get an instance. */
static int open_files(struct exporting *x, const struct scan *s)
{
	(void)s;
	x->state = calloc(x->n_bins, sizeof(struct out *));
	if (!x->state)
		return err_memory();
	return x->e->bin_size ? 0 : open_bin(x, 0);
}

static int work(struct exporting *x, const struct scan *s, struct scan_block *b, unsigned worker)
{
	for (uint32_t k = 0; k < b->frame.records; k++) {
		const struct instance *i = export_instance(x, s, b, k, worker);
		const uint32_t bin = export_bin_of(x, i->n);

		if (add_example(&b->out, i, &s->shape, bin, x->bins[bin].length))
			return -1;
	}
	return 0;
}

static int write_block(struct exporting *x, const struct scan *s, struct scan_block *b)
{
	struct out **files = x->state;
	struct head head;

	(void)s;
	for (size_t at = 0; at < b->out.len; at += head.size) {
		memcpy(&head, b->out.data + at, sizeof(head));
		at += sizeof(head);
		if ((!files[head.bin] && open_bin(x, head.bin)) ||
		    tfrecord_write(files[head.bin], b->out.data + at, head.size))
			return -1;
		x->bins[head.bin].records++;
	}
	return 0;
}

static int finish(struct exporting *x)
{
	struct out **files = x->state;

	for (uint32_t k = 0; k < x->n_bins; k++) {
		if (files[k] && out_commit(files[k]))
			return -1;
		files[k] = NULL;
	}
	return 0;
}

static void release(struct exporting *x)
{
	struct out **files = x->state;

	for (uint32_t k = 0; files && k < x->n_bins; k++)
		out_discard(files[k]);
	free(files);
}

const struct export_kind export_tfrecord = { ".tfrecord", false, false, open_files, work, write_block, finish, release };
