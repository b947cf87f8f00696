/* feed.c - the micro-batches of coming steps. */
#include "trainer/feed.h"

#include "base/err.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>

#define MICRO_BATCH_DEFAULT 32

#define AHEAD 2		/* steps in memory */

struct feed {
	struct feed_opts opts;
	struct feed_step steps[AHEAD];
	struct feed_place at;		/* the thread's own: of the next sample */
	pthread_t thread;
	bool running;
	/* shared */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint64_t made, taken, given;	/* steps so far; step k lies in steps[k % AHEAD] */
	bool failed, closing;
	struct err why;
};

static int micro_batches(const struct feed_opts *o)
{
	return (o->batch + o->micro_batch - 1) / o->micro_batch;
}

static int fill_batch(struct feed *f, struct batch *b, int n)
{
	struct sample_source *s = f->opts.source;

	batch_clear(b);
	for (int i = 0; i < n; i++) {
		if (f->at.index >= s->size)
			f->at = (struct feed_place){ .epoch = f->at.epoch + 1 };
		if (s->add(s, f->at.epoch, f->at.index, f->at.epoch * s->size + f->at.index, b))
			return -1;
		f->at.index++;
	}
	return batch_finish(b, &f->opts.model->config);
}

static int fill_step(struct feed *f, struct feed_step *s)
{
	int left = f->opts.batch;

	for (int i = 0; i < s->n; i++) {
		const int n = left < f->opts.micro_batch ? left : f->opts.micro_batch;

		if (fill_batch(f, &s->batches[i], n))
			return -1;
		left -= n;
	}
	s->after = f->at;
	return 0;
}

/* Waits until step number K may be made: false when none is wanted any more. */
static bool wait_for_room(struct feed *f, uint64_t k)
{
	bool wanted;

	pthread_mutex_lock(&f->lock);
	while (!f->closing && k - f->given >= AHEAD)
		pthread_cond_wait(&f->changed, &f->lock);
	wanted = !f->closing;
	pthread_mutex_unlock(&f->lock);
	return wanted;
}

static void *work(void *ctx)
{
	struct feed *f = ctx;

	for (uint64_t k = 0; k < f->opts.steps && wait_for_room(f, k); k++) {
		const int rc = fill_step(f, &f->steps[k % AHEAD]);

		pthread_mutex_lock(&f->lock);
		if (rc) {
			err_get(&f->why);
			f->failed = true;
		} else {
			f->made++;
		}
		pthread_cond_broadcast(&f->changed);
		pthread_mutex_unlock(&f->lock);
		if (rc)
			break;
	}
	return NULL;
}

static int open_batches(struct feed *f)
{
	const struct feed_opts *o = &f->opts;
	const struct batch_limits limits = sample_source_limits(o->source, o->micro_batch);
	const int n = micro_batches(o);

	for (int s = 0; s < AHEAD; s++) {
		f->steps[s].batches = calloc((size_t)n, sizeof(*f->steps[s].batches));
		if (!f->steps[s].batches)
			return err_memory();
		for (; f->steps[s].n < n; f->steps[s].n++)
			if (batch_open(&f->steps[s].batches[f->steps[s].n], o->model->k, &limits, o->model->dtype))
				return -1;
	}
	return 0;
}

/* Signals are for the thread that trains. */
static int start(struct feed *f)
{
	sigset_t all, kept;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &kept);
	rc = pthread_create(&f->thread, NULL, work, f);
	pthread_sigmask(SIG_SETMASK, &kept, NULL);
	if (rc)
		return err_fail("cannot start a thread: %s", strerror(rc));
	f->running = true;
	return 0;
}

int feed_open(struct feed **f, const struct feed_opts *o)
{
	struct feed *new = calloc(1, sizeof(*new));

	assert(o->batch > 0 && o->micro_batch > 0);
	*f = NULL;
	if (!new)
		return err_memory();
	new->opts = *o;
	new->at = o->at;
	pthread_mutex_init(&new->lock, NULL);
	pthread_cond_init(&new->changed, NULL);
	if (open_batches(new) || start(new)) {
		feed_close(new);
		return -1;
	}
	*f = new;
	return 0;
}

struct feed_step *feed_take(struct feed *f)
{
	struct feed_step *s = NULL;

	assert(f->taken < f->opts.steps);
	pthread_mutex_lock(&f->lock);
	while (f->made == f->taken && !f->failed)
		pthread_cond_wait(&f->changed, &f->lock);
	if (f->made > f->taken)
		s = &f->steps[f->taken++ % AHEAD];
	else
		err_put(&f->why);
	pthread_mutex_unlock(&f->lock);
	return s;
}

void feed_give(struct feed *f, struct feed_step *s)
{
	pthread_mutex_lock(&f->lock);
	assert(s == &f->steps[f->given % AHEAD]);
	(void)s;
	f->given++;
	pthread_cond_broadcast(&f->changed);
	pthread_mutex_unlock(&f->lock);
}

void feed_close(struct feed *f)
{
	if (!f)
		return;
	pthread_mutex_lock(&f->lock);
	f->closing = true;
	pthread_cond_broadcast(&f->changed);
	pthread_mutex_unlock(&f->lock);
	if (f->running)
		pthread_join(f->thread, NULL);
	for (int s = 0; s < AHEAD; s++) {
		for (int i = 0; i < f->steps[s].n; i++)
			batch_close(&f->steps[s].batches[i]);
		free(f->steps[s].batches);
	}
	pthread_cond_destroy(&f->changed);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

size_t feed_bytes(const struct feed_opts *o)
{
	const struct batch_limits limits = sample_source_limits(o->source, o->micro_batch);

	return AHEAD * (size_t)micro_batches(o) * batch_bytes(&limits, o->model->dtype);
}

int feed_micro_batch(const struct sample_source *s, uint64_t batch, uint64_t asked, int *micro_batch)
{
	const uint64_t micro = asked ? asked : MICRO_BATCH_DEFAULT;

	*micro_batch = (int)(micro < batch ? micro : batch);
	if ((int64_t)*micro_batch * s->max_length > INT32_MAX / 2)
		return err_fail("a micro-batch of %d instances of %d tokens is more than can be counted; give --micro-batch", *micro_batch,
				s->max_length);
	return 0;
}
