#include "corpus/wiki_impl.h"

#include <stdlib.h>

/* Sorted by strcmp; folded. Sections of references and links, in the larger wikis' languages. */
static const char *const back_matter[] = {
	"aiheesta muualla", "altri progetti", "anmerkungen", "anmerkungen und einzelnachweise", "annexes",
	"articles connexes", "atsauces", "ayrıca bakınız", "bacaan lanjutan", "belege", "bibliografia",
	"bibliografie", "bibliografía", "bibliographie", "bibliography", "bronnen",
	"bronnen, noten en/of referenties", "catatan kaki", "chú thích", "citations", "citations and references",
	"collegamenti esterni", "dış bağlantılar", "einzelnachweise", "einzelnachweise und anmerkungen",
	"eksterne henvisninger", "eksterne lenker", "enlace externo", "enlaces externos", "enllaços externs",
	"externa länkar", "external link", "external links", "externe link", "externe links", "externí odkazy",
	"footnotes", "footnotes and references", "források", "fotnoter", "further reading", "fußnoten",
	"general references", "ghi chú", "jegyzetek", "kapcsolódó szócikkek", "katso myös", "kaynaklar",
	"kaynakça", "kilder", "kirjallisuutta", "konuyla ilgili yayınlar", "källor", "külső hivatkozások",
	"legături externe", "leitura adicional", "lien externe", "liens externes", "ligação externa",
	"ligações externas", "lihat pula", "linki zewnętrzne", "links externos", "literatur",
	"literatur und quellen", "literatura", "literatuur", "litteratur", "liên kết ngoài", "lähteet",
	"nachweise", "notas", "notas e referências", "notas y referencias", "note", "noten", "noter", "notes",
	"notes and citations", "notes and references", "notes et références", "notlar", "nūruodis", "odkazy",
	"other websites", "pour approfondir", "poznámky", "pranala luar", "przypisy", "quellen",
	"quellen und literatur", "referanser", "reference", "referencer", "references",
	"references and further reading", "references and notes", "referencias", "referencias y notas",
	"referenser", "referensi", "referenties", "referințe", "referències", "referências", "related pages",
	"riferimenti", "rujukan", "références", "références et notes", "se også", "se även", "see also",
	"siehe auch", "skatīt arī", "sources and further reading", "související články", "tham khảo", "thư mục",
	"további információk", "uwagi", "vegeu també", "ver também", "vezi și", "viitteet", "voci correlate",
	"voetnoten", "voir aussi", "véase también", "weblink", "weblinks", "works cited", "xem thêm", "zie ook",
	"zobacz też", "ārējās saites", "đọc thêm", "δείτε επίσης", "εξωτερικοί σύνδεσμοι", "παραπομπές", "πηγές",
	"σημειώσεις", "бележки", "вижте също", "виноски", "внешние ссылки", "външни препратки", "джерела",
	"див. також", "източници", "источники", "литература", "література", "посилання", "примечания", "примітки",
	"см. также", "ссылки", "הערות שוליים", "לקריאה נוספת", "קישורים חיצוניים", "ראו גם", "المراجع", "المصادر",
	"انظر أيضا", "انظر أيضًا", "جستارهای وابسته", "مراجع", "مصادر", "منابع", "هوامش", "وصلات خارجية", "پانویس",
	"پیوند به بیرون", "इन्हें भी देखें", "बाहरी कड़ियाँ", "संदर्भ", "सन्दर्भ", "ดูเพิ่ม", "อ้างอิง",
	"เชิงอรรถ", "แหล่งข้อมูลอื่น", "出典", "参看", "参考文献", "参考资料", "参见", "參看", "參考文獻", "參考資料", "參見", "备注", "外部リンク",
	"外部連結", "外部鏈接", "外部链接", "延伸閱讀", "延伸阅读", "注釈", "注释", "相关条目", "相關條目", "脚注", "脚注・出典", "註釋", "関連文献", "関連項目",
	"각주", "같이 보기", "외부 링크", "참고 문헌", "참고문헌", "출처",
};

static int compare_name(const void *key, const void *item)
{
	return strcmp(key, *(const char *const *)item);
}

bool wiki_is_back_matter(struct span heading)
{
	char folded[WIKI_NAME_MAX + 1];
	const size_t n = wiki_fold(heading, folded, WIKI_NAME_MAX);

	folded[n] = 0;
	return n && bsearch(folded, back_matter, sizeof(back_matter) / sizeof(back_matter[0]), sizeof(back_matter[0]), compare_name);
}
