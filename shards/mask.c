/* Masks. */
#include "shards/mask.h"
#include "base/buf.h"
#include "base/err.h"

#include <assert.h>
#include <math.h>

int mask_never(const struct vocab *vocab, struct id_range **never, size_t *n_never)
{
	struct id_range *ranges = NULL;
	size_t n = 0, cap = 0;

	*never = NULL;
	*n_never = 0;
	for (uint32_t id = 0; id < vocab_size(vocab); id++) {
		if (!vocab_is_special(vocab, id))
			continue;
		if (n && ranges[n - 1].last + 1 == id) {
			ranges[n - 1].last = id;
			continue;
		}
		if (array_grow(&ranges, &cap, n + 1, sizeof(*ranges))) {
			free(ranges);
			return -1;
		}
		ranges[n++] = (struct id_range){ id, id };
	}
	*never = ranges;
	*n_never = n;
	return 0;
}

int mask_shares_set(struct mask_shares *s, double mask, double random)
{
	if (!(mask >= 0 && random >= 0 && mask + random <= 1))
		return err_corrupt("mask_replace_prob %g and random_replace_prob %g are more than 1 together", mask, random);
	*s = (struct mask_shares){ .mask = mask, .random = random };
	s->given = mask != MASK_SHARE_MASK || random != MASK_SHARE_RANDOM;
	return 0;
}

struct mask_shares mask_shares_of(const struct mask_shares *s)
{
	return s->given ? *s : (struct mask_shares){ .mask = MASK_SHARE_MASK, .random = MASK_SHARE_RANDOM };
}

/* The least word that as an rng_unit is not below P. */
static uint64_t unit(double p)
{
	return (uint64_t)ceil(p * 0x1p32);
}

/* All ids that no range of RULE holds. */
static uint32_t fill_pool(uint32_t *pool, const struct mask_rule *rule)
{
	uint32_t n = 0;
	size_t k = 0;

	for (uint32_t id = 0; id < rule->vocab_size; id++) {
		while (k < rule->n_never && rule->never[k].last < id)
			k++;
		if (k == rule->n_never || id < rule->never[k].first)
			pool[n++] = id;
	}
	return n;
}

int mask_init(struct mask *m, const struct mask_rule *rule)
{
	const struct mask_shares shares = mask_shares_of(&rule->shares);

	*m = (struct mask){
		.rule = *rule,
		.pool = malloc(rule->vocab_size * sizeof(*m->pool)),
		.candidates = malloc(rule->max_seq_length * sizeof(*m->candidates)),
		.lengths = malloc(rule->max_seq_length * sizeof(*m->lengths)),
		.order = malloc(rule->max_seq_length * sizeof(*m->order)),
		.places = malloc(rule->max_seq_length * sizeof(*m->places)),
		.marks = malloc((rule->max_seq_length / 64 + 1) * sizeof(*m->marks)),
		.begins = malloc((rule->max_seq_length / 64 + 1) * sizeof(*m->begins)),
		.gaps = calloc(rule->max_seq_length / 64 + 1, sizeof(*m->gaps)),
		.masked = unit(shares.mask),
		.kept = unit(1 - shares.random),
	};
	if (!m->pool || !m->candidates || !m->lengths || !m->order || !m->places || !m->marks || !m->begins || !m->gaps) {
		mask_release(m);
		return err_memory();
	}
	m->kept = m->kept < m->masked ? m->masked : m->kept;	/* 1 - random may be rounded down past mask */
	for (uint32_t k = 0; k < rule->max_seq_length; k++)
		m->places[k] = k;
	m->pool_size = fill_pool(m->pool, rule);
	m->rule.never = NULL;
	m->rule.n_never = 0;
	if (m->pool_size)
		return 0;
	mask_release(m);
	return err_fail("the vocabulary has no tokens but special ones");
}

void mask_release(struct mask *m)
{
	if (!m)
		return;
	free(m->pool);
	free(m->candidates);
	free(m->lengths);
	free(m->order);
	free(m->places);
	free(m->marks);
	free(m->begins);
	free(m->gaps);
	*m = (struct mask){ .pool = NULL };
}

uint32_t mask_count(const struct mask_rule *rule, uint32_t n)
{
	const double wanted = rint(n * rule->masked_lm_prob);	/* half to even, as Python's round */

	if (wanted >= rule->max_predictions)
		return rule->max_predictions;
	return wanted < 1 ? 1 : (uint32_t)wanted;
}

void mask_stream(struct rng *r, enum rng_purpose purpose, uint64_t seed, struct key key, uint32_t occurrence,
		 uint32_t pass, uint32_t first)
{
	rng_open(r, seed, purpose, key.hi, key.lo, occurrence, pass, first);
}

static bool has(const uint64_t *bits, uint32_t k)
{
	return bits[k / 64] >> k % 64 & 1;
}

static void set(uint64_t *bits, uint32_t k)
{
	bits[k / 64] |= UINT64_C(1) << k % 64;
}

/* Candidates are words: each one's first position and its length in tokens, beside which a [SEP] may lie in it. */
static uint32_t list_words(struct mask *m, const struct instance *i)
{
	uint32_t n = 0, position = 1;

	if (m->rule.across_sep)
		memset(m->gaps, 0, (i->n / 64 + 1) * sizeof(*m->gaps));
	for (uint32_t s = 0; s < i->n_segments; s++, position++) {
		const uint32_t end = position + i->segments[s].length, first = m->rule.across_sep ? 0 : n;

		for (; position < end; position++) {
			if (n > first && vocab_is_continuation(m->rule.vocab, i->ids[position])) {
				m->lengths[n - 1]++;
				continue;
			}
			m->candidates[n] = position;
			m->lengths[n++] = 1;
		}
		if (m->rule.across_sep)
			set(m->gaps, end);
	}
	return n;
}

/* Marks all positions of word K. */
static void mark_word(struct mask *m, uint32_t k)
{
	uint32_t position = m->candidates[k];

	for (uint32_t t = 0; t < m->lengths[k]; t++, position++) {
		position += has(m->gaps, position);
		set(m->marks, position);
	}
}

/* Joins those of the N words that are listed: runs of single tokens, side by side, longest first from the left. */
static uint32_t join_words(struct mask *m, const struct instance *i, uint32_t n)
{
	uint32_t joined = 0, end = 0;

	for (uint32_t k = 0; k < n; joined++) {
		const uint32_t position = m->candidates[k];
		uint32_t word = 0;

		end = end > k ? end : k;
		while (end < n && m->lengths[end] == 1 && m->candidates[end] == position + end - k)
			end++;
		if (end > k + 1)
			word = mask_words_match(m->rule.words, &i->ids[position], end - k);
		m->candidates[joined] = position;
		m->lengths[joined] = word ? word : m->lengths[k];
		k += word ? word : 1;
	}
	return joined;
}

static uint32_t list_units(struct mask *m, const struct instance *i)
{
	const uint32_t n = list_words(m, i);

	return m->rule.words ? join_words(m, i, n) : n;
}

static uint32_t list_tokens(struct mask *m, const struct instance *i)
{
	uint32_t n = 0, position = 1;

	for (uint32_t s = 0; s < i->n_segments; s++) {
		const uint32_t length = i->segments[s].length;

		memcpy(m->candidates + n, m->places + position, length * sizeof(*m->candidates));
		n += length;
		position += length + 1;
	}
	return n;
}

static void swap(uint32_t *items, uint32_t a, uint32_t b)
{
	const uint32_t t = items[a];

	items[a] = items[b];
	items[b] = t;
}

/* Into the marks. */
static uint32_t choose_tokens(struct mask *m, struct rng_ahead *r, const struct instance *i, uint32_t wanted)
{
	const uint32_t n = list_tokens(m, i), chosen = wanted < n ? wanted : n;
	uint32_t *c = m->candidates;

	for (uint32_t k = 0; k < chosen; k++) {
		const uint32_t j = k + rng_ahead_below(r, n - k), position = c[j];

		c[j] = c[k];
		set(m->marks, position);
	}
	return chosen;
}

static uint32_t choose_words(struct mask *m, struct rng_ahead *r, const struct instance *i, uint32_t wanted)
{
	const uint32_t n = list_units(m, i);
	uint32_t chosen = 0;

	memset(m->begins, 0, (i->n / 64 + 1) * sizeof(*m->begins));
	for (uint32_t k = 0; chosen < wanted && k < n; k++) {
		const uint32_t j = k + rng_ahead_below(r, n - k);

		swap(m->candidates, k, j);
		swap(m->lengths, k, j);
		if (m->lengths[k] > wanted - chosen)
			continue;
		set(m->begins, m->candidates[k]);
		mark_word(m, k);
		chosen += m->lengths[k];
	}
	return chosen;
}

/* Words of the next span. */
static uint32_t draw_span(const struct mask *m, struct rng_ahead *r)
{
	uint32_t n;

	if (m->rule.spans == MASK_NGRAMS) {
		n = rng_ahead_below(r, 11);		/* 1 : 1/2 : 1/3 is 6 : 3 : 2 */
		return n < 6 ? 1 : n < 9 ? 2 : 3;
	}
	for (n = 1; rng_ahead_unit(r) >= 0.2; n++)
		n = n == 10 ? 0 : n;		/* a longer one is drawn anew */
	return n;
}

/* Spans of words that stand side by side in a segment, from words in random order on; shorter where they meet others. */
static uint32_t choose_spans(struct mask *m, struct rng_ahead *r, const struct instance *i, uint32_t wanted)
{
	const uint32_t n = list_units(m, i);
	uint32_t chosen = 0;

	memset(m->begins, 0, (i->n / 64 + 1) * sizeof(*m->begins));
	for (uint32_t k = 0; k < n; k++)
		m->order[k] = k;
	for (uint32_t k = 0; chosen < wanted && k < n; k++) {
		uint32_t word, left;

		swap(m->order, k, k + rng_ahead_below(r, n - k));
		word = m->order[k];
		if (has(m->marks, m->candidates[word]))
			continue;
		left = draw_span(m, r);
		for (uint32_t w = word; left && w < n && !has(m->marks, m->candidates[w]); w++, left--) {
			if (m->lengths[w] > wanted - chosen ||
			    (w > word && m->candidates[w - 1] + m->lengths[w - 1] != m->candidates[w]))
				break;
			if (w == word || m->rule.spans == MASK_NGRAMS)
				set(m->begins, m->candidates[w]);
			mark_word(m, w);
			chosen += m->lengths[w];
		}
	}
	return chosen;
}

/* The first position after POSITION that is marked; BITS are the marks left in its word. */
static inline uint32_t next_marked(const uint64_t *marks, uint32_t *word, uint64_t *bits)
{
	uint32_t position;

	while (!*bits)
		*bits = marks[++*word];
	position = 64 * *word + (uint32_t)__builtin_ctzll(*bits);
	*bits &= *bits - 1;
	return position;
}

/* What stands at the marked positions, each drawn by itself; without a branch for what nobody foresees. */
static void replace_each(const struct mask *m, struct rng_ahead *r, struct instance *i)
{
	const uint64_t masked = m->masked, kept = m->kept;
	uint32_t word = 0;
	uint64_t bits = m->marks[0];

	for (uint32_t k = 0; k < i->predictions; k++) {
		const uint32_t position = next_marked(m->marks, &word, &bits), label = i->ids[position];
		uint32_t x, other, id;
		uint64_t product;

		if (r->used + 2 > r->have)
			rng_ahead_more(r, i->predictions - k + 2);
		x = r->words[r->used++];
		other = x >= kept;
		product = (uint64_t)r->words[r->used] * m->pool_size;
		id = m->pool[other ? product >> 32 : 0];
		if (other && (uint32_t)product < m->pool_size)
			id = m->pool[rng_ahead_below(r, m->pool_size)];
		else
			r->used += other;
		i->positions[k] = position;
		i->labels[k] = label;
		i->ids[position] = x < masked ? m->rule.mask_id : other ? id : label;
	}
}

/* The same with one draw for all that begins together. */
static void replace_together(const struct mask *m, struct rng_ahead *r, struct instance *i)
{
	uint32_t word = 0, x = 0;
	uint64_t bits = m->marks[0];

	for (uint32_t k = 0; k < i->predictions; k++) {
		const uint32_t position = next_marked(m->marks, &word, &bits);
		uint32_t *id = &i->ids[position];

		if (has(m->begins, position))
			x = rng_ahead_u32(r);
		i->positions[k] = position;
		i->labels[k] = *id;
		if (x < m->masked)
			*id = m->rule.mask_id;
		else if (x >= m->kept)
			*id = m->pool[rng_ahead_below(r, m->pool_size)];
	}
}

void mask_draw(struct mask *m, const struct rng *r, struct instance *i)
{
	const uint32_t wanted = mask_count(&m->rule, i->n);
	struct rng_ahead *a = &m->draws;

	assert(!i->predictions && i->n <= m->rule.max_seq_length);
	rng_ahead_open(a, r, 2 * wanted + wanted / 8 + 4);
	memset(m->marks, 0, (i->n / 64 + 1) * sizeof(*m->marks));
	if (m->rule.spans != MASK_WORDS)
		i->predictions = choose_spans(m, a, i, wanted);
	else
		i->predictions = m->rule.whole_word ? choose_words(m, a, i, wanted) : choose_tokens(m, a, i, wanted);
	if (m->rule.word_draws || m->rule.spans == MASK_SPANS)
		replace_together(m, a, i);
	else
		replace_each(m, a, i);
}
