#include "shards/canon.h"

#include "base/err.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static json_t *json(const char *text)
{
	json_t *o = canon_parse(text, strlen(text));

	assert_non_null(o);
	return o;
}

static void assert_prints(const char *text, const char *want)
{
	json_t *o = json(text);
	char *printed = canon_print(o);

	assert_string_equal(printed, want);
	free(printed);
	json_decref(o);
}

static void test_prints_one_way(void **state)
{
	(void)state;
	assert_prints("{ \"b\" : [1, 2],\n\"a\" : { \"z\": true, \"y\": null } }",
		      "{\"a\":{\"y\":null,\"z\":true},\"b\":[1,2]}");
	assert_prints("{\"p\":0.15,\"q\":0.1}", "{\"p\":0.15,\"q\":0.1}");
	assert_prints("{\"p\":0.30000000000000004}",
		      "{\"p\":0.30000000000000004}"); /* 15 digits would be another number */
}

static void test_parse_refuses(void **state)
{
	const char *const bad[] = { "", "[1]", "7", "{\"a\":1", "{\"a\":1,\"a\":2}", "{\"a\":\"\xff\"}", "{} x" };

	(void)state;
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_null(canon_parse(bad[i], strlen(bad[i])));
		assert_int_equal(err_code(), EXIT_CORRUPT);
	}
}

static void assert_reason(const char *part)
{
	assert_int_equal(err_code(), EXIT_CORRUPT);
	if (!strstr(err_text(), part))
		fail_msg("'%s' lacks '%s'", err_text(), part);
}

static void test_members_are_checked(void **state)
{
	json_t *o = json("{\"n\":7,\"r\":0.5,\"s\":\"text\",\"b\":true,\"k\":\"000000000000000a000000000000000b\","
			 "\"neg\":-1,\"o\":{},\"l\":[]}");
	uint64_t n;
	uint32_t n32;
	double r;
	bool b;
	struct key k;

	(void)state;
	assert_int_equal(canon_uint(o, "n", 0, 7, &n), 0);
	assert_int_equal(n, 7);
	assert_int_equal(canon_uint32(o, "n", 7, 8, &n32), 0);
	assert_int_equal(canon_uint(o, "n", 0, 6, &n), -1);
	assert_reason("'n' is 7, not from 0 to 6");
	assert_int_equal(canon_uint(o, "neg", 0, 9, &n), -1);
	assert_int_equal(canon_uint(o, "r", 0, 9, &n), -1);
	assert_reason("'r' is not a whole number");
	assert_int_equal(canon_uint(o, "x", 0, 9, &n), -1);
	assert_reason("'x' is missing");
	assert_int_equal(canon_real(o, "r", 0, 1, &r), 0);
	assert_true(r == 0.5);
	assert_int_equal(canon_real(o, "n", 0, 1, &r), -1);
	assert_int_equal(canon_bool(o, "b", &b), 0);
	assert_true(b);
	assert_int_equal(canon_bool(o, "n", &b), -1);
	assert_string_equal(canon_string(o, "s"), "text");
	assert_null(canon_string(o, "n"));
	assert_int_equal(canon_is(o, "s", "text"), 0);
	assert_int_equal(canon_is(o, "s", "other"), -1);
	assert_int_equal(canon_key(o, "k", &k), 0);
	assert_int_equal(k.hi, 10);
	assert_int_equal(k.lo, 11);
	assert_int_equal(canon_key(o, "s", &k), -1);
	assert_non_null(canon_object(o, "o"));
	assert_null(canon_object(o, "l"));
	assert_non_null(canon_array(o, "l"));
	json_decref(o);
}

static void assert_differs(const char *is, const char *want, const char *text)
{
	json_t *a = json(is), *b = json(want);
	struct buf what = BUF_INIT;

	assert_int_equal(canon_difference(a, b, &what), text ? 1 : 0);
	if (text)
		assert_string_equal(what.data, text);
	buf_release(&what);
	json_decref(a);
	json_decref(b);
}

static void test_differences_are_named(void **state)
{
	(void)state;
	assert_differs("{\"a\":1}", "{\"a\":1}", NULL);
	assert_differs("{\"a\":{\"b\":1,\"c\":2}}", "{\"a\":{\"b\":1,\"c\":3}}", "a.c is 2, not 3");
	assert_differs("{\"a\":[1,{\"x\":\"y\"}]}", "{\"a\":[1,{\"x\":\"z\"}]}", "a[1].x is \"y\", not \"z\"");
	assert_differs("{\"a\":[1]}", "{\"a\":[1,2]}", "a has 1 entries, not 2");
	assert_differs("{}", "{\"a\":null}", "a is absent, not null");
	assert_differs("{\"b\":0.5}", "{}", "b is 0.5, not absent");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_prints_one_way),
		cmocka_unit_test(test_parse_refuses),
		cmocka_unit_test(test_members_are_checked),
		cmocka_unit_test(test_differences_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
