/*
 * example.h - reading tf.Example records (tensorflow/core/example/example.proto):
 * the lists of integers and floats in them, by name.
 *
 *	struct example e = EXAMPLE_INIT;
 *	while ((rc = tfrecord_read(in, &b)) > 0) {
 *		example_parse(&e, b.data, b.len)	(replaces what was there)
 *		const struct example_list *ids = example_find(&e, "input_ids");	(NULL: there is none)
 *	}
 *	example_release(&e);
 *
 * What is no tf.Example is EXIT_CORRUPT; lists of bytes are passed over. Memory
 * is bounded by the record's: a value takes a byte in it at least.
 */
#ifndef SHARDS_EXAMPLE_H
#define SHARDS_EXAMPLE_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXAMPLE_LISTS 32		/* features of a record; more are refused */

struct example_list {
	const char *name;		/* in the record; not 0-ended */
	size_t name_len;
	size_t first, n;		/* of example.values */
};

struct example {
	struct example_list lists[EXAMPLE_LISTS];
	unsigned n;
	int64_t *values;		/* floats 0 and 1 as these, all others as EXAMPLE_OTHER */
	size_t count, cap;
};
#define EXAMPLE_OTHER INT64_MIN
#define EXAMPLE_INIT { .n = 0 }

int example_parse(struct example *e, const void *record, size_t len);
/* Of a name that comes twice the last, which is what protobuf makes of a map. */
const struct example_list *example_find(const struct example *e, const char *name);
void example_release(struct example *e);

#endif
