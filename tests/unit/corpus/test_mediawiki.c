#include "corpus/mediawiki.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define ROOT "<mediawiki xml:lang=\"ltg\"><siteinfo><sitename>Vikipedeja</sitename><namespaces>" \
	"<namespace key=\"0\" /><namespace key=\"6\">Fails</namespace><namespace key=\"2\">Lītuotuojs</namespace></namespaces></siteinfo>"
#define PAGE(title, ns, text) "<page><title>" title "</title>" ns "<id>7</id><revision><id>9</id><text>" text "</text></revision></page>"

static char folder[] = "/tmp/test_mediawiki.XXXXXX";
static char *path;

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	path = fs_join(folder, "dump");
	return path ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	free(path);
	return fs_remove_tree(folder);
}

/* Reads BYTES as a dump; a line a page, "ns title id flags: text", goes to OUT, *REPAIRED counts. */
static int read_dump(const char *bytes, size_t len, struct wiki_site *site, struct buf *out, uint64_t *repaired)
{
	struct mediawiki_page p;
	struct mediawiki *m;
	struct in *in;
	int rc;

	assert_int_equal(fs_write_all(path, bytes, len), 0);
	assert_int_equal(wiki_site_init(site), 0);
	assert_int_equal(buf_add(out, "", 0), 0);
	assert_int_equal(in_open(&in, path, 1), 0);
	rc = mediawiki_open(&m, in, site);
	while (!rc && (rc = mediawiki_next(m, &p)) > 0) {
		assert_int_equal(buf_addf(out, "%d %.*s %.*s %s%s: %.*s\n", (int)p.ns, (int)p.title.len, p.title.text, (int)p.id.len, p.id.text,
					  p.redirect ? "R" : "", p.wikitext ? "W" : "", (int)p.text.len, p.text.text), 0);
		rc = 0;
	}
	*repaired = mediawiki_repaired(m);
	mediawiki_close(m);
	in_close(in);
	return rc;
}

static void expect(const char *bytes, size_t len, const char *pages, uint64_t repaired)
{
	struct buf out = BUF_INIT;
	struct wiki_site site;
	uint64_t n;

	if (read_dump(bytes, len, &site, &out, &n))
		fail_msg("%s", err_text());
	assert_string_equal(out.data, pages);
	assert_int_equal(n, repaired);
	wiki_site_release(&site);
	buf_release(&out);
}

/* The reason says SAYS; the pages before the fault were given. */
static void expect_corrupt(const char *bytes, size_t len, const char *pages, const char *says)
{
	struct buf out = BUF_INIT;
	struct wiki_site site;
	uint64_t n;

	assert_int_equal(read_dump(bytes, len, &site, &out, &n), -1);
	assert_int_equal(err_code(), EXIT_CORRUPT);
	assert_string_equal(out.data, pages);
	if (!strstr(err_text(), says) || !strstr(err_text(), path))
		fail_msg("'%s' lacks '%s'", err_text(), says);
	wiki_site_release(&site);
	buf_release(&out);
}
#define EXPECT(text, pages, repaired) expect(text, sizeof(text) - 1, pages, repaired)
#define EXPECT_CORRUPT(text, pages, says) expect_corrupt(text, sizeof(text) - 1, pages, says)

static void pages_are_given(void **state)
{
	(void)state;
	EXPECT(ROOT PAGE("A &amp; B", "<ns>0</ns>", "one &lt;b&gt;\ntwo") PAGE("Sprīža:x", "<ns>1</ns>", "") "</mediawiki>",
	       "0 A & B 7 W: one <b>\ntwo\n1 Sprīža:x 7 W: \n", 0);
	EXPECT(ROOT "</mediawiki>", "", 0);
	EXPECT("<mediawiki/>", "", 0);
	EXPECT(ROOT "<page><title>R</title><ns>0</ns><id>1</id><redirect title=\"A\" /><revision><text>#R</text></revision></page></mediawiki>",
	       "0 R 1 RW: #R\n", 0);
	EXPECT(ROOT "<page><title>M</title><ns>0</ns><id>1</id><revision><model>json</model><text>{}</text></revision></page></mediawiki>",
	       "0 M 1 : {}\n", 0);
	EXPECT(ROOT "<page><title>H</title><ns>0</ns><id>1</id><revision><text>old</text></revision><revision><id>2</id><model>wikitext</model>"
	       "<text>new</text></revision></page></mediawiki>", "0 H 1 W: new\n", 0);
	EXPECT(ROOT "<page><title>E</title><ns>0</ns><id>1</id><revision><contributor><id>5</id></contributor><text bytes=\"0\" /></revision></page></mediawiki>",
	       "0 E 1 W: \n", 0);
}

static void namespaces_come_from_ns(void **state)
{
	(void)state;
	EXPECT(ROOT PAGE("Fails:x", "<ns>0</ns>", "a") PAGE("x", "<ns>6</ns>", "b") "</mediawiki>", "0 Fails:x 7 W: a\n6 x 7 W: b\n", 0);
	/* dumps before <ns> */
	EXPECT(ROOT PAGE("Fails:x", "", "a") PAGE("File:x", "", "b") PAGE("Lītuotuojs:y", "", "c") "</mediawiki>",
	       "6 Fails:x 7 W: a\n0 File:x 7 W: b\n2 Lītuotuojs:y 7 W: c\n", 0);
}

static void the_site_is_read(void **state)
{
	static const char late[] = ROOT PAGE("A", "<ns>0</ns>", "a") "<siteinfo><sitename>Other</sitename><namespaces>"
		"<namespace key=\"14\">Late</namespace></namespaces></siteinfo></mediawiki>";
	struct buf out = BUF_INIT;
	struct wiki_site site;
	uint64_t n;
	size_t prefix;

	(void)state;
	assert_int_equal(read_dump(late, sizeof(late) - 1, &site, &out, &n), 0);
	assert_string_equal(site.lang, "ltg");
	assert_string_equal(site.name.data, "Vikipedeja");
	assert_int_equal(wiki_site_namespace(&site, SPAN("Fails:x"), &prefix), NS_FILE);
	assert_int_equal(wiki_site_namespace(&site, SPAN("Late:x"), &prefix), NS_MAIN);
	wiki_site_release(&site);
	buf_release(&out);
}

static void bad_bytes_are_repaired(void **state)
{
	(void)state;
	EXPECT(ROOT PAGE("A", "<ns>0</ns>", "a\xFF" "b\xC3(c\xED\xA0\x80") "</mediawiki>", "0 A 7 W: a\xEF\xBF\xBD" "b\xEF\xBF\xBD(c\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\n", 5);
	EXPECT(ROOT PAGE("A", "<ns>0</ns>", "a\x00" "b\x0B" "c\xEF\xBF\xBE" "d\xEF\xBF\xBF") "</mediawiki>",
	       "0 A 7 W: a\xEF\xBF\xBD" "b\xEF\xBF\xBD" "c\xEF\xBF\xBD" "d\xEF\xBF\xBD\n", 4);
	EXPECT("\xEF\xBB\xBF" ROOT PAGE("é", "<ns>0</ns>", "é€😀") "</mediawiki>", "0 é 7 W: é€😀\n", 0);
}

/* Characters and bad bytes across the 64 KiB blocks in which a dump is read, at every place. */
static void blocks_do_not_show(void **state)
{
	(void)state;
	for (int shift = 0; shift < 9; shift++) {
		struct buf dump = BUF_INIT, out = BUF_INIT;
		struct wiki_site site;
		uint64_t n;

		assert_int_equal(buf_adds(&dump, ROOT "<page><title>A</title><ns>0</ns><id>1</id><revision><text>"), 0);
		while (dump.len < 65536 - 6)
			assert_int_equal(buf_adds(&dump, "x"), 0);
		for (int i = 0; i < shift; i++)
			assert_int_equal(buf_adds(&dump, "y"), 0);
		assert_int_equal(buf_adds(&dump, "é€😀\xF0\x9F\x98z</text></revision></page></mediawiki>"), 0);
		assert_int_equal(read_dump(dump.data, dump.len, &site, &out, &n), 0);
		assert_int_equal(n, 1);
		assert_non_null(strstr(out.data, "é€😀\xEF\xBF\xBDz\n"));
		wiki_site_release(&site);
		buf_release(&dump);
		buf_release(&out);
	}
}

static void other_encodings_are_read(void **state)
{
	static const char ascii[] = ROOT PAGE("A", "<ns>0</ns>", "a?b") "</mediawiki>";
	struct buf wide = BUF_INIT;

	(void)state;
	assert_int_equal(buf_add(&wide, "\xFF\xFE", 2), 0);
	for (const char *p = ascii; *p;) {
		const uint32_t c = utf8_next(&p), out = c == '?' ? 0x20AC : c;

		assert_int_equal(buf_add(&wide, (char[2]){ (char)(out & 0xFF), (char)(out >> 8) }, 2), 0);
	}
	expect(wide.data, wide.len, "0 A 7 W: a€b\n", 0);
	buf_release(&wide);
	EXPECT("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><mediawiki>" PAGE("A", "<ns>0</ns>", "a\xE9" "b") "</mediawiki>", "0 A 7 W: aéb\n", 0);
	EXPECT("<?xml version=\"1.0\" encoding='utf-8' ?><mediawiki>" PAGE("A", "<ns>0</ns>", "a\xE9" "b") "</mediawiki>", "0 A 7 W: a\xEF\xBF\xBD" "b\n", 1);
}

static void damage_is_named(void **state)
{
	static const char whole[] = ROOT PAGE("A", "<ns>0</ns>", "a") PAGE("B", "<ns>0</ns>", "b") "</mediawiki>";
	char says[64];

	(void)state;
	EXPECT_CORRUPT("", "", "cut short");
	EXPECT_CORRUPT("<mediawiki>", "", "cut short");
	EXPECT_CORRUPT(ROOT PAGE("A", "<ns>0</ns>", "a") "<page><title>Bee</title><revision><text>b", "0 A 7 W: a\n", "in page 'Bee'");
	for (size_t len = 1; len < sizeof(whole) - 1; len += 7) {	/* a dump cut anywhere */
		struct buf out = BUF_INIT;
		struct wiki_site site;
		uint64_t n;

		snprintf(says, sizeof(says), "offset %zu,", len);
		assert_int_equal(read_dump(whole, len, &site, &out, &n), -1);
		assert_int_equal(err_code(), EXIT_CORRUPT);
		assert_non_null(strstr(err_text(), says));
		wiki_site_release(&site);
		buf_release(&out);
	}
	EXPECT_CORRUPT(ROOT PAGE("A", "<ns>0</ns>", "a") "<page></pag></mediawiki>", "0 A 7 W: a\n", "mismatched tag at offset");
	EXPECT_CORRUPT("<html></html>", "", "begins with <html>");
	EXPECT_CORRUPT("<mediawiki/><mediawiki/>", "", "damaged");
	EXPECT_CORRUPT("<!DOCTYPE mediawiki [<!ENTITY a \"b\">]><mediawiki>&a;</mediawiki>", "", "document type declaration");
	EXPECT_CORRUPT("<mediawiki><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a>", "", "too deeply");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_are_given),
		cmocka_unit_test(namespaces_come_from_ns),
		cmocka_unit_test(the_site_is_read),
		cmocka_unit_test(bad_bytes_are_repaired),
		cmocka_unit_test(blocks_do_not_show),
		cmocka_unit_test(other_encodings_are_read),
		cmocka_unit_test(damage_is_named),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
