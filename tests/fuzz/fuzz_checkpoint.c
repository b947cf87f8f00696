/* Any bytes as the JSON files of a checkpoint. */
#include "base/json_file.h"
#include "trainer/checkpoint_impl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	json_t *o = json_file_parse((const char *)data, n, "fuzz"), *files;
	struct position p;

	if (o) {
		checkpoint_parse_position(o, &p);
		if (!checkpoint_parse_manifest(o, &files))
			json_decref(files);
	}
	json_decref(o);
	return 0;
}
