/*
 * Any bytes as a line of text, in every mode: spans do not change ids; they
 * lie in the text, in order; a new encoder says the same as one whose cache is
 * warm, and as one that is given all lines at once; words are made of valid UTF-8.
 */
#include "base/utf8.h"
#include "tokenizer/tokenizer.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

#define MODES 13
#define CACHE_BYTES 4096		/* so small that words push each other out */

static const char vocab[] =
	"[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\nc\nab\nabc\n##a\n##b\n##c\n##bc\ne\n##e\n##\xCC\x81\n\xC3\xA9\n##\xC3\xA9\n.\n,\n[\n]\n#\n##\n"
	"\xCF\x83\n##\xCF\x83\n##\xCF\x82\n\xCE\xB1\n##\xCE\xB1\n\xE5\xAD\x97\n\xE1\x84\x92\n##\xE1\x85\xA1\n##\xE1\x86\xAB\nmask\nthe\n##ing\n"
	"##\xF0\x9D\x85\xA5\n\xF0\x9D\x85\x98\n##\xF0\x9D\x85\xAD\n";

static const char *const kept[] = { "a", "A", "b.", "[MASK]", "\xC3\xA9", "e\xCC\x81", "\xE5\xAD\x97", "\xE5\xAD\x97\xE5\xAD\x97", "\xCE\xA3", "the", "THE,", "##", "1" };

static struct tokenizer *modes[MODES];
static struct encoder *warm[MODES];

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void open_all(void)
{
	const int fd = memfd_create("vocab", 0);
	char path[32];

	require(fd >= 0 && write(fd, vocab, strlen(vocab)) == (ssize_t)strlen(vocab));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	for (unsigned i = 0; i < MODES; i++) {
		const struct tokenizer_opts o = { .vocab = path, .compat = i & 1 ? TOKENIZER_HF : TOKENIZER_GOOGLE, .cased = i & 2,
						  .strip_accents = i & 4 ? (i & 2 ? TOKENIZER_STRIP_YES : TOKENIZER_STRIP_NO) : 0,
						  .unicode = i == 8 ? "15.0" : NULL, .max_word = i == 9 ? 3 : 0,
						  .split_cjk = i == 12 ? TOKENIZER_NO : TOKENIZER_AUTO,
						  .never_split = kept, .n_never_split = i >= 10 ? sizeof(kept) / sizeof(kept[0]) : 0 };

		require(tokenizer_open(&modes[i], &o) == 0);
		warm[i] = encoder_new_sized(modes[i], CACHE_BYTES);
		require(warm[i] != NULL);
	}
	close(fd);
}

static void check_words(struct encoder *e, const char *text, size_t len, size_t cps)
{
	struct word_list w = WORD_LIST_INIT;
	uint64_t before = 0;

	require(encoder_words(e, text, len, &w) == 0);
	for (size_t i = 0; i < w.count; i++) {
		const struct placed_word *word = &w.items[i];

		require(word->len > 0 && word->start + word->len <= w.text.len);
		require(utf8_valid_prefix(w.text.data + word->start, word->len) == word->len);
		require(word->span.start >= before && word->span.start < word->span.end && word->span.end <= cps);
		before = word->span.start;
	}
	word_list_release(&w);
}

/* Spans one by one are as all at once. */
static void check_bytes(const char *text, struct span *spans, size_t n)
{
	struct span *all = malloc((n + 1) * sizeof(*all));

	require(all != NULL);
	if (n)
		memcpy(all, spans, n * sizeof(*all));
	spans_to_bytes(all, n, text);
	for (size_t i = 0; i < n; i++) {
		struct span s = spans[i];

		spans_to_bytes(&s, 1, text);
		require(s.start == all[i].start && s.end == all[i].end);
		require(utf8_count(text, (size_t)s.start) == spans[i].start && utf8_count(text, (size_t)s.end) == spans[i].end);
	}
	free(all);
}

static void check(unsigned mode, const char *text, size_t len)
{
	const size_t cps = utf8_count(text, len);
	struct encoder *cold = encoder_new_sized(modes[mode], CACHE_BYTES);
	struct ids ids = IDS_INIT, placed = IDS_INIT, again = IDS_INIT;
	struct encoded_lines lines = ENCODED_LINES_INIT;
	struct span *spans = NULL;
	size_t cap = 0;

	require(cold && encoder_encode(cold, text, len, &ids) == 0 && encoder_encode(warm[mode], text, len, &again) == 0);
	require(encoder_encode_spans(warm[mode], text, len, &placed, &spans, &cap) == 0);
	require(ids.count == placed.count && ids.count == again.count);
	for (size_t i = 0; i < ids.count; i++) {
		require(ids.items[i] == placed.items[i] && ids.items[i] == again.items[i]);
		require(spans[i].start < spans[i].end && spans[i].end <= cps && (!i || spans[i].start >= spans[i - 1].start));
	}
	check_words(cold, text, len, cps);
	check_bytes(text, spans, placed.count);
	again.count = 0;
	require(encoder_encode_lines(cold, text, len, &again, &lines) == 0 && again.count == ids.count);
	require(!ids.count || !memcmp(again.items, ids.items, ids.count * sizeof(*ids.items)));
	for (size_t i = 0; i < lines.count; i++)
		require(lines.ends[i] <= ids.count && (!i || lines.ends[i] >= lines.ends[i - 1]));
	encoded_lines_release(&lines);
	ids_release(&ids);
	ids_release(&placed);
	ids_release(&again);
	free(spans);
	encoder_free(cold);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	struct buf text = BUF_INIT;
	char *exact;
	uint64_t bad = 0;

	if (!modes[0])
		open_all();
	require(buf_reserve(&text, 1) == 0 && utf8_repair((const char *)data, size, &text, &bad) == 0);
	exact = malloc(text.len ? text.len : 1);	/* so that a byte read too far is seen */
	require(exact != NULL);
	memcpy(exact, text.data, text.len);
	for (unsigned i = 0; i < MODES; i++)
		check(i, exact, text.len);
	free(exact);
	buf_release(&text);
	return 0;
}
