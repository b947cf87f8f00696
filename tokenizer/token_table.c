#include "tokenizer/token_table.h"

#include "base/err.h"

#include <assert.h>
#include <endian.h>
#include <stdbool.h>
#include <string.h>

enum { BEGINS = 1, ENDS = 2 }; /* the bits of a beginning */

#define CELLS_LEAST_BITS 8
#define CHARS 0x10000 /* characters that have a place of their own */
#define SHORT 11 /* bytes of a token that lies in its slot */
#define TAG_BITS 12
#define ID_BITS 24
#define TAG_MASK (((uint64_t)1 << TAG_BITS) - 1)
#define ID_MASK (((uint64_t)1 << ID_BITS) - 1)

/* A beginning of a text, and what is carried along. */
struct walk {
	uint64_t hash;
	size_t len;
};

/* Goes on by the character at P, of valid UTF-8, or by as much as is LEFT of it. */
static inline void walk_on(struct walk *w, const char *p, size_t left)
{
	const unsigned char first = (unsigned char)p[0];
	uint64_t c = first;
	size_t size = 1;

	if (first >= 0x80) {
		size = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
		size = size < left ? size : left;
		for (size_t i = 1; i < size; i++)
			c |= (uint64_t)(unsigned char)p[i] << 8 * i;
	}
	w->hash = (w->hash ^ c) * 0x9E3779B97F4A7C15u;
	w->len += size;
}

/* No token ends in the middle of a character. START's hash is never 0, where a chain of hashes would stay. */
static struct walk walk_all(struct walk w, const char *bytes, size_t len)
{
	const size_t end = w.len + len;

	while (w.len < end)
		walk_on(&w, bytes + len - (end - w.len), end - w.len);
	return w;
}

static const struct walk nothing = { 1, 0 };

/* Up to eight bytes as a number, the first the lowest. */
static inline uint64_t bytes_of(const char *p, size_t n)
{
	uint64_t x;
	uint32_t low, high;

	if (n >= 8) {
		memcpy(&x, p, sizeof(x));
		return le64toh(x);
	}
	if (n < 4) {
		const unsigned char *const b = (const unsigned char *)p;

		return n ? b[0] | (uint64_t)b[n / 2] << 8 * (n / 2) | (uint64_t)b[n - 1] << 8 * (n - 1) : 0;
	}
	memcpy(&low, p, sizeof(low));
	memcpy(&high, p + n - 4, sizeof(high));
	return le32toh(low) | (uint64_t)le32toh(high) << 8 * (n - 4);
}

struct token_start token_start_of(const char *prefix, size_t len)
{
	const struct walk w = walk_all(nothing, prefix, len);

	return (struct token_start){ prefix, len, w.hash, bytes_of(prefix, len) };
}

int token_table_init(struct token_table *t, const char *text, size_t bytes, size_t n)
{
	unsigned bits = CELLS_LEAST_BITS;

	assert(bytes <= TOKEN_TABLE_BYTES && n <= bytes);
	while ((size_t)1 << bits < 2 * bytes) /* tokens share beginnings, so in truth most stay free */
		bits++;
	*t = (struct token_table){ .text = text, .shift = 64 - bits, .n_slots = (uint32_t)(n + n / 2 + 1) };
	if (pages_map(&t->pages, CHARS * sizeof(*t->chars) + ((size_t)1 << (bits - 2)) + t->n_slots * sizeof(*t->slots)))
		return -1;
	t->chars = t->pages.start;
	t->cells = (unsigned char *)(t->chars + CHARS);
	t->slots = (void *)(t->cells + ((size_t)1 << (bits - 2)));
	return 0;
}

void token_table_release(struct token_table *t)
{
	pages_unmap(&t->pages);
}

static inline unsigned cell_of(const struct token_table *t, uint64_t hash)
{
	const uint64_t cell = hash >> t->shift;

	return t->cells[cell / 4] >> cell % 4 * 2;
}

static void mark(struct token_table *t, uint64_t hash, unsigned bits)
{
	const uint64_t cell = hash >> t->shift;

	t->cells[cell / 4] |= (unsigned char)(bits << cell % 4 * 2);
}

/* Whether the token in a slot, which is longer than SHORT bytes, is what START begins with and then TEXT. */
static bool is_long_token(const struct token_table *t, struct token_slot slot, const struct token_start *start,
			  const char *text, size_t len)
{
	const char *const token = t->text + (slot.what >> (TAG_BITS + ID_BITS));

	return !slot.bytes && !memcmp(token, start->prefix, start->len) && !memcmp(token + start->len, text, len) &&
	       !token[start->len + len];
}

/* Slots go by a hash's upper half. */
static inline uint32_t upper(uint64_t hash)
{
	return (uint32_t)(hash >> 32);
}

static inline uint32_t first_slot(const struct token_table *t, uint32_t hash)
{
	return (uint32_t)((uint64_t)hash * t->n_slots >> 32);
}

/* What tells a token from others; all of it, when it is not longer than SHORT bytes. */
struct name {
	uint32_t hash;
	uint64_t bytes; /* the first eight */
	uint64_t more;	/* and the others */
	size_t len;
};

/* Of what START begins with and then TEXT, W in all. */
static inline struct name name_of(const struct walk *w, const struct token_start *start, const char *text)
{
	const size_t len = w->len - start->len;
	unsigned __int128 x;

	if (w->len > SHORT)
		return (struct name){ upper(w->hash), 0, 0, w->len };
	x = bytes_of(text, len);
	if (len > 8)
		x |= (unsigned __int128)bytes_of(text + 8, len - 8) << 64;
	x = x << 8 * start->len | start->bytes;
	return (struct name){ upper(w->hash), (uint64_t)x, (uint64_t)(x >> 64), w->len };
}

/* The slot of a token, or the free one where it belongs: what START begins with and then TEXT, N in all. */
static inline struct token_slot *slot_of(const struct token_table *t, struct name n, const struct token_start *start,
					 const char *text)
{
	uint32_t i = first_slot(t, n.hash);

	for (;; i = i + 1 < t->n_slots ? i + 1 : 0) {
		struct token_slot *const s = &t->slots[i];

		if (!s->what)
			return s;
		if (n.len <= SHORT ? s->bytes == n.bytes && s->what >> (TAG_BITS + ID_BITS) == n.more
				   : (s->what & TAG_MASK) == (n.hash & TAG_MASK) &&
					     is_long_token(t, *s, start, text, n.len - start->len))
			return s;
	}
}

static inline uint32_t id_of(uint64_t what)
{
	return what ? (uint32_t)(what >> TAG_BITS & ID_MASK) - 1 : TOKEN_NONE;
}

/* The first character of LEFT bytes of text: its number, and how many bytes it has; 0: it has no place of its own. */
static inline size_t number_of(const char *text, size_t left, uint32_t *number)
{
	const unsigned char *const p = (const unsigned char *)text;

	if (p[0] < 0x80) {
		*number = p[0];
		return 1;
	}
	if (p[0] < 0xE0 && left > 1) {
		*number = (uint32_t)(p[0] & 0x1F) << 6 | (p[1] & 0x3F);
		return 2;
	}
	if (p[0] < 0xF0 && left > 2) {
		*number = (uint32_t)(p[0] & 0x0F) << 12 | (uint32_t)(p[1] & 0x3F) << 6 | (p[2] & 0x3F);
		return 3;
	}
	return 0;
}

/* The bit of a character in token_first.seconds: by the last of its bytes, which differs most. */
static inline uint32_t second_bit(const char *text, size_t left)
{
	const unsigned char first = (unsigned char)text[0];
	const size_t size = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;

	return (uint32_t)1 << (text[(size < left ? size : left) - 1] & 31);
}

/* Notes a token, less what it begins with, where its first character has its place. */
static void put_first(struct token_table *t, const char *text, size_t len, bool further, uint32_t id)
{
	uint32_t number;
	const size_t size = number_of(text, len, &number);

	if (!size)
		return;
	if (size < len)
		t->chars[number][further].seconds |= second_bit(text + size, len - size);
	else
		t->chars[number][further].id = id + 1;
}

uint32_t token_table_put(struct token_table *t, uint32_t at, uint32_t len, uint32_t id)
{
	const struct token_start start = token_start_of("", 0);
	const char *const token = t->text + at;
	struct walk w = nothing;
	struct token_slot *slot;
	struct name name;
	uint32_t before;

	assert(len > 0 && !token[len] && id < TOKEN_NONE);
	while (w.len < len) {
		walk_on(&w, token + w.len, len - w.len);
		mark(t, w.hash, BEGINS);
	}
	mark(t, w.hash, ENDS);
	put_first(t, token, len, false, id);
	if (len > 2 && !memcmp(token, "##", 2))
		put_first(t, token + 2, len - 2, true, id);
	name = name_of(&w, &start, token);
	slot = slot_of(t, name, &start, token);
	before = id_of(slot->what);
	slot->bytes = name.bytes;
	slot->what = (((len <= SHORT ? name.more : at) << ID_BITS | (id + 1)) << TAG_BITS) | (name.hash & TAG_MASK);
	return before;
}

uint32_t token_table_find(const struct token_table *t, const char *token, size_t len)
{
	const struct token_start start = token_start_of("", 0);
	const struct walk w = walk_all(nothing, token, len);

	return id_of(slot_of(t, name_of(&w, &start, token), &start, token)->what);
}

/* --- the longest token ------------------------------------------------------------- */

/*
 * The longest text that seems to be a token, since nothing but bits is looked at, and has more than the SIZE bytes
 * of its first character; of length 0 in TEXT when there is none.
 */
static inline struct walk longer_than(const struct token_table *t, const struct token_start *start, size_t size,
				      const char *text, size_t len)
{
	const struct walk none = { start->hash, start->len };
	struct walk w = none, longest = none;

	if (size)
		walk_on(&w, text, size);
	while (w.len < start->len + len) {
		const size_t done = w.len - start->len;
		unsigned cell;

		walk_on(&w, text + done, len - done);
		cell = cell_of(t, w.hash);
		if (!(cell & BEGINS))
			break;
		if (cell & ENDS) {
			longest = w;
			__builtin_prefetch(&t->slots[first_slot(t, upper(w.hash))]);
		}
	}
	return longest;
}

/*
 * Many pieces are one character that no longer token begins with, or none with the second; and characters of a
 * language stand close together in t->chars, while what goes by a hash lies anywhere.
 */
size_t token_table_longest(const struct token_table *t, const struct token_start *start, const char *text, size_t len,
			   uint32_t *id)
{
	uint32_t number;
	const size_t size = number_of(text, len, &number);
	const struct token_first first = size ? t->chars[number][start->len > 0] : (struct token_first){ 0, UINT32_MAX };

	while (len > size && (!size || first.seconds & second_bit(text + size, len - size))) {
		const struct walk w = longer_than(t, start, size, text, len);

		if (w.len == start->len)
			break;
		*id = id_of(slot_of(t, name_of(&w, start, text), start, text)->what);
		len = w.len - start->len;
		if (*id != TOKEN_NONE)
			return len;
		len--; /* it only seemed so: the next shorter one ends before */
	}
	*id = first.id - 1;
	return first.id ? size : 0;
}
