/* shard_source.c - pre-training instances as samples. */
#include "trainer/shard_source.h"

#include "base/err.h"
#include "base/fs.h"
#include "shards/folder.h"
#include "tokenizer/tokenizer.h"
#include "trainer/order.h"

#include <inttypes.h>

/* An instance of the window: its numbers are ids[n], positions[predictions], labels[predictions] from FIRST on. */
struct kept {
	size_t first;
	uint32_t n, second;		/* tokens; the first one of type 1, or n */
	uint32_t predictions, flags;
};

/* Which place of the order an instance number belongs to. */
struct wanted {
	uint64_t number;
	uint32_t place;
};

struct shard_source {
	struct sample_source samples;
	struct mixture *mixture;
	struct mixture_cursor *cursor;
	bool ordered;
	struct order order;
	/* the window that is in memory: places FIRST .. FIRST+COUNT-1 of EPOCH; COUNT 0: none */
	uint64_t epoch, first, count;
	struct wanted *wanted;		/* [ORDER_BLOCK * ORDER_WINDOW] */
	struct kept *kept;		/* the same */
	int32_t *numbers;
	size_t used, cap;
};

#define WINDOW (ORDER_BLOCK * ORDER_WINDOW)

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
	const struct reader_opts opts = { .max_seq_length = (uint32_t)c->max_position_embeddings, .vocab_size = (uint32_t)c->vocab_size };

	if (mixture_open(&s->mixture, sets, n, o->exponent, &opts))
		return err_prefix("cannot use the shards");
	s->samples = (struct sample_source){ .size = mixture_size(s->mixture), .max_length = (int)mixture_max_seq_length(s->mixture),
					     .max_predictions = (int)mixture_max_predictions(s->mixture), .targets = 1, .add = add_sample };
	return check_fit(s, c);
}

int shard_source_open(struct shard_source **s, const struct mixture_set *sets, size_t n, const struct shard_source_opts *o)
{
	struct shard_source *new = calloc(1, sizeof(*new));

	*s = NULL;
	if (!new)
		return err_memory();
	new->ordered = o->ordered;
	new->wanted = calloc(WINDOW, sizeof(*new->wanted));
	new->kept = calloc(WINDOW, sizeof(*new->kept));
	if (!new->wanted || !new->kept) {
		err_memory();
		goto fail;
	}
	if (open_mixture(new, sets, n, o) || !(new->cursor = mixture_cursor_new(new->mixture)))
		goto fail;
	order_init(&new->order, o->seed, new->samples.size);
	*s = new;
	return 0;
fail:
	shard_source_close(new);
	return -1;
}

void shard_source_close(struct shard_source *s)
{
	if (!s)
		return;
	mixture_cursor_free(s->cursor);
	mixture_close(s->mixture);
	free(s->numbers);
	free(s->kept);
	free(s->wanted);
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

int shard_source_check_vocab(const struct shard_source *s, const char *folder)
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
			     0 : err_fail("the shards of '%s' were made with another vocabulary than '%s'", first_path(s), path);
	vocab_free(v);
	free(path);
	return rc;
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

/* --- windows -------------------------------------------------------------------------- */

static int keep(struct shard_source *s, struct kept *k, const struct instance *i)
{
	const struct instance_shape *shape = reader_shape(mixture_reader(s->mixture, 0));	/* pairs or not is the same in all */
	const size_t need = i->n + 2 * (size_t)i->predictions;
	int32_t *to;

	if (array_grow(&s->numbers, &s->cap, s->used + need, sizeof(*s->numbers)))
		return -1;
	*k = (struct kept){ .first = s->used, .n = i->n, .second = i->n, .predictions = i->predictions, .flags = i->flags };
	while (k->second && instance_type(i, shape, k->second - 1))
		k->second--;
	to = s->numbers + s->used;
	s->used += need;
	for (uint32_t t = 0; t < i->n; t++)
		*to++ = (int32_t)i->ids[t];
	for (uint32_t p = 0; p < i->predictions; p++)
		*to++ = (int32_t)i->positions[p];
	for (uint32_t p = 0; p < i->predictions; p++)
		*to++ = (int32_t)i->labels[p];
	return 0;
}

static int by_number(const void *a, const void *b)
{
	const uint64_t x = ((const struct wanted *)a)->number, y = ((const struct wanted *)b)->number;

	return x < y ? -1 : x > y;
}

static int load_window(struct shard_source *s, uint64_t epoch, uint64_t index)
{
	uint64_t first = index - index % WINDOW, count = s->samples.size - first < WINDOW ? s->samples.size - first : WINDOW;

	if (s->ordered)
		order_window(&s->order, epoch, index, &first, &count);
	s->count = 0;
	s->used = 0;
	for (uint64_t i = 0; i < count; i++)
		s->wanted[i] = (struct wanted){ .number = s->ordered ? order_at(&s->order, epoch, first + i) : first + i,
						.place = (uint32_t)i };
	qsort(s->wanted, count, sizeof(*s->wanted), by_number);
	for (uint64_t i = 0; i < count; i++) {
		const struct instance *instance = mixture_get(s->cursor, s->ordered ? epoch : 0, s->wanted[i].number);

		if (!instance || keep(s, &s->kept[s->wanted[i].place], instance))
			return -1;
	}
	s->epoch = epoch;
	s->first = first;
	s->count = count;
	return 0;
}

static int add_sample(struct sample_source *samples, uint64_t epoch, uint64_t index, uint64_t key, struct batch *b)
{
	struct shard_source *s = (struct shard_source *)samples;	/* its first member */
	const bool here = s->count && s->epoch == epoch && index >= s->first && index - s->first < s->count;
	const struct kept *k;
	const int32_t *from;
	int i, row;

	if (!here && load_window(s, epoch, index))
		return -1;
	k = &s->kept[index - s->first];
	from = s->numbers + k->first;
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
