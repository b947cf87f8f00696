/* Canonical JSON with a long list: printed and read piece by piece, to the bytes of canon_print. */
#include "shards/canon_list.h"
#include "base/buf.h"
#include "base/err.h"
#include "shards/canon.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <cmocka.h>

static int put_buf(void *ctx, const void *text, size_t len)
{
	return buf_add(ctx, text, len);
}

static json_t *item(const void *ctx, size_t i)
{
	return json_incref(json_array_get(ctx, i));
}

static struct key digest_of(const char *text)
{
	const XXH128_hash_t hash = XXH3_128bits(text, strlen(text));

	return (struct key){ hash.high64, hash.low64 };
}

/* TEXT is canonical: printing it by pieces gives it again, reading it its elements, and both the digest of all but "digest". */
static void goes_round(const char *text)
{
	json_t *o = canon_parse(text, strlen(text)), *list, *element;
	struct canon_list l;
	struct buf printed = BUF_INIT;
	struct key is;
	char *whole;
	int rc;

	assert_non_null(o);
	whole = canon_print(o);
	assert_string_equal(whole, text);
	free(whole);
	list = json_incref(json_object_get(o, "list"));
	assert_int_equal(canon_list_open(&l, "list", text, strlen(text)), 0);
	assert_int_equal(l.n, json_array_size(list));
	for (size_t i = 0; (rc = canon_list_next(&l, &element)) > 0; i++) {
		assert_true(json_equal(element, json_array_get(list, i)));
		json_decref(element);
	}
	assert_int_equal(rc, 0);

	assert_int_equal(canon_set(o, "list", json_array()), 0);
	assert_true(json_equal(o, l.rest));
	const struct canon_list_source s = { o, "list", json_array_size(list), item, list };
	assert_int_equal(canon_list_print(&s, put_buf, &printed), 0);
	assert_int_equal(printed.len, strlen(text));
	assert_memory_equal(printed.data, text, printed.len);

	json_object_del(o, "digest");
	assert_int_equal(canon_list_source_digest(&s, &is), 0);
	json_object_set(o, "list", list);
	whole = canon_print(o);
	assert_int_equal(key_compare(is, digest_of(whole)), 0);
	assert_int_equal(canon_list_digest(&l, &is), 0);
	assert_int_equal(key_compare(is, digest_of(whole)), 0);
	free(whole);
	buf_release(&printed);
	canon_list_release(&l);
	json_decref(list);
	json_decref(o);
}

static void same_as_whole(void **state)
{
	(void)state;
	goes_round("{\"list\":[]}");
	goes_round("{\"list\":[{}]}");
	goes_round("{\"a\":1,\"list\":[{\"n\":1},{\"n\":2},{\"n\":[1,2,{\"list\":[3,4]}]}],\"z\":\"\"}");
	goes_round("{\"digest\":\"x\",\"list\":[{\"a\":\"],[{\\\"\"},{\"a\":\"\\\\\"}],\"z\":{}}");
	goes_round("{\"a\":{\"list\":[1,2,3]},\"b\":\"\\\"list\\\":[\",\"list\":[{}],\"z\":{\"list\":[{}]}}");
	goes_round("{\"a\":\"\\\\\\\"list\\\":[\\\\\",\"digest\":7,\"list\":[{\"n\":\"\\u0001\\t\xc3\xa9\xe4\xb8\xad\"}]}");
	goes_round("{\"a\":0.30000000000000004,\"b\":0.10000000000000001,\"list\":[{\"n\":1}]}");
	goes_round("{\"list\":[{\"n\":9223372036854775807},{\"n\":-1}],\"z\":[[],{},[{}]]}");
}

/* What is said of TEXT, at whatever step. */
static void refused(const char *text, const char *reason)
{
	struct canon_list l;
	json_t *o;
	int rc = canon_list_open(&l, "list", text, strlen(text)) ? -1 : 1;

	while (rc > 0) {
		rc = canon_list_next(&l, &o);
		json_decref(o);
	}
	if (rc != -1)
		fail_msg("'%s' was read", text);
	assert_int_equal(err_code(), EXIT_CORRUPT);
	if (!strstr(err_text(), reason))
		fail_msg("of '%s': '%s' lacks '%s'", text, err_text(), reason);
	canon_list_release(&l);
}

static void damaged(void **state)
{
	static const char form[] = "canonical form", json[] = "no valid JSON at byte";

	(void)state;
	refused("", json);
	refused("[]", "no JSON object");
	refused("{}", "'list' is missing");
	refused("{\"list\":7}", "'list' is not an array");
	refused("{\"list\":[{}]} ", form);
	refused("{\"list\":[{}]}x", json);
	refused("{\"list\":[{}]", json);
	refused("{\"list\":[{}", json);
	refused("{\"list\":[\"", json);
	refused("{\"list\":[\"\\", json);
	refused("{\"list\" :[{}]}", form);
	refused("{\"list\": [{}]}", form);
	refused("{ \"list\":[{}]}", form);
	refused("{\"list\":[{}],\"a\":1}", form);
	refused("{\"z\":1,\"list\":[{}]}", form);
	refused("{\"b\":1,\"a\":1,\"list\":[{}]}", form);
	refused("{\"list\":[{}],\"list\":[{}]}", json);
	refused("{\"list\":[{}],\"z\":1e0}", form);
	refused("{\"list\":[ {}]}", form);
	refused("{\"list\":[{} ]}", form);
	refused("{\"list\":[{} ,{}]}", form);
	refused("{\"list\":[{}, {}]}", form);
	refused("{\"list\":[{}{}]}", form);
	refused("{\"list\":[{}x{}]}", form);
	refused("{\"list\":[{},]}", json);
	refused("{\"list\":[,{}]}", json);
	refused("{\"list\":[{},,{}]}", json);
	refused("{\"list\":[{}}]}", json);
	refused("{\"list\":[{\"a\":1,\"a\":1}]}", json);
	refused("{\"list\":[{\"b\":1,\"a\":1}]}", form);
	refused("{\"list\":[{\"a\":\"\\u0041\"}]}", form);
	refused("{\"list\":[{\"a\":\"\\/\"}]}", form);
	refused("{\"list\":[{\"a\":\"\xff\"}]}", json);
	refused("{\"list\":[{\"a\":01}]}", json);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(same_as_whole), cmocka_unit_test(damaged) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
