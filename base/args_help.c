#include "base/args.h"

#include <inttypes.h>
#include <string.h>

#define HELP_COLUMN 30
#define HELP_WIDTH 80

static int add_size(struct buf *b, uint64_t v)
{
	static const char units[] = " KMGT";
	unsigned u = 0;

	while (v && v % 1024 == 0 && u < 4) {
		v /= 1024;
		u++;
	}
	return buf_addf(b, u ? "%" PRIu64 "%c" : "%" PRIu64, v, units[u]);
}

static int add_choice(struct buf *b, const char *words, int which)
{
	for (; which > 0; which--) {
		words += strcspn(words, "|");
		words += *words == '|';
	}
	return buf_add(b, words, strcspn(words, "|"));
}

/* The value an option has when nobody gives it; nothing for none, or one outside its range (0: chosen later). */
static int add_default(struct buf *b, const struct arg *o)
{
	const uint64_t n = o->type == ARG_TYPE_UINT || o->type == ARG_TYPE_SIZE ? *(const uint64_t *)o->value : 0;
	const int word = o->type == ARG_TYPE_CHOICE ? *(const int *)o->value : -1;

	switch (o->type) {
	case ARG_TYPE_FLAG: return *(const bool *)o->value ? buf_adds(b, "yes") : 0;
	case ARG_TYPE_STR: return *(const char *const *)o->value ? buf_adds(b, *(const char *const *)o->value) : 0;
	case ARG_TYPE_UINT: return n >= o->min && n <= o->max ? buf_addf(b, "%" PRIu64, n) : 0;
	case ARG_TYPE_SIZE: return n >= o->min && n <= o->max ? add_size(b, n) : 0;
	case ARG_TYPE_REAL: {
		const double v = *(const double *)o->value;

		return v >= o->low && v <= o->high ? buf_addf(b, "%g", v) : 0;
	}
	case ARG_TYPE_CHOICE: return word >= 0 ? add_choice(b, o->operand, word) : 0;
	default: return 0;
	}
}

static int add_spaces(struct buf *b, size_t n)
{
	return buf_addf(b, "%*s", (int)n, "");
}

/* Adds the words of TEXT from column AT on, continued at column INDENT, and a line end. */
static int add_wrapped(struct buf *b, const char *text, size_t at, size_t indent)
{
	bool first = true;

	while (*text) {
		const size_t n = strcspn(text, " ");

		if (!first && at + 1 + n > HELP_WIDTH) {
			if (buf_adds(b, "\n") || add_spaces(b, indent))
				return -1;
			at = indent;
		} else if (!first) {
			if (buf_adds(b, " "))
				return -1;
			at++;
		}
		if (buf_add(b, text, n))
			return -1;
		at += n;
		text += n;
		text += strspn(text, " ");
		first = false;
	}
	return buf_adds(b, "\n");
}

static int add_option(struct buf *b, struct buf *scratch, const struct arg *o)
{
	const size_t start = b->len;
	size_t at, before;

	if ((o->letter ? buf_addf(b, "  -%c, --%s", o->letter, o->name) : buf_addf(b, "      --%s", o->name)) ||
	    (o->operand && buf_addf(b, " %s", o->operand)))
		return -1;
	at = b->len - start;
	if (at + 2 > HELP_COLUMN) {
		if (buf_adds(b, "\n"))
			return -1;
		at = 0;
	}
	buf_clear(scratch);
	if (buf_addf(scratch, "%s [", o->help))
		return -1;
	before = scratch->len;
	if (add_default(scratch, o))
		return -1;
	if (scratch->len == before)
		scratch->data[before - 2] = 0;
	else if (buf_adds(scratch, "]"))
		return -1;
	return add_spaces(b, HELP_COLUMN - at) || add_wrapped(b, scratch->data, HELP_COLUMN, HELP_COLUMN) ? -1 : 0;
}

int args_help(struct buf *b, const struct args *a)
{
	struct buf scratch = BUF_INIT;
	int rc = buf_addf(b, "usage: %s\n", a->synopsis) || add_wrapped(b, a->about, 0, 0) ||
		 (a->table->type != ARG_TYPE_GROUP && buf_adds(b, "\nOptions:\n"));

	for (const struct arg *o = a->table; !rc && o->type != ARG_TYPE_END; o++) {
		if (o->type == ARG_TYPE_GROUP)
			rc = buf_addf(b, "\n%s:\n", o->help);
		else if (o->help)
			rc = add_option(b, &scratch, o);
	}
	buf_release(&scratch);
	return rc ? -1 : 0;
}
