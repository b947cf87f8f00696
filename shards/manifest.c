/* manifest.json. */
#include "shards/manifest.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/out.h"
#include "shards/canon.h"
#include "shards/canon_list.h"


#define FORMAT "berttools shards"
#define SHARDS "shards"			/* the list that is long */
#define BYTES_MAX ((size_t)1 << 30)

void manifest_free(struct manifest *m)
{
	if (!m)
		return;
	for (size_t i = 0; m->inputs && i < m->n_inputs; i++)
		free(m->inputs[i].name);
	for (size_t i = 0; m->shards && i < m->n_shards; i++)
		free(m->shards[i].name);
	free(m->inputs);
	free(m->shards);
	free(m->made_by);
	json_decref(m->options);
	shard_recipe_release(&m->recipe);
	free(m);
}

/* --- names of shards --------------------------------------------------------------------- */

/* NULL: the options do not tell. */
static const char *usual_name(const struct manifest *m, size_t k, char *room)
{
	const char *name = json_string_value(json_object_get(m->options, "name"));

	if (!name || strlen(name) > MANIFEST_ROOM - 40)
		return NULL;
	shard_file_name(room, MANIFEST_ROOM, name, (uint32_t)k, (uint32_t)m->n_shards);
	return room;
}

const char *manifest_shard_name(const struct manifest *m, size_t k, char room[MANIFEST_ROOM])
{
	return m->shards[k].name ? m->shards[k].name : usual_name(m, k, room);
}

/* --- writing ----------------------------------------------------------------------------- */

static json_t *input_json(const struct manifest_input *in)
{
	json_t *o = json_object();

	if (!o || canon_set(o, "name", json_string(in->name)) || canon_set(o, "bytes", canon_of_uint(in->bytes)) ||
	    canon_set(o, "sample", canon_of_key(in->sample)) ||
	    canon_set(o, "documents", canon_of_uint(in->documents)) || canon_set(o, "keys", canon_of_key(in->keys))) {
		json_decref(o);
		return NULL;
	}
	return o;
}

/* Element K of the list of shards. */
static json_t *shard_json(const void *ctx, size_t k)
{
	const struct manifest *m = ctx;
	const struct manifest_shard *s = &m->shards[k];
	char room[MANIFEST_ROOM];
	json_t *o = json_object();

	if (!o || canon_set(o, "name", json_string(manifest_shard_name(m, k, room))) ||
	    canon_set(o, "bytes", canon_of_uint(s->bytes)) ||
	    canon_set(o, "instances", canon_of_uint(s->instances)) ||
	    canon_set(o, "documents", canon_of_uint(s->documents)) || canon_set(o, "digest", canon_of_key(s->digest))) {
		json_decref(o);
		err_memory();
		return NULL;
	}
	return o;
}

static json_t *inputs_json(const struct manifest *m)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < m->n_inputs; i++) {
		if (json_array_append_new(list, input_json(&m->inputs[i]))) {
			json_decref(list);
			list = NULL;
		}
	}
	return list;
}

static json_t *corpus_json(const struct manifest *m)
{
	json_t *o = json_object();

	if (!o || canon_set(o, "documents", canon_of_uint(m->corpus_documents)) ||
	    canon_set(o, "digest", canon_of_key(m->corpus))) {
		json_decref(o);
		return NULL;
	}
	return o;
}

/* All but the digest, and what is in the list of shards. */
static json_t *rest_json(const struct manifest *m)
{
	json_t *o = json_object();

	if (o && !canon_set(o, "format", json_string(FORMAT)) &&
	    !canon_set(o, "version", json_integer(MANIFEST_VERSION)) &&
	    !canon_set(o, "made_by", json_string(m->made_by)) &&
	    !canon_set(o, "recipe", shard_recipe_json(&m->recipe)) &&
	    !canon_set(o, "options", json_incref(m->options)) && !canon_set(o, "corpus", corpus_json(m)) &&
	    !canon_set(o, "inputs", inputs_json(m)) && !canon_set(o, SHARDS, json_array()) &&
	    !canon_set(o, "totals", shard_totals_json(&m->totals)))
		return o;
	json_decref(o);
	err_memory();
	return NULL;
}

static int put_out(void *ctx, const void *text, size_t len)
{
	return out_write(ctx, text, len);
}

static int write_text(const char *path, const struct canon_list_source *s)
{
	struct out *out;

	if (out_open(&out, path))
		return -1;
	if (canon_list_print(s, put_out, out) || out_commit(out)) {
		out_discard(out);
		return -1;
	}
	return 0;
}

int manifest_save(const struct manifest *m, const char *folder)
{
	char *path = fs_join(folder, MANIFEST_NAME);
	json_t *rest = path ? rest_json(m) : NULL;
	const struct canon_list_source s = { rest, SHARDS, m->n_shards, shard_json, m };
	struct key digest;
	int rc = rest ? canon_list_source_digest(&s, &digest) : -1;

	if (!rc)
		rc = canon_set(rest, "digest", canon_of_key(digest)) ? err_memory() : write_text(path, &s);
	json_decref(rest);
	free(path);
	return rc;
}

/* --- reading ------------------------------------------------------------------------------- */

static int copy_string(const json_t *o, const char *name, char **copy)
{
	const char *text = canon_string(o, name);

	if (!text)
		return -1;
	*copy = strdup(text);
	return *copy ? 0 : err_memory();
}

static int parse_inputs(struct manifest *m, const json_t *list)
{
	const size_t n = json_array_size(list);

	m->inputs = calloc(n ? n : 1, sizeof(*m->inputs));
	if (!m->inputs)
		return err_memory();
	m->n_inputs = n;
	for (size_t i = 0; i < n; i++) {
		const json_t *o = json_array_get(list, i);
		struct manifest_input *in = &m->inputs[i];

		if (copy_string(o, "name", &in->name) || canon_uint(o, "bytes", 0, INT64_MAX, &in->bytes) ||
		    canon_key(o, "sample", &in->sample) || canon_uint(o, "documents", 0, INT64_MAX, &in->documents) ||
		    canon_key(o, "keys", &in->keys))
			return err_prefix("input %zu", i);
	}
	return 0;
}

/* The name is kept where it is another than the usual one. */
static int parse_name(struct manifest *m, size_t k, const json_t *o)
{
	char room[MANIFEST_ROOM];
	const char *name = canon_string(o, "name"), *usual = usual_name(m, k, room);

	if (!name)
		return -1;
	if (strchr(name, '/'))
		return err_corrupt("its name '%.200s' leads out of the folder", name);
	if (usual && !strcmp(name, usual))
		return 0;
	return copy_string(o, "name", &m->shards[k].name);
}

static int parse_shard(struct manifest *m, size_t k, const json_t *o)
{
	struct manifest_shard *s = &m->shards[k];

	if (canon_uint(o, "bytes", 0, INT64_MAX, &s->bytes) ||
	    canon_uint(o, "instances", 0, INT64_MAX, &s->instances) ||
	    canon_uint(o, "documents", 0, INT64_MAX, &s->documents) || canon_key(o, "digest", &s->digest))
		return -1;
	return parse_name(m, k, o);
}

/* The options, which tell the usual names, are there. */
static int parse_shards(struct manifest *m, struct canon_list *list)
{
	json_t *o;
	size_t k;
	int rc;

	if (!list->n || list->n > KEYS_SHARDS_MAX)
		return err_corrupt("it lists %zu shards", list->n);
	m->shards = calloc(list->n, sizeof(*m->shards));
	if (!m->shards)
		return err_memory();
	m->n_shards = list->n;
	for (k = 0; (rc = canon_list_next(list, &o)) > 0; k++) {
		rc = k < m->n_shards ? parse_shard(m, k, o) : err_corrupt("it is one too many");
		json_decref(o);
		if (rc)
			break;
	}
	if (rc)
		return err_prefix("shard %zu", k);
	return k == m->n_shards ? 0 : err_corrupt("it lists %zu shards, not %zu", k, m->n_shards);
}

static int parse(struct manifest *m, struct canon_list *list)
{
	const json_t *o = list->rest, *recipe, *options, *corpus, *inputs, *totals;

	if (canon_is(o, "format", FORMAT) || canon_is_version(o, MANIFEST_VERSION) ||
	    copy_string(o, "made_by", &m->made_by))
		return -1;
	if (!(recipe = canon_object(o, "recipe")) || !(options = canon_object(o, "options")) ||
	    !(corpus = canon_object(o, "corpus")) || !(inputs = canon_array(o, "inputs")) ||
	    !(totals = canon_object(o, "totals")))
		return -1;
	m->options = json_deep_copy(options);
	if (!m->options)
		return err_memory();
	if (shard_recipe_parse(&m->recipe, recipe) ||
	    canon_uint(corpus, "documents", 0, INT64_MAX, &m->corpus_documents) ||
	    canon_key(corpus, "digest", &m->corpus) || parse_inputs(m, inputs) || parse_shards(m, list) ||
	    shard_totals_parse(&m->totals, totals))
		return -1;
	return 0;
}

static int check_digest(const struct canon_list *list)
{
	struct key says, is;

	if (canon_key(list->rest, "digest", &says) || canon_list_digest(list, &is))
		return -1;
	return canon_hold_digest(says, is);
}

int manifest_parse(struct manifest **out, const char *text, size_t len)
{
	struct canon_list list;
	struct manifest *m;
	int rc;

	*out = NULL;
	if (canon_list_open(&list, SHARDS, text, len))
		return -1;
	m = calloc(1, sizeof(*m));
	if (!m)
		rc = err_memory();
	else
		rc = parse(m, &list) || check_digest(&list) ? -1 : 0;
	canon_list_release(&list);
	if (rc)
		manifest_free(m);
	else
		*out = m;
	return rc;
}

int manifest_load(struct manifest **out, const char *folder)
{
	char *path = fs_join(folder, MANIFEST_NAME);
	struct buf text = BUF_INIT;
	int rc = -1;

	*out = NULL;
	if (!path)
		return -1;
	if (!fs_exists(path))
		rc = 0;
	else if (!fs_read_all(path, BYTES_MAX, &text))
		rc = manifest_parse(out, text.data, text.len) ? err_prefix("'%s'", path) : 0;
	buf_release(&text);
	free(path);
	return rc;
}

int manifest_is_foreign(const char *folder)
{
	char *path = fs_join(folder, MANIFEST_NAME);
	struct buf text = BUF_INIT;
	uint64_t version;
	json_t *o = NULL;
	int rc = path ? fs_read_all(path, BYTES_MAX, &text) : -1;

	if (!rc)
		o = canon_parse(text.data, text.len);
	if (o && !canon_is(o, "format", FORMAT) && !canon_uint(o, "version", 0, INT64_MAX, &version))
		rc = version > MANIFEST_VERSION || !canon_unseal(o);
	json_decref(o);
	buf_release(&text);
	free(path);
	return rc;
}
