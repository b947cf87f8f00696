#include "corpus/wiki_formats.h"

#include "base/err.h"
#include "base/map.h"
#include "corpus/wiki_impl.h"
#include "corpus/wiki_raise.h"

#include <stdlib.h>

struct wiki_formats {
	struct map names;	/* folded name to index + 1 into formats */
	const char **formats;
};

static struct span last_arg(const struct wiki_args *a)
{
	for (size_t i = a->n; i-- > 1;)
		if (!a->parts[i].equals)
			return wiki_part_text(a, i);
	return SPAN("");
}

/* The argument that KEY, a number, '-' or a name, stands for. */
static struct span arg_of(const struct wiki_args *a, struct span key)
{
	char name[64];

	if (key.len == 1 && key.text[0] >= '1' && key.text[0] <= '9')
		return wiki_arg(a, (unsigned)(key.text[0] - '0'));
	if (span_is(key, "-"))
		return last_arg(a);
	snprintf(name, sizeof(name), "%.*s", (int)key.len, key.text);
	return wiki_arg_named(a, name);
}

static int put_all(const struct wiki_args *a, struct buf *b, bool *empty)
{
	for (size_t i = 1; i < a->n; i++) {
		const struct span s = wiki_part_text(a, i);

		if (a->parts[i].equals || !s.len)
			continue;
		*empty = false;
		if (buf_add(b, s.text, s.len))
			return -1;
	}
	return 0;
}

/* "{a|b}" or "{a,b}" at *FORMAT, behind the '$'. */
static int put_choice(const char **format, const struct wiki_args *a, struct buf *b, bool *empty)
{
	const char *p = *format + 1;

	*format = strchr(p, '}') + 1;
	while (*p && *p != '}') {
		const size_t n = strcspn(p, "|,}");
		const struct span s = arg_of(a, (struct span){ p, n });

		if (s.len) {
			if (!*empty && buf_adds(b, ", "))
				return -1;
			*empty = false;
			if (buf_add(b, s.text, s.len))
				return -1;
			if (p[n] != ',')
				break;
		}
		p += n + (p[n] != '}');
	}
	return 0;
}

/* What stands at *FORMAT behind a '$'. */
static int put_arg(const char **format, const struct wiki_args *a, struct buf *b, bool *empty)
{
	const char sign = **format;
	struct span s;

	*empty = true;
	if (sign == '{')
		return put_choice(format, a, b, empty);
	if (sign == '*') {
		*format += 1;
		return put_all(a, b, empty);
	}
	*format += sign == '^' || sign == '_';
	s = arg_of(a, (struct span){ *format, 1 });
	*format += 1;
	*empty = !s.len;
	if ((sign == '^' || sign == '_') && wiki_can_raise(s))
		return wiki_raise(s, sign == '_', b);
	return buf_add(b, s.text, s.len);
}

static bool is_blank(const struct buf *b, size_t from)
{
	for (; from < b->len; from++)
		if (b->data[from] != ' ' && b->data[from] != MARK_BREAK)
			return false;
	return true;
}

int wiki_format(const char *format, const struct wiki_args *a, struct buf *b)
{
	const size_t before = b->len;
	size_t group = 0;
	bool wants = false, missing = false, empty;

	while (*format) {
		const char c = *format++;
		int rc = 0;

		if (c == '$') {
			wants = true;
			rc = put_arg(&format, a, b, &empty);
			missing |= empty;
		} else if (c == '[') {
			group = b->len;
			missing = false;
		} else if (c == ']') {
			b->len = missing ? group : b->len;
		} else if (c == '\\') {
			rc = buf_add_byte(b, *format == 'n' ? MARK_BREAK : (unsigned char)*format);
			format++;
		} else {
			rc = buf_add_byte(b, (unsigned char)c);
		}
		if (rc)
			return -1;
	}
	return wants && is_blank(b, before);
}

/* Whether every '$' and '\' of FORMAT has what it needs, and every '[' its ']'. */
static bool format_is_valid(const char *format)
{
	bool group = false;

	for (const char *p = format; *p; p++) {
		if (*p == '$') {
			p++;
			p += *p == '^' || *p == '_';
			if (*p == '{') {
				p = strchr(p, '}');
				if (!p)
					return false;
			} else if (*p != '*' && *p != '-' && !(*p >= '1' && *p <= '9')) {
				return false;
			}
		} else if (*p == '\\') {
			if (!*++p)
				return false;
		} else if (*p == '[' || *p == ']') {
			if (group == (*p == '['))
				return false;
			group = !group;
		}
	}
	return !group;
}

int wiki_formats_new(struct wiki_formats **result, const char *const *specs, size_t n)
{
	struct wiki_formats *f = calloc(1, sizeof(*f));

	*result = f;
	if (!f)
		return err_memory();
	f->formats = calloc(n + 1, sizeof(*f->formats));
	if (!f->formats)
		return err_memory();
	for (size_t i = 0; i < n; i++) {
		const size_t equals = strcspn(specs[i], "=");
		char name[WIKI_NAME_MAX];
		const size_t len = wiki_fold((struct span){ specs[i], equals }, name, sizeof(name));
		uint64_t *index;

		if (!specs[i][equals] || !len)
			return err_usage("template '%s' is not of the form NAME=FORMAT", specs[i]);
		if (!format_is_valid(specs[i] + equals + 1))
			return err_usage("template '%s' has a '$', '[' or '\\' that means nothing", specs[i]);
		index = map_put(&f->names, name, len);
		if (!index)
			return -1;
		*index = i + 1;
		f->formats[i] = specs[i] + equals + 1;
	}
	return 0;
}

const char *wiki_formats_get(const struct wiki_formats *f, const char *name, size_t len)
{
	const uint64_t *index = f ? map_get(&f->names, name, len) : NULL;

	return index ? f->formats[*index - 1] : NULL;
}

void wiki_formats_free(struct wiki_formats *f)
{
	if (!f)
		return;
	map_release(&f->names);
	free(f->formats);
	free(f);
}
