#include "base/buf.h"

#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUF_LEAST 64

int buf_reserve(struct buf *b, size_t more)
{
	size_t need, cap;
	char *data;

	if (b->data && more <= b->cap - b->len)
		return 0;
	if (more > SIZE_MAX / 2 - 1 - b->len)
		return err_memory();
	need = b->len + more;
	cap = b->cap ? 2 * b->cap : BUF_LEAST;	/* no overflow: every need was below SIZE_MAX / 2 */
	if (cap < need)
		cap = need;
	data = realloc(b->data, cap + 1);
	if (!data)
		return err_memory();
	data[b->len] = 0;
	b->data = data;
	b->cap = cap;
	return 0;
}

int buf_add(struct buf *b, const void *bytes, size_t n)
{
	if (buf_reserve(b, n))
		return -1;
	if (n)
		memcpy(b->data + b->len, bytes, n);
	b->len += n;
	b->data[b->len] = 0;
	return 0;
}

int buf_add_byte(struct buf *b, unsigned char byte)
{
	if (buf_reserve(b, 1))
		return -1;
	b->data[b->len++] = (char)byte;
	b->data[b->len] = 0;
	return 0;
}

int buf_adds(struct buf *b, const char *text)
{
	return buf_add(b, text, strlen(text));
}

static int add_formatted(struct buf *b, const char *fmt, va_list ap, va_list again)
{
	int n;

	if (buf_reserve(b, strlen(fmt)))	/* a guess: mostly spares the second go */
		return -1;
	n = vsnprintf(b->data + b->len, b->cap - b->len + 1, fmt, ap);
	if (n >= 0 && (size_t)n > b->cap - b->len) {
		if (buf_reserve(b, (size_t)n)) {
			b->data[b->len] = 0;
			return -1;
		}
		n = vsnprintf(b->data + b->len, b->cap - b->len + 1, fmt, again);
	}
	if (n < 0) {
		b->data[b->len] = 0;
		return err_sys("cannot format text");
	}
	b->len += (size_t)n;
	return 0;
}

int buf_addf(struct buf *b, const char *fmt, ...)
{
	va_list ap, again;
	int rc;

	va_start(ap, fmt);
	va_copy(again, ap);
	rc = add_formatted(b, fmt, ap, again);
	va_end(again);
	va_end(ap);
	return rc;
}

void buf_release(struct buf *b)
{
	free(b->data);
	*b = (struct buf)BUF_INIT;
}

int array_grow_(void **items, size_t *cap, size_t need, size_t size)
{
	size_t n;
	void *p;

	if (need <= *cap)
		return 0;
	if (need > SIZE_MAX / 2 / size)
		return err_memory();
	n = *cap < 8 ? 16 : 2 * *cap;
	if (n < need)
		n = need;
	memcpy(&p, items, sizeof(p));	/* ITEMS points to a pointer of some other type */
	p = realloc(p, n * size);
	if (!p)
		return err_memory();
	memcpy(items, &p, sizeof(p));
	*cap = n;
	return 0;
}
