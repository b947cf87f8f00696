/* Documents that stay in memory from the first stage to the last. */
#include "shards/job_impl.h"
#include "base/spill.h"
#include "shards/keys.h"

uint64_t job_held_bytes(const struct job *j)
{
	return j->held ? spill_held_bytes(j->held->spill) : 0;
}

bool job_could_hold(const struct job *j, const struct plan *p, uint64_t held)
{
	const uint64_t lanes = j->opts.threads < p->shards ? j->opts.threads : p->shards;

	return held + lanes * (job_shard_memory(j, p, true) + job_reserve(j)) <= j->opts.memory;
}

bool job_can_hold(const struct job *j, const struct plan *p)
{
	return spill_is_held(j->held->spill) && job_could_hold(j, p, job_held_bytes(j));
}

/* The first of the records from LOW on whose key is not below K. */
static size_t first_at(const struct spill *s, size_t low, struct key k)
{
	size_t high = spill_held(s), len;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (key_compare(tokdoc_body_key(spill_record(s, middle, &len)), k) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The records of a shard. */
struct run {
	const struct spill *spill;
	size_t first;
};

static const unsigned char *record(const void *ctx, size_t i, size_t *len)
{
	const struct run *r = ctx;

	return spill_record(r->spill, r->first + i, len);
}

int job_held_load(const struct job *j, struct docset *s)
{
	struct run r = { .spill = j->held->spill };
	size_t end;

	r.first = first_at(r.spill, 0, key_shard_first(s->shard, s->shards));
	end = s->shard + 1 < s->shards ? first_at(r.spill, r.first, key_shard_first(s->shard + 1, s->shards))
				       : spill_held(r.spill);
	return docset_borrow(s, (unsigned)j->opts.threads, end - r.first, record, &r);
}
