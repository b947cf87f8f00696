/*
 * tiny.h - small models and batches for the tests of this folder. The model of tests/data/model/tiny has 2
 * layers, 16 wide, 40 words, and all heads; the files beside it hold inputs, outputs, losses and gradient norms.
 */
#ifndef TESTS_UNIT_MODEL_TINY_H
#define TESTS_UNIT_MODEL_TINY_H

#include "base/cpu.h"
#include "base/err.h"
#include "base/fs.h"
#include "model/model_dir.h"

#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>

/* CALL must return 0. */
#define OK(call) tiny_ok((call), __FILE__, __LINE__)
static inline void tiny_ok(int rc, const char *file, int line)
{
	if (rc)
		print_message("%s\n", err_text());
	_assert_int_equal((uintmax_t)rc, 0, file, line);
}

/* CALL must fail with CODE, and the reason must hold TEXT. */
#define FAILS(call, code, text) tiny_fails((call), (code), (text), __FILE__, __LINE__)
static inline void tiny_fails(int rc, enum exit_code code, const char *text, const char *file, int line)
{
	_assert_int_equal((uintmax_t)(intmax_t)rc, (uintmax_t)(intmax_t)-1, file, line);
	if (!strstr(err_text(), text))
		print_message("'%s' lacks '%s'\n", err_text(), text);
	_assert_true(strstr(err_text(), text) != NULL, "the reason", file, line);
	_assert_int_equal(err_code(), code, file, line);
}

/* tests/data/model/NAME, good until the next call but three. */
static inline const char *tiny_path(const char *name)
{
	static char paths[4][512];
	static unsigned next;
	const char *top = getenv("TOP");
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/tests/data/model/%s", top ? top : ".", name);
	return path;
}

/* Every test runs in a fresh folder. */
static inline int tiny_enter(void **state)
{
	char path[] = "/tmp/test_model.XXXXXX";

	if (!mkdtemp(path))
		return -1;
	*state = strdup(path);
	return *state ? 0 : -1;
}

static inline int tiny_leave(void **state)
{
	const int rc = fs_remove_tree(*state);

	free(*state);
	return rc;
}

/* FOLDER/NAME, the same way. */
static inline const char *tiny_in(void **state, const char *name)
{
	static char paths[4][512];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", (const char *)*state, name);
	return path;
}

/* A backend and a queue of it. */
struct ground {
	struct kernels k;
	struct queue *q;
};

/* BACKEND: "ref", or "cpu:" and the processor's features that it may use (base/cpu.h). */
static inline void ground_open(struct ground *g, const char *backend)
{
	const bool cpu = !strncmp(backend, "cpu", 3);

	OK(cpu_limit(cpu && backend[3] ? backend + 4 : "native"));
	OK(kernels_open(&g->k, cpu ? "cpu" : backend, 2));
	OK(g->k.queue_open(&g->k, &g->q));
}

static inline void ground_close(struct ground *g)
{
	g->k.queue_close(g->q);
	kernels_close(&g->k);
}

/* The tiny model's config with members changed as CHANGES, a JSON object, says. */
static inline void tiny_config(struct config *c, const char *changes)
{
	json_t *o = json_load_file(tiny_path("tiny/config.json"), 0, NULL), *new = json_loads(changes, 0, NULL);
	char *text;

	assert_non_null(o);
	assert_non_null(new);
	json_object_update(o, new);
	text = json_dumps(o, 0);
	OK(config_parse(c, text, strlen(text), "config"));
	free(text);
	json_decref(new);
	json_decref(o);
}

/* The tiny model of the files, with HEAD. */
static inline void tiny_load(struct model *m, struct ground *g, enum head head, enum dtype dtype)
{
	struct config c;
	struct model_source *s;

	OK(model_dir_config(&c, tiny_path("tiny"), head));
	OK(model_init(m, &g->k, g->q, &c, dtype));
	OK(model_dir_open(&s, m, tiny_path("tiny")));
	OK(model_dir_check(s, m, false));
	OK(model_dir_read(s, m, 1));
	model_dir_close(s);
}

/* A new model, by CHANGES, whose weights are large enough to matter. */
static inline void tiny_fresh(struct model *m, struct ground *g, const char *changes, enum head head, enum dtype dtype)
{
	struct config c;

	tiny_config(&c, changes);
	c.head = head;
	c.initializer_range = 0.4;
	OK(model_init(m, &g->k, g->q, &c, dtype));
	OK(model_fresh(m, 5));
}

static inline double tiny_value(const void *data, enum dtype dtype, int64_t i)
{
	return dtype == DTYPE_F64 ? ((const double *)data)[i] : (double)((const float *)data)[i];
}

#endif
