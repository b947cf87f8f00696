/*
 * Arbitrary bytes as a plain-text book, whole and by chapter: clean lines of valid UTF-8 either way.
 */
#include "base/utf8.h"
#include "corpus/book.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void need(int ok)
{
	if (!ok)
		abort();
}

static void read_book(const unsigned char *data, size_t size, bool headings, bool chapters)
{
	struct buf title = BUF_INIT, text = BUF_INIT;
	struct book book;
	int rc;

	need(!book_open(&book, (const char *)data, size));
	while ((rc = book_next(&book, headings, chapters, &title, &text)) > 0) {
		struct span rest = { text.data, text.len };

		need(utf8_valid_prefix(text.data, text.len) == text.len && utf8_valid_prefix(title.data, title.len) == title.len);
		while (rest.len) {
			const size_t n = span_find(rest, '\n');

			need(n > 0 && n < rest.len && rest.text[0] != ' ' && rest.text[n - 1] != ' ');
			rest = span_skip(rest, n + 1);
		}
	}
	need(rc == 0);
	book_close(&book);
	buf_release(&title);
	buf_release(&text);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	const struct span all = { (const char *)data, size };

	(void)book_begins(all);
	(void)book_has_mark(all);
	for (unsigned i = 0; i < 4; i++)
		read_book(data, size, i & 1, i & 2);
	return 0;
}
