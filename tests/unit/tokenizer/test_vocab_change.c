#include "tokenizer/vocab_change.h"

#include "base/buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/tokenizer/made_vocab.h"

/* ids:                           0      1      2   3      4       5  6    7    8    9: found for 2, as the later one */
static const char old_tokens[] = "[UNK]\n[PAD]\nun\n##aff\n##able\na\n##a\n##b\n##\nun\n";

/* What NEW's tokens are, "2,3 0 ...", and their origins, a letter each. */
static void expect(const char *new_tokens, const char *pieces, const char *origins, size_t dropped)
{
	struct vocab *old, *new;
	struct vocab_change c;
	struct buf got = BUF_INIT;
	size_t k = 0;

	assert_int_equal(load_bytes(&old, old_tokens, strlen(old_tokens)), 0);
	assert_int_equal(load_bytes(&new, new_tokens, strlen(new_tokens)), 0);
	assert_int_equal(vocab_change_make(&c, old, new), 0);
	for (uint32_t i = 0; i < vocab_size(new); i++)
		for (const char *before = i ? " " : ""; k < c.ends[i]; before = ",")
			assert_int_equal(buf_addf(&got, "%s%u", before, c.pieces.items[k++]), 0);
	assert_string_equal(got.data, pieces);
	assert_int_equal(strlen(origins), vocab_size(new));
	for (uint32_t i = 0; i < vocab_size(new); i++)
		assert_int_equal("cau"[c.origins[i]], origins[i]);
	assert_int_equal(c.counts[TOKEN_COPIED] + c.counts[TOKEN_AVERAGED] + c.counts[TOKEN_UNKNOWN], vocab_size(new));
	assert_int_equal(c.dropped, dropped);
	buf_release(&got);
	vocab_change_release(&c);
	vocab_free(new);
	vocab_free(old);
}

static void tokens_are_what_the_old_vocabulary_makes_of_them(void **state)
{
	(void)state;
	expect(old_tokens, "0 1 9 3 4 5 6 7 8 9", "cccccccccc", 0);
	expect("##a\n[UNK]\nunaffable\nun\n##ab\n##ableb\n", "6 0 9,3,4 9 6,7 4,7", "ccacaa", 6);
	expect("[UNK]\naffable\n##xb\n\nb\n##b\n[PAD]\n", "0 0 0 0 0 7 1", "cuuuucc", 7);
}

/* Words of more than 200 characters are [UNK] in a text, and tokens here all the same. */
static void a_token_may_be_long(void **state)
{
	struct buf new = BUF_INIT, want = BUF_INIT;

	(void)state;
	assert_int_equal(buf_adds(&new, "[UNK]\na") || buf_adds(&want, "0 5"), 0);
	for (int i = 0; i < 300; i++)
		assert_int_equal(buf_adds(&new, "b") || buf_adds(&want, ",7"), 0);
	expect(new.data, want.data, "ca", 9);
	buf_release(&new);
	buf_release(&want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tokens_are_what_the_old_vocabulary_makes_of_them),
		cmocka_unit_test(a_token_may_be_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
