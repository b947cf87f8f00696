#include "corpus/wiki_site.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static void names_are_folded(void **state)
{
	static const struct {
		const char *text, *folded;
	} cases[] = {
		{ "File", "file" }, { "  User__talk ", "user talk" }, { "A\n\tB", "a b" }, { "КАТЕГОРИЯ", "категория" }, { "", "" }, { " _ ", "" },
	};
	char out[WIKI_NAME_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const size_t n = wiki_fold(span_of(cases[i].text), out, sizeof(out));

		assert_int_equal(n, strlen(cases[i].folded));
		assert_memory_equal(out, cases[i].folded, n);
	}
	assert_int_equal(wiki_fold(SPAN("abcd"), out, 3), 0);
	assert_int_equal(wiki_fold(SPAN("abc"), out, 3), 3);
}

static void namespaces_are_found(void **state)
{
	static const struct {
		const char *title;
		int64_t number;
		size_t prefix;
	} cases[] = {
		{ "File:x", NS_FILE, 5 }, { "image :x", NS_FILE, 7 }, { "Datei:x", NS_FILE, 6 }, { "ملف:x", NS_FILE, strlen("ملف:") },
		{ "Fails:x", NS_FILE, 6 }, { "CATEGORY:x", NS_CATEGORY, 9 }, { "Taiss:x", NS_TEMPLATE, 6 }, { "Vikipedeja:x", 4, 11 },
		{ "Star Trek: x", NS_MAIN, 0 }, { "x", NS_MAIN, 0 }, { ":x", NS_MAIN, 0 }, { "", NS_MAIN, 0 }, { "Special:x", NS_SPECIAL, 8 },
	};
	struct wiki_site site;
	size_t prefix;

	(void)state;
	assert_int_equal(wiki_site_init(&site), 0);
	assert_int_equal(wiki_site_add_namespace(&site, SPAN("Fails"), NS_FILE), 0);
	assert_int_equal(wiki_site_add_namespace(&site, SPAN("Taiss"), NS_TEMPLATE), 0);
	assert_int_equal(wiki_site_add_namespace(&site, SPAN("Vikipedeja"), 4), 0);
	assert_int_equal(wiki_site_add_namespace(&site, SPAN(""), 0), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (wiki_site_namespace(&site, span_of(cases[i].title), &prefix) != cases[i].number || prefix != cases[i].prefix)
			fail_msg("%s: %zu", cases[i].title, prefix);
	}
	assert_int_equal(wiki_site_listed_namespace(&site, SPAN("Fails:x")), NS_FILE);
	assert_int_equal(wiki_site_listed_namespace(&site, SPAN("File:x")), NS_MAIN);
	wiki_site_release(&site);
}

static void languages_are_known(void **state)
{
	static const char *const yes[] = { "aa", "de", "en", "zh-min-nan", "zu", "simple", "be-x-old" };
	static const char *const no[] = { "", "a", "d", "dee", "english", "wikt", "zzz", "zh-" };
	struct wiki_site site = { .lang = "" };

	(void)state;
	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		if (!wiki_is_language(span_of(yes[i])))
			fail_msg("%s", yes[i]);
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		if (wiki_is_language(span_of(no[i])))
			fail_msg("%s", no[i]);
	wiki_site_set_lang(&site, "pt-BR");
	assert_string_equal(site.lang, "pt");
	wiki_site_set_lang(&site, "far too long for a language");
	assert_string_equal(site.lang, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_folded),
		cmocka_unit_test(namespaces_are_found),
		cmocka_unit_test(languages_are_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
