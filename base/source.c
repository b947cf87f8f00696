#include "base/source.h"

#include "base/err.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Somebody who shares the descriptor may have made it non-blocking. */
static bool wait_until_readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, -1) >= 0 || errno == EINTR;
}

ssize_t source_read(struct source *s, void *bytes, size_t n)
{
	ssize_t got;

	if (s->head_len) {
		const size_t k = n < s->head_len ? n : s->head_len;

		memcpy(bytes, s->head, k);
		s->head += k;
		s->head_len -= k;
		s->offset += k;
		return (ssize_t)k;
	}
	if (s->fd < 0)
		return 0;
	do
		got = read(s->fd, bytes, n);
	while (got < 0 && (errno == EINTR || (errno == EAGAIN && wait_until_readable(s->fd))));
	if (got < 0) {
		s->failed = true;
		return err_sys("cannot read '%s'", s->name);
	}
	s->offset += (uint64_t)got;
	return got;
}

int source_unread(struct source *s, const void *bytes, size_t n)
{
	unsigned char *joined = malloc(n + s->head_len + 1);

	if (!joined)
		return err_memory();
	if (n)
		memcpy(joined, bytes, n);
	if (s->head_len)
		memcpy(joined + n, s->head, s->head_len);
	free(s->owned);
	s->owned = joined;
	s->head = joined;
	s->head_len += n;
	s->offset -= n;
	return 0;
}

void source_release(struct source *s)
{
	free(s->owned);
	s->owned = NULL;
	s->head = NULL;
	s->head_len = 0;
}
