/* Instances. instance_block.c has the blocks. */
#include "shards/instance.h"
#include "base/err.h"

int instance_init(struct instance *i, const struct instance_shape *shape)
{
	const size_t n = shape->max_seq_length, p = shape->max_predictions,
		     s = shape->pairs ? 2 : INSTANCE_SEGMENTS_MAX;
	uint32_t *memory = malloc((n + 2 * p) * sizeof(uint32_t));
	struct instance_segment *segments = malloc(s * sizeof(*segments));

	*i = (struct instance){ .ids = memory, .segments = segments };
	if (!memory || !segments) {
		instance_release(i);
		return err_memory();
	}
	i->positions = memory + n;
	i->labels = i->positions + p;
	return 0;
}

void instance_release(struct instance *i)
{
	if (!i)
		return;
	free(i->ids);
	free(i->segments);
	*i = (struct instance){ 0 };
}

uint32_t instance_type(const struct instance *i, const struct instance_shape *shape, uint32_t position)
{
	return shape->pairs && position > i->segments[0].length + 1;
}

void instance_unmask(struct instance *i)
{
	for (uint32_t k = 0; k < i->predictions; k++)
		i->ids[i->positions[k]] = i->labels[k];
	i->predictions = 0;
}
