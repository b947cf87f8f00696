/* The stage between the two: how many shards. */
#include "shards/job_impl.h"
#include "shards/canon.h"
#include "shards/keys.h"

#include <inttypes.h>
#include <math.h>

#define DOCUMENTS_LEAST 10000	/* of a shard, before another is made */

/* --- the number ------------------------------------------------------------------------------- */

void plan_expect(const struct shard_recipe *r, const struct tokdoc_totals *corpus, uint64_t *instances, uint64_t *bytes)
{
	typedef unsigned __int128 wide;
	const struct instance_shape shape = { .max_seq_length = r->max_seq_length, .vocab_size = r->vocab_size };
	const uint64_t v = instance_id_bytes(&shape), w = instance_position_bytes(&shape);
	const uint64_t masked = r->masking == SHARD_STATIC ? (uint64_t)lrint(1000 * r->masked_lm_prob) * (v + w) : 0;
	const wide t = corpus->tokens, d = corpus->documents;
	const wide chunks = t * 100 / (89 * (uint64_t)(r->max_seq_length - 3)) + d * 147 / 100;

	*instances = (uint64_t)(r->dupe_factor * (chunks < corpus->sentences ? chunks : corpus->sentences));
	*bytes = (uint64_t)(r->dupe_factor * t * 135 / 100 * (1000 * v + masked) / 1000) + 26 * *instances;
}

uint32_t plan_shards_most(const struct job *j, const struct tokdoc_totals *corpus)
{
	uint64_t instances, bytes, n = 1;

	if (j->opts.shards)
		return (uint32_t)j->opts.shards;
	plan_expect(&j->recipe, corpus, &instances, &bytes);
	while (2 * n <= KEYS_SHARDS_MAX && bytes / n > j->opts.shard_size + j->opts.shard_size / 2)
		n *= 2;
	return (uint32_t)n;
}

uint32_t plan_shards(const struct job *j, const struct tokdoc_totals *corpus)
{
	uint32_t n = plan_shards_most(j, corpus);

	while (!j->opts.shards && n > 1 && corpus->documents / n < DOCUMENTS_LEAST)
		n /= 2;
	return n;
}

/* --- the file ------------------------------------------------------------------------------------ */

static json_t *plan_json(const struct plan *p, const struct job *j)
{
	json_t *o = json_object();

	if (o && !canon_set(o, "identity", canon_of_key(j->digest)) && !canon_set(o, "shards", canon_of_uint(p->shards)) &&
	    !canon_set(o, "parts", canon_of_uint(p->parts)) &&
	    !canon_set(o, "corpus", tokdoc_totals_json(&p->corpus)) &&
	    !canon_set(o, "inputs", tokdoc_totals_array(p->inputs, p->n_inputs)))
		return o;
	json_decref(o);
	err_memory();
	return NULL;
}

json_t *plan_read(const char *path)
{
	struct buf text = BUF_INIT;
	json_t *o = fs_read_all(path, JOB_JSON_MAX, &text) ? NULL : canon_parse(text.data, text.len);

	if (o && canon_unseal(o)) {
		json_decref(o);
		o = NULL;
	}
	buf_release(&text);
	return o;
}

int plan_save(const struct plan *p, const struct job *j)
{
	char *path = fs_join(j->work, JOB_PLAN);
	json_t *o = path ? plan_json(p, j) : NULL;
	char *text = o && !canon_seal(o) ? canon_print(o) : NULL;
	const int rc = text ? fs_write_all(path, text, strlen(text)) : -1;

	free(text);
	json_decref(o);
	free(path);
	return rc;
}

struct plan *plan_new(const struct job *j)
{
	struct plan *p = calloc(1, sizeof(*p));

	if (p)
		p->inputs = calloc(j->inputs.n, sizeof(*p->inputs));
	if (!p || !p->inputs) {
		plan_free(p);
		err_memory();
		return NULL;
	}
	p->n_inputs = j->inputs.n;
	return p;
}

void plan_free(struct plan *p)
{
	if (!p)
		return;
	free(p->inputs);
	free(p);
}

static int plan_parse(struct plan *p, const json_t *o, const struct job *j)
{
	const json_t *corpus, *inputs;
	struct key digest;

	if (canon_key(o, "identity", &digest) || canon_uint32(o, "shards", 1, KEYS_SHARDS_MAX, &p->shards) ||
	    canon_uint32(o, "parts", 1, JOB_PARTS_MAX, &p->parts) || !(corpus = canon_object(o, "corpus")) ||
	    tokdoc_totals_parse(&p->corpus, corpus) || !(inputs = canon_array(o, "inputs")))
		return -1;
	if (key_compare(digest, j->digest) || json_array_size(inputs) != p->n_inputs)
		return err_corrupt("it was made with other options or from other input");
	for (size_t i = 0; i < p->n_inputs; i++)
		if (tokdoc_totals_parse(&p->inputs[i], json_array_get(inputs, i)))
			return -1;
	return 0;
}

/* A damaged one is as good as none: what it says can be had from the index again. */
int plan_load(struct plan **out, const struct job *j)
{
	char *path = fs_join(j->work, JOB_PLAN);
	struct plan *p = NULL;
	json_t *o = NULL;
	int rc = 0;

	*out = NULL;
	if (!path)
		return -1;
	if (!fs_exists(path))
		goto done;
	o = plan_read(path);
	if (!o) {
		rc = err_code() == EXIT_CORRUPT ? 0 : err_prefix("'%s'", path);
		goto done;
	}
	p = plan_new(j);
	rc = p ? plan_parse(p, o, j) : -1;
	if (rc) {
		err_prefix("'%s'", path);
		plan_free(p);
	} else {
		*out = p;
	}
done:
	json_decref(o);
	free(path);
	return rc;
}

int plan_lacks(const struct job *j)
{
	char *path = fs_join(j->work, JOB_PLAN);

	if (path && fs_exists(path))
		err_fail("'%s' is damaged: run --stage plan, which makes it anew", path);
	else if (path)
		err_fail("'%s' has no plan: run --stage index and --stage plan first", j->opts.folder);
	free(path);
	return -1;
}

/* --- the stage ------------------------------------------------------------------------------------- */

/* Adds what part PART found to P. 1: it is there; 0: it is missing. */
static int add_part(struct plan *p, const struct job *j, uint32_t part)
{
	struct tokdoc_file *f;
	struct tokdoc_totals one;
	const json_t *inputs;
	int rc = 0;

	if (job_open_index(j, part, p->parts, &f))
		return -1;
	if (!f)
		return 0;
	inputs = json_object_get(tokdoc_file_notes(f), "inputs");
	if (json_array_size(inputs) != p->n_inputs)
		rc = err_corrupt("it tells of %zu inputs, not of %zu", json_array_size(inputs), p->n_inputs);
	for (size_t i = 0; i < p->n_inputs && !rc; i++) {
		rc = tokdoc_totals_parse(&one, json_array_get(inputs, i));
		if (!rc)
			tokdoc_totals_add(&p->inputs[i], &one);
	}
	tokdoc_totals_add(&p->corpus, tokdoc_file_totals(f));
	if (rc)
		err_prefix("'%s'", tokdoc_file_name(f));
	tokdoc_file_close(f);
	return rc ? -1 : 1;
}

/* The least number of parts of which there is a file in the work folder, beyond MORE. 0: there is none. */
static int next_parts(const struct job *j, uint64_t more, uint64_t *parts)
{
	char **names;
	size_t n;

	*parts = 0;
	if (fs_list(j->work, &names, &n))
		return -1;
	for (size_t i = 0; i < n; i++) {
		unsigned part, of;
		int end = 0;

		if (sscanf(names[i], "index-%5u-of-%5u.tok%n", &part, &of, &end) == 2 && end && !names[i][end] &&
		    of > more && (!*parts || of < *parts))
			*parts = of;
	}
	fs_free_names(names, n);
	return 0;
}

/* Adds all PARTS parts. 1: all are there; 0: MISSING lists those that are not. */
static int add_parts(struct plan *p, const struct job *j, uint64_t parts, struct buf *missing)
{
	int all = 1;

	memset(p->inputs, 0, p->n_inputs * sizeof(*p->inputs));
	p->corpus = (struct tokdoc_totals){ 0 };
	p->parts = (uint32_t)parts;
	buf_clear(missing);
	for (uint32_t i = 0; i < parts; i++) {
		const int rc = add_part(p, j, i);

		if (rc < 0)
			return -1;
		if (rc)
			continue;
		all = 0;
		if (missing->len < 60 ? buf_addf(missing, " %" PRIu32 "/%" PRIu64, i, parts) : 0)
			return -1;
	}
	return all;
}

int plan_settle(struct plan *p, const struct job *j)
{
	if (!p->corpus.documents)
		return fs_remove_tree(j->work) ? -1 : err_fail("the input holds no documents");
	p->shards = plan_shards(j, &p->corpus);
	return 0;
}

int job_plan(struct job *j)
{
	struct plan *p = NULL;
	struct buf missing = BUF_INIT;
	uint64_t parts = 0;
	int rc = plan_load(&p, j);

	if (rc || p) {
		plan_free(p);
		return rc;
	}
	p = plan_new(j);
	rc = p ? 0 : -1;
	while (!rc) {
		rc = next_parts(j, parts, &parts);
		if (rc)
			break;
		if (!parts) {
			rc = err_fail("'%s' is not indexed: parts are missing:%s", j->opts.folder,
				      missing.len ? missing.data : " all");
			break;
		}
		rc = add_parts(p, j, parts, &missing);
	}
	if (rc > 0)
		rc = plan_settle(p, j) || plan_save(p, j) ? -1 : 0;
	buf_release(&missing);
	plan_free(p);
	return rc < 0 ? -1 : 0;
}
