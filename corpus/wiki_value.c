/*
 * Templates that stand for quantities, and a few others that a format cannot say.
 */
#include "corpus/wiki_template.h"

#include "corpus/wiki_raise.h"

#include <ctype.h>
#include <stdlib.h>

struct unit {
	const char *code, *text;
};

/* Sorted. Units of {{convert}} whose code is not how they are written; a 2 or 3 at the end of others is raised. */
static const struct unit units[] = {
	{ "C", "°C" }, { "C-change", "°C" }, { "F", "°F" }, { "F-change", "°F" }, { "LT", "long tons" },
	{ "MT", "tonnes" }, { "Nm", "N⋅m" }, { "ST", "short tons" }, { "USgal", "US gal" }, { "acre", "acres" },
	{ "acre.ft", "acre feet" }, { "acreft", "acre feet" }, { "cuft", "cu ft" }, { "cuft/s", "cu ft/s" },
	{ "cuin", "cu in" }, { "cumi", "cu mi" }, { "cuyd", "cu yd" }, { "degC", "°C" }, { "degF", "°F" },
	{ "foot", "ft" }, { "hand", "hands" }, { "impgal", "imp gal" }, { "kn", "knots" }, { "kph", "km/h" },
	{ "lbft", "lb⋅ft" }, { "lbs", "lb" }, { "mpgimp", "mpg imp" }, { "mpgus", "mpg US" }, { "ozt", "ozt" },
	{ "sqft", "sq ft" }, { "sqin", "sq in" }, { "sqkm", "km²" }, { "sqm", "m²" }, { "sqmi", "sq mi" },
	{ "sqyd", "sq yd" }, { "t", "tonnes" }, { "usgal", "US gal" },
};

static const struct unit ranges[] = {
	{ "&", " & " }, { "+/-", " ± " }, { "-", "–" }, { "and", " and " }, { "by", " by " }, { "or", " or " },
	{ "to", " to " }, { "to(-)", " to " }, { "x", " by " }, { "xx", " by " }, { "±", " ± " }, { "×", " by " },
	{ "–", "–" },
};

static int compare_unit(const void *key, const void *item)
{
	const struct span *s = key;
	const char *code = ((const struct unit *)item)->code;
	const size_t n = strlen(code);
	const int order = memcmp(s->text, code, s->len < n ? s->len : n);

	return order ? order : (s->len > n) - (s->len < n);
}

static const char *find_unit(const struct unit *table, size_t n, struct span code)
{
	const struct unit *u = bsearch(&code, table, n, sizeof(*table), compare_unit);

	return u ? u->text : NULL;
}

static bool is_digits(struct span s)
{
	for (size_t i = 0; i < s.len; i++)
		if (!isdigit((unsigned char)s.text[i]))
			return false;
	return s.len > 0;
}

/* A number as people write it: "1,278.5", "-27", "1+1/2". */
static bool is_number(struct span s)
{
	bool digit = false;

	if (span_starts(s, "−"))
		s = span_skip(s, strlen("−"));
	for (size_t i = 0; i < s.len; i++) {
		digit |= isdigit((unsigned char)s.text[i]) != 0;
		if (!isdigit((unsigned char)s.text[i]) && !strchr("+-./, e", s.text[i]))
			return false;
	}
	return digit;
}

/* What stands between thousands, and before decimals, by language; NULL where numbers are left as they are. */
static const char *thousands(const char *lang)
{
	static const char *const comma = " en simple ja zh ko th he ar hi bn ta te ms tl ur ";
	static const char *const point = " de es it nl pt id tr da el ro sl hr sr vi ca gl eu is ";
	static const char *const space = " fr ru pl cs sv no nb nn fi uk bg hu sk et lv lt be kk ka ";
	char word[20] = " en ";

	if (*lang && strlen(lang) < sizeof(word) - 2)
		snprintf(word, sizeof(word), " %s ", lang);
	return strstr(comma, word) ? "," : strstr(point, word) ? "." : strstr(space, word) ? " " : NULL;
}

int wiki_format_number(const struct wikitext *w, struct span number, struct buf *b)
{
	const char *const gap = thousands(w->site->lang);
	const size_t point = span_find(number, '.');
	size_t start = 0;

	if (number.len && (number.text[0] == '-' || number.text[0] == '+'))
		start = 1;
	if (!gap || !is_digits((struct span){ number.text + start, point - start }) ||
	    (point < number.len && !is_digits(span_skip(number, point + 1))))
		return buf_add(b, number.text, number.len);
	for (size_t i = 0; i < point; i++) {
		if (i > start && (point - i) % 3 == 0 && buf_adds(b, gap))
			return -1;
		if (buf_add_byte(b, (unsigned char)number.text[i]))
			return -1;
	}
	if (point == number.len)
		return 0;
	if (buf_adds(b, *gap == ',' ? "." : ","))
		return -1;
	return buf_add(b, number.text + point + 1, number.len - point - 1);
}

/* A value of {{convert}}: grouped on an English wiki, "1+1/2" as "1 1/2". */
static int put_value(const struct wikitext *w, struct span value, struct buf *b)
{
	if (w->english && memchr(value.text, '/', value.len) == NULL)
		return wiki_format_number(w, value, b);
	for (size_t i = 0; i < value.len; i++) {
		const char c = value.text[i];

		if (c == '/' && i && value.text[i - 1] == '/')
			continue;
		if (buf_add_byte(b, c == '+' && i ? ' ' : (unsigned char)c))
			return -1;
	}
	return 0;
}

static int put_unit(struct span unit, struct buf *b)
{
	static const struct unit powers[] = { { "e3", "thousand " }, { "e6", "million " }, { "e9", "billion " }, { "e12", "trillion " } };
	const char *text;

	for (size_t i = 0; i < sizeof(powers) / sizeof(powers[0]); i++) {
		if (!span_starts_nocase(unit, powers[i].code))
			continue;
		unit = span_skip(unit, strlen(powers[i].code));
		if (buf_adds(b, powers[i].text))
			return -1;
		break;
	}
	text = find_unit(units, sizeof(units) / sizeof(units[0]), unit);
	if (text)
		return buf_adds(b, text);
	if (unit.len > 1 && (unit.text[unit.len - 1] == '2' || unit.text[unit.len - 1] == '3'))
		return buf_add(b, unit.text, unit.len - 1) ? -1 : wiki_raise(span_skip(unit, unit.len - 1), false, b);
	return buf_add(b, unit.text, unit.len);
}

/* {{convert|10|to|20|km|mi}}: "10 to 20 km"; {{convert|6|ft|2|in|m}}: "6 ft 2 in". What it converts to is left out. */
int wiki_convert(const struct wikitext *w, const char *format, const struct wiki_args *a, struct buf *b)
{
	unsigned i = 1;

	(void)format;
	if (!is_number(wiki_arg(a, 1)))
		return 1;
	for (;; i++) {
		const struct span value = wiki_arg(a, i), next = wiki_arg(a, i + 1);
		const char *range;

		if (put_value(w, value, b))
			return -1;
		range = find_unit(ranges, sizeof(ranges) / sizeof(ranges[0]), next);
		if (range && is_number(wiki_arg(a, i + 2))) {
			i++;
			if (buf_adds(b, range))
				return -1;
			continue;
		}
		if (next.len && (buf_add_byte(b, ' ') || put_unit(next, b)))
			return -1;
		i++;
		if (i > 16 || !is_number(wiki_arg(a, i + 1)) || !wiki_arg(a, i + 2).len || is_number(wiki_arg(a, i + 2)))
			return 0;
		if (buf_add_byte(b, ' '))
			return -1;
	}
}

/* {{val|1.5|0.2|e=6|u=kg}}: "1.5±0.2×10⁶ kg". */
int wiki_val(const struct wikitext *w, const char *format, const struct wiki_args *a, struct buf *b)
{
	const struct span up = wiki_arg(a, 2), down = wiki_arg(a, 3), power = wiki_arg_named(a, "e");
	struct span unit = wiki_arg_named(a, "u");
	int rc;

	(void)format;
	if (!unit.len)
		unit = wiki_arg_named(a, "ul");
	rc = wiki_format_number(w, wiki_arg(a, 1), b);
	if (!rc && up.len)
		rc = buf_adds(b, down.len ? "+" : "±") || buf_add(b, up.text, up.len);
	if (!rc && down.len)
		rc = buf_adds(b, "−") || buf_add(b, down.text, down.len);
	if (!rc && power.len) {
		rc = buf_adds(b, b->len ? "×10" : "10");
		if (!rc)
			rc = wiki_can_raise(power) ? wiki_raise(power, false, b) : buf_add(b, power.text, power.len);
	}
	if (!rc && unit.len)
		rc = buf_adds(b, unit.text[0] == '%' ? "" : " ") || buf_add(b, unit.text, unit.len);
	return rc ? -1 : !b->len;
}

/* {{frac|2}}: "1/2"; {{frac|1|2}}: "1/2"; {{frac|3|1|2}}: "3 1/2". */
int wiki_frac(const struct wikitext *w, const char *format, const struct wiki_args *a, struct buf *b)
{
	(void)w;
	(void)format;
	if (wiki_arg(a, 3).len)
		return wiki_format("$1 $2/$3", a, b);
	return wiki_format(wiki_arg(a, 2).len ? "$1/$2" : "[1/$1]", a, b);
}

int wiki_height(const struct wikitext *w, const char *format, const struct wiki_args *a, struct buf *b)
{
	(void)w;
	(void)format;
	return wiki_format(wiki_arg_named(a, "ft").len ? "[${ft} ft][ ${in} in]" : "[${m} m][${cm} cm]", a, b);
}

/* A number with groups, "1,234.5", as a double; 0 when it is none. */
static double value_of(struct span s)
{
	char digits[32];
	size_t n = 0;

	for (size_t i = 0; i < s.len && n + 1 < sizeof(digits); i++)
		if (isdigit((unsigned char)s.text[i]) || s.text[i] == '.')
			digits[n++] = s.text[i];
	digits[n] = 0;
	return strtod(digits, NULL);
}

/* {{pop density|3645257|640081.87|km2}}: "5.7/km²". */
int wiki_density(const struct wikitext *w, const char *format, const struct wiki_args *a, struct buf *b)
{
	const double people = value_of(wiki_arg(a, 1)), area = value_of(wiki_arg(a, 2));

	(void)w;
	(void)format;
	if (people <= 0 || area <= 0)
		return 1;
	if (buf_addf(b, people / area < 100 ? "%.1f/" : "%.0f/", people / area))
		return -1;
	return put_unit(wiki_arg(a, 3), b);
}

int wiki_ordinal(const struct wikitext *w, const char *format, const struct wiki_args *a, struct buf *b)
{
	const struct span n = wiki_arg(a, 1);
	const char last = n.len ? n.text[n.len - 1] : 0;
	const bool teen = n.len > 1 && n.text[n.len - 2] == '1';

	(void)w;
	(void)format;
	if (!is_digits(n))
		return wiki_format("$1", a, b);
	if (buf_add(b, n.text, n.len))
		return -1;
	return buf_adds(b, teen ? "th" : last == '1' ? "st" : last == '2' ? "nd" : last == '3' ? "rd" : "th");
}

/* {{chem|NH|4|+}}: "NH₄⁺": every second argument is a number to lower, or a charge to raise. */
int wiki_chem(const struct wikitext *w, const char *format, const struct wiki_args *a, struct buf *b)
{
	bool number = false;

	(void)w;
	(void)format;
	for (size_t i = 1; i < a->n; i++, number = !number) {
		const struct span s = wiki_part_text(a, i);
		const bool charge = s.len && !isdigit((unsigned char)s.text[s.len - 1]);

		if (a->parts[i].equals)
			continue;
		if (wiki_can_raise(s) && (number || charge)) {
			if (wiki_raise(s, !charge, b))
				return -1;
		} else if (buf_add(b, s.text, s.len)) {
			return -1;
		}
	}
	return !b->len;
}

/* {{HMS|Victory|1765}}: "HMS Victory (1765)"; the third argument says what of this is shown. FORMAT is the prefix. */
int wiki_ship(const struct wikitext *w, const char *format, const struct wiki_args *a, struct buf *b)
{
	const struct span show = wiki_arg(a, 3);

	(void)w;
	if (!wiki_arg(a, 1).len)
		return 1;
	if (span_is(show, "6"))
		return wiki_format("$1", a, b);
	if (span_is(show, "1") && wiki_arg(a, 2).len)
		return wiki_format("$2", a, b);
	if (!span_is(show, "3") && !span_is(show, "5") && buf_addf(b, "%s ", format))
		return -1;
	return wiki_format(span_is(show, "2") || span_is(show, "5") ? "$1" : "$1[ ($2)]", a, b);
}

/* {{harvtxt|Smith|Jones|2000}}: "Smith and Jones (2000)". */
int wiki_harvtxt(const struct wikitext *w, const char *format, const struct wiki_args *a, struct buf *b)
{
	static const char *const formats[] = { "$1", "$1 ($2)", "$1 and $2 ($3)", "$1, $2 and $3 ($4)", "$1 et al. ($5)" };
	const size_t n = wiki_arg_count(a);

	(void)w;
	(void)format;
	return n && n <= sizeof(formats) / sizeof(formats[0]) ? wiki_format(formats[n - 1], a, b) : 1;
}
