#include "corpus/letters.h"

#include "base/utf8.h"

#include <assert.h>
#include <string.h>
#include <utf8proc.h>

static const unsigned char ascii[128] = {
	['\t' ... '\r'] = LETTER_SPACE, [0x1C ... 0x20] = LETTER_SPACE,
	['A' ... 'Z'] = LETTER_UPPER, ['a' ... 'z'] = LETTER_LOWER, ['0' ... '9'] = LETTER_DIGIT, ['$'] = LETTER_DIGIT,
	['.'] = LETTER_DOT, ['!'] = LETTER_STRONG, ['?'] = LETTER_STRONG,
	['('] = LETTER_OPEN, ['['] = LETTER_OPEN, ['{'] = LETTER_OPEN, ['<'] = LETTER_OPEN,
	[')'] = LETTER_CLOSE, [']'] = LETTER_CLOSE, ['}'] = LETTER_CLOSE,
	['"'] = LETTER_QUOTE, ['\''] = LETTER_QUOTE, ['*'] = LETTER_QUOTE, ['_'] = LETTER_QUOTE,
	['`'] = LETTER_QUOTE_OPEN, ['-'] = LETTER_DASH,
	[','] = LETTER_COMMA, [';'] = LETTER_COMMA, [':'] = LETTER_COMMA, ['/'] = LETTER_COMMA, ['%'] = LETTER_COMMA,
	['&'] = LETTER_COMMA, ['+'] = LETTER_COMMA, ['='] = LETTER_COMMA, ['>'] = LETTER_COMMA,
	['\\'] = LETTER_COMMA, ['^'] = LETTER_COMMA, ['|'] = LETTER_COMMA, ['~'] = LETTER_COMMA,
};

/* Punctuation outside ASCII; what is not here is judged by its category. */
static const struct {
	uint16_t first, last;
	uint8_t letter;
} marks[] = {
	{ 0x00A1, 0x00A1, LETTER_OPEN },	/* inverted ! */
	{ 0x00A2, 0x00A5, LETTER_DIGIT },	/* cent pound currency yen */
	{ 0x00AB, 0x00AB, LETTER_QUOTE_OPEN },	/* << */
	{ 0x00B2, 0x00B3, LETTER_CLOSE },	/* superscript 2 3 */
	{ 0x00B7, 0x00B7, LETTER_BULLET },
	{ 0x00B9, 0x00B9, LETTER_CLOSE },	/* superscript 1 */
	{ 0x00BB, 0x00BB, LETTER_QUOTE_CLOSE },	/* >> */
	{ 0x00BF, 0x00BF, LETTER_OPEN },	/* inverted ? */
	{ 0x0589, 0x0589, LETTER_FULL },	/* Armenian full stop */
	{ 0x060C, 0x060C, LETTER_COMMA },	/* Arabic comma */
	{ 0x061B, 0x061B, LETTER_COMMA },	/* Arabic semicolon */
	{ 0x061F, 0x061F, LETTER_STRONG },	/* Arabic question mark */
	{ 0x06D4, 0x06D4, LETTER_FULL },	/* Urdu full stop */
	{ 0x0964, 0x0965, LETTER_FULL },	/* danda, double danda */
	{ 0x104A, 0x104B, LETTER_FULL },	/* Myanmar section marks */
	{ 0x1362, 0x1362, LETTER_FULL },	/* Ethiopic full stop */
	{ 0x1367, 0x1368, LETTER_FULL },	/* Ethiopic question mark, paragraph separator */
	{ 0x17D4, 0x17D5, LETTER_FULL },	/* Khmer khan, bariyoosan */
	{ 0x2010, 0x2015, LETTER_DASH },
	{ 0x2018, 0x2018, LETTER_QUOTE_OPEN },
	{ 0x2019, 0x2019, LETTER_QUOTE_CLOSE },
	{ 0x201A, 0x201A, LETTER_OPEN },	/* low single quote */
	{ 0x201B, 0x201C, LETTER_QUOTE_OPEN },
	{ 0x201D, 0x201D, LETTER_QUOTE_CLOSE },
	{ 0x201E, 0x201E, LETTER_OPEN },	/* low double quote */
	{ 0x201F, 0x201F, LETTER_QUOTE_OPEN },
	{ 0x2020, 0x2021, LETTER_CLOSE },	/* daggers */
	{ 0x2022, 0x2023, LETTER_BULLET },
	{ 0x2026, 0x2026, LETTER_ELLIPSIS },
	{ 0x2039, 0x2039, LETTER_QUOTE_OPEN },
	{ 0x203A, 0x203A, LETTER_QUOTE_CLOSE },
	{ 0x203C, 0x203D, LETTER_STRONG },	/* double !, interrobang */
	{ 0x2043, 0x2043, LETTER_BULLET },
	{ 0x2047, 0x2049, LETTER_STRONG },	/* ?? ?! !? */
	{ 0x2070, 0x2079, LETTER_CLOSE },	/* superscripts */
	{ 0x20A0, 0x20C0, LETTER_DIGIT },	/* currency signs */
	{ 0x25A0, 0x25CF, LETTER_BULLET },
	{ 0x3001, 0x3001, LETTER_COMMA },
	{ 0x3002, 0x3002, LETTER_FULL },
	{ 0x3008, 0x3008, LETTER_OPEN },
	{ 0x3009, 0x3009, LETTER_CLOSE },
	{ 0x300A, 0x300A, LETTER_OPEN },
	{ 0x300B, 0x300B, LETTER_CLOSE },
	{ 0x300C, 0x300C, LETTER_OPEN },
	{ 0x300D, 0x300D, LETTER_CLOSE },
	{ 0x300E, 0x300E, LETTER_OPEN },
	{ 0x300F, 0x300F, LETTER_CLOSE },
	{ 0x3010, 0x3010, LETTER_OPEN },
	{ 0x3011, 0x3011, LETTER_CLOSE },
	{ 0x3014, 0x3014, LETTER_OPEN },
	{ 0x3015, 0x3015, LETTER_CLOSE },
	{ 0x301D, 0x301D, LETTER_QUOTE_OPEN },
	{ 0x301E, 0x301F, LETTER_QUOTE_CLOSE },
	{ 0xFF01, 0xFF01, LETTER_FULL },
	{ 0xFF08, 0xFF08, LETTER_OPEN },
	{ 0xFF09, 0xFF09, LETTER_CLOSE },
	{ 0xFF0C, 0xFF0C, LETTER_COMMA },
	{ 0xFF0E, 0xFF0E, LETTER_FULL },
	{ 0xFF10, 0xFF19, LETTER_DIGIT },
	{ 0xFF1A, 0xFF1B, LETTER_COMMA },
	{ 0xFF1F, 0xFF1F, LETTER_FULL },
	{ 0xFF61, 0xFF61, LETTER_FULL },
	{ 0xFF62, 0xFF62, LETTER_OPEN },
	{ 0xFF63, 0xFF63, LETTER_CLOSE },
};

static enum letter by_category(uint32_t cp)
{
	switch (utf8proc_category((utf8proc_int32_t)cp)) {
	case UTF8PROC_CATEGORY_LU:
	case UTF8PROC_CATEGORY_LT: return LETTER_UPPER;
	case UTF8PROC_CATEGORY_LL: return LETTER_LOWER;
	case UTF8PROC_CATEGORY_ND: return LETTER_DIGIT;
	case UTF8PROC_CATEGORY_PD: return LETTER_DASH;
	case UTF8PROC_CATEGORY_PS:
	case UTF8PROC_CATEGORY_PI: return LETTER_OPEN;
	case UTF8PROC_CATEGORY_PE:
	case UTF8PROC_CATEGORY_PF: return LETTER_CLOSE;
	default: return LETTER_OTHER;
	}
}

enum letter letter_of(uint32_t cp)
{
	size_t low = 0, high = sizeof(marks) / sizeof(marks[0]);

	if (cp < 0x80)
		return ascii[cp];
	while (low < high) {
		const size_t middle = (low + high) / 2;

		if (cp > marks[middle].last)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < sizeof(marks) / sizeof(marks[0]) && cp >= marks[low].first)
		return marks[low].letter;
	return utf8_is_space(cp) ? LETTER_SPACE : by_category(cp);
}

enum letter letter_at(const char *text, size_t at, unsigned *size)
{
	const char *p = text + at;
	uint32_t cp = utf8_next(&p);

	*size = (unsigned)(p - (text + at));
	return letter_of(cp);
}

enum letter letter_before(const char *text, size_t start, size_t at, size_t *before)
{
	unsigned size;

	assert(start < at);
	do
		at--;
	while (at > start && ((unsigned char)text[at] & 0xC0) == 0x80);
	*before = at;
	return letter_at(text, at, &size);
}

bool letter_stops(enum letter l)
{
	return l == LETTER_DOT || l == LETTER_STRONG || l == LETTER_ELLIPSIS || l == LETTER_FULL;
}

size_t letter_skip_spaces(const char *text, size_t len, size_t at)
{
	unsigned size;

	while (at < len && letter_at(text, at, &size) == LETTER_SPACE)
		at += size;
	return at;
}

bool letter_match(const char *text, size_t len, size_t at, const char *what)
{
	const size_t n = strlen(what);

	return len - at >= n && memcmp(text + at, what, n) == 0;
}

bool letter_in_word(const char *text, size_t len, size_t at)
{
	unsigned size;
	enum letter l;

	if (at >= len)
		return false;
	l = letter_at(text, at, &size);
	return l == LETTER_UPPER || l == LETTER_LOWER || l == LETTER_DIGIT || l == LETTER_OTHER;
}
