#include "tokenizer/trie.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static uint32_t value_of(const struct trie *t, const char *token)
{
	const uint32_t node = trie_walk(t, token, strlen(token));

	return node == TRIE_NOWHERE || node == TRIE_ROOT ? TRIE_NONE : trie_value(t, node);
}

static void tokens_are_found_and_their_beginnings_are_not(void **state)
{
	struct trie t;

	(void)state;
	assert_int_equal(trie_init(&t, 20), 0);
	assert_int_equal(trie_add(&t, "una", 3, 7), TRIE_NONE);
	assert_int_equal(trie_add(&t, "unable", 6, 8), TRIE_NONE);
	assert_int_equal(trie_add(&t, "\xC3\xA9", 2, 0), TRIE_NONE);
	assert_int_equal(value_of(&t, "una"), 7);
	assert_int_equal(value_of(&t, "unable"), 8);
	assert_int_equal(value_of(&t, "\xC3\xA9"), 0);
	assert_int_equal(value_of(&t, "un"), TRIE_NONE);
	assert_int_equal(value_of(&t, "unab"), TRIE_NONE);
	assert_int_equal(trie_walk(&t, "unx", 3), TRIE_NOWHERE);
	assert_int_equal(trie_walk(&t, "unablex", 7), TRIE_NOWHERE);
	assert_int_equal(trie_walk(&t, "", 0), TRIE_ROOT);
	trie_release(&t);
}

static void a_token_added_again_takes_the_new_value(void **state)
{
	struct trie t;

	(void)state;
	assert_int_equal(trie_init(&t, 4), 0);
	assert_int_equal(trie_add(&t, "ab", 2, 1), TRIE_NONE);
	assert_int_equal(trie_add(&t, "ab", 2, TRIE_NONE - 1), 1);
	assert_int_equal(value_of(&t, "ab"), TRIE_NONE - 1);
	trie_release(&t);
}

/* As full as it can get: nothing shared but the digits' own edges. */
static void a_full_trie_still_finds_everything(void **state)
{
	struct trie t;
	char token[32];
	size_t bytes = 0;

	(void)state;
	for (unsigned i = 0; i < 2000; i++)
		bytes += (size_t)snprintf(token, sizeof(token), "%08x", i * 2654435761u);
	assert_int_equal(trie_init(&t, bytes), 0);
	for (unsigned i = 0; i < 2000; i++) {
		snprintf(token, sizeof(token), "%08x", i * 2654435761u);
		assert_int_equal(trie_add(&t, token, 8, i), TRIE_NONE);
	}
	for (unsigned i = 0; i < 2000; i++) {
		snprintf(token, sizeof(token), "%08x", i * 2654435761u);
		assert_int_equal(value_of(&t, token), i);
	}
	trie_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tokens_are_found_and_their_beginnings_are_not),
		cmocka_unit_test(a_token_added_again_takes_the_new_value),
		cmocka_unit_test(a_full_trie_still_finds_everything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
