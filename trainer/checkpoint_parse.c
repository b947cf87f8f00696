/* checkpoint_parse.c - the JSON files of a checkpoint. */
#include "base/err.h"
#include "trainer/checkpoint_impl.h"
#include "trainer/facts.h"

#include <inttypes.h>
#include <string.h>
#include <xxhash.h>

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

int checkpoint_parse_position(const json_t *o, struct position *p)
{
	*p = (struct position){ .step = 0 };
	if (check_format(o) || get_count(o, "step", &p->step) || get_count(o, "time", &p->time) || get_count(o, "epoch", &p->at.epoch) ||
	    get_count(o, "index", &p->at.index) || get_count(o, "samples", &p->samples) || get_count(o, "tokens", &p->tokens))
		return -1;
	return p->time <= p->step ? 0 : err_corrupt("it has made more updates than steps");
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

json_t *checkpoint_sum(json_t *manifest)
{
	json_t *rest = json_copy(manifest);
	char *text;
	json_t *sum;

	json_object_del(rest, "xxh3");
	text = rest ? json_dumps(rest, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
	if (!text)
		err_memory();
	sum = text ? facts_sum(XXH3_64bits(text, strlen(text))) : NULL;
	free(text);
	json_decref(rest);
	return sum;
}

static int check_sum(json_t *manifest)
{
	json_t *sum = checkpoint_sum(manifest);
	const bool same = json_equal(sum, json_object_get(manifest, "xxh3"));

	if (sum && !same)
		err_corrupt("its checksum is not that of the rest: something was changed");
	json_decref(sum);
	return same ? 0 : -1;
}

int checkpoint_parse_manifest(json_t *o, json_t **files)
{
	static const char *const needed[] = { MODEL_DIR_CONFIG, MODEL_DIR_WEIGHTS, CHECKPOINT_POSITION, CHECKPOINT_MOMENTS };
	int rc = check_format(o);

	*files = json_incref(json_object_get(o, "files"));
	for (size_t i = 0; i < json_array_size(*files) && !rc; i++)
		rc = check_entry(json_array_get(*files, i));
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]) && !rc; i++)
		rc = check_has(*files, needed[i]);
	if (rc || check_sum(o)) {
		rc = -1;
		json_decref(*files);
		*files = NULL;
	}
	return rc;
}
