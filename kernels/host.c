/* host.c - memory and queues of the host. */
#include "kernels/host.h"

#include "base/err.h"

#include <sys/mman.h>

#define SMALL_ALIGN 64			/* a cache line, a vector */
#define HUGE_PAGE ((size_t)2 << 20)	/* large blocks begin on one, and the system is asked for such */

static int host_alloc(void **p, size_t bytes)
{
	const size_t align = bytes < HUGE_PAGE ? SMALL_ALIGN : HUGE_PAGE;
	size_t rounded;

	*p = NULL;
	if (bytes > SIZE_MAX - align)
		return err_memory();
	rounded = (bytes + align - 1) / align * align;
	if (!rounded)
		rounded = align;
	*p = aligned_alloc(align, rounded);
	if (!*p)
		return err_fail("out of memory: %zu bytes asked for", bytes);
	if (align == HUGE_PAGE)
		(void)madvise(*p, rounded, MADV_HUGEPAGE);	/* where the system has none, small ones do */
	memset(*p, 0, rounded);
	return 0;
}

static void host_free(void *p, size_t bytes)
{
	(void)bytes;
	free(p);
}

static void host_copy(struct queue *q, void *to, const void *from, size_t bytes)
{
	(void)q;
	memcpy(to, from, bytes);
}

static int host_queue_open(const struct kernels *k, struct queue **q)
{
	*q = calloc(1, sizeof(**q));
	if (!*q)
		return err_memory();
	(*q)->threads = k->threads;
	return 0;
}

static void host_queue_close(struct queue *q) { free(q); }

static int host_sync(struct queue *q)
{
	(void)q;
	return 0;
}

/* All is done before a call returns, so an event has always happened. */
struct event {
	char unused;
};

static int host_event_open(struct event **e)
{
	*e = calloc(1, sizeof(**e));
	return *e ? 0 : err_memory();
}

static void host_event_close(struct event *e) { free(e); }

static void host_event_order(struct queue *q, struct event *e)
{
	(void)q;
	(void)e;
}

static int host_event_sync(struct event *e)
{
	(void)e;
	return 0;
}

void host_fill(struct kernels *k, unsigned threads)
{
	k->threads = threads;
	k->alloc = k->host_alloc = host_alloc;
	k->free = k->host_free = host_free;
	k->upload = k->download = host_copy;
	k->queue_open = host_queue_open;
	k->queue_close = host_queue_close;
	k->sync = host_sync;
	k->event_open = host_event_open;
	k->event_close = host_event_close;
	k->event_record = k->event_wait = host_event_order;
	k->event_sync = host_event_sync;
}
