/* facts.c - what decides the result of a run. */
#include "trainer/facts.h"

#include "base/err.h"
#include "base/fs.h"
#include "model/model_dir.h"
#include "trainer/file_sum.h"

#include <inttypes.h>
#include <xxhash.h>

json_t *facts_sum(uint64_t xxh3)
{
	char text[17];
	json_t *v;

	snprintf(text, sizeof(text), "%016" PRIx64, xxh3);
	v = json_string(text);
	if (!v)
		err_memory();
	return v;
}

json_t *facts_config(const struct config *c)
{
	char *text = config_print(c);
	json_t *sum = text ? facts_sum(XXH3_64bits(text, strlen(text))) : NULL;

	free(text);
	return sum;
}

json_t *facts_weights(const char *folder)
{
	char *path;
	struct file_sum sum;
	int rc;

	if (!folder) {
		json_t *v = json_string("new");

		if (!v)
			err_memory();
		return v;
	}
	path = fs_join(folder, MODEL_DIR_WEIGHTS);
	rc = path ? file_sum(path, &sum) : -1;
	free(path);
	return rc ? NULL : facts_sum(sum.xxh3);
}

int facts_set(json_t *facts, const char *name, json_t *value)
{
	if (!value)
		return -1;
	return json_object_set_new(facts, name, value) ? err_memory() : 0;
}
