/* safetensors.c - reads safetensors files; nothing in them is believed. */
#include "model/safetensors.h"

#include "base/buf.h"
#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "tensors are read and written as they lie in memory");

#define PRELUDE 8

static const struct dtype_info {
	const char *name;
	size_t size;
} dtypes[ST_COUNT] = {
	[ST_BOOL] = { "BOOL", 1 }, [ST_U8] = { "U8", 1 }, [ST_I8] = { "I8", 1 }, [ST_F8_E5M2] = { "F8_E5M2", 1 },
	[ST_F8_E4M3] = { "F8_E4M3", 1 }, [ST_I16] = { "I16", 2 }, [ST_U16] = { "U16", 2 }, [ST_F16] = { "F16", 2 },
	[ST_BF16] = { "BF16", 2 }, [ST_I32] = { "I32", 4 }, [ST_U32] = { "U32", 4 }, [ST_F32] = { "F32", 4 },
	[ST_F64] = { "F64", 8 }, [ST_I64] = { "I64", 8 }, [ST_U64] = { "U64", 8 },
};

size_t safetensors_dtype_size(enum safetensors_dtype d) { return dtypes[d].size; }
const char *safetensors_dtype_name(enum safetensors_dtype d) { return dtypes[d].name; }

void safetensors_shape(const struct safetensor *t, char *out, size_t n)
{
	size_t at = 0;

	for (int i = 0; i < t->n_dims && at < n; i++)
		at += (size_t)snprintf(out + at, n - at, "%s%" PRId64, i ? ", " : "[", t->shape[i]);
	if (at < n)
		snprintf(out + at, n - at, "%s", t->n_dims ? "]" : "[]");
}

static int read_at(const struct safetensors *s, uint64_t offset, void *bytes, size_t n)
{
	for (size_t done = 0; done < n;) {
		const ssize_t got = pread(s->fd, (char *)bytes + done, n - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_sys("cannot read '%s'", s->path);
		if (got == 0)
			return err_corrupt("cannot read '%s': it ends at offset %" PRIu64 " now", s->path, offset + done);
		done += (size_t)got;
	}
	return 0;
}

/* --- one tensor's entry --------------------------------------------------------- */

static int entry_wrong(const struct safetensors *s, const struct safetensor *t, const char *what)
{
	return err_corrupt("cannot use '%s': tensor '%s' %s", s->path, t->name, what);
}

static int read_dtype(const struct safetensors *s, struct safetensor *t, const json_t *m)
{
	if (!json_is_string(m))
		return entry_wrong(s, t, "has no dtype");
	for (int d = 0; d < ST_COUNT; d++) {
		if (!strcmp(json_string_value(m), dtypes[d].name)) {
			t->dtype = (enum safetensors_dtype)d;
			return 0;
		}
	}
	return err_corrupt("cannot use '%s': tensor '%s' has the unknown dtype '%s'", s->path, t->name, json_string_value(m));
}

static int read_shape(const struct safetensors *s, struct safetensor *t, const json_t *m)
{
	if (!json_is_array(m))
		return entry_wrong(s, t, "has no shape");
	if (json_array_size(m) > SAFETENSORS_DIMS_MAX)
		return entry_wrong(s, t, "has more dimensions than are known here");
	t->n_dims = (int)json_array_size(m);
	t->count = 1;
	for (int i = 0; i < t->n_dims; i++) {
		const json_t *n = json_array_get(m, (size_t)i);

		if (!json_is_integer(n) || json_integer_value(n) < 0)
			return entry_wrong(s, t, "has a shape that is no list of sizes");
		t->shape[i] = json_integer_value(n);
		if (__builtin_mul_overflow(t->count, t->shape[i], &t->count))
			return entry_wrong(s, t, "has an impossible shape");
	}
	return 0;
}

static int read_place(const struct safetensors *s, struct safetensor *t, const json_t *m)
{
	const json_t *from = json_array_get(m, 0), *to = json_array_get(m, 1);
	uint64_t bytes;

	if (json_array_size(m) != 2 || !json_is_integer(from) || !json_is_integer(to) || json_integer_value(from) < 0 ||
	    json_integer_value(to) < json_integer_value(from))
		return entry_wrong(s, t, "has no data_offsets");
	t->first = (uint64_t)json_integer_value(from);
	t->bytes = (uint64_t)json_integer_value(to) - t->first;
	if ((uint64_t)json_integer_value(to) > s->data_bytes)
		return err_corrupt("cannot use '%s': tensor '%s' ends at offset %lld of %" PRIu64 " bytes of data: "
				   "the file is cut, or wrong", s->path, t->name, (long long)json_integer_value(to),
				   s->data_bytes);
	if (__builtin_mul_overflow((uint64_t)t->count, dtypes[t->dtype].size, &bytes) || bytes != t->bytes)
		return err_corrupt("cannot use '%s': tensor '%s' has %" PRIu64 " bytes, which is not its shape's size",
				   s->path, t->name, t->bytes);
	return 0;
}

static int read_entry(struct safetensors *s, const char *name, const json_t *entry)
{
	struct safetensor *t;

	if (array_grow(&s->items, &s->cap, s->count + 1, sizeof(*s->items)))
		return -1;
	t = &s->items[s->count++];
	*t = (struct safetensor){ .name = name };
	if (!json_is_object(entry))
		return entry_wrong(s, t, "is described by no object");
	if (read_dtype(s, t, json_object_get(entry, "dtype")) || read_shape(s, t, json_object_get(entry, "shape")))
		return -1;
	return read_place(s, t, json_object_get(entry, "data_offsets"));
}

/* --- the file -------------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
	const struct safetensor *x = a, *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Tensors follow each other and fill the data. */
static int check_places(struct safetensors *s)
{
	uint64_t at = 0;

	if (s->count)
		qsort(s->items, s->count, sizeof(*s->items), by_place);
	for (size_t i = 0; i < s->count; i++) {
		const struct safetensor *t = &s->items[i];

		if (t->first < at)
			return err_corrupt("cannot use '%s': tensors '%s' and '%s' overlap at offset %" PRIu64 " of the data",
					   s->path, s->items[i - 1].name, t->name, t->first);
		if (t->first > at)
			return err_corrupt("cannot use '%s': nothing lies at offset %" PRIu64 " of the data, before tensor '%s'",
					   s->path, at, t->name);
		at += t->bytes;
	}
	if (at != s->data_bytes)
		return err_corrupt("cannot use '%s': %" PRIu64 " bytes of data, and tensors end at %" PRIu64, s->path,
				   s->data_bytes, at);
	return 0;
}

static int read_entries(struct safetensors *s, json_t *header)
{
	const char *name;
	json_t *entry;

	if (!json_is_object(header))
		return err_corrupt("cannot use '%s': its header is no JSON object", s->path);
	json_object_foreach(header, name, entry)
		if (strcmp(name, "__metadata__") && read_entry(s, name, entry))
			return -1;
	return check_places(s);
}

static int read_header(struct safetensors *s, uint64_t size)
{
	struct buf text = BUF_INIT;
	json_error_t error;
	uint64_t n;
	int rc = -1;

	if (size < PRELUDE)
		return err_corrupt("cannot use '%s': %" PRIu64 " bytes are no safetensors file", s->path, size);
	if (read_at(s, 0, &n, PRELUDE))
		return -1;
	if (n > size - PRELUDE)
		return err_corrupt("cannot use '%s': a header of %" PRIu64 " bytes in a file of %" PRIu64 ": it is cut, "
				   "or no safetensors file", s->path, n, size);
	if (n > SAFETENSORS_HEADER_MAX)
		return err_corrupt("cannot use '%s': a header of %" PRIu64 " bytes is longer than any model's", s->path, n);
	s->data_first = PRELUDE + n;
	s->data_bytes = size - s->data_first;
	if (buf_reserve(&text, (size_t)n) || read_at(s, PRELUDE, text.data, (size_t)n))
		goto out;
	s->header = json_loadb(text.data, (size_t)n, JSON_REJECT_DUPLICATES, &error);
	if (!s->header)
		err_corrupt("cannot use '%s': its header is no JSON: offset %d: %s", s->path, PRELUDE + error.position,
			    error.text);
	else
		rc = read_entries(s, s->header);
out:
	buf_release(&text);
	return rc;
}

int safetensors_open(struct safetensors **out, const char *path)
{
	struct safetensors *s = calloc(1, sizeof(*s));
	struct stat st;

	*out = NULL;
	if (!s || !(s->path = strdup(path))) {
		free(s);
		return err_memory();
	}
	s->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (s->fd < 0 || fstat(s->fd, &st))
		err_sys("cannot open '%s'", path);
	else if (!S_ISREG(st.st_mode))
		err_fail("cannot read '%s': not a regular file", path);
	else if (!read_header(s, (uint64_t)st.st_size)) {
		*out = s;
		return 0;
	}
	safetensors_close(s);
	return -1;
}

const struct safetensor *safetensors_find(const struct safetensors *s, const char *name)
{
	for (size_t i = 0; i < s->count; i++)
		if (!strcmp(s->items[i].name, name))
			return &s->items[i];
	return NULL;
}

int safetensors_read(const struct safetensors *s, const struct safetensor *t, uint64_t offset, void *bytes, size_t n)
{
	if (offset > t->bytes || n > t->bytes - offset)
		return err_fail("cannot read '%s': tensor '%s' has %" PRIu64 " bytes", s->path, t->name, t->bytes);
	return read_at(s, s->data_first + t->first + offset, bytes, n);
}

void safetensors_close(struct safetensors *s)
{
	if (!s)
		return;
	if (s->fd >= 0)
		close(s->fd);
	json_decref(s->header);
	free(s->items);
	free(s->path);
	free(s);
}
