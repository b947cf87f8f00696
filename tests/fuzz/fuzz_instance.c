/*
 * Arbitrary bytes as a block of instances. What is taken must come back to the
 * same bytes when its instances are encoded again. The first two bytes choose
 * the shape and the number of records.
 */
#include "base/err.h"
#include "shards/instance.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void need(int ok)
{
	if (!ok)
		abort();
}

static struct instance_shape shape_of(unsigned char choice)
{
	static const uint32_t sizes[] = { 200, 30522, 70000, 20000000 };

	return (struct instance_shape){
		.max_seq_length = choice & 4 ? 300 : 40,
		.max_predictions = 7,
		.masked = !(choice & 8),
		.block_records = 16,
		.vocab_size = sizes[choice & 3],
		.documents = 1000,
		.passes = 300,
		.cls = 1,
		.sep = 2,
		.pairs = !(choice & 16),
	};
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	struct instance_block b = INSTANCE_BLOCK_INIT;
	struct buf again = BUF_INIT, packed = BUF_INIT;
	struct instance_columns c;
	struct instance_shape shape;
	struct instance i;

	if (size < 2)
		return 0;
	shape = shape_of(data[0]);
	if (instance_block_open(&b, &shape, data + 2, size - 2, data[1] % 20)) {
		need(err_code() == EXIT_CORRUPT);
		instance_block_release(&b);
		return 0;
	}
	need(!instance_init(&i, &shape) && !instance_columns_init(&c, &shape));
	for (uint32_t k = 0; k < b.records; k++) {
		instance_block_get(&b, k, &i);
		need(i.n >= 3 && i.n <= shape.max_seq_length && i.ids[0] == shape.cls && i.ids[i.n - 1] == shape.sep);
		instance_columns_add(&c, &i);
	}
	need(!instance_columns_flush(&c, 1, &again, &packed));
	need(again.len == size - 2 && !memcmp(again.data, data + 2, again.len));
	instance_columns_release(&c);
	instance_release(&i);
	instance_block_release(&b);
	buf_release(&again);
	buf_release(&packed);
	return 0;
}
