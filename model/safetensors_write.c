/* safetensors_write.c - writes safetensors files. */
#include "model/safetensors.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/out.h"

#include <assert.h>
#include <inttypes.h>
#include <jansson.h>

#define ALIGN 8		/* of the data within the file */

struct safetensors_writer {
	struct out *out;
	uint64_t left;	/* bytes of data still to come */
};

static uint64_t bytes_of(const struct safetensor *t)
{
	uint64_t bytes = safetensors_dtype_size(t->dtype);

	for (int i = 0; i < t->n_dims; i++)
		bytes *= (uint64_t)t->shape[i];
	return bytes;
}

static json_t *entry_of(const struct safetensor *t, uint64_t first)
{
	json_t *shape = json_array();

	for (int i = 0; shape && i < t->n_dims; i++)
		json_array_append_new(shape, json_integer(t->shape[i]));
	return json_pack("{s:s, s:o, s:[I, I]}", "dtype", safetensors_dtype_name(t->dtype), "shape", shape, "data_offsets",
			 (json_int_t)first, (json_int_t)(first + bytes_of(t)));
}

/* The header's text; *BYTES: of data that it tells of. transformers asks for the format, and takes no other. */
static char *header_of(const struct safetensor *list, size_t n, uint64_t *bytes)
{
	json_t *header = json_pack("{s:{s:s}}", "__metadata__", "format", "pt");
	char *text = NULL;
	bool bad = !header;

	*bytes = 0;
	for (size_t i = 0; i < n && !bad; i++) {
		bad = json_object_set_new(header, list[i].name, entry_of(&list[i], *bytes));
		*bytes += bytes_of(&list[i]);
	}
	if (!bad)
		text = json_dumps(header, JSON_COMPACT);
	json_decref(header);
	if (!text)
		err_memory();
	return text;
}

static int write_header(struct out *out, const char *text)
{
	const size_t n = strlen(text);
	const uint64_t padded = (n + ALIGN - 1) / ALIGN * ALIGN;

	if (out_write(out, &padded, sizeof(padded)) || out_write(out, text, n))
		return -1;
	return padded > n ? out_write(out, "        ", padded - n) : 0;
}

int safetensors_create(struct safetensors_writer **w, const char *path, const struct safetensor *list, size_t n)
{
	struct safetensors_writer *new = calloc(1, sizeof(*new));
	char *text = NULL;
	int rc = -1;

	*w = NULL;
	if (!new)
		return err_memory();
	text = header_of(list, n, &new->left);
	if (text && !out_open(&new->out, path)) {
		if (out_is_terminal(new->out))
			err_usage("tensors are not for a terminal; give a file with -o");
		else
			rc = write_header(new->out, text);
	}
	free(text);
	if (rc)
		safetensors_discard(new);
	else
		*w = new;
	return rc;
}

int safetensors_put(struct safetensors_writer *w, const void *bytes, size_t n)
{
	assert(n <= w->left);
	w->left -= n;
	return out_write(w->out, bytes, n);
}

int safetensors_commit(struct safetensors_writer *w)
{
	assert(w->left == 0);
	if (out_commit(w->out))
		return -1;
	free(w);
	return 0;
}

void safetensors_discard(struct safetensors_writer *w)
{
	if (!w)
		return;
	out_discard(w->out);
	free(w);
}
