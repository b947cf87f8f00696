/* Instances by number. */
#include "shards/reader.h"
#include "base/err.h"
#include "base/file_view.h"
#include "base/fs.h"
#include "shards/documents.h"
#include "shards/folder.h"
#include "shards/manifest.h"

#include <inttypes.h>

struct reader_shard {
	char *path;
	uint32_t at, of;		/* its number in a folder of so many; 0, 0: it is by itself */
	uint64_t first;			/* number of its first instance */
	struct shelf_place place;
};

struct reader {
	struct reader_opts opts;
	struct reader_shard *shards;
	size_t n, cap;
	uint64_t size, documents;
	struct shelf *shelf;
	bool own_shelf;
	json_t *tokenizer;		/* whose ids instances have */
	json_t *recipe_json;		/* NULL until the first shard is known */
	char *recipe_of;		/* whose it is: a shard's, or a folder's, by its manifest */
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
		err_fail("'%s' was made by another recipe than %s'%s'", name,
			 folder_is(r->recipe_of) ? "the manifest says of " : "", r->recipe_of);
	json_decref(json);
	return equal ? 0 : -1;
}

static int add_recipe(struct reader *r, const struct shard_recipe *recipe, const char *name)
{
	if (r->recipe_json)
		return check_recipe(r, recipe, name);
	r->recipe_json = shard_recipe_json(recipe);
	r->recipe_of = strdup(name);
	if (!r->recipe_of)
		return err_memory();
	if (!r->recipe_json || shard_recipe_parse(&r->recipe, r->recipe_json))
		return -1;
	r->tokenizer = shard_recipe_tokenizer(&r->recipe);
	if (!r->tokenizer)
		return -1;
	if (r->opts.masks && shard_recipe_choose(&r->recipe, r->opts.masks))
		return err_prefix("'%s'", name);
	return check_limits(&r->opts, &r->recipe, name);
}

/* Adds a shard, number AT of OF in its folder; PATH is taken, also on failure. */
static int add_shard(struct reader *r, char *path, uint64_t instances, uint64_t documents, size_t at, size_t of)
{
	if (!path)
		return err_memory();
	if (array_grow(&r->shards, &r->cap, r->n + 1, sizeof(*r->shards))) {
		free(path);
		return -1;
	}
	r->shards[r->n++] = (struct reader_shard){ .path = path, .at = (uint32_t)at, .of = (uint32_t)of, .first = r->size };
	r->size += instances;
	r->documents += documents;
	return 0;
}

/* One shard file, number K of SET. */
static int add_file(struct reader *r, const char *path, struct folder_set *set, size_t k)
{
	struct shard *s;
	int rc = -1;

	if (shard_open(&s, path))
		return -1;
	if (!folder_set_check(set, path, k, shard_header(s)) && !add_recipe(r, &shard_header(s)->recipe, path))
		rc = add_shard(r, strdup(path), shard_instances(s), shard_totals(s)->documents, k, set->n);
	shard_close(s);
	return rc;
}

static int add_manifest(struct reader *r, const struct manifest *m, const char *folder)
{
	char room[MANIFEST_ROOM];

	if (add_recipe(r, &m->recipe, folder))
		return -1;
	for (size_t k = 0; k < m->n_shards; k++)
		if (add_shard(r, fs_join(folder, manifest_shard_name(m, k, room)), m->shards[k].instances, m->shards[k].documents, k,
			      m->n_shards))
			return -1;
	return 0;
}

static int add_folder(struct reader *r, const char *folder)
{
	struct folder_set set = { .n = 0 };
	char **paths = NULL;
	size_t n = 0;
	struct manifest *m;
	int rc;

	if (manifest_load(&m, folder))
		return -1;
	if (m) {
		rc = folder_check(folder, m) || add_manifest(r, m, folder) ? -1 : 0;
		manifest_free(m);
		return rc;
	}
	rc = folder_shards(folder, &paths, &n);
	set.n = n;
	for (size_t k = 0; !rc && k < n; k++)
		rc = add_file(r, paths[k], &set, k);
	folder_set_release(&set);
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

static int open_shelf(struct reader *r)
{
	r->shelf = r->opts.shelf;
	if (r->shelf)
		return 0;
	r->own_shelf = true;
	r->shelf = shelf_new(READER_FILES, READER_MEMORY);
	return r->shelf ? 0 : -1;
}

int reader_open(struct reader **r, const char *const *paths, size_t n, const struct reader_opts *opts)
{
	struct reader *new = calloc(1, sizeof(*new));

	*r = NULL;
	if (!new)
		return err_memory();
	new->opts = *opts;
	for (size_t k = 0; k < n; k++)
		if (folder_is(paths[k]) ? add_folder(new, paths[k]) : add_file(new, paths[k], &(struct folder_set){ .n = 0 }, 0))
			goto fail;
	if (!new->n) {
		err_fail("no shards");
		goto fail;
	}
	if (open_vocab(new) || open_shelf(new))
		goto fail;
	new->opts.masks = NULL;
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

const json_t *reader_tokenizer(const struct reader *r)
{
	return r->tokenizer;
}

const json_t *reader_recipe_json(const struct reader *r)
{
	return r->recipe_json;
}

const struct instance_shape *reader_shape(const struct reader *r)
{
	return &r->shape;
}

size_t reader_shards(const struct reader *r)
{
	return r->n;
}

uint64_t reader_shard_first(const struct reader *r, size_t k)
{
	return k < r->n ? r->shards[k].first : r->size;
}

uint64_t reader_documents(const struct reader *r)
{
	return draws(r) ? r->documents : 0;
}

struct shelf_counts reader_counts(const struct reader *r)
{
	return shelf_counts(r->shelf);
}

void reader_close(struct reader *r)
{
	if (!r)
		return;
	for (size_t k = 0; k < r->n; k++) {
		if (r->shelf)
			shelf_remove(r->shelf, &r->shards[k].place);
		free(r->shards[k].path);
	}
	free(r->shards);
	if (r->own_shelf)
		shelf_free(r->shelf);
	json_decref(r->recipe_json);
	json_decref(r->tokenizer);
	free(r->recipe_of);
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
	const struct shelf_shard *open;	/* shard number AT, taken; NULL: none */
	size_t at;
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

static void leave_shard(struct reader_cursor *c)
{
	if (c->open)
		shelf_give(c->r->shelf, &c->r->shards[c->at].place);
	c->open = NULL;
	c->loaded = false;
}

void reader_cursor_free(struct reader_cursor *c)
{
	if (!c)
		return;
	leave_shard(c);
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

static int load_documents(const struct shard *s, struct documents *documents)
{
	const uint64_t blocks = shard_document_blocks(s);
	struct frame_block block = FRAME_BLOCK_INIT;
	struct frame_span span = FRAME_SPAN_INIT;
	int rc = 0;

	for (uint64_t k = 0; k < blocks && !rc; k++)
		if (shard_read_documents_span(s, k, &span, &block) ||
		    (block.records && documents_add(documents, shard_header(s), &block, NULL, NULL)))
			rc = -1;
	frame_span_release(&span);
	frame_block_release(&block);
	if (!rc && documents->n < documents->cap) {	/* it stays as long as this */
		struct documents_entry *less = realloc(documents->items, (documents->n ? documents->n : 1) * sizeof(*less));

		if (less) {
			documents->items = less;
			documents->cap = documents->n;
		}
	}
	return rc;
}

/* Opens the shard that C is at. It must be what was found when the reader was opened. */
static int fill_place(void *ctx, struct shelf_shard *open)
{
	const struct reader_cursor *c = ctx;
	const struct reader_shard *s = &c->r->shards[c->at];
	const uint64_t instances = reader_shard_first(c->r, c->at + 1) - s->first;
	const unsigned access = (c->r->opts.scattered ? FILE_VIEW_SCATTERED : 0) | (c->r->opts.map ? FILE_VIEW_MAPPED : 0);

	if (shard_open_access(&open->shard, s->path, access) ||
	    (s->of && folder_check_place(s->path, s->at, s->of, shard_header(open->shard))) ||
	    check_recipe(c->r, &shard_header(open->shard)->recipe, s->path))
		return -1;
	if (shard_instances(open->shard) != instances)
		return err_corrupt("'%s' has %" PRIu64 " instances, not %" PRIu64 " as it had or its manifest says", s->path,
				   shard_instances(open->shard), instances);
	return draws(c->r) && load_documents(open->shard, &open->documents) ? err_prefix("'%s'", s->path) : 0;
}

/* Makes shard K the one that C is at. */
static int enter_shard(struct reader_cursor *c, size_t k)
{
	if (c->open && c->at == k)
		return 0;
	leave_shard(c);
	c->at = k;
	c->open = shelf_take(c->r->shelf, &c->r->shards[k].place, fill_place, c);
	return c->open ? 0 : -1;
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
	if (enter_shard(c, k))
		return NULL;
	index -= r->shards[k].first;
	per_block = shard_header(c->open->shard)->block_records;
	if (!c->loaded || c->block != index / per_block) {
		c->loaded = false;
		if (shard_read(c->open->shard, index / per_block, &c->frame, &c->instances))
			return NULL;
		c->block = index / per_block;
		c->loaded = true;
	}
	instance_block_get(&c->instances, (uint32_t)(index % per_block), &c->instance);
	if (draws(r))
		documents_draw(&c->open->documents, &c->mask, &r->recipe, RNG_DYNAMIC_MASK, epoch, &c->instance);
	read_as_apply(r->recipe.read_as, r->recipe.n_read_as, &c->instance);
	return &c->instance;
}
