/*
 * Arbitrary bytes as wikitext. The first byte chooses options and language. Whatever
 * comes in, clean lines come out: no control characters, none empty or with blanks at its
 * ends; valid UTF-8 from valid UTF-8; and the same again from a converter that was used before.
 */
#include "base/utf8.h"
#include "corpus/wiki_formats.h"
#include "corpus/wikitext.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void need(int ok)
{
	if (!ok)
		abort();
}

static void check_lines(struct span out)
{
	while (out.len) {
		const size_t n = span_find(out, '\n');

		need(n > 0 && n < out.len && out.text[0] != ' ' && out.text[n - 1] != ' ');
		for (size_t i = 0; i < n; i++)
			need((unsigned char)out.text[i] >= ' ' && out.text[i] != 0x7F);
		out = span_skip(out, n + 1);
	}
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	static const char *const langs[] = { "en", "fr", "de", "zh" };
	static const char *const specs[] = { "two=$1[ and $2]", "twice=$1$1$1", "up=${a|1}$^2$_3\\n", "gone=" };
	const unsigned char choice = size ? data[0] : 0;
	const struct span text = { (const char *)data + (size > 0), size - (size > 0) };
	struct wikitext_opts opts = { .lists = choice & 1, .tables = choice & 2, .headings = choice & 4, .count = choice & 8 };
	struct wikitext_counts counts = { 0 };
	struct wiki_formats *formats;
	struct buf first = BUF_INIT, again = BUF_INIT;
	struct wiki_site site;
	struct wikitext *w;

	need(!wiki_site_init(&site) && !wiki_formats_new(&formats, specs, 4));
	wiki_site_set_lang(&site, langs[choice >> 6]);
	opts.formats = formats;
	need(!wikitext_new(&w, &opts));
	need(!wikitext_convert(w, &site, SPAN("A title"), text, &first, &counts));
	need(!wikitext_convert(w, &site, SPAN("A title"), text, &again, &counts));
	need(first.len == again.len && (!first.len || !memcmp(first.data, again.data, first.len)));
	check_lines((struct span){ first.data, first.len });
	if (utf8_valid_prefix(text.text, text.len) == text.len)
		need(utf8_valid_prefix(first.data, first.len) == first.len);
	(void)wikitext_is_redirect(text);
	wikitext_free(w);
	wiki_formats_free(formats);
	wiki_site_release(&site);
	buf_release(&first);
	buf_release(&again);
	buf_release(&counts.dropped);
	return 0;
}
