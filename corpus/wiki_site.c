#include "corpus/wiki_site.h"

#include "base/err.h"
#include "base/utf8.h"

#include <ctype.h>
#include <stdlib.h>
#include <utf8proc.h>

struct known_name {
	int number;
	const char *name;
};

/* English names, which work on every wiki, and names that older pages of many wikis use; folded. */
static const struct known_name known_names[] = {
	{ NS_MEDIA, "media" }, { NS_SPECIAL, "special" },
	{ 1, "talk" }, { 2, "user" }, { 3, "user talk" }, { 4, "project" }, { 4, "wikipedia" }, { 5, "wikipedia talk" },
	{ 7, "file talk" }, { 8, "mediawiki" }, { 11, "template talk" }, { 12, "help" }, { 15, "category talk" },
	{ 100, "portal" }, { 828, "module" },
	{ NS_TEMPLATE, "template" }, { NS_TEMPLATE, "vorlage" }, { NS_TEMPLATE, "modèle" }, { NS_TEMPLATE, "plantilla" },
	{ NS_TEMPLATE, "шаблон" }, { NS_TEMPLATE, "sjabloon" }, { NS_TEMPLATE, "predefinição" }, { NS_TEMPLATE, "szablon" },
	{ NS_FILE, "file" }, { NS_FILE, "image" }, { NS_FILE, "datei" }, { NS_FILE, "bild" }, { NS_FILE, "fichier" },
	{ NS_FILE, "archivo" }, { NS_FILE, "imagen" }, { NS_FILE, "immagine" }, { NS_FILE, "ficheiro" },
	{ NS_FILE, "arquivo" }, { NS_FILE, "imagem" }, { NS_FILE, "bestand" }, { NS_FILE, "afbeelding" },
	{ NS_FILE, "plik" }, { NS_FILE, "grafika" }, { NS_FILE, "fil" }, { NS_FILE, "soubor" }, { NS_FILE, "obrázek" },
	{ NS_FILE, "súbor" }, { NS_FILE, "obrázok" }, { NS_FILE, "fájl" }, { NS_FILE, "kép" }, { NS_FILE, "tiedosto" },
	{ NS_FILE, "kuva" }, { NS_FILE, "fişier" }, { NS_FILE, "fișier" }, { NS_FILE, "imagine" }, { NS_FILE, "dosya" },
	{ NS_FILE, "resim" }, { NS_FILE, "tập tin" }, { NS_FILE, "hình" }, { NS_FILE, "berkas" }, { NS_FILE, "gambar" },
	{ NS_FILE, "fitxer" }, { NS_FILE, "imatge" }, { NS_FILE, "dosiero" }, { NS_FILE, "fitxategi" }, { NS_FILE, "irudi" },
	{ NS_FILE, "datoteka" }, { NS_FILE, "slika" }, { NS_FILE, "vaizdas" }, { NS_FILE, "attēls" }, { NS_FILE, "fails" },
	{ NS_FILE, "pilt" }, { NS_FILE, "mynd" }, { NS_FILE, "файл" }, { NS_FILE, "изображение" }, { NS_FILE, "картинка" },
	{ NS_FILE, "зображення" }, { NS_FILE, "выява" }, { NS_FILE, "датотека" }, { NS_FILE, "слика" },
	{ NS_FILE, "αρχείο" }, { NS_FILE, "εικόνα" }, { NS_FILE, "קובץ" }, { NS_FILE, "תמונה" }, { NS_FILE, "ملف" },
	{ NS_FILE, "صورة" }, { NS_FILE, "پرونده" }, { NS_FILE, "تصویر" }, { NS_FILE, "चित्र" }, { NS_FILE, "चित्रः" },
	{ NS_FILE, "চিত্র" }, { NS_FILE, "படிமம்" }, { NS_FILE, "దస్త్రం" }, { NS_FILE, "ไฟล์" }, { NS_FILE, "ภาพ" },
	{ NS_FILE, "ファイル" }, { NS_FILE, "画像" }, { NS_FILE, "文件" }, { NS_FILE, "檔案" }, { NS_FILE, "图像" },
	{ NS_FILE, "圖像" }, { NS_FILE, "파일" }, { NS_FILE, "그림" }, { NS_FILE, "ფაილი" },
	{ NS_FILE, "պատկեր" },
	{ NS_CATEGORY, "category" }, { NS_CATEGORY, "kategorie" }, { NS_CATEGORY, "catégorie" }, { NS_CATEGORY, "categoría" },
	{ NS_CATEGORY, "categoria" }, { NS_CATEGORY, "categorie" }, { NS_CATEGORY, "kategoria" }, { NS_CATEGORY, "kategori" },
	{ NS_CATEGORY, "kategória" }, { NS_CATEGORY, "luokka" }, { NS_CATEGORY, "thể loại" }, { NS_CATEGORY, "kategorija" },
	{ NS_CATEGORY, "kategorio" }, { NS_CATEGORY, "категория" }, { NS_CATEGORY, "категорія" },
	{ NS_CATEGORY, "категорија" }, { NS_CATEGORY, "катэгорыя" }, { NS_CATEGORY, "κατηγορία" }, { NS_CATEGORY, "קטגוריה" },
	{ NS_CATEGORY, "تصنيف" }, { NS_CATEGORY, "رده" }, { NS_CATEGORY, "श्रेणी" }, { NS_CATEGORY, "বিষয়শ্রেণী" },
	{ NS_CATEGORY, "หมวดหมู่" }, { NS_CATEGORY, "분류" }, { NS_CATEGORY, "カテゴリ" }, { NS_CATEGORY, "分类" },
	{ NS_CATEGORY, "分類" }, { NS_CATEGORY, "კატეგორია" }, { NS_CATEGORY, "կատեգորիա" },
};

/* Sorted. */
static const char *const languages[] = {
	"aa", "ab", "ace", "ady", "af", "ak", "als", "alt", "am", "ami", "an", "ang", "ann", "anp", "ar", "arc",
	"ary", "arz", "as", "ast", "atj", "av", "avk", "awa", "ay", "az", "azb", "ba", "ban", "bar", "bat-smg",
	"bbc", "bcl", "bdr", "be", "be-tarask", "be-x-old", "bew", "bg", "bh", "bi", "bjn", "blk", "bm", "bn",
	"bo", "bpy", "br", "bs", "btm", "bug", "bxr", "ca", "cbk-zam", "cdo", "ce", "ceb", "ch", "cho", "chr",
	"chy", "ckb", "co", "cr", "crh", "cs", "csb", "cu", "cv", "cy", "da", "dag", "de", "dga", "din", "diq",
	"dsb", "dtp", "dty", "dv", "dz", "ee", "el", "eml", "en", "eo", "es", "et", "eu", "ext", "fa", "fat",
	"ff", "fi", "fiu-vro", "fj", "fo", "fon", "fr", "frp", "frr", "fur", "fy", "ga", "gag", "gan", "gcr",
	"gd", "gl", "glk", "gn", "gom", "gor", "got", "gpe", "gsw", "gu", "guc", "gur", "guw", "gv", "ha", "hak",
	"haw", "he", "hi", "hif", "ho", "hr", "hsb", "ht", "hu", "hy", "hyw", "hz", "ia", "iba", "id", "ie", "ig",
	"igl", "ii", "ik", "ilo", "inh", "io", "is", "it", "iu", "ja", "jam", "jbo", "jv", "ka", "kaa", "kab",
	"kaj", "kbd", "kbp", "kcg", "kg", "kge", "ki", "kj", "kk", "kl", "km", "kn", "knc", "ko", "koi", "kr",
	"krc", "ks", "ksh", "ku", "kus", "kv", "kw", "ky", "la", "lad", "lb", "lbe", "lez", "lfn", "lg", "li",
	"lij", "lld", "lmo", "ln", "lo", "lrc", "lt", "ltg", "lv", "mad", "mai", "map-bms", "mdf", "mg", "mh",
	"mhr", "mi", "min", "mk", "ml", "mn", "mni", "mnw", "mo", "mos", "mr", "mrj", "ms", "mt", "mus", "mwl",
	"my", "myv", "mzn", "na", "nah", "nan", "nap", "nb", "nds", "nds-nl", "ne", "new", "ng", "nia", "nl",
	"nn", "no", "nov", "nqo", "nr", "nrm", "nso", "nup", "nv", "ny", "oc", "olo", "om", "or", "os", "pa",
	"pag", "pam", "pap", "pcd", "pcm", "pdc", "pfl", "pi", "pih", "pl", "pms", "pnb", "pnt", "ps", "pt",
	"pwn", "qu", "rki", "rm", "rmy", "rn", "ro", "roa-rup", "roa-tara", "rsk", "ru", "rue", "rw", "sa", "sah",
	"sat", "sc", "scn", "sco", "sd", "se", "sg", "sgs", "sh", "shi", "shn", "shy", "si", "simple", "sk",
	"skr", "sl", "sm", "smn", "sn", "so", "sq", "sr", "srn", "ss", "st", "stq", "su", "sv", "sw", "syl",
	"szl", "szy", "ta", "tay", "tcy", "tdd", "te", "tet", "tg", "th", "ti", "tig", "tk", "tl", "tly", "tn",
	"to", "tok", "tpi", "tr", "trv", "ts", "tt", "tum", "tw", "ty", "tyv", "udm", "ug", "uk", "ur", "uz",
	"ve", "vec", "vep", "vi", "vls", "vo", "vro", "wa", "war", "wo", "wuu", "xal", "xh", "xmf", "yi", "yo",
	"yue", "za", "zea", "zgh", "zh", "zh-classical", "zh-min-nan", "zh-yue", "zu",
};

size_t wiki_fold(struct span text, char *out, size_t max)
{
	const char *p, *end;
	size_t n = 0;
	bool gap = false;

	text = span_trim(text);
	for (p = text.text, end = p + text.len; p < end;) {
		char one[UTF8_MAX] = { *p };
		unsigned size = 1, len = 1;

		if (*p == '_' || span_is_space(*p)) {
			gap = n > 0;
			p++;
			continue;
		}
		if ((unsigned char)*p < 0x80)
			one[0] = (char)tolower((unsigned char)*p);
		else
			len = utf8_write((uint32_t)utf8proc_tolower((utf8proc_int32_t)utf8_decode(p, (size_t)(end - p), &size, NULL)), one);
		if (n + gap + len > max)
			return 0;
		if (gap)
			out[n++] = ' ';
		memcpy(out + n, one, len);
		n += len;
		p += size;
		gap = false;
	}
	return n;
}

static int put(struct map *names, struct span name, int64_t number)
{
	char folded[WIKI_NAME_MAX];
	const size_t n = wiki_fold(name, folded, sizeof(folded));
	uint64_t *value;

	if (!n)
		return 0;
	value = map_put(names, folded, n);
	if (!value)
		return -1;
	*value = (uint64_t)number;
	return 0;
}

int wiki_site_init(struct wiki_site *site)
{
	*site = (struct wiki_site){ .name = BUF_INIT, .namespaces = MAP_INIT, .listed = MAP_INIT };
	for (size_t i = 0; i < sizeof(known_names) / sizeof(known_names[0]); i++)
		if (put(&site->namespaces, span_of(known_names[i].name), known_names[i].number))
			return -1;
	return 0;
}

void wiki_site_release(struct wiki_site *site)
{
	buf_release(&site->name);
	map_release(&site->namespaces);
	map_release(&site->listed);
}

void wiki_site_set_lang(struct wiki_site *site, const char *lang)
{
	size_t n = strcspn(lang, "-_");

	if (n >= sizeof(site->lang))
		n = 0;
	memcpy(site->lang, lang, n);
	site->lang[n] = 0;
}

int wiki_site_add_namespace(struct wiki_site *site, struct span name, int64_t number)
{
	return put(&site->namespaces, name, number) || put(&site->listed, name, number) ? -1 : 0;
}

static int64_t look_up(const struct map *names, struct span title, size_t *prefix)
{
	const size_t colon = span_find(title, ':');
	char folded[WIKI_NAME_MAX];
	const uint64_t *value = NULL;
	size_t n = 0;

	*prefix = 0;
	if (colon < title.len)
		n = wiki_fold((struct span){ title.text, colon }, folded, sizeof(folded));
	if (n)
		value = map_get(names, folded, n);
	if (!value || !*value)
		return NS_MAIN;
	*prefix = colon + 1;
	return (int64_t)*value;
}

int64_t wiki_site_namespace(const struct wiki_site *site, struct span title, size_t *prefix)
{
	return look_up(&site->namespaces, title, prefix);
}

int64_t wiki_site_listed_namespace(const struct wiki_site *site, struct span title)
{
	size_t prefix;

	return look_up(&site->listed, title, &prefix);
}

static int compare_code(const void *key, const void *item)
{
	const struct span *s = key;
	const char *code = *(const char *const *)item;
	const size_t n = strlen(code);
	const int order = memcmp(s->text, code, s->len < n ? s->len : n);

	return order ? order : (s->len > n) - (s->len < n);
}

bool wiki_is_language(struct span prefix)
{
	return prefix.len && bsearch(&prefix, languages, sizeof(languages) / sizeof(languages[0]), sizeof(languages[0]), compare_code);
}
