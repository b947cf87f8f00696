/* What the vector code makes of a text against plain C, and plain C against what goes character by character. */
#include "tokenizer/plain_words.h"

#include "base/cpu.h"
#include "tokenizer/normalize.h"
#include "tokenizer/tokenizer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/tokenizer/hostile_text.h"
#include "tests/unit/tokenizer/made_vocab.h"

#define TEXTS 400

static const char *const processors[] = { "none", "avx2", "native" };
enum { PROCESSORS = 3 };

static void limit(const char *processor)
{
	assert_int_equal(cpu_limit(processor), 0);
}

/* The text in memory of just its size. */
static char *exactly(const struct buf *b)
{
	char *copy = malloc(b->len ? b->len : 1);

	assert_non_null(copy);
	if (b->len)
		memcpy(copy, b->data, b->len);
	return copy;
}

/* --- words ------------------------------------------------------------------------ */

/* A word and a \1, unless nothing is left of it. */
static void add_word(const struct normalizer *n, const char *word, size_t len, bool left, struct buf *b)
{
	struct buf finished = BUF_INIT, twice = BUF_INIT;

	if (left) {
		assert_int_equal(normalizer_word(n, word, len, &finished), 0);
		assert_int_equal(normalizer_word(n, finished.data, finished.len, &twice), 0);
		assert_int_equal(finished.len, twice.len);
		assert_memory_equal(finished.data, twice.data, twice.len);
		word = finished.data;
		len = finished.len;
	}
	assert_int_equal(len && (buf_add(b, word, len) || buf_add_byte(b, 1)), 0);
	buf_release(&finished);
	buf_release(&twice);
}

/* All words of TEXT, a \1 after each and, without spans, a \2 at each line end. LEFT: finished here. */
static void words_of(struct normalizer *n, const char *text, size_t len, bool spans, bool left, struct buf *b)
{
	struct words w;
	int rc;

	buf_clear(b);
	normalizer_start(n, text, len, spans);
	while ((rc = normalizer_next(n, &w)) > 0) {
		size_t line = 0;

		for (size_t i = 0; i <= w.count; i++) {
			for (; !spans && line < w.n_lines && w.lines[line] == i; line++)
				assert_int_equal(buf_add_byte(b, 2), 0);
			if (i == w.count)
				break;
			assert_true(w.ends[i] > w.starts[i]);
			add_word(n, w.text + w.starts[i], w.ends[i] - w.starts[i], left, b);
		}
		assert_true(spans || line == w.n_lines);
	}
	assert_int_equal(rc, 0);
}

static size_t drop(struct buf *b, char byte)
{
	size_t kept = 0;

	for (size_t i = 0; i < b->len; i++)
		if (b->data[i] != byte)
			b->data[kept++] = b->data[i];
	b->len = kept;
	return kept;
}

static void same_words(const struct normalizer_opts *o, struct rng *r, size_t len)
{
	struct buf text = BUF_INIT, want = BUF_INIT, got = BUF_INIT;
	struct normalizer *n[PROCESSORS];
	char *copy;

	make_hostile_text(r, len, &text);
	copy = exactly(&text);
	for (int p = 0; p < PROCESSORS; p++) {
		limit(processors[p]);
		n[p] = normalizer_new(o);
		assert_non_null(n[p]);
		words_of(n[p], copy, text.len, false, o->leave, p ? &got : &want);
		if (!p)
			continue;
		assert_int_equal(got.len, want.len);
		assert_memory_equal(got.data, want.data, want.len);
	}
	words_of(n[0], copy, text.len, true, false, &got);
	assert_int_equal(got.len, drop(&want, 2));
	assert_memory_equal(got.data, want.data, want.len);
	for (int p = 0; p < PROCESSORS; p++)
		normalizer_free(n[p]);
	free(copy);
	buf_release(&text);
	buf_release(&want);
	buf_release(&got);
}

static void words_are_the_same_on_all_processors(void **state)
{
	const struct normalizer_opts modes[] = {
		{ chars_google(NULL), true, true, true, false }, { chars_google(NULL), false, false, true, true },
		{ chars_google("15.0"), true, false, false, true }, { chars_hf(), true, true, true, true },
		{ chars_hf(), false, true, true, false }, { chars_google(NULL), true, true, true, true },
		{ chars_google(NULL), false, true, true, true },
	};
	struct rng r;

	(void)state;
	rng_open(&r, 1, RNG_TEST, 0, 0, 0, 0, 0);
	for (unsigned i = 0; i < TEXTS; i++)
		same_words(&modes[i % (sizeof(modes) / sizeof(modes[0]))], &r, i < 250 ? i : rng_below(&r, 30000));
	limit("native");
}

/* Words that cross the blocks of 64 bytes and the batches everywhere, with nothing else around. */
static void long_and_short_words_end_where_they_do(void **state)
{
	const struct normalizer_opts o = { chars_google(NULL), true, true, true, false };
	struct buf want = BUF_INIT, got = BUF_INIT;
	char text[400];

	(void)state;
	for (size_t len = 0; len < 200; len++)
		for (size_t at = 0; at <= len; at += 1 + at / 5) {
			memset(text, 'A', len);
			memset(text + at, '.', len - at > 3 ? 3 : len - at);
			for (int p = 0; p < PROCESSORS; p++) {
				struct normalizer *n;

				limit(processors[p]);
				n = normalizer_new(&o);
				words_of(n, text, len, false, false, p ? &got : &want);
				normalizer_free(n);
				if (!p)
					continue;
				assert_int_equal(got.len, want.len);
				assert_memory_equal(got.data, want.data, want.len);
			}
		}
	limit("native");
	buf_release(&want);
	buf_release(&got);
}

/* What is left of a word is finished character by character, so no character may become one that is not. */
static void nothing_is_left_to_do_twice(void **state)
{
	const struct normalizer_opts modes[] = {
		{ chars_google(NULL), true, true, true, true }, { chars_google(NULL), true, false, true, true },
		{ chars_google("15.0"), true, true, true, true }, { chars_google("15.0"), false, true, true, true },
		{ chars_hf(), true, true, true, true }, { chars_hf(), true, false, true, true }, { chars_hf(), false, true, true, true },
	};
	struct buf b = BUF_INIT;

	(void)state;
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		struct normalizer *n = normalizer_new(&modes[i]);

		assert_non_null(n);
		for (uint32_t cp = 1; cp < 0x110000; cp++) {
			char bytes[UTF8_MAX];

			buf_clear(&b);
			if (cp < 0xD800 || cp >= 0xE000)
				add_word(n, bytes, utf8_write(cp, bytes), true, &b);
		}
		normalizer_free(n);
	}
	buf_release(&b);
}

/* --- ids ----------------------------------------------------------------------------- */

static const char vocab[] =
	"[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\nc\n##a\n##b\n##c\n##d\nthe\nof\nand\nun\n##aff\n##able\n.\n,\n-\n[\n]\n#\n##\n"
	"mask\n0\n1\n##0\n##1\ns\n##s\n##t\n##u\n##x\n##y\n##z\nd\ne\nf\n##e\n##f\n##g\n\xE2\x80\x99\n\xCF\x83\n##\xCF\x83\n##\xCF\x82\n\xE5\xAD\x97\n"
	"\xEA\xB0\x80\n##\xEA\xB0\x80\n\xCE\xB1\n##\xCE\xB1\n##m\n##5\n##9\nm\nz\n";

/* The ids of all lines, and how many each has. They are the same line by line, and with places. */
static void ids_of(struct encoder *e, const char *text, size_t len, struct buf *b)
{
	struct encoded_lines lines = ENCODED_LINES_INIT;
	struct ids ids = IDS_INIT, line_ids = IDS_INIT, placed = IDS_INIT;
	struct span *spans = NULL;
	size_t start = 0, before = 0, cap = 0;

	buf_clear(b);
	assert_int_equal(encoder_encode_lines(e, text, len, &ids, &lines), 0);
	for (size_t i = 0; i < lines.count; i++) {
		const char *const newline = memchr(text + start, '\n', len - start);

		assert_non_null(newline);
		line_ids.count = 0;
		assert_int_equal(encoder_encode(e, text + start, (size_t)(newline - text) - start, &line_ids), 0);
		assert_int_equal(line_ids.count, lines.ends[i] - before);
		placed.count = 0;
		assert_int_equal(encoder_encode_spans(e, text + start, (size_t)(newline - text) - start, &placed, &spans, &cap), 0);
		assert_int_equal(placed.count, line_ids.count);
		if (line_ids.count)
			assert_memory_equal(placed.items, line_ids.items, line_ids.count * sizeof(*ids.items));
		if (line_ids.count)
			assert_memory_equal(line_ids.items, ids.items + before, line_ids.count * sizeof(*ids.items));
		before = lines.ends[i];
		start = (size_t)(newline - text) + 1;
		assert_int_equal(buf_addf(b, "%zu ", before), 0);
	}
	assert_null(memchr(text + start, '\n', len - start));
	assert_int_equal(buf_add(b, ids.items, ids.count * sizeof(*ids.items)), 0);
	ids_release(&ids);
	ids_release(&line_ids);
	ids_release(&placed);
	free(spans);
	encoded_lines_release(&lines);
}

static void same_ids(const struct tokenizer *t, struct rng *r, size_t len)
{
	struct buf text = BUF_INIT, want = BUF_INIT, got = BUF_INIT;
	char *copy;

	make_hostile_text(r, len, &text);
	copy = exactly(&text);
	for (int p = 0; p < PROCESSORS; p++) {
		struct encoder *e;

		limit(processors[p]);
		e = encoder_new_sized(t, 4096);		/* so small that words push each other out */
		assert_non_null(e);
		ids_of(e, copy, text.len, p ? &got : &want);
		encoder_free(e);
		if (!p)
			continue;
		assert_int_equal(got.len, want.len);
		assert_memory_equal(got.data, want.data, want.len);
	}
	free(copy);
	buf_release(&text);
	buf_release(&want);
	buf_release(&got);
}

/* WIDE: with so many more tokens that ids need four bytes. */
static struct tokenizer *open_tokenizer(int compat, bool wide)
{
	struct buf b = BUF_INIT;
	struct made_file f;
	struct tokenizer *t;

	assert_int_equal(buf_adds(&b, vocab), 0);
	for (unsigned i = 0; wide && i < 70000; i++)
		assert_int_equal(buf_addf(&b, "%s%x\n", i & 1 ? "##" : "", 0x10000 + i), 0);
	f = made_file(b.data, b.len);
	assert_int_equal(tokenizer_open(&t, &(struct tokenizer_opts){ .vocab = f.path, .compat = compat }), 0);
	assert_int_equal(vocab_id_bytes(tokenizer_vocab(t)), wide ? 4 : 2);
	made_file_remove(&f);
	buf_release(&b);
	return t;
}

static void ids_are_the_same_on_all_processors(void **state)
{
	struct rng r;

	(void)state;
	rng_open(&r, 2, RNG_TEST, 0, 0, 0, 0, 0);
	for (int mode = 0; mode < 4; mode++) {
		struct tokenizer *t = open_tokenizer(mode & 1 ? TOKENIZER_HF : TOKENIZER_GOOGLE, mode & 2);

		for (unsigned i = 0; i < TEXTS / 4; i++)
			same_ids(t, &r, i < 70 ? 2 * i : rng_below(&r, 30000));
		tokenizer_close(t);
	}
	limit("native");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_the_same_on_all_processors),
		cmocka_unit_test(nothing_is_left_to_do_twice),
		cmocka_unit_test(long_and_short_words_end_where_they_do),
		cmocka_unit_test(ids_are_the_same_on_all_processors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
