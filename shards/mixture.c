/* Several sets of shards as one. */
#include "shards/mixture.h"
#include "base/err.h"
#include "base/fs.h"
#include "shards/folder.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <sys/stat.h>

/* An epoch times a share is a number of samples, which stays far below 2^64 for every run. */
#define MOST_INSTANCES 0x1p53

struct part {
	struct mixture_set set;		/* its path is ours */
	struct reader *reader;
	double weight;			/* by the exponent, too */
	uint64_t size, share;		/* instances of the set; of an epoch */
	uint64_t first;			/* number of its first one in an epoch */
};

struct mixture {
	struct part *parts;
	size_t n;
	struct shelf *shelf;		/* of all readers */
	uint64_t size;
	uint32_t max_seq_length, max_predictions;
};

int mixture_set_parse(struct mixture_set *s, const char *text)
{
	const char *colon = fs_exists(text) ? NULL : strrchr(text, ':');
	char *end;

	*s = (struct mixture_set){ .weight = 1 };
	if (colon) {
		s->weight = strtod(colon + 1, &end);
		if (end == colon + 1 || *end || !(s->weight > 0 && s->weight <= MIXTURE_MAX_WEIGHT))
			return err_usage("a weight is a number above 0, at most %d, not '%s' as in '%s'",
					 MIXTURE_MAX_WEIGHT, colon + 1, text);
	}
	if (colon == text || !*text)
		return err_usage("'%s' names no folder", text);
	s->path = colon ? strndup(text, (size_t)(colon - text)) : strdup(text);
	return s->path ? 0 : err_memory();
}

/* --- opening ------------------------------------------------------------------------------ */

/*
 * Whether two names mean one file or folder, or a folder and a file in it. What cannot be looked at is not there to be
 * the same.
 */
static bool is_same(const char *a, const char *b)
{
	struct stat x, y;

	return !strcmp(a, b) || (!stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino) ||
	       folder_holds(a, b) || folder_holds(b, a);
}

/* Whether part K goes with those before it. */
static int check_part(const struct mixture *m, size_t k)
{
	const struct part *p = &m->parts[k], *first = &m->parts[0];
	const struct shard_recipe *a = reader_recipe(first->reader), *b = reader_recipe(p->reader);

	for (size_t j = 0; j < k; j++)
		if (is_same(m->parts[j].set.path, p->set.path))
			return err_fail("'%s' is given twice; a weight says how often it is seen", p->set.path);
	if (!json_equal(reader_tokenizer(first->reader), reader_tokenizer(p->reader)))
		return err_fail("the shards of '%s' and '%s' were made with different vocabularies or rules",
				first->set.path, p->set.path);
	if (a->pairs != b->pairs)
		return err_fail("the shards of '%s' and '%s' have different kinds of pairs", first->set.path,
				p->set.path);
	return 0;
}

/* What an epoch has of P. */
static int settle_share(struct mixture *m, struct part *p)
{
	const double share = round(p->weight * (double)p->size);

	if (share < 1)
		return err_fail("'%s' has %" PRIu64 " instances: with weight %g no epoch has any of them", p->set.path,
				p->size, p->weight);
	if ((double)m->size + share >= MOST_INSTANCES)
		return err_fail("'%s' has more instances than can be counted", p->set.path);
	p->first = m->size;
	p->share = (uint64_t)share;
	m->size += p->share;
	return 0;
}

static int add_part(struct mixture *m, const struct mixture_set *set, const struct reader_opts *opts)
{
	struct part *p = &m->parts[m->n];
	const struct instance_shape *shape;

	assert(set->weight > 0 && set->weight <= MIXTURE_MAX_WEIGHT);
	p->set = (struct mixture_set){ .path = strdup(set->path), .weight = set->weight };
	if (!p->set.path)
		return err_memory();
	m->n++;
	if (reader_open(&p->reader, &p->set.path, 1, opts))
		return -1;
	p->size = reader_size(p->reader);
	shape = reader_shape(p->reader);
	if (shape->max_seq_length > m->max_seq_length)
		m->max_seq_length = shape->max_seq_length;
	if (shape->max_predictions > m->max_predictions)
		m->max_predictions = shape->max_predictions;
	if (!p->size)
		return err_fail("'%s' has no instances", p->set.path);
	return check_part(m, m->n - 1);
}

/* The nearest number of nine digits. */
static double nine_digits(double x)
{
	char text[32];

	snprintf(text, sizeof(text), "%.9g", x);
	return strtod(text, NULL);
}

/* What EXPONENT makes of the weights. */
static int settle_weights(struct mixture *m, double exponent)
{
	double all = 0, flat = 0;

	for (size_t k = 0; k < m->n; k++) {
		const struct part *p = &m->parts[k];

		all += p->set.weight * (double)p->size;
		flat += p->set.weight * pow((double)p->size, exponent);
	}
	for (size_t k = 0; k < m->n; k++) {
		struct part *p = &m->parts[k];

		p->weight = p->set.weight;
		if (exponent != 1)
			p->weight = nine_digits(p->set.weight * pow((double)p->size, exponent - 1) * all / flat);
		if (p->weight > MIXTURE_MAX_WEIGHT)
			return err_fail("an epoch would have all of '%s' %g times, more than %d", p->set.path, p->weight,
					MIXTURE_MAX_WEIGHT);
		if (settle_share(m, p))
			return -1;
	}
	return 0;
}

int mixture_open(struct mixture **m, const struct mixture_set *sets, size_t n, double exponent,
		 const struct reader_opts *opts)
{
	struct mixture *new = calloc(1, sizeof(*new));
	struct reader_opts each = *opts;

	assert(n > 0 && exponent >= 0 && exponent <= 1);
	*m = NULL;
	if (!new)
		return err_memory();
	new->parts = calloc(n, sizeof(*new->parts));
	if (!new->parts) {
		err_memory();
		goto fail;
	}
	/* An order that takes shards of all sets at once has of each up to two more than its share of them. */
	new->shelf = shelf_new(READER_FILES + 3 * n, READER_MEMORY);
	if (!new->shelf)
		goto fail;
	each.shelf = new->shelf;
	for (size_t k = 0; k < n; k++)
		if (add_part(new, &sets[k], &each))
			goto fail;
	if (settle_weights(new, exponent))
		goto fail;
	*m = new;
	return 0;
fail:
	mixture_close(new);
	return -1;
}

void mixture_close(struct mixture *m)
{
	if (!m)
		return;
	for (size_t k = 0; k < m->n; k++) {
		reader_close(m->parts[k].reader);
		free((char *)(uintptr_t)m->parts[k].set.path);
	}
	shelf_free(m->shelf);
	free(m->parts);
	free(m);
}

/* --- what it is --------------------------------------------------------------------------- */

uint64_t mixture_size(const struct mixture *m)
{
	return m->size;
}

uint32_t mixture_max_seq_length(const struct mixture *m)
{
	return m->max_seq_length;
}

uint32_t mixture_max_predictions(const struct mixture *m)
{
	return m->max_predictions;
}

bool mixture_pairs(const struct mixture *m)
{
	return reader_shape(m->parts[0].reader)->pairs;
}

const json_t *mixture_tokenizer(const struct mixture *m)
{
	return reader_tokenizer(m->parts[0].reader);
}

size_t mixture_sets(const struct mixture *m)
{
	return m->n;
}

const struct mixture_set *mixture_set(const struct mixture *m, size_t k)
{
	return &m->parts[k].set;
}

const struct reader *mixture_reader(const struct mixture *m, size_t k)
{
	return m->parts[k].reader;
}

double mixture_weight(const struct mixture *m, size_t k)
{
	return m->parts[k].weight;
}

uint64_t mixture_first(const struct mixture *m, size_t k)
{
	return m->parts[k].first;
}

uint64_t mixture_share(const struct mixture *m, size_t k)
{
	return m->parts[k].share;
}

struct mixture_place mixture_find(const struct mixture *m, uint64_t epoch, uint64_t number)
{
	const struct part *p;
	size_t k = m->n - 1;
	uint64_t at;

	assert(number < m->size);
	while (m->parts[k].first > number)
		k--;
	p = &m->parts[k];
	at = epoch * p->share + (number - p->first);
	return (struct mixture_place){ .k = k, .pass = at / p->size, .index = at % p->size };
}

/* --- cursors ------------------------------------------------------------------------------ */

struct mixture_cursor {
	const struct mixture *m;
	struct reader_cursor **readers;	/* [m->n]; NULL until first used */
};

struct mixture_cursor *mixture_cursor_new(const struct mixture *m)
{
	struct mixture_cursor *c = calloc(1, sizeof(*c));

	if (c)
		c->readers = calloc(m->n, sizeof(struct reader_cursor *));
	if (!c || !c->readers) {
		free(c);
		err_memory();
		return NULL;
	}
	c->m = m;
	return c;
}

void mixture_cursor_free(struct mixture_cursor *c)
{
	if (!c)
		return;
	for (size_t k = 0; k < c->m->n; k++)
		reader_cursor_free(c->readers[k]);
	free(c->readers);
	free(c);
}

const struct instance *mixture_get_at(struct mixture_cursor *c, const struct mixture_place *at)
{
	if (!c->readers[at->k])
		c->readers[at->k] = reader_cursor_new(c->m->parts[at->k].reader);
	return c->readers[at->k] ? reader_get(c->readers[at->k], at->pass, at->index) : NULL;
}

const struct instance *mixture_get(struct mixture_cursor *c, uint64_t epoch, uint64_t number)
{
	const struct mixture_place at = mixture_find(c->m, epoch, number);

	return mixture_get_at(c, &at);
}
