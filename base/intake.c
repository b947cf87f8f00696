#include "base/intake.h"

#define STEP (1 << 20)		/* the room that is made at first */

int intake_read(struct in *in, struct buf *b, uint64_t n)
{
	buf_clear(b);
	if (buf_reserve(b, 0))
		return -1;
	while (b->len < n) {
		size_t step = b->len > STEP ? b->len : STEP;
		ssize_t got;

		if (step < b->cap - b->len)
			step = b->cap - b->len;
		if (step > n - b->len)
			step = (size_t)n - b->len;
		if (buf_reserve(b, step))
			return -1;
		got = in_read(in, b->data + b->len, step);
		b->len += got > 0 ? (size_t)got : 0;
		b->data[b->len] = 0;
		if (got < 0)
			return -1;
		if ((size_t)got < step)
			return 0;
	}
	return 0;
}
