/*
 * Parser functions and variables: {{#if:...}}, {{lc:...}}, {{PAGENAME}}. What
 * depends on the clock, on other pages or on programs is nothing.
 */
#include "corpus/wiki_template.h"

#include "base/utf8.h"

#include <stdlib.h>
#include <utf8proc.h>

#define NAME_MAX_LEN 24

/* VALUE is what stands behind the colon; further parts are A's. */
typedef int function(struct wikitext *w, struct span value, const struct wiki_args *a, struct buf *b);

struct known_function {
	const char *name;
	function *run;		/* NULL: stands for nothing, and no word is lost by that */
};

/* A text without anything to see: white space and holes. */
static bool is_empty(struct span s)
{
	for (size_t i = 0; i < s.len; i++)
		if (s.text[i] != MARK_HOLE && !span_is_space(s.text[i]))
			return false;
	return true;
}

static int put(struct span s, struct buf *b)
{
	return is_empty(s) ? 1 : buf_add(b, s.text, s.len);
}

static int run_value(struct wikitext *w, struct span value, const struct wiki_args *a, struct buf *b)
{
	(void)w;
	(void)a;
	return put(value, b);
}

static int run_first(struct wikitext *w, struct span value, const struct wiki_args *a, struct buf *b)
{
	(void)w;
	(void)value;
	return put(wiki_part_text(a, 1), b);
}

static int run_if(struct wikitext *w, struct span value, const struct wiki_args *a, struct buf *b)
{
	(void)w;
	return put(wiki_part_text(a, is_empty(value) ? 2 : 1), b);
}

static int run_ifeq(struct wikitext *w, struct span value, const struct wiki_args *a, struct buf *b)
{
	const struct span other = wiki_part_text(a, 1);
	const bool equal = value.len == other.len && !memcmp(value.text, other.text, value.len);

	(void)w;
	return put(wiki_part_text(a, equal ? 2 : 3), b);
}

/* {{#switch: v | a | b = text for both | #default = text}} */
static int run_switch(struct wikitext *w, struct span value, const struct wiki_args *a, struct buf *b)
{
	struct span otherwise = SPAN("");
	bool matched = false, is_default = false;

	(void)w;
	for (size_t i = 1; i < a->n; i++) {
		const struct span part = wiki_part_text(a, i);
		const size_t equals = a->parts[i].equals;
		struct span key = part, text = SPAN("");

		if (equals) {
			const struct span raw = { a->text + a->parts[i].start, equals - a->parts[i].start };
			const size_t end = i + 1 < a->n ? a->parts[i + 1].start - 1 : a->end;

			key = span_trim(raw);
			text = span_trim((struct span){ a->text + equals + 1, end - equals - 1 });
		}
		matched |= key.len == value.len && !memcmp(key.text, value.text, key.len);
		is_default |= span_is(key, "#default");
		if (equals && matched)
			return put(text, b);
		if (equals && is_default)
			otherwise = text;
		if (!equals && i + 1 == a->n)
			otherwise = part;
		if (equals)
			is_default = false;
	}
	return put(otherwise, b);
}

static int put_cased(struct span s, bool upper, bool first_alone, struct buf *b)
{
	const char *p = s.text, *const end = s.text + s.len;

	for (bool first = true; p < end; first = false) {
		char out[UTF8_MAX];
		unsigned size;
		uint32_t c = utf8_decode(p, (size_t)(end - p), &size, NULL);

		if (first || !first_alone)
			c = (uint32_t)(upper ? utf8proc_toupper((utf8proc_int32_t)c) : utf8proc_tolower((utf8proc_int32_t)c));
		if (buf_add(b, out, utf8_write(c, out)))
			return -1;
		p += size;
	}
	return 0;
}

static int run_lc(struct wikitext *w, struct span value, const struct wiki_args *a, struct buf *b)
{
	(void)w;
	(void)a;
	return put_cased(value, false, false, b);
}

static int run_lcfirst(struct wikitext *w, struct span value, const struct wiki_args *a, struct buf *b)
{
	(void)w;
	(void)a;
	return put_cased(value, false, true, b);
}

static int run_uc(struct wikitext *w, struct span value, const struct wiki_args *a, struct buf *b)
{
	(void)w;
	(void)a;
	return put_cased(value, true, false, b);
}

static int run_ucfirst(struct wikitext *w, struct span value, const struct wiki_args *a, struct buf *b)
{
	(void)w;
	(void)a;
	return put_cased(value, true, true, b);
}

/* {{formatnum:1234567}} groups digits; with |R it takes the groups away. */
static int run_formatnum(struct wikitext *w, struct span value, const struct wiki_args *a, struct buf *b)
{
	const struct span how = wiki_part_text(a, 1);

	if (!value.len)
		return 1;
	if (!how.len)
		return wiki_format_number(w, value, b);
	for (size_t i = 0; i < value.len; i++)
		if (value.text[i] != ',' && buf_add_byte(b, (unsigned char)value.text[i]))
			return -1;
	return 0;
}

static int run_plural(struct wikitext *w, struct span value, const struct wiki_args *a, struct buf *b)
{
	(void)w;
	return put(wiki_part_text(a, span_is(value, "1") || a->n < 3 ? 1 : 2), b);
}

static int run_title(struct wikitext *w, struct span value, const struct wiki_args *a, struct buf *b)
{
	(void)value;
	(void)a;
	return put(w->title, b);
}

static int run_site(struct wikitext *w, struct span value, const struct wiki_args *a, struct buf *b)
{
	(void)value;
	(void)a;
	return put((struct span){ w->site->name.data, w->site->name.len }, b);
}

/* Sorted; names in lower case. */
static const struct known_function functions[] = {
	{ "#dateformat", run_value }, { "#formatdate", run_value }, { "#if", run_if }, { "#ifeq", run_ifeq },
	{ "#iferror", run_value }, { "#ifexist", run_first }, { "#switch", run_switch },
	{ "basepagename", run_title }, { "defaultsort", NULL }, { "displaytitle", NULL }, { "formatnum", run_formatnum },
	{ "fullpagename", run_title }, { "gender", run_first }, { "grammar", run_first }, { "lc", run_lc },
	{ "lcfirst", run_lcfirst }, { "padleft", run_value }, { "padright", run_value }, { "pagename", run_title },
	{ "plural", run_plural }, { "rootpagename", run_title }, { "sitename", run_site }, { "sortierung", NULL },
	{ "subpagename", run_title }, { "uc", run_uc }, { "ucfirst", run_ucfirst },
};

static int compare_function(const void *key, const void *item)
{
	return strcmp(key, ((const struct known_function *)item)->name);
}

static const struct known_function *find_function(struct span name)
{
	char lower[NAME_MAX_LEN + 1];

	if (!name.len || name.len > NAME_MAX_LEN)
		return NULL;
	for (size_t i = 0; i < name.len; i++)
		lower[i] = (char)(name.text[i] >= 'A' && name.text[i] <= 'Z' ? name.text[i] | 0x20 : name.text[i]);
	lower[name.len] = 0;
	return bsearch(lower, functions, sizeof(functions) / sizeof(functions[0]), sizeof(functions[0]), compare_function);
}

static int note(struct wikitext *w, struct span name)
{
	if (!w->opts.count)
		return 1;
	for (size_t i = 0; i < name.len; i++)
		if ((unsigned char)name.text[i] < ' ')
			name.len = i;
	return buf_add(&w->counts->dropped, name.text, name.len) || buf_add_byte(&w->counts->dropped, '\n') ? -1 : 1;
}

/* A variable, which has no colon: {{PAGENAME}}, all upper case so that it is no template. */
static int variable(struct wikitext *w, struct span name, const struct wiki_args *a, struct buf *b)
{
	const struct known_function *f;

	if (span_starts(name, "CURRENT") || span_starts(name, "LOCAL") || span_starts(name, "NUMBEROF") || span_starts(name, "REVISION"))
		return 1;
	f = name.text[0] >= 'A' && name.text[0] <= 'Z' && name.len > 6 && name.text[1] <= 'Z' ? find_function(name) : NULL;
	return f && f->run ? f->run(w, SPAN(""), a, b) : 2;
}

int wiki_function(struct wikitext *w, struct span name, const struct wiki_args *a, struct buf *b)
{
	const struct span head = { name.text, name.len < NAME_MAX_LEN + 1 ? name.len : NAME_MAX_LEN + 1 };
	const size_t colon = span_find(head, ':');
	const struct known_function *f;

	if (!name.len)
		return 1;
	if (colon == head.len)
		return variable(w, name, a, b);
	f = find_function((struct span){ name.text, colon });
	if (f)
		return f->run ? f->run(w, span_trim(span_skip(name, colon + 1)), a, b) : 1;
	if (name.text[0] != '#')
		return 2;
	/* "#invoke:module" tells more than "#invoke" */
	return note(w, span_starts_nocase(name, "#invoke:") && name.len < WIKI_NAME_MAX ? name : (struct span){ name.text, colon + 1 });
}
