#include "tokenizer/learn_extend.h"

#include "base/err.h"
#include "base/utf8.h"
#include "tokenizer/learn_bpe_impl.h"
#include "tokenizer/wordpiece.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* So many tokens are learnt when ADD are wanted, so that the last ones need not be half words. */
#define LEARNT_FOR(add) ((add) + (add) / 2 + 16)

/* A character that some words need as a token. */
struct want {
	uint64_t count;
	uint32_t letter;
	bool inside;			/* with "##" */
};

struct extend {
	struct bpe bpe;
	struct wordpiece *wordpiece;
	uint64_t *wanted[2];		/* of each letter of the alphabet: how often as it is, with "##" */
	size_t first;			/* token from which on they are new */
	size_t first_merged;		/* and made of pairs */
	bool *kept;			/* of those: whether enough words need it */
	size_t cap_kept;
	uint64_t added;
};

/* --- the vocabulary that is there ---------------------------------------------------- */

static int put_base(struct extend *x)
{
	const struct vocab *v = x->bpe.l->base;

	for (uint32_t id = 0; id < vocab_size(v); id++) {
		size_t len;
		const char *token = vocab_token(v, id, &len);

		if (bpe_add_token(&x->bpe, token, len) == PAIRS_NONE)	/* of two equal ones the last one counts */
			return -1;
	}
	x->first = x->first_merged = vocab_size(v);
	x->wordpiece = wordpiece_new(v, LEARN_WORD_MAX);
	return x->wordpiece ? 0 : -1;
}

/* The token that LETTER is as it is or with "##", PAIRS_NONE if there is none. */
static uint32_t letter_token(const struct extend *x, uint32_t letter, bool inside)
{
	char bytes[LEARN_INSIDE_LEN + UTF8_MAX] = LEARN_INSIDE;
	const unsigned len = utf8_write(letter, bytes + LEARN_INSIDE_LEN);
	const size_t skip = inside ? 0 : LEARN_INSIDE_LEN;
	const uint64_t *id = map_get(&x->bpe.ids, bytes + skip, LEARN_INSIDE_LEN + len - skip);

	return id ? (uint32_t)*id : PAIRS_NONE;
}

/*
 * The word as pieces, at OUT; how many there are. Where nothing fits a character that is
 * a token by now is taken; any other is added to what is wanted (when COUNT is not 0), and makes
 * the word unknown: 0.
 */
static size_t cut(struct extend *x, size_t word, uint64_t count, uint32_t *out)
{
	const struct learn_words *w = x->bpe.l->words;
	const char *const start = learn_words_text(w, word), *const end = start + w->items[word].len, *p = start;
	bool unknown = false;
	size_t n = 0;

	while (p < end) {
		const bool inside = p > start;
		const size_t len = wordpiece_match(x->wordpiece, p, (size_t)(end - p), inside, &out[n]);

		if (len) {
			p += len;
			n++;
			continue;
		}
		const uint32_t letter = utf8_next(&p), place = x->bpe.alphabet.place[letter];

		out[n] = letter_token(x, letter, inside);
		if (out[n++] != PAIRS_NONE)
			continue;
		unknown = true;
		if (place)
			x->wanted[inside][place - 1] += count;
	}
	return unknown ? 0 : n;
}

/* --- characters ----------------------------------------------------------------------- */

static int by_want(const void *pa, const void *pb)
{
	const struct want *a = pa, *b = pb;

	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	if (a->letter != b->letter)
		return a->letter < b->letter ? -1 : 1;
	return a->inside - b->inside;
}

static int add_letters(struct extend *x, struct want *wants, size_t n)
{
	struct learn *l = x->bpe.l;

	if (n)
		qsort(wants, n, sizeof(*wants), by_want);
	for (size_t i = 0; i < n && x->added < l->add; i++) {
		char bytes[LEARN_INSIDE_LEN + UTF8_MAX] = LEARN_INSIDE;
		const unsigned len = utf8_write(wants[i].letter, bytes + LEARN_INSIDE_LEN);
		const size_t skip = wants[i].inside ? 0 : LEARN_INSIDE_LEN;

		if (bpe_add_token(&x->bpe, bytes + skip, LEARN_INSIDE_LEN + len - skip) == PAIRS_NONE)
			return -1;
		x->added++;
		l->letters += !wants[i].inside;
		l->inside += wants[i].inside;
	}
	x->first_merged = x->bpe.n_tokens;
	return 0;
}

static int add_wanted(struct extend *x)
{
	const struct alphabet *a = &x->bpe.alphabet;
	struct want *wants;
	size_t n = 0;
	int rc;

	for (int inside = 0; inside < 2; inside++) {
		x->wanted[inside] = calloc(a->count + 1, sizeof(*x->wanted[inside]));
		if (!x->wanted[inside])
			return err_memory();
	}
	wants = malloc((2 * a->count + 1) * sizeof(*wants));
	if (!wants)
		return err_memory();
	for (size_t i = 0; i < x->bpe.l->words->count; i++)
		cut(x, i, x->bpe.l->words->items[i].count, x->bpe.pieces);
	for (size_t i = 0; i < a->count; i++)
		for (int inside = 0; inside < 2; inside++)
			if (x->wanted[inside][i] >= x->bpe.l->min_count)
				wants[n++] = (struct want){ x->wanted[inside][i], a->letters[i], inside };
	rc = add_letters(x, wants, n);
	free(wants);
	return rc;
}

/* --- merging -------------------------------------------------------------------------- */

/* Whether a token is among those that are added may have changed by the last step. */
static int judge(struct extend *x, uint32_t token)
{
	const size_t i = token - x->first_merged;
	bool keep;

	if (token < x->first_merged)
		return 0;
	for (size_t before = x->cap_kept; i >= x->cap_kept; before = x->cap_kept) {
		if (array_grow(&x->kept, &x->cap_kept, i + 1, sizeof(*x->kept)))
			return -1;
		memset(x->kept + before, 0, x->cap_kept - before);
	}
	keep = x->bpe.freqs[token] >= x->bpe.l->min_count;
	x->added += (uint64_t)keep - (uint64_t)x->kept[i];
	x->kept[i] = keep;
	return 0;
}

struct choice {
	uint64_t count;
	size_t i;			/* in x->kept */
};

static int by_need(const void *pa, const void *pb)
{
	const struct choice *a = pa, *b = pb;

	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return (a->i > b->i) - (a->i < b->i);
}

/* Of the tokens that were merged those are left that words need most, of equals the older ones. */
static int choose(struct extend *x)
{
	const size_t n = x->bpe.n_tokens - x->first_merged;
	struct choice *choices;

	if (x->added <= x->bpe.l->add)
		return 0;
	choices = malloc(n * sizeof(*choices));
	if (!choices)
		return err_memory();
	for (size_t i = 0; i < n; i++)
		choices[i] = (struct choice){ x->bpe.freqs[x->first_merged + i], i };
	qsort(choices, n, sizeof(*choices), by_need);
	for (size_t i = n; x->added > x->bpe.l->add; i--) {
		x->added -= x->kept[choices[i - 1].i];
		x->kept[choices[i - 1].i] = false;
	}
	free(choices);
	return 0;
}

static int merge(struct extend *x)
{
	struct bpe *b = &x->bpe;
	struct learn *l = b->l;
	int rc = 0;

	for (size_t i = 0; i < l->words->count; i++) {
		const size_t n = cut(x, i, 0, b->pieces + b->n_pieces);

		bpe_add_word(b, n, l->words->items[i].count);
		l->unknown_count += n ? 0 : l->words->items[i].count;
	}
	if (bpe_count_pairs(b))
		return -1;
	while (x->added < LEARNT_FOR(l->add) && (rc = bpe_step(b)) > 0)
		if (judge(x, b->left) || judge(x, b->right) || judge(x, b->joined))
			return -1;
	return rc < 0 ? -1 : choose(x);
}

/* --- the vocabulary ------------------------------------------------------------------- */

/* The next new token from *AT on, moved past it; false: there is none. */
static bool next_added(const struct extend *x, size_t *at, const struct bpe_token **token)
{
	for (; *at < x->bpe.n_tokens; (*at)++)
		if (*at < x->first_merged || x->kept[*at - x->first_merged]) {
			*token = &x->bpe.tokens[(*at)++];
			return true;
		}
	return false;
}

static int write_token(struct extend *x, const struct bpe_token *t)
{
	struct buf *out = &x->bpe.l->vocab;

	return buf_add(out, x->bpe.text.data + t->start, t->len) || buf_add_byte(out, '\n') ? -1 : 0;
}

static int write_vocab(struct extend *x)
{
	struct learn *l = x->bpe.l;
	const struct bpe_token *token;
	size_t at = x->first;

	for (uint32_t id = 0; id < x->first; id++) {
		token = &x->bpe.tokens[id];
		if (vocab_is_slot(l->base, id) && next_added(x, &at, &token))
			l->slots++;
		if (write_token(x, token))
			return -1;
	}
	l->tokens = x->first;
	for (; next_added(x, &at, &token); l->tokens++)
		if (write_token(x, token))
			return -1;
	l->added = x->added;
	return l->tokens <= VOCAB_MAX ? 0 : err_fail("the vocabulary would have more than %u tokens", VOCAB_MAX);
}

static int learn(struct extend *x)
{
	struct learn *l = x->bpe.l;

	if (alphabet_choose(&x->bpe.alphabet, l->words, l->initial, l->n_initial, l->alphabet, LEARN_WORD_MAX))
		return -1;
	l->left_out = x->bpe.alphabet.left_out;
	l->left_out_count = x->bpe.alphabet.left_out_count;
	if (put_base(x) || bpe_reserve_words(&x->bpe) || add_wanted(x) || merge(x))
		return -1;
	return write_vocab(x);
}

int learn_extend_run(struct learn *l)
{
	struct extend x = { .bpe = { .l = l } };
	int rc;

	assert(l->min_count >= 1 && l->add >= 1 && l->base);
	l->vocab = (struct buf)BUF_INIT;
	l->last_count = l->letters = l->inside = l->slots = l->unknown_count = 0;
	rc = learn(&x);
	if (rc)
		learn_release(l);
	wordpiece_free(x.wordpiece);
	free(x.wanted[0]);
	free(x.wanted[1]);
	free(x.kept);
	bpe_release(&x.bpe);
	return rc;
}
