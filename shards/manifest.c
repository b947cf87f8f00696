/* manifest.json. */
#include "shards/manifest.h"
#include "base/err.h"
#include "base/fs.h"
#include "shards/canon.h"

#include <xxhash.h>

#define FORMAT "berttools shards"
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

static json_t *shard_json(const struct manifest_shard *s)
{
	json_t *o = json_object();

	if (!o || canon_set(o, "name", json_string(s->name)) || canon_set(o, "bytes", canon_of_uint(s->bytes)) ||
	    canon_set(o, "instances", canon_of_uint(s->instances)) ||
	    canon_set(o, "documents", canon_of_uint(s->documents)) || canon_set(o, "digest", canon_of_key(s->digest))) {
		json_decref(o);
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

static json_t *shards_json(const struct manifest *m)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < m->n_shards; i++) {
		if (json_array_append_new(list, shard_json(&m->shards[i]))) {
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

/* The digest of O, which has none in it. */
static int digest_of(const json_t *o, struct key *digest)
{
	char *text = canon_print(o);
	XXH128_hash_t hash;

	if (!text)
		return err_memory();
	hash = XXH3_128bits(text, strlen(text));
	*digest = (struct key){ hash.high64, hash.low64 };
	free(text);
	return 0;
}

int manifest_save(const struct manifest *m, const char *folder)
{
	char *path = fs_join(folder, MANIFEST_NAME), *text = NULL;
	json_t *o = json_object();
	struct key digest;
	int rc = -1;

	if (path && o && !canon_set(o, "format", json_string(FORMAT)) &&
	    !canon_set(o, "version", json_integer(MANIFEST_VERSION)) &&
	    !canon_set(o, "made_by", json_string(m->made_by)) &&
	    !canon_set(o, "recipe", shard_recipe_json(&m->recipe)) &&
	    !canon_set(o, "options", json_incref(m->options)) && !canon_set(o, "corpus", corpus_json(m)) &&
	    !canon_set(o, "inputs", inputs_json(m)) && !canon_set(o, "shards", shards_json(m)) &&
	    !canon_set(o, "totals", shard_totals_json(&m->totals)) && !digest_of(o, &digest) &&
	    !canon_set(o, "digest", canon_of_key(digest)))
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

static int parse_shards(struct manifest *m, const json_t *list)
{
	const size_t n = json_array_size(list);

	if (!n || n > KEYS_SHARDS_MAX)
		return err_corrupt("it lists %zu shards", n);
	m->shards = calloc(n, sizeof(*m->shards));
	if (!m->shards)
		return err_memory();
	m->n_shards = n;
	for (size_t i = 0; i < n; i++) {
		const json_t *o = json_array_get(list, i);
		struct manifest_shard *s = &m->shards[i];

		if (copy_string(o, "name", &s->name) || canon_uint(o, "bytes", 0, INT64_MAX, &s->bytes) ||
		    canon_uint(o, "instances", 0, INT64_MAX, &s->instances) ||
		    canon_uint(o, "documents", 0, INT64_MAX, &s->documents) || canon_key(o, "digest", &s->digest))
			return err_prefix("shard %zu", i);
		if (strchr(s->name, '/'))
			return err_corrupt("shard %zu: its name '%.200s' leads out of the folder", i, s->name);
	}
	return 0;
}

static int parse(struct manifest *m, const json_t *o)
{
	const json_t *recipe, *options, *corpus, *inputs, *shards, *totals;
	uint64_t version;

	if (canon_is(o, "format", FORMAT) || canon_uint(o, "version", MANIFEST_VERSION, MANIFEST_VERSION, &version) ||
	    copy_string(o, "made_by", &m->made_by))
		return -1;
	if (!(recipe = canon_object(o, "recipe")) || !(options = canon_object(o, "options")) ||
	    !(corpus = canon_object(o, "corpus")) || !(inputs = canon_array(o, "inputs")) ||
	    !(shards = canon_array(o, "shards")) || !(totals = canon_object(o, "totals")))
		return -1;
	m->options = json_deep_copy(options);
	if (!m->options)
		return err_memory();
	if (shard_recipe_parse(&m->recipe, recipe) ||
	    canon_uint(corpus, "documents", 0, INT64_MAX, &m->corpus_documents) ||
	    canon_key(corpus, "digest", &m->corpus) || parse_inputs(m, inputs) || parse_shards(m, shards) ||
	    shard_totals_parse(&m->totals, totals))
		return -1;
	return 0;
}

/* Takes the digest out of O and holds it against the rest. */
static int check_digest(json_t *o)
{
	struct key says, is;

	if (canon_key(o, "digest", &says) || json_object_del(o, "digest") || digest_of(o, &is))
		return -1;
	return key_compare(says, is) ? err_corrupt("its digest is not that of the rest: something was changed") : 0;
}

int manifest_parse(struct manifest **out, const char *text, size_t len)
{
	json_t *o = canon_parse(text, len);
	struct manifest *m = o ? calloc(1, sizeof(*m)) : NULL;
	int rc = -1;

	*out = NULL;
	if (o && !m)
		err_memory();
	else if (o)
		rc = parse(m, o) || check_digest(o) ? -1 : 0;
	json_decref(o);
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

/* Whether LEN bytes at TEXT are the canonical form of what they say. All but the digest itself is under the digest. */
static int check_bytes(const char *text, size_t len)
{
	json_t *o = canon_parse(text, len);
	char *want = o ? canon_print(o) : NULL, digest[33];
	struct key key;
	int rc = -1;

	if (want && !canon_key(o, "digest", &key)) {
		key_print(key, digest);
		rc = strlen(want) == len && !memcmp(want, text, len) && !strcmp(canon_string(o, "digest"), digest) ? 0
			: err_corrupt("its bytes are not those that were written, though they say the same");
	}
	free(want);
	json_decref(o);
	return rc;
}

int manifest_check_bytes(const char *folder)
{
	char *path = fs_join(folder, MANIFEST_NAME);
	struct buf text = BUF_INIT;
	int rc = path ? fs_read_all(path, BYTES_MAX, &text) : -1;

	if (!rc)
		rc = check_bytes(text.data, text.len);
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
		rc = version > MANIFEST_VERSION || !check_digest(o);
	json_decref(o);
	buf_release(&text);
	free(path);
	return rc;
}
