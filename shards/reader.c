/* Instances by number. */
#include "shards/reader.h"
#include "base/err.h"
#include "base/fs.h"
#include "shards/documents.h"
#include "shards/folder.h"
#include "shards/manifest.h"

#include <inttypes.h>

struct reader_shard {
	char *path;
	uint64_t first, instances;	/* number of its first instance; how many */
};

struct reader {
	struct reader_opts opts;
	struct reader_shard *shards;
	size_t n, cap;
	uint64_t size;
	json_t *recipe_json;		/* NULL until the first shard is known */
	struct shard_recipe recipe;
	struct instance_shape shape;
	struct vocab *vocab;		/* where masks cannot be drawn without */
	struct mask_words *words;	/* likewise */
};

/* --- opening ------------------------------------------------------------------------------ */

static int check_limit(const char *name, const char *what, uint32_t is, uint32_t limit)
{
	if (!limit || is <= limit)
		return 0;
	return err_fail("'%s' has %s %" PRIu32 ", at most %" PRIu32 " fits", name, what, is, limit);
}

static int check_limits(const struct reader_opts *o, const struct shard_recipe *recipe, const char *name)
{
	if (check_limit(name, "max_seq_length", recipe->max_seq_length, o->max_seq_length) ||
	    check_limit(name, "max_predictions_per_seq", recipe->max_predictions_per_seq, o->max_predictions) ||
	    check_limit(name, "a vocabulary of", recipe->vocab_size, o->vocab_size))
		return -1;
	return 0;
}

/* Whether shard or manifest NAME, which has this RECIPE, belongs to what is open so far. */
static int check_recipe(const struct reader *r, const struct shard_recipe *recipe, const char *name)
{
	json_t *json = shard_recipe_json(recipe);
	const bool equal = json && json_equal(json, r->recipe_json);

	if (json && !equal)
		err_fail("'%s' was made by another recipe than '%s'", name, r->shards[0].path);
	json_decref(json);
	return equal ? 0 : -1;
}

static int add_recipe(struct reader *r, const struct shard_recipe *recipe, const char *name)
{
	if (r->recipe_json)
		return check_recipe(r, recipe, name);
	if (check_limits(&r->opts, recipe, name))
		return -1;
	r->recipe_json = shard_recipe_json(recipe);
	return r->recipe_json ? shard_recipe_parse(&r->recipe, r->recipe_json) : -1;
}

/* Adds a shard; PATH is taken, also on failure. */
static int add_shard(struct reader *r, char *path, uint64_t instances)
{
	if (!path)
		return err_memory();
	if (array_grow(&r->shards, &r->cap, r->n + 1, sizeof(*r->shards))) {
		free(path);
		return -1;
	}
	r->shards[r->n++] = (struct reader_shard){ .path = path, .first = r->size, .instances = instances };
	r->size += instances;
	return 0;
}

/* One shard file, which must be shard K of N unless N is 0. */
static int add_file(struct reader *r, const char *path, size_t k, size_t n)
{
	struct shard *s;
	int rc = -1;

	if (shard_open(&s, path))
		return -1;
	if (n && (shard_header(s)->shard != k || shard_header(s)->shards != n))
		err_fail("'%s' is shard %" PRIu32 " of %" PRIu32
			 ", found as number %zu of %zu: the folder is not complete",
			 path, shard_header(s)->shard, shard_header(s)->shards, k, n);
	else if (!add_recipe(r, &shard_header(s)->recipe, path))
		rc = add_shard(r, strdup(path), shard_instances(s));
	shard_close(s);
	return rc;
}

static int add_manifest(struct reader *r, const struct manifest *m, const char *folder)
{
	if (add_recipe(r, &m->recipe, folder))
		return -1;
	for (size_t k = 0; k < m->n_shards; k++)
		if (add_shard(r, fs_join(folder, m->shards[k].name), m->shards[k].instances))
			return -1;
	return 0;
}

static int add_folder(struct reader *r, const char *folder)
{
	char **paths = NULL;
	size_t n = 0;
	struct manifest *m;
	int rc;

	if (manifest_load(&m, folder))
		return -1;
	if (m) {
		rc = add_manifest(r, m, folder);
		manifest_free(m);
		return rc;
	}
	rc = folder_shards(folder, &paths, &n);
	for (size_t k = 0; !rc && k < n; k++)
		rc = add_file(r, paths[k], k, n);
	fs_free_names(paths, n);
	return rc;
}

static bool draws(const struct reader *r)
{
	return r->recipe.masking == SHARD_DYNAMIC && !r->opts.unmasked;
}

static int open_vocab(struct reader *r)
{
	if (!draws(r) || documents_can_draw(&r->recipe, NULL))
		return 0;
	if (folder_vocab(&r->vocab, r->opts.vocab, r->shards[0].path, r->recipe.tokenizer))
		return -1;
	if (!r->vocab)
		return err_fail("the vocabulary of '%s' is needed to draw masks, and is not beside it",
				r->shards[0].path);
	if (folder_words(&r->words, r->shards[0].path, &r->recipe, r->vocab))
		return -1;
	if (!documents_can_draw(&r->recipe, r->vocab))
		return err_fail("the list of words of '%s' is needed to draw masks, and is not beside it (%s)",
				r->shards[0].path, MASK_WORDS_NAME);
	return 0;
}

int reader_open(struct reader **r, const char *const *paths, size_t n, const struct reader_opts *opts)
{
	struct reader *new = calloc(1, sizeof(*new));

	*r = NULL;
	if (!new)
		return err_memory();
	new->opts = *opts;
	for (size_t k = 0; k < n; k++)
		if (folder_is(paths[k]) ? add_folder(new, paths[k]) : add_file(new, paths[k], 0, 0))
			goto fail;
	if (!new->n) {
		err_fail("no shards");
		goto fail;
	}
	if (open_vocab(new))
		goto fail;
	new->shape = shard_header_shape(&(struct shard_header){ .recipe = new->recipe }, 0);
	*r = new;
	return 0;
fail:
	reader_close(new);
	return -1;
}

uint64_t reader_size(const struct reader *r)
{
	return r->size;
}

const struct shard_recipe *reader_recipe(const struct reader *r)
{
	return &r->recipe;
}

const struct instance_shape *reader_shape(const struct reader *r)
{
	return &r->shape;
}

void reader_close(struct reader *r)
{
	if (!r)
		return;
	for (size_t k = 0; k < r->n; k++)
		free(r->shards[k].path);
	free(r->shards);
	json_decref(r->recipe_json);
	shard_recipe_release(&r->recipe);
	vocab_free(r->vocab);
	mask_words_free(r->words);
	free(r);
}

/* --- cursors --------------------------------------------------------------------------------- */

struct reader_cursor {
	const struct reader *r;
	struct instance instance;
	struct mask mask;		/* where masks are drawn */
	struct shard *shard;		/* the one that is open, number AT; NULL: none */
	size_t at;
	struct documents documents;	/* where masks are drawn */
	uint64_t block;			/* of the shard, when LOADED */
	bool loaded;
	struct frame_block frame;
	struct instance_block instances;
};

struct reader_cursor *reader_cursor_new(const struct reader *r)
{
	struct reader_cursor *c = calloc(1, sizeof(*c));

	if (!c) {
		err_memory();
		return NULL;
	}
	c->r = r;
	if (instance_init(&c->instance, &r->shape) ||
	    (draws(r) && documents_mask_init(&c->mask, &r->recipe, r->vocab))) {
		reader_cursor_free(c);
		return NULL;
	}
	return c;
}

void reader_cursor_free(struct reader_cursor *c)
{
	if (!c)
		return;
	shard_close(c->shard);
	documents_release(&c->documents);
	frame_block_release(&c->frame);
	instance_block_release(&c->instances);
	instance_release(&c->instance);
	mask_release(&c->mask);
	free(c);
}

/* The shard that holds instance INDEX: the last that begins at it or before. */
static size_t find_shard(const struct reader *r, uint64_t index)
{
	size_t low = 0, high = r->n;

	while (high - low > 1) {
		const size_t middle = low + (high - low) / 2;

		if (r->shards[middle].first <= index)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static int load_documents(struct reader_cursor *c)
{
	const uint64_t blocks = shard_document_blocks(c->shard);

	for (uint64_t k = 0; k < blocks; k++)
		if (shard_read_documents(c->shard, k, &c->frame) ||
		    (c->frame.records && documents_add(&c->documents, shard_header(c->shard), &c->frame, NULL, NULL)))
			return -1;
	return 0;
}

/* Makes shard K the open one. It must be what was found when the reader was opened. */
static int open_shard(struct reader_cursor *c, size_t k)
{
	const struct reader_shard *s = &c->r->shards[k];

	if (c->shard && c->at == k)
		return 0;
	shard_close(c->shard);
	c->shard = NULL;
	c->loaded = false;
	documents_release(&c->documents);
	if (shard_open(&c->shard, s->path) || check_recipe(c->r, &shard_header(c->shard)->recipe, s->path))
		goto fail;
	if (shard_instances(c->shard) != s->instances) {
		err_corrupt("'%s' has %" PRIu64 " instances, not %" PRIu64 " as it had or its manifest says", s->path,
			    shard_instances(c->shard), s->instances);
		goto fail;
	}
	if (draws(c->r) && load_documents(c)) {
		err_prefix("'%s'", s->path);
		goto fail;
	}
	c->at = k;
	return 0;
fail:
	shard_close(c->shard);
	c->shard = NULL;
	return -1;
}

const struct instance *reader_get(struct reader_cursor *c, uint64_t epoch, uint64_t index)
{
	const struct reader *r = c->r;
	const size_t k = find_shard(r, index);
	uint32_t per_block;

	if (index >= r->size) {
		err_fail("there are %" PRIu64 " instances: no instance %" PRIu64, r->size, index);
		return NULL;
	}
	if (open_shard(c, k))
		return NULL;
	index -= r->shards[k].first;
	per_block = shard_header(c->shard)->block_records;
	if (!c->loaded || c->block != index / per_block) {
		c->loaded = false;
		if (shard_read(c->shard, index / per_block, &c->frame, &c->instances))
			return NULL;
		c->block = index / per_block;
		c->loaded = true;
	}
	instance_block_get(&c->instances, (uint32_t)(index % per_block), &c->instance);
	if (draws(r))
		documents_draw(&c->documents, &c->mask, &r->recipe, RNG_DYNAMIC_MASK, epoch, &c->instance);
	return &c->instance;
}
