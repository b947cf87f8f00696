/*
 * Arbitrary bytes as a block of instances. When the instances of what is taken are
 * encoded again, they must come back to the same bytes where the block was
 * found right, and only there; and to the same instances in any case. The
 * first two bytes choose the shape and the number of records.
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
		.mask = 3,
		.pairs = !(choice & 16),
	};
}

/* Whether B is found to be what the writer makes; its instances to C. */
static bool add_all(const struct instance_block *b, struct instance_columns *c, struct instance *i)
{
	struct codes codes;
	bool right;

	need(!codes_init(&codes, b->shape.vocab_size));
	right = !instance_block_check_ids(b, &codes);
	for (uint32_t k = 0; k < b->records; k++) {
		instance_block_get(b, k, i);
		need(i->n >= 3 && i->n <= b->shape.max_seq_length && i->ids[0] == b->shape.cls &&
		     i->ids[i->n - 1] == b->shape.sep);
		right = !instance_block_check_masks(b, k, i) && right;
		instance_columns_add(c, i);
	}
	codes_release(&codes);
	return right;
}

/* The bytes AGAIN, which are right, have the instances of B. */
static void compare(const struct instance_block *b, const struct buf *again, struct instance *i)
{
	struct instance_block other = INSTANCE_BLOCK_INIT;
	struct instance j;

	need(!instance_init(&j, &b->shape) &&
	     !instance_block_open(&other, &b->shape, again->data, again->len, b->records));
	need(other.tokens == b->tokens && !memcmp(other.ids, b->ids, b->tokens * sizeof(*b->ids)));
	for (uint32_t k = 0; k < b->records; k++) {
		instance_block_get(b, k, i);
		instance_block_get(&other, k, &j);
		need(i->n == j.n && !memcmp(i->ids, j.ids, i->n * sizeof(*i->ids)) && i->predictions == j.predictions);
	}
	instance_release(&j);
	instance_block_release(&other);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	struct instance_block b = INSTANCE_BLOCK_INIT;
	struct buf again = BUF_INIT, packed = BUF_INIT;
	struct instance_columns c;
	struct instance_shape shape;
	struct instance i;
	bool right;

	if (size < 2)
		return 0;
	shape = shape_of(data[0]);
	if (instance_block_open(&b, &shape, data + 2, size - 2, data[1] % 20)) {
		need(err_code() == EXIT_CORRUPT);
		instance_block_release(&b);
		return 0;
	}
	need(!instance_init(&i, &shape) && !instance_columns_init(&c, &shape));
	right = add_all(&b, &c, &i);
	need(!instance_columns_flush(&c, 1, &again, &packed));
	need(right == (again.len == size - 2 && !memcmp(again.data, data + 2, again.len)));
	compare(&b, &again, &i);
	instance_columns_release(&c);
	instance_release(&i);
	instance_block_release(&b);
	buf_release(&again);
	buf_release(&packed);
	return 0;
}
