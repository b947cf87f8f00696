#include "corpus/wikitext.h"

#include "base/err.h"
#include "corpus/wiki_impl.h"

#include <ctype.h>
#include <stdlib.h>

#define PAGE_MAX ((size_t)256 << 20)	/* offsets within are 32 bits, and marks and templates add to it */

int wikitext_new(struct wikitext **w, const struct wikitext_opts *opts)
{
	*w = calloc(1, sizeof(**w));
	if (!*w)
		return err_memory();
	(*w)->opts = *opts;
	return 0;
}

void wikitext_free(struct wikitext *w)
{
	if (!w)
		return;
	buf_release(&w->resolved);
	buf_release(&w->rendered);
	buf_release(&w->paragraph);
	for (size_t i = 0; i < WIKI_LEVELS; i++)
		buf_release(&w->heading[i]);
	free(w->open);
	free(w->parts);
	free(w);
}

int wikitext_convert(struct wikitext *w, const struct wiki_site *site, struct span title, struct span text,
		     struct buf *out, struct wikitext_counts *counts)
{
	if (text.len > PAGE_MAX)
		return err_corrupt("page '%.*s' is longer than 256 MiB", (int)title.len, title.text);
	w->site = site;
	w->english = !site->lang[0] || !strcmp(site->lang, "en") || !strcmp(site->lang, "simple");
	w->title = title;
	w->page = text;
	w->counts = counts;
	return wiki_scan(w) || wiki_blocks(w, out) ? -1 : 0;
}

/* --- redirects --------------------------------------------------------------- */

/* Folded. A page that begins with '#' and one of these, then a link, leads elsewhere. */
static const char *const redirects[] = {
	"redirect", "redirection", "weiterleitung", "redirección", "redireccion", "rinvia", "rinvio", "rimando", "redirecionamento",
	"redirecionar", "doorverwijzing", "omdirigering", "omdiriger", "omdirigerer", "patrz", "przekieruj", "tam",
	"перенаправление", "перенапр", "перенаправлення", "перенаправити", "пренасочване", "виж", "преусмери", "preusmeri",
	"перанакіраваньне", "перанакіраванне", "ohjaus", "uudelleenohjaus", "átirányítás", "přesměruj", "presmeruj",
	"yönlendirme", "yönlendi̇rme", "yönlendir", "alih", "alihkan", "lencong", "đổi", "đổihướng", "rediridgîe",
	"redirecció", "birzuzendu", "alidirektu", "alidirekti", "peradresavimas", "pāradresācija", "suuna", "tilvísun",
	"ανακατευθυνση", "ανακατεύθυνση", "تحويل", "تغییرمسیر", "تغییر مسیر", "הפניה", "अनुप्रेषित", "পুনর্নির্দেশ", "เปลี่ยนทาง",
	"転送", "リダイレクト", "重定向", "넘겨주기", "გადამისამართება", "վերահղում", "gadamisamarteba", "trimite",
};

bool wikitext_is_redirect(struct span text)
{
	char folded[WIKI_NAME_MAX + 1];
	size_t n;

	while (text.len && (isspace((unsigned char)text.text[0]) || text.text[0] == ':'))
		text = span_skip(text, 1);
	if (!text.len || (text.text[0] != '#' && !span_starts(text, "＃")))
		return false;
	text = span_skip(text, text.text[0] == '#' ? 1 : strlen("＃"));
	if (text.len > 2 * WIKI_NAME_MAX)
		text.len = 2 * WIKI_NAME_MAX;
	n = span_find(text, '[');
	if (n + 1 >= text.len || text.text[n + 1] != '[')
		return false;
	text.len = n;
	n = wiki_fold(text, folded, WIKI_NAME_MAX);
	while (n && (folded[n - 1] == ':' || folded[n - 1] == ' '))
		n--;
	folded[n] = 0;
	for (size_t i = 0; i < sizeof(redirects) / sizeof(redirects[0]); i++)
		if (!strcmp(folded, redirects[i]))
			return true;
	return false;
}
