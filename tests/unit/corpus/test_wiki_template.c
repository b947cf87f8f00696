#include "corpus/wiki_template.h"

#include "base/err.h"
#include "corpus/wikitext.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct rendering {
	const char *wikitext, *text;
};

static char *convert(const char *lang, const struct wiki_formats *formats, const char *text)
{
	struct wikitext_counts counts = { 0 };
	struct wiki_site site;
	struct buf out = BUF_INIT;
	struct wikitext *w;

	assert_int_equal(wiki_site_init(&site), 0);
	wiki_site_set_lang(&site, lang);
	assert_int_equal(buf_adds(&site.name, "Wikipedia"), 0);
	assert_int_equal(wikitext_new(&w, &(struct wikitext_opts){ .formats = formats }), 0);
	assert_int_equal(wikitext_convert(w, &site, SPAN("The Title"), span_of(text), &out, &counts), 0);
	while (out.len && out.data[out.len - 1] == '\n')
		out.data[--out.len] = 0;
	assert_int_equal(buf_add(&out, "", 0), 0);
	wikitext_free(w);
	wiki_site_release(&site);
	return out.data;
}

static void check(const char *lang, const struct wiki_formats *formats, const struct rendering *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char *text = convert(lang, formats, cases[i].wikitext);

		if (strcmp(text, cases[i].text))
			fail_msg("%s\nbecame\n%s\nnot\n%s", cases[i].wikitext, text, cases[i].text);
		free(text);
	}
}
#define CHECK(lang, formats, cases) check(lang, formats, cases, sizeof(cases) / sizeof((cases)[0]))

static void the_table_is_sorted(void **state)
{
	(void)state;
	for (size_t i = 1; i < wiki_n_known; i++)
		if (strcmp(wiki_known[i - 1].name, wiki_known[i].name) >= 0)
			fail_msg("'%s' stands before '%s'", wiki_known[i - 1].name, wiki_known[i].name);
	assert_string_equal(wiki_language_name(SPAN("fr")), "French");
	assert_string_equal(wiki_language_name(SPAN("grc")), "Ancient Greek");
	assert_null(wiki_language_name(SPAN("xx")));
}

/* Every format of the table can be put out, with no argument and with ten. */
static void every_entry_renders(void **state)
{
	struct buf b = BUF_INIT;

	(void)state;
	for (size_t i = 0; i < wiki_n_known; i++) {
		const char *name = wiki_known[i].name, *colon = strchr(name + 1, ':');
		const bool local = colon && colon - name == 2;

		buf_clear(&b);
		assert_int_equal(buf_addf(&b, "a {{%s}} b {{%s|1|2|3|4|5|6|7|8|9|x=y}} c", name + 3 * local, name + 3 * local), 0);
		free(convert(local ? (char[3]){ name[0], name[1] } : "en", NULL, b.data));
	}
	buf_release(&b);
}

static void values_survive(void **state)
{
	static const struct rendering cases[] = {
		{ "{{convert|10|km|mi|abbr=on}} and {{cvt|1,234.5|sqmi}}", "10 km and 1,234.5 sq mi" },
		{ "{{convert|6|ft|2|in|m}}, {{convert|10|to|20|C|F}}, {{convert|5|x|6|m}}", "6 ft 2 in, 10 to 20 °C, 5 by 6 m" },
		{ "{{Convert|2381741|km2|sqmi|0}}, {{convert|1+1/2|acre|ha}}, {{convert|22|e6acre}}", "2,381,741 km², 1 1/2 acres, 22 million acres" },
		{ "{{convert|-27|°F}} {{convert|3|-|5|kn}} {{convert|x|y}} {{convert}}", "-27 °F 3–5 knots" },
		{ "{{formatnum:1234567.25}} {{formatnum:-1000}} {{formatnum:1,234|R}} {{formatnum:x}}", "1,234,567.25 -1,000 1234 x" },
		{ "{{val|1.5|0.2|e=6|u=kg}} {{val|6000}} {{val|1|2|3}} {{val|e=5}}", "1.5±0.2×10⁶ kg 6,000 1+2−3 10⁵" },
		{ "{{frac|2}} {{frac|3|4}} {{frac|1|3|4}} {{sfrac|a|b}}", "1/2 3/4 1 3/4 a/b" },
		{ "{{height|ft=6|in=1}} {{height|m=1.85}} {{ordinal|1}} {{ordinal|12}} {{ordinal|23}}", "6 ft 1 in 1.85 m 1st 12th 23rd" },
		{ "{{chem|NH|4|+}} {{chem|SO|4|2−}} {{chem2|CO2}} {{10^|6}} 5{{e|3}}", "NH₄⁺ SO₄²⁻ CO2 10⁶ 5×10³" },
		{ "{{pop density|3,645,257|640,081.87|km2|sqmi}} {{pop density|x|0|km2}}", "5.7/km²" },
		{ "{{US$|5 million}} {{€|3}} {{GBP|2}} {{INR|7}}", "US$5 million €3 £2 ₹7" },
		{ "{{nts|1,000}} {{sort|k|shown}} {{sortname|Ada|Lovelace}} {{gaps|1|234|567}}", "1,000 shown Ada Lovelace 1234567" },
	};

	(void)state;
	CHECK("en", NULL, cases);
}

static void dates_survive(void **state)
{
	static const struct rendering english[] = {
		{ "{{birth date and age|1990|1|2}}, {{birth date|1990|1|2|df=y}}, {{start date|2001|5}}", "January 2, 1990, 2 January 1990, May 2001" },
		{ "{{death date and age|2000|1|2|1920|3|4}}", "January 2, 2000 (aged 79)" },
		{ "{{birth date|12 May 1900}}, {{birth-date|c. 1901}}, {{birth year and age|1980}}", "12 May 1900, c. 1901, 1980" },
		{ "{{as of|2010|3|12}}; {{as of|2010|lc=y}}; {{as of|2010|alt=then}}; {{as of|May 2010}}; {{as of|2010|Mar}}",
		  "As of 12 March 2010; as of 2010; then; As of May 2010; As of March 2010" },
		{ "{{circa|1900}}, {{c.|1900|1910}}, {{fl.|1850}}, {{age|1900|1|2|1950|1|1}}", "c. 1900, c. 1900 – c. 1910, fl. 1850, 49" },
		{ "{{birth date|99999|99|99}}, {{birth date|1990|13|40}}", "99999, 1990" },
	};
	static const struct rendering german[] = { { "{{birth date|1990|1|2}}", "1990-01-02" } };

	(void)state;
	CHECK("en", NULL, english);
	CHECK("de", NULL, german);
}

static void words_survive(void **state)
{
	static const struct rendering cases[] = {
		{ "{{lang|fr|texte}}, {{lang-fr|texte}}, {{langx|de|Wort}}, {{lang-xx|w}} {{lang-fr}}", "texte, French: texte, German: Wort, w" },
		{ "{{transl|ar|ALA|al-kitāb}}, {{nihongo|Fuji|富士|ふじ}}, {{nihongo|Fuji||Fuji-san}}", "al-kitāb, Fuji (富士, ふじ), Fuji (Fuji-san)" },
		{ "{{Nowrap| a b }} {{small|c}} {{abbr|UK|United Kingdom}} {{color|red|d}}", "a b c UK d" },
		{ "{{ill|Ada|fr}} {{ill|Ada|fr|lt=Eve}} {{sic}} {{sic|teh}} {{not a typo|a|b}}", "Ada Eve [sic] teh [sic] ab" },
		{ "a{{ndash}}b{{snd}}c{{mdash}}d{{=}}e {{(}}f{{)}} {{nbsp}}g", "a–b – c—d=e {f} g" },
		{ "{{HMS|Victory|1765}}, {{USS|Nimitz|CVN-68|6}}, {{SS|Great Britain}}, {{HMS|Hood||2}}, {{sclass|Iowa|battleship}}",
		  "HMS Victory (1765), Nimitz, SS Great Britain, HMS Hood, Iowa-class battleship" },
		{ "{{harvtxt|Smith|Jones|2000}} says", "Smith and Jones (2000) says" },
		{ "{{quote|What he said.|author}}", "What he said." },
		{ "a {{Template:nowrap|b}} {{subst:nowrap|c}} {{template:_nowrap |d}}", "a b c d" },
		{ "{{script/Hebrew|א}} {{bibleverse||John|3:16}} {{IPA|x}} {{cite web|y}}z", "א John 3:16 z" },
		{ "{{nowrap|1=a=b}} {{nowrap|1=a|1=c}} {{nowrap|x|1=y}}", "a=b c y" },
		{ "{{nowrap|[[a|b]] {{nowrap|c|d}}}}", "b c" },
	};
	static const struct rendering french[] = {
		{ "{{unité|1000|km|2}}, {{s|XIX}}, {{date|1|mai|1900}}, {{1er}} {{XXe siècle}}, {{langue|de|Wort}}", "1000 km², XIXe siècle, 1 mai 1900, 1er XXe siècle, Wort" },
		{ "{{lang-fr|texte}} {{formatnum:1234567.5}}", "texte 1 234 567,5" },
		{ "{{Le Monde}} {{Ce}} {{1er janvier}} a", "Ce 1er janvier a" },
	};

	(void)state;
	CHECK("en", NULL, cases);
	CHECK("fr", NULL, french);
}

static void functions_run(void **state)
{
	static const struct rendering cases[] = {
		{ "{{#if: x | yes | no}} {{#if: | yes | no}} {{#if:{{unknown}}|yes|no}}", "yes no no" },
		{ "{{#ifeq: a | a | same | other}} {{#ifeq:a|b|same|other}}", "same other" },
		{ "{{#switch: b | a = 1 | b | c = 2 | 3}} {{#switch:x|a=1|#default=4}} {{#switch:y|a=1|5}}", "2 4 5" },
		{ "{{lc:ÀB}} {{uc:ab}} {{lcfirst:AB}} {{ucfirst:ab}} {{LC:X}}", "àb AB aB Ab x" },
		{ "{{PAGENAME}} {{FULLPAGENAME}} {{SITENAME}} {{pagename|x}}", "The Title The Title Wikipedia x" },
		{ "{{DEFAULTSORT:x}}{{CURRENTYEAR}}{{NUMBEROFARTICLES}}{{#time:Y}}{{#invoke:a|b}}{{#expr:1+1}}z", "z" },
		{ "{{plural:1|item|items}} {{plural:2|item|items}} {{#dateformat:1 May|mdy}}", "item items 1 May" },
		{ "{{User:Ada/x}} {{:Main Page}} a", "a" },
	};

	(void)state;
	CHECK("en", NULL, cases);
}

static void users_have_the_last_word(void **state)
{
	static const char *const specs[] = { "my template=$1[ and $2]", "Nowrap=", "choice=${x|2|1}", "join=${1,2,3}", "up=$^1$_2", "last=$-", "all=$*",
		"escaped=\\$1 \\[x\\]", "two=\\n$1\\n", "literal=just this" };
	static const struct rendering cases[] = {
		{ "{{my_template|a|b}}, {{My template|c}}", "a and b, c" },
		{ "a {{nowrap|b}}", "a" },
		{ "{{choice|a|b|x=c}} {{choice|a|b}} {{choice|a}}", "c b a" },
		{ "{{join|a||c}} {{up|2|3}} {{last|a|b|x=c}} {{all|a|b}}", "a, c ²₃ b ab" },
		{ "{{escaped|a}} {{literal}}", "$1 [x] just this" },
		{ "a{{two|b}}c", "a\nb\nc" },
	};
	struct wiki_formats *formats;

	(void)state;
	assert_int_equal(wiki_formats_new(&formats, specs, sizeof(specs) / sizeof(specs[0])), 0);
	CHECK("en", formats, cases);
	wiki_formats_free(formats);
}

static void formats_are_checked(void **state)
{
	static const char *const bad[] = { "name", "=x", " =x", "a=$", "a=$x", "a=${1", "a=[x", "a=x]", "a=[[x]]", "a=\\" };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct wiki_formats *formats;

		if (!wiki_formats_new(&formats, &bad[i], 1))
			fail_msg("accepted: %s", bad[i]);
		assert_int_equal(err_code(), EXIT_USAGE);
		wiki_formats_free(formats);
	}
	wiki_formats_free(NULL);
}

/* A format that doubles its argument, nested, would grow without end. */
static void growth_is_bounded(void **state)
{
	static const char *const specs[] = { "twice=$1$1" };
	struct wiki_formats *formats;
	struct buf b = BUF_INIT;
	char *text;

	(void)state;
	assert_int_equal(wiki_formats_new(&formats, specs, 1), 0);
	for (int i = 0; i < 60; i++)
		assert_int_equal(buf_adds(&b, "{{twice|"), 0);
	assert_int_equal(buf_adds(&b, "xxxxxxxx"), 0);
	for (int i = 0; i < 60; i++)
		assert_int_equal(buf_adds(&b, "}}"), 0);
	text = convert("en", formats, b.data);
	assert_true(strlen(text) < 100 * b.len);
	free(text);
	wiki_formats_free(formats);
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_table_is_sorted),
		cmocka_unit_test(every_entry_renders),
		cmocka_unit_test(values_survive),
		cmocka_unit_test(dates_survive),
		cmocka_unit_test(words_survive),
		cmocka_unit_test(functions_run),
		cmocka_unit_test(users_have_the_last_word),
		cmocka_unit_test(formats_are_checked),
		cmocka_unit_test(growth_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
