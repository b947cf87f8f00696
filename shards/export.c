/* Exporting: what all forms have in common. */
#include "shards/export_impl.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/out.h"
#include "shards/canon.h"
#include "shards/folder.h"

#include <inttypes.h>

static const struct export_kind *const kinds[] = { &export_tfrecord, &export_hdf5, &export_megatron };
static const char *const names[] = { "tfrecord", "hdf5", "megatron" };

char *export_file_path(const struct exporting *x, uint32_t bin, const char *suffix)
{
	struct buf b = BUF_INIT;

	if (!buf_adds(&b, x->stem) && (!x->e->bin_size || !buf_addf(&b, ".%" PRIu32, x->bins[bin].length)) &&
	    !buf_adds(&b, suffix))
		return b.data;
	buf_release(&b);
	return NULL;
}

/* --- bins --------------------------------------------------------------------------------- */

uint32_t export_bin_of(const struct exporting *x, uint32_t n)
{
	return x->e->bin_size ? (n - 1) / x->e->bin_size : 0;
}

static int make_bins(struct exporting *x, uint32_t max_seq_length)
{
	const uint32_t size = x->e->bin_size ? x->e->bin_size : max_seq_length;

	x->n_bins = (max_seq_length - 1) / size + 1;
	if (x->n_bins > EXPORT_MAX_BINS)
		return err_fail("bins of %" PRIu32 " tokens are %" PRIu32 " up to the %" PRIu32 " of '%s', and %d are the most", size,
				x->n_bins, max_seq_length, x->from, EXPORT_MAX_BINS);
	x->bins = calloc(x->n_bins, sizeof(*x->bins));
	if (!x->bins)
		return err_memory();
	for (uint32_t k = 0; k < x->n_bins; k++)
		x->bins[k].length = k + 1 < x->n_bins ? (k + 1) * size : max_seq_length;
	return 0;
}

/* What each bin will hold. */
static int count_bins(struct exporting *x, const struct shard *s)
{
	struct frame_block frame = FRAME_BLOCK_INIT;
	struct instance_block block = INSTANCE_BLOCK_INIT;
	struct instance *const i = &x->workers[0].instance;
	int rc = 0;

	if (x->n_bins == 1)
		x->bins[0].expected = shard_instances(s);
	for (uint64_t b = 0; x->n_bins > 1 && b < shard_blocks(s) && !rc; b++) {
		rc = shard_read(s, b, &frame, &block);
		for (uint32_t k = 0; !rc && k < frame.records; k++) {
			instance_block_get(&block, k, i);
			x->bins[export_bin_of(x, i->n)].expected++;
		}
	}
	instance_block_release(&block);
	frame_block_release(&frame);
	return rc;
}

static int prepare_bins(struct exporting *x, const struct scan *s)
{
	struct shard *shard;
	int rc;

	if (make_bins(x, s->header.recipe.max_seq_length))
		return -1;
	if (!x->kind->counts)
		return 0;
	if (shard_open(&shard, s->path))
		return -1;
	rc = count_bins(x, shard);
	shard_close(shard);
	return rc;
}

/* --- one file ------------------------------------------------------------------------------- */

static bool draws(const struct exporting *x, const struct shard_recipe *r)
{
	return r->masking == SHARD_DYNAMIC && x->kind != &export_megatron;
}

const struct instance *export_instance(struct exporting *x, const struct scan *s, const struct scan_block *b, uint32_t k,
				       unsigned worker)
{
	struct export_worker *w = &x->workers[worker];

	instance_block_get(&b->instances, k, &w->instance);
	if (draws(x, &s->header.recipe))
		documents_draw(&s->documents, &w->mask, &s->header.recipe, RNG_DYNAMIC_MASK, x->e->epoch, &w->instance);
	read_as_apply(s->header.recipe.read_as, s->header.recipe.n_read_as, &w->instance);
	return &w->instance;
}

/* All files of a folder are of one kind: trainers look at none of it. */
static int check_recipe(struct exporting *x, json_t *recipe)
{
	struct export *e = x->e;
	struct buf what = BUF_INIT;
	int rc = recipe ? 0 : err_memory();

	if (recipe && e->recipe)
		rc = canon_difference(recipe, e->recipe, &what);
	if (rc > 0)
		rc = err_fail("'%s' is of another recipe than the files before it: %s", x->from, what.data);
	if (!rc && !e->recipe)
		e->recipe = json_incref(recipe);
	json_decref(recipe);
	buf_release(&what);
	return rc;
}

static int prepare_drawing(struct exporting *x, struct scan *s)
{
	struct shard_recipe *r = &s->header.recipe;
	struct export *e = x->e;

	if (!e->draws)
		return err_fail("'%s' has dynamic masks: say by --epoch which epoch's are wanted", s->name);
	if (!documents_can_draw(r, NULL)) {
		if (folder_vocab(&e->vocab, e->vocab_path, s->path, r->tokenizer))
			return -1;
		if (!e->vocab)
			return err_fail("the vocabulary of '%s' is needed and is not beside it: name it by --vocab", s->name);
		if (folder_words(&e->words, s->path, r, e->vocab))
			return -1;
		if (!documents_can_draw(r, e->vocab))
			return err_fail("the list of words of '%s' is needed and is not beside it (%s)", s->name, MASK_WORDS_NAME);
	}
	for (unsigned k = 0; k < e->threads; k++)
		if (documents_mask_init(&x->workers[k].mask, r, e->vocab))
			return -1;
	return 0;
}

static int begin(void *ctx, struct scan *s)
{
	struct exporting *x = ctx;
	const struct instance_shape shape = shard_header_shape(&s->header, 0);

	x->from = s->name;
	if (s->kind == SCAN_TOKENS) {
		if (!x->kind->takes_tokens)
			return err_fail("'%s' holds token documents: there are no instances to export", s->name);
		return check_recipe(x, json_incref(s->tokens.tokenizer)) || make_bins(x, 1) ? -1 : x->kind->open(x, s);
	}
	if (x->e->draws && s->header.recipe.masking == SHARD_STATIC)
		return err_fail("'%s' has static masks, which are the same in every epoch: leave out --epoch", s->name);
	if (folder_set_check(x->set, s->name, x->at, &s->header) || check_recipe(x, shard_recipe_json(&s->header.recipe)))
		return -1;
	for (unsigned k = 0; k < x->e->threads; k++)
		if (instance_init(&x->workers[k].instance, &shape))
			return -1;
	return prepare_bins(x, s) || (draws(x, &s->header.recipe) && prepare_drawing(x, s)) ? -1 : x->kind->open(x, s);
}

static int work(void *ctx, const struct scan *s, struct scan_block *b, unsigned worker)
{
	struct exporting *x = ctx;

	return x->kind->work(x, s, b, worker);
}

static int write_block(void *ctx, const struct scan *s, struct scan_block *b)
{
	struct exporting *x = ctx;

	return x->kind->write(x, s, b);
}

/* "FOLDER/NAME" of "X/NAME.shard". */
static char *stem_of(const char *folder, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
	char *bare = strndup(name, dot && dot != name ? (size_t)(dot - name) : strlen(name));
	char *stem = bare ? fs_join(folder, bare) : NULL;

	if (!bare)
		err_memory();
	free(bare);
	return stem;
}

static int note_file(const struct exporting *x, uint32_t bin)
{
	char *path = export_file_path(x, bin, x->kind->suffix);
	const char *slash = path ? strrchr(path, '/') : NULL;
	json_t *o = json_object();
	int rc = path && o && !canon_set(o, "name", json_string(slash ? slash + 1 : path)) &&
		 !canon_set(o, "records", canon_of_uint(x->bins[bin].records)) &&
		 (!x->e->bin_size || !canon_set(o, "length", canon_of_uint(x->bins[bin].length))) &&
		 !json_array_append(x->e->list, o) ? 0 : err_memory();

	free(path);
	json_decref(o);
	return rc;
}

static int note_files(const struct exporting *x)
{
	for (uint32_t k = 0; k < x->n_bins; k++) {
		if (!x->bins[k].listed)
			continue;
		if (note_file(x, k))
			return -1;
		x->e->files++;
		x->e->records += x->bins[k].records;
	}
	return 0;
}

/* Two shards of one name would be written to one file. */
static int check_new(struct exporting *x)
{
	const char *slash = strrchr(x->stem, '/'), *stem = slash ? slash + 1 : x->stem;
	uint64_t *seen = map_put(&x->e->names, stem, strlen(stem));

	if (!seen)
		return -1;
	return (*seen)++ ? err_fail("two of the files are named '%s': export them into two folders", stem) : 0;
}

static void release(struct exporting *x)
{
	x->kind->release(x);
	for (unsigned k = 0; x->workers && k < x->e->threads; k++) {
		instance_release(&x->workers[k].instance);
		mask_release(&x->workers[k].mask);
		tokdoc_release(&x->workers[k].document);
	}
	free(x->workers);
	free(x->bins);
	free(x->stem);
}

/* File PATH, number AT of SET. */
static int export_file(struct export *e, const char *path, struct folder_set *set, size_t at)
{
	struct exporting x = { .e = e, .kind = kinds[e->to], .stem = stem_of(e->folder, path), .from = path, .set = set, .at = at };
	struct scan s = { .path = path, .threads = e->threads, .progress = e->progress, .begin = begin, .work = work,
			  .write = write_block, .ctx = &x };
	char kind[5];
	int rc = -1;

	x.workers = calloc(e->threads, sizeof(*x.workers));
	if (!x.workers)
		err_memory();
	else if (x.stem && !check_new(&x) && !frame_kind(path, kind) && !scan_run(&s))
		rc = x.kind->finish(&x) || note_files(&x) ? -1 : 0;
	release(&x);
	scan_release(&s);
	return rc;
}

/* --- all --------------------------------------------------------------------------------------- */

int export_path(struct export *e, const char *path)
{
	struct folder_set set = { .n = 0 };
	char **paths;
	size_t n;
	int rc = 0;

	if (folder_shards(path, &paths, &n))
		return -1;
	if (fs_make_folder(e->folder) || (!e->list && out_remove_stale(e->folder))) {
		fs_free_names(paths, n);
		return -1;
	}
	set.n = folder_is(path) ? n : 0;
	if (!e->list && !(e->list = json_array())) {
		fs_free_names(paths, n);
		return err_memory();
	}
	for (size_t k = 0; k < n && !rc; k++)
		rc = export_file(e, paths[k], &set, k);
	folder_set_release(&set);
	fs_free_names(paths, n);
	return rc;
}

int export_finish(struct export *e, const char *made_by)
{
	const bool tokens = !json_object_get(e->recipe, "rules");
	char *path = fs_join(e->folder, EXPORT_MANIFEST), *text = NULL;
	json_t *o = json_object();
	int rc = -1;

	if (path && o && !canon_set(o, "format", json_string("berttools export")) &&
	    !canon_set(o, "version", json_integer(1)) && !canon_set(o, "made_by", json_string(made_by)) &&
	    !canon_set(o, "to", json_string(names[e->to])) &&
	    !canon_set(o, "epoch", e->draws ? canon_of_uint(e->epoch) : json_null()) &&
	    !canon_set(o, tokens ? "tokenizer" : "recipe", json_incref(e->recipe)) &&
	    !canon_set(o, "files", json_incref(e->list)))
		text = canon_print(o);
	else if (path)
		err_memory();
	if (text)
		rc = fs_write_all(path, text, strlen(text));
	free(text);
	json_decref(o);
	free(path);
	return rc;
}

void export_release(struct export *e)
{
	if (!e)
		return;
	vocab_free(e->vocab);
	mask_words_free(e->words);
	json_decref(e->recipe);
	json_decref(e->list);
	map_release(&e->names);
	e->vocab = NULL;
	e->words = NULL;
	e->recipe = e->list = NULL;
}
