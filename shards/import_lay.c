/* A foreign row to an instance. */
#include "shards/import_impl.h"
#include "base/err.h"

#include <inttypes.h>

int import_laying_init(struct laying *l, const struct shard_recipe *recipe, uint32_t max_predictions)
{
	*l = (struct laying){ .recipe = recipe, .max_predictions = max_predictions, .ids = BUF_INIT };
	return instance_init(&l->instance, &(struct instance_shape){ .max_seq_length = recipe->max_seq_length,
								     .max_predictions = recipe->max_predictions_per_seq,
								     .pairs = recipe->pairs != SHARD_NONE });
}

void import_laying_release(struct laying *l)
{
	instance_release(&l->instance);
	buf_release(&l->ids);
}

/* Labels to where they belong; what stood there to SHOWN, which has room. */
static int unmask(const struct laying *l, const struct row *r, uint32_t n, uint32_t *ids, uint32_t *shown)
{
	uint32_t before = 0;

	for (uint32_t k = 0; k < r->predictions; k++) {
		const uint32_t at = r->positions[k];

		if (at <= before || at + 1 >= n)
			return err_corrupt("its masked positions are not ascending, or on no token");
		if (r->labels[k] >= l->recipe->vocab_size)
			return err_corrupt("label %" PRIu32 " is not below the vocabulary's size %" PRIu32, r->labels[k],
					   l->recipe->vocab_size);
		shown[k] = ids[at];
		ids[at] = r->labels[k];
		before = at;
	}
	return 0;
}

/* The tokens that R's mask shows. */
static int count_tokens(const struct row *r, uint32_t *n)
{
	uint32_t k = 0;

	while (k < r->max_seq_length && r->mask[k] == 1)
		k++;
	*n = k;
	for (; k < r->max_seq_length; k++)
		if (r->mask[k])
			return err_corrupt("its input_mask is not ones, then zeros: %" PRIu32 " at position %" PRIu32,
					   r->mask[k], k);
	return *n < 3 ? err_corrupt("it has %" PRIu32 " tokens", *n) : 0;
}

/* [CLS] segment [SEP] ... [SEP]: cut where a [SEP] stands. */
static int cut(struct laying *l, uint32_t n, uint32_t *ids)
{
	struct instance *i = &l->instance;
	uint32_t first = 1;

	i->n_segments = 0;
	if (ids[0] != l->recipe->special.cls || ids[n - 1] != l->recipe->special.sep)
		return err_corrupt("it does not begin with [CLS] and end with [SEP] of this vocabulary");
	for (uint32_t at = 1; at < n; at++) {
		if (ids[at] == l->recipe->special.cls)
			return err_corrupt("it has [CLS] at position %" PRIu32, at);
		if (ids[at] != l->recipe->special.sep)
			continue;
		if (at == first || i->n_segments == (l->recipe->pairs == SHARD_NONE ? INSTANCE_SEGMENTS_MAX : 2))
			return err_corrupt("its segments do not fit: an empty one, or too many");
		i->segments[i->n_segments++] = (struct instance_segment){ 0, (uint32_t)l->offset, at - first };
		l->offset += at - first;
		first = at + 1;
	}
	return l->recipe->pairs == SHARD_NONE || i->n_segments == 2 ? 0 : err_corrupt("it has one segment, not two");
}

static int check_types(const struct laying *l, const struct row *r, uint32_t n)
{
	const uint32_t second = l->recipe->pairs == SHARD_NONE ? n : l->instance.segments[0].length + 2;

	for (uint32_t k = 0; k < n; k++)
		if (r->types[k] != (k >= second))
			return err_corrupt("type %" PRIu32 " of position %" PRIu32 " is not that of its segment", r->types[k], k);
	return 0;
}

/* Nothing stands where nothing is: whoever wrote something there meant something that we do not. N tokens. */
static int check_padding(const struct laying *l, const struct row *r, uint32_t n)
{
	for (uint32_t k = n; k < r->max_seq_length; k++) {
		if (r->ids[k] && r->ids[k] != l->recipe->special.pad)
			return err_corrupt("its input_mask ends at position %" PRIu32 ", and position %" PRIu32
					   " has id %" PRIu32, n, k, r->ids[k]);
		if (r->types[k])
			return err_corrupt("its input_mask ends at position %" PRIu32 ", and position %" PRIu32
					   " has type %" PRIu32, n, k, r->types[k]);
	}
	for (uint32_t k = r->predictions; k < r->max_predictions; k++)
		if (r->positions[k] || r->labels[k])
			return err_corrupt("its masked positions end after %" PRIu32 ", and a later one is %" PRIu32
					   " with label %" PRIu32, r->predictions, r->positions[k], r->labels[k]);
	return 0;
}

int import_lay(struct laying *l, const struct row *r)
{
	struct instance *i = &l->instance;
	uint32_t n, shown[SHARD_MAX_SEQ_LENGTH];

	if (r->max_seq_length != l->recipe->max_seq_length || r->max_predictions != l->max_predictions)
		return err_fail("the file changed while it was read");
	if (count_tokens(r, &n) || check_padding(l, r, n))
		return -1;
	for (uint32_t k = 0; k < n; k++)
		if (r->ids[k] >= l->recipe->vocab_size)
			return err_corrupt("id %" PRIu32 " is not below the vocabulary's size %" PRIu32, r->ids[k],
					   l->recipe->vocab_size);
	memcpy(i->ids, r->ids, n * sizeof(*i->ids));
	i->n = n;
	if (unmask(l, r, n, i->ids, shown))
		return -1;
	if (cut(l, n, i->ids) || check_types(l, r, n))
		return -1;
	if (r->label > 1 || (r->label && l->recipe->pairs == SHARD_NONE))
		return err_corrupt("its next sentence label is %" PRIu32, r->label);
	if (buf_add(&l->ids, i->ids, n * sizeof(*i->ids)))
		return -1;
	i->predictions = r->predictions;
	for (uint32_t k = 0; k < r->predictions; k++) {
		i->positions[k] = r->positions[k];
		i->labels[k] = r->labels[k];
		if (i->labels[k] == l->recipe->special.sep || i->labels[k] == l->recipe->special.cls)
			return err_corrupt("it masks [SEP] or [CLS]");
		i->ids[i->positions[k]] = shown[k];
	}
	i->flags = r->label ? INSTANCE_RANDOM_NEXT : 0;
	i->pass = 0;
	return 0;
}
