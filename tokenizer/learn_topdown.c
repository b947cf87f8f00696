#include "tokenizer/learn_topdown.h"

#include "base/err.h"
#include "base/utf8.h"
#include "tokenizer/learn_alphabet.h"
#include "tokenizer/letter_trie.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 4
#define LETTERS_LONGEST 50
#define WORDS_MOST 5000000
#define COUNT_MOST 10000000
#define SLACK 0.05

/*
 * All endings of words are nodes of one trie whose root is the end of the word: a node's letter is its ending's first,
 * its parent is the rest of the ending. So an ending is spelled from its node to the root, and a piece of K letters
 * cut off its front leads K nodes up, to a lower number.
 */
struct top_word {
	uint32_t item;			/* in learn.words */
	uint32_t first;			/* its first letter */
	uint32_t rest;			/* the node of what follows that */
	uint32_t tail;			/* the node of what follows its first token; LETTER_ROOT: nothing */
};

/* Tokens of several letters, by their beginnings. */
struct token_set {
	struct letter_trie trie;
	bool *ends;			/* of its nodes: whether a token ends there */
	size_t cap_ends;
};

struct top {
	struct learn *l;
	struct alphabet alphabet;
	bool *seen;			/* of each letter of the alphabet: whether it is in the vocabulary */
	struct top_word *words;
	size_t n_words;
	struct letter_trie endings;
	uint64_t *first_counts;		/* of every ending, when words are cut everywhere */
	uint64_t *counts;		/* and when they were cut into tokens */
	struct token_set set;
	uint64_t letters;		/* characters, which are tokens with and without "##" */
	uint64_t threshold;		/* that COUNTS was made with */
};

/* --- words ------------------------------------------------------------------------- */

static bool is_learnable(const struct top *t, size_t i)
{
	const struct learn_words *w = t->l->words;
	const char *p = learn_words_text(w, i), *const end = p + w->items[i].len;

	if (w->items[i].letters > LETTERS_LONGEST)
		return false;
	while (p < end)
		if (!t->alphabet.place[utf8_next(&p)])
			return false;
	return true;
}

static int by_count_then_text(const void *pa, const void *pb, void *ctx)
{
	const struct top *t = ctx;
	const struct learn_words *w = t->l->words;
	const uint32_t x = ((const struct top_word *)pa)->item, y = ((const struct top_word *)pb)->item;
	const struct learn_word *a = &w->items[x], *b = &w->items[y];
	int c;

	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	c = memcmp(learn_words_text(w, x), learn_words_text(w, y), a->len < b->len ? a->len : b->len);
	return c ? c : (a->len > b->len) - (a->len < b->len);
}

static int choose_words(struct top *t)
{
	const struct learn_words *w = t->l->words;

	t->words = malloc((w->count + 1) * sizeof(*t->words));
	if (!t->words)
		return err_memory();
	for (size_t i = 0; i < w->count; i++)
		if (is_learnable(t, i))
			t->words[t->n_words++].item = (uint32_t)i;
	if (t->n_words <= WORDS_MOST)
		return 0;
	qsort_r(t->words, t->n_words, sizeof(*t->words), by_count_then_text, t);
	t->n_words = WORDS_MOST;
	return 0;
}

/* Sets a word's letters as seen, and makes the nodes of its endings. */
static int put_word(struct top *t, struct top_word *it)
{
	const struct learn_words *w = t->l->words;
	const char *p = learn_words_text(w, it->item), *const end = p + w->items[it->item].len;
	uint32_t letters[LETTERS_LONGEST], n = 0;

	while (p < end) {
		letters[n] = utf8_next(&p);
		t->seen[t->alphabet.place[letters[n++]] - 1] = true;
	}
	it->first = letters[0];
	it->rest = LETTER_ROOT;
	while (--n > 0) {
		it->rest = letter_trie_put(&t->endings, it->rest, letters[n]);
		if (it->rest == LETTER_NONE)
			return -1;
	}
	return 0;
}

static int put_words(struct top *t)
{
	t->seen = calloc(t->alphabet.count + 1, sizeof(*t->seen));
	if (!t->seen)
		return err_memory();
	for (size_t i = 0; i < t->l->n_initial; i++)
		t->seen[t->alphabet.place[t->l->initial[i]] - 1] = true;
	for (size_t i = 0; i < t->n_words; i++)
		if (put_word(t, &t->words[i]))
			return -1;
	for (size_t i = 0; i < t->alphabet.count; i++)
		t->letters += t->seen[i];
	return 0;
}

static uint64_t count_of(const struct top *t, const struct top_word *it)
{
	return t->l->words->items[it->item].count;
}

/* Round 0: an ending occurs as often as the words that have it and at least one letter before. */
static int count_endings(struct top *t)
{
	t->first_counts = calloc(t->endings.count, sizeof(*t->first_counts));
	t->counts = malloc(t->endings.count * sizeof(*t->counts));
	if (!t->first_counts || !t->counts)
		return err_memory();
	for (size_t i = 0; i < t->n_words; i++)
		t->first_counts[t->words[i].rest] += count_of(t, &t->words[i]);
	for (size_t i = t->endings.count; --i > 0;)
		t->first_counts[t->endings.nodes[i].parent] += t->first_counts[i];
	return 0;
}

/* --- sets of tokens ----------------------------------------------------------------- */

/* Adds what is spelled by FIRST and then from node REST of the endings to their root. */
static int set_add(struct token_set *s, const struct letter_trie *endings, uint32_t first, uint32_t rest)
{
	uint32_t node = letter_trie_put(&s->trie, LETTER_ROOT, first);

	for (; node != LETTER_NONE && rest != LETTER_ROOT; rest = endings->nodes[rest].parent)
		node = letter_trie_put(&s->trie, node, endings->nodes[rest].letter);
	if (node == LETTER_NONE)
		return -1;
	while (s->cap_ends < s->trie.count) {
		const size_t before = s->cap_ends;

		if (array_grow(&s->ends, &s->cap_ends, s->trie.count, sizeof(*s->ends)))
			return -1;
		memset(s->ends + before, 0, s->cap_ends - before);
	}
	s->ends[node] = true;
	return 0;
}

static void set_clear(struct token_set *s)
{
	letter_trie_clear(&s->trie);
	if (s->cap_ends)
		memset(s->ends, 0, s->cap_ends);
}

/* What is left of FIRST and REST, the node of an ending, when the longest token is cut off; FIRST alone is one. */
static uint32_t set_cut(const struct token_set *s, const struct letter_trie *endings, uint32_t first, uint32_t rest)
{
	uint32_t node = letter_trie_step(&s->trie, LETTER_ROOT, first), left = rest;

	while (node != LETTER_NONE && rest != LETTER_ROOT) {
		node = letter_trie_step(&s->trie, node, endings->nodes[rest].letter);
		rest = endings->nodes[rest].parent;
		if (node != LETTER_NONE && s->ends[node])
			left = rest;
	}
	return left;
}

/* --- rounds ------------------------------------------------------------------------- */

/* The tokens that words begin with are the words that occur often enough, in every round. */
static int cut_words(struct top *t)
{
	set_clear(&t->set);
	for (size_t i = 0; i < t->n_words; i++) {
		const struct top_word *it = &t->words[i];

		if (count_of(t, it) >= t->threshold && set_add(&t->set, &t->endings, it->first, it->rest))
			return -1;
	}
	for (size_t i = 0; i < t->n_words; i++)
		t->words[i].tail = set_cut(&t->set, &t->endings, t->words[i].first, t->words[i].rest);
	return 0;
}

/* From the tokens that COUNTS makes to the next COUNTS. An ending's number is above that of all that it may leave. */
static int cut_endings(struct top *t)
{
	const struct letter_node *nodes = t->endings.nodes;

	set_clear(&t->set);
	for (size_t i = 1; i < t->endings.count; i++)
		if (t->counts[i] >= t->threshold && set_add(&t->set, &t->endings, nodes[i].letter, nodes[i].parent))
			return -1;
	memset(t->counts, 0, t->endings.count * sizeof(*t->counts));
	for (size_t i = 0; i < t->n_words; i++)
		t->counts[t->words[i].tail] += count_of(t, &t->words[i]);
	for (size_t i = t->endings.count; --i > 0;)
		if (t->counts[i])
			t->counts[set_cut(&t->set, &t->endings, nodes[i].letter, nodes[i].parent)] += t->counts[i];
	return 0;
}

static int learn_with(struct top *t, uint64_t threshold)
{
	t->threshold = threshold;
	if (cut_words(t))
		return -1;
	memcpy(t->counts, t->first_counts, t->endings.count * sizeof(*t->counts));
	for (int round = 1; round < ROUNDS; round++)
		if (cut_endings(t))
			return -1;
	return 0;
}

static bool is_word_token(const struct top *t, const struct top_word *it)
{
	return it->rest != LETTER_ROOT && count_of(t, it) >= t->threshold;
}

static bool is_ending_token(const struct top *t, size_t i)
{
	return t->endings.nodes[i].parent != LETTER_ROOT && t->counts[i] >= t->threshold;
}

static uint64_t count_tokens(const struct top *t)
{
	uint64_t n = LEARN_SPECIALS + t->l->unused + 2 * t->letters;

	for (size_t i = 0; i < t->n_words; i++)
		n += is_word_token(t, &t->words[i]);
	for (size_t i = 1; i < t->endings.count; i++)
		n += is_ending_token(t, i);
	return n;
}

int learn_topdown_fits(uint64_t tokens, uint64_t size)
{
	return tokens <= size && (double)(size - tokens) <= SLACK * (double)size;
}

static int search_threshold(struct top *t)
{
	const struct learn_words *w = t->l->words;
	const uint64_t least = w->least > t->l->min_count ? w->least : t->l->min_count;
	int64_t low = least < INT64_MAX / 2 ? (int64_t)least : INT64_MAX / 2;
	int64_t high = w->most < COUNT_MOST ? (int64_t)w->most : COUNT_MOST;

	for (uint64_t tried = 1;; tried++) {
		const int64_t middle = (low + high) / 2;
		uint64_t tokens;

		if (learn_with(t, (uint64_t)middle))
			return -1;
		tokens = count_tokens(t);
		if (t->l->progress)
			progress_update(t->l->progress, tried, 0);
		if (learn_topdown_fits(tokens, t->l->size) || low >= high || middle <= 1)
			return 0;
		if (tokens > t->l->size)
			low = middle + 1;
		else
			high = middle - 1;
	}
}

/* --- the vocabulary ----------------------------------------------------------------- */

struct token {
	uint64_t count;
	size_t start;			/* in the text of all tokens */
	uint32_t len;
};

struct token_list {
	struct token *items;
	size_t count, cap;
	struct buf text;
};

static int by_count_then_bytes(const void *pa, const void *pb, void *ctx)
{
	const struct token *a = pa, *b = pb;
	const char *text = ctx;
	int c;

	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	c = memcmp(text + a->start, text + b->start, a->len < b->len ? a->len : b->len);
	return c ? c : (a->len > b->len) - (a->len < b->len);
}

static int list_token(struct token_list *list, uint64_t count, size_t start)
{
	if (array_grow(&list->items, &list->cap, list->count + 1, sizeof(*list->items)))
		return -1;
	list->items[list->count++] = (struct token){ count, start, (uint32_t)(list->text.len - start) };
	return 0;
}

static int add_letter(struct buf *b, uint32_t letter)
{
	char bytes[UTF8_MAX];

	return buf_add(b, bytes, utf8_write(letter, bytes));
}

static int list_ending(const struct top *t, struct token_list *list, uint32_t node)
{
	const size_t start = list->text.len;
	const uint64_t count = t->counts[node];

	if (buf_add(&list->text, LEARN_INSIDE, LEARN_INSIDE_LEN))
		return -1;
	for (; node != LETTER_ROOT; node = t->endings.nodes[node].parent)
		if (add_letter(&list->text, t->endings.nodes[node].letter))
			return -1;
	return list_token(list, count, start);
}

/* A character's "##" form is there however rare; it then counts as 1. */
static int list_letter(const struct top *t, struct token_list *list, uint32_t letter)
{
	const uint32_t node = letter_trie_step(&t->endings, LETTER_ROOT, letter);
	const size_t start = list->text.len;

	if (buf_add(&list->text, LEARN_INSIDE, LEARN_INSIDE_LEN) || add_letter(&list->text, letter))
		return -1;
	return list_token(list, node != LETTER_NONE && t->counts[node] >= t->threshold ? t->counts[node] : 1, start);
}

static int list_tokens(const struct top *t, struct token_list *list)
{
	const struct learn_words *w = t->l->words;

	for (size_t i = 0; i < t->alphabet.count; i++)
		if (t->seen[i] && list_letter(t, list, t->alphabet.letters[i]))
			return -1;
	for (size_t i = 0; i < t->n_words; i++) {
		const uint32_t item = t->words[i].item;
		const size_t start = list->text.len;

		if (is_word_token(t, &t->words[i]) &&
		    (buf_add(&list->text, learn_words_text(w, item), w->items[item].len) ||
		     list_token(list, w->items[item].count, start)))
			return -1;
	}
	for (uint32_t i = 1; i < t->endings.count; i++)
		if (is_ending_token(t, i) && list_ending(t, list, i))
			return -1;
	if (list->count)
		qsort_r(list->items, list->count, sizeof(*list->items), by_count_then_bytes, list->text.data);
	return 0;
}

static int write_vocab(const struct top *t, const struct token_list *list)
{
	struct learn *l = t->l;

	if (learn_add_specials(l))
		return -1;
	for (size_t i = 0; i < t->alphabet.count; i++)
		if (t->seen[i] && (add_letter(&l->vocab, t->alphabet.letters[i]) || buf_add_byte(&l->vocab, '\n')))
			return -1;
	for (size_t i = 0; i < list->count; i++) {
		const struct token *it = &list->items[i];

		if (buf_add(&l->vocab, list->text.data + it->start, it->len) || buf_add_byte(&l->vocab, '\n'))
			return -1;
	}
	l->tokens = LEARN_SPECIALS + l->unused + t->letters + list->count;
	l->letters = l->inside = t->letters;
	if (list->count > t->letters)
		l->last_count = t->threshold;
	return 0;
}

static int learn(struct top *t)
{
	struct token_list list = { .text = BUF_INIT };
	struct learn *l = t->l;
	int rc = -1;

	if (alphabet_choose(&t->alphabet, l->words, l->initial, l->n_initial, l->alphabet, LETTERS_LONGEST))
		return -1;
	l->left_out = t->alphabet.left_out;
	l->left_out_count = t->alphabet.left_out_count;
	if (letter_trie_init(&t->endings) || letter_trie_init(&t->set.trie) || choose_words(t) || put_words(t) ||
	    count_endings(t) || search_threshold(t))
		return -1;
	if (!list_tokens(t, &list))
		rc = write_vocab(t, &list);
	free(list.items);
	buf_release(&list.text);
	return rc;
}

int learn_topdown_run(struct learn *l)
{
	struct top t = { .l = l };
	int rc;

	assert(l->min_count >= 1 && l->words->count);
	l->vocab = (struct buf)BUF_INIT;
	l->last_count = 0;
	rc = learn(&t);
	if (rc)
		learn_release(l);
	alphabet_release(&t.alphabet);
	free(t.seen);
	free(t.words);
	letter_trie_release(&t.endings);
	free(t.first_counts);
	free(t.counts);
	letter_trie_release(&t.set.trie);
	free(t.set.ends);
	return rc;
}
