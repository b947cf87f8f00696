/* model_dir_save.c - writes model directories. */
#include "base/err.h"
#include "base/fs.h"
#include "model/model_dir.h"

#define CHUNK ((int64_t)1 << 18)	/* elements that are written at once */
#define TOKENIZER_MAX ((size_t)256 << 20)

static int by_name(const void *a, const void *b)
{
	return strcmp((*(const struct param *const *)a)->name, (*(const struct param *const *)b)->name);
}

/* The parameters that a file holds, sorted by name as save_pretrained has them; the caller frees. */
static const struct param **saved_params(const struct params *p, size_t *n)
{
	const struct param **list = calloc((size_t)p->count, sizeof(*list));

	*n = 0;
	for (int i = 0; list && i < p->count; i++)
		if (p->items[i].saved)
			list[(*n)++] = &p->items[i];
	if (list)
		qsort(list, *n, sizeof(*list), by_name);
	else
		err_memory();
	return list;
}

static struct safetensor entry_of(const struct param *p)
{
	return (struct safetensor){ .name = p->name, .dtype = ST_F32, .n_dims = p->n_dims, .shape = { p->rows, p->cols } };
}

/* P's values as F32, by way of STAGE in the backend's memory and HOST. */
static int write_param(struct safetensors_writer *w, const struct model *m, const struct param *p, void *stage, void *host)
{
	for (int64_t at = 0; at < p->count; at += CHUNK) {
		const int64_t n = p->count - at < CHUNK ? p->count - at : CHUNK;
		const struct tensor y = tensor_of(stage, DTYPE_F32, 1, n);

		m->k->cast(m->q, &(struct cast){ .x = model_elements(m, p->first + at, n), .y = y });
		m->k->download(m->q, host, stage, tensor_bytes(y));
		if (m->k->sync(m->q) || safetensors_put(w, host, tensor_bytes(y)))
			return -1;
	}
	return 0;
}

static int write_params(struct safetensors_writer *w, const struct model *m, const struct param *const *list, size_t n)
{
	const size_t bytes = (size_t)CHUNK * sizeof(float);
	void *stage = NULL, *host = NULL;
	int rc = m->k->alloc(&stage, bytes) || m->k->host_alloc(&host, bytes) ? -1 : 0;

	for (size_t i = 0; i < n && !rc; i++)
		rc = write_param(w, m, list[i], stage, host);
	m->k->host_free(host, bytes);
	m->k->free(stage, bytes);
	return rc;
}

static int save_weights(const struct model *m, const char *path)
{
	size_t n;
	const struct param **list = saved_params(&m->params, &n);
	struct safetensor *entries = calloc(n ? n : 1, sizeof(*entries));
	struct safetensors_writer *w = NULL;
	int rc = -1;

	if (!list || !entries)
		goto out;
	for (size_t i = 0; i < n; i++)
		entries[i] = entry_of(list[i]);
	if (safetensors_create(&w, path, entries, n))
		goto out;
	rc = write_params(w, m, list, n) || safetensors_commit(w) ? -1 : 0;
	if (rc)
		safetensors_discard(w);
out:
	free(entries);
	free(list);
	return rc;
}

int model_dir_save(const struct model *m, const char *folder)
{
	char *config = fs_join(folder, MODEL_DIR_CONFIG), *weights = fs_join(folder, MODEL_DIR_WEIGHTS);
	int rc = -1;

	if (config && weights && !fs_make_folder(folder) && !config_write(&m->config, config))
		rc = save_weights(m, weights);
	free(weights);
	free(config);
	return rc;
}

static int copy_file(const char *from, const char *to)
{
	struct buf b = BUF_INIT;
	int rc = -1;

	if (!fs_exists(from))
		return 0;
	if (!buf_reserve(&b, 1) && !fs_read_all(from, TOKENIZER_MAX, &b))
		rc = fs_write_all(to, b.data, b.len);
	buf_release(&b);
	return rc;
}

int model_dir_copy_file(const char *from, const char *to, const char *name)
{
	char *source = fs_join(from, name), *target = fs_join(to, name);
	const int rc = source && target ? copy_file(source, target) : -1;

	free(target);
	free(source);
	return rc;
}

int model_dir_copy_tokenizer(const char *from, const char *to)
{
	static const char *const names[] = { "vocab.txt", "tokenizer_config.json", "special_tokens_map.json",
					     "tokenizer.json", "added_tokens.json" };
	int rc = fs_make_folder(to);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !rc; i++)
		rc = model_dir_copy_file(from, to, names[i]);
	return rc;
}
