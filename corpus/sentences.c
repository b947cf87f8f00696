#include "corpus/sentences.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/map.h"
#include "base/utf8.h"
#include "corpus/abbreviations.h"
#include "corpus/letters.h"
#include "corpus/stop.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#define WORD_MAX 24		/* bytes; longer words are no abbreviations */
#define TITLE_MAX 192		/* bytes on either side, within which a title's brackets are looked for */
#define MARK_MAX 16		/* bytes of a list's mark at the beginning of a sentence */

/* What the language's lists say of a word; CAPITAL << n: that only where it has its capital. */
enum word_class {
	WORD_JOINS = 1 << 0,
	WORD_COUNTS = 1 << 1,
	WORD_ENDS = 1 << 2,
	WORD_STARTS = 1 << 3,
};
#define CAPITAL_SHIFT 4

struct sentences {
	const struct language *language;
	struct map words;		/* in lower case: enum word_class */
};

/* --- the language's words ----------------------------------------------------- */

/* TEXT[0..len), len <= WORD_MAX, in lower case to OUT; returns its length. */
static size_t lower_case(const char *text, size_t len, char out[4 * WORD_MAX])
{
	const char *p = text, *const end = text + len;
	size_t n = 0;

	while (p < end)
		if ((unsigned char)*p < 0x80)
			out[n++] = (char)tolower((unsigned char)*p++);
		else
			n += utf8_write((uint32_t)utf8proc_tolower((utf8proc_int32_t)utf8_next(&p)), out + n);
	return n;
}

static int add_words(struct sentences *s, const char *list, enum word_class class)
{
	while (list && *list) {
		const size_t len = strcspn(list, " ");
		char key[4 * WORD_MAX];
		unsigned size;
		const bool capital = class != WORD_STARTS && letter_at(list, 0, &size) == LETTER_UPPER;
		uint64_t *v;

		assert(len <= WORD_MAX);
		v = map_put(&s->words, key, lower_case(list, len, key));
		if (!v)
			return -1;
		*v |= (uint64_t)class << (capital ? CAPITAL_SHIFT : 0);
		list += len + (list[len] == ' ');
	}
	return 0;
}

static unsigned class_of_word(const struct sentences *s, const char *text, size_t len)
{
	char key[4 * WORD_MAX];
	const uint64_t *v;
	unsigned size;

	if (!len || len > WORD_MAX)
		return 0;
	v = map_get(&s->words, key, lower_case(text, len, key));
	if (!v)
		return 0;
	return letter_at(text, 0, &size) == LETTER_UPPER ? (unsigned)(*v | *v >> CAPITAL_SHIFT) : (unsigned)*v;
}

static int unknown_language(const char *code)
{
	struct buf known = BUF_INIT;
	int failed = 0;

	for (size_t i = 0; i < abbreviations_count; i++)
		failed |= buf_addf(&known, "%s%s", i ? " " : "", abbreviations[i].code);
	if (!failed)
		err_usage("language '%s' is not known; known are: %s", code, known.data);
	buf_release(&known);
	return -1;
}

int sentences_open(struct sentences **out, const char *language)
{
	const struct language *l = abbreviations_of(language);
	struct sentences *s;

	*out = NULL;
	if (!l)
		return unknown_language(language);
	s = calloc(1, sizeof(*s));
	if (!s)
		return err_memory();
	s->language = l;
	if (add_words(s, l->joins, WORD_JOINS) || add_words(s, l->counts, WORD_COUNTS) ||
	    add_words(s, l->ends, WORD_ENDS) || add_words(s, l->starters, WORD_STARTS)) {
		sentences_close(s);
		return -1;
	}
	*out = s;
	return 0;
}

void sentences_close(struct sentences *s)
{
	if (!s)
		return;
	map_release(&s->words);
	free(s);
}

/* --- what stands around them -------------------------------------------------- */

/* The first character at AT or later that is no space, quotation mark, opening bracket, dash or bullet. */
static enum letter look_ahead(const char *text, size_t len, size_t *at)
{
	while (*at < len) {
		unsigned size;
		const enum letter l = letter_at(text, *at, &size);

		if (l != LETTER_SPACE && l != LETTER_OPEN && l != LETTER_QUOTE && l != LETTER_QUOTE_OPEN &&
		    l != LETTER_QUOTE_CLOSE && l != LETTER_DASH && l != LETTER_BULLET)
			return l;
		*at += size;
	}
	return LETTER_SPACE;
}

/* Whether L may be inside an abbreviation: letters, marks, stops, and signs such as those of "n°". */
static bool is_word_letter(enum letter l)
{
	return l == LETTER_UPPER || l == LETTER_LOWER || l == LETTER_OTHER || l == LETTER_DIGIT || l == LETTER_DOT;
}

/* Where the word that ends before TEXT[end] begins; END when there is none or a very long one. */
static size_t word_before(const char *text, size_t start, size_t end)
{
	size_t at = end, before;

	while (at > start && is_word_letter(letter_before(text, start, at, &before))) {
		at = before;
		if (end - at > WORD_MAX)
			return end;
	}
	return at;
}

/* Length of the run of letters at AT. */
static size_t letters_at(const char *text, size_t len, size_t at)
{
	const size_t start = at;
	unsigned size;

	while (at < len && at - start <= WORD_MAX) {
		const enum letter l = letter_at(text, at, &size);

		if (l != LETTER_UPPER && l != LETTER_LOWER && l != LETTER_OTHER)
			break;
		at += size;
	}
	return at - start;
}

static bool is_roman(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!memchr("IVXLCDM", text[i], 7))
			return false;
	return len > 0 && len <= 7;
}

/* Whether the word at AT usually begins sentences, and is no initial. */
static bool is_starter(const struct sentences *s, const char *text, size_t len, size_t at)
{
	const size_t n = letters_at(text, len, at);
	const bool stopped = at + n < len && text[at + n] == '.';

	return !(n <= 2 && stopped) && (class_of_word(s, text + at, n) & WORD_STARTS);
}

/* Whether the word at AT is the language's pronoun that always has a capital. */
static bool is_pronoun(const struct sentences *s, const char *text, size_t len, size_t at)
{
	const char *pronoun = s->language->pronoun;

	return pronoun && letters_at(text, len, at) == strlen(pronoun) && letter_match(text, len, at, pronoun);
}

/* Whether the word at AT is a Roman numeral; the pronoun "I" is one only before punctuation. */
static bool is_numeral(const struct sentences *s, const char *text, size_t len, size_t at)
{
	const size_t n = letters_at(text, len, at), end = at + n;

	if (!is_roman(text + at, n))
		return false;
	return !is_pronoun(s, text, len, at) || end == len || memchr(".,;:)", text[end], 5);
}

/* Whether the letter at AT is the end of something longer: "James's", "x=y". */
static bool is_tail(const char *text, size_t start, size_t at)
{
	size_t mark, letter;
	enum letter l;

	if (at == start)
		return false;
	l = letter_before(text, start, at, &mark);
	if (l == LETTER_COMMA)
		return true;
	if ((l != LETTER_QUOTE && l != LETTER_QUOTE_CLOSE) || mark == start)
		return false;
	l = letter_before(text, start, mark, &letter);
	return l == LETTER_UPPER || l == LETTER_LOWER;
}

/* Whether TEXT[start..dot) is nothing but a list's number or letter: "1", "(a", "• IV". */
static bool is_list_number(const char *text, size_t start, size_t dot)
{
	size_t at = start, end, run = 0;
	unsigned size;

	if (dot - start > MARK_MAX)
		return false;
	look_ahead(text, dot, &at);
	if (at >= dot)
		return false;
	for (end = at; end < dot && run <= 3 && (isdigit((unsigned char)text[end]) || text[end] == '.'); end++)
		run = text[end] == '.' ? 0 : run + 1;
	if (end == dot)
		return run <= 3;	/* four digits are a year */
	if (letter_at(text, at, &size) == LETTER_UPPER || letter_at(text, at, &size) == LETTER_LOWER)
		return at + size == dot || (dot - at <= 5 && is_roman(text + at, dot - at));
	return false;
}

/* Whether a word is letters in ones and twos with stops between them: "U.S", "Ph.D". */
static bool is_acronym(const char *text, size_t len)
{
	size_t at = 0, run = 0, stops = 0;
	unsigned size;

	for (; at < len; at += size) {
		const enum letter l = letter_at(text, at, &size);

		if (l == LETTER_DOT ? run == 0 : l != LETTER_UPPER && l != LETTER_LOWER)
			return false;
		run = l == LETTER_DOT ? 0 : run + 1;
		stops += l == LETTER_DOT;
		if (run > 2)
			return false;
	}
	return stops > 0 && run > 0;
}

/* Whether a word, with a stop after it, may be an ordinal number: "3", "19", "XIV". */
static bool is_ordinal(const char *text, size_t len)
{
	if (isdigit((unsigned char)text[0]))
		return len == 1 || (len == 2 && isdigit((unsigned char)text[1]));
	return len >= 2 && is_roman(text, len);
}

/* --- rules -------------------------------------------------------------------- */

/* One letter and a stop. An initial, unless it is "I" after a small word, or part of "z. B.". */
static bool initial_ends(const struct sentences *s, const char *text, size_t start, size_t word, bool starter)
{
	size_t before = word, previous;
	unsigned size;

	while (before > start && letter_before(text, start, before, &previous) == LETTER_SPACE)
		before = previous;
	previous = word_before(text, start, before);
	if (previous < before && before - previous <= UTF8_MAX + 1 && text[before - 1] == '.')
		return false;		/* after another one */
	if (s->language->pronoun && text[word] == s->language->pronoun[0] && previous < before &&
	    letter_at(text, previous, &size) == LETTER_LOWER)
		return true;
	return starter;
}

/* Whether a single full stop ends the sentence, NEXT at AHEAD following it. */
static bool dot_ends(const struct sentences *s, const char *text, size_t len, size_t start, const struct stop *st,
		     enum letter next, size_t ahead)
{
	const size_t word = word_before(text, start, st->first), n = st->first - word;
	const bool starter = next != LETTER_DIGIT && is_starter(s, text, len, ahead);
	unsigned class, size;
	enum letter first;

	if (is_list_number(text, start, st->first))
		return false;
	if (!n)
		return true;
	first = letter_at(text, word, &size);
	class = class_of_word(s, text + word, n);
	if (class & WORD_JOINS)
		return st->closed && starter;
	if ((class & WORD_COUNTS) && (next == LETTER_DIGIT || is_numeral(s, text, len, ahead)))
		return false;
	if (n == size && (first == LETTER_UPPER || first == LETTER_LOWER))
		return is_tail(text, start, word) || initial_ends(s, text, start, word, starter);
	if ((class & WORD_ENDS) || is_acronym(text + word, n))
		return starter;
	return s->language->ordinals && is_ordinal(text + word, n) ? starter : true;
}

/* Whether an ellipsis does: not in brackets, nor before "I"; apart from the word before it, before a starter only. */
static bool ellipsis_ends(const struct sentences *s, const char *text, size_t len, size_t start, const struct stop *st,
			  size_t ahead)
{
	size_t before;
	enum letter l;

	if (st->first == start)
		return false;
	l = letter_before(text, start, st->first, &before);
	if (l == LETTER_OPEN)
		return false;
	if (st->dots > 3 || st->closed)
		return true;
	return !is_pronoun(s, text, len, ahead) && (l != LETTER_SPACE || is_starter(s, text, len, ahead));
}

/* Whether "!" or "?" is inside a title in angle brackets. */
static bool inside_title(const char *text, size_t len, size_t start, size_t at)
{
	static const char open[] = "\xE3\x80\x8A", close[] = "\xE3\x80\x8B";	/* U+300A, U+300B */
	const size_t from = at - start > TITLE_MAX ? at - TITLE_MAX : start;
	const size_t n = len - at > TITLE_MAX ? TITLE_MAX : len - at;
	const char *end = memmem(text + at, n, close, 3), *other;

	if (!end)
		return false;
	other = memmem(text + at, (size_t)(end - (text + at)), open, 3);
	for (size_t i = at; !other && i-- > from;) {
		if (memcmp(text + i, open, 3) == 0)
			return true;
		if (memcmp(text + i, close, 3) == 0)
			return false;
	}
	return false;
}

/* Whether a terminator of a script without capitals, which needs no space after it, ends the sentence. */
static bool full_ends(const char *text, size_t len, size_t start, const struct stop *st, enum letter next)
{
	static const char to[] = "\xE3\x81\xA8", tte[] = "\xE3\x81\xA3\xE3\x81\xA6";	/* so he said */

	if (next == LETTER_COMMA || letter_stops(next) || (st->wide && next == LETTER_DIGIT))
		return false;
	if (st->quoted && (letter_match(text, len, st->end, to) || letter_match(text, len, st->end, tte)))
		return false;
	return !inside_title(text, len, start, st->first);
}

/* "!" and "?" of ASCII between two Chinese or Japanese characters stand for their wide forms. */
static bool is_between_wide(const char *text, size_t len, size_t start, const struct stop *st)
{
	size_t before;
	unsigned size;

	if (!st->strong || st->first == start || st->end >= len)
		return false;
	return letter_before(text, start, st->first, &before) == LETTER_OTHER && (unsigned char)text[before] >= 0xE3 &&
	       (unsigned char)text[before] <= 0xE9 && letter_at(text, st->end, &size) == LETTER_OTHER &&
	       (unsigned char)text[st->end] >= 0xE3 && (unsigned char)text[st->end] <= 0xE9;
}

/* Whether the line has no capital at all: then small letters begin its sentences. */
static bool is_lower_cased(struct sentence_scan *scan)
{
	unsigned size;

	if (!scan->lower_cased) {
		scan->lower_cased = 1;
		for (size_t at = 0; at < scan->len && scan->lower_cased > 0; at += size)
			if (letter_at(scan->text, at, &size) == LETTER_UPPER)
				scan->lower_cased = -1;
	}
	return scan->lower_cased > 0;
}

/* Whether the sentence that begins at scan->at ends with ST. */
static bool stop_ends(struct sentence_scan *scan, const struct stop *st)
{
	const struct sentences *s = scan->rules;
	const char *text = scan->text;
	const size_t len = scan->len, start = scan->at;
	size_t ahead = st->end;
	enum letter next;
	unsigned size;
	const bool spaced = st->end < len && letter_at(text, st->end, &size) == LETTER_SPACE;

	if (!spaced && !st->full && !is_between_wide(text, len, start, st))
		return false;
	next = look_ahead(text, len, &ahead);
	if (ahead >= len)
		return false;
	if (next == LETTER_DOT && letter_in_word(text, len, ahead + 1))
		next = LETTER_OTHER;	/* ".NET", ".5" */
	if (st->full)
		return full_ends(text, len, start, st, next);
	if (next == LETTER_LOWER && (st->closed || !is_lower_cased(scan)))
		return false;
	if (next == LETTER_COMMA || next == LETTER_CLOSE || letter_stops(next))
		return false;
	if (st->strong)
		return !inside_title(text, len, start, st->first);
	if (st->ellipsis)
		return ellipsis_ends(s, text, len, start, st, ahead);
	return dot_ends(s, text, len, start, st, next, ahead);
}

/* --- the scan ----------------------------------------------------------------- */

void sentence_start(struct sentence_scan *scan, const struct sentences *rules, const char *text, size_t len)
{
	const size_t skip = letter_skip_spaces(text, len, 0);

	scan->rules = rules;
	scan->text = text + skip;
	scan->len = len - skip;
	scan->at = 0;
	scan->lower_cased = 0;
	listing_start(&scan->list, scan->text, scan->len, rules->language->ordinals);
}

/* Where the sentence that begins at scan->at ends: past its last closing mark, or where the next item begins. */
static size_t find_end(struct sentence_scan *scan)
{
	size_t at = scan->at;

	while ((at = stop_find(scan->text, scan->len, at)) < scan->list.next) {
		const struct stop st = stop_read(scan->text, scan->len, at);

		if (st.end <= scan->list.next && stop_ends(scan, &st))
			return st.end;
		at = st.end;
	}
	return scan->list.next;
}

bool sentence_next(struct sentence_scan *scan, const char **text, size_t *len)
{
	const size_t start = scan->at;
	size_t end, before;

	if (start >= scan->len)
		return false;
	if (start == scan->list.next)
		listing_advance(&scan->list, scan->text, scan->len);
	end = find_end(scan);
	scan->at = letter_skip_spaces(scan->text, scan->len, end);
	while (end > start && letter_before(scan->text, start, end, &before) == LETTER_SPACE)
		end = before;
	*text = scan->text + start;
	*len = end - start;
	return true;
}
