/*
 * First pass: brackets. One walk over the page with a stack of what is open.
 * The text of a bracket collects in w->resolved; when it closes, that text is cut
 * off and what it stands for is put in its place. So inner brackets are resolved
 * before outer ones, and nothing is read twice but what a template passes on,
 * at most DEPTH_MAX times.
 */
#include "corpus/wiki_impl.h"

#include "base/err.h"
#include "base/utf8.h"
#include "corpus/entity.h"
#include "corpus/wiki_template.h"

#include <ctype.h>

#define DEPTH_MAX 64	/* brackets nested more deeply than any page needs are dropped */
#define USES_MAX 64	/* so are runs of braces closed more often than this */
#define GROWTH_MAX 16	/* and templates whose text is longer than so many times their source */
#define GROWTH_LEAST 256
#define RESOLVED_MAX ((size_t)2 << 30)

enum { NONE, BRACES, LINK, VARIANT, KINDS };

enum { IN_NONE = 1 << NONE, IN_BRACES = 1 << BRACES, IN_LINK = 1 << LINK, IN_VARIANT = 1 << VARIANT, IN_ALL = 15 };

/* Where the walk stops, by the innermost open bracket. */
static const unsigned char stops[256] = {
	[0x00 ... 0x08] = IN_ALL, [0x0B ... 0x1F] = IN_ALL, [0x7F] = IN_ALL,
	['<'] = IN_ALL, ['{'] = IN_ALL, ['['] = IN_ALL,
	['}'] = IN_ALL & ~IN_NONE, [']'] = IN_ALL & ~IN_NONE, ['|'] = IN_ALL & ~IN_NONE,
	['='] = IN_BRACES, ['\n'] = IN_LINK,
};

int wiki_put_raw(struct buf *b, struct span s)
{
	while (s.len) {
		const unsigned char c = (unsigned char)s.text[0];
		char text[UTF8_MAX] = { c == '\n' ? ' ' : (char)c };
		unsigned n = 1;
		size_t size = 1;
		const uint32_t cp = c == '&' ? entity_decode(s, &size) : 0;

		if (cp)
			n = utf8_write(cp, text);
		s = span_skip(s, cp ? size : 1);
		if ((unsigned char)text[0] < ' ' && text[0] != '\t')
			continue;
		if (ispunct((unsigned char)text[0]) && wiki_put_byte(b, MARK_RAW))
			return -1;
		if (wiki_put(b, text, n))
			return -1;
	}
	return 0;
}

static struct wiki_open *top(struct wikitext *w)
{
	return w->n_open ? &w->open[w->n_open - 1] : NULL;
}

/* How many C stand in a row at the walk's place. */
static size_t run_of(const struct wikitext *w, char c)
{
	size_t n = 0;

	while (w->at + n < w->page.len && w->page.text[w->at + n] == c)
		n++;
	return n;
}

static int begin_part(struct wikitext *w)
{
	if (array_grow(&w->parts, &w->cap_parts, w->n_parts + 1, sizeof(*w->parts)))
		return -1;
	w->parts[w->n_parts++] = (struct wiki_part){ (uint32_t)w->resolved.len, 0 };
	return 0;
}

static int push(struct wikitext *w, uint8_t kind, size_t braces)
{
	const struct wiki_open *below = top(w);
	struct wiki_open o = {
		.kind = kind,
		.braces = (uint32_t)braces,
		.mark = (uint32_t)w->resolved.len,
		.first_part = (uint32_t)w->n_parts,
		.source = w->at,
		.deep = w->n_open >= DEPTH_MAX,
	};

	if (kind != BRACES && below) {
		o.links = below->links;
		o.variants = below->variants;
	}
	o.links += kind == LINK;
	o.variants += kind == VARIANT;
	w->n_templates += kind == BRACES;
	if (wiki_put_byte(&w->resolved, kind == LINK ? MARK_LINK : MARK_OPEN) || begin_part(w))
		return -1;
	if (array_grow(&w->open, &w->cap_open, w->n_open + 1, sizeof(*w->open)))
		return -1;
	w->open[w->n_open++] = o;
	return 0;
}

static void pop(struct wikitext *w)
{
	const struct wiki_open *o = top(w);

	w->n_parts = o->first_part;
	w->n_templates -= o->kind == BRACES;
	w->n_open--;
}

/* Enough of the innermost link's target to know a file by; never more, for time's sake. */
static struct span target_of(const struct wikitext *w, const struct wiki_open *o)
{
	const size_t start = w->parts[o->first_part].start, len = w->resolved.len - start;

	return (struct span){ w->resolved.data + start, len < 2 * WIKI_NAME_MAX ? len : 2 * WIKI_NAME_MAX };
}

static struct wiki_args args_of(const struct wikitext *w, const struct wiki_open *o)
{
	return (struct wiki_args){
		.text = w->resolved.data,
		.parts = w->parts + o->first_part,
		.n = w->n_parts - o->first_part,
		.end = w->resolved.len,
	};
}

/* Gives up the innermost bracket, which is no template: its text stays; a file's, which is none, goes. */
static void abandon(struct wikitext *w)
{
	const struct wiki_open *o = top(w);

	if (o->kind == LINK && w->n_parts - o->first_part > 1 && wiki_link_is_file(w, target_of(w, o))) {
		w->resolved.len = o->mark + 1;
		w->resolved.data[o->mark] = MARK_HOLE;
	} else if (o->kind == VARIANT) {
		w->resolved.data[o->mark] = MARK_HOLE;
	}
	pop(w);
}

/* Makes an open bracket of KIND the innermost by giving up those within; false when there is none, or a '{{' keeps it in. */
static bool surface(struct wikitext *w, uint8_t kind)
{
	const struct wiki_open *o = top(w);

	if (!o || (kind == BRACES ? !w->n_templates : kind == LINK ? !o->links : !o->variants))
		return false;
	while (top(w)->kind != kind)
		abandon(w);
	return true;
}

/* Puts w->rendered, or a hole, in the place of what was resolved from START on. */
static int replace(struct wikitext *w, size_t start, bool hole)
{
	w->resolved.len = start;
	if (hole)
		return wiki_put_byte(&w->resolved, MARK_HOLE);
	return wiki_put_span(&w->resolved, (struct span){ w->rendered.data, w->rendered.len });
}

/* Renders the innermost run's text as TAKE (2 or 3) braces want it into w->rendered: 1 when that is nothing. */
static int render_braces(struct wikitext *w, unsigned take)
{
	const struct wiki_open *o = top(w);
	const struct wiki_args a = args_of(w, o);
	const size_t source = w->at + take - o->source;
	int hole = 1;

	buf_clear(&w->rendered);
	if (!o->deep && o->uses < USES_MAX)
		hole = take == 3 ? wiki_parameter(&a, &w->rendered) : wiki_template(w, &a, &w->rendered);
	if (!hole && w->rendered.len > GROWTH_MAX * source + GROWTH_LEAST)
		hole = 1;
	if (hole == 1 && w->opts.count && w->n_templates == 1 && o->braces < take + 2)	/* once for a run closed in parts */
		w->counts->templates += utf8_count(w->page.text + o->source, source);
	return hole;
}

static int close_braces(struct wikitext *w, unsigned take)
{
	struct wiki_open *o = top(w);
	const int hole = render_braces(w, take);
	size_t start = o->mark;

	if (hole < 0)
		return -1;
	w->at += take;
	o->braces -= take;
	o->uses += o->uses < USES_MAX;
	if (o->braces == 1)		/* a plain '{' before it: "{{{!}}" opens a table */
		w->resolved.data[start] = '{';
	if (replace(w, start + (o->braces > 0), hole))
		return -1;
	if (o->braces < 2) {
		pop(w);
		return 0;
	}
	w->n_parts = o->first_part + 1;
	w->parts[o->first_part].equals = 0;
	return 0;
}

static int on_close_brace(struct wikitext *w)
{
	size_t run = run_of(w, '}');

	if (run == 1 && w->at + 1 < w->page.len && w->page.text[w->at + 1] == '-' && surface(w, VARIANT)) {
		const struct wiki_args a = args_of(w, top(w));
		int hole;

		buf_clear(&w->rendered);
		hole = top(w)->deep ? 1 : wiki_variant(&a, &w->rendered);
		w->at += 2;
		if (hole < 0 || replace(w, top(w)->mark, hole))
			return -1;
		pop(w);
		return 0;
	}
	while (run >= 2 && surface(w, BRACES)) {
		const size_t most = top(w)->braces;
		const unsigned take = run >= 3 && most >= 3 ? 3 : 2;

		if (close_braces(w, take))
			return -1;
		run -= take;
	}
	if (!run)
		return 0;
	w->at += run;
	return wiki_put(&w->resolved, w->page.text + w->at - run, run);
}

static int on_open_brace(struct wikitext *w)
{
	const size_t run = run_of(w, '{');
	struct buf *b = &w->resolved;
	const bool dash = b->len && b->data[b->len - 1] == '-' && !(b->len > 1 && b->data[b->len - 2] == MARK_RAW);

	if (run == 1 && dash) {
		b->len--;
		if (push(w, VARIANT, 0))
			return -1;
	} else if (run == 1) {
		if (wiki_put_byte(b, '{'))
			return -1;
	} else if (push(w, BRACES, run)) {
		return -1;
	}
	w->at += run;
	return 0;
}

/* An odd '[' is text, the rest are links: "[[[a]]]" is "[a]". */
static int on_open_bracket(struct wikitext *w)
{
	size_t run = run_of(w, '[');

	if (run & 1) {
		if (w->n_open)
			top(w)->brackets++;
		w->at++;
		if (wiki_put_byte(&w->resolved, '['))
			return -1;
	}
	for (run /= 2; run; run--, w->at += 2)
		if (push(w, LINK, 0))
			return -1;
	return 0;
}

static int close_link(struct wikitext *w)
{
	const struct wiki_open *o = top(w);
	const struct wiki_args a = args_of(w, o);
	int hole = 1;

	buf_clear(&w->rendered);
	if (!o->deep)
		hole = wiki_link(w, &a, &w->rendered);
	w->at += 2;
	if (hole < 0 || replace(w, o->mark, hole))
		return -1;
	pop(w);
	return 0;
}

/* Puts out single ']' for the '[' that are open in the innermost bracket, at most N. */
static int close_brackets(struct wikitext *w, size_t n)
{
	struct wiki_open *o = top(w);

	if (n > o->brackets)
		n = o->brackets;
	o->brackets -= (uint32_t)n;
	w->at += n;
	return wiki_put(&w->resolved, w->page.text + w->at - n, n);
}

static int on_close_bracket(struct wikitext *w)
{
	size_t run = run_of(w, ']');

	while (run >= 2 && surface(w, LINK)) {
		if (run >= 3 && top(w)->brackets)	/* "[[a|b [c]]]": the first one is the text's */
			return close_brackets(w, run - 2);
		if (close_link(w))
			return -1;
		run -= 2;
	}
	if (!run)
		return 0;
	if (w->n_open && top(w)->brackets)
		return close_brackets(w, run);
	w->at += run;
	return wiki_put(&w->resolved, w->page.text + w->at - run, run);
}
static int on_bar(struct wikitext *w)
{
	w->at++;
	return wiki_put_byte(&w->resolved, '|') || begin_part(w) ? -1 : 0;
}

static int on_equals(struct wikitext *w)
{
	struct wiki_part *part = &w->parts[w->n_parts - 1];

	if (!part->equals)
		part->equals = (uint32_t)w->resolved.len;
	w->at++;
	return wiki_put_byte(&w->resolved, '=');
}

/* A link's target holds no newline, its text no blank line: so one that is never closed ends here. */
static int on_newline(struct wikitext *w)
{
	const bool in_target = w->n_parts - top(w)->first_part == 1;
	size_t next = w->at + 1;

	while (next < w->page.len && (w->page.text[next] == ' ' || w->page.text[next] == '\t' || w->page.text[next] == '\r'))
		next++;
	if (in_target || next >= w->page.len || w->page.text[next] == '\n') {
		abandon(w);
		return 0;	/* comes here again while the next one is a link too */
	}
	w->at++;
	return wiki_put_byte(&w->resolved, '\n');
}

static int on_control(struct wikitext *w)
{
	const char c = w->page.text[w->at++];

	return c == '\r' ? 0 : wiki_put_byte(&w->resolved, ' ');
}

/* The byte at w->at is a stop. */
static int step(struct wikitext *w)
{
	switch (w->page.text[w->at]) {
	case '<': return wiki_tag(w);
	case '{': return on_open_brace(w);
	case '}': return on_close_brace(w);
	case '[': return on_open_bracket(w);
	case ']': return on_close_bracket(w);
	case '|': return on_bar(w);
	case '=': return on_equals(w);
	case '\n': return on_newline(w);
	default: return on_control(w);
	}
}

/* What is still open is none: an unclosed file leaves the mark that makes its line's rest be dropped. */
static void abandon_all(struct wikitext *w)
{
	while (w->n_open) {
		const struct wiki_open *o = top(w);

		if (o->kind == LINK && wiki_link_is_file(w, target_of(w, o)))
			w->resolved.data[o->mark] = MARK_OPEN;
		else if (o->kind == VARIANT)
			w->resolved.data[o->mark] = MARK_HOLE;
		pop(w);
	}
}

int wiki_scan(struct wikitext *w)
{
	w->at = 0;
	memset(w->no_closer, 0, sizeof(w->no_closer));
	w->no_comment_end = false;
	w->n_open = w->n_parts = w->n_templates = 0;
	w->resolved.len = 0;
	if (buf_reserve(&w->resolved, w->page.len + 1))
		return -1;
	while (w->at < w->page.len) {
		const unsigned char in = (unsigned char)(1 << (w->n_open ? top(w)->kind : NONE));
		const char *p = w->page.text + w->at, *const end = w->page.text + w->page.len, *const run = p;

		while (p < end && !(stops[(unsigned char)*p] & in))
			p++;
		if (wiki_put(&w->resolved, run, (size_t)(p - run)))
			return -1;
		w->at += (size_t)(p - run);
		if (p < end && step(w))
			return -1;
		if (w->resolved.len > RESOLVED_MAX)
			return err_corrupt("page '%.*s' grows beyond 2 GiB", (int)w->title.len, w->title.text);
	}
	abandon_all(w);
	return 0;
}
