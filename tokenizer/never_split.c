#include "tokenizer/never_split.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

/* Why TOKEN cannot stand between white space; NULL: it can. */
static const char *fault_of(const char *token, size_t len)
{
	if (!len)
		return "is empty";
	if (len > NEVER_SPLIT_BYTES)
		return "is too long";
	if (utf8_valid_prefix(token, len) < len)
		return "is not UTF-8";
	for (const char *p = token; p < token + len;) {
		const uint32_t cp = utf8_next(&p);

		if (!cp)
			return "holds a NUL byte";
		if (utf8_is_space(cp))
			return "holds white space";
	}
	return NULL;
}

int never_split_add(struct never_split *n, const char *token, size_t len)
{
	const char *const fault = fault_of(token, len);

	if (fault)
		return err_usage("a token that is never split %s: '%.*s'", fault, (int)(len < 100 ? len : 100), token);
	if (array_grow(&n->tokens, &n->cap, n->count + 1, sizeof(*n->tokens)))
		return -1;
	n->tokens[n->count] = strndup(token, len);
	if (!n->tokens[n->count])
		return err_memory();
	n->count++;
	return 0;
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void never_split_sort(struct never_split *n)
{
	size_t kept = 0;

	if (n->count)
		qsort(n->tokens, n->count, sizeof(*n->tokens), by_bytes);
	for (size_t i = 0; i < n->count; i++)
		if (kept && !strcmp(n->tokens[kept - 1], n->tokens[i]))
			free(n->tokens[i]);
		else
			n->tokens[kept++] = n->tokens[i];
	n->count = kept;
}

bool never_split_has(const struct never_split *n, const char *token, size_t len)
{
	size_t low = 0, high = n->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const char *const have = n->tokens[middle];
		const int order = strncmp(have, token, len);

		if (!order && !have[len])
			return true;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

void never_split_release(struct never_split *n)
{
	for (size_t i = 0; i < n->count; i++)
		free(n->tokens[i]);
	free(n->tokens);
	*n = (struct never_split)NEVER_SPLIT_INIT;
}
