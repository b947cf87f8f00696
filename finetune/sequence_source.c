/* sequence_source.c - sequences in memory as samples. */
#include "finetune/sequence_source.h"

#include "trainer/permutation.h"

#include <string.h>

void sequence_add_to_batch(const struct sequences *s, size_t i, uint64_t key, struct batch *b)
{
	const int n = sequences_length(s, i), at = batch_add(b, n, key), row = b->host.starts[at];

	memcpy(b->host.ids + row, s->ids + s->starts[i], (size_t)n * sizeof(*s->ids));
	for (int j = s->first[i]; j < n; j++)
		b->host.types[row + j] = 1;
	b->host.class_labels[at] = s->labels[i];
}

static int add(struct sample_source *samples, uint64_t epoch, uint64_t index, uint64_t key, struct batch *b)
{
	const struct sequence_source *s = (struct sequence_source *)samples;	/* its first member */
	const uint64_t i = s->shuffled ? permutation_of(s->seed, epoch, 0, samples->size, index) : index;

	sequence_add_to_batch(s->sequences, i, key, b);
	return 0;
}

void sequence_source_init(struct sequence_source *s, const struct sequences *sequences, uint64_t seed, bool shuffled)
{
	*s = (struct sequence_source){
		.samples = { .size = sequences->n, .max_length = sequences->longest, .add = add },
		.sequences = sequences, .seed = seed, .shuffled = shuffled,
	};
}
