#include "tokenizer/learn_report.h"

#include "base/buf.h"
#include "base/err.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static struct vocab *vocab_of(const char *text)
{
	struct buf bytes = BUF_INIT;
	struct vocab *v;

	assert_int_equal(buf_adds(&bytes, text), 0);
	assert_int_equal(vocab_take(&v, &bytes, "test"), 0);
	assert_null(bytes.data);
	return v;
}

static void words_are_measured(void **state)
{
	struct vocab *own = vocab_of("[UNK]\na\n##b\nab\n"), *other = vocab_of("a\n##b\n[UNK]\n");
	struct learn_count c = { .words = 25, .long_words = 2 };
	struct learn_words w;
	struct learn_text t;
	json_t *json;

	(void)state;
	learn_words_init(&w, 1 << 20);
	assert_int_equal(learn_words_add(&w, "ab", 2, 10), 0);
	assert_int_equal(learn_words_add(&w, "abb", 3, 5), 0);
	assert_int_equal(learn_words_add(&w, "b", 1, 4), 0);
	w.dropped = 3;
	w.dropped_count = 4;
	assert_int_equal(learn_text_measure(&t, &c, &w, own, NULL), 0);
	assert_false(t.has_beside);
	assert_int_equal(t.words, 21);
	assert_int_equal(t.different, 3);
	assert_int_equal(t.too_long, 2);
	assert_int_equal(t.dropped, 4);
	assert_int_equal(t.own.tokens, 10 + 5 * 2 + 4 + 2);	/* ab, ab ##b, [UNK], [UNK] */
	assert_int_equal(t.own.unknown, 4 + 2);
	assert_int_equal(t.own.whole, 10);
	assert_int_equal(t.own.used, 3);
	json = learn_text_json(&t);
	assert_non_null(json);
	assert_null(json_object_get(json, "beside"));
	assert_int_equal(json_integer_value(json_object_get(json_object_get(json, "vocabulary"), "tokens")), 26);
	assert_true(json_real_value(json_object_get(json_object_get(json, "vocabulary"), "unknown_share")) == 6.0 / 21);
	json_decref(json);
	assert_int_equal(learn_text_measure(&t, &c, &w, own, other), 0);
	assert_int_equal(t.beside.tokens, 10 * 2 + 5 * 3 + 4 + 2);
	assert_int_equal(t.beside.whole, 0);
	json = learn_text_json(&t);
	assert_int_equal(json_integer_value(json_object_get(json_object_get(json, "beside"), "tokens_used")), 3);
	json_decref(json);
	vocab_free(own);
	vocab_free(other);
	learn_words_release(&w);
}

static void bytes_are_refused_as_files_are(void **state)
{
	struct buf bytes = BUF_INIT;
	struct vocab *v;

	(void)state;
	assert_int_equal(vocab_take(&v, &bytes, "none"), -1);
	assert_null(v);
	assert_non_null(strstr(err_text(), "'none': it is empty"));
	assert_int_equal(buf_adds(&bytes, "a\nb\n"), 0);
	assert_int_equal(vocab_take(&v, &bytes, "some"), -1);
	assert_non_null(strstr(err_text(), "no [UNK]"));
	assert_null(bytes.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_measured),
		cmocka_unit_test(bytes_are_refused_as_files_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
