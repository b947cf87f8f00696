/* model_dir.c - reads model directories. */
#include "model/model_dir.h"

#include "base/err.h"
#include "base/fs.h"

#include <assert.h>
#include <inttypes.h>

#define CHUNK ((size_t)1 << 20)		/* bytes that are read at once */
#define VOCAB_MAX ((size_t)256 << 20)

/* Lines of a vocabulary; blank ones at its end are none. */
static size_t count_lines(const struct buf *text)
{
	size_t lines = 0, n = text->len;

	while (n && (text->data[n - 1] == '\n' || text->data[n - 1] == '\r' || text->data[n - 1] == ' '))
		n--;
	for (size_t i = 0; i < n; i++)
		lines += text->data[i] == '\n';
	return lines + (n > 0);
}

/* A vocabulary that the word embeddings do not hold would be looked up beyond their end. */
static int check_lines(const struct buf *text, const struct config *c, const char *path)
{
	const size_t n = count_lines(text);

	if (n <= (size_t)c->vocab_size)
		return 0;
	return err_fail("'%s' has %zu tokens, and 'vocab_size' of config.json is %d", path, n, c->vocab_size);
}

static int check_vocab(const struct config *c, const char *folder)
{
	char *path = fs_join(folder, "vocab.txt");
	struct buf text = BUF_INIT;
	int rc = -1;

	if (!path)
		return -1;
	if (!fs_exists(path))
		rc = 0;
	else if (!fs_read_all(path, VOCAB_MAX, &text))
		rc = check_lines(&text, c, path);
	buf_release(&text);
	free(path);
	return rc;
}

int model_dir_config(struct config *c, const char *folder, enum head head)
{
	char *path = fs_join(folder, MODEL_DIR_CONFIG);
	int rc = -1;

	*c = (struct config)CONFIG_INIT;
	if (path)
		rc = config_read(c, path);
	free(path);
	if (rc)
		return -1;
	if (head != HEAD_UNSAID)
		c->head = head;
	if (c->head == HEAD_UNSAID)
		rc = err_fail("config.json of '%s' names none of the architectures that are known here; say which it is",
			      folder);
	else
		rc = check_vocab(c, folder);
	if (rc)
		config_release(c);
	return rc;
}

/* Opens the weights; where there are none of ours but others, says so. */
static int open_weights(struct safetensors **file, const char *folder)
{
	static const char *const others[] = { "model.safetensors.index.json", "pytorch_model.bin", "tf_model.h5",
					      "flax_model.msgpack" };
	char *path = fs_join(folder, MODEL_DIR_WEIGHTS);
	int rc = -1;

	if (!path)
		return -1;
	rc = safetensors_open(file, path);
	for (size_t i = 0; rc && !fs_exists(path) && i < sizeof(others) / sizeof(others[0]); i++) {
		char *other = fs_join(folder, others[i]);

		if (other && fs_exists(other)) {
			err_fail("'%s' has no " MODEL_DIR_WEIGHTS ", and '%s' is not read", folder, others[i]);
			i = sizeof(others) / sizeof(others[0]) - 1;
		}
		free(other);
	}
	free(path);
	return rc;
}

static bool is_missing(const struct mapping *map, const char *name)
{
	for (size_t i = 0; i < map->count; i++)
		if (map->items[i].fate == FATE_MISSING && !strcmp(map->items[i].param->name, name))
			return true;
	return false;
}

/* Plans M again as an encoder without pooler. */
static int drop_pooler(struct model_source *s, struct model *m)
{
	m->config.pooler = false;
	params_release(&m->params);
	mapping_release(&s->map);
	if (params_plan(&m->params, &m->config))
		return -1;
	return mapping_make(&s->map, &m->params, s->file, NULL);
}

/* RENEWED: see mapping.h. */
static int open_source(struct model_source **out, struct model *m, const char *folder, const char *renewed)
{
	struct model_source *s = calloc(1, sizeof(*s));
	int rc = -1;

	*out = NULL;
	if (!s)
		return err_memory();
	if (!open_weights(&s->file, folder) && !mapping_make(&s->map, &m->params, s->file, renewed))
		rc = 0;
	if (!rc && m->config.head == HEAD_NONE && is_missing(&s->map, "pooler.dense.weight") &&
	    is_missing(&s->map, "pooler.dense.bias"))
		rc = drop_pooler(s, m);
	if (rc)
		model_dir_close(s);
	else
		*out = s;
	return rc;
}

int model_dir_open(struct model_source **out, struct model *m, const char *folder)
{
	return open_source(out, m, folder, NULL);
}

int model_dir_open_new_scores(struct model_source **out, struct model *m, const char *folder)
{
	return open_source(out, m, folder, head_infos[m->config.head].scores);
}

void model_dir_close(struct model_source *s)
{
	if (!s)
		return;
	mapping_release(&s->map);
	safetensors_close(s->file);
	free(s);
}

int model_dir_check(const struct model_source *s, const struct model *m, bool new_head)
{
	const char *first = NULL;
	size_t missing = 0;

	for (size_t i = 0; i < s->map.count; i++) {
		const struct match *item = &s->map.items[i];

		if (item->fate != FATE_MISSING || (new_head && item->param->layer == m->config.num_hidden_layers))
			continue;
		missing++;
		first = first ? first : item->param->name;
	}
	if (missing)
		return err_fail("cannot use '%s' as a %s: %zu tensors are missing, the first is '%s'", s->file->path,
				head_infos[m->config.head].architecture, missing, first);
	return 0;
}

/* --- reading ---------------------------------------------------------------------- */

/* Memory that values pass through. */
struct stage {
	void *host[2], *device;
};

static int stage_open(struct stage *t, const struct kernels *k)
{
	*t = (struct stage){ .device = NULL };
	if (k->host_alloc(&t->host[0], CHUNK) || k->host_alloc(&t->host[1], CHUNK))
		return -1;
	return k->alloc(&t->device, CHUNK);
}

static void stage_close(struct stage *t, const struct kernels *k)
{
	k->free(t->device, CHUNK);
	k->host_free(t->host[1], CHUNK);
	k->host_free(t->host[0], CHUNK);
}

static enum dtype dtype_of(enum safetensors_dtype d)
{
	return d == ST_F64 ? DTYPE_F64 : d == ST_F16 ? DTYPE_F16 : d == ST_BF16 ? DTYPE_BF16 : DTYPE_F32;
}

static int read_param(const struct safetensors *file, const struct match *item, const struct model *m, struct stage *t)
{
	const enum dtype d = dtype_of(item->tensor->dtype);
	const size_t size = dtype_size(d);

	for (uint64_t at = 0; at < item->tensor->bytes; at += CHUNK) {
		const size_t n = item->tensor->bytes - at < CHUNK ? (size_t)(item->tensor->bytes - at) : CHUNK;
		const int64_t first = item->param->first + (int64_t)(at / size), count = (int64_t)(n / size);

		if (safetensors_read(file, item->tensor, at, t->host[0], n))
			return -1;
		m->k->upload(m->q, t->device, t->host[0], n);
		m->k->cast(m->q, &(struct cast){
			.x = tensor_of(t->device, d, 1, count), .y = model_elements(m, first, count) });
		if (m->k->sync(m->q))
			return -1;
	}
	return 0;
}

/* The tensor that parameter P was read from. */
static const struct safetensor *tensor_of_param(const struct mapping *map, const struct param *p)
{
	for (size_t i = 0; i < map->count; i++)
		if (map->items[i].param == p)
			return map->items[i].tensor;
	return NULL;
}

/* A parameter that stands in the file twice must be the same both times. */
static int check_tied(const struct model_source *s, const struct match *item, const struct model *m, struct stage *t)
{
	const struct safetensor *twin = tensor_of_param(&s->map, &m->params.items[item->param->tied]);
	bool same = twin && twin->dtype == item->tensor->dtype;

	for (uint64_t at = 0; same && at < twin->bytes; at += CHUNK) {
		const size_t n = twin->bytes - at < CHUNK ? (size_t)(twin->bytes - at) : CHUNK;

		if (safetensors_read(s->file, twin, at, t->host[0], n) ||
		    safetensors_read(s->file, item->tensor, at, t->host[1], n))
			return -1;
		same = !memcmp(t->host[0], t->host[1], n);
	}
	if (same)
		return 0;
	return err_fail("cannot use '%s': '%s' and '%s' differ, and config.json ties them ('tie_word_embeddings')",
			s->file->path, item->tensor->name, twin ? twin->name : "");
}

int model_dir_read(const struct model_source *s, struct model *m, uint64_t seed)
{
	struct stage stage;
	int rc = stage_open(&stage, m->k) || model_alloc(m) ? -1 : 0;

	for (size_t i = 0; i < s->map.count && !rc; i++) {
		const struct match *item = &s->map.items[i];

		switch (item->fate) {
		case FATE_MAPPED: rc = read_param(s->file, item, m, &stage); break;
		case FATE_TIED: rc = check_tied(s, item, m, &stage); break;
		case FATE_MISSING: rc = model_fill(m, item->param, seed); break;
		default: break;
		}
	}
	stage_close(&stage, m->k);
	return rc;
}
