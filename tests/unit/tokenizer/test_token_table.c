#include "tokenizer/token_table.h"

#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const char text[] = "una\0unable\0\xC3\xA9\0##ble\0##b\0aa\0";
enum { UNA = 0, UNABLE = 4, E_ACUTE = 11, BLE = 14, B = 20, AA = 24 };

static uint32_t put(struct token_table *t, uint32_t at, uint32_t id)
{
	return token_table_put(t, at, (uint32_t)strlen(text + at), id);
}

static uint32_t id_of(const struct token_table *t, const char *token)
{
	return token_table_find(t, token, strlen(token));
}

static void make(struct token_table *t)
{
	assert_int_equal(token_table_init(t, text, sizeof(text), 6), 0);
	assert_int_equal(put(t, UNA, 7), TOKEN_NONE);
	assert_int_equal(put(t, UNABLE, 8), TOKEN_NONE);
	assert_int_equal(put(t, E_ACUTE, 0), TOKEN_NONE);
	assert_int_equal(put(t, BLE, 9), TOKEN_NONE);
	assert_int_equal(put(t, B, TOKEN_NONE - 1), TOKEN_NONE);
}

static void tokens_are_found_and_their_beginnings_are_not(void **state)
{
	struct token_table t;

	(void)state;
	make(&t);
	assert_int_equal(id_of(&t, "una"), 7);
	assert_int_equal(id_of(&t, "unable"), 8);
	assert_int_equal(id_of(&t, "\xC3\xA9"), 0);
	assert_int_equal(id_of(&t, "##b"), TOKEN_NONE - 1);
	assert_int_equal(id_of(&t, "un"), TOKEN_NONE);
	assert_int_equal(id_of(&t, "unab"), TOKEN_NONE);
	assert_int_equal(id_of(&t, "unablex"), TOKEN_NONE);
	assert_int_equal(id_of(&t, "aa"), TOKEN_NONE);
	token_table_release(&t);
}

static void a_token_put_again_takes_the_new_id(void **state)
{
	struct token_table t;

	(void)state;
	make(&t);
	assert_int_equal(put(&t, UNA, 77), 7);
	assert_int_equal(id_of(&t, "una"), 77);
	assert_int_equal(put(&t, AA, 5), TOKEN_NONE);
	assert_int_equal(put(&t, AA, 6), 5);
	token_table_release(&t);
}

static void check_longest(const struct token_table *t, const struct token_start *start, const char *word, size_t want,
			  uint32_t want_id)
{
	uint32_t id = 12345;

	assert_int_equal(token_table_longest(t, start, word, strlen(word), &id), want);
	if (want)
		assert_int_equal(id, want_id);
}

static void the_longest_token_is_taken(void **state)
{
	const struct token_start first = token_start_of("", 0), further = token_start_of("##", 2);
	struct token_table t;

	(void)state;
	make(&t);
	check_longest(&t, &first, "unables", 6, 8);
	check_longest(&t, &first, "unabl", 3, 7);	/* on the way to a longer one */
	check_longest(&t, &first, "un", 0, 0);
	check_longest(&t, &first, "ble", 0, 0);
	check_longest(&t, &first, "##ble", 5, 9);
	check_longest(&t, &further, "ble", 3, 9);
	check_longest(&t, &further, "bl", 1, TOKEN_NONE - 1);
	check_longest(&t, &further, "una", 0, 0);
	check_longest(&t, &further, "", 0, 0);
	token_table_release(&t);
}

enum { LETTERS = 8, WORD_BYTES = 64, TOKENS = 60, ROUNDS = 2000 };

/* PREFIX and up to N letters of one to four bytes each, at least one; OF so many letters. Its length. */
static size_t make_word(struct rng *r, const char *prefix, uint32_t n, uint32_t of, char *to)
{
	static const char *const letters[LETTERS] = { "a", "\xED\x95\x9C", "#", "\xC3\xA9", "b", "\xE3\x81\x82", "\xD0\xB6",
						      "\xF0\x9F\x98\x80" };
	size_t len = (size_t)snprintf(to, WORD_BYTES, "%s", prefix);

	for (uint32_t k = 1 + rng_below(r, n); k > 0; k--)
		len += (size_t)snprintf(to + len, WORD_BYTES - len, "%s", letters[rng_below(r, of)]);
	return len;
}

struct made {
	const char *text;
	uint32_t len;
};

/* The longest of the tokens that PREFIX and then TEXT begin with, by comparing each: its bytes of TEXT. */
static size_t longest_of(const struct made *tokens, size_t n, const char *prefix, const char *word, size_t len, uint32_t *id)
{
	const size_t before = strlen(prefix);
	size_t longest = 0;

	for (size_t i = 0; i < n; i++) {
		const size_t rest = tokens[i].len - before;

		if (tokens[i].len > before && rest <= len && rest >= longest && !memcmp(tokens[i].text, prefix, before) &&
		    !memcmp(tokens[i].text + before, word, rest)) {
			longest = rest;
			*id = (uint32_t)i;
		}
	}
	return longest;
}

static void check_text(const struct token_table *t, const struct made *tokens, size_t n, const char *prefix,
		       const char *word, size_t len)
{
	const struct token_start start = token_start_of(prefix, strlen(prefix));
	char *const exact = malloc(len);		/* so that a byte read too far is seen */
	uint32_t want = 0, got = 0;
	size_t longest;

	assert_non_null(exact);
	memcpy(exact, word, len);
	longest = longest_of(tokens, n, prefix, exact, len, &want);
	assert_int_equal(token_table_longest(t, &start, exact, len, &got), longest);
	if (longest)
		assert_int_equal(got, want);
	free(exact);
}

/* Characters that begin no longer token, few, and many, of all lengths. */
static void it_is_the_longest_of_all(void **state)
{
	static char made[TOKENS * WORD_BYTES];
	struct made all[TOKENS];
	struct rng r;

	(void)state;
	rng_open(&r, 3, RNG_TEST, 0, 0, 0, 0, 0);
	for (unsigned round = 0; round < ROUNDS; round++) {
		const uint32_t n = 1 + rng_below(&r, TOKENS), of = 1 + rng_below(&r, LETTERS), most = 1 + rng_below(&r, 6);
		struct token_table t;
		char word[WORD_BYTES];

		for (uint32_t i = 0; i < n; i++) {
			char *const to = made + i * WORD_BYTES;

			all[i] = (struct made){ to, (uint32_t)make_word(&r, rng_below(&r, 2) ? "##" : "", most, of, to) };
		}
		assert_int_equal(token_table_init(&t, made, sizeof(made), n), 0);
		for (uint32_t i = 0; i < n; i++)
			token_table_put(&t, i * WORD_BYTES, all[i].len, i);
		for (unsigned k = 0; k < 30; k++) {
			const size_t len = make_word(&r, "", most + 2, of, word);

			check_text(&t, all, n, "", word, len);
			check_text(&t, all, n, "##", word, len);
		}
		token_table_release(&t);
	}
}

#define MANY 20000
#define WIDTH 9				/* of a token: eight digits and its 0 byte */

/* As full as it can get. Every token is found; of other words exactly the longest beginning that is a token, however bits are shared. */
static void a_full_table_finds_everything_and_nothing_else(void **state)
{
	static char many[MANY * WIDTH + 1];
	const struct token_start first = token_start_of("", 0);
	struct token_table t;
	char word[32];
	uint32_t id;

	(void)state;
	for (unsigned i = 0; i < MANY; i++)
		snprintf(many + i * WIDTH, WIDTH + 1, "%08x", i * 2654435761u);
	assert_int_equal(token_table_init(&t, many, MANY * 8, MANY), 0);	/* fewer bytes than there are, so that more bits are shared */
	for (unsigned i = 0; i < MANY; i++)
		assert_int_equal(token_table_put(&t, i * WIDTH, 8, i), TOKEN_NONE);
	for (unsigned i = 0; i < 4 * MANY; i++) {
		snprintf(word, sizeof(word), "%08xab", i * 2654435761u);
		assert_int_equal(token_table_longest(&t, &first, word, 10, &id), i < MANY ? 8 : 0);
		if (i < MANY)
			assert_int_equal(id, i);
		assert_int_equal(token_table_find(&t, word, 10), TOKEN_NONE);
	}
	token_table_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tokens_are_found_and_their_beginnings_are_not),
		cmocka_unit_test(a_token_put_again_takes_the_new_id),
		cmocka_unit_test(the_longest_token_is_taken),
		cmocka_unit_test(it_is_the_longest_of_all),
		cmocka_unit_test(a_full_table_finds_everything_and_nothing_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
