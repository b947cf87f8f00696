/* checkpoint.c - folders from which a training goes on: writing, listing, removing. */
#include "trainer/checkpoint.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/json_file.h"
#include "base/tool.h"
#include "trainer/checkpoint_impl.h"
#include "trainer/facts.h"
#include "trainer/file_sum.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "checkpoint-"

char *checkpoint_folder(const char *run, uint64_t step)
{
	char name[64];

	snprintf(name, sizeof(name), PREFIX "%" PRIu64, step);
	return fs_join(run, name);
}

/* A name that says that nobody needs it once this process has ended. */
static char *temporary_folder(const char *run, uint64_t step, const char *what)
{
	char name[96];

	snprintf(name, sizeof(name), "." PREFIX "%" PRIu64 ".%ld.%s.tmp", step, (long)getpid(), what);
	return fs_join(run, name);
}

/* --- the small files ------------------------------------------------------------------ */

/* Takes O. */
static int write_json(const char *folder, const char *name, json_t *o)
{
	char *path = fs_join(folder, name);
	const int rc = path ? json_file_write(path, o) : -1;

	free(path);
	json_decref(o);
	return rc;
}

static int write_position(const char *folder, const struct position *p)
{
	return write_json(folder, CHECKPOINT_POSITION,
			  json_pack("{s:i, s:I, s:I, s:I, s:I, s:I, s:I}", "format", CHECKPOINT_FORMAT, "step", (json_int_t)p->step, "time",
				    (json_int_t)p->time, "epoch", (json_int_t)p->at.epoch, "index", (json_int_t)p->at.index,
				    "samples", (json_int_t)p->samples, "tokens", (json_int_t)p->tokens));
}

static int add_entry(json_t *files, const char *folder, const char *name)
{
	char *path = fs_join(folder, name);
	struct file_sum sum;
	int rc = -1;

	if (path && !file_sum(path, &sum))
		rc = json_array_append_new(files, json_pack("{s:s, s:I, s:o}", "name", name, "bytes", (json_int_t)sum.bytes, "xxh3",
							    facts_sum(sum.xxh3))) ? err_memory() : 0;
	free(path);
	return rc;
}

static int write_manifest(const char *folder)
{
	json_t *files = json_array(), *o;
	char **names = NULL;
	size_t n = 0;
	int rc = !files || fs_list(folder, &names, &n) ? -1 : 0;

	for (size_t i = 0; i < n && !rc; i++)
		rc = add_entry(files, folder, names[i]);
	fs_free_names(names, n);
	if (rc) {
		json_decref(files);
		return -1;
	}
	o = json_pack("{s:i, s:s, s:o}", "format", CHECKPOINT_FORMAT, "made_by", "berttools " BERTTOOLS_VERSION, "files", files);
	if (facts_set(o, "xxh3", checkpoint_sum(o))) {
		json_decref(o);
		return -1;
	}
	return write_json(folder, CHECKPOINT_MANIFEST, o);
}

/* --- saving ----------------------------------------------------------------------------- */

static int write_tokenizer(const char *folder, const struct checkpoint_source *s)
{
	char *path;
	int rc;

	if (s->tokenizer && model_dir_copy_tokenizer(s->tokenizer, folder))
		return -1;
	if (!s->tokenizer_config)
		return 0;
	path = fs_join(folder, "tokenizer_config.json");
	if (!path)
		return -1;
	rc = fs_write_all(path, s->tokenizer_config, strlen(s->tokenizer_config));
	free(path);
	return rc;
}

static int write_files(const char *folder, const struct position *p, const struct checkpoint_source *s)
{
	if (mkdir(folder, 0777))
		return err_sys("cannot make '%s'", folder);
	if (model_dir_save(s->model, folder) || write_tokenizer(folder, s) || checkpoint_write_moments(folder, s->optimizer) ||
	    write_position(folder, p) || write_manifest(folder) || fs_sync_folder(folder))
		return -1;
	return 0;
}

/* Gives the folder TEMPORARY its name; what had it before goes away by way of OLD. */
static int put_in_place(const char *run, const char *temporary, const char *final, const char *old)
{
	const bool replaces = fs_exists(final);

	if (replaces && rename(final, old))
		return err_sys("cannot replace '%s'", final);
	if (rename(temporary, final)) {
		err_sys("cannot rename '%s' to '%s'", temporary, final);
		if (replaces && rename(old, final))
			err_prefix("'%s' is what was '%s'", old, final);
		return -1;
	}
	if (fs_sync_folder(run))
		return -1;
	return replaces ? fs_remove_tree(old) : 0;
}

int checkpoint_save(const char *run, const struct position *p, const struct checkpoint_source *s)
{
	char *temporary = temporary_folder(run, p->step, "new"), *old = temporary_folder(run, p->step, "old");
	char *final = checkpoint_folder(run, p->step);
	int rc = -1;

	if (temporary && old && final && !fs_remove_tree(temporary) && !write_files(temporary, p, s))
		rc = put_in_place(run, temporary, final, old);
	if (rc && temporary) {
		struct err why;

		err_get(&why);
		fs_remove_tree(temporary);
		err_put(&why);
		err_prefix("checkpoint of step %" PRIu64, p->step);
	}
	free(final);
	free(old);
	free(temporary);
	return rc;
}

/* --- listing and removing -------------------------------------------------------------------- */

bool checkpoint_parse_name(const char *name, uint64_t *step)
{
	const size_t n = strlen(PREFIX);
	char *end, again[64];

	if (strncmp(name, PREFIX, n))
		return false;
	errno = 0;
	*step = strtoull(name + n, &end, 10);
	snprintf(again, sizeof(again), PREFIX "%" PRIu64, *step);
	return !errno && !strcmp(again, name);
}

static int by_step(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

int checkpoint_list(const char *run, uint64_t **steps, size_t *n)
{
	char **names = NULL;
	size_t count = 0, cap = 0;
	uint64_t step;
	int rc = 0;

	*steps = NULL;
	*n = 0;
	if (!fs_exists(run))
		return 0;
	if (fs_list(run, &names, &count))
		return -1;
	for (size_t i = 0; i < count && !rc; i++) {
		if (!checkpoint_parse_name(names[i], &step))
			continue;
		rc = array_grow(steps, &cap, *n + 1, sizeof(**steps));
		if (!rc)
			(*steps)[(*n)++] = step;
	}
	fs_free_names(names, count);
	if (*n)
		qsort(*steps, *n, sizeof(**steps), by_step);
	return rc;
}

/* Half a checkpoint must not bear a checkpoint's name: it loses that first. */
static int remove_checkpoint(const char *run, uint64_t step)
{
	char *folder = checkpoint_folder(run, step), *old = temporary_folder(run, step, "old");
	int rc = -1;

	if (folder && old)
		rc = rename(folder, old) ? err_sys("cannot remove '%s'", folder) : fs_remove_tree(old);
	free(old);
	free(folder);
	return rc;
}

int checkpoint_prune(const char *run, uint64_t step, uint64_t keep)
{
	uint64_t *steps;
	size_t n, upto = 0;
	int rc = checkpoint_list(run, &steps, &n);

	while (!rc && upto < n && steps[upto] <= step)
		upto++;
	for (size_t i = 0; i < n && !rc; i++)
		if (i >= upto || (keep && i + keep < upto))
			rc = remove_checkpoint(run, steps[i]);
	free(steps);
	return rc;
}

int checkpoint_remove_stale(const char *run)
{
	char **names = NULL;
	size_t n = 0;
	int rc = fs_list(run, &names, &n);

	for (size_t i = 0; i < n && !rc; i++) {
		const size_t len = strlen(names[i]);
		char *path;

		if (strncmp(names[i], "." PREFIX, strlen("." PREFIX)) || len < 4 || strcmp(names[i] + len - 4, ".tmp"))
			continue;
		path = fs_join(run, names[i]);
		rc = path ? fs_remove_tree(path) : -1;
		free(path);
	}
	fs_free_names(names, n);
	return rc;
}
