/* checkpoint_state.c - weights and moments of a checkpoint. */
#include "base/err.h"
#include "base/fs.h"
#include "trainer/checkpoint_impl.h"

#include <assert.h>
#include <inttypes.h>

#define CHUNK ((int64_t)1 << 18)	/* elements that are moved at once */
#define RANGE_NAME 64

/* --- writing -------------------------------------------------------------------------- */

static int put_range(struct safetensors_writer *w, const struct model *m, const float *from, float *host)
{
	for (int64_t at = 0; at < m->params.total; at += CHUNK) {
		const int64_t n = m->params.total - at < CHUNK ? m->params.total - at : CHUNK;

		m->k->download(m->q, host, from + at, (size_t)n * sizeof(*host));
		if (m->k->sync(m->q) || safetensors_put(w, host, (size_t)n * sizeof(*host)))
			return -1;
	}
	return 0;
}

int checkpoint_write_moments(const char *folder, const struct optimizer *o)
{
	const struct model *m = o->model;
	const size_t bytes = (size_t)CHUNK * sizeof(float);
	char *path = fs_join(folder, CHECKPOINT_MOMENTS), names[2][RANGE_NAME];
	struct safetensor entries[2];
	struct safetensors_writer *w = NULL;
	void *host = NULL;
	int rc = -1;

	assert(m->dtype == DTYPE_F32);
	for (int i = 0; i < 2; i++) {
		snprintf(names[i], sizeof(names[i]), "%c.0-%" PRId64, "mv"[i], m->params.total);
		entries[i] = (struct safetensor){ .name = names[i], .dtype = ST_F32, .n_dims = 1, .shape = { m->params.total } };
	}
	if (path && !m->k->host_alloc(&host, bytes) && !safetensors_create(&w, path, entries, 2) && !put_range(w, m, o->m, host) &&
	    !put_range(w, m, o->v, host) && !safetensors_commit(w)) {
		w = NULL;
		rc = 0;
	}
	safetensors_discard(w);
	m->k->host_free(host, bytes);
	free(path);
	return rc;
}

/* --- reading --------------------------------------------------------------------------- */

int checkpoint_weights(const char *folder, struct model *m)
{
	struct model_source *s;
	int rc = -1;

	if (model_dir_open(&s, m, folder))
		return -1;
	if (!model_dir_check(s, m, false))
		rc = model_dir_read(s, m, 0);
	model_dir_close(s);
	return rc;
}

/* "m.FIRST-END": which moment, and of which elements. */
static int parse_range(const struct safetensor *t, char *which, int64_t *first, int64_t *end)
{
	char again[RANGE_NAME];

	*which = 0;
	if (sscanf(t->name, "%c.%" SCNd64 "-%" SCNd64, which, first, end) != 3)
		return -1;
	snprintf(again, sizeof(again), "%c.%" PRId64 "-%" PRId64, *which, *first, *end);
	return !strcmp(again, t->name) && (*which == 'm' || *which == 'v') && t->dtype == ST_F32 && *first >= 0 && *end >= *first &&
		       t->count == *end - *first ? 0 : -1;
}

static int get_range(const struct safetensors *file, const struct safetensor *t, const struct model *m, float *to, float *host)
{
	for (int64_t at = 0; at < t->count; at += CHUNK) {
		const int64_t n = t->count - at < CHUNK ? t->count - at : CHUNK;
		const size_t bytes = (size_t)n * sizeof(*host);

		if (safetensors_read(file, t, (uint64_t)at * sizeof(*host), host, bytes))
			return -1;
		m->k->upload(m->q, to + at, host, bytes);
		if (m->k->sync(m->q))
			return -1;
	}
	return 0;
}

/* One file's ranges. They must follow each other: HAVE is how many elements of m and v are there already. */
static int read_file(const char *path, struct optimizer *o, int64_t have[2], float *host)
{
	const struct model *m = o->model;
	struct safetensors *s;
	int rc = 0;

	if (safetensors_open(&s, path))
		return -1;
	for (size_t i = 0; i < s->count && !rc; i++) {
		int64_t first, end;
		char which;

		if (parse_range(&s->items[i], &which, &first, &end) || first != have[which == 'v'] || end > m->params.total)
			rc = err_corrupt("'%s': '%s' is not the range of parameters that comes next", path, s->items[i].name);
		else
			rc = get_range(s, &s->items[i], m, (float *)(which == 'v' ? o->v : o->m) + first, host);
		if (!rc)
			have[which == 'v'] = end;
	}
	safetensors_close(s);
	return rc;
}

static int read_files(const char *folder, struct optimizer *o, char *const *names, size_t n, float *host)
{
	int64_t have[2] = { 0, 0 };
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++) {
		char *path;

		if (strncmp(names[i], "moments-", strlen("moments-")))
			continue;
		path = fs_join(folder, names[i]);
		rc = path ? read_file(path, o, have, host) : -1;
		free(path);
	}
	if (!rc && (have[0] != o->model->params.total || have[1] != have[0]))
		rc = err_corrupt("'%s' has moments of %" PRId64 " and %" PRId64 " elements, and the model has %" PRId64, folder, have[0],
				 have[1], o->model->params.total);
	return rc;
}

int checkpoint_moments(const char *folder, struct optimizer *o)
{
	const size_t bytes = (size_t)CHUNK * sizeof(float);
	const struct kernels *k = o->model->k;
	char **names = NULL;
	void *host = NULL;
	size_t n = 0;
	int rc = -1;

	assert(o->model->dtype == DTYPE_F32);
	if (!k->host_alloc(&host, bytes) && !fs_list(folder, &names, &n))
		rc = read_files(folder, o, names, n, host);
	fs_free_names(names, n);
	k->host_free(host, bytes);
	return rc;
}
