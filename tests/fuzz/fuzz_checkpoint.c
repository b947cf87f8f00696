/* Any bytes as the JSON files of a checkpoint. */
#include "trainer/checkpoint_impl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct position p;
	json_t *files;

	checkpoint_parse_position((const char *)data, n, &p);
	if (!checkpoint_parse_manifest((const char *)data, n, &files))
		json_decref(files);
	return 0;
}
