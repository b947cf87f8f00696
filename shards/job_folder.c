/* The output folder: whose it is. job_whole.c has what in it is whole. */
#include "shards/job_impl.h"
#include "shards/canon.h"
#include "shards/manifest.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

/* --- paths ---------------------------------------------------------------------------------- */

char *job_index_path(const struct job *j, uint64_t part, uint64_t parts)
{
	char name[64];

	snprintf(name, sizeof(name), "index-%05" PRIu64 "-of-%05" PRIu64 ".tok", part, parts);
	return fs_join(j->work, name);
}

char *job_shard_path(const struct job *j, uint32_t shard, uint32_t shards)
{
	char name[256];

	shard_file_name(name, sizeof(name), j->opts.name, shard, shards);
	return fs_join(j->opts.folder, name);
}

int job_open_index(const struct job *j, uint64_t part, uint64_t parts, struct tokdoc_file **f)
{
	char *path = job_index_path(j, part, parts);
	struct key digest;
	int rc = 0;

	*f = NULL;
	if (!path)
		return -1;
	if (!fs_exists(path))
		goto done;
	if (tokdoc_file_open(f, path)) {
		rc = err_code() == EXIT_CORRUPT ? 0 : -1;
		goto done;
	}
	rc = canon_key(tokdoc_file_notes(*f), "identity", &digest);
	if (!rc && key_compare(digest, j->digest))
		rc = err_fail("'%s' was made with other options or from other input", path);
	if (rc) {
		tokdoc_file_close(*f);
		*f = NULL;
	}
done:
	free(path);
	return rc;
}

int job_open_cells(const struct job *j, uint64_t part, uint64_t parts, struct tokdoc_cells **c)
{
	char *path = job_index_path(j, part, parts);
	int rc = path ? 0 : -1;

	*c = NULL;
	if (path && fs_exists(path) && tokdoc_cells_open(c, path, j->digest))
		rc = err_code() == EXIT_CORRUPT ? 0 : -1;
	free(path);
	return rc;
}

/* --- whose it is --------------------------------------------------------------------------------- */

/* Refuses the folder when IS is not the identity of this job. */
static int check_identity(const struct job *j, const json_t *is)
{
	struct buf what = BUF_INIT;
	int rc = canon_difference(is, j->identity, &what);

	if (rc > 0)
		rc = err_fail("'%s' was made with other options or from other input: %s", j->opts.folder, what.data);
	buf_release(&what);
	return rc;
}

/* The identity of the job that wrote M. A stream's input is not known before it is read: it is taken as equal. */
static json_t *manifest_identity(const struct job *j, const struct manifest *m)
{
	json_t *o = json_object(), *inputs = json_array();

	if (!o || !inputs ||
	    json_object_set(o, "inputs", j->inputs.streams ? json_object_get(j->identity, "inputs") : inputs) ||
	    json_object_set(o, "options", m->options) ||
	    json_object_set_new(o, "recipe", shard_recipe_json(&m->recipe)))
		goto fail;
	for (size_t i = 0; i < m->n_inputs; i++) {
		json_t *one = json_object();

		if (json_array_append_new(inputs, one) || canon_set(one, "bytes", canon_of_uint(m->inputs[i].bytes)) ||
		    canon_set(one, "sample", canon_of_key(m->inputs[i].sample)))
			goto fail;
	}
	json_decref(inputs);
	return o;
fail:
	json_decref(inputs);
	json_decref(o);
	err_memory();
	return NULL;
}

static int check_manifest(const struct job *j, const struct manifest *m)
{
	json_t *is = manifest_identity(j, m);
	const int rc = is ? check_identity(j, is) : -1;

	json_decref(is);
	return rc;
}

/* Without it nobody knows whose the work is. Says what to do, and what that costs. */
static int damaged_options(const struct job *j, const char *path)
{
	struct err reason;

	if (err_code() != EXIT_CORRUPT)
		return err_prefix("'%s'", path);
	err_get(&reason);
	return err_corrupt("'%s': %.500s: remove '%s' and the shards in '%s', and run again: the index and they are made anew", path,
			   reason.text, j->work, j->opts.folder);
}

/* What options.json says. *O NULL and 0: there is none. */
static int load_options(const struct job *j, const char *path, json_t **o)
{
	struct buf text = BUF_INIT;
	int rc = -1;

	*o = NULL;
	if (!fs_exists(path))
		return 0;
	if (!fs_read_all(path, JOB_JSON_MAX, &text)) {
		*o = canon_parse(text.data, text.len);
		rc = *o ? 0 : damaged_options(j, path);
	}
	buf_release(&text);
	return rc;
}

/*
 * What a run before in this folder found out of the input files, so that parts that are many do not sample each of
 * them; the caller frees. NULL: nothing that is of use.
 */
static struct input_seen *load_seen(const struct job *j)
{
	char *path = fs_join(j->work, JOB_OPTIONS);
	struct input_seen *seen = NULL;
	const json_t *list;
	json_t *o = NULL;

	if (path && !load_options(j, path, &o) && o && (list = canon_array(o, "seen")) && j->opts.n_files &&
	    json_array_size(list) == j->opts.n_files)
		seen = calloc(j->opts.n_files, sizeof(*seen));
	for (size_t i = 0; seen && i < j->opts.n_files; i++) {
		const json_t *one = json_array_get(list, i);

		if (canon_key(one, "mark", &seen[i].mark) || canon_key(one, "sample", &seen[i].sample))
			seen[i] = (struct input_seen){ 0 };
	}
	json_decref(o);
	free(path);
	return seen;
}

static json_t *seen_json(const struct inputs *in)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < in->n; i++) {
		json_t *one = json_object();

		if (json_array_append_new(list, one) || canon_set(one, "mark", canon_of_key(in->files[i].mark)) ||
		    canon_set(one, "sample", canon_of_key(in->files[i].sample))) {
			json_decref(list);
			list = NULL;
		}
	}
	return list;
}

static int save_options(const struct job *j, const char *path)
{
	json_t *o = json_object(), *names = json_array(), *seen = seen_json(&j->inputs);
	char *text = NULL;
	int rc = -1;

	for (size_t i = 0; names && i < j->inputs.n; i++) {
		if (json_array_append_new(names, json_string(j->inputs.files[i].name))) {
			json_decref(names);
			names = NULL;
		}
	}
	if (!o || !names || !seen || json_object_set(o, "identity", j->identity) ||
	    json_object_set(o, "names", names) || json_object_set(o, "seen", seen))
		err_fail("cannot write '%s': an input's name is not UTF-8, or memory is out", path);
	else
		text = canon_print(o);
	if (text)
		rc = fs_write_all(path, text, strlen(text));
	free(text);
	json_decref(seen);
	json_decref(names);
	json_decref(o);
	return rc;
}

bool job_is_shard_name(const char *name)
{
	const size_t len = strlen(name);

	return len > 6 && !strcmp(name + len - 6, ".shard");
}

/* Whether a file of FOLDER, which exists, has a name that NAMED accepts: 1, 0, -1 failed. */
static int holds(const char *folder, bool (*named)(const char *name))
{
	char **names;
	size_t n;
	int rc = 0;

	if (fs_list(folder, &names, &n))
		return -1;
	for (size_t i = 0; i < n && !rc; i++)
		rc = named(names[i]);
	fs_free_names(names, n);
	return rc;
}

static bool is_work_name(const char *name)
{
	return strcmp(name, JOB_OPTIONS) != 0;
}

/* Whether an earlier run, now dead, ended before it made anything. */
static int is_untouched(const struct job *j)
{
	const int shards = holds(j->opts.folder, job_is_shard_name);
	int work;

	if (shards)
		return shards < 0 ? -1 : 0;
	if (out_remove_stale(j->work))
		return -1;
	work = holds(j->work, is_work_name);
	return work < 0 ? -1 : !work;
}

/*
 * Claims the work folder for this job, or refuses one that is another's. Two
 * parts may come at once: each looks again at what stands there in the end.
 */
static int claim_work(const struct job *j)
{
	char *path = fs_join(j->work, JOB_OPTIONS);
	json_t *o = NULL;
	int rc = path ? load_options(j, path, &o) : -1;
	bool found;

	if (!rc && o && !json_equal(json_object_get(o, "identity"), j->identity)) {
		rc = is_untouched(j);
		if (rc > 0) {
			json_decref(o);
			o = NULL;
			rc = 0;
		}
	}
	found = o;
	if (!rc && !found)
		rc = fs_make_folder(j->work) || save_options(j, path) || load_options(j, path, &o) ? -1 : 0;
	if (!rc)
		rc = o ? check_identity(j, json_object_get(o, "identity")) : err_fail("'%s' went away", path);
	if (!rc && found && j->learned)			/* an input's times are others than they were, not what it says */
		rc = save_options(j, path);
	json_decref(o);
	free(path);
	return rc;
}

/* A folder that says nothing of its shards is not ours to write into. */
static int refuse_strange_shards(const struct job *j)
{
	char *options = fs_join(j->work, JOB_OPTIONS);
	const bool known = options && fs_exists(options);
	int rc;

	free(options);
	if (!options)
		return -1;
	if (known)
		return 0;
	rc = holds(j->opts.folder, job_is_shard_name);
	if (rc > 0)
		rc = err_fail("'%s' holds shards but no %s: choose another folder, or empty it", j->opts.folder,
			      MANIFEST_NAME);
	return rc;
}

/* A vocab.txt of somebody else stays as it is. */
static int refuse_other_vocab(const struct job *j)
{
	char *path = fs_join(j->opts.folder, "vocab.txt");
	struct vocab *v = NULL;
	int rc = -1;

	if (path)
		rc = 0;
	if (path && fs_exists(path)) {
		rc = vocab_load(&v, path);
		if (rc || strcmp(vocab_sha256(v), vocab_sha256(tokenizer_vocab(j->tokenizer))))
			rc = err_fail("'%s' is another vocabulary: choose another folder", path);
	}
	vocab_free(v);
	free(path);
	return rc;
}

/* Nor does a list of words that is not the one to be written. */
static int refuse_other_words(const struct job *j)
{
	char *path = fs_join(j->opts.folder, MASK_WORDS_NAME);
	struct mask_words *w = NULL;
	int rc = path ? 0 : -1;

	if (path && j->words && fs_exists(path) &&
	    (mask_words_load(&w, path, tokenizer_vocab(j->tokenizer)) ||
	     strcmp(mask_words_sha256(w), mask_words_sha256(j->words))))
		rc = err_fail("'%s' is another list of words: choose another folder", path);
	mask_words_free(w);
	free(path);
	return rc;
}

static int remove_file(const char *folder, const char *name)
{
	char *path = fs_join(folder, name);
	int rc = path ? 0 : -1;

	if (path && unlink(path) && errno != ENOENT)
		rc = err_sys("cannot remove '%s'", path);
	free(path);
	return rc;
}

/* What an earlier run made of a stream is of no use: nobody knows what it was. */
static int forget_index(const struct job *j)
{
	char **names;
	size_t n;
	int rc;

	if (fs_list(j->work, &names, &n))
		return -1;
	rc = remove_file(j->work, JOB_PLAN);
	for (size_t i = 0; !rc && i < n; i++)
		if (!strncmp(names[i], "index-", 6))
			rc = remove_file(j->work, names[i]);
	fs_free_names(names, n);
	return rc;
}

/*
 * The manifest. *DAMAGED: there is one that cannot be believed; *M is NULL then.
 * It says that the folder is of bert-shard, and its shards say of which run.
 */
static int load_manifest(const struct job *j, struct manifest **m, bool *damaged)
{
	int foreign;

	*damaged = false;
	if (!manifest_load(m, j->opts.folder))
		return 0;
	if (err_code() != EXIT_CORRUPT)
		return -1;
	foreign = manifest_is_foreign(j->opts.folder);
	if (foreign)
		return foreign < 0 ? -1 : err_fail("'%s/%s' is of another version: choose another folder, or empty it",
						   j->opts.folder, MANIFEST_NAME);
	*damaged = true;
	return job_check_recipes(j);
}

/* All is whole, but perhaps for the vocabulary, which is here. */
static int keep_all(struct job *j, const struct manifest *m)
{
	j->report.complete = true;
	j->report.kept = m->n_shards;
	return job_copy_vocab(j) || fs_remove_tree(j->work) ? -1 : 0;
}

/* What is left to do is: nothing (report.complete), or this job's work, for which the folder is claimed. */
static int claim(struct job *j, const struct manifest *m, bool damaged)
{
	const bool known = m && !j->inputs.streams;	/* M is of this very input */
	bool all = false;

	j->mending = damaged;
	if (known && job_manifest_holds(j, m, &all))
		return -1;
	if (all)
		return keep_all(j, m);
	if ((!m && !damaged && (refuse_other_vocab(j) || refuse_other_words(j))) || claim_work(j) || out_remove_stale(j->opts.folder) ||
	    out_remove_stale(j->work) || (j->inputs.streams && forget_index(j)))
		return -1;
	/* From here on options.json says whose the folder is; a manifest that is no longer true must not stay. */
	if (!known)
		return 0;
	return job_remove_strange(j, m) || remove_file(j->opts.folder, MANIFEST_NAME) ? -1 : 0;
}

/* Knows of the input what a run before in this folder has noted. */
static int recall(struct job *j, bool *all)
{
	struct input_seen *seen = load_seen(j);
	int rc = 0;

	*all = false;
	if (seen)
		rc = inputs_recall(&j->inputs, seen, all);
	free(seen);
	return rc;
}

/*
 * Of parts one samples the input, and notes the marks that tell the others that it is the same still: for that it waits until
 * what changed a moment ago has one. In a folder that HAS_MANIFEST there is nothing to be noted.
 */
static int know_inputs(struct job *j, bool has_manifest)
{
	const bool note = j->opts.staged && !has_manifest;
	bool all;

	if (recall(j, &all))
		return -1;
	if (!all && note && (job_lock_samples(j) || recall(j, &all)))
		return -1;
	if (!all && inputs_sample_all(&j->inputs, j->sampling, note))
		return -1;
	j->learned = !all && note;
	if (all)
		job_unlock_samples(j);
	return job_make_identity(j);
}

int job_start(struct job *j)
{
	struct manifest *m = NULL;
	bool damaged;
	int rc = -1;

	if (fs_make_folder(j->opts.folder) || job_lock(j) || load_manifest(j, &m, &damaged))
		return -1;
	if (!know_inputs(j, m) && (m ? !check_manifest(j, m) : damaged || !refuse_strange_shards(j)))
		rc = claim(j, m, damaged);
	if (rc && j->sampling >= 0)
		(void)rmdir(j->work);		/* as it was before, if nothing is in it */
	job_unlock_samples(j);
	manifest_free(m);
	return rc;
}
