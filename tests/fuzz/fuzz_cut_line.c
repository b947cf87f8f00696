/*
 * Any bytes as what a segmenter made of a line: the line's characters but for white space, or
 * refused; places are in the line, in order, and of the same characters.
 */
#include "base/err.h"
#include "base/utf8.h"
#include "tokenizer/cut_line.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void check(const struct cut_line *c, const char *line, size_t len)
{
	const size_t n = utf8_count(line, len);
	const char *p = line, *q = c->text.data, *const end = q + c->text.len;
	uint64_t at = 0;

	for (size_t i = 0; i < c->n_places; i++) {
		const uint32_t cp = utf8_next(&q);
		const char *there;

		require(q <= end && c->places[i] <= n && c->places[i] >= at);
		for (; at < c->places[i]; at++)
			require(utf8_next(&p) > 0 || p[-1] == 0);
		there = p;
		require(utf8_is_space(cp) || (at < n && utf8_next(&there) == cp));
	}
	require(q == end);
}

/* The first line of the data, and the second. */
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	const char *const text = (const char *)data, *const newline = size ? memchr(text, '\n', size) : NULL;
	const size_t line_len = newline ? (size_t)(newline - text) : size, cut_len = newline ? size - line_len - 1 : 0;
	struct cut_line c = CUT_LINE_INIT;
	struct buf line = BUF_INIT;
	char *cut = malloc(cut_len + 1);
	uint64_t bad = 0;

	require(cut && buf_reserve(&line, 1) == 0 && utf8_repair(text, line_len, &line, &bad) == 0);
	if (cut_len)
		memcpy(cut, newline + 1, cut_len);
	if (cut_line_make(&c, line.data, line.len, cut, cut_len, true) == 0)
		check(&c, line.data, line.len);
	else
		require(err_code() == EXIT_FAILED && strstr(err_text(), "the segmenter "));
	cut_line_release(&c);
	buf_release(&line);
	free(cut);
	return 0;
}
