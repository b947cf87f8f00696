/* run_folder.c - the folder that one run writes. */
#include "trainer/run_folder.h"

#include "base/err.h"
#include "base/folder_lock.h"
#include "base/fs.h"
#include "base/json_file.h"
#include "base/out.h"
#include "trainer/train_log.h"

#include <inttypes.h>
#include <unistd.h>

#define RUN_MAX ((size_t)1 << 20)

/* --- whose run it is ---------------------------------------------------------------- */

static char *value_text(const json_t *v)
{
	char *text = v ? json_dumps(v, JSON_ENCODE_ANY | JSON_REAL_PRECISION(12)) : strdup("nothing");

	if (!text)
		err_memory();
	return text;
}

/* Nobody asked for another order: it is another program's. */
static int other_order(const char *path)
{
	char last[32] = "checkpoint-N";
	uint64_t *steps = NULL;
	size_t n = 0;

	if (checkpoint_list(path, &steps, &n))
		return -1;
	if (n)
		snprintf(last, sizeof(last), "checkpoint-%" PRIu64, steps[n - 1]);
	free(steps);
	return err_fail("'%s' was begun by another version of this program, which took the instances in another order: to go on from its weights, give another folder, and --init %s/%s",
			path, path, last);
}

static int differs(const char *path, const char *name, const json_t *is, const json_t *wanted)
{
	char *a, *b;

	if (!strcmp(name, RUN_FOLDER_ORDER))
		return other_order(path);
	a = value_text(is);
	b = value_text(wanted);
	if (a && b)
		err_fail("'%s' holds another run: its %s is %s, not %s; give another folder", path, name, a, b);
	free(b);
	free(a);
	return -1;
}

static int compare(const char *path, json_t *is, json_t *wanted)
{
	const char *name;
	json_t *value;

	json_object_foreach(wanted, name, value)
		if (!json_equal(json_object_get(is, name), value))
			return differs(path, name, json_object_get(is, name), value);
	json_object_foreach(is, name, value)
		if (!json_object_get(wanted, name))
			return differs(path, name, value, NULL);
	return 0;
}

static int check_facts(const char *path, const char *file, const json_t *facts)
{
	json_t *is = json_file_read(file, RUN_MAX), *wanted = is ? json_deep_copy(facts) : NULL;
	int rc = -1;

	if (wanted)
		rc = compare(path, is, wanted);
	else if (is)
		err_memory();
	json_decref(wanted);
	json_decref(is);
	return rc;
}

/* A folder without run.json is nobody's run, unless a run's files are in it. */
static int claim(const struct run_folder *r, const char *file, const json_t *facts)
{
	char *log = fs_join(r->path, TRAIN_LOG_NAME);
	uint64_t *steps = NULL;
	size_t n = 0;
	int rc = -1;

	if (log && !checkpoint_list(r->path, &steps, &n))
		rc = n || fs_exists(log) ? err_fail("'%s' holds a run that was not made by this program: there is no " RUN_FOLDER_NAME, r->path) :
					   json_file_write(file, facts);
	free(steps);
	free(log);
	return rc;
}

/* Whether there is nothing but run.json: a run that failed before its first step leaves no more, and is in nobody's way. */
static int is_unused(const char *path, bool *unused)
{
	char **names = NULL;
	size_t n = 0;
	const int rc = fs_list(path, &names, &n);

	*unused = !rc && n == 1 && !strcmp(names[0], RUN_FOLDER_NAME);
	fs_free_names(names, n);
	return rc;
}

static int settle_facts(const struct run_folder *r, const json_t *facts)
{
	char *file = fs_join(r->path, RUN_FOLDER_NAME);
	bool unused;
	int rc = -1;

	if (!file || is_unused(r->path, &unused))
		goto out;
	if (unused)
		rc = json_file_write(file, facts);
	else
		rc = fs_exists(file) ? check_facts(r->path, file, facts) : claim(r, file, facts);
out:
	free(file);
	return rc;
}

/* --- where it goes on ------------------------------------------------------------------- */

/* 1: R goes on from this one; 0: it is damaged; -1: failed. */
static int try_checkpoint(struct run_folder *r, uint64_t step, void (*warn)(const char *fmt, ...))
{
	char *folder = checkpoint_folder(r->path, step);

	if (!folder)
		return -1;
	if (!checkpoint_verify(folder) && !checkpoint_position(folder, &r->at)) {
		r->checkpoint = folder;
		r->resumes = true;
		return 1;
	}
	free(folder);
	if (err_code() != EXIT_CORRUPT)
		return -1;
	if (warn)
		warn("checkpoint-%" PRIu64 " is damaged, trying the one before: %s", step, err_text());
	return 0;
}

static int find_checkpoint(struct run_folder *r, void (*warn)(const char *fmt, ...))
{
	uint64_t *steps;
	size_t n;
	int rc = checkpoint_list(r->path, &steps, &n);

	for (size_t i = n; i-- > 0 && !rc;)
		rc = try_checkpoint(r, steps[i], warn);
	if (!rc && n)
		rc = err_corrupt("none of the checkpoints in '%s' is whole; to start from the beginning, remove them", r->path);
	free(steps);
	return rc < 0 ? -1 : 0;
}

int run_folder_open(struct run_folder *r, const char *path, const json_t *facts, void (*warn)(const char *fmt, ...))
{
	*r = (struct run_folder){ .lock = -1 };
	r->path = strdup(path);
	if (!r->path) {
		err_memory();
		goto fail;
	}
	if (fs_make_folder(path) || folder_lock(&r->lock, path, false, "bert-train") || settle_facts(r, facts) ||
	    out_remove_stale(path) || checkpoint_remove_stale(path) || find_checkpoint(r, warn))
		goto fail;
	return 0;
fail:
	run_folder_close(r);
	return -1;
}

void run_folder_close(struct run_folder *r)
{
	if (!r->path)
		return;
	if (r->lock >= 0)
		close(r->lock);
	free(r->checkpoint);
	free(r->path);
	*r = (struct run_folder){ .lock = -1 };
}
