/* Whether as many masks and labels are of each kind as draws give. */
#include "shards/verify_impl.h"
#include "base/err.h"

#include <inttypes.h>
#include <math.h>

#define FILE_DEVIATIONS 6
#define BLOCK_DEVIATIONS 8	/* of which there are many */

static void count_masks(struct verify_counts *c, const struct shard_recipe *r, const struct instance *i)
{
	const struct vocab_special s = r->special;
	uint32_t masks = 0, mask = 0, same = 0, special = 0;

	for (uint32_t k = 0; k < i->predictions; k++) {
		const uint32_t label = i->labels[k], shown = i->ids[i->positions[k]];
		const bool counts = label != s.mask;		/* else its kinds cannot be told apart */

		masks += counts;
		mask += counts & (shown == s.mask);
		same += counts & (shown == label);
		special += counts & (shown != label) & ((shown == s.pad) | (shown == s.cls) | (shown == s.sep));
	}
	c->masks += masks;
	c->shown_mask += mask;
	c->shown_same += same;
	c->shown_special += special;
}

void verify_counts_add(struct verify_counts *c, const struct shard_recipe *r, const struct instance *i)
{
	const struct instance_segment *a = &i->segments[0], *b = &i->segments[1];

	c->full += i->n == r->max_seq_length;
	count_masks(c, r, i);
	if (r->rules != SHARD_GOOGLE || !(i->flags & INSTANCE_RANDOM_NEXT))
		return;
	c->random++;
	c->random_follows += a->document == b->document && b->first >= a->first + a->length &&
			     b->first - a->first - a->length < r->max_seq_length;
}

void verify_counts_join(struct verify_counts *c, const struct verify_counts *more)
{
	c->full += more->full;
	c->masks += more->masks;
	c->shown_mask += more->shown_mask;
	c->shown_same += more->shown_same;
	c->shown_special += more->shown_special;
	c->random += more->random;
	c->random_follows += more->random_follows;
}

/*
 * Whether IS of N draws came out as if each did so with a probability from LEAST to MOST, give or take so many standard deviations, and
 * 12, by which few draws of a small probability deviate without a lie.
 */
static bool is_drawn(uint64_t is, uint64_t n, double least, double most, unsigned deviations)
{
	const double low = (double)n * least, high = (double)n * most;

	return (double)is >= low - deviations * sqrt(low * (1 - least)) - 12 &&
	       (double)is <= high + deviations * sqrt(high * (1 - most)) + 12;
}

/* Ids that a random token is drawn from, about: the header may leave very few. */
static double pool_size(const struct shard_recipe *r)
{
	double n = r->vocab_size;

	for (size_t k = 0; k < r->n_never; k++)
		n -= r->never[k].last - r->never[k].first + 1.0;
	return fmax(n, 3);
}

static int check_masks(const struct verify_counts *c, const struct shard_recipe *r, unsigned deviations)
{
	const struct mask_shares shares = mask_shares_of(&r->shares);
	/* A random token can be [MASK], or the same, with this probability each. */
	const double chance = 1 / pool_size(r), same = 1 - shares.mask - shares.random;
	const uint64_t other = c->masks - c->shown_mask - c->shown_same;

	if (!is_drawn(c->shown_mask, c->masks, shares.mask, fmin(1, shares.mask + chance * shares.random), deviations))
		return err_corrupt("%" PRIu64 " of %" PRIu64 " masked positions show [MASK]: not what draws give", c->shown_mask,
				   c->masks);
	if (!is_drawn(c->shown_same, c->masks, fmax(0, same), fmin(1, same + chance * shares.random), deviations))
		return err_corrupt("%" PRIu64 " of %" PRIu64 " masked positions show their own token: not what draws give",
				   c->shown_same, c->masks);
	if (!is_drawn(c->shown_special, other, 0, fmin(1, 3 / (pool_size(r) - 2)), deviations))
		return err_corrupt("%" PRIu64 " of %" PRIu64 " random tokens are [PAD], [CLS] or [SEP]: not what draws give",
				   c->shown_special, other);
	return 0;
}

/* Positions are replaced each by itself, and masks are there. */
static bool has_draws(const struct shard_recipe *r)
{
	return r->masking == SHARD_STATIC && !r->word_draws && r->mask_spans != MASK_SPANS;
}

static int check(const struct verify_counts *c, const struct shard_recipe *r, const struct documents *t, unsigned deviations)
{
	size_t documents = 0;

	if (r->rules == SHARD_IMPORTED)
		return 0;
	if (has_draws(r) && check_masks(c, r, deviations))
		return -1;
	for (size_t k = 0; r->rules == SHARD_GOOGLE && k < t->n && documents < 2; k++)
		documents += t->items[k].tokens > 0;
	/* One is of the same document when ten draws of a document have given none other. */
	if (documents < 2 || is_drawn(c->random_follows, c->random, 0, 0x1p-10, deviations))
		return 0;
	return err_corrupt("%" PRIu64 " of %" PRIu64 " random nexts are what follows in the document", c->random_follows, c->random);
}

int verify_counts_check_block(const struct verify_counts *c, const struct shard_recipe *r, const struct documents *t)
{
	return check(c, r, t, BLOCK_DEVIATIONS);
}

/* Nothing but sums tells of draws that cannot be made again. Label 1 has a probability of one half, or more. */
static int check_google(const struct verify_counts *c, const struct shard_totals *t, bool others)
{
	const double n = (double)t->instances;

	if (t->truncated > c->full)
		return err_corrupt("%" PRIu64 " instances are said to be truncated, %" PRIu64 " are of full length", t->truncated, c->full);
	if (others && t->dropped)
		return err_corrupt("%" PRIu64 " chunks are said to have found no other document", t->dropped);
	if (others && (double)t->random_next < n / 2 - 3 * sqrt(n))
		return err_corrupt("%" PRIu64 " of %" PRIu64 " instances have a random next: fewer than draws give",
				   t->random_next, t->instances);
	return 0;
}

int verify_counts_check(const struct verify_counts *c, const struct shard_recipe *r, const struct documents *t,
			const struct shard_totals *totals, bool others)
{
	return (r->rules == SHARD_GOOGLE && check_google(c, totals, others)) || check(c, r, t, FILE_DEVIATIONS) ? -1 : 0;
}

int verify_counts_describe(const struct verify_counts *c, struct buf *text)
{
	const double n = (double)c->masks;

	if (!c->masks)
		return 0;
	return buf_addf(text, ": %.1f %% [MASK], %.1f %% their own token, %.1f %% another", 100 * (double)c->shown_mask / n,
			100 * (double)c->shown_same / n, 100 * (n - (double)c->shown_mask - (double)c->shown_same) / n);
}
