/*
 * Templates that stand for dates. None knows today's: a living person's age is left out.
 */
#include "corpus/wiki_template.h"

#include <ctype.h>

static const char *const months[] = { "January", "February", "March", "April", "May", "June", "July", "August",
	"September", "October", "November", "December" };

struct date {
	int year, month, day;		/* month and day 0 when not told */
};

/* A number of at most four digits; -1 when it is none. */
static int number_of(struct span s)
{
	int n = 0;

	if (!s.len || s.len > 4)
		return -1;
	for (size_t i = 0; i < s.len; i++) {
		if (!isdigit((unsigned char)s.text[i]))
			return -1;
		n = 10 * n + (s.text[i] - '0');
	}
	return n;
}

static int month_of(struct span s)
{
	const int n = number_of(s);

	if (n >= 0)
		return n <= 12 ? n : 0;
	for (int m = 0; m < 12 && s.len >= 3; m++)	/* "Jan" will do */
		if (s.len <= strlen(months[m]) && !strncasecmp(months[m], s.text, s.len))
			return m + 1;
	return 0;
}

/* The date whose year is argument FIRST; false when that is no year. */
static bool read_date(const struct wiki_args *a, unsigned first, struct date *d)
{
	d->year = number_of(wiki_arg(a, first));
	d->month = month_of(wiki_arg(a, first + 1));
	d->day = d->month ? number_of(wiki_arg(a, first + 2)) : 0;
	if (d->day < 1 || d->day > 31)
		d->day = 0;
	return d->year >= 0;
}

static int put_date(const struct wikitext *w, struct date d, bool day_first, struct buf *b)
{
	if (!w->english) {
		const int rc = d.day ? buf_addf(b, "%d-%02d-%02d", d.year, d.month, d.day)
				     : d.month ? buf_addf(b, "%d-%02d", d.year, d.month) : buf_addf(b, "%d", d.year);

		return rc;
	}
	if (!d.month)
		return buf_addf(b, "%d", d.year);
	if (!d.day)
		return buf_addf(b, "%s %d", months[d.month - 1], d.year);
	if (day_first)
		return buf_addf(b, "%d %s %d", d.day, months[d.month - 1], d.year);
	return buf_addf(b, "%s %d, %d", months[d.month - 1], d.day, d.year);
}

static int years_between(struct date from, struct date to)
{
	return to.year - from.year - (to.month < from.month || (to.month == from.month && to.day < from.day));
}

/* "1": the date whose year is argument 1; "1 4": the same, and how long after that of argument 4. */
int wiki_date(const struct wikitext *w, const char *format, const struct wiki_args *a, struct buf *b)
{
	const struct span order = wiki_arg_named(a, "df");
	struct date d, from;

	if (!read_date(a, 1, &d))
		return wiki_format("$1", a, b);
	if (put_date(w, d, order.len && order.text[0] != 'n', b))
		return -1;
	if (!w->english || strlen(format) < 3 || !read_date(a, (unsigned)(format[2] - '0'), &from) || !d.day || !from.day)
		return 0;
	return buf_addf(b, " (aged %d)", years_between(from, d));
}

/* {{as of|2010|3|lc=y}}: "as of March 2010". */
int wiki_as_of(const struct wikitext *w, const char *format, const struct wiki_args *a, struct buf *b)
{
	const bool lower = wiki_arg_named(a, "lc").len, since = wiki_arg_named(a, "since").len;
	struct date d;

	(void)format;
	if (wiki_arg_named(a, "alt").len)
		return wiki_format("${alt}", a, b);
	if (!wiki_arg(a, 1).len)
		return 1;
	if (!wiki_arg_named(a, "bare").len && buf_adds(b, since ? (lower ? "since " : "Since ") : (lower ? "as of " : "As of ")))
		return -1;
	if (!read_date(a, 1, &d))
		return wiki_format("$1", a, b);
	return put_date(w, d, !span_is(wiki_arg_named(a, "df"), "US"), b);
}

/* {{age|1900|1|2|1950|3|4}}: "50". */
int wiki_age(const struct wikitext *w, const char *format, const struct wiki_args *a, struct buf *b)
{
	struct date from, to;

	(void)w;
	(void)format;
	if (!read_date(a, 1, &from) || !read_date(a, 4, &to))
		return 1;
	return buf_addf(b, "%d", years_between(from, to));
}
