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

static void places_may_be_in_bytes(void **state)
{
	(void)state;
	expect(TOKEN_OFFSETS, TOKEN_BYTES, " \xC3\xBC un", "1:1:3 4:4:6\n");
	expect(TOKEN_OFFSETS, TOKEN_BYTES | TOKEN_ADD_SPECIAL, "\xC3\x9Cnable", "2:0:0 4:0:3 5:3:7 3:0:0\n");
	expect(TOKEN_WORD_OFFSETS, TOKEN_BYTES, "\xE2\x80\x9Cun", "\xE2\x80\x9C 0 3\nun 3 5\n\n");
	expect(TOKEN_IDS, TOKEN_BYTES, "un", "4\n");
	expect(TOKEN_EXPLAIN, TOKEN_BYTES, "\xC3\xBC, un", "\xC3\xBC\tu\t[UNK]\t1\tno token begins u\n,\t,\t,\t6\nun\tun\tun\t4\n\n");
}

/* Lines that a segmenter has cut; N of them are printed, or come before the one that is another. */
static void expect_cut(int form, unsigned flags, const char *text, const char *cut, int rc, size_t n, const char *want)
{
	struct tokenizer *t = open_of(tokens, TOKENIZER_GOOGLE);
	struct token_printer *p = token_printer_new(t, form, flags);
	struct buf b = BUF_INIT, lines = BUF_INIT;
	size_t got;

	assert_non_null(p);
	assert_int_equal(buf_adds(&b, "") || buf_adds(&lines, cut), 0);
	assert_int_equal(token_print_cut_lines(p, text, strlen(text), &lines, &b, &got), rc);
	assert_int_equal(got, n);
	assert_string_equal(b.data, want);
	b.len = 0;
	assert_int_equal(token_print(p, "un", 2, &b), 0);		/* as ever */
	assert_non_null(strstr(b.data, form == TOKEN_OFFSETS ? "4:0:2" : form == TOKEN_IDS ? "4" : "un"));
	buf_release(&lines);
	buf_release(&b);
	token_printer_free(p);
	tokenizer_close(t);
}

static void cut_lines_have_the_places_of_whole_ones(void **state)
{
	static const char text[] = "\xC3\x9C unable\n\nun\xE3\x80\x80" "able\n", cut[] = "\xC3\x9C un able\nunable\n";

	(void)state;
	expect_cut(TOKEN_IDS, 0, text, cut, 0, 3, "1 4 1\n\n4 5\n");
	expect_cut(TOKEN_WORDS, 0, text, cut, 0, 3, "u un able\n\nunable\n");
	expect_cut(TOKEN_OFFSETS, 0, text, cut, 0, 3, "1:0:1 4:2:4 1:4:8\n\n4:0:2 5:3:7\n");
	expect_cut(TOKEN_OFFSETS, TOKEN_BYTES, text, cut, 0, 3, "1:0:2 4:3:5 1:5:9\n\n4:0:2 5:5:9\n");
	expect_cut(TOKEN_WORD_OFFSETS, TOKEN_BYTES, text, cut, 0, 3, "u 0 2\nun 3 5\nable 5 9\n\n\nunable 0 9\n\n");
	expect_cut(TOKEN_EXPLAIN, 0, "\n un\n", "un\n", 0, 2, "\nun\tun\tun\t4\n\n");
	expect_cut(TOKEN_IDS, 0, "un\n\nable\n", "un\nAble\n", -1, 2, "4\n\n");
	assert_string_equal(err_text(), "the segmenter made 'Able' of 'able'");
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

/* Lines at once are the lines one by one. */
static void many_lines_are_each_line(void **state)
{
	static const char text[] = "Unable, xx\n\nun un\n \nable\n";
	struct tokenizer *t = open_of(tokens, TOKENIZER_GOOGLE);

	(void)state;
	for (int form = TOKEN_IDS; form <= TOKEN_EXPLAIN; form++)
		for (unsigned flags = 0; flags <= TOKEN_ADD_SPECIAL; flags++) {
			struct token_printer *p = token_printer_new(t, form, flags);
			struct buf one = BUF_INIT, all = BUF_INIT;
			size_t n;

			assert_int_equal(token_print_lines(p, text, strlen(text), &all, &n), 0);
			assert_int_equal(n, 5);
			for (const char *line = text, *newline; (newline = strchr(line, '\n')); line = newline + 1)
				assert_int_equal(token_print(p, line, (size_t)(newline - line), &one), 0);
			assert_string_equal(all.data, one.data);
			assert_int_equal(token_printer_count(p) % 2, 0);
			token_printer_free(p);
			buf_release(&one);
			buf_release(&all);
		}
	tokenizer_close(t);
}

static void ids_of_every_length_are_printed(void **state)
{
	static const uint32_t ids[] = { 1, 9, 10, 99, 100, 999, 1000, 1001, 1099, 9999, 10000, 12345, 99999, 100000, 654321, 999999, 1000000, 1000007 };
	struct buf vocab = BUF_INIT, text = BUF_INIT, want = BUF_INIT, got = BUF_INIT;
	struct tokenizer *t;
	struct token_printer *p;

	(void)state;
	assert_int_equal(buf_adds(&vocab, "[UNK]\n"), 0);
	for (uint32_t i = 1; i < 1000010; i++)
		assert_int_equal(buf_addf(&vocab, "z%x\n", (unsigned)i), 0);
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		assert_int_equal(buf_addf(&text, "%sz%x", i ? " " : "", (unsigned)ids[i]), 0);
		assert_int_equal(buf_addf(&want, "%s%u", i ? " " : "", (unsigned)ids[i]), 0);
	}
	assert_int_equal(buf_adds(&want, "\n"), 0);
	t = open_of(vocab.data, TOKENIZER_GOOGLE);
	p = token_printer_new(t, TOKEN_IDS, 0);
	assert_int_equal(token_print(p, text.data, text.len, &got), 0);
	assert_string_equal(got.data, want.data);
	token_printer_free(p);
	tokenizer_close(t);
	buf_release(&vocab);
	buf_release(&text);
	buf_release(&want);
	buf_release(&got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_form_has_its_line),
		cmocka_unit_test(nothing_makes_an_empty_line),
		cmocka_unit_test(special_tokens_enclose_what_there_is),
		cmocka_unit_test(places_may_be_in_bytes),
		cmocka_unit_test(cut_lines_have_the_places_of_whole_ones),
		cmocka_unit_test(every_word_is_explained),
		cmocka_unit_test(tokens_are_counted),
		cmocka_unit_test(many_lines_are_each_line),
		cmocka_unit_test(ids_of_every_length_are_printed),
		cmocka_unit_test(special_tokens_must_be_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
