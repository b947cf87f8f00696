/* Importing. import_rows.c reads the files. */
#include "shards/import.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/out.h"
#include "shards/canon.h"
#include "shards/folder.h"
#include "shards/import_rows.h"
#include "shards/input.h"
#include "shards/manifest.h"

#include <inttypes.h>
#include <xxhash.h>

#define VOCAB_BYTES_MAX ((size_t)1 << 30)

/* A file, and what the first reading found in it. */
struct file {
	const char *path;
	uint64_t bytes, rows;
	struct key sample, key;
	uint32_t max_seq_length, max_predictions;
	bool pairs;			/* an instance has tokens of type 1 */
	struct shard_totals totals;	/* of documents: its one */
};

struct work {
	struct import *i;
	struct tokenizer *tokenizer;
	const struct vocab *vocab;
	struct shard_recipe recipe;
	struct shard_header header;	/* borrows the recipe */
	struct file *files;
	struct instance instance;
	uint64_t offset;		/* tokens of the file before the instance */
	XXH3_state_t *hash;
};

/* --- one instance --------------------------------------------------------------------------- */

/* Labels to where they belong; what stood there to SHOWN, which has room. */
static int unmask(const struct work *w, const struct row *r, uint32_t n, uint32_t *ids, uint32_t *shown)
{
	uint32_t before = 0;

	for (uint32_t k = 0; k < r->predictions; k++) {
		const uint32_t at = r->positions[k];

		if (at <= before || at + 1 >= n)
			return err_corrupt("its masked positions are not ascending, or on no token");
		if (r->labels[k] >= w->recipe.vocab_size)
			return err_corrupt("label %" PRIu32 " is not below the vocabulary's size %" PRIu32, r->labels[k],
					   w->recipe.vocab_size);
		shown[k] = ids[at];
		ids[at] = r->labels[k];
		before = at;
	}
	return 0;
}

/* [CLS] segment [SEP] ... [SEP]: cut where a [SEP] stands. */
static int cut(struct work *w, uint32_t n, uint32_t *ids)
{
	struct instance *i = &w->instance;
	uint32_t first = 1;

	i->n_segments = 0;
	if (ids[0] != w->recipe.special.cls || ids[n - 1] != w->recipe.special.sep)
		return err_corrupt("it does not begin with [CLS] and end with [SEP] of this vocabulary");
	for (uint32_t at = 1; at < n; at++) {
		if (ids[at] == w->recipe.special.cls)
			return err_corrupt("it has [CLS] at position %" PRIu32, at);
		if (ids[at] != w->recipe.special.sep)
			continue;
		if (at == first || i->n_segments == (w->recipe.pairs == SHARD_NONE ? INSTANCE_SEGMENTS_MAX : 2))
			return err_corrupt("its segments do not fit: an empty one, or too many");
		if (w->offset + at - first > UINT32_MAX)
			return err_fail("the file has more than %u tokens: import it in pieces", UINT32_MAX);
		i->segments[i->n_segments++] = (struct instance_segment){ 0, (uint32_t)w->offset, at - first };
		w->offset += at - first;
		first = at + 1;
	}
	return w->recipe.pairs == SHARD_NONE || i->n_segments == 2 ? 0 : err_corrupt("it has one segment, not two");
}

static int check_types(const struct work *w, const struct row *r, uint32_t n)
{
	const uint32_t second = w->recipe.pairs == SHARD_NONE ? n : w->instance.segments[0].length + 2;

	for (uint32_t k = 0; k < n; k++)
		if (r->types[k] != (k >= second))
			return err_corrupt("type %" PRIu32 " of position %" PRIu32 " is not that of its segment", r->types[k], k);
	return 0;
}

/* The row as an instance; with its masks put back. */
static int lay(struct work *w, const struct row *r)
{
	struct instance *i = &w->instance;
	uint32_t n = 0, shown[SHARD_MAX_SEQ_LENGTH];

	while (n < r->max_seq_length && r->mask[n] == 1)
		n++;
	if (n < 3)
		return err_corrupt("it has %" PRIu32 " tokens", n);
	for (uint32_t k = 0; k < n; k++)
		if (r->ids[k] >= w->recipe.vocab_size)
			return err_corrupt("id %" PRIu32 " is not below the vocabulary's size %" PRIu32, r->ids[k],
					   w->recipe.vocab_size);
	memcpy(i->ids, r->ids, n * sizeof(*i->ids));
	i->n = n;
	if (unmask(w, r, n, i->ids, shown))
		return -1;
	if (cut(w, n, i->ids) || check_types(w, r, n))
		return -1;
	if (r->label > 1 || (r->label && w->recipe.pairs == SHARD_NONE))
		return err_corrupt("its next sentence label is %" PRIu32, r->label);
	XXH3_128bits_update(w->hash, i->ids, n * sizeof(*i->ids));
	i->predictions = r->predictions;
	for (uint32_t k = 0; k < r->predictions; k++) {
		i->positions[k] = r->positions[k];
		i->labels[k] = r->labels[k];
		if (i->labels[k] == w->recipe.special.sep || i->labels[k] == w->recipe.special.cls)
			return err_corrupt("it masks [SEP] or [CLS]");
		i->ids[i->positions[k]] = shown[k];
	}
	i->flags = r->label ? INSTANCE_RANDOM_NEXT : 0;
	i->pass = 0;
	return 0;
}

static int at_row(const struct file *f, uint64_t row)
{
	return err_prefix("'%s': instance %" PRIu64, f->path, row);
}

/* Calls EACH with every instance of F. */
static int for_rows(struct work *w, struct file *f, int (*each)(struct work *w, struct file *f, void *ctx), void *ctx)
{
	struct rows *rows;
	struct row r;
	uint64_t n = 0;
	int rc;

	if (rows_open(&rows, f->path))
		return -1;
	w->offset = 0;
	XXH3_128bits_reset(w->hash);
	for (; (rc = rows_next(rows, &r)) > 0; n++) {
		if (lay(w, &r)) {
			rc = at_row(f, n);
			break;
		}
		rc = each(w, f, ctx);
		if (rc)
			break;
	}
	rows_close(rows);
	return rc;
}

/* --- the first reading -------------------------------------------------------------------------- */

/* Lengths, and whether there are pairs: what must be known before an instance can be taken apart. */
static int look_at(struct work *w, struct file *f)
{
	struct rows *rows;
	struct row r;
	int rc;

	if (inputs_sample(f->path, &f->bytes, &f->sample) || rows_open(&rows, f->path))
		return -1;
	while ((rc = rows_next(rows, &r)) > 0) {
		f->max_seq_length = r.max_seq_length;
		f->max_predictions = r.max_predictions;
		f->rows++;
		for (uint32_t k = 0; k < r.max_seq_length && !f->pairs; k++)
			f->pairs = r.types[k] != 0;
		if (w->i->progress)
			progress_update(w->i->progress, f->rows, 0);
	}
	rows_close(rows);
	return rc || f->rows ? rc : err_fail("'%s' holds no instances", f->path);
}

static int count(struct work *w, struct file *f, void *ctx)
{
	const struct instance *i = &w->instance;

	(void)ctx;
	f->totals.sentences += i->n_segments;
	f->totals.tokens += i->n - 1 - i->n_segments;
	f->totals.instances++;
	f->totals.random_next += i->flags & INSTANCE_RANDOM_NEXT;
	f->totals.instance_tokens += i->n;
	f->totals.predictions += i->predictions;
	return 0;
}

/* Everything that is to be written is looked at before. */
static int check_file(struct work *w, struct file *f)
{
	XXH128_hash_t hash;

	f->totals.documents = 1;
	if (for_rows(w, f, count, NULL))
		return -1;
	hash = XXH3_128bits_digest(w->hash);
	f->key = (struct key){ hash.high64, hash.low64 };
	return 0;
}

/* --- the recipe -------------------------------------------------------------------------------------- */

static int need_token(uint32_t id, const char *token)
{
	return id == VOCAB_NONE ? err_corrupt("the vocabulary has no %s", token) : 0;
}

static int make_recipe(struct work *w)
{
	static const enum shard_pairs asked[] = { SHARD_NSP, SHARD_NSP, SHARD_SOP, SHARD_NONE };
	struct shard_recipe *r = &w->recipe;
	bool pairs = false;

	for (size_t k = 0; k < w->i->n; k++) {
		const struct file *f = &w->files[k];

		pairs = pairs || f->pairs;
		if (f->max_seq_length != w->files->max_seq_length || f->max_predictions != w->files->max_predictions)
			return err_fail("'%s' has instances of length %" PRIu32 " with %" PRIu32 " predictions, '%s' of %" PRIu32
					" with %" PRIu32, f->path, f->max_seq_length, f->max_predictions, w->files->path,
					w->files->max_seq_length, w->files->max_predictions);
	}
	*r = (struct shard_recipe){
		.rules = SHARD_IMPORTED,
		.tokenizer = tokenizer_describe(w->tokenizer),
		.vocab_size = vocab_size(w->vocab),
		.special = vocab_special(w->vocab),
		.max_seq_length = w->files->max_seq_length,
		.max_predictions_per_seq = w->files->max_predictions,
		.dupe_factor = 1,
		.masking = SHARD_STATIC,
		.pairs = w->i->pairs == IMPORT_AUTO && !pairs ? SHARD_NONE : asked[w->i->pairs],
	};
	r->cross_documents = r->pairs == SHARD_NONE;
	return !r->tokenizer || need_token(r->special.cls, "[CLS]") || need_token(r->special.sep, "[SEP]") ||
	       need_token(r->special.mask, "[MASK]") ? -1 : 0;
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

struct writing {
	struct frame_writer *frame;
	struct instance_columns columns;
	struct buf raw, packed;
};

static int flush(const struct work *w, struct writing *s)
{
	const uint32_t records = s->columns.records;

	if (!records)
		return 0;
	return instance_columns_flush(&s->columns, (int)w->i->compress, &s->raw, &s->packed) ||
	       frame_add(s->frame, SHARD_INSTANCES, records, s->raw.data, s->raw.len, &s->packed) ? -1 : 0;
}

static int put(struct work *w, struct file *f, void *ctx)
{
	struct writing *s = ctx;

	(void)f;
	w->i->instances++;
	if (w->i->progress)
		progress_update(w->i->progress, w->i->instances, 0);
	instance_columns_add(&s->columns, &w->instance);
	return s->columns.records == w->header.block_records ? flush(w, s) : 0;
}

/* The table: the file. */
static int put_document(const struct work *w, const struct file *f, struct writing *s)
{
	const char *slash = strrchr(f->path, '/'), *name = slash ? slash + 1 : f->path;
	const struct shard_document d = { .key = f->key, .sentences = f->totals.sentences, .tokens = f->totals.tokens,
					  .title = name, .title_len = strlen(name) };

	return shard_document_encode(&s->raw, &d) ||
	       frame_pack(s->raw.data, s->raw.len, (int)w->i->compress, &s->packed) ||
	       frame_add(s->frame, SHARD_DOCUMENTS, 1, s->raw.data, s->raw.len, &s->packed) ? -1 : 0;
}

static int finish_frame(struct writing *s, const struct shard_totals *t)
{
	json_t *o = shard_totals_json(t);
	char *text = o ? canon_print(o) : NULL;
	const int rc = text ? frame_finish(s->frame, text, strlen(text)) : -1;

	if (text)
		s->frame = NULL;
	free(text);
	json_decref(o);
	return rc;
}

static int write_rows(struct work *w, struct file *f, struct writing *s)
{
	struct shard_totals found = f->totals;

	if (put_document(w, f, s) || for_rows(w, f, put, s) || flush(w, s))
		return -1;
	if (key_compare(f->key, (struct key){ XXH3_128bits_digest(w->hash).high64, XXH3_128bits_digest(w->hash).low64 }))
		return err_fail("'%s' changed while it was read", f->path);
	return finish_frame(s, &found);
}

static int write_shard(struct work *w, uint32_t k, struct manifest_shard *e)
{
	const struct instance_shape shape = shard_header_shape(&w->header, 1);
	struct writing s = { .raw = BUF_INIT, .packed = BUF_INIT };
	char name[256], *path, *text;
	struct shard *made = NULL;
	struct out *out = NULL;
	int rc = -1;

	w->header.shard = k;
	shard_file_name(name, sizeof(name), w->i->name, k, w->header.shards);
	path = fs_join(w->i->folder, name);
	text = shard_header_print(&w->header);
	if (!path || !text || instance_columns_init(&s.columns, &shape) || out_open(&out, path) ||
	    frame_create(&s.frame, out, SHARD_KIND, text, strlen(text)) || write_rows(w, &w->files[k], &s) || out_commit(out))
		goto done;
	out = NULL;
	if (shard_open(&made, path))
		goto done;
	*e = (struct manifest_shard){ strdup(name), shard_trailer(made)->file_bytes, shard_instances(made), 1,
				      { shard_trailer(made)->digest_hi, shard_trailer(made)->digest_lo } };
	rc = e->name ? 0 : err_memory();
done:
	frame_abandon(s.frame);
	out_discard(out);
	shard_close(made);
	instance_columns_release(&s.columns);
	buf_release(&s.raw);
	buf_release(&s.packed);
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

static int copy_vocab(const struct work *w)
{
	const struct tokenizer_opts *t = &w->i->tokenizer;
	char *from = t->vocab ? strdup(t->vocab) : fs_join(t->model, FOLDER_VOCAB);
	char *to = fs_join(w->i->folder, FOLDER_VOCAB);
	struct buf text = BUF_INIT;
	const int rc = from && to && !fs_read_all(from, VOCAB_BYTES_MAX, &text) && !fs_write_all(to, text.data, text.len)
			       ? 0 : -1;

	buf_release(&text);
	free(from);
	free(to);
	return rc;
}

static int write_all(struct work *w)
{
	struct manifest *m = new_manifest(w);
	int rc = m ? 0 : -1;

	for (uint32_t k = 0; k < w->header.shards && !rc; k++)
		rc = write_shard(w, k, &m->shards[k]);
	if (!rc)
		rc = copy_vocab(w) || manifest_save(m, w->i->folder) ? -1 : 0;
	manifest_free(m);
	return rc;
}

/* A folder of somebody's shards is not ours to write into. */
static int refuse_used(const struct import *i)
{
	char **names;
	size_t n;

	if (fs_make_folder(i->folder) || folder_names(i->folder, &names, &n))
		return -1;
	fs_free_names(names, n);
	return n ? err_fail("'%s' holds shards: choose another folder, or empty it", i->folder) : 0;
}

static int prepare(struct work *w)
{
	struct import *i = w->i;

	if (tokenizer_open(&w->tokenizer, &i->tokenizer))
		return -1;
	w->vocab = tokenizer_vocab(w->tokenizer);
	w->files = calloc(i->n, sizeof(*w->files));
	w->hash = XXH3_createState();
	if (!w->files || !w->hash)
		return err_memory();
	for (size_t k = 0; k < i->n; k++) {
		w->files[k].path = i->files[k];
		if (look_at(w, &w->files[k]))
			return -1;
	}
	if (make_recipe(w))
		return -1;
	if (instance_init(&w->instance, &(struct instance_shape){ .max_seq_length = w->recipe.max_seq_length,
								   .max_predictions = w->recipe.max_predictions_per_seq,
								   .pairs = w->recipe.pairs != SHARD_NONE }))
		return -1;
	for (size_t k = 0; k < i->n; k++)
		if (check_file(w, &w->files[k]))
			return -1;
	make_header(w);
	return 0;
}

int import_run(struct import *i)
{
	struct work w = { .i = i };
	int rc;

	if (i->progress)
		progress_start(i->progress, "instances", 0);
	rc = prepare(&w) || refuse_used(i) || write_all(&w) ? -1 : 0;
	if (i->progress)
		progress_end(i->progress);
	instance_release(&w.instance);
	shard_recipe_release(&w.recipe);
	tokenizer_close(w.tokenizer);
	XXH3_freeState(w.hash);
	free(w.files);
	return rc;
}
