#include "tokenizer/vocab.h"

#include "base/buf.h"
#include "base/err.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/tokenizer/made_vocab.h"

static struct vocab *load(const char *text)
{
	struct vocab *v;

	assert_int_equal(load_bytes(&v, text, strlen(text)), 0);
	return v;
}

static void refuse(const char *bytes, size_t n, const char *reason)
{
	struct vocab *v = (void *)-1;

	assert_int_equal(load_bytes(&v, bytes, n), -1);
	assert_null(v);
	assert_int_equal(err_code(), EXIT_CORRUPT);
	if (!strstr(err_text(), reason))
		fail_msg("'%s' lacks '%s'", err_text(), reason);
}

static uint32_t id_of(const struct vocab *v, const char *token)
{
	return vocab_id(v, token, strlen(token));
}

static void lines_are_ids(void **state)
{
	struct vocab *v = load("[PAD]\n[UNK]\nthe\n##s\n");
	size_t len;

	(void)state;
	assert_int_equal(vocab_size(v), 4);
	assert_int_equal(id_of(v, "the"), 2);
	assert_int_equal(id_of(v, "th"), VOCAB_NONE);
	assert_int_equal(id_of(v, ""), VOCAB_NONE);
	assert_string_equal(vocab_token(v, 3, &len), "##s");
	assert_int_equal(len, 3);
	assert_true(vocab_is_continuation(v, 3));
	assert_false(vocab_is_continuation(v, 2));
	assert_int_equal(vocab_id_bytes(v), 2);
	vocab_free(v);
}

static void lines_are_stripped_on_both_sides(void **state)
{
	struct vocab *v = load("[UNK]\r\n  two  \r\n\xE3\x80\x80three\xC2\x85\t\nin side\n\x1C" "five\nsix");

	(void)state;
	assert_int_equal(vocab_size(v), 6);
	assert_string_equal(vocab_token(v, 0, NULL), "[UNK]");
	assert_int_equal(id_of(v, "two"), 1);
	assert_int_equal(id_of(v, "three"), 2);
	assert_int_equal(id_of(v, "in side"), 3);
	assert_int_equal(id_of(v, "five"), 4);
	assert_int_equal(id_of(v, "six"), 5);
	vocab_free(v);
}

static void the_last_of_equal_lines_counts(void **state)
{
	struct vocab *v = load("[UNK]\na\n\na\n  \nb\n a\n");
	struct vocab *separator = load("[UNK]\n\xE2\x80\xA8\n");		/* U+2028, as in BERT's Chinese vocabulary */
	struct vocab *blank = load("[UNK]\n\xE3\x80\x80\n\xC2\xA0\xC2\x85\r\n\xE2\x80\xA8\r\n\xE2\x80\xA9\n\v\x1C\n");

	(void)state;
	assert_string_equal(vocab_token(separator, 1, NULL), "");
	assert_int_equal(vocab_blank_lines(separator), 0);
	vocab_free(separator);
	assert_int_equal(vocab_size(blank), 6);
	assert_int_equal(vocab_blank_lines(blank), 4);
	assert_int_equal(vocab_duplicates(blank), 0);
	assert_int_equal(id_of(blank, ""), 5);
	vocab_free(blank);
	assert_int_equal(vocab_size(v), 7);
	assert_int_equal(id_of(v, "a"), 6);
	assert_int_equal(id_of(v, ""), 4);
	assert_string_equal(vocab_token(v, 1, NULL), "a");
	assert_string_equal(vocab_token(v, 4, NULL), "");
	assert_int_equal(vocab_blank_lines(v), 2);
	assert_int_equal(vocab_duplicates(v), 2);
	vocab_free(v);
}

static void specials_are_known(void **state)
{
	struct vocab *v = load("[PAD]\n[unused0]\n[UNK]\n[CLS]\n[unused]\n[unused12]\n[unused1]x\n[MASK]\nword\n");
	const struct vocab_special s = vocab_special(v);
	const bool special[] = { true, true, true, true, false, true, false, true, false };

	(void)state;
	assert_int_equal(s.pad, 0);
	assert_int_equal(s.unk, 2);
	assert_int_equal(s.cls, 3);
	assert_int_equal(s.sep, VOCAB_NONE);
	assert_int_equal(s.mask, 7);
	for (uint32_t id = 0; id < vocab_size(v); id++)
		assert_int_equal(vocab_is_special(v, id), special[id]);
	vocab_free(v);
}

/* sha256sum of the same bytes. */
static void the_digest_is_of_the_file(void **state)
{
	struct vocab *v = load("[UNK]\n");

	(void)state;
	assert_string_equal(vocab_sha256(v), "c1ea45825e95a95c33c6826d9bf7cd2bdd2c60fb73bc1650b9017879aae7f9ae");
	vocab_free(v);
}

static void a_byte_order_mark_is_part_of_the_first_token(void **state)
{
	struct vocab *v = load("\xEF\xBB\xBF[PAD]\n[UNK]\n");
	struct buf faults = BUF_INIT;

	(void)state;
	assert_int_equal(id_of(v, "[PAD]"), VOCAB_NONE);
	assert_int_equal(id_of(v, "\xEF\xBB\xBF[PAD]"), 0);
	vocab_free(v);
	refuse("\xEF\xBB\xBF[UNK]\n[PAD]\n", 15, "byte-order mark");
	v = load("\xEF\xBB\xBF[PAD]\n[UNK]\n\n\n");
	assert_int_equal(vocab_describe_faults(v, &faults), 0);
	assert_string_equal(faults.data, "a byte-order mark, which is part of its first token, and 2 blank lines");
	vocab_free(v);
	buf_clear(&faults);
	v = load("\xEF\xBB\xBF[PAD]\n[UNK]\n\na\n \na\n");
	assert_int_equal(vocab_describe_faults(v, &faults), 0);
	assert_string_equal(faults.data, "a byte-order mark, which is part of its first token, 2 blank lines and 1 line that repeats an "
					 "earlier one and takes its place");
	vocab_free(v);
	buf_release(&faults);
}

static void bad_files_are_refused(void **state)
{
	(void)state;
	refuse("", 0, "it is empty");
	refuse("[PAD]\nthe\n", 10, "it has no [UNK]");
	refuse("\n\n", 2, "it has no [UNK]");
	refuse("[UNK]\na\0b\nc\n", 12, "line 2 holds a NUL byte");
	refuse("[UNK]\nab\n\xC3(\n", 12, "line 3 is not UTF-8");
	refuse("[UNK]\n\xED\xA0\x80\n", 10, "line 2 is not UTF-8");
	refuse("\xFF", 1, "line 1 is not UTF-8");
}

static void what_is_no_file_is_a_failure(void **state)
{
	struct vocab *v;

	(void)state;
	assert_int_equal(vocab_load(&v, "/nonexistent/vocab.txt"), -1);
	assert_int_equal(err_code(), EXIT_FAILED);
	assert_non_null(strstr(err_text(), "/nonexistent/vocab.txt"));
	assert_int_equal(vocab_load(&v, "/"), -1);
	assert_int_equal(err_code(), EXIT_FAILED);
	vocab_free(NULL);
}

static void ids_are_wide_from_65537_tokens_on(void **state)
{
	struct buf b = BUF_INIT;
	struct vocab *v;

	(void)state;
	assert_int_equal(buf_adds(&b, "[UNK]\n"), 0);
	for (unsigned i = 1; i < 65536; i++)
		assert_int_equal(buf_addf(&b, "%x\n", i), 0);
	assert_int_equal(load_bytes(&v, b.data, b.len), 0);
	assert_int_equal(vocab_size(v), 65536);
	assert_int_equal(vocab_id_bytes(v), 2);
	assert_int_equal(id_of(v, "ffff"), 65535);
	vocab_free(v);
	assert_int_equal(buf_adds(&b, "10000"), 0);
	assert_int_equal(load_bytes(&v, b.data, b.len), 0);
	assert_int_equal(vocab_id_bytes(v), 4);
	assert_int_equal(id_of(v, "10000"), 65536);
	vocab_free(v);
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_ids),
		cmocka_unit_test(lines_are_stripped_on_both_sides),
		cmocka_unit_test(the_last_of_equal_lines_counts),
		cmocka_unit_test(specials_are_known),
		cmocka_unit_test(the_digest_is_of_the_file),
		cmocka_unit_test(a_byte_order_mark_is_part_of_the_first_token),
		cmocka_unit_test(bad_files_are_refused),
		cmocka_unit_test(what_is_no_file_is_a_failure),
		cmocka_unit_test(ids_are_wide_from_65537_tokens_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
