/* Arbitrary bytes as a tf.Example: memory stays within what the record's bytes allow. */
#include "base/err.h"
#include "shards/example.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	struct example e = EXAMPLE_INIT;
	const struct example_list *l;

	if (example_parse(&e, data, size) ? err_code() != EXIT_CORRUPT : e.count > size)
		abort();
	l = example_find(&e, "input_ids");
	if (l && (l->first > e.count || l->n > e.count - l->first))
		abort();
	example_release(&e);
	return 0;
}
