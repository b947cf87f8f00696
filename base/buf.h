/*
 * buf.h - bytes that grow.
 *
 *	struct buf b = BUF_INIT;
 *	if (buf_add(&b, "abc", 3) || buf_addf(&b, "%d", 7))
 *		...			(-1, reason "out of memory")
 *	buf_release(&b);		(ready for use again)
 *
 * data[len] is always a readable 0 byte once anything was reserved. A failed
 * call leaves the contents as they were.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct buf {
	char *data;
	size_t len, cap;	/* cap leaves room for the 0 byte */
};
#define BUF_INIT { NULL, 0, 0 }

int buf_reserve(struct buf *b, size_t more);	/* room for MORE bytes after len */
int buf_add(struct buf *b, const void *bytes, size_t n);
int buf_add_byte(struct buf *b, unsigned char byte);
int buf_adds(struct buf *b, const char *text);
int buf_addf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static inline void buf_clear(struct buf *b) { b->len = 0; if (b->data) b->data[0] = 0; }
void buf_release(struct buf *b);

/*
 * Room for NEED items of SIZE bytes in a plain growing array: doubles *CAP
 * and moves *ITEMS when NEED > *CAP, checks overflow; -1 "out of memory".
 *	if (array_grow(&v->items, &v->cap, v->n + 1, sizeof(*v->items)))
 */
#define array_grow(items, cap, need, size) array_grow_((void **)(items), (cap), (need), (size))
int array_grow_(void **items, size_t *cap, size_t need, size_t size);

#ifdef __cplusplus
}
#endif

#endif
