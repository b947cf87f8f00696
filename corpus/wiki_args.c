/*
 * The parts of a bracket: named and numbered arguments.
 */
#include "corpus/wiki_impl.h"

#include <stdio.h>

static struct span raw_part(const struct wiki_args *a, size_t i)
{
	const size_t end = i + 1 < a->n ? a->parts[i + 1].start - 1 : a->end;	/* less the bar */

	return (struct span){ a->text + a->parts[i].start, end - a->parts[i].start };
}

struct span wiki_part_text(const struct wiki_args *a, size_t i)
{
	return i < a->n ? span_trim(raw_part(a, i)) : SPAN("");
}

/* Splits part I at its '='; false when it has none. */
static bool named(const struct wiki_args *a, size_t i, struct span *name, struct span *value)
{
	const struct span part = raw_part(a, i);
	const size_t equals = a->parts[i].equals;

	if (!equals)
		return false;
	*name = span_trim((struct span){ part.text, equals - a->parts[i].start });
	*value = span_trim(span_skip(part, equals + 1 - a->parts[i].start));
	return true;
}

struct span wiki_arg_named(const struct wiki_args *a, const char *name)
{
	struct span found = SPAN(""), key, value;

	for (size_t i = 1; i < a->n; i++)
		if (named(a, i, &key, &value) && span_is(key, name))
			found = value;
	return found;
}

struct span wiki_arg(const struct wiki_args *a, unsigned n)
{
	struct span found = SPAN(""), key, value;
	char name[16];
	unsigned without = 0;

	snprintf(name, sizeof(name), "%u", n);
	for (size_t i = 1; i < a->n; i++) {
		if (named(a, i, &key, &value)) {
			if (span_is(key, name))
				found = value;
		} else if (++without == n) {
			found = wiki_part_text(a, i);
		}
	}
	return found;
}

size_t wiki_arg_count(const struct wiki_args *a)
{
	size_t n = 0;

	for (size_t i = 1; i < a->n; i++)
		n += !a->parts[i].equals;
	return n;
}
