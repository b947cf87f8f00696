#include "tokenizer/learn_bpe.h"

#include "base/err.h"
#include "base/utf8.h"
#include "tokenizer/learn_bpe_impl.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define AHEAD 8			/* words that are fetched from memory before their turn */

/* --- tokens ------------------------------------------------------------------------ */

uint32_t bpe_add_token(struct bpe *b, const char *bytes, size_t len)
{
	uint64_t *id = map_put(&b->ids, bytes, len);

	if (!id)
		return PAIRS_NONE;
	if (array_grow(&b->tokens, &b->cap_tokens, b->n_tokens + 1, sizeof(*b->tokens)) ||
	    array_grow(&b->freqs, &b->cap_freqs, b->n_tokens + 1, sizeof(*b->freqs)))
		return PAIRS_NONE;
	b->freqs[b->n_tokens] = 0;
	*id = b->n_tokens;
	b->tokens[b->n_tokens] = (struct bpe_token){ .start = b->text.len, .len = (uint32_t)len };
	if (buf_add(&b->text, bytes, len))
		return PAIRS_NONE;
	return (uint32_t)b->n_tokens++;
}

uint32_t bpe_put_token(struct bpe *b, const char *bytes, size_t len)
{
	const uint64_t *id = map_get(&b->ids, bytes, len);

	return id ? (uint32_t)*id : bpe_add_token(b, bytes, len);
}

/* The token that a pair becomes. */
static uint32_t join_tokens(struct bpe *b, uint32_t left, uint32_t right)
{
	const struct bpe_token *x = &b->tokens[left], *y = &b->tokens[right];
	struct buf joined = BUF_INIT;
	uint32_t token = PAIRS_NONE;

	if (!buf_add(&joined, b->text.data + x->start, x->len) &&
	    !buf_add(&joined, b->text.data + y->start + LEARN_INSIDE_LEN, y->len - LEARN_INSIDE_LEN))
		token = bpe_put_token(b, joined.data, joined.len);
	buf_release(&joined);
	return token;
}

/* --- words ------------------------------------------------------------------------- */

int bpe_reserve_words(struct bpe *b)
{
	const struct learn_words *w = b->l->words;
	size_t letters = 0;

	for (size_t i = 0; i < w->count; i++)
		letters += w->items[i].letters;
	assert(letters <= LEARN_LETTERS_MAX);
	b->pieces = malloc((letters + 1) * sizeof(*b->pieces));
	b->words = malloc((w->count + 1) * sizeof(*b->words));
	return b->pieces && b->words ? 0 : err_memory();
}

void bpe_add_word(struct bpe *b, size_t n, uint64_t count)
{
	assert(n <= UINT8_MAX);
	for (size_t k = 0; k < n; k++)
		b->freqs[b->pieces[b->n_pieces + k]] += count;
	if (n < 2)
		return;
	b->words[b->n_words++] = (struct piece_word){ count, (uint32_t)b->n_pieces, (uint8_t)n };
	b->n_pieces += n;
}

/* The pair may be the best from now on. */
static int queue_pair(struct bpe *b, uint32_t pair)
{
	if (b->pairs.items[pair].count < b->l->min_count)
		return 0;
	return b->l->order == LEARN_BY_LIKELIHOOD ? scores_put(&b->scores, pair) : pairs_push(&b->pairs, pair);
}

static bool next_pair(struct bpe *b, uint32_t *best)
{
	return b->l->order == LEARN_BY_LIKELIHOOD ? scores_pop(&b->scores, b->l->min_count, best) :
						    pairs_pop(&b->pairs, b->l->min_count, best);
}

int bpe_count_pairs(struct bpe *b)
{
	/* A merge makes two pairs at most where two tokens become one. */
	if (pairs_init(&b->pairs, 3 * (b->n_pieces - b->n_words)))
		return -1;
	for (size_t i = 0; i < b->n_words; i++) {
		const struct piece_word *w = &b->words[i];
		const uint32_t *s = b->pieces + w->start;

		for (unsigned k = 0; k + 1 < w->len; k++)
			if (pairs_add(&b->pairs, s[k], s[k + 1], w->count, (uint32_t)i) == PAIRS_NONE)
				return -1;
	}
	scores_init(&b->scores, &b->pairs, &b->freqs);
	for (size_t i = 0; i < b->pairs.count; i++)
		if (queue_pair(b, (uint32_t)i))
			return -1;
	return 0;
}

/* --- merging ----------------------------------------------------------------------- */

static int add_pair(struct bpe *b, uint32_t left, uint32_t right, uint32_t word)
{
	const uint32_t pair = pairs_add(&b->pairs, left, right, b->words[word].count, word);
	struct pair *it;

	if (pair == PAIRS_NONE)
		return -1;
	it = &b->pairs.items[pair];
	if (it->step == b->step)
		return 0;
	it->step = b->step;
	if (array_grow(&b->touched, &b->cap_touched, b->n_touched + 1, sizeof(*b->touched)))
		return -1;
	b->touched[b->n_touched++] = pair;
	return 0;
}

/* LEFT and RIGHT become TOKEN wherever they stand side by side in WORD, from the left. */
static int merge_in_word(struct bpe *b, uint32_t word, uint32_t left, uint32_t right, uint32_t token)
{
	struct piece_word *w = &b->words[word];
	uint32_t *s = b->pieces + w->start;
	unsigned from = 0, to = 0;

	while (from < w->len) {
		if (s[from] != left || from + 1 == w->len || s[from + 1] != right) {
			s[to++] = s[from++];
			continue;
		}
		if (to > 0) {
			pairs_take(&b->pairs, s[to - 1], left, w->count);
			if (add_pair(b, s[to - 1], token, word))
				return -1;
		}
		if (from + 2 < w->len) {
			pairs_take(&b->pairs, right, s[from + 2], w->count);
			if (add_pair(b, token, s[from + 2], word))
				return -1;
		}
		b->merged += w->count;
		s[to++] = token;
		from += 2;
	}
	w->len = (uint8_t)to;
	return 0;
}

/* The words on the list that begins at occurrence FIRST, to b->visit. */
static int list_words(struct bpe *b, uint32_t first)
{
	b->n_visit = 0;
	for (uint32_t i = first; i != PAIRS_NONE; i = b->pairs.occurrences[i].next) {
		if (array_grow(&b->visit, &b->cap_visit, b->n_visit + 1, sizeof(*b->visit)))
			return -1;
		b->visit[b->n_visit++] = b->pairs.occurrences[i].word;
	}
	return 0;
}

static int merge_pair(struct bpe *b, uint32_t pair)
{
	const uint32_t left = b->pairs.items[pair].left, right = b->pairs.items[pair].right;
	const uint32_t token = join_tokens(b, left, right);

	if (token == PAIRS_NONE || list_words(b, pairs_clear(&b->pairs, pair)))
		return -1;
	b->step++;
	b->left = left;
	b->right = right;
	b->joined = token;
	b->n_touched = 0;
	b->merged = 0;
	for (size_t i = 0; i < b->n_visit; i++) {
		if (i + AHEAD < b->n_visit)
			__builtin_prefetch(&b->words[b->visit[i + AHEAD]]);
		if (i + AHEAD / 2 < b->n_visit)
			__builtin_prefetch(&b->pieces[b->words[b->visit[i + AHEAD / 2]].start]);
		if (merge_in_word(b, b->visit[i], left, right, token))
			return -1;
	}
	b->freqs[left] -= b->merged;
	b->freqs[right] -= b->merged;
	b->freqs[token] += b->merged;
	for (size_t i = 0; i < b->n_touched; i++)
		if (queue_pair(b, b->touched[i]))
			return -1;
	scores_fell(&b->scores, left);
	scores_fell(&b->scores, right);
	return 0;
}

int bpe_step(struct bpe *b)
{
	uint32_t best;

	if (!next_pair(b, &best))
		return 0;
	b->l->last_count = b->pairs.items[best].count;
	if (merge_pair(b, best))
		return -1;
	if (b->l->progress)
		progress_update(b->l->progress, b->n_tokens, 0);
	return 1;
}

void bpe_release(struct bpe *b)
{
	alphabet_release(&b->alphabet);
	buf_release(&b->text);
	free(b->tokens);
	map_release(&b->ids);
	free(b->inside);
	free(b->words);
	free(b->pieces);
	free(b->freqs);
	pairs_release(&b->pairs);
	scores_release(&b->scores);
	free(b->touched);
	free(b->visit);
}

/* --- from characters ---------------------------------------------------------------- */

/* The alphabet's tokens: letters, then their forms inside words. Token I is letter I. */
static int put_letters(struct bpe *b)
{
	const struct alphabet *a = &b->alphabet;
	char bytes[LEARN_INSIDE_LEN + UTF8_MAX] = LEARN_INSIDE;

	b->inside = malloc((a->count + 1) * sizeof(*b->inside));
	if (!b->inside)
		return err_memory();
	for (size_t i = 0; i < a->count; i++)
		if (bpe_put_token(b, bytes + LEARN_INSIDE_LEN, utf8_write(a->letters[i], bytes + LEARN_INSIDE_LEN)) == PAIRS_NONE)
			return -1;
	for (size_t i = 0; i < a->count; i++) {
		const unsigned n = utf8_write(a->letters[i], bytes + LEARN_INSIDE_LEN);

		b->inside[i] = a->inside[i] ? bpe_put_token(b, bytes, LEARN_INSIDE_LEN + n) : PAIRS_NONE;
		if (a->inside[i] && b->inside[i] == PAIRS_NONE)
			return -1;
	}
	return 0;
}

/* Word I as tokens, at OUT; returns how many, letters outside the alphabet left out. */
static size_t spell(const struct bpe *b, size_t i, uint32_t *out)
{
	const struct learn_words *w = b->l->words;
	const char *p = learn_words_text(w, i), *const start = p, *const end = p + w->items[i].len;
	size_t n = 0;

	while (p < end) {
		const bool first = p == start;
		const uint32_t place = b->alphabet.place[utf8_next(&p)];

		if (place)
			out[n++] = first ? place - 1 : b->inside[place - 1];
	}
	return n;
}

/* --- the vocabulary ---------------------------------------------------------------- */

static int write_vocab(const struct bpe *b)
{
	struct learn *l = b->l;

	if (learn_add_specials(l))
		return -1;
	for (size_t i = 0; i < b->n_tokens; i++) {
		const struct bpe_token *t = &b->tokens[i];

		if (buf_add(&l->vocab, b->text.data + t->start, t->len) || buf_add_byte(&l->vocab, '\n'))
			return -1;
	}
	l->tokens = LEARN_SPECIALS + l->unused + b->n_tokens;
	return 0;
}

static int learn(struct bpe *b)
{
	struct learn *l = b->l;
	uint64_t least, room;
	int rc = 0;

	if (alphabet_choose(&b->alphabet, l->words, l->initial, l->n_initial, l->alphabet, LEARN_WORD_MAX))
		return -1;
	l->letters = b->alphabet.count;
	l->inside = b->alphabet.count_inside;
	l->left_out = b->alphabet.left_out;
	l->left_out_count = b->alphabet.left_out_count;
	least = LEARN_SPECIALS + l->unused + l->letters + l->inside;
	if (l->size < least)
		return err_fail("a vocabulary of %" PRIu64 " tokens is too small: special tokens, unused slots and characters "
				"alone are %" PRIu64, l->size, least);
	room = l->size - LEARN_SPECIALS - l->unused;
	if (put_letters(b) || bpe_reserve_words(b))
		return -1;
	for (size_t i = 0; i < l->words->count; i++)
		bpe_add_word(b, spell(b, i, b->pieces + b->n_pieces), l->words->items[i].count);
	if (bpe_count_pairs(b))
		return -1;
	while (b->n_tokens < room && (rc = bpe_step(b)) > 0)
		;
	return rc < 0 ? -1 : write_vocab(b);
}

int learn_bpe_run(struct learn *l)
{
	struct bpe b = { .l = l };
	int rc;

	assert(l->min_count >= 1 && l->size <= LEARN_SIZE_MAX);
	l->vocab = (struct buf)BUF_INIT;
	l->last_count = 0;
	rc = learn(&b);
	if (rc)
		learn_release(l);
	bpe_release(&b);
	return rc;
}
