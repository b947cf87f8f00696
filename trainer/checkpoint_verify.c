/* checkpoint_verify.c - whether checkpoints are as they were written. */
#include "base/err.h"
#include "base/fs.h"
#include "base/json_file.h"
#include "shards/folder.h"
#include "trainer/checkpoint_impl.h"
#include "trainer/file_sum.h"

#include <inttypes.h>

#define MANIFEST_MAX ((size_t)1 << 20)
#define POSITION_MAX ((size_t)1 << 16)

/* A file that must be there. */
static json_t *read_json(const char *path, size_t limit)
{
	if (!fs_exists(path)) {
		err_corrupt("'%s': missing", path);
		return NULL;
	}
	return json_file_read(path, limit);
}

int checkpoint_position(const char *folder, struct position *p)
{
	char *path = fs_join(folder, CHECKPOINT_POSITION);
	json_t *o = path ? read_json(path, POSITION_MAX) : NULL;
	int rc = -1;

	if (o)
		rc = checkpoint_parse_position(o, p) ? err_prefix("'%s'", path) : 0;
	json_decref(o);
	free(path);
	return rc;
}

/* The entries of the manifest at PATH, NULL with the reason set. */
static json_t *read_entries(const char *path)
{
	json_t *o = read_json(path, MANIFEST_MAX), *files = NULL;

	if (o && checkpoint_parse_manifest(o, &files))
		err_prefix("'%s'", path);
	json_decref(o);
	return files;
}

/* Bytes and checksum of the file at PATH; the reason is without its name. */
static int check_bytes(const char *path, const json_t *entry)
{
	const json_int_t bytes = json_integer_value(json_object_get(entry, "bytes"));
	const char *want = json_string_value(json_object_get(entry, "xxh3"));
	struct file_sum sum;
	char is[17];

	if (!fs_exists(path))
		return err_corrupt("missing");
	if (file_sum(path, &sum))
		return -1;
	if (sum.bytes != (uint64_t)bytes)
		return err_corrupt("it has %" PRIu64 " bytes, not %" JSON_INTEGER_FORMAT, sum.bytes, bytes);
	snprintf(is, sizeof(is), "%016" PRIx64, sum.xxh3);
	return strcmp(is, want) ? err_corrupt("damaged: its checksum is %s, not %s", is, want) : 0;
}

/* The file of one entry of a manifest that was parsed; the caller frees. */
static char *entry_path(const char *folder, const json_t *entry)
{
	return fs_join(folder, json_string_value(json_object_get(entry, "name")));
}

int checkpoint_verify(const char *folder)
{
	char *manifest = fs_join(folder, CHECKPOINT_MANIFEST);
	json_t *files = manifest ? read_entries(manifest) : NULL;
	int rc = files ? 0 : -1;

	for (size_t i = 0; i < json_array_size(files) && !rc; i++) {
		char *path = entry_path(folder, json_array_get(files, i));

		rc = !path ? -1 : check_bytes(path, json_array_get(files, i)) ? err_prefix("'%s'", path) : 0;
		free(path);
	}
	json_decref(files);
	free(manifest);
	return rc;
}

/* --- for people: file by file -------------------------------------------------------------- */

/* The reason that is set without "'NAME': ", which the line begins with anyway. */
static const char *bare_reason(const char *name)
{
	const char *text = err_text();
	const size_t n = strlen(name);

	return *text == '\'' && !strncmp(text + 1, name, n) && !strncmp(text + 1 + n, "': ", 3) ? text + n + 4 : text;
}

static void say(struct verify *v, const char *name, int rc, const char *text)
{
	const enum verify_verdict verdict = !rc ? VERIFY_GOOD : err_code() == EXIT_CORRUPT ? VERIFY_FAULT : VERIFY_UNREAD;

	v->files++;
	v->faults += verdict == VERIFY_FAULT;
	v->unread += verdict == VERIFY_UNREAD;
	if (v->say)
		v->say(v->ctx, name, verdict, rc ? bare_reason(name) : text);
}

static void verify_entries(struct verify *v, const char *folder, const json_t *files)
{
	for (size_t i = 0; i < json_array_size(files); i++) {
		char *path = entry_path(folder, json_array_get(files, i));

		say(v, path ? path : folder, path ? check_bytes(path, json_array_get(files, i)) : -1, "as it was written");
		free(path);
	}
}

/* All files of a checkpoint, the manifest last. */
static void verify_checkpoint(struct verify *v, const char *folder)
{
	char *manifest = fs_join(folder, CHECKPOINT_MANIFEST), text[48];
	json_t *files = manifest ? read_entries(manifest) : NULL;

	if (files) {
		verify_entries(v, folder, files);
		snprintf(text, sizeof(text), "%zu files", json_array_size(files));
	}
	say(v, manifest ? manifest : folder, files ? 0 : -1, text);
	json_decref(files);
	free(manifest);
}

/* Whether the last part of the path, whatever slashes end it, is a checkpoint's name. */
static bool named_as_checkpoint(const char *folder)
{
	char name[32];
	size_t end = strlen(folder), first;
	uint64_t step;

	while (end && folder[end - 1] == '/')
		end--;
	for (first = end; first && folder[first - 1] != '/'; first--)
		;
	snprintf(name, sizeof(name), "%.*s", (int)(end - first < sizeof(name) ? end - first : sizeof(name) - 1), folder + first);
	return checkpoint_parse_name(name, &step);
}

/* Whether FOLDER is a checkpoint, if need be without some of its files: by its name, or what only a checkpoint has. */
static bool is_checkpoint(const char *folder)
{
	char *position = fs_join(folder, CHECKPOINT_POSITION), *manifest = fs_join(folder, CHECKPOINT_MANIFEST),
	     *weights = fs_join(folder, MODEL_DIR_WEIGHTS);
	bool is = named_as_checkpoint(folder);

	if (position && manifest && weights)
		is = is || fs_exists(position) || (fs_exists(manifest) && fs_exists(weights));
	free(weights);
	free(manifest);
	free(position);
	return is;
}

bool checkpoint_verify_path(struct verify *v, const char *path)
{
	uint64_t *steps = NULL;
	size_t n = 0;

	if (!folder_is(path))
		return false;
	if (is_checkpoint(path)) {
		verify_checkpoint(v, path);
		return true;
	}
	if (checkpoint_list(path, &steps, &n))
		n = 0;
	for (size_t i = 0; i < n; i++) {
		char *folder = checkpoint_folder(path, steps[i]);

		if (folder)
			verify_checkpoint(v, folder);
		else
			say(v, path, -1, NULL);
		free(folder);
	}
	free(steps);
	return n > 0;
}
