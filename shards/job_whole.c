/* What of an output folder is whole. */
#include "shards/job_impl.h"
#include "base/frame.h"
#include "base/in.h"
#include "shards/canon.h"
#include "shards/folder.h"
#include "shards/keys.h"
#include "shards/manifest.h"
#include "shards/scan.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

struct shard_header job_shard_header(const struct job *j, const struct plan *p, uint32_t shard)
{
	return (struct shard_header){
		.recipe = j->recipe,
		.shard = shard,
		.shards = p->shards,
		.block_records = shard_block_records(j->recipe.max_seq_length),
		.corpus_documents = p->corpus.documents,
		.corpus = p->corpus.keys,
	};
}

/* Whether two canonical headers are one; the reason says where they differ. */
static int check_same_header(const char *path, const char *is, const char *want)
{
	json_t *a, *b;
	struct buf what = BUF_INIT;

	if (!strcmp(is, want))
		return 0;
	a = canon_parse(is, strlen(is));
	b = canon_parse(want, strlen(want));
	if (a && b && canon_difference(a, b, &what) >= 0)
		err_fail("'%s' is of another run: %s", path, what.data ? what.data : "its header differs");
	json_decref(a);
	json_decref(b);
	buf_release(&what);
	return -1;
}

/* Into H, what comes before all else in the shard at PATH: 1, 0 it is too damaged for that, -1 failed. */
static int parse_header(const char *path, struct shard_header *h)
{
	struct frame_reader *frame;
	const char *json;
	size_t len;
	struct in *in;
	int rc = 1;

	if (in_open(&in, path, 1))
		return -1;
	if (frame_open(&frame, in, NULL))
		return err_code() == EXIT_CORRUPT ? 0 : -1;
	json = frame_header(frame, &len);
	if (strcmp(frame_reader_kind(frame), SHARD_KIND)) {
		rc = err_fail("'%s' is of kind %s, and no shard: choose another folder, or empty it", path,
			      frame_reader_kind(frame));
	} else if (shard_header_parse(h, json, len)) {
		rc = err_fail("'%s' is not damaged, but says what this program does not know: %.500s: choose another folder, or empty it",
			      path, err_text());
	}
	frame_close(frame);
	return rc;
}

/*
 * What a shard that cannot be opened says of itself: 1 with *H, the caller's to release; 0: it is too damaged for that.
 * What another version made is not damaged, and refused.
 */
static int read_header(const char *path, struct shard_header *h)
{
	const int foreign = shard_is_foreign(path);

	*h = (struct shard_header){ 0 };
	if (foreign < 0)
		return -1;
	return foreign ? err_fail("%s", err_text()) : parse_header(path, h);
}

/* 1: the shard at PATH is open, and *H is its header; 0: it is damaged, and *H is, where it is to be had; -1 failed. */
static int open_or_read(const char *path, struct shard **s, struct shard_header *own, const struct shard_header **h)
{
	int rc;

	*own = (struct shard_header){ 0 };
	*h = NULL;
	if (!shard_open(s, path)) {
		*h = shard_header(*s);
		return 1;
	}
	rc = err_code() == EXIT_CORRUPT ? read_header(path, own) : -1;
	if (rc > 0)
		*h = own;
	return rc < 0 ? -1 : 0;
}

int job_shard_open(const struct job *j, const struct plan *p, uint32_t shard, struct shard **out)
{
	const struct shard_header header = job_shard_header(j, p, shard), *h;
	struct shard_header own = { 0 };
	char *path = job_shard_path(j, shard, p->shards), *want = NULL, *is = NULL;
	int rc = path ? 0 : -1;

	*out = NULL;
	if (path && fs_exists(path))
		rc = open_or_read(path, out, &own, &h);
	else
		h = NULL;
	if (rc >= 0 && h) {
		want = shard_header_print(&header);
		is = shard_header_print(h);
		if (!want || !is || check_same_header(path, is, want))
			rc = -1;
	}
	if (rc != 1) {
		shard_close(*out);
		*out = NULL;
	}
	shard_header_release(&own);
	free(path);
	free(want);
	free(is);
	return rc;
}

int job_shard_is_whole(const struct job *j, const struct plan *p, uint32_t shard)
{
	char *path = job_shard_path(j, shard, p->shards);
	struct shard *s = NULL;
	int rc = path ? job_shard_open(j, p, shard, &s) : -1;

	shard_close(s);
	if (rc == 1)
		rc = scan_is_sound(path, (unsigned)j->opts.threads);
	free(path);
	return rc;
}

/* --- against the manifest --------------------------------------------------------------------------- */

bool job_is_listed(const struct manifest_shard *e, const struct shard *s)
{
	const struct frame_trailer *t = shard_trailer(s);
	const struct key digest = { t->digest_hi, t->digest_lo };

	return e->bytes == t->file_bytes && e->instances == shard_totals(s)->instances &&
	       e->documents == shard_totals(s)->documents && !key_compare(e->digest, digest);
}

static struct plan plan_of(const struct manifest *m)
{
	return (struct plan){ .shards = (uint32_t)m->n_shards,
			      .corpus = { .documents = m->corpus_documents, .keys = m->corpus } };
}

int job_manifest_holds(const struct job *j, const struct manifest *m, bool *all)
{
	const struct plan p = plan_of(m);

	*all = true;
	for (uint32_t k = 0; k < p.shards && *all; k++) {
		struct shard *s = NULL;
		int rc = job_shard_is_whole(j, &p, k);

		if (rc == 1)
			rc = job_shard_open(j, &p, k, &s);
		if (rc < 0)
			return -1;
		*all = rc && job_is_listed(&m->shards[k], s);
		shard_close(s);
	}
	return 0;
}

int job_remove_strange(const struct job *j, const struct manifest *m)
{
	const struct plan p = plan_of(m);
	int rc = 0;

	for (uint32_t k = 0; k < p.shards && !rc; k++) {
		struct shard *s = NULL;
		char *path = job_shard_path(j, k, p.shards);

		rc = path && job_shard_open(j, &p, k, &s) >= 0 ? 0 : -1;
		if (s && !job_is_listed(&m->shards[k], s) && unlink(path) && errno != ENOENT)
			rc = err_sys("cannot remove '%s'", path);
		shard_close(s);
		free(path);
	}
	return rc;
}

/* Refuses the shard PATH when it says that it is of another recipe. *KNOWN: it says that it is of ours. */
static int check_recipe(const struct job *j, const char *path, bool *known)
{
	const struct shard_header *h;
	struct shard_header own;
	struct shard *s = NULL;
	json_t *is, *want;
	struct buf what = BUF_INIT;
	int rc = open_or_read(path, &s, &own, &h);

	if (rc < 0 || !h)
		return rc;
	is = shard_recipe_json(&h->recipe);
	want = shard_recipe_json(&j->recipe);
	rc = is && want ? canon_difference(is, want, &what) : -1;
	if (rc > 0)
		rc = err_fail("'%s' is of another run: recipe.%s", path, what.data);
	*known = *known || !rc;
	json_decref(is);
	json_decref(want);
	buf_release(&what);
	shard_header_release(&own);
	shard_close(s);
	return rc;
}

int job_check_recipes(const struct job *j)
{
	char *options = fs_join(j->work, JOB_OPTIONS), **names;
	bool shards = false, known = options && fs_exists(options);
	size_t n;
	int rc = 0;

	free(options);
	if (!options || fs_list(j->opts.folder, &names, &n))
		return -1;
	for (size_t i = 0; i < n && !rc; i++) {
		char *path;

		if (!job_is_shard_name(names[i]))
			continue;
		path = fs_join(j->opts.folder, names[i]);
		rc = path ? check_recipe(j, path, &known) : -1;
		shards = true;
		free(path);
	}
	fs_free_names(names, n);
	if (!rc && shards && !known)
		rc = err_fail("'%s' holds shards, and neither they nor %s, damaged as they are, say of which run: choose another folder, or empty it",
			      j->opts.folder, MANIFEST_NAME);
	return rc;
}

/* --- the vocabulary ------------------------------------------------------------------------------------ */

int job_has_vocab(const char *folder, const char *sha256, bool *has)
{
	char *path = fs_join(folder, "vocab.txt");
	struct vocab *v = NULL;
	int rc = path ? 0 : -1;

	*has = false;
	if (path && fs_exists(path)) {
		rc = vocab_load(&v, path) ? (err_code() == EXIT_CORRUPT ? 0 : -1) : 0;
		*has = v && !strcmp(vocab_sha256(v), sha256);
	}
	vocab_free(v);
	free(path);
	return rc;
}

int job_has_words(const char *folder, const struct shard_recipe *r, bool *has)
{
	char *path = r->words.count ? fs_join(folder, MASK_WORDS_NAME) : NULL;
	struct mask_words *w = NULL;
	struct vocab *v = NULL;
	struct shard_recipe recipe = *r;
	int rc = 0;

	*has = !r->words.count;
	if (r->words.count)
		rc = path && !folder_vocab(&v, NULL, path, r->tokenizer) && !folder_words(&w, path, &recipe, v) ? 0 : -1;
	*has = *has || w;
	mask_words_free(w);
	vocab_free(v);
	free(path);
	return rc;
}

/* The vocabulary is there. */
static int copy_words(const struct job *j)
{
	char *to = fs_join(j->opts.folder, MASK_WORDS_NAME);
	size_t len;
	const char *text;
	bool has;
	int rc = -1;

	if (to && !job_has_words(j->opts.folder, &j->recipe, &has)) {
		text = has ? NULL : mask_words_text(j->words, &len);
		rc = has ? 0 : fs_write_all(to, text, len);
	}
	free(to);
	return rc;
}

int job_copy_vocab(const struct job *j)
{
	bool has;

	if (job_has_vocab(j->opts.folder, vocab_sha256(job_vocab(j)), &has) ||
	    (!has && folder_copy_vocab(j->opts.folder, &j->opts.tokenizer)))
		return -1;
	return copy_words(j);
}
