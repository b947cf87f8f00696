/*
 * Any line in any language: the sentences, in order, are the line but for
 * white space at their ends; none is empty; each is valid UTF-8. The first
 * byte chooses the language, bad UTF-8 in the rest is repaired.
 */
#include "base/utf8.h"
#include "corpus/abbreviations.h"
#include "corpus/sentences.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void check_line(const struct sentences *rules, const char *text, size_t len)
{
	struct sentence_scan scan;
	const char *at = text, *sentence;
	size_t n;

	sentence_start(&scan, rules, text, len);
	while (sentence_next(&scan, &sentence, &n)) {
		require(n > 0 && sentence >= at && sentence + n <= text + len);
		require(utf8_is_blank(at, (size_t)(sentence - at)));
		require(utf8_valid_prefix(sentence, n) == n);
		require(!utf8_is_blank(sentence, n));
		at = sentence + n;
	}
	require(utf8_is_blank(at, (size_t)(text + len - at)));
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	struct buf text = BUF_INIT;
	struct sentences *rules = NULL;
	uint64_t bad = 0;

	if (!size)
		return 0;
	require(sentences_open(&rules, abbreviations[data[0] % abbreviations_count].code) == 0);
	require(buf_reserve(&text, 1) == 0 && utf8_repair((const char *)data + 1, size - 1, &text, &bad) == 0);
	check_line(rules, text.data, text.len);
	buf_release(&text);
	sentences_close(rules);
	return 0;
}
