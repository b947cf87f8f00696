#include "tokenizer/letter_trie.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

static void strings_share_their_beginnings(void **state)
{
	struct letter_trie t;
	uint32_t a, ab;

	(void)state;
	assert_int_equal(letter_trie_init(&t), 0);
	assert_int_equal(letter_trie_step(&t, LETTER_ROOT, 'a'), LETTER_NONE);
	a = letter_trie_put(&t, LETTER_ROOT, 'a');
	ab = letter_trie_put(&t, a, 0x10FFFF);
	assert_true(LETTER_ROOT < a && a < ab);
	assert_int_equal(letter_trie_put(&t, LETTER_ROOT, 'a'), a);
	assert_int_equal(letter_trie_step(&t, a, 0x10FFFF), ab);
	assert_int_equal(letter_trie_step(&t, LETTER_ROOT, 0x10FFFF), LETTER_NONE);
	assert_int_equal(letter_trie_step(&t, ab, 0), LETTER_NONE);
	assert_int_equal(t.nodes[ab].parent, a);
	assert_int_equal(t.nodes[ab].letter, 0x10FFFF);
	assert_int_equal(t.count, 3);
	letter_trie_clear(&t);
	assert_int_equal(t.count, 1);
	assert_int_equal(letter_trie_step(&t, LETTER_ROOT, 'a'), LETTER_NONE);
	letter_trie_release(&t);
}

static void it_grows(void **state)
{
	enum { N = 100000 };
	struct letter_trie t;
	uint32_t node = LETTER_ROOT;

	(void)state;
	assert_int_equal(letter_trie_init(&t), 0);
	for (uint32_t i = 0; i < N; i++) {
		const uint32_t next = letter_trie_put(&t, node, i % 7);

		assert_true(next > node);
		node = i % 3 ? next : node;
	}
	node = LETTER_ROOT;
	for (uint32_t i = 0; i < N; i++) {
		const uint32_t next = letter_trie_step(&t, node, i % 7);

		assert_int_not_equal(next, LETTER_NONE);
		assert_int_equal(t.nodes[next].parent, node);
		assert_int_equal(t.nodes[next].letter, i % 7);
		node = i % 3 ? next : node;
	}
	letter_trie_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strings_share_their_beginnings),
		cmocka_unit_test(it_grows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
