/*
 * token_table.h - the tokens of a vocabulary: by text, and the longest that a
 * text begins with.
 *
 * Greedy matching asks at each place of a word for the longest token there.
 * The first character has a place of its own, which says whether it is a token
 * and what may come second in longer ones. From there on a hash is carried from
 * character to character, so that each beginning of the word has one, and for
 * each two bits say whether some token begins so, and whether some token is
 * just that. The bits lie in a table so small that it stays in the processor's
 * cache, and no look depends on the one before. They may lie, as different
 * beginnings may share them; so the longest beginning that seems to be a token
 * is looked up in a hash table and compared, and the next shorter one is tried
 * when it is none.
 *
 *	struct token_table t;
 *	token_table_init(&t, text, bytes, n)	(tokens are parts of TEXT, N of them at most)
 *	id = token_table_put(&t, at, len, 7)	(replaces; the old id, TOKEN_NONE if there was none)
 *	struct token_start first = token_start_of("", 0), further = token_start_of("##", 2);
 *	n = token_table_longest(&t, &first, word, len, &id)
 *	n = token_table_longest(&t, &further, word, len, &id)	(tokens without their "##")
 *	token_table_release(&t)
 */
#ifndef TOKENIZER_TOKEN_TABLE_H
#define TOKENIZER_TOKEN_TABLE_H

#include "tokenizer/pages.h"

#include <stddef.h>
#include <stdint.h>

#define TOKEN_NONE 0xFFFFFFu		/* ids are below it */
#define TOKEN_TABLE_BYTES ((size_t)256 << 20)

struct token_slot {
	uint64_t bytes;			/* the first eight of a token of up to eleven, then zeros; 0: it is longer */
	uint64_t what;			/* (other bytes, or place in TEXT) << 36 | (id + 1) << 12 | bits of the hash; 0: free */
};

/* A character that a token begins with. */
struct token_first {
	uint32_t id;			/* + 1, of the token that is this character alone; 0: there is none */
	uint32_t seconds;		/* bits of the characters that come second in longer ones */
};

struct token_table {
	const char *text;
	struct pages pages;
	struct token_first (*chars)[2];	/* [0x10000]: what begins with a character, and what with "##" and it */
	unsigned char *cells;		/* two bits for each of 2^k beginnings */
	unsigned shift;			/* of a hash, to leave the number of a beginning */
	struct token_slot *slots;
	uint32_t n_slots;
};

/* Of a vocabulary (vocab.h): its tokens that are not empty, with their ids. */
struct vocab;
const struct token_table *vocab_table(const struct vocab *v);

/* What tokens begin with that a text lacks: nothing, or "##". */
struct token_start {
	const char *prefix;
	size_t len;
	uint64_t hash, bytes;		/* of the prefix */
};
struct token_start token_start_of(const char *prefix, size_t len);

/* BYTES <= TOKEN_TABLE_BYTES. TEXT stays the caller's and where it is. -1 out of memory. */
int token_table_init(struct token_table *t, const char *text, size_t bytes, size_t n);
void token_table_release(struct token_table *t);

/* Adds the token of LEN > 0 bytes at TEXT[at], where a 0 byte follows it, or gives one a new id. Returns the id it had. */
uint32_t token_table_put(struct token_table *t, uint32_t at, uint32_t len, uint32_t id);

/* The id of a token, TOKEN_NONE when absent. */
uint32_t token_table_find(const struct token_table *t, const char *token, size_t len);

/* The longest token that TEXT, behind START, begins with: its bytes of TEXT, 0 when there is none. */
size_t token_table_longest(const struct token_table *t, const struct token_start *start, const char *text, size_t len, uint32_t *id);

#endif
