/* The end: when every shard is whole, the vocabulary and the manifest. */
#include "shards/job_impl.h"
#include "shards/canon.h"
#include "shards/manifest.h"

#include <inttypes.h>

/* Whether a file of every shard's name is there: cheap, so that parts that are not the last need not open any. */
static int all_names(const struct job *j, const struct plan *p, bool *all)
{
	*all = true;
	for (uint32_t k = 0; k < p->shards && *all; k++) {
		char *path = job_shard_path(j, k, p->shards);

		if (!path)
			return -1;
		*all = fs_exists(path);
		free(path);
	}
	return 0;
}

/* What shard K says of itself into the manifest. 1: it is whole. */
static int describe_shard(const struct job *j, const struct plan *p, uint32_t k, struct manifest *m)
{
	struct manifest_shard *s = &m->shards[k];
	const struct frame_trailer *t;
	struct shard *shard;
	const int whole = job_shard_open(j, p, k, &shard);

	if (whole != 1)
		return whole;
	t = shard_trailer(shard);
	s->bytes = t->file_bytes;
	s->instances = shard_totals(shard)->instances;
	s->documents = shard_totals(shard)->documents;
	s->digest = (struct key){ t->digest_hi, t->digest_lo };
	shard_totals_join(&m->totals, shard_header(shard), shard_totals(shard));
	shard_close(shard);
	return 1;
}

/* The names of the input as the first run gave them. */
static int load_names(const struct job *j, const struct plan *p, struct manifest *m)
{
	char *path = fs_join(j->work, JOB_OPTIONS);
	struct buf text = BUF_INIT;
	json_t *o = NULL;
	const json_t *names;
	int rc = -1;

	if (!path || fs_read_all(path, JOB_JSON_MAX, &text) || !(o = canon_parse(text.data, text.len)) ||
	    !(names = canon_array(o, "names")))
		goto done;
	if (json_array_size(names) != m->n_inputs) {
		err_corrupt("'%s' names %zu inputs, not %zu", path, json_array_size(names), m->n_inputs);
		goto done;
	}
	for (size_t i = 0; i < m->n_inputs; i++) {
		const char *name = json_string_value(json_array_get(names, i));
		struct manifest_input *in = &m->inputs[i];

		in->name = strdup(name ? name : "");
		in->bytes = j->inputs.files[i].bytes;
		in->sample = j->inputs.files[i].sample;
		in->documents = p->inputs[i].documents;
		in->keys = p->inputs[i].keys;
		if (!in->name) {
			err_memory();
			goto done;
		}
	}
	rc = 0;
done:
	json_decref(o);
	buf_release(&text);
	free(path);
	return rc;
}

/* A manifest with everything but shards. */
static struct manifest *begin_manifest(const struct job *j, const struct plan *p)
{
	struct manifest *m = calloc(1, sizeof(*m));
	json_t *recipe = m ? shard_recipe_json(&j->recipe) : NULL;

	if (!m || !recipe)
		goto fail;
	m->made_by = strdup(j->opts.made_by);
	m->options = json_deep_copy(json_object_get(j->identity, "options"));
	m->inputs = calloc(p->n_inputs, sizeof(*m->inputs));
	m->shards = calloc(p->shards, sizeof(*m->shards));
	if (!m->made_by || !m->options || !m->inputs || !m->shards || shard_recipe_parse(&m->recipe, recipe))
		goto fail;
	m->n_inputs = p->n_inputs;
	m->n_shards = p->shards;
	m->corpus = p->corpus.keys;
	m->corpus_documents = p->corpus.documents;
	json_decref(recipe);
	return m;
fail:
	json_decref(recipe);
	manifest_free(m);
	err_memory();
	return NULL;
}

/* The manifest of an earlier run. *M NULL: there is none that can be believed. */
static int load_earlier(const struct job *j, struct manifest **m)
{
	return manifest_load(m, j->opts.folder) && err_code() != EXIT_CORRUPT ? -1 : 0;
}

/* It must tell of the same corpus: where input is a stream this is known only now. */
static int check_earlier(const struct job *j, const struct plan *p)
{
	struct manifest *m;
	int rc = 0;

	if (load_earlier(j, &m))
		return -1;
	if (m && (m->corpus_documents != p->corpus.documents || key_compare(m->corpus, p->corpus.keys) ||
		  m->n_shards != p->shards))
		rc = err_fail("'%s' was made from other input: choose another folder", j->opts.folder);
	manifest_free(m);
	return rc;
}

int job_check_stream(const struct job *j)
{
	struct plan *p;
	int rc;

	if (!j->inputs.streams)
		return 0;
	if (plan_load(&p, j))
		return -1;
	rc = p ? check_earlier(j, p) : 0;
	plan_free(p);
	if (rc) {
		struct err reason;

		err_get(&reason);
		fs_remove_tree(j->work);
		err_put(&reason);
	}
	return rc;
}

static bool lists_the_same(const struct manifest *a, const struct manifest *b)
{
	for (size_t k = 0; k < a->n_shards; k++) {
		const struct manifest_shard *x = &a->shards[k], *y = &b->shards[k];

		if (x->bytes != y->bytes || x->instances != y->instances || x->documents != y->documents ||
		    key_compare(x->digest, y->digest))
			return false;
	}
	return true;
}

/*
 * One that is there already tells of the same (job_start, job_check_stream),
 * and perhaps of files where we had a stream: it stays, if it is true.
 */
static int save_manifest(const struct job *j, const struct manifest *m)
{
	struct manifest *there;
	int rc = load_earlier(j, &there);

	if (!rc && !(there && there->n_shards == m->n_shards && lists_the_same(there, m)))
		rc = manifest_save(m, j->opts.folder);
	manifest_free(there);
	return rc;
}

int job_finish(struct job *j, const struct plan *p, bool *done)
{
	struct manifest *m;
	int rc = 1;

	if (all_names(j, p, done))
		return -1;
	if (!*done)
		return 0;
	*done = false;
	m = begin_manifest(j, p);
	if (!m || load_names(j, p, m)) {
		manifest_free(m);
		return -1;
	}
	for (uint32_t k = 0; k < p->shards && rc == 1; k++)
		rc = describe_shard(j, p, k, m);
	if (rc == 1) {
		rc = job_copy_vocab(j) || save_manifest(j, m) || fs_remove_tree(j->work) ? -1 : 0;
		*done = !rc;
		j->report.instances = m->totals.instances;
	}
	manifest_free(m);
	return rc;
}
