/* Importing. import_rows.c reads the files, import_lay.c makes instances of what they hold. */
#include "shards/import.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/out.h"
#include "base/pool.h"
#include "shards/canon.h"
#include "shards/folder.h"
#include "shards/import_impl.h"
#include "shards/input.h"
#include "shards/manifest.h"

#include <inttypes.h>
#include <unistd.h>
#include <xxhash.h>

#define LOOKED_AT 256		/* rows that are looked at first */

/* As many rows as a block of a shard has. */
struct block {
	uint32_t first_token;		/* tokens of the file before it */
	uint64_t hash;			/* of its ids */
};

/* A file, and what was found in it. */
struct file {
	const char *path;
	uint64_t bytes;
	struct key sample, key;
	uint32_t max_seq_length, max_predictions;
	bool pairs;			/* an instance has tokens of type 1 */
	struct block *blocks;
	size_t n_blocks, cap_blocks;
	struct shard_totals totals;	/* of documents: its one */
};

struct worker {
	struct row_parser parser;
	struct laying laying;
	struct instance_columns columns;
};

struct work {
	struct import *i;
	unsigned threads;
	struct tokenizer *tokenizer;
	const struct vocab *vocab;
	struct shard_recipe recipe;
	struct shard_header header;	/* borrows the recipe */
	struct file *files;
	struct worker *workers;		/* [threads] */
	int lock;			/* the folder, once it is ours; else -1 */
	XXH3_state_t *hash;
};

/* --- batches of rows, on threads ------------------------------------------------------------- */

struct batch {
	struct rows_batch rows;
	uint64_t number;		/* in its file */
	bool pairs;
	struct shard_totals totals;
	uint64_t hash;
	struct buf ids;			/* of all instances, without masks */
	struct buf raw, packed;
};

/* One reading of a file. */
struct reading {
	struct work *w;
	struct file *file;
	struct rows *rows;
	uint32_t most;			/* rows of a batch */
	uint64_t next;			/* batch */
	struct frame_writer *frame;	/* when it is written */
};

static int read_batch(void *ctx, void *item)
{
	struct reading *r = ctx;
	struct batch *b = item;
	const int rc = rows_read(r->rows, &b->rows, r->most);

	b->number = r->next++;
	return rc;
}

/* Reads R's file, WORK and WRITE as in base/pool.h, of struct batch. */
static int for_batches(struct reading *r, int (*work)(void *ctx, void *item, unsigned worker),
		       int (*write)(void *ctx, void *item))
{
	const unsigned depth = 2 * r->w->threads;
	struct batch *batches = calloc(depth, sizeof(*batches));
	struct pool pool = { .threads = r->w->threads, .depth = depth, .items = batches, .item_size = sizeof(*batches),
			     .read = read_batch, .work = work, .write = write, .ctx = r };
	int rc = batches ? rows_open(&r->rows, r->file->path) : err_memory();

	if (!rc)
		rc = pool_run(&pool);
	for (unsigned k = 0; batches && k < depth; k++) {
		rows_batch_release(&batches[k].rows);
		buf_release(&batches[k].ids);
		buf_release(&batches[k].raw);
		buf_release(&batches[k].packed);
	}
	free(batches);
	rows_close(r->rows);
	return rc;
}

static int at_row(const struct file *f, uint64_t row)
{
	return err_prefix("'%s': instance %" PRIu64, f->path, row);
}

static int changed(const struct file *f)
{
	return err_fail("'%s' changed while it was read", f->path);
}

/* The rows of B as instances, the first of which begins at token FIRST; to COLUMNS unless that is NULL. */
static int lay_batch(const struct reading *r, struct batch *b, struct worker *w, uint32_t first,
		     struct instance_columns *columns)
{
	const struct instance *i = &w->laying.instance;
	struct buf ids = b->ids;
	struct row row;

	b->totals = (struct shard_totals){ 0 };
	buf_clear(&w->laying.ids);
	w->laying.offset = first;
	for (uint32_t k = 0; k < b->rows.n; k++) {
		if (rows_parse(r->rows, &b->rows, k, &w->parser, &row))
			return -1;
		if (import_lay(&w->laying, &row))
			return at_row(r->file, b->rows.first + k);
		if (columns)
			instance_columns_add(columns, i);
		b->totals.sentences += i->n_segments;
		b->totals.tokens += i->n - 1 - i->n_segments;
		b->totals.instances++;
		b->totals.random_next += i->flags & INSTANCE_RANDOM_NEXT;
		b->totals.instance_tokens += i->n;
		b->totals.predictions += i->predictions;
	}
	b->hash = XXH3_64bits(w->laying.ids.data, w->laying.ids.len);
	b->ids = w->laying.ids;
	w->laying.ids = ids;
	return 0;
}

/* --- what must be known before an instance can be taken apart --------------------------------- */

static bool has_types(const struct row *r)
{
	uint32_t types = 0;

	for (uint32_t k = 0; k < r->max_seq_length; k++)
		types |= r->types[k];
	return types;
}

/* Lengths, and whether there are pairs among the first rows: most often they all are. */
static int look_at(struct file *f)
{
	struct rows_batch b = ROWS_BATCH_INIT;
	struct row_parser p = ROW_PARSER_INIT;
	struct rows *rows = NULL;
	struct row r;
	int rc = -1;

	if (inputs_sample(f->path, &f->bytes, &f->sample) || rows_open(&rows, f->path))
		return -1;
	rc = rows_read(rows, &b, LOOKED_AT);
	if (!rc)
		err_fail("'%s' holds no instances", f->path);
	rc = rc > 0 ? 0 : -1;
	for (uint32_t k = 0; k < b.n && !f->pairs && !rc; k++) {
		rc = rows_parse(rows, &b, k, &p, &r);
		if (rc)
			break;
		f->max_seq_length = r.max_seq_length;
		f->max_predictions = r.max_predictions;
		f->pairs = has_types(&r);
	}
	row_parser_release(&p);
	rows_batch_release(&b);
	rows_close(rows);
	return rc;
}

static int look_at_batch(void *ctx, void *item, unsigned worker)
{
	const struct reading *r = ctx;
	struct batch *b = item;
	struct row row;

	b->pairs = false;
	for (uint32_t k = 0; k < b->rows.n; k++) {
		if (rows_parse(r->rows, &b->rows, k, &r->w->workers[worker].parser, &row))
			return -1;
		b->pairs = b->pairs || has_types(&row);
	}
	return 0;
}

static int take_look(void *ctx, void *item)
{
	const struct reading *r = ctx;

	r->file->pairs = r->file->pairs || ((const struct batch *)item)->pairs;
	return 0;
}

/* Whether any instance of any file has two segments. */
static int look_for_pairs(struct work *w, bool *pairs)
{
	*pairs = false;
	for (size_t k = 0; k < w->i->n; k++)
		*pairs = *pairs || w->files[k].pairs;
	for (size_t k = 0; k < w->i->n && !*pairs; k++) {
		struct reading r = { .w = w, .file = &w->files[k], .most = LOOKED_AT };

		if (for_batches(&r, look_at_batch, take_look))
			return -1;
		*pairs = r.file->pairs;
	}
	return 0;
}

/* --- checking ------------------------------------------------------------------------------------ */

static int check_batch(void *ctx, void *item, unsigned worker)
{
	const struct reading *r = ctx;

	return lay_batch(r, item, &r->w->workers[worker], 0, NULL);
}

static int take_check(void *ctx, void *item)
{
	const struct reading *r = ctx;
	const struct batch *b = item;
	struct file *f = r->file;

	if (array_grow(&f->blocks, &f->cap_blocks, f->n_blocks + 1, sizeof(*f->blocks)))
		return -1;
	f->blocks[f->n_blocks++] = (struct block){ (uint32_t)f->totals.tokens, b->hash };
	shard_totals_add(&f->totals, &b->totals);
	if (f->totals.tokens > UINT32_MAX)
		return err_fail("'%s' has more than %u tokens: import it in pieces", f->path, UINT32_MAX);
	XXH3_128bits_update(r->w->hash, b->ids.data, b->ids.len);
	if (r->w->i->progress)
		progress_update(r->w->i->progress, f->totals.instances, 0);
	return 0;
}

/* Everything that is to be written is looked at before. */
static int check_file(struct work *w, struct file *f)
{
	struct reading r = { .w = w, .file = f, .most = shard_block_records(w->recipe.max_seq_length) };
	XXH128_hash_t hash;

	XXH3_128bits_reset(w->hash);
	if (for_batches(&r, check_batch, take_check))
		return -1;
	f->totals.documents = 1;
	hash = XXH3_128bits_digest(w->hash);
	f->key = (struct key){ hash.high64, hash.low64 };
	return 0;
}

/* --- the recipe -------------------------------------------------------------------------------------- */

static int make_recipe(struct work *w)
{
	static const enum shard_pairs asked[] = { SHARD_NSP, SHARD_NSP, SHARD_SOP, SHARD_NONE };
	const struct tokenizer_opts *t = &w->i->tokenizer;
	struct shard_recipe *r = &w->recipe;
	bool pairs = true;

	for (size_t k = 0; k < w->i->n; k++) {
		const struct file *f = &w->files[k];

		if (f->max_seq_length != w->files->max_seq_length || f->max_predictions != w->files->max_predictions)
			return err_fail("'%s' has instances of length %" PRIu32 " with %" PRIu32 " predictions, '%s' of %" PRIu32
					" with %" PRIu32, f->path, f->max_seq_length, f->max_predictions, w->files->path,
					w->files->max_seq_length, w->files->max_predictions);
	}
	if (w->i->pairs == IMPORT_AUTO && look_for_pairs(w, &pairs))
		return -1;
	*r = (struct shard_recipe){
		.rules = SHARD_IMPORTED,
		.tokenizer = tokenizer_describe(w->tokenizer),
		.vocab_size = vocab_size(w->vocab),
		.special = vocab_special(w->vocab),
		.max_seq_length = w->files->max_seq_length,
		.max_predictions_per_seq = w->files->max_predictions < w->files->max_seq_length
						   ? w->files->max_predictions : w->files->max_seq_length,
		.dupe_factor = 1,
		.masking = SHARD_STATIC,
		.pairs = w->i->pairs == IMPORT_AUTO && !pairs ? SHARD_NONE : asked[w->i->pairs],
	};
	r->cross_documents = r->pairs == SHARD_NONE;
	return !r->tokenizer || shard_check_special(&r->special, t->vocab ? t->vocab : t->model) ? -1 : 0;
}

static void make_header(struct work *w)
{
	w->header = (struct shard_header){
		.recipe = w->recipe,
		.shards = (uint32_t)w->i->n,
		.block_records = shard_block_records(w->recipe.max_seq_length),
		.corpus_documents = w->i->n,
	};
	for (size_t k = 0; k < w->i->n; k++)
		w->header.corpus = key_add(w->header.corpus, w->files[k].key);
}

/* --- writing ---------------------------------------------------------------------------------------------- */

static int make_block(void *ctx, void *item, unsigned worker)
{
	const struct reading *r = ctx;
	const struct file *f = r->file;
	struct worker *w = &r->w->workers[worker];
	struct batch *b = item;

	if (b->number >= f->n_blocks)
		return changed(f);
	if (lay_batch(r, b, w, f->blocks[b->number].first_token, &w->columns))
		return -1;
	if (b->hash != f->blocks[b->number].hash)
		return changed(f);
	return instance_columns_flush(&w->columns, (int)r->w->i->compress, &b->raw, &b->packed);
}

static int put_block(void *ctx, void *item)
{
	const struct reading *r = ctx;
	struct import *i = r->w->i;
	struct batch *b = item;

	i->instances += b->rows.n;
	if (i->progress)
		progress_update(i->progress, i->instances, 0);
	return frame_add(r->frame, SHARD_INSTANCES, b->rows.n, b->raw.data, b->raw.len, &b->packed);
}

static const char *title_of(const struct file *f)
{
	const char *slash = strrchr(f->path, '/');

	return slash ? slash + 1 : f->path;
}

/* The table: the file. */
static int put_document(const struct work *w, const struct file *f, struct frame_writer *frame)
{
	const char *name = title_of(f);
	const struct shard_document d = { .key = f->key, .sentences = f->totals.sentences, .tokens = f->totals.tokens,
					  .title = name, .title_len = strlen(name) };
	struct buf raw = BUF_INIT, packed = BUF_INIT;
	const int rc = shard_document_encode(&raw, &d) ||
		       frame_pack(raw.data, raw.len, (int)w->i->compress, &packed) ||
		       frame_add(frame, SHARD_DOCUMENTS, 1, raw.data, raw.len, &packed) ? -1 : 0;

	buf_release(&raw);
	buf_release(&packed);
	return rc;
}

/* Frees FRAME, also on failure. */
static int write_rows(struct work *w, struct file *f, struct frame_writer *frame)
{
	struct reading r = { .w = w, .file = f, .most = w->header.block_records, .frame = frame };

	if (put_document(w, f, frame) || for_batches(&r, make_block, put_block))
		return -1;
	return r.next == f->n_blocks + 1 ? 0 : changed(f);	/* the last one found nothing */
}

static int make_shard(struct work *w, struct file *f, const char *path, const char *header)
{
	struct frame_writer *frame = NULL;
	struct out *out = NULL;
	int rc = -1;

	if (out_open_tidied(&out, path) || frame_create(&frame, out, SHARD_KIND, header, strlen(header)))
		goto done;
	if (write_rows(w, f, frame)) {
		frame_abandon(frame);
		goto done;
	}
	if (shard_finish(frame, &f->totals) || out_commit(out))
		goto done;
	out = NULL;
	rc = 0;
done:
	out_discard(out);
	return rc;
}

static int write_shard(struct work *w, uint32_t k, struct manifest_shard *e)
{
	struct file *f = &w->files[k];
	char name[256], *path, *text;
	struct shard *made = NULL;
	int rc = -1;

	w->header.shard = k;
	shard_file_name(name, sizeof(name), w->i->name, k, w->header.shards);
	path = fs_join(w->i->folder, name);
	text = shard_header_print(&w->header);
	if (path && text)
		rc = import_kept(path, text, w->threads);
	if (rc > 0) {
		w->i->kept++;
		w->i->instances += f->totals.instances;
	} else if (!rc) {
		rc = make_shard(w, f, path, text);
	}
	if (rc < 0 || shard_open(&made, path)) {
		rc = -1;
		goto done;
	}
	*e = (struct manifest_shard){ .bytes = shard_trailer(made)->file_bytes, .instances = shard_instances(made),
				      .documents = 1,
				      .digest = { shard_trailer(made)->digest_hi, shard_trailer(made)->digest_lo } };
	rc = 0;
done:
	shard_close(made);
	free(text);
	free(path);
	return rc;
}

/* --- the folder ------------------------------------------------------------------------------------------------ */

static struct manifest *new_manifest(const struct work *w)
{
	const struct import *i = w->i;
	struct manifest *m = calloc(1, sizeof(*m));
	json_t *recipe = shard_recipe_json(&w->recipe);

	if (!m || !recipe)
		goto fail;
	m->made_by = strdup(i->made_by);
	m->options = json_pack("{s:i, s:s, s:I, s:n}", "compress", (int)i->compress, "name", i->name, "shards",
			       (json_int_t)i->n, "shard_size");
	m->inputs = calloc(i->n, sizeof(*m->inputs));
	m->shards = calloc(i->n, sizeof(*m->shards));
	if (!m->made_by || !m->options || !m->inputs || !m->shards || shard_recipe_parse(&m->recipe, recipe))
		goto fail;
	m->n_inputs = m->n_shards = i->n;
	m->corpus = w->header.corpus;
	m->corpus_documents = i->n;
	for (size_t k = 0; k < i->n; k++) {
		const struct file *f = &w->files[k];

		m->inputs[k] = (struct manifest_input){ strdup(f->path), f->bytes, f->sample, 1, f->key };
		if (!m->inputs[k].name)
			goto fail;
		shard_totals_add(&m->totals, &f->totals);
	}
	json_decref(recipe);
	return m;
fail:
	json_decref(recipe);
	manifest_free(m);
	err_memory();
	return NULL;
}

static int write_all(struct work *w)
{
	const struct instance_shape shape = shard_header_shape(&w->header, 1);
	struct manifest *m = new_manifest(w);
	int rc = m ? 0 : -1;

	for (unsigned k = 0; k < w->threads && !rc; k++)
		rc = instance_columns_init(&w->workers[k].columns, &shape);
	for (uint32_t k = 0; k < w->header.shards && !rc; k++)
		rc = write_shard(w, k, &m->shards[k]);
	if (!rc)
		rc = folder_copy_vocab(w->i->folder, &w->i->tokenizer) || manifest_save(m, w->i->folder) || import_finished(w->i->folder) ? -1 : 0;
	manifest_free(m);
	return rc;
}

static json_t *inputs_json(const struct work *w)
{
	json_t *list = json_array();

	for (size_t k = 0; list && k < w->i->n; k++) {
		const struct file *f = &w->files[k];
		json_t *one = json_object();

		if (json_array_append_new(list, one) || canon_set(one, "key", canon_of_key(f->key)) ||
		    canon_set(one, "bytes", canon_of_uint(f->bytes)) ||
		    canon_set(one, "name", json_string(title_of(f)))) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

/* What must be equal for a run to go on with the shards of another one. */
static json_t *make_identity(const struct work *w)
{
	json_t *o = json_object();

	if (o && !canon_set(o, "inputs", inputs_json(w)) && !canon_set(o, "recipe", shard_recipe_json(&w->recipe)) &&
	    !canon_set(o, "compress", canon_of_uint(w->i->compress)) && !canon_set(o, "name", json_string(w->i->name)))
		return o;
	json_decref(o);
	err_fail("cannot note what '%s' is made of: a file's name is not UTF-8, or memory is out", w->i->folder);
	return NULL;
}

static int claim(struct work *w)
{
	json_t *identity = make_identity(w);
	const int rc = identity ? import_claim(w->i->folder, identity, &w->lock) : -1;

	json_decref(identity);
	return rc;
}

static int prepare(struct work *w)
{
	struct import *i = w->i;

	if (tokenizer_open(&w->tokenizer, &i->tokenizer))
		return -1;
	w->vocab = tokenizer_vocab(w->tokenizer);
	w->files = calloc(i->n, sizeof(*w->files));
	w->workers = calloc(w->threads, sizeof(*w->workers));
	w->hash = XXH3_createState();
	if (!w->files || !w->workers || !w->hash)
		return err_memory();
	for (size_t k = 0; k < i->n; k++) {
		w->files[k].path = i->files[k];
		if (look_at(&w->files[k]))
			return -1;
	}
	if (make_recipe(w))
		return -1;
	for (unsigned k = 0; k < w->threads; k++)
		if (import_laying_init(&w->workers[k].laying, &w->recipe, w->files->max_predictions))
			return -1;
	for (size_t k = 0; k < i->n; k++)
		if (check_file(w, &w->files[k]))
			return -1;
	make_header(w);
	return 0;
}

static void release(struct work *w)
{
	for (unsigned k = 0; w->workers && k < w->threads; k++) {
		row_parser_release(&w->workers[k].parser);
		import_laying_release(&w->workers[k].laying);
		instance_columns_release(&w->workers[k].columns);
	}
	for (size_t k = 0; w->files && k < w->i->n; k++)
		free(w->files[k].blocks);
	free(w->workers);
	free(w->files);
	shard_recipe_release(&w->recipe);
	tokenizer_close(w->tokenizer);
	XXH3_freeState(w->hash);
	if (w->lock >= 0)
		close(w->lock);
}

int import_run(struct import *i)
{
	struct work w = { .i = i, .threads = i->threads ? i->threads : 1, .lock = -1 };
	int rc;

	if (i->progress)
		progress_start(i->progress, "instances", 0);
	rc = prepare(&w) || claim(&w) || write_all(&w) ? -1 : 0;
	if (i->progress)
		progress_end(i->progress);
	release(&w);
	return rc;
}
