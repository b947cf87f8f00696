#include "corpus/wikitext.h"

#include "base/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <cmocka.h>

static struct wiki_site site;

struct markup {
	const char *wikitext, *text;	/* lines of TEXT end in \n */
};

static int set_up(void **state)
{
	(void)state;
	if (wiki_site_init(&site))
		return -1;
	wiki_site_set_lang(&site, "en");
	return wiki_site_add_namespace(&site, SPAN("Kategoreja"), NS_CATEGORY) || wiki_site_add_namespace(&site, SPAN("Fails"), NS_FILE);
}

static int tear_down(void **state)
{
	(void)state;
	wiki_site_release(&site);
	return 0;
}

static char *convert(const struct wikitext_opts *opts, struct span text)
{
	struct wikitext_counts counts = { 0 };
	struct buf out = BUF_INIT;
	struct wikitext *w;

	assert_int_equal(wikitext_new(&w, opts), 0);
	assert_int_equal(wikitext_convert(w, &site, SPAN("The title"), text, &out, &counts), 0);
	assert_int_equal(buf_add(&out, "", 0), 0);
	wikitext_free(w);
	buf_release(&counts.dropped);
	return out.data;
}

static void check(const struct wikitext_opts *opts, const struct markup *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char *text = convert(opts, span_of(cases[i].wikitext));

		if (strcmp(text, cases[i].text))
			fail_msg("%s\nbecame\n%s\nnot\n%s", cases[i].wikitext, text, cases[i].text);
		free(text);
	}
}
#define CHECK(opts, cases) check(&(struct wikitext_opts){ opts }, cases, sizeof(cases) / sizeof((cases)[0]))

static void paragraphs_are_joined(void **state)
{
	static const struct markup cases[] = {
		{ "", "" },
		{ "   \n\n", "" },
		{ "One line\nand another.\n\nA new paragraph.", "One line and another.\nA new paragraph.\n" },
		{ "a\r\nb\r\n\r\nc", "a b\nc\n" },
		{ "a  b\xC2\xA0 c\td", "a b c d\n" },
		{ "中文\n段落", "中文段落\n" },
		{ "한국어\n문단", "한국어 문단\n" },
		{ "a\n<div class=\"x\">\nb</div>c", "a\nb\nc\n" },
		{ "a<br />b<br>c", "a b c\n" },
		{ "a\n----\nb", "a\nb\n" },
		{ "a\n{{unknown block}}\nb", "a\nb\n" },
		{ "a\n<ref>x</ref>\nb", "a b\n" },
		{ "<poem>\nRoses\nand violets\n</poem>", "Roses and violets\n" },
		{ "--\n\n...", "" },
		{ "before\x01\x02\x07 after", "before after\n" },
	};

	(void)state;
	CHECK(.lists = false, cases);
}

static void links_become_their_text(void **state)
{
	static const struct markup cases[] = {
		{ "[[Cat]]s and [[dog|dogs]]", "Cats and dogs\n" },
		{ "[[Cat (animal)|]], [[#Tail|tail]], [[#Paws]]", "Cat, tail, Paws\n" },
		{ "[[Star Trek: The Motion Picture]]", "Star Trek: The Motion Picture\n" },
		{ "[[Category:Cats]]x [[Kategoreja:Kaķi]]y [[:Category:Cats|see]]", "x y see\n" },
		{ "[[fr:Chat]] [[zh-min-nan:x]] [[en:Dog|a]] [[:de:Katze|Katze]]", "Katze\n" },
		{ "A[[File:a.jpg|thumb|A [[cat|big cat]] and {{x|y}} [http://x z]]]B", "AB\n" },
		{ "[[Fails:a.jpg|x]]a [[Bild:b.png|c]]b [[Xyz:c.svg|20px]]c", "a b c\n" },
		{ "[[a|''b'' '''c''']] [[wikt:word]] [[w:Foo|bar]]", "b c word bar\n" },
		{ "[[a|b [c]]] and [[[d]]] and [[e|f]g]]", "b [c] and [d] and f]g\n" },
		{ "[http://example.org/x?a=b the text] [https://example.org] [//example.org t]", "the text t\n" },
		{ "see http://example.org/ and [not a link] and [mailto:a@example.org mail]", "see http://example.org/ and [not a link] and mail\n" },
		{ "[[http://example.org text]]", "text\n" },
		{ "[http://example.org a [http://example.org b] c", "a b c\n" },
	};

	(void)state;
	CHECK(.lists = false, cases);
}

static void emphasis_goes(void **state)
{
	static const struct markup cases[] = {
		{ "''a'' '''b''' '''''c'''''", "a b c\n" },
		{ "L'''amour'' toujours", "L'amour toujours\n" },
		{ "''''four''''", "'four'\n" },
		{ "it's 'so'", "it's 'so'\n" },
		{ "'''a\n''b", "a b\n" },
		{ "<b>a</b> <i class=x>b</i> <u >c</u > <small>d</small>", "a b c d\n" },
		{ "a {{'}}''b''{{'}}", "a 'b'\n" },
	};

	(void)state;
	CHECK(.lists = false, cases);
}

static void characters_and_tags(void **state)
{
	static const struct markup cases[] = {
		{ "&lt;b&gt; &amp; &quot;&eacute;&#8211;&#x2014;&#150;&nbsp;x", "<b> & \"é–—– x\n" },
		{ "&amp;nbsp; &bogus; &#; & a&b", "&nbsp; &bogus; &#; & a&b\n" },
		{ "10<sup>6</sup> km<sup>2</sup> CO<sub>2</sub> Na<sup>+</sup> 4<sup>th</sup> x<sub>i</sub>", "10⁶ km² CO₂ Na⁺ 4th xi\n" },
		{ "<nowiki>[[a]] ''b'' {{c}} <br> # &amp;</nowiki>", "[[a]] ''b'' {{c}} <br> # &\n" },
		{ "a<!-- {{ [[ -->b", "ab\n" },
		{ "a\n<!-- alone -->\nb", "a b\n" },
		{ "a <!-- never closed {{\nb", "a b\n" },
		{ "text<ref>{{cite|[[</ref>, more<ref name=\"x\"/> and on <ref name=y>z</ref>.", "text, more and on.\n" },
		{ "end.<ref>x</ref>Next.", "end. Next.\n" },
		{ "a <ref>never closed <ref>b</ref> c", "a never closed c\n" },
		{ "f(<math>x</math>) and <math>\\alpha \\le 2^{10}</math>, <math>\\sum_{i} \\int x</math>.", "f(x) and α ≤ 2¹⁰.\n" },
		{ "<gallery>\nFile:a.jpg|b\n</gallery>text<pre>code</pre>", "text\n" },
		{ "<source lang=c>int x;</source><syntaxhighlight>y</syntaxhighlight>z", "z\n" },
		{ "<ruby>漢字<rp>(</rp><rt>かんじ</rt><rp>)</rp></ruby>", "漢字\n" },
		{ "1 < 2, a <sic> b, x<y", "1 < 2, a <sic> b, x<y\n" },
		{ "<q>said</q>", "\"said\"\n" },
		{ "__NOTOC__ a __BEZ_SPISU__ a_b __init__", "a a_b __init__\n" },
		{ "<includeonly>no</includeonly><onlyinclude>yes</onlyinclude>", "yes\n" },
	};

	(void)state;
	CHECK(.lists = false, cases);
}

static void holes_are_mended(void **state)
{
	static const struct markup cases[] = {
		{ "'''Albedo''' ({{IPAc-en|æ}}) or ''reflection''", "Albedo or reflection\n" },
		{ "Ada ({{IPA|x}}; born 1900) is", "Ada (born 1900) is\n" },
		{ "Ada (born 1900, {{IPA|x}}) is", "Ada (born 1900) is\n" },
		{ "Ada (IPA: {{IPA|x}}; born 1900) is", "Ada (born 1900) is\n" },
		{ "Ada ({{a}}, {{b}} or {{c}}) is", "Ada is\n" },
		{ "Ada ({{a}} or Eve) is", "Ada (Eve) is\n" },
		{ "in {{a}}, the", "in, the\n" },
		{ "A.{{citation needed}} B {{cn}}.", "A. B.\n" },
		{ "f() and ( x ) and []", "f() and ( x ) and []\n" },
		{ "日本（{{x}}、にほん）は", "日本（にほん）は\n" },
	};

	(void)state;
	CHECK(.lists = false, cases);
}

static void lists_and_sections_are_left_out(void **state)
{
	static const struct markup cases[] = {
		{ "a\n* b\n# c\n; d : e\nf", "a\nf\n" },
		{ "Colours are:\n* red\n\nEnd.", "End.\n" },
		{ "Colours are:\n\nEnd.", "Colours are:\nEnd.\n" },
		{ "Colours are:\n== Warm ==\n* red\n== Cold ==\n* blue", "" },
		{ "== A ==\nColours are:\n== Next ==\n* red\n", "Colours are:\n" },
		{ "a\n: A quotation, indented.\n:''x'' = y\nb", "a\nA quotation, indented.\nb\n" },
		{ ":''For others, see [[B]].''\na", "a\n" },
		{ "a\n<ul><li>b</li></ul>c", "a\nc\n" },
		{ "== H ==\na\n=== I ===\nb", "a\nb\n" },
		{ "a\n== See also ==\nb\n=== c ===\nd\n== Next ==\ne", "a\ne\n" },
		{ "a\n== Einzelnachweise ==\nb", "a\n" },
		{ "a\n=== References ===\nb", "a\nb\n" },
		{ "a = b\n= c\n==", "a = b = c ==\n" },
	};

	(void)state;
	CHECK(.lists = false, cases);
}

static void tables_are_left_out(void **state)
{
	static const struct markup cases[] = {
		{ "a\n{| class=\"x\"\n|-\n! colspan=2 | h\n|-\n| style=\"y\" | b || c\n|}\nd", "a\nd\n" },
		{ "a\n{|\n| b\n{|\n| inner\n|}\n| c\n|}\nd", "a\nd\n" },
		{ "a\n{|\n| never closed\n== H ==\nb", "a\nb\n" },
		{ "{{{!}}\n{{!}} x\n{{!}}}\na", "a\n" },
		{ "a<table><tr><td>b</td></tr></table>c", "a\nc\n" },
		{ "|} a\n| b = c\nd", "d\n" },
	};

	(void)state;
	CHECK(.lists = false, cases);
}

static void what_is_asked_for_stays(void **state)
{
	static const struct markup lists[] = {
		{ "Colours:\n* red\n** dark\n: blue", "Colours:\nred\ndark\nblue\n" },
		{ "<ol><li>a</li><li>b\nc</li></ol>", "a\nb c\n" },
	};
	static const struct markup tables[] = {
		{ "{|\n|+ Cap\n! a !! b\n|-\n| style=\"x\" | c || d\n| e\nf\n|-\n|\n|}", "Cap\na; b\nc; d; e f\n" },
		{ "<table><tr><th>a</th><td>b</td></tr><tr><td>c</td></tr></table>", "a; b\nc\n" },
	};
	static const struct markup headings[] = {
		{ "== A ==\n=== B ===\nx\n=== C ===\n=== D ===\ny\n== Empty ==\n", "A\nB\nx\nD\ny\n" },
		{ "== ''I'' {{x}} ==\nx", "I\nx\n" },
		{ "<h2>A</h2>x", "A\nx\n" },
		{ "== A ==\nThese:\n* a\nx\n== B ==\nThose:\n* b", "A\nx\n" },
		{ "== A ==\n== References ==\nx\n== B ==\ny", "B\ny\n" },
		{ "=== B ===\n== A ==\nx", "A\nx\n" },
		{ "== {{x}} ==\na", "a\n" },
	};

	(void)state;
	CHECK(.lists = true, lists);
	CHECK(.tables = true, tables);
	CHECK(.headings = true, headings);
}

static void broken_markup_is_survived(void **state)
{
	static const struct markup cases[] = {
		{ "{{Infobox\n| a = b\n| c = {{d\n'''Ada''' lived.\n\nNext {{nowrap|day}}.", "Ada lived.\nNext day.\n" },
		{ "a {{b c\n\nd", "a\nd\n" },
		{ "a {{b|c} d", "a d\n" },
		{ "[[File:x.jpg|thumb|caption [[y]]\n\na", "a\n" },
		{ "[[a|b\n\nc", "b\nc\n" },
		{ "[[a [[b]] c", "a b c\n" },
		{ "{{a|[[b}} c", "c\n" },
		{ "a }} b ]] c", "a b c\n" },
		{ "{{{1|default}}} {{{2}}}", "default\n" },
		{ "a <div b\nc", "a <div b c\n" },
		{ "x <ref name=y", "x <ref name=y\n" },
		{ "[[]] [[|]] [[ ]] a", "a\n" },
		{ "{{}} {{|}} a", "a\n" },
	};

	(void)state;
	CHECK(.lists = false, cases);
}

static void variants_of_chinese(void **state)
{
	static const struct markup cases[] = {
		{ "-{zh-hans:计算机;zh-hant:電腦}-", "计算机\n" },
		{ "-{原文}- -{T|标题}--{R|x}-", "原文 x\n" },
		{ "-{never closed", "never closed\n" },
		{ "a-{{nowrap|b}}", "a-b\n" },
	};

	(void)state;
	CHECK(.lists = false, cases);
}

static void nesting_is_bounded(void **state)
{
	struct buf b = BUF_INIT;
	char *text;

	(void)state;
	for (int i = 0; i < 50; i++)
		assert_int_equal(buf_adds(&b, "{{nowrap|"), 0);
	assert_int_equal(buf_adds(&b, "x"), 0);
	for (int i = 0; i < 50; i++)
		assert_int_equal(buf_adds(&b, "}}"), 0);
	text = convert(&(struct wikitext_opts){ 0 }, (struct span){ b.data, b.len });
	assert_string_equal(text, "x\n");
	free(text);
	buf_release(&b);
}

/* Megabytes of whatever might make a converter go over its input again and again: quadratic time would take days. */
static void time_is_linear(void **state)
{
#ifdef __SANITIZE_THREAD__
	enum { BYTES = 200000 };	/* some fifty times as slow */
#else
	enum { BYTES = 2000000 };
#endif
	static const char *const patterns[] = {
		"{{", "[[", "{{a|", "[[a|", "[[File:a|", "[[ ", "{{{", "-{", "-{a|", "}}", "]]", "|", "{{a|b=", "<ref>", "<ref name=a>x", "<math>",
		"<!--", "<", "<div", "<sup>1", "&", "&#", "''", "'''", "[http://a ", "]", "__", "{|\n", "|}\n", "==", "==a==\n", "* a\n",
		"{{nowrap|", "{{lc:", "({{x}}; ", "({{x}})", "{{x}} or ", "a''b'''c ", "{{!}}", "<nowiki>", "<li>", "<td>", " \n", "{{#switch:a|b=c|",
		"<ref><math><pre>", "<!---->", "{{convert|1|to|", "[[a|b\n\n", "[[a]",
	};
	static const char *const opened[][3] = {
		{ "{{nowrap|", "x", "}}" }, { "[[a|", "x", "]]" }, { "{{lc:", "lc:", "}}" }, { "{{", "{{{1|", "}}" }, { "{{{", "x", "}}}" },
		{ "[http://a ", "b", "]" }, { "-{", "x", "}-" }, { "({{x}} ", "( ", ")" }, { "{{a|", "[[", "}}" }, { "[[", "{{", "]]" },
		{ "[[a|", "[ ", "]" }, { "{{", "[ ", "]" }, { "[[a|[ [ [ ", "x", "]]]" },
	};
	const struct wikitext_opts opts = { .lists = true, .tables = true, .headings = true, .count = true };
	const struct itimerval allowed = { .it_value = { .tv_sec = 600 } };	/* of the processor: what others do on the machine does not count */
	struct buf b = BUF_INIT;

	(void)state;
	assert_int_equal(setitimer(ITIMER_VIRTUAL, &allowed, NULL), 0);
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		for (buf_clear(&b); b.len < BYTES;)
			assert_int_equal(buf_adds(&b, patterns[i]), 0);
		free(convert(&opts, (struct span){ b.data, b.len }));
	}
	for (size_t i = 0; i < sizeof(opened) / sizeof(opened[0]); i++) {
		buf_clear(&b);
		for (int part = 0; part < 3; part++)
			for (const size_t before = b.len; b.len < before + BYTES / 3;)
				assert_int_equal(buf_adds(&b, opened[i][part]), 0);
		free(convert(&opts, (struct span){ b.data, b.len }));
	}
	assert_int_equal(setitimer(ITIMER_VIRTUAL, &(struct itimerval){ .it_value = { 0 } }, NULL), 0);
	buf_release(&b);
}

static void what_was_lost_is_counted(void **state)
{
	static const char text[] = "A {{cite|x}} {{ Cite }} {{nowrap|b}}<ref>123</ref>\n* item\n{|\n| cell\n|}\n{{#invoke:Mod|x}}\n== Notes ==\nz";
	struct wikitext_counts counts = { 0 };
	struct buf out = BUF_INIT;
	struct wikitext *w;

	(void)state;
	assert_int_equal(wikitext_new(&w, &(struct wikitext_opts){ .count = true }), 0);
	assert_int_equal(wikitext_convert(w, &site, SPAN("T"), span_of(text), &out, &counts), 0);
	assert_string_equal(out.data, "A b\n");
	assert_string_equal(counts.dropped.data, "cite\ncite\n#invoke:Mod\n");
	assert_int_equal(counts.templates, strlen("{{cite|x}}{{ Cite }}{{#invoke:Mod|x}}"));
	assert_int_equal(counts.references, 3);
	assert_int_equal(counts.lists, 4);
	assert_int_equal(counts.sections, 1);
	assert_int_equal(counts.paragraphs, 1);
	wikitext_free(w);
	buf_release(&out);
	buf_release(&counts.dropped);
}

static void redirects_are_known(void **state)
{
	static const char *const yes[] = { "#REDIRECT [[Cat]]", "#redirect:[[Cat]]", " \n# Redirect [[Cat]]\n{{R from}}", "#WEITERLEITUNG [[Katze]]",
		"#перенаправление [[Кот]]", "#重定向 [[猫]]", "#넘겨주기 [[고양이]]", "#REDIRECCIÓN [[Gato]]", "#YÖNLENDİR [[Kedi]]" };
	static const char *const no[] = { "", "#", "# [[Cat]]", "#Item [[Cat]]", "REDIRECT [[Cat]]", "#REDIRECT Cat", "#REDIRECT [Cat]" };

	(void)state;
	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		if (!wikitext_is_redirect(span_of(yes[i])))
			fail_msg("no redirect: %s", yes[i]);
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		if (wikitext_is_redirect(span_of(no[i])))
			fail_msg("a redirect: %s", no[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paragraphs_are_joined),
		cmocka_unit_test(links_become_their_text),
		cmocka_unit_test(emphasis_goes),
		cmocka_unit_test(characters_and_tags),
		cmocka_unit_test(holes_are_mended),
		cmocka_unit_test(lists_and_sections_are_left_out),
		cmocka_unit_test(tables_are_left_out),
		cmocka_unit_test(what_is_asked_for_stays),
		cmocka_unit_test(broken_markup_is_survived),
		cmocka_unit_test(variants_of_chinese),
		cmocka_unit_test(nesting_is_bounded),
		cmocka_unit_test(time_is_linear),
		cmocka_unit_test(what_was_lost_is_counted),
		cmocka_unit_test(redirects_are_known),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
