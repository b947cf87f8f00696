/* shard_source.c - pre-training instances as samples. */
#include "trainer/shard_source.h"

#include "base/err.h"
#include "base/fs.h"
#include "shards/folder.h"
#include "tokenizer/tokenizer.h"
#include "trainer/order.h"

#include <pthread.h>
#include <signal.h>

/* An instance of a window: its numbers are ids[n], positions[predictions], labels[predictions] from FIRST on in those of RUN. */
struct kept {
	unsigned run;
	size_t first;
	uint32_t n, second;		/* tokens; the first one of type 1, or n */
	uint32_t predictions, flags;
};

/* The numbers of a run's instances. */
struct numbers {
	int32_t *items;
	size_t used, cap;
};

/* A window that is in memory, or comes there: run by run, each by whoever takes it. */
struct window {
	struct order_window of;		/* its n 0: nothing is asked for */
	struct kept *kept;		/* [window_most]: by place */
	struct numbers runs[ORDER_WINDOW];
	unsigned taken, done;		/* runs */
	unsigned failed;		/* the first run that failed */
	struct err why;
};

struct shard_source {
	struct sample_source samples;
	struct mixture *mixture;
	bool ordered;
	struct order *order;		/* where ORDERED */
	uint32_t window_most;		/* instances */
	/* the threads that read; the last cursor is that of the thread that asks */
	pthread_t threads[SHARD_SOURCE_THREADS];
	unsigned n_threads, n_working;
	bool started;
	struct mixture_cursor *cursors[SHARD_SOURCE_THREADS + 1];
	pthread_mutex_t lock;		/* of all below, and what windows say of their runs */
	pthread_cond_t asked, done;
	bool closing;
	struct window windows[2];
	struct window *now, *next;
};

static int add_sample(struct sample_source *samples, uint64_t epoch, uint64_t index, uint64_t key, struct batch *b);

/* --- opening ----------------------------------------------------------------------- */

/* The name of the first set, which stands for all where they are alike. */
static const char *first_path(const struct shard_source *s)
{
	return mixture_set(s->mixture, 0)->path;
}

static int check_fit(const struct shard_source *s, const struct config *c)
{
	if (mixture_pairs(s->mixture) && c->type_vocab_size < 2)
		return err_fail("'%s' has pairs of segments, and the model knows one type of token (type_vocab_size 1)", first_path(s));
	if ((uint64_t)s->samples.max_length * (uint64_t)s->samples.max_predictions > INT32_MAX)
		return err_fail("'%s' has more predictions than can be counted", first_path(s));
	return 0;
}

static int open_mixture(struct shard_source *s, const struct mixture_set *sets, size_t n, const struct shard_source_opts *o)
{
	const struct config *c = o->config;
	const struct reader_opts opts = { .max_seq_length = (uint32_t)c->max_position_embeddings, .vocab_size = (uint32_t)c->vocab_size,
					  .scattered = o->ordered, .map = o->map, .masks = o->masks };

	if (mixture_open(&s->mixture, sets, n, o->exponent, &opts))
		return err_prefix("cannot use the shards");
	s->samples = (struct sample_source){ .size = mixture_size(s->mixture), .max_length = (int)mixture_max_seq_length(s->mixture),
					     .max_predictions = (int)mixture_max_predictions(s->mixture), .targets = 1, .add = add_sample };
	return check_fit(s, c);
}

/* What the order has to know of reader R. */
static int describe_set(struct order_set *s, const struct mixture *m, size_t k)
{
	const struct reader *r = mixture_reader(m, k);
	uint64_t *firsts = calloc(reader_shards(r) + 1, sizeof(*firsts));

	if (!firsts)
		return err_memory();
	for (size_t j = 0; j <= reader_shards(r); j++)
		firsts[j] = reader_shard_first(r, j);
	*s = (struct order_set){ .firsts = firsts, .shards = reader_shards(r), .share = mixture_share(m, k), .documents = reader_documents(r),
				 .block = shard_block_records(reader_recipe(r)->max_seq_length) };
	return 0;
}

int shard_source_order(struct order **o, uint64_t seed, const struct mixture *m)
{
	const size_t n = mixture_sets(m);
	struct order_set *sets = calloc(n, sizeof(*sets));
	int rc = sets ? 0 : err_memory();

	for (size_t k = 0; k < n && !rc; k++)
		rc = describe_set(&sets[k], m, k);
	if (!rc)
		rc = order_open(o, seed, sets, n);
	for (size_t k = 0; sets && k < n; k++)
		free((uint64_t *)(uintptr_t)sets[k].firsts);
	free(sets);
	return rc;
}

static int open_order(struct shard_source *s, uint64_t seed)
{
	if (shard_source_order(&s->order, seed, s->mixture))
		return -1;
	s->window_most = order_window_most(s->order);
	return 0;
}

static int open_windows(struct shard_source *s)
{
	for (int k = 0; k < 2; k++) {
		s->windows[k].kept = calloc(s->window_most, sizeof(*s->windows[k].kept));
		if (!s->windows[k].kept)
			return err_memory();
	}
	for (unsigned k = 0; k <= SHARD_SOURCE_THREADS; k++) {
		s->cursors[k] = mixture_cursor_new(s->mixture);
		if (!s->cursors[k])
			return -1;
	}
	return 0;
}

int shard_source_open(struct shard_source **s, const struct mixture_set *sets, size_t n, const struct shard_source_opts *o)
{
	struct shard_source *new = calloc(1, sizeof(*new));

	*s = NULL;
	if (!new)
		return err_memory();
	new->ordered = o->ordered;
	new->window_most = ORDER_RUN * ORDER_WINDOW;
	new->now = &new->windows[0];
	new->next = &new->windows[1];
	pthread_mutex_init(&new->lock, NULL);
	pthread_cond_init(&new->asked, NULL);
	pthread_cond_init(&new->done, NULL);
	if (open_mixture(new, sets, n, o) || (o->ordered && open_order(new, o->seed)) || open_windows(new)) {
		shard_source_close(new);
		return -1;
	}
	*s = new;
	return 0;
}

static void release_window(struct window *w)
{
	for (unsigned k = 0; k < ORDER_WINDOW; k++)
		free(w->runs[k].items);
	free(w->kept);
}

void shard_source_close(struct shard_source *s)
{
	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	s->closing = true;
	pthread_cond_broadcast(&s->asked);
	pthread_mutex_unlock(&s->lock);
	for (unsigned k = 0; k < s->n_threads; k++)
		pthread_join(s->threads[k], NULL);
	for (unsigned k = 0; k <= SHARD_SOURCE_THREADS; k++)
		mixture_cursor_free(s->cursors[k]);
	order_close(s->order);
	mixture_close(s->mixture);
	release_window(&s->windows[0]);
	release_window(&s->windows[1]);
	pthread_cond_destroy(&s->done);
	pthread_cond_destroy(&s->asked);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

struct sample_source *shard_source_samples(struct shard_source *s)
{
	return &s->samples;
}

const struct mixture *shard_source_mixture(const struct shard_source *s)
{
	return s->mixture;
}

/* Whether FOLDER has a vocab.txt: 1, 0, or -1 also where the shards were not made with it. */
static int look_for_vocab(const struct shard_source *s, const char *folder)
{
	char *path = fs_join(folder, FOLDER_VOCAB);
	struct vocab *v = NULL;
	int rc = -1;

	if (!path)
		return -1;
	if (!fs_exists(path))
		rc = 0;
	else if (!vocab_load(&v, path))
		rc = folder_vocab_is(v, mixture_tokenizer(s->mixture)) ?
			     1 : err_fail("the shards of '%s' were made with another vocabulary than '%s'", first_path(s), path);
	vocab_free(v);
	free(path);
	return rc;
}

int shard_source_order_version(const struct shard_source *s)
{
	return order_version(s->order);
}

int shard_source_find_vocab(const struct shard_source *s, const char *init, char **folder)
{
	int rc = 0;

	*folder = NULL;
	for (size_t k = init ? 0 : 1; k <= mixture_sets(s->mixture) && !rc; k++) {
		char *const at = k ? folder_of(mixture_set(s->mixture, k - 1)->path) : strdup(init);

		rc = at ? look_for_vocab(s, at) : err_memory();
		if (rc == 1)
			*folder = at;
		else
			free(at);
	}
	return rc < 0 ? -1 : 0;
}

/*
 * Whether T, as FOLDER describes it, cuts text as that of the shards was cut. Whose ids, the longest word and Unicode may be
 * others: these bert-shard takes from token documents, and the new model has them from the shards.
 */
static int compare_rules(const struct shard_source *s, const char *folder, const struct tokenizer *t)
{
	static const char *const said[] = { "cased", "strip_accents", "cjk", "never_split", "segmenter" };
	const json_t *const have = mixture_tokenizer(s->mixture);
	json_t *const want = tokenizer_describe(t);
	int rc = want ? 0 : -1;

	for (size_t i = 0; i < sizeof(said) / sizeof(said[0]) && !rc; i++) {
		const json_t *const a = json_object_get(have, said[i]), *const b = json_object_get(want, said[i]);

		if (a ? !b || !json_equal(a, b) : b != NULL)
			rc = err_fail("the shards of '%s' were made otherwise than tokenizer_config.json of '%s' says: %s", first_path(s), folder,
				      said[i]);
	}
	json_decref(want);
	return rc;
}

int shard_source_check_rules(const struct shard_source *s, const char *folder)
{
	char *const config = fs_join(folder, "tokenizer_config.json"), *const vocab = fs_join(folder, FOLDER_VOCAB);
	struct tokenizer *t = NULL;
	int rc = -1;

	if (config && vocab && (!fs_exists(config) || !fs_exists(vocab)))
		rc = 0;
	else if (config && vocab && !tokenizer_open(&t, &(struct tokenizer_opts){ .model = folder }))
		rc = compare_rules(s, folder, t);
	tokenizer_close(t);
	free(vocab);
	free(config);
	return rc;
}

/* --- reading ------------------------------------------------------------------------ */

static int keep(const struct shard_source *s, struct numbers *to, struct kept *k, const struct instance *i)
{
	const struct instance_shape *shape = reader_shape(mixture_reader(s->mixture, 0));	/* pairs or not is the same in all */
	const size_t need = i->n + 2 * (size_t)i->predictions;
	int32_t *at;

	if (array_grow(&to->items, &to->cap, to->used + need, sizeof(*to->items)))
		return -1;
	k->first = to->used;
	k->n = k->second = i->n;
	k->predictions = i->predictions;
	k->flags = i->flags;
	while (k->second && instance_type(i, shape, k->second - 1))
		k->second--;
	at = to->items + to->used;
	to->used += need;
	for (uint32_t t = 0; t < i->n; t++)
		*at++ = (int32_t)i->ids[t];
	for (uint32_t p = 0; p < i->predictions; p++)
		*at++ = (int32_t)i->positions[p];
	for (uint32_t p = 0; p < i->predictions; p++)
		*at++ = (int32_t)i->labels[p];
	return 0;
}

/* Reads run number RUN of W. */
static int read_run(struct shard_source *s, struct window *w, unsigned run, struct mixture_cursor *c)
{
	const struct order_run *r = &w->of.runs[run];

	w->runs[run].used = 0;
	for (uint32_t j = 0; j < r->count; j++) {
		const struct mixture_place at = { .k = r->set, .pass = r->pass, .index = r->index + j };
		const struct instance *i = mixture_get_at(c, &at);
		struct kept *k = &w->kept[s->ordered ? order_place(&w->of, r->at + j) : r->at + j];

		k->run = run;
		if (!i || keep(s, &w->runs[run], k, i))
			return -1;
	}
	return 0;
}

/* Takes the next run of W and reads it, the lock being held before and after; false: all are taken. */
static bool take_run(struct shard_source *s, struct window *w, struct mixture_cursor *c)
{
	unsigned run;
	int rc;

	if (w->taken >= w->of.n)
		return false;
	run = w->taken++;
	pthread_mutex_unlock(&s->lock);
	rc = read_run(s, w, run, c);
	pthread_mutex_lock(&s->lock);
	if (rc && run < w->failed) {
		err_get(&w->why);
		w->failed = run;
	}
	if (++w->done == w->of.n)
		pthread_cond_broadcast(&s->done);
	return true;
}

/* What is needed now goes before what will be. */
static void *work(void *ctx)
{
	struct shard_source *s = ctx;
	struct mixture_cursor *c;

	pthread_mutex_lock(&s->lock);
	c = s->cursors[s->n_working++];
	while (!s->closing)
		if (!take_run(s, s->now, c) && !take_run(s, s->next, c))
			pthread_cond_wait(&s->asked, &s->lock);
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

/* A system that refuses threads is no failure: who asks reads. Signals are for other threads. */
static void start_threads(struct shard_source *s)
{
	sigset_t all, kept;

	s->started = true;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &kept);
	while (s->n_threads < SHARD_SOURCE_THREADS && !pthread_create(&s->threads[s->n_threads], NULL, work, s))
		s->n_threads++;
	pthread_sigmask(SIG_SETMASK, &kept, NULL);
}

/* --- windows -------------------------------------------------------------------------- */

/* As they stand: from INDEX on, in runs that end where blocks do. */
static void plain_window(const struct shard_source *s, uint64_t index, struct order_window *w)
{
	*w = (struct order_window){ .first = index };
	while (index < s->samples.size && w->n < ORDER_WINDOW) {
		const struct mixture_place at = mixture_find(s->mixture, 0, index);
		const struct reader *r = mixture_reader(s->mixture, at.k);
		const uint64_t left = reader_size(r) - at.index, last = mixture_first(s->mixture, at.k) + mixture_share(s->mixture, at.k) - index;
		uint64_t n = ORDER_RUN - at.index % ORDER_RUN;

		n = n < left ? n : left;
		n = n < last ? n : last;
		w->runs[w->n++] = (struct order_run){ .set = at.k, .pass = at.pass, .index = at.index, .count = (uint32_t)n, .at = w->count };
		w->count += (uint32_t)n;
		index += n;
	}
}

static bool is_in(const struct shard_source *s, const struct window *w, uint64_t epoch, uint64_t index)
{
	return w->of.n && (w->of.epoch == epoch || !s->ordered) && index >= w->of.first && index - w->of.first < w->of.count;
}

/* Leaves of W what nobody has taken yet, and waits for the rest. The lock is held, here and below. */
static void drop(struct shard_source *s, struct window *w)
{
	w->of.n = w->taken;
	while (w->done < w->of.n)
		pthread_cond_wait(&s->done, &s->lock);
	w->of.n = w->taken = w->done = 0;
}

/* Asks for the window of INDEX of EPOCH as W, which nobody reads. */
static int ask(struct shard_source *s, struct window *w, uint64_t epoch, uint64_t index)
{
	struct order_window of;

	if (!s->ordered)
		plain_window(s, index, &of);
	else if (order_window(s->order, epoch, index, &of))
		return -1;
	w->of = of;
	w->taken = w->done = 0;
	w->failed = ORDER_WINDOW;
	pthread_cond_broadcast(&s->asked);
	return 0;
}

/* The window after the one in use. What fails here will be wanted, and fails then. */
static void ask_next(struct shard_source *s)
{
	const struct order_window *w = &s->now->of;
	const bool end = w->first + w->count == s->samples.size;

	drop(s, s->next);
	if (!end)
		(void)ask(s, s->next, w->epoch, w->first + w->count);
	else if (s->ordered)
		(void)ask(s, s->next, w->epoch + 1, 0);
}

/* Makes the window in use that of INDEX of EPOCH. */
static int enter_window(struct shard_source *s, uint64_t epoch, uint64_t index)
{
	struct window *w = s->next;

	if (!is_in(s, w, epoch, index)) {
		drop(s, s->next);
		drop(s, s->now);
		if (ask(s, w, epoch, index))
			return -1;
	}
	s->next = s->now;
	s->now = w;
	while (take_run(s, w, s->cursors[SHARD_SOURCE_THREADS]))
		;
	while (w->done < w->of.n)
		pthread_cond_wait(&s->done, &s->lock);
	if (w->failed < ORDER_WINDOW) {
		drop(s, w);
		return err_put(&w->why);
	}
	ask_next(s);
	return 0;
}

static int add_sample(struct sample_source *samples, uint64_t epoch, uint64_t index, uint64_t key, struct batch *b)
{
	struct shard_source *s = (struct shard_source *)samples;	/* its first member */
	const struct kept *k;
	const int32_t *from;
	int i, row, rc = 0;

	if (!is_in(s, s->now, epoch, index)) {
		if (!s->started)
			start_threads(s);
		pthread_mutex_lock(&s->lock);
		rc = enter_window(s, epoch, index);
		pthread_mutex_unlock(&s->lock);
	}
	if (rc)
		return -1;
	k = &s->now->kept[index - s->now->of.first];
	from = s->now->runs[k->run].items + k->first;
	i = batch_add(b, (int)k->n, key);
	row = b->host.starts[i];
	for (uint32_t t = 0; t < k->n; t++) {
		b->host.ids[row + (int)t] = from[t];
		b->host.types[row + (int)t] = t >= k->second;
	}
	for (uint32_t p = 0; p < k->predictions; p++)
		batch_add_prediction(b, i, from[k->n + p], from[k->n + k->predictions + p]);
	if (mixture_pairs(s->mixture))
		b->host.class_labels[i] = (k->flags & INSTANCE_RANDOM_NEXT) != 0;
	return 0;
}
