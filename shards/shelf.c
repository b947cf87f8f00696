/* Open shards, so many at most. */
#include "shards/shelf.h"
#include "base/err.h"

#include <assert.h>
#include <pthread.h>
#include <sys/resource.h>

/* A place's shard while it is open. */
struct shelf_open {
	struct shelf_shard shard;
	struct shelf_place *place;
	struct shelf_open *newer, *older;
	size_t bytes;			/* that it holds */
};

struct shelf {
	size_t files, memory;		/* at most */
	pthread_mutex_t lock;		/* of all below, and of places */
	pthread_cond_t opened;
	struct shelf_open *newest, *oldest;
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

static void unlink_open(struct shelf *s, struct shelf_open *o)
{
	*(o->newer ? &o->newer->older : &s->newest) = o->older;
	*(o->older ? &o->older->newer : &s->oldest) = o->newer;
	o->newer = o->older = NULL;
}

static void link_newest(struct shelf *s, struct shelf_open *o)
{
	o->older = s->newest;
	*(s->newest ? &s->newest->newer : &s->oldest) = o;
	s->newest = o;
}

static void free_open(struct shelf_open *o)
{
	if (!o)
		return;
	shard_close(o->shard.shard);
	documents_release(&o->shard.documents);
	free(o);
}

static void close_place(struct shelf *s, struct shelf_place *p)
{
	unlink_open(s, p->open);
	s->counts.open--;
	s->counts.bytes -= p->open->bytes;
	free_open(p->open);
	p->open = NULL;
}

/* Closes what nobody has, oldest first, until FILES more may be opened. */
static void make_room(struct shelf *s, size_t files)
{
	struct shelf_open *newer;

	for (struct shelf_open *o = s->oldest; o; o = newer) {
		newer = o->newer;
		if (s->counts.open + files <= s->files && s->counts.bytes <= s->memory)
			return;
		if (!o->place->users)
			close_place(s, o->place);
	}
}

/* --- taking --------------------------------------------------------------------------------- */

/* Opens P, which this thread alone does. */
static int open_place(struct shelf *s, struct shelf_place *p, int (*fill)(void *ctx, struct shelf_shard *open), void *ctx)
{
	struct shelf_open *o;
	int rc;

	p->opening = true;
	make_room(s, 1);
	pthread_mutex_unlock(&s->lock);
	o = calloc(1, sizeof(*o));
	rc = o ? fill(ctx, &o->shard) : err_memory();
	if (rc)
		free_open(o);
	pthread_mutex_lock(&s->lock);
	p->opening = false;
	pthread_cond_broadcast(&s->opened);
	if (rc)
		return -1;
	o->bytes = shard_memory(o->shard.shard) + o->shard.documents.cap * sizeof(*o->shard.documents.items);
	o->place = p;
	p->open = o;
	link_newest(s, o);
	s->counts.open++;
	s->counts.opened++;
	s->counts.mapped += shard_mapped(o->shard.shard);
	s->counts.bytes += o->bytes;
	return 0;
}

const struct shelf_shard *shelf_take(struct shelf *s, struct shelf_place *p,
				     int (*fill)(void *ctx, struct shelf_shard *open), void *ctx)
{
	int rc = 0;

	pthread_mutex_lock(&s->lock);
	while (p->opening)
		pthread_cond_wait(&s->opened, &s->lock);
	if (!p->open)
		rc = open_place(s, p, fill, ctx);
	if (!rc) {
		p->users++;
		unlink_open(s, p->open);
		link_newest(s, p->open);
		make_room(s, 0);
	}
	pthread_mutex_unlock(&s->lock);
	return rc ? NULL : &p->open->shard;
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
	if (p->open)
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
