/* padded.c - padded tensors from and to files. */
#include "model/padded.h"

#include "base/buf.h"
#include "base/err.h"

#include <inttypes.h>

/* A tensor of whole numbers as it lies in its file. */
struct numbers {
	const struct safetensor *t;
	unsigned char *bytes;
};

static const struct safetensor *find(const struct safetensors *s, const char *name)
{
	const struct safetensor *t = safetensors_find(s, name);
	char prefixed[64];

	snprintf(prefixed, sizeof(prefixed), "in.%s", name);
	return t ? t : safetensors_find(s, prefixed);
}

/* Element I, sign-extended; masks are sometimes floats. False where it is no int32. */
static bool number_at(const struct numbers *n, size_t i, int32_t *value)
{
	const unsigned char *p = n->bytes + i * safetensors_dtype_size(n->t->dtype);
	int64_t x = 0;
	float f;

	switch (n->t->dtype) {
	case ST_BOOL:
	case ST_U8: x = *p; break;
	case ST_I8: x = *(const signed char *)p; break;
	case ST_I16: { int16_t v; memcpy(&v, p, sizeof(v)); x = v; break; }
	case ST_U16: { uint16_t v; memcpy(&v, p, sizeof(v)); x = v; break; }
	case ST_I32: { int32_t v; memcpy(&v, p, sizeof(v)); x = v; break; }
	case ST_U32: { uint32_t v; memcpy(&v, p, sizeof(v)); x = v; break; }
	case ST_I64:
	case ST_U64: memcpy(&x, p, sizeof(x)); break;
	case ST_F32:
		memcpy(&f, p, sizeof(f));
		if (f != 0 && f != 1)
			return false;
		x = f == 1;
		break;
	default: return false;
	}
	*value = (int32_t)x;
	return x >= INT32_MIN && x <= INT32_MAX;
}

static int wrong_number(const struct safetensors *s, const struct padded_input *in, const char *name, size_t i)
{
	return err_fail("cannot use '%s': '%s' [%zu, %zu] is no number that it may hold", s->path, name, i / (size_t)in->S,
			i % (size_t)in->S);
}

/* Tensor T, which must be [B, S], into VALUES. */
static int read_numbers(const struct safetensors *s, const struct safetensor *t, const char *name,
			const struct padded_input *in, int32_t *values)
{
	struct numbers n = { .t = t };
	int rc = 0;

	if (t->n_dims != 2 || t->shape[0] != in->B || t->shape[1] != in->S)
		return err_fail("cannot use '%s': '%s' has another shape than 'input_ids' [%d, %d]", s->path, name, in->B,
				in->S);
	n.bytes = malloc(t->bytes ? (size_t)t->bytes : 1);
	if (!n.bytes)
		return err_memory();
	rc = safetensors_read(s, t, 0, n.bytes, (size_t)t->bytes);
	for (size_t i = 0; i < (size_t)t->count && !rc; i++)
		if (!number_at(&n, i, &values[i]))
			rc = wrong_number(s, in, name, i);
	free(n.bytes);
	return rc;
}

static int read_mask(const struct safetensors *s, struct padded_input *in, int32_t *values)
{
	const struct safetensor *t = find(s, "attention_mask");
	const size_t n = (size_t)in->B * (size_t)in->S;

	memset(in->mask, 1, n);
	if (!t)
		return 0;
	if (read_numbers(s, t, "attention_mask", in, values))
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (values[i] != 0 && values[i] != 1)
			return wrong_number(s, in, "attention_mask", i);
		in->mask[i] = (unsigned char)values[i];
	}
	return 0;
}

static int read_tensors(const struct safetensors *s, struct padded_input *in)
{
	const struct safetensor *ids = find(s, "input_ids"), *types = find(s, "token_type_ids");
	size_t n;

	if (!ids)
		return err_fail("cannot use '%s': it has no tensor 'input_ids'", s->path);
	if (ids->n_dims != 2 || ids->count < 1 || ids->shape[0] > INT32_MAX || ids->shape[1] > INT32_MAX)
		return err_fail("cannot use '%s': 'input_ids' is not [sequences, tokens]", s->path);
	in->B = (int)ids->shape[0];
	in->S = (int)ids->shape[1];
	n = (size_t)ids->count;
	in->ids = calloc(n, sizeof(*in->ids));
	in->types = calloc(n, sizeof(*in->types));
	in->mask = calloc(n, sizeof(*in->mask));
	if (!in->ids || !in->types || !in->mask)
		return err_memory();
	if (read_mask(s, in, in->types))
		return -1;
	memset(in->types, 0, n * sizeof(*in->types));
	if (types && read_numbers(s, types, "token_type_ids", in, in->types))
		return -1;
	return read_numbers(s, ids, "input_ids", in, in->ids);
}

int padded_read(struct padded_input *in, const char *path)
{
	struct safetensors *s;
	int rc;

	*in = (struct padded_input){ 0 };
	if (safetensors_open(&s, path))
		return -1;
	rc = read_tensors(s, in);
	safetensors_close(s);
	if (rc)
		padded_input_release(in);
	return rc;
}

void padded_input_release(struct padded_input *in)
{
	free(in->mask);
	free(in->types);
	free(in->ids);
	*in = (struct padded_input){ 0 };
}

int padded_write(const struct padded_outputs *out, const char *path)
{
	struct safetensor *list = calloc(out->count ? out->count : 1, sizeof(*list));
	struct safetensors_writer *w = NULL;
	int rc;

	if (!list)
		return err_memory();
	for (size_t i = 0; i < out->count; i++) {
		list[i] = out->items[i].entry;
		list[i].name = out->items[i].name;
	}
	rc = safetensors_create(&w, path, list, out->count);
	for (size_t i = 0; i < out->count && !rc; i++)
		rc = safetensors_put(w, out->items[i].data, (size_t)list[i].count * sizeof(float));
	if (!rc)
		rc = safetensors_commit(w);
	if (rc)
		safetensors_discard(w);
	free(list);
	return rc;
}

void padded_outputs_release(struct padded_outputs *out)
{
	for (size_t i = 0; i < out->count; i++)
		free(out->items[i].data);
	free(out->items);
	*out = (struct padded_outputs){ 0 };
}
