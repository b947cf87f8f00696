#include "corpus/wiki_template.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

static int compare_known(const void *key, const void *item)
{
	return strcmp(key, ((const struct wiki_known *)item)->name);
}

static const struct wiki_known *known(const char *name)
{
	return bsearch(name, wiki_known, wiki_n_known, sizeof(wiki_known[0]), compare_known);
}

/* "fr:date" first, then "date". */
static const struct wiki_known *known_here(const struct wikitext *w, const char *name)
{
	char local[sizeof(w->site->lang) + WIKI_NAME_MAX + 2];
	const struct wiki_known *k = NULL;

	if (w->site->lang[0]) {
		snprintf(local, sizeof(local), "%s:%s", w->site->lang, name);
		k = known(local);
	}
	return k ? k : known(name);
}

/* {{lang-fr|texte}}: "French: texte" on an English wiki, the text alone elsewhere. */
static int language_text(const struct wikitext *w, struct span code, struct span text, struct buf *b)
{
	const char *name = w->english ? wiki_language_name(code) : NULL;

	if (!text.len)
		return 1;
	if (name && buf_addf(b, "%s: ", name))
		return -1;
	return buf_add(b, text.text, text.len);
}

/* Families of names: {{lang-fr|...}}, {{script/Hebrew|...}}, {{link-en|...}}. 2 when NAME is in none. */
static int family(const struct wikitext *w, struct span name, const struct wiki_args *a, struct buf *b)
{
	if (span_is(name, "langx"))
		return language_text(w, wiki_arg(a, 1), wiki_arg(a, 2), b);
	if (span_starts(name, "lang-")) {
		struct span code = span_skip(name, 5);

		if (span_starts(span_skip(code, span_find(code, '-')), "-short"))
			return language_text(w, SPAN(""), wiki_arg(a, 1), b);
		code.len = span_find(code, '-');
		return language_text(w, code, wiki_arg(a, 1), b);
	}
	if (span_starts(name, "script/") || span_starts(name, "link-") || span_starts(name, "internal link helper/"))
		return wiki_format("$1", a, b);
	return 2;
}

/* A French {{1er}}, {{XXe siècle}}: a number that is its own name (but {{Le Monde}} is a newspaper). */
static bool is_numeral(const struct wikitext *w, struct span name)
{
	size_t n = 0;

	if (strcmp(w->site->lang, "fr"))
		return false;
	while (n < name.len && strchr("0123456789IVXLC", name.text[n]) && name.text[n])
		n++;
	if (!n)
		return false;
	name = span_skip(name, n);
	if (!span_starts(name, "e") && !span_starts(name, "re"))
		return false;
	while (name.len && (name.text[0] == 'e' || name.text[0] == 'r'))
		name = span_skip(name, 1);
	return !name.len || (name.len > 1 && name.text[0] == ' ' && islower((unsigned char)name.text[1]));
}

/* What stands before a template's own name: a namespace, "subst:". */
static struct span own_name(const struct wikitext *w, struct span name)
{
	static const char *const modifiers[] = { "subst:", "safesubst:", "msg:", "raw:" };
	size_t prefix;

	for (size_t i = 0; i < sizeof(modifiers) / sizeof(modifiers[0]); i++)
		if (span_starts_nocase(name, modifiers[i]))
			name = span_trim(span_skip(name, strlen(modifiers[i])));
	if (wiki_site_namespace(w->site, name, &prefix) == NS_TEMPLATE)
		name = span_trim(span_skip(name, prefix));
	return name;
}

static int drop(struct wikitext *w, const char *name)
{
	if (w->opts.count && (buf_adds(&w->counts->dropped, name) || buf_add_byte(&w->counts->dropped, '\n')))
		return -1;
	return 1;
}

static bool has_mark(struct span s)
{
	for (size_t i = 0; i < s.len; i++)
		if ((unsigned char)s.text[i] < ' ' && s.text[i] != '\n' && s.text[i] != '\t')
			return true;
	return false;
}

int wiki_template(struct wikitext *w, const struct wiki_args *a, struct buf *b)
{
	const struct span name = own_name(w, wiki_part_text(a, 0));
	char folded[WIKI_NAME_MAX + 1];
	const struct wiki_known *k;
	const char *format;
	size_t n;
	int rc = wiki_function(w, name, a, b);

	if (rc != 2)
		return rc;
	n = has_mark(name) ? 0 : wiki_fold(name, folded, WIKI_NAME_MAX);
	folded[n] = 0;
	if (!n || strlen(folded) != n)
		return 1;
	format = wiki_formats_get(w->opts.formats, folded, n);
	if (format)
		return *format ? wiki_format(format, a, b) : drop(w, folded);
	if (is_numeral(w, name))
		return buf_add(b, name.text, name.len);
	k = known_here(w, folded);
	rc = k ? (k->render ? k->render(w, k->format, a, b) : wiki_format(k->format, a, b))
	       : family(w, (struct span){ folded, n }, a, b);
	return rc == 2 ? drop(w, folded) : rc;
}

int wiki_parameter(const struct wiki_args *a, struct buf *b)
{
	const struct span value = wiki_part_text(a, 1);

	if (!value.len)
		return 1;
	return buf_add(b, value.text, value.len);
}
