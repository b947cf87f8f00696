/*
 * First pass: what a closed [[link]] or -{variant}- stands for.
 */
#include "corpus/wiki_impl.h"

#include <ctype.h>

static bool has_media_suffix(struct span target)
{
	static const char *const suffixes[] = { ".jpg", ".jpeg", ".png", ".svg", ".gif", ".tif", ".tiff", ".webp", ".ogg", ".oga",
		".ogv", ".webm", ".wav", ".mp3", ".mid", ".flac", ".pdf", ".djvu", ".xcf" };

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		const size_t n = strlen(suffixes[i]);

		if (target.len > n && !strncasecmp(target.text + target.len - n, suffixes[i], n))
			return true;
	}
	return false;
}

/* By its namespace or, where that has a name we do not know, by its suffix. */
bool wiki_link_is_file(const struct wikitext *w, struct span target)
{
	size_t prefix;

	target = span_trim(target);
	if (!target.len || target.text[0] == ':')
		return false;
	if (wiki_site_namespace(w->site, target, &prefix) == NS_FILE)
		return true;
	return span_find(target, ':') < target.len && has_media_suffix(target);
}

bool wiki_is_url(struct span s)
{
	static const char *const protocols[] = { "http://", "https://", "//", "ftp://", "ftps://", "sftp://", "irc://", "ircs://",
		"gopher://", "git://", "svn://", "ssh://", "telnet://", "nntp://", "worldwind://", "mailto:", "news:", "sip:",
		"sips:", "sms:", "tel:", "urn:", "magnet:", "xmpp:", "geo:", "bitcoin:", "matrix:" };

	if (!s.len || (!isalpha((unsigned char)s.text[0]) && s.text[0] != '/'))
		return false;
	for (size_t i = 0; i < sizeof(protocols) / sizeof(protocols[0]); i++)
		if ((s.text[0] | 0x20) == (protocols[i][0] | 0x20) && span_starts_nocase(s, protocols[i]))
			return true;
	return false;
}

/* Links that show nothing where they stand: categories, files, the same page in another language. */
static bool is_hidden(const struct wikitext *w, struct span target)
{
	const size_t colon = span_find(target, ':');
	char folded[WIKI_NAME_MAX];
	size_t prefix;

	if (colon == target.len)
		return false;
	if (wiki_link_is_file(w, target) || wiki_site_namespace(w->site, target, &prefix) == NS_CATEGORY)
		return true;
	prefix = wiki_fold((struct span){ target.text, colon }, folded, sizeof(folded));
	return wiki_is_language((struct span){ folded, prefix });
}

/* [[wikt:word]]: the word. */
static struct span without_project(struct span target)
{
	static const char *const projects[] = { "wikt:", "wiktionary:", "w:", "s:", "wikisource:", "commons:", "q:", "wikiquote:",
		"species:", "wikispecies:", "b:", "d:", "m:", "n:", "voy:" };

	for (size_t i = 0; i < sizeof(projects) / sizeof(projects[0]) && span_find(target, ':') < target.len; i++)
		if (span_starts_nocase(target, projects[i])) {
			target = span_skip(target, strlen(projects[i]));
			break;
		}
	while (target.len && target.text[0] == ':')
		target = span_skip(target, 1);
	return span_trim(target);
}

/* [[Help:Page (subject)|]]: "Page". Saved pages rarely hold one, since saving fills it in. */
static struct span pipe_trick(struct span target)
{
	const size_t colon = span_find(target, ':');
	size_t end = target.len;

	if (colon < target.len) {
		target = span_skip(target, colon + 1);
		end = target.len;
	}
	if (end && target.text[end - 1] == ')')
		while (end && target.text[end - 1] != '(')
			end--;
	return span_trim((struct span){ target.text, end > 1 ? end - (end < target.len) : target.len });
}

/* [[http://x text]], which should have been [http://x text]. */
static int outer_link(struct span inside, struct buf *b)
{
	size_t i = 0;

	while (i < inside.len && !span_is_space(inside.text[i]))
		i++;
	inside = span_trim(span_skip(inside, i));
	return inside.len ? wiki_put_span(b, inside) : 1;
}

int wiki_link(const struct wikitext *w, const struct wiki_args *a, struct buf *b)
{
	struct span target = wiki_part_text(a, 0), text;

	if (wiki_is_url(target)) {
		const size_t start = a->parts[0].start;

		return outer_link(span_trim((struct span){ a->text + start, a->end - start }), b);
	}
	if (target.len && target.text[0] == ':')
		target = span_trim(span_skip(target, 1));
	else if (is_hidden(w, target))
		return 1;
	if (a->n > 1) {
		const size_t start = a->parts[1].start;

		text = (struct span){ a->text + start, a->end - start };
		if (!span_trim(text).len)
			text = pipe_trick(target);
	} else {
		text = without_project(target);
		if (text.len && text.text[0] == '#')
			text = span_skip(text, 1);
	}
	return text.len ? wiki_put_span(b, text) : 1;
}

/* Whether S is "zh-hans:text" or the like; its text goes to *TEXT. */
static bool variant_text(struct span s, struct span *text)
{
	size_t n = 0;

	s = span_trim(s);
	while (n < s.len && n < 12 && (islower((unsigned char)s.text[n]) || s.text[n] == '-'))
		n++;
	if (n < 2 || n == s.len || s.text[n] != ':')
		return false;
	*text = span_trim(span_skip(s, n + 1));
	return true;
}

/* -{zh-hans:A;zh-hant:B}-: the first of them. -{T|...}- and -{H|...}- set rules and show nothing; -{R|A}- shows A. */
int wiki_variant(const struct wiki_args *a, struct buf *b)
{
	const struct span flags = wiki_part_text(a, 0);
	const size_t part = a->n > 1, start = a->parts[part].start;
	struct span rest = { a->text + start, a->end - start }, text;

	if (part && (memchr(flags.text, 'H', flags.len) || memchr(flags.text, 'T', flags.len) || memchr(flags.text, 'D', flags.len) ||
		     memchr(flags.text, '-', flags.len)))
		return 1;
	while (rest.len) {
		const size_t n = span_find(rest, ';');

		if (variant_text((struct span){ rest.text, n }, &text))
			return text.len ? wiki_put_span(b, text) : 1;
		if (n == rest.len)
			break;
		rest = span_skip(rest, n + 1);
	}
	rest = (struct span){ a->text + start, a->end - start };
	return rest.len ? wiki_put_span(b, rest) : 1;
}
