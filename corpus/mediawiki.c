#include "corpus/mediawiki.h"

#include "base/err.h"
#include "base/utf8.h"

#include <expat.h>
#include <inttypes.h>
#include <stdlib.h>

#define BLOCK 65536
#define DEPTH_MAX 32		/* a dump's elements nest 5 deep */
#define TEXT_MAX ((size_t)1 << 30)
#define SNIFF 64		/* holds any XML declaration */

enum element { OTHER, MEDIAWIKI, SITENAME, NAMESPACE, PAGE, TITLE, NS, ID, REDIRECT, REVISION, MODEL, TEXT };

struct mediawiki {
	struct in *in;
	struct wiki_site *site;
	XML_Parser parser;
	bool suspended;			/* a page was given out of the middle of a block */
	bool ended;			/* the parser was told so */
	bool repairs;			/* the input is UTF-8 */
	char block[BLOCK];
	size_t fed, len;		/* of the block: given to the parser, and read */
	uint64_t grown;			/* bytes that repairs added, for offsets */
	uint64_t repaired;

	unsigned depth;
	enum element path[DEPTH_MAX + 1];
	struct buf *into;		/* where character data goes; NULL: nowhere */
	bool page_done, any_page, has_ns;
	bool failed;			/* by a handler, reason set */
	int64_t ns, namespace_number;
	bool redirect;
	struct buf scratch, title, id, model, text;
};

/* --- handlers -------------------------------------------------------------- */

static enum element element_of(const char *name)
{
	static const char *const names[] = { [MEDIAWIKI] = "mediawiki", [SITENAME] = "sitename", [NAMESPACE] = "namespace",
		[PAGE] = "page", [TITLE] = "title", [NS] = "ns", [ID] = "id", [REDIRECT] = "redirect", [REVISION] = "revision",
		[MODEL] = "model", [TEXT] = "text" };

	for (size_t i = MEDIAWIKI; i <= TEXT; i++)
		if (!strcmp(name, names[i]))
			return (enum element)i;
	return OTHER;
}

static const char *attribute(const char **attributes, const char *name)
{
	for (; *attributes; attributes += 2)
		if (!strcmp(attributes[0], name))
			return attributes[1];
	return NULL;
}

static void fail(struct mediawiki *m)
{
	m->failed = true;
	XML_StopParser(m->parser, XML_FALSE);
}

static uint64_t offset_of(const struct mediawiki *m)
{
	const XML_Index index = XML_GetCurrentByteIndex(m->parser);

	return index < 0 ? in_offset(m->in) : (uint64_t)index - m->grown;
}

static void collect(struct mediawiki *m, struct buf *b)
{
	buf_clear(b);
	m->into = b;
}

static void begin_root(struct mediawiki *m, enum element e, const char *name, const char **attributes)
{
	const char *lang = attribute(attributes, "xml:lang");

	if (e != MEDIAWIKI) {
		err_corrupt("'%s' is not a MediaWiki dump: it begins with <%.40s>", in_name(m->in), name);
		fail(m);
	} else if (lang && !m->site->lang_is_given) {
		wiki_site_set_lang(m->site, lang);
	}
}

static void begin_page(struct mediawiki *m)
{
	m->any_page = true;
	m->has_ns = m->redirect = false;
	m->ns = 0;
	buf_clear(&m->title);
	buf_clear(&m->id);
	buf_clear(&m->model);
	buf_clear(&m->text);
}

static void begin_field(struct mediawiki *m, enum element e, const char **attributes)
{
	const enum element parent = m->path[m->depth - 1];
	const char *key;

	m->into = NULL;
	switch (e) {
	case SITENAME:
		if (!m->any_page)
			collect(m, &m->site->name);
		break;
	case NAMESPACE:
		key = attribute(attributes, "key");
		m->namespace_number = key ? strtoll(key, NULL, 10) : 0;
		if (!m->any_page)
			collect(m, &m->scratch);
		break;
	case TITLE: collect(m, &m->title); break;
	case NS: collect(m, &m->scratch); break;
	case ID:
		if (parent == PAGE)
			collect(m, &m->id);
		break;
	case REDIRECT: m->redirect = true; break;
	case REVISION: buf_clear(&m->text); buf_clear(&m->model); break;
	case MODEL: collect(m, &m->model); break;
	case TEXT: collect(m, &m->text); break;
	default: break;
	}
}

static void on_start(void *ctx, const char *name, const char **attributes)
{
	struct mediawiki *m = ctx;
	const enum element e = element_of(name);

	if (m->depth == DEPTH_MAX) {
		err_corrupt("'%s' is not a MediaWiki dump: elements nest too deeply at offset %" PRIu64, in_name(m->in), offset_of(m));
		fail(m);
		return;
	}
	m->path[++m->depth] = e;
	if (m->depth == 1)
		begin_root(m, e, name, attributes);
	else if (e == PAGE)
		begin_page(m);
	else
		begin_field(m, e, attributes);
}

static void on_end(void *ctx, const char *name)
{
	struct mediawiki *m = ctx;
	const enum element e = m->path[m->depth--];

	(void)name;
	if (m->into && e == NS) {
		m->has_ns = m->scratch.len > 0;
		m->ns = m->has_ns ? strtoll(m->scratch.data, NULL, 10) : 0;
	} else if (m->into && e == NAMESPACE && m->scratch.len &&
		   wiki_site_add_namespace(m->site, (struct span){ m->scratch.data, m->scratch.len }, m->namespace_number)) {
		fail(m);
	} else if (e == PAGE && m->depth == 1) {
		m->page_done = true;
		XML_StopParser(m->parser, XML_TRUE);
	}
	m->into = NULL;
}

static void on_text(void *ctx, const char *text, int len)
{
	struct mediawiki *m = ctx;

	if (!m->into)
		return;
	if (m->into->len + (size_t)len > TEXT_MAX) {
		err_corrupt("'%s': page '%.100s' is longer than 1 GiB", in_name(m->in), m->title.len ? m->title.data : "");
		fail(m);
	} else if (buf_add(m->into, text, (size_t)len)) {
		fail(m);
	}
}

static void on_doctype(void *ctx, const char *name, const char *system_id, const char *public_id, int internal)
{
	struct mediawiki *m = ctx;

	(void)name;
	(void)system_id;
	(void)public_id;
	(void)internal;
	err_corrupt("'%s' is not a MediaWiki dump: it has a document type declaration", in_name(m->in));
	fail(m);
}

/* --- feeding ----------------------------------------------------------------- */

/* Whether the input is UTF-8: nothing at its beginning says otherwise. */
static int sniff_encoding(struct mediawiki *m)
{
	char head[SNIFF + 1];
	const ssize_t n = in_peek(m->in, head, SNIFF);
	const char *encoding, *end;

	if (n < 0)
		return -1;
	head[n] = 0;
	m->repairs = strlen(head) == (size_t)n && !span_starts((struct span){ head, (size_t)n }, "\xFF\xFE") &&
		     !span_starts((struct span){ head, (size_t)n }, "\xFE\xFF");
	encoding = strstr(head, "encoding");
	end = strstr(head, "?>");
	if (m->repairs && encoding && end && encoding < end) {
		encoding += strcspn(encoding, "\"'");
		m->repairs = !*encoding || !strncasecmp(encoding + 1, "utf-8", 5);
	}
	return 0;
}

int mediawiki_open(struct mediawiki **result, struct in *in, struct wiki_site *site)
{
	struct mediawiki *m = calloc(1, sizeof(*m));

	*result = m;
	if (!m)
		return err_memory();
	m->in = in;
	m->site = site;
	m->parser = XML_ParserCreate(NULL);
	if (!m->parser)
		return err_memory();
	XML_SetUserData(m->parser, m);
	XML_SetElementHandler(m->parser, on_start, on_end);
	XML_SetCharacterDataHandler(m->parser, on_text);
	XML_SetStartDoctypeDeclHandler(m->parser, on_doctype);
	return sniff_encoding(m);
}

/* Bytes of valid UTF-8 at TEXT before a character that XML forbids: a control, U+FFFE or U+FFFF. */
static size_t allowed_prefix(const char *text, size_t len)
{
	static const unsigned char suspect[256] = { [0x00 ... 0x08] = 1, [0x0B] = 1, [0x0C] = 1, [0x0E ... 0x1F] = 1, [0xEF] = 2 };

	for (size_t i = 0; i < len; i++) {
		const unsigned char kind = suspect[(unsigned char)text[i]];

		if (kind == 1)
			return i;
		if (kind == 2 && len - i >= 3 && (unsigned char)text[i + 1] == 0xBF && (unsigned char)text[i + 2] >= 0xBE)
			return i;
	}
	return len;
}

/* Whether the N bytes at S, fewer than a character may have, can be its beginning; more must be read to tell. */
static bool may_continue(const char *s, size_t n)
{
	char longer[UTF8_MAX];

	if (n >= UTF8_MAX)
		return false;
	memcpy(longer, s, n);
	for (int next = 0x80; next < 0xC0; next += 0x10) {	/* the ranges in which a second byte may have to lie */
		unsigned size;
		bool bad;

		memset(longer + n, 0x80, sizeof(longer) - n);
		longer[n] = (char)next;
		utf8_decode(longer, sizeof(longer), &size, &bad);
		if (!bad && size > n)
			return true;
	}
	return false;
}

/* Reads the next block behind what is left of this one; 0 at the input's end. */
static ssize_t read_block(struct mediawiki *m)
{
	const size_t left = m->len - m->fed;
	ssize_t n;

	memmove(m->block, m->block + m->fed, left);
	m->fed = 0;
	m->len = left;
	n = in_read(m->in, m->block + left, BLOCK - left);
	if (n > 0)
		m->len += (size_t)n;
	return n;
}

static enum XML_Status feed_replacement(struct mediawiki *m, size_t bad)
{
	static const char replacement[] = "\xEF\xBF\xBD";

	m->fed += bad;
	m->grown += sizeof(replacement) - 1 - bad;	/* wraps where it shrinks: sums are modulo 2^64 */
	m->repaired++;
	return XML_Parse(m->parser, replacement, sizeof(replacement) - 1, XML_FALSE);
}

static enum XML_Status feed_valid(struct mediawiki *m, size_t n)
{
	const char *from = m->block + m->fed;

	m->fed += n;
	return XML_Parse(m->parser, from, (int)n, XML_FALSE);
}

/* Gives the parser some more: up to what must be repaired, or that alone, or the end. -1 when reading failed. */
static int feed(struct mediawiki *m, enum XML_Status *status)
{
	ssize_t got = 1;

	for (;;) {
		const char *from = m->block + m->fed;
		const size_t left = m->len - m->fed;
		size_t good = left;
		unsigned bad;

		if (m->repairs && left) {
			good = utf8_valid_prefix(from, left);
			good = allowed_prefix(from, good);
		}
		if (good) {
			*status = feed_valid(m, good);
			return 0;
		}
		if (left && (!got || !may_continue(from, left))) {
			utf8_decode(from, left, &bad, NULL);
			*status = feed_replacement(m, bad);
			return 0;
		}
		if (!got) {
			m->ended = true;
			*status = XML_Parse(m->parser, "", 0, XML_TRUE);
			return 0;
		}
		got = read_block(m);
		if (got < 0)
			return -1;
	}
}

/* --- pages ------------------------------------------------------------------- */

static int report(struct mediawiki *m)
{
	const enum XML_Error error = XML_GetErrorCode(m->parser);

	if (m->failed)
		return -1;
	if (error == XML_ERROR_NO_MEMORY)
		return err_memory();
	if (m->ended || error == XML_ERROR_NO_ELEMENTS)
		return err_corrupt("'%s' is cut short: its XML is not complete at offset %" PRIu64 ", the end%s%.100s%s", in_name(m->in),
				   in_offset(m->in), m->depth > 1 && m->title.len ? ", in page '" : "",
				   m->depth > 1 && m->title.len ? m->title.data : "", m->depth > 1 && m->title.len ? "'" : "");
	return err_corrupt("'%s' is damaged: %s at offset %" PRIu64, in_name(m->in), XML_ErrorString(error), offset_of(m));
}

static void give(struct mediawiki *m, struct mediawiki_page *page)
{
	m->page_done = false;
	page->title = (struct span){ m->title.data ? m->title.data : "", m->title.len };
	page->text = (struct span){ m->text.data ? m->text.data : "", m->text.len };
	page->id = (struct span){ m->id.data ? m->id.data : "", m->id.len };
	page->ns = m->has_ns ? m->ns : wiki_site_listed_namespace(m->site, page->title);
	page->redirect = m->redirect;
	page->wikitext = !m->model.len || !strcmp(m->model.data, "wikitext");
}

int mediawiki_next(struct mediawiki *m, struct mediawiki_page *page)
{
	while (!m->ended || m->suspended) {
		enum XML_Status status;

		if (m->suspended)
			status = XML_ResumeParser(m->parser);
		else if (feed(m, &status))
			return -1;
		m->suspended = status == XML_STATUS_SUSPENDED;
		if (status == XML_STATUS_ERROR)
			return report(m);
		if (m->page_done) {
			give(m, page);
			return 1;
		}
	}
	return 0;
}

uint64_t mediawiki_repaired(const struct mediawiki *m)
{
	return m->repaired;
}

void mediawiki_close(struct mediawiki *m)
{
	if (!m)
		return;
	if (m->parser)
		XML_ParserFree(m->parser);
	buf_release(&m->scratch);
	buf_release(&m->title);
	buf_release(&m->id);
	buf_release(&m->model);
	buf_release(&m->text);
	free(m);
}
