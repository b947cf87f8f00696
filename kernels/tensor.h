/*
 * tensor.h - what ops work on: a matrix somewhere in a backend's memory.
 *
 * A tensor is a plain view, passed by value; it owns nothing. It is [rows, cols],
 * row-major, without gaps between rows; a vector has one row. Several dimensions
 * are folded into the two and named where they matter: qkv[T, 3*A*D]. A tensor
 * without data is "none": the op does without it.
 *
 * The letters, in every comment of kernels/ and model/:
 *
 *	B sequences of a batch    T packed tokens (the sum of their lengths)    S longest length
 *	L layers    H hidden    A heads of a layer    D head size    F feed-forward width
 *	E embedding size    V vocabulary    P predictions    N instances or rows    C classes
 */
#ifndef KERNELS_TENSOR_H
#define KERNELS_TENSOR_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dtype { DTYPE_F32, DTYPE_F64, DTYPE_BF16, DTYPE_F16, DTYPE_COUNT };

struct tensor {
	void *data;		/* [rows, cols] of dtype; aligned to one element; NULL: none */
	int64_t rows, cols;
	enum dtype dtype;
};

/* Bytes of one element. */
static inline size_t dtype_size(enum dtype d)
{
	static const unsigned char size[DTYPE_COUNT] = { 4, 8, 2, 2 };

	return size[d];
}

/* "f32" "f64" "bf16" "f16" */
static inline const char *dtype_name(enum dtype d)
{
	static const char *const name[DTYPE_COUNT] = { "f32", "f64", "bf16", "f16" };

	return name[d];
}

static inline struct tensor tensor_of(void *data, enum dtype dtype, int64_t rows, int64_t cols)
{
	return (struct tensor){ .data = data, .rows = rows, .cols = cols, .dtype = dtype };
}

static inline bool tensor_given(struct tensor t) { return t.data != NULL; }
static inline int64_t tensor_count(struct tensor t) { return t.rows * t.cols; }
static inline size_t tensor_bytes(struct tensor t) { return (size_t)tensor_count(t) * dtype_size(t.dtype); }

/* Rows FIRST .. FIRST+ROWS-1 of T: a view of the same memory. */
static inline struct tensor tensor_rows(struct tensor t, int64_t first, int64_t rows)
{
	assert(first >= 0 && rows >= 0 && first + rows <= t.rows);
	t.data = (char *)t.data + (size_t)(first * t.cols) * dtype_size(t.dtype);
	t.rows = rows;
	return t;
}

/* The same elements under another shape. */
static inline struct tensor tensor_shaped(struct tensor t, int64_t rows, int64_t cols)
{
	assert(rows * cols == tensor_count(t));
	t.rows = rows;
	t.cols = cols;
	return t;
}

#endif
