#include "tokenizer/decode.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/tokenizer/made_vocab.h"

/* ids:                       0      1      2      3    4    5        6      7  8  9 10    11  12   13   14   15     16 17 18       19 */
static const char tokens[] = "[UNK]\n[CLS]\n[SEP]\nuna\n##ffa\n##ble\n,\n.\n!\n?\n's\nn't\n##n't\n..x\ndo not\n##\n#\nt\n##.y\n'\n";

static void expect(const uint32_t *ids, size_t n, const char *want)
{
	struct buf b = BUF_INIT;
	struct vocab *v;

	assert_int_equal(load_bytes(&v, tokens, strlen(tokens)), 0);
	assert_int_equal(buf_adds(&b, ". "), 0);	/* what is there already stays */
	assert_int_equal(decode_ids(v, ids, n, &b), 0);
	assert_memory_equal(b.data, ". ", 2);
	assert_string_equal(b.data + 2, want);
	buf_release(&b);
	vocab_free(v);
}

#define EXPECT(want, ...) expect((const uint32_t[]){ __VA_ARGS__ }, sizeof((const uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t), want)

/* Answers of transformers 5.24 (clean_up_tokenization_spaces=False) for such tokens. */
static void text_is_that_of_transformers(void **state)
{
	(void)state;
	expect(NULL, 0, "");
	EXPECT("[CLS] unaffable, una! una? [SEP].", 1, 3, 4, 5, 6, 3, 8, 3, 9, 2, 7);
	EXPECT("##blebleble", 5, 5, 5);			/* the first token as it is */
	EXPECT("unan't's", 3, 12, 10);
	EXPECT("unan't..x", 3, 11, 13);
	EXPECT("una don't", 3, 14);
	EXPECT("# # t ' t", 16, 16, 17, 15, 19, 17);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_that_of_transformers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
