/*
 * safetensors.h - files of named tensors, as Hugging Face's safetensors has them.
 *
 * Eight bytes N, a JSON object of N bytes, then data. The object tells of each
 * tensor dtype, shape, and where in the data it lies; the member "__metadata__"
 * holds strings. Numbers are little-endian, rows come first; tensors follow each other
 * without holes and fill the data.
 *
 * Reading:
 *
 *	struct safetensors *s;
 *	if (safetensors_open(&s, path))
 *		return -1;		(EXIT_CORRUPT, with the place, when it is not all of the above)
 *	const struct safetensor *t = safetensors_find(s, "pooler.dense.bias");
 *	safetensors_read(s, t, 0, bytes, t->bytes)
 *	safetensors_close(s);		(accepts NULL)
 *
 * Writing, the tensors' bytes in the order of the list:
 *
 *	struct safetensors_writer *w;
 *	if (safetensors_create(&w, path, list, n))
 *		return -1;
 *	if (safetensors_put(w, bytes, n) || ... || safetensors_commit(w)) {
 *		safetensors_discard(w);		(accepts NULL)
 *		return -1;
 *	}					(a successful commit has freed W)
 */
#ifndef MODEL_SAFETENSORS_H
#define MODEL_SAFETENSORS_H

#include <stddef.h>
#include <stdint.h>

#define SAFETENSORS_DIMS_MAX 8
#define SAFETENSORS_HEADER_MAX ((uint64_t)16 << 20)	/* bytes of JSON; models have some 100 a tensor */

enum safetensors_dtype {
	ST_BOOL, ST_U8, ST_I8, ST_F8_E5M2, ST_F8_E4M3, ST_I16, ST_U16, ST_F16, ST_BF16, ST_I32, ST_U32, ST_F32, ST_F64,
	ST_I64, ST_U64, ST_COUNT
};

struct safetensor {
	const char *name;
	enum safetensors_dtype dtype;
	int n_dims;				/* 0: one element */
	int64_t shape[SAFETENSORS_DIMS_MAX];
	int64_t count;				/* elements */
	uint64_t first, bytes;			/* place within the data */
};

struct safetensors {
	char *path;
	int fd;
	uint64_t data_first, data_bytes;	/* place of the data within the file */
	struct safetensor *items;		/* in the order of their data */
	size_t count, cap;
	void *header;				/* holds the names */
};

int safetensors_open(struct safetensors **s, const char *path);
const struct safetensor *safetensors_find(const struct safetensors *s, const char *name);	/* NULL: none; no reason set */
int safetensors_read(const struct safetensors *s, const struct safetensor *t, uint64_t offset, void *bytes, size_t n);
void safetensors_close(struct safetensors *s);

/* The list's name, dtype, n_dims and shape are looked at. PATH NULL or "-" is standard output, a terminal is refused. */
struct safetensors_writer;
int safetensors_create(struct safetensors_writer **w, const char *path, const struct safetensor *list, size_t n);
int safetensors_put(struct safetensors_writer *w, const void *bytes, size_t n);
int safetensors_commit(struct safetensors_writer *w);
void safetensors_discard(struct safetensors_writer *w);

size_t safetensors_dtype_size(enum safetensors_dtype d);
const char *safetensors_dtype_name(enum safetensors_dtype d);

/* "[2, 3]" into OUT. */
void safetensors_shape(const struct safetensor *t, char *out, size_t n);

#endif
