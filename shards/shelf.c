/* Open shards, so many at most. */
#include "shards/shelf.h"
#include "base/err.h"

#include <assert.h>
#include <pthread.h>
#include <sys/resource.h>

struct shelf {
	size_t files, memory;		/* at most */
	pthread_mutex_t lock;		/* of all below, and of places */
	pthread_cond_t opened;
	struct shelf_place *newest, *oldest;
	struct shelf_counts counts;
};

struct shelf *shelf_new(size_t files, size_t memory)
{
	struct shelf *s = calloc(1, sizeof(*s));
	struct rlimit limit;

	if (!s) {
		err_memory();
		return NULL;
	}
	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur / 4 < files)
		files = (size_t)(limit.rlim_cur / 4);
	s->files = files ? files : 1;
	s->memory = memory;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->opened, NULL);
	return s;
}

void shelf_free(struct shelf *s)
{
	if (!s)
		return;
	assert(!s->newest && !s->counts.open);
	pthread_cond_destroy(&s->opened);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

/* --- the row, newest to oldest ------------------------------------------------------------ */

static void unlink_place(struct shelf *s, struct shelf_place *p)
{
	*(p->newer ? &p->newer->older : &s->newest) = p->older;
	*(p->older ? &p->older->newer : &s->oldest) = p->newer;
	p->newer = p->older = NULL;
}

static void link_newest(struct shelf *s, struct shelf_place *p)
{
	p->older = s->newest;
	*(s->newest ? &s->newest->newer : &s->oldest) = p;
	s->newest = p;
}

static void release(struct shelf_shard *open)
{
	shard_close(open->shard);
	documents_release(&open->documents);
	open->shard = NULL;
}

static void close_place(struct shelf *s, struct shelf_place *p)
{
	unlink_place(s, p);
	s->counts.open--;
	s->counts.bytes -= p->bytes;
	p->bytes = 0;
	release(&p->open);
}

/* Closes what nobody has, oldest first, until FILES more may be opened. */
static void make_room(struct shelf *s, size_t files)
{
	struct shelf_place *newer;

	for (struct shelf_place *p = s->oldest; p; p = newer) {
		newer = p->newer;
		if (s->counts.open + files <= s->files && s->counts.bytes <= s->memory)
			return;
		if (!p->users)
			close_place(s, p);
	}
}

/* --- taking --------------------------------------------------------------------------------- */

/* Opens P, which this thread alone does. */
static int open_place(struct shelf *s, struct shelf_place *p, int (*fill)(void *ctx, struct shelf_shard *open), void *ctx)
{
	int rc;

	p->opening = true;
	make_room(s, 1);
	pthread_mutex_unlock(&s->lock);
	rc = fill(ctx, &p->open);
	if (rc)
		release(&p->open);
	pthread_mutex_lock(&s->lock);
	p->opening = false;
	pthread_cond_broadcast(&s->opened);
	if (rc)
		return -1;
	p->bytes = shard_memory(p->open.shard) + p->open.documents.cap * sizeof(*p->open.documents.items);
	link_newest(s, p);
	s->counts.open++;
	s->counts.opened++;
	s->counts.mapped += shard_mapped(p->open.shard);
	s->counts.bytes += p->bytes;
	return 0;
}

const struct shelf_shard *shelf_take(struct shelf *s, struct shelf_place *p,
				     int (*fill)(void *ctx, struct shelf_shard *open), void *ctx)
{
	int rc = 0;

	pthread_mutex_lock(&s->lock);
	while (p->opening)
		pthread_cond_wait(&s->opened, &s->lock);
	if (!p->bytes)
		rc = open_place(s, p, fill, ctx);
	if (!rc) {
		p->users++;
		unlink_place(s, p);
		link_newest(s, p);
		make_room(s, 0);
	}
	pthread_mutex_unlock(&s->lock);
	return rc ? NULL : &p->open;
}

void shelf_give(struct shelf *s, struct shelf_place *p)
{
	pthread_mutex_lock(&s->lock);
	assert(p->users);
	p->users--;
	pthread_mutex_unlock(&s->lock);
}

void shelf_remove(struct shelf *s, struct shelf_place *p)
{
	pthread_mutex_lock(&s->lock);
	assert(!p->users && !p->opening);
	if (p->bytes)
		close_place(s, p);
	pthread_mutex_unlock(&s->lock);
}

struct shelf_counts shelf_counts(struct shelf *s)
{
	struct shelf_counts counts;

	pthread_mutex_lock(&s->lock);
	counts = s->counts;
	pthread_mutex_unlock(&s->lock);
	return counts;
}
