#include "base/downloads.h"

#include "base/err.h"
#include "base/fs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define SHA1 "a9993e364706816aba3e25717850c26c9cd0d89d"

static void test_names(void **state)
{
	static const char *const bad[] = { "", "/a", "a/", "a//b", ".", "..", "../a", "a/../b", "a/..", "./a" };
	static const char *const good[] = { "a", "a/b", "...", ".a", "..a/b..", "a b" };
	struct downloads d = DOWNLOADS_INIT;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(downloads_add(&d, "u", bad[i], FETCH_SUM_NONE, NULL), -1);
		assert_int_equal(err_code(), EXIT_USAGE);
	}
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(downloads_add(&d, "u", good[i], FETCH_SUM_SHA1, i ? SHA1 : NULL), 0);
		assert_int_equal(d.items[i].sum, i ? FETCH_SUM_SHA1 : FETCH_SUM_NONE);
	}
	assert_int_equal(downloads_add(&d, "u", "a b", FETCH_SUM_NONE, NULL), -1);
	assert_int_equal(downloads_add(&d, "u", "c", FETCH_SUM_SHA256, SHA1), -1);
	downloads_release(&d);
	assert_int_equal(d.n, 0);
}

static void test_urls(void **state)
{
	static const struct {
		const char *url, *name;
	} cases[] = {
		{ "http://h/a", "a" }, { "https://h:1/a/b.bz2?x=/y#z", "b.bz2" }, { "file:///a", "a" }, { "file:/b/c", "c" },
		{ "http://h/a/b%20c", "b%20c" }, { "http://h", NULL }, { "http://h/", NULL }, { "http://h?x/y", NULL }, { "http://h/a/", NULL },
		{ "http://h/..", NULL }, { "a/b", NULL }, { "", NULL }, { "file:///", NULL }, { "file:", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct downloads d = DOWNLOADS_INIT;

		assert_int_equal(downloads_add_url(&d, cases[i].url, FETCH_SUM_NONE, NULL), cases[i].name ? 0 : -1);
		if (cases[i].name)
			assert_string_equal(d.items[0].name, cases[i].name);
		else
			assert_int_equal(err_code(), EXIT_USAGE);
		downloads_release(&d);
	}
}

static void test_list(void **state)
{
	static const char text[] = "\xef\xbb\xbf# comment\r\nhttp://h/a\tsha1:" SHA1 "\tx/a\r\n \nhttp://h/b\t-\nhttp://h/c";
	char path[] = "/tmp/test_downloads.XXXXXX";
	struct downloads d = DOWNLOADS_INIT;
	const int fd = mkstemp(path);

	(void)state;
	assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	close(fd);
	assert_int_equal(downloads_read_list(&d, path), 0);
	assert_int_equal(d.n, 3);
	assert_string_equal(d.items[0].url, "http://h/a");
	assert_string_equal(d.items[0].name, "x/a");
	assert_int_equal(d.items[0].sum, FETCH_SUM_SHA1);
	assert_string_equal(d.items[0].digest, SHA1);
	assert_string_equal(d.items[1].name, "b");
	assert_null(d.items[1].digest);
	assert_string_equal(d.items[2].name, "c");
	downloads_release(&d);
	unlink(path);
}

static void test_date(void **state)
{
	static const char text[] = SHA1 "  otherwiki-20000101-x.gz\n" SHA1 "  xwiki-2000010-x.gz\n" SHA1 "  xwiki-20010203-all.gz\n";
	char date[9];

	(void)state;
	assert_int_equal(downloads_find_date(text, "u", "xwiki", date), 0);
	assert_string_equal(date, "20010203");
	assert_int_equal(downloads_find_date(text, "u", "wiki", date), -1);
	assert_int_equal(err_code(), EXIT_CORRUPT);
	assert_int_equal(downloads_find_date("", "u", "xwiki", date), -1);
	assert_int_equal(downloads_find_date("\n\n", "u", "xwiki", date), -1);
}

#define FILE_OF(name, rest) "\"xwiki-20010203-pages-articles" name "\":{" rest "}"
#define DUMP(status, files) "{\"jobs\":{\"articlesmultistreamdump\":{\"status\":\"" status "\",\"files\":{" files "}}}}"

static int read_dump(struct downloads *d, const char *json)
{
	return downloads_read_dump(d, json, strlen(json), "u", "xwiki", "20010203", "http://m");
}

static void test_dump(void **state)
{
	struct downloads d = DOWNLOADS_INIT;

	(void)state;
	assert_int_equal(read_dump(&d, DUMP("done", FILE_OF("-multistream1.xml-p1p9.bz2", "\"size\":12,\"sha1\":\"" SHA1 "\"")
						    "," FILE_OF("-multistream-index1.txt-p1p9.bz2", "")
						    "," FILE_OF("-multistream2.xml-p10p19.bz2", "\"sha1\":\"" SHA1 "\""))), 0);
	assert_int_equal(d.n, 2);
	assert_string_equal(d.items[0].url, "http://m/xwiki/20010203/xwiki-20010203-pages-articles-multistream1.xml-p1p9.bz2");
	assert_string_equal(d.items[0].name, "xwiki-20010203-pages-articles-multistream1.xml-p1p9.bz2");
	assert_int_equal(d.items[0].size, 12);
	assert_int_equal(d.items[1].size, 0);
	downloads_release(&d);
}

static void test_bad_dumps(void **state)
{
	static const char *const bad[] = {
		"", "{", "[]", "3", "{}", "{\"jobs\":{}}", "{\"jobs\":[]}", "{\"jobs\":{\"articlesmultistreamdump\":{\"status\":1}}}",
		"{\"jobs\":{\"articlesmultistreamdump\":{\"status\":\"done\"}}}", DUMP("done", ""),
		DUMP("done", FILE_OF(".xml.bz2", "\"size\":1")), DUMP("done", FILE_OF(".xml.bz2", "\"sha1\":\"0\"")),
		DUMP("done", "\"../xwiki-20010203-pages-articles.xml.bz2\":{\"sha1\":\"" SHA1 "\"}"),
		DUMP("done", FILE_OF("/../../x.xml.bz2", "\"sha1\":\"" SHA1 "\"")),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct downloads d = DOWNLOADS_INIT;

		assert_int_equal(read_dump(&d, bad[i]), -1);
		assert_int_equal(err_code(), EXIT_CORRUPT);
		downloads_release(&d);
	}
	{
		struct downloads d = DOWNLOADS_INIT;

		assert_int_equal(read_dump(&d, DUMP("waiting", "")), -1);
		assert_int_equal(err_code(), EXIT_FAILED);
		assert_non_null(strstr(err_text(), "'waiting'"));
		downloads_release(&d);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names), cmocka_unit_test(test_urls), cmocka_unit_test(test_list),
		cmocka_unit_test(test_date), cmocka_unit_test(test_dump), cmocka_unit_test(test_bad_dumps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
