/* checkpoint_parse.c - the JSON files of a checkpoint. */
#include "base/err.h"
#include "trainer/checkpoint_impl.h"

#include <inttypes.h>

static json_t *load(const char *text, size_t n)
{
	json_error_t e;
	json_t *o = json_loadb(text, n, JSON_REJECT_DUPLICATES, &e);

	if (!o)
		err_corrupt("line %d: %s", e.line, e.text);
	return o;
}

static int get_count(const json_t *o, const char *name, uint64_t *value)
{
	const json_t *x = json_object_get(o, name);

	if (!json_is_integer(x) || json_integer_value(x) < 0)
		return err_corrupt("'%s' is no count", name);
	*value = (uint64_t)json_integer_value(x);
	return 0;
}

static int check_format(const json_t *o)
{
	uint64_t format;

	if (get_count(o, "format", &format))
		return -1;
	if (format != CHECKPOINT_FORMAT)
		return err_corrupt("it is of format %" PRIu64 ", and this program knows %d", format, CHECKPOINT_FORMAT);
	return 0;
}

int checkpoint_parse_position(const char *text, size_t n, struct position *p)
{
	json_t *o = load(text, n);
	int rc = -1;

	*p = (struct position){ .step = 0 };
	if (o && !check_format(o) && !get_count(o, "step", &p->step) && !get_count(o, "time", &p->time) &&
	    !get_count(o, "epoch", &p->at.epoch) && !get_count(o, "index", &p->at.index) && !get_count(o, "samples", &p->samples) &&
	    !get_count(o, "tokens", &p->tokens))
		rc = p->time <= p->step ? 0 : err_corrupt("it has made more updates than steps");
	json_decref(o);
	return rc;
}

/* A name is that of a file in the folder and leads nowhere else. */
static int check_entry(const json_t *entry)
{
	const char *name = json_string_value(json_object_get(entry, "name"));
	const json_t *bytes = json_object_get(entry, "bytes");

	if (!name || !*name || strchr(name, '/') || !strcmp(name, ".") || !strcmp(name, "..") || !json_is_integer(bytes) ||
	    !json_is_string(json_object_get(entry, "xxh3")))
		return err_corrupt("an entry names no file");
	return 0;
}

static int check_has(const json_t *files, const char *name)
{
	for (size_t i = 0; i < json_array_size(files); i++)
		if (!strcmp(json_string_value(json_object_get(json_array_get(files, i), "name")), name))
			return 0;
	return err_corrupt("%s is not in it", name);
}

int checkpoint_parse_manifest(const char *text, size_t n, json_t **files)
{
	static const char *const needed[] = { MODEL_DIR_CONFIG, MODEL_DIR_WEIGHTS, CHECKPOINT_POSITION, CHECKPOINT_MOMENTS };
	json_t *o = load(text, n);
	int rc = o ? check_format(o) : -1;

	*files = json_incref(json_object_get(o, "files"));
	for (size_t i = 0; i < json_array_size(*files) && !rc; i++)
		rc = check_entry(json_array_get(*files, i));
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]) && !rc; i++)
		rc = check_has(*files, needed[i]);
	json_decref(o);
	if (rc) {
		json_decref(*files);
		*files = NULL;
	}
	return rc;
}
