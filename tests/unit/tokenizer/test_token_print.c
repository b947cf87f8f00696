#include "tokenizer/token_print.h"

#include "base/err.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/tokenizer/made_vocab.h"

static const char tokens[] = "[PAD]\n[UNK]\n[CLS]\n[SEP]\nun\n##able\n,\n";

static struct tokenizer *open_of(const char *vocab, int compat)
{
	const struct made_file f = made_file(vocab, strlen(vocab));
	struct tokenizer *t;

	assert_int_equal(tokenizer_open(&t, &(struct tokenizer_opts){ .vocab = f.path, .compat = compat, .max_word = 20 }), 0);
	made_file_remove(&f);
	return t;
}

static void expect(int form, unsigned flags, const char *text, const char *want)
{
	struct tokenizer *t = open_of(tokens, TOKENIZER_HF);
	struct token_printer *p = token_printer_new(t, form, flags);
	struct buf b = BUF_INIT;

	assert_non_null(p);
	assert_int_equal(buf_adds(&b, ">"), 0);
	assert_int_equal(token_print(p, text, strlen(text), &b), 0);
	assert_string_equal(b.data + 1, want);
	buf_release(&b);
	token_printer_free(p);
	tokenizer_close(t);
}

static void every_form_has_its_line(void **state)
{
	(void)state;
	expect(TOKEN_IDS, 0, "Unable, xx", "4 5 6 1\n");
	expect(TOKEN_TOKENS, 0, "Unable, xx", "un ##able , [UNK]\n");
	expect(TOKEN_WORDS, 0, "Unable, xx", "unable , xx\n");
	expect(TOKEN_OFFSETS, 0, "Unable, xx", "4:0:2 5:2:6 6:6:7 1:8:10\n");
	expect(TOKEN_WORD_OFFSETS, 0, "Unable, xx", "unable 0 6\n, 6 7\nxx 8 10\n\n");
}

static void nothing_makes_an_empty_line(void **state)
{
	(void)state;
	for (int form = TOKEN_IDS; form <= TOKEN_EXPLAIN; form++)
		expect(form, 0, "", "\n");
	expect(TOKEN_IDS, TOKEN_ADD_SPECIAL, " ", "\n");
}

static void special_tokens_enclose_what_there_is(void **state)
{
	(void)state;
	expect(TOKEN_IDS, TOKEN_ADD_SPECIAL, "un", "2 4 3\n");
	expect(TOKEN_TOKENS, TOKEN_ADD_SPECIAL, "un", "[CLS] un [SEP]\n");
	expect(TOKEN_OFFSETS, TOKEN_ADD_SPECIAL, " un", "2:0:0 4:1:3 3:0:0\n");
}

static void every_word_is_explained(void **state)
{
	(void)state;
	expect(TOKEN_EXPLAIN, 0, "  \xC3\x9Cnable [SEP],",
	       "\xC3\x9Cnable\tunable\tun ##able\t4 5\n"
	       "[SEP]\t[SEP]\t[SEP]\t3\tspecial token in the text\n"
	       ",\t,\t,\t6\n\n");
	expect(TOKEN_EXPLAIN, 0, "Unx xx", "Unx\tunx\t[UNK]\t1\tno token begins ##x\nxx\txx\t[UNK]\t1\tno token begins xx\n\n");
	expect(TOKEN_EXPLAIN, 0, "unununununununununable",
	       "unununununununununable\tunununununununununable\t[UNK]\t1\ttoo many characters\n\n");
}

static void tokens_are_counted(void **state)
{
	struct tokenizer *t = open_of(tokens, TOKENIZER_GOOGLE);
	struct token_printer *p = token_printer_new(t, TOKEN_IDS, 0);
	struct buf b = BUF_INIT;

	(void)state;
	assert_int_equal(token_print(p, "unable un", 9, &b) || token_print(p, ",", 1, &b), 0);
	assert_int_equal(token_printer_count(p), 4);
	assert_string_equal(b.data, "4 5 4\n6\n");
	buf_release(&b);
	token_printer_free(p);
	token_printer_free(NULL);
	tokenizer_close(t);
}

static void special_tokens_must_be_there(void **state)
{
	struct tokenizer *t = open_of("[UNK]\n[CLS]\n", TOKENIZER_GOOGLE);

	(void)state;
	assert_null(token_printer_new(t, TOKEN_IDS, TOKEN_ADD_SPECIAL));
	assert_string_equal(err_text(), "the vocabulary has no [SEP]");
	tokenizer_close(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_form_has_its_line),
		cmocka_unit_test(nothing_makes_an_empty_line),
		cmocka_unit_test(special_tokens_enclose_what_there_is),
		cmocka_unit_test(every_word_is_explained),
		cmocka_unit_test(tokens_are_counted),
		cmocka_unit_test(special_tokens_must_be_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
