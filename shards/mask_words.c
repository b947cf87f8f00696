/* Words of single characters. */
#include "shards/mask_words.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/sha256.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX_BYTES ((size_t)64 << 20)
#define CACHE_BYTES ((size_t)1 << 16)	/* words are met once */

#define ENDS ((uint32_t)1 << 31)	/* beside a node's id: a word ends here */
#define FEW 8				/* children that are looked through one by one */

_Static_assert(VOCAB_MAX < ENDS, "an id leaves room for a bit");

/*
 * The tree of words, breadth first: the children of a node stand side by side, by rising ids, and after them those
 * of the next node. So a step looks at one place, where nodes of one parent share a cache line.
 */
struct node {
	uint32_t id;			/* the token that leads here; and ENDS */
	uint32_t first;			/* its first child; the last one stands before that of the next node */
};

struct mask_words {
	struct buf text;		/* in its one form */
	struct node *nodes;		/* [n_nodes], the root first; and one that ends the last one's children */
	uint32_t n_nodes;
	uint32_t *roots;		/* [vocab_size] the root's child of each id, 0: none */
	uint32_t vocab_size;
	uint64_t count, passed;
	char sha256[SHA256_HEX];
};

void mask_words_free(struct mask_words *w)
{
	if (!w)
		return;
	buf_release(&w->text);
	free(w->nodes);
	free(w->roots);
	free(w);
}

uint64_t mask_words_count(const struct mask_words *w)
{
	return w->count;
}

uint64_t mask_words_passed(const struct mask_words *w)
{
	return w->passed;
}

const char *mask_words_sha256(const struct mask_words *w)
{
	return w->sha256;
}

const char *mask_words_text(const struct mask_words *w, size_t *len)
{
	*len = w->text.len;
	return w->text.data;
}

/* The child of NODE that ID leads to; 0: none. */
static uint32_t step(const struct mask_words *w, uint32_t node, uint32_t id)
{
	uint32_t low = w->nodes[node].first, high = w->nodes[node + 1].first;

	while (high - low > FEW) {
		const uint32_t middle = low + (high - low) / 2;

		if ((w->nodes[middle].id & ~ENDS) <= id)
			low = middle;
		else
			high = middle;
	}
	for (; low < high; low++)
		if ((w->nodes[low].id & ~ENDS) == id)
			return low;
	return 0;
}

uint32_t mask_words_match(const struct mask_words *w, const uint32_t *ids, uint32_t n)
{
	uint32_t node = n && ids[0] < w->vocab_size ? w->roots[ids[0]] : 0, longest = 0;

	for (uint32_t k = 1; node && k < n; k++) {
		node = step(w, node, ids[k]);
		if (node && w->nodes[node].id & ENDS)
			longest = k + 1;
	}
	return longest;
}

/* --- lines ------------------------------------------------------------------------------------ */

static int refuse(const char *path, uint64_t line, const char *what)
{
	return err_corrupt("'%s': line %" PRIu64 " %s", path, line, what);
}

/* Reads PATH and holds all of it to be text. */
static int read_text(const char *path, struct buf *b)
{
	size_t valid;
	const char *bad;
	uint64_t line = 1;

	if (fs_read_all(strcmp(path, MASK_WORDS_STANDARD_INPUT) ? path : "/dev/stdin", FILE_MAX_BYTES, b))
		return -1;
	if (!b->len)
		return err_corrupt("'%s' is empty", path);
	valid = utf8_valid_prefix(b->data, b->len);
	bad = valid < b->len ? b->data + valid : memchr(b->data, 0, b->len);
	if (!bad)
		return 0;
	for (const char *p = b->data; (p = memchr(p, '\n', (size_t)(bad - p))); p++)
		line++;
	return refuse(path, line, valid < b->len ? "is not UTF-8" : "holds a NUL byte");
}

/* --- the one form ------------------------------------------------------------------------------- */

/* The id of the character at *P, which moves on; VOCAB_NONE: it is no token. */
static uint32_t next_id(const struct vocab *vocab, const char **p)
{
	const char *const at = *p;

	utf8_next(p);
	return vocab_id(vocab, at, (size_t)(*p - at));
}

/* A word of the text: N ids from FIRST on. */
struct word {
	const uint32_t *ids;
	uint32_t n;
};

/* The words of a text on their way to a tree. */
struct parsing {
	const struct vocab *vocab;
	const char *path;
	struct ids ids;			/* of all words, one after the other */
	struct ids ends;		/* of each, where in IDS */
	struct word *words;
};

static int add_word(struct parsing *x, const char *p, const char *end)
{
	const uint64_t line = x->ends.count + 1;
	size_t letters = 0;

	for (; p < end; letters++) {
		const uint32_t id = next_id(x->vocab, &p);

		if (id == VOCAB_NONE)
			return refuse(x->path, line, "has a character that is no token of the vocabulary");
		if (ids_add(&x->ids, id))
			return -1;
	}
	if (letters < 2 || letters > MASK_WORDS_LENGTH)
		return refuse(x->path, line, letters < 2 ? "is no word of two characters or more" : "is too long");
	return ids_add(&x->ends, (uint32_t)x->ids.count);	/* below FILE_MAX_BYTES */
}

static int compare_lines(const char *a, size_t a_len, const char *b, size_t b_len)
{
	const int rc = memcmp(a, b, a_len < b_len ? a_len : b_len);

	return rc ? rc : a_len < b_len ? -1 : a_len > b_len;
}

static int split_text(struct parsing *x, const struct buf *text)
{
	const char *p = text->data, *const end = p + text->len, *before = NULL;
	size_t before_len = 0;

	while (p < end) {
		const char *const stop = memchr(p, '\n', (size_t)(end - p));

		if (!stop)
			return refuse(x->path, x->ends.count + 1, "has no end");
		if (before && compare_lines(before, before_len, p, (size_t)(stop - p)) >= 0)
			return refuse(x->path, x->ends.count + 1, "is not in the order of bytes");
		before = p;
		before_len = (size_t)(stop - p);
		if (add_word(x, p, stop))
			return -1;
		p = stop + 1;
	}
	return 0;
}

static int by_ids(const void *a, const void *b)
{
	const struct word *const x = a, *const y = b;
	const uint32_t n = x->n < y->n ? x->n : y->n;

	for (uint32_t k = 0; k < n; k++)
		if (x->ids[k] != y->ids[k])
			return x->ids[k] < y->ids[k] ? -1 : 1;
	return x->n < y->n ? -1 : x->n > y->n;
}

static int sort_by_ids(struct parsing *x)
{
	uint32_t start = 0;

	x->words = calloc(x->ends.count, sizeof(*x->words));
	if (!x->words)
		return err_memory();
	for (size_t k = 0; k < x->ends.count; k++) {
		x->words[k] = (struct word){ x->ids.items + start, x->ends.items[k] - start };
		start = x->ends.items[k];
	}
	qsort(x->words, x->ends.count, sizeof(*x->words), by_ids);
	return 0;
}

/* Nodes that are made, and of each the words that go through it: FROM .. TO - 1, alike in their first DEPTH ids. */
struct growing {
	struct node *nodes;
	struct through {
		uint32_t from, to, depth;
	} *through;
	size_t n, cap, through_cap;
};

static int add_node(struct growing *g, uint32_t id, uint32_t from, uint32_t to, uint32_t depth)
{
	if (array_grow(&g->nodes, &g->cap, g->n + 1, sizeof(*g->nodes)) ||
	    array_grow(&g->through, &g->through_cap, g->n + 1, sizeof(*g->through)))
		return -1;
	g->nodes[g->n] = (struct node){ .id = id };
	g->through[g->n++] = (struct through){ from, to, depth };
	return 0;
}

/* The children of NODE: its words by their next id. The one that ends at it, the shortest, is the first. */
static int add_children(struct growing *g, const struct parsing *x, size_t node)
{
	const struct through t = g->through[node];
	uint32_t from = t.from;

	g->nodes[node].first = (uint32_t)g->n;
	if (x->words[from].n == t.depth) {
		g->nodes[node].id |= ENDS;
		from++;
	}
	while (from < t.to) {
		const uint32_t id = x->words[from].ids[t.depth];
		uint32_t to = from + 1;

		while (to < t.to && x->words[to].ids[t.depth] == id)
			to++;
		if (add_node(g, id, from, to, t.depth + 1))
			return -1;
		from = to;
	}
	return 0;
}

static int grow(struct mask_words *w, const struct parsing *x)
{
	struct growing g = { .n = 0 };
	size_t node;
	int rc = add_node(&g, 0, 0, (uint32_t)x->ends.count, 0);

	for (node = 0; !rc && node < g.n; node++)
		rc = add_children(&g, x, node);
	w->n_nodes = (uint32_t)g.n;
	if (!rc)
		rc = add_node(&g, 0, 0, 0, 0);
	if (!rc)
		g.nodes[w->n_nodes].first = w->n_nodes;
	w->nodes = g.nodes;
	free(g.through);
	return rc;
}

static int list_roots(struct mask_words *w, const struct vocab *vocab)
{
	w->vocab_size = vocab_size(vocab);
	w->roots = calloc(w->vocab_size, sizeof(*w->roots));
	if (!w->roots)
		return err_memory();
	for (uint32_t k = w->nodes[0].first; k < w->nodes[1].first; k++)
		w->roots[w->nodes[k].id & ~ENDS] = k;
	return 0;
}

/* W's text, of which nothing is believed, to the rest of W. */
static int parse(struct mask_words *w, const struct vocab *vocab, const char *path)
{
	struct parsing x = { .vocab = vocab, .path = path, .ids = IDS_INIT, .ends = IDS_INIT };
	const int rc = split_text(&x, &w->text) || sort_by_ids(&x) || grow(w, &x) || list_roots(w, vocab) ||
		       sha256_hex(w->text.data, w->text.len, w->sha256) ? -1 : 0;

	w->count = x.ends.count;
	ids_release(&x.ids);
	ids_release(&x.ends);
	free(x.words);
	return rc;
}

int mask_words_load(struct mask_words **out, const char *path, const struct vocab *vocab)
{
	struct mask_words *w = calloc(1, sizeof(*w));

	*out = NULL;
	if (!w)
		return err_memory();
	if (read_text(path, &w->text) || parse(w, vocab, path)) {
		mask_words_free(w);
		return -1;
	}
	*out = w;
	return 0;
}

/* --- a list that is given ------------------------------------------------------------------------- */

struct line {
	const char *text;
	size_t len;
};

struct gathering {
	const char *path;
	const struct vocab *vocab;
	struct encoder *encoder;
	struct ids ids;			/* scratch */
	struct buf spelled;		/* words one after the other, each with its \n */
	uint64_t line, words, passed;
};

static bool is_letter(const struct vocab *vocab, uint32_t id)
{
	size_t len;
	const char *const token = vocab_token(vocab, id, &len), *p = token;

	if (!len)
		return false;
	utf8_next(&p);
	return p == token + len;
}

static bool are_letters(const struct vocab *vocab, const struct ids *ids)
{
	bool all = ids->count >= 2 && ids->count <= MASK_WORDS_LENGTH;

	for (size_t k = 0; all && k < ids->count; k++)
		all = is_letter(vocab, ids->items[k]);
	return all;
}

/* Adds the word as its tokens spell it, if each is a character. */
static int spell(struct gathering *g, const char *text, size_t len)
{
	g->ids.count = 0;
	if (encoder_encode(g->encoder, text, len, &g->ids))
		return -1;
	if (!are_letters(g->vocab, &g->ids)) {
		g->passed++;
		return 0;
	}
	for (size_t k = 0; k < g->ids.count; k++)
		if (buf_adds(&g->spelled, vocab_token(g->vocab, g->ids.items[k], NULL)))
			return -1;
	g->words++;
	return buf_add_byte(&g->spelled, '\n');
}

static const char *skip_space(const char *p, const char *end)
{
	while (p < end) {
		const char *q = p;

		if (!utf8_is_space(utf8_next(&q)))
			break;
		p = q;
	}
	return p;
}

static int gather_line(struct gathering *g, const char *p, const char *end)
{
	const char *const word = skip_space(p, end);
	size_t letters = 0;

	for (p = word; p < end; letters++) {
		const char *q = p;

		if (utf8_is_space(utf8_next(&q)))
			break;
		p = q;
	}
	if (skip_space(p, end) < end)
		return refuse(g->path, g->line, "has white space in it: one word a line");
	if (letters > MASK_WORDS_LENGTH)
		return refuse(g->path, g->line, "is longer than 64 characters");
	return letters ? spell(g, word, (size_t)(p - word)) : 0;
}

static int gather_lines(struct gathering *g, const struct buf *b)
{
	static const char mark[] = "\xEF\xBB\xBF";
	const char *p = b->data, *const end = p + b->len;

	if (b->len >= 3 && !memcmp(p, mark, 3))
		p += 3;
	while (p < end) {
		const char *const newline = memchr(p, '\n', (size_t)(end - p)), *const stop = newline ? newline : end;

		g->line++;
		if (gather_line(g, p, stop))
			return -1;
		p = newline ? newline + 1 : end;
	}
	return g->words ? 0 : err_corrupt("'%s' has no word that is two or more tokens of a character each", g->path);
}

static int by_bytes(const void *a, const void *b)
{
	const struct line *const x = a, *const y = b;

	return compare_lines(x->text, x->len, y->text, y->len);
}

/* The words that were spelled, sorted, each once. */
static int sort_words(const struct gathering *g, struct buf *text)
{
	struct line *const lines = calloc(g->words, sizeof(*lines));
	const char *p = g->spelled.data;
	int rc = lines ? 0 : err_memory();

	for (uint64_t k = 0; lines && k < g->words; k++) {
		lines[k] = (struct line){ p, strcspn(p, "\n") };
		p += lines[k].len + 1;
	}
	if (lines)
		qsort(lines, g->words, sizeof(*lines), by_bytes);
	for (uint64_t k = 0; !rc && k < g->words; k++)
		if (!k || by_bytes(&lines[k - 1], &lines[k]))
			rc = buf_add(text, lines[k].text, lines[k].len + 1);
	free(lines);
	return rc;
}

int mask_words_gather(struct mask_words **out, const char *path, const struct tokenizer *tokenizer)
{
	struct gathering g = { .path = path, .vocab = tokenizer_vocab(tokenizer), .ids = IDS_INIT, .spelled = BUF_INIT,
			       .encoder = encoder_new_sized(tokenizer, CACHE_BYTES) };
	struct mask_words *w = calloc(1, sizeof(*w));
	struct buf given = BUF_INIT;
	int rc = -1;

	if (!w || !g.encoder)
		err_memory();
	else if (!read_text(path, &given) && !gather_lines(&g, &given) && !sort_words(&g, &w->text))
		rc = parse(w, g.vocab, path);
	buf_release(&given);
	buf_release(&g.spelled);
	ids_release(&g.ids);
	encoder_free(g.encoder);
	if (rc) {
		mask_words_free(w);
		w = NULL;
	} else {
		w->passed = g.passed;
	}
	*out = w;
	return rc;
}
