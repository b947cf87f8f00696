#include "tokenizer/tokenizer.h"

#include "base/err.h"
#include "base/fs.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/tokenizer/made_vocab.h"

/* ids:                       0      1      2      3      4       5      6    7       8  9  10  11      12        13 */
static const char tokens[] = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nunwant\n##ed\nrunn\n##ing\n,\n[\n]\nmask\nUNwant\n"
/*	14    15       16     17         18   19   20 */
	"caf\n##\xC3\xA9\n##e\n\xE5\x8D\x9A\n##s\nab\ncaf\xC3\xA9\n";

struct fixture {
	char folder[32];
	char *vocab, *config;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	memcpy(f->folder, "/tmp/berttools-test-XXXXXX", 27);
	assert_non_null(mkdtemp(f->folder));
	f->vocab = fs_join(f->folder, "vocab.txt");
	f->config = fs_join(f->folder, "tokenizer_config.json");
	assert_int_equal(fs_write_all(f->vocab, tokens, strlen(tokens)), 0);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(fs_remove_tree(f->folder), 0);
	free(f->vocab);
	free(f->config);
	free(f);
	return 0;
}

static void print(struct buf *b, const struct ids *ids, const struct span *spans)
{
	assert_int_equal(buf_adds(b, ""), 0);
	for (size_t i = 0; i < ids->count; i++) {
		assert_int_equal(buf_addf(b, "%s%u", i ? " " : "", ids->items[i]), 0);
		if (spans)
			assert_int_equal(buf_addf(b, ":%u:%u", (unsigned)spans[i].start, (unsigned)spans[i].end), 0);
	}
}

static void check(const struct tokenizer_opts *o, const char *text, const char *want, const char *want_spans)
{
	struct tokenizer *t;
	struct encoder *e;
	struct ids ids = IDS_INIT;
	struct span *spans = NULL;
	struct buf b = BUF_INIT;
	size_t cap = 0;

	assert_int_equal(tokenizer_open(&t, o), 0);
	e = encoder_new(t);
	assert_non_null(e);
	for (int again = 0; again < 2; again++) {	/* then from the cache */
		ids.count = 0;
		buf_clear(&b);
		assert_int_equal(encoder_encode(e, text, strlen(text), &ids), 0);
		print(&b, &ids, NULL);
		assert_string_equal(b.data, want);
	}
	if (want_spans) {
		ids.count = 0;
		buf_clear(&b);
		assert_int_equal(encoder_encode_spans(e, text, strlen(text), &ids, &spans, &cap), 0);
		print(&b, &ids, spans);
		assert_string_equal(b.data, want_spans);
	}
	free(spans);
	buf_release(&b);
	ids_release(&ids);
	encoder_free(e);
	tokenizer_close(t);
}

static void text_becomes_ids_and_places(void **state)
{
	const struct fixture *f = *state;
	const struct tokenizer_opts o = { .vocab = f->vocab };

	check(&o, "UNwant\xC3\xA9" "d,running", "5 6 9 7 8", "5:0:6 6:6:8 9:8:9 7:9:13 8:13:16");
	check(&o, "", "", "");
	check(&o, "Xyz caf\xC3\xA9s", "1 14 16 18", "1:0:3 14:4:7 16:7:8 18:8:9");
	check(&o, "a\xE2\x80\x8B" "b\xE5\x8D\x9A", "19 17", "19:0:3 17:3:4");
}

static void cased_text_keeps_case_and_accents(void **state)
{
	const struct fixture *f = *state;
	const struct tokenizer_opts o = { .vocab = f->vocab, .cased = true };
	const struct tokenizer_opts strip = { .vocab = f->vocab, .cased = true, .strip_accents = TOKENIZER_STRIP_YES };
	const struct tokenizer_opts keep = { .vocab = f->vocab, .strip_accents = TOKENIZER_STRIP_NO };

	check(&o, "UNwanted unwanted CAF\xC3\xA9 caf\xC3\xA9", "13 6 5 6 1 20", NULL);
	check(&strip, "UNwant\xC3\xA9" "d caf\xC3\xA9", "13 6 14 16", NULL);
	check(&keep, "CAF\xC3\x89S caf\xC3\xA9", "20 18 20", NULL);
}

static void switches_are_separate(void **state)
{
	const struct fixture *f = *state;
	struct tokenizer_opts o = { .vocab = f->vocab, .lower = TOKENIZER_NO };

	check(&o, "UNwanted CAF\xC3\xA9 caf\xC3\xA9", "13 6 1 20", NULL);
	o = (struct tokenizer_opts){ .vocab = f->vocab, .cased = true, .lower = TOKENIZER_NO, .strip_accents = TOKENIZER_STRIP_YES };
	check(&o, "UNwanted caf\xC3\xA9", "13 6 14 16", NULL);
	o = (struct tokenizer_opts){ .vocab = f->vocab, .lower = TOKENIZER_YES, .split_cjk = TOKENIZER_YES };
	check(&o, "UNwant\xE5\x8D\x9A", "5 17", "5:0:6 17:6:7");
	o.split_cjk = TOKENIZER_NO;
	check(&o, "UNwant\xE5\x8D\x9A \xE5\x8D\x9A", "1 17", "1:0:7 17:8:9");
}

static void some_tokens_are_never_split(void **state)
{
	const struct fixture *f = *state;
	static const char *const kept[] = { "UNwant", "caf\xC3\xA9", "[MASK]", "ab,ab", "caf,", "\xE5\x8D\x9A\xE5\x8D\x9A" };
	struct tokenizer_opts o = { .vocab = f->vocab, .never_split = kept, .n_never_split = 6 };

	/* as it stands; once lower-cased and stripped; a word of its own; within a word */
	check(&o, "UNwant unwant unwantS", "13 5 5 18", "13:0:6 5:7:13 5:14:20 18:20:21");
	check(&o, "caf\xC3\xA9 caf\xC3\xA9s CAF\xC3\x89", "20 14 16 18 14 16", "20:0:4 14:5:8 16:8:9 18:9:10 14:11:14 16:14:15");
	check(&o, "AB,AB ab,", "1 19 9", "1:0:5 19:6:8 9:8:9");
	check(&o, "caf,ab CAF,", "14 9 19 1", "14:0:3 9:3:4 19:4:6 1:7:11");
	check(&o, "[MASK] a[MASK]", "4 1 10 12 11", "4:0:6 1:7:8 10:8:9 12:9:13 11:13:14");
	/* deleted characters are as if not there; ideographs are apart */
	check(&o, "UN\xE2\x80\x8Bwant\t\xE5\x8D\x9A\xE5\x8D\x9AUNwant", "13 17 17 13", "13:0:7 17:8:9 17:9:10 13:10:16");
	check(&o, "  \xE2\x80\x8B  ", "", "");
	o.split_cjk = TOKENIZER_NO;
	check(&o, "\xE5\x8D\x9A\xE5\x8D\x9A UNwant", "1 13", "1:0:2 13:3:9");
	o = (struct tokenizer_opts){ .vocab = f->vocab, .compat = TOKENIZER_HF, .never_split = kept, .n_never_split = 6 };
	check(&o, "\xC3\xA9[SEP]UNwant[MASK] UNwant", "1 3 13 4 13", "1:0:1 3:1:6 13:6:12 4:12:18 13:19:25");
}

static void lines_keep_their_ends_beside_tokens_never_split(void **state)
{
	const struct fixture *f = *state;
	static const char text[] = "UNwant\n\n ab UNwant\n\xE2\x80\x8B\nab,ab\n";
	static const size_t want[] = { 1, 1, 3, 3, 6 };
	struct encoded_lines lines = ENCODED_LINES_INIT;
	struct ids ids = IDS_INIT;
	struct tokenizer *t;
	struct encoder *e;

	assert_int_equal(tokenizer_open(&t, &(struct tokenizer_opts){ .vocab = f->vocab,
			.never_split = (const char *[]){ "UNwant" }, .n_never_split = 1 }), 0);
	e = encoder_new(t);
	assert_int_equal(encoder_encode_lines(e, text, strlen(text), &ids, &lines), 0);
	assert_int_equal(lines.count, 5);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(lines.ends[i], want[i]);
	encoded_lines_release(&lines);
	ids_release(&ids);
	encoder_free(e);
	tokenizer_close(t);
}

static void only_hf_takes_special_tokens_from_the_text(void **state)
{
	const struct fixture *f = *state;
	const struct tokenizer_opts google = { .vocab = f->vocab };
	const struct tokenizer_opts hf = { .vocab = f->vocab, .compat = TOKENIZER_HF };

	check(&google, "ab[MASK]", "19 10 12 11", "19:0:2 10:2:3 12:3:7 11:7:8");
	check(&hf, "ab[MASK]", "19 4", "19:0:2 4:2:8");
	check(&hf, "\xC3\xA9[MASK] [mask][[CLS]]", "1 4 10 12 11 10 2 11", "1:0:1 4:1:7 10:8:9 12:9:13 11:13:14 10:14:15 2:15:20 11:20:21");
	check(&hf, "[PAD][UNK][SEP", "0 1 10 1", "0:0:5 1:5:10 10:10:11 1:11:14");
}

static void words_have_a_longest(void **state)
{
	const struct fixture *f = *state;
	char word[256];
	struct tokenizer_opts o = { .vocab = f->vocab };

	memset(word, 'a', sizeof(word));
	memcpy(word, "caf", 3);
	for (size_t i = 3; i < 210; i++)
		word[i] = 'e';
	for (int hf = 0; hf < 2; hf++) {
		const size_t longest = hf ? 100 : 200;
		struct tokenizer *t;
		struct encoder *e;
		struct ids ids = IDS_INIT;

		o.compat = hf ? TOKENIZER_HF : TOKENIZER_GOOGLE;
		assert_int_equal(tokenizer_open(&t, &o), 0);
		e = encoder_new(t);
		assert_int_equal(encoder_encode(e, word, longest, &ids), 0);
		assert_int_equal(ids.count, longest - 2);
		ids.count = 0;
		assert_int_equal(encoder_encode(e, word, longest + 1, &ids), 0);
		assert_int_equal(ids.count, 1);
		assert_int_equal(ids.items[0], 1);
		ids_release(&ids);
		encoder_free(e);
		tokenizer_close(t);
	}
	o = (struct tokenizer_opts){ .vocab = f->vocab, .max_word = 2 };
	check(&o, "ab caf", "19 1", NULL);
}

static void words_come_with_their_places(void **state)
{
	const struct fixture *f = *state;
	const struct tokenizer_opts o = { .vocab = f->vocab, .compat = TOKENIZER_HF };
	static const char text[] = "Caf\xC3\xA9, [SEP]x";
	const struct {
		const char *word;
		uint64_t start, end;
		uint32_t special;
	} want[] = { { "cafe", 0, 4, VOCAB_NONE }, { ",", 4, 5, VOCAB_NONE }, { "[SEP]", 6, 11, 3 }, { "x", 11, 12, VOCAB_NONE } };
	struct word_list w = WORD_LIST_INIT;
	struct tokenizer *t;
	struct encoder *e;

	assert_int_equal(tokenizer_open(&t, &o), 0);
	e = encoder_new(t);
	assert_int_equal(encoder_words(e, text, strlen(text), &w), 0);
	assert_int_equal(w.count, 4);
	for (size_t i = 0; i < w.count; i++) {
		assert_int_equal(w.items[i].len, strlen(want[i].word));
		assert_memory_equal(w.text.data + w.items[i].start, want[i].word, w.items[i].len);
		assert_int_equal(w.items[i].span.start, want[i].start);
		assert_int_equal(w.items[i].span.end, want[i].end);
		assert_int_equal(w.items[i].special, want[i].special);
	}
	word_list_clear(&w);
	assert_int_equal(w.count, 0);
	word_list_release(&w);
	encoder_free(e);
	tokenizer_close(t);
}

static void places_become_bytes(void **state)
{
	const struct fixture *f = *state;
	static const char text[] = "\xC3\xA9" "ab\xF0\x9F\x98\x80, \xE5\x8D\x9A";	/* 2 1 1 4 1 1 3 bytes */
	struct span s[] = { { 0, 1 }, { 0, 3 }, { 1, 3 }, { 3, 4 }, { 3, 4 }, { 6, 7 }, { 7, 7 }, { 1, 1 }, { 0, 7 } };
	static const struct span want[] = { { 0, 2 }, { 0, 4 }, { 2, 4 }, { 4, 8 }, { 4, 8 }, { 10, 13 }, { 13, 13 }, { 2, 2 }, { 0, 13 } };
	struct word_list w = WORD_LIST_INIT;
	struct tokenizer *t;
	struct encoder *e;

	spans_to_bytes(s, sizeof(s) / sizeof(s[0]), text);
	for (size_t i = 0; i < sizeof(s) / sizeof(s[0]); i++)
		assert_true(s[i].start == want[i].start && s[i].end == want[i].end);
	spans_to_bytes(NULL, 0, "");
	assert_int_equal(tokenizer_open(&t, &(struct tokenizer_opts){ .vocab = f->vocab }), 0);
	e = encoder_new(t);
	assert_int_equal(encoder_words(e, text, strlen(text), &w), 0);
	word_list_to_bytes(&w, text);
	assert_int_equal(w.count, 3);
	assert_true(w.items[0].span.start == 0 && w.items[0].span.end == 8);
	assert_true(w.items[1].span.start == 8 && w.items[1].span.end == 9);
	assert_true(w.items[2].span.start == 10 && w.items[2].span.end == 13);
	word_list_release(&w);
	encoder_free(e);
	tokenizer_close(t);
}

static void expect_description(const struct tokenizer_opts *o, const char *want)
{
	struct tokenizer *t;
	json_t *got, *wanted = json_loads(want, 0, NULL);

	assert_non_null(wanted);
	assert_int_equal(tokenizer_open(&t, o), 0);
	got = tokenizer_describe(t);
	if (!json_equal(got, wanted)) {
		char *text = json_dumps(got, JSON_SORT_KEYS);

		fail_msg("%s", text);
	}
	json_decref(got);
	json_decref(wanted);
	tokenizer_close(t);
}

#define SHA "\"sha256\": \"" VOCAB_SHA "\", \"size\": 21"
#define VOCAB_SHA "45b9b9846779925f5d9ec443ed27796fd0ff3a48a4a23d2a44e31ab29e7f4de5"

static void a_description_names_all_that_makes_ids(void **state)
{
	const struct fixture *f = *state;

	expect_description(&(struct tokenizer_opts){ .vocab = f->vocab },
		"{\"cased\": false, \"cjk\": true, \"compat\": \"google\", \"id_bytes\": 2, \"max_word\": 200, "
		"\"strip_accents\": true, \"unicode\": \"14.0\", \"vocab\": {" SHA "}}");
	expect_description(&(struct tokenizer_opts){ .vocab = f->vocab, .cased = true, .unicode = "15.0", .max_word = 50 },
		"{\"cased\": true, \"cjk\": true, \"compat\": \"google\", \"id_bytes\": 2, \"max_word\": 50, "
		"\"strip_accents\": false, \"unicode\": \"15.0\", \"vocab\": {" SHA "}}");
	expect_description(&(struct tokenizer_opts){ .vocab = f->vocab, .lower = TOKENIZER_NO, .split_cjk = TOKENIZER_NO,
			.never_split = (const char *[]){ "b", "a", "b" }, .n_never_split = 3 },
		"{\"cased\": true, \"cjk\": false, \"compat\": \"google\", \"id_bytes\": 2, \"max_word\": 200, \"never_split\": [\"a\", \"b\"], "
		"\"strip_accents\": false, \"unicode\": \"14.0\", \"vocab\": {" SHA "}}");
	expect_description(&(struct tokenizer_opts){ .vocab = f->vocab, .compat = TOKENIZER_HF, .strip_accents = TOKENIZER_STRIP_NO },
		"{\"cased\": false, \"cjk\": true, \"compat\": \"hf\", \"id_bytes\": 2, \"max_word\": 100, "
		"\"strip_accents\": false, \"unicode\": null, \"vocab\": {" SHA "}}");
}

static void write_config(const struct fixture *f, const char *json)
{
	assert_int_equal(fs_write_all(f->config, json, strlen(json)), 0);
}

static void a_model_directory_says_how(void **state)
{
	const struct fixture *f = *state;
	const struct tokenizer_opts o = { .model = f->folder };
	const struct tokenizer_opts strip = { .model = f->folder, .strip_accents = TOKENIZER_STRIP_YES };

	check(&o, "UNwanted CAF\xC3\x89", "5 6 14 16", NULL);		/* no file: as transformers' default */
	write_config(f, "{\"do_lower_case\": false, \"model_max_length\": 512}");
	check(&o, "UNwanted caf\xC3\xA9", "13 6 20", NULL);
	check(&strip, "UNwanted caf\xC3\xA9", "13 6 14 16", NULL);
	write_config(f, "{\"do_lower_case\": true, \"strip_accents\": false, \"tokenize_chinese_chars\": false, \"never_split\": null}");
	check(&o, "CAF\xC3\x89 ab\xE5\x8D\x9A", "20 1", NULL);
	write_config(f, "{\"strip_accents\": null, \"tokenize_chinese_chars\": null}");
	check(&o, "CAF\xC3\x89 ab\xE5\x8D\x9A", "14 16 19 17", NULL);
}

static void a_caller_may_choose_otherwise(void **state)
{
	const struct fixture *f = *state;
	struct tokenizer_opts o = { .model = f->folder, .lower = TOKENIZER_NO };

	write_config(f, "{\"do_lower_case\": true, \"never_split\": [\"UNwant\", \"caf\xC3\xA9\"]}");
	check(&o, "UNwant caf\xC3\xA9" "s", "13 20 18", NULL);		/* accents stay, as case does */
	o.lower = TOKENIZER_YES;
	check(&o, "UNwant caf\xC3\xA9 caf\xC3\xA9" "s", "13 20 14 16 18", NULL);
	o.never_split = (const char *[]){ "ab,ab" };
	o.n_never_split = 1;
	check(&o, "UNwant ab,ab", "5 1", NULL);
	o.n_never_split = 0;
	check(&o, "UNwant ab,ab", "5 19 9 19", NULL);
	write_config(f, "{\"do_lower_case\": false, \"strip_accents\": true, \"tokenize_chinese_chars\": false}");
	o = (struct tokenizer_opts){ .model = f->folder, .lower = TOKENIZER_YES, .split_cjk = TOKENIZER_YES };
	check(&o, "UNwant\xE5\x8D\x9A CAF\xC3\x89", "5 17 14 16", NULL);
	o.strip_accents = TOKENIZER_STRIP_NO;
	check(&o, "CAF\xC3\x89", "20", NULL);
}

static void a_model_directory_says_how_long_words_are_and_which_unicode(void **state)
{
	const struct fixture *f = *state;
	struct tokenizer_opts o = { .model = f->folder };

	write_config(f, "{\"max_input_chars_per_word\": 2, \"unicode_version\": \"15.0\"}");
	check(&o, "ab abab", "19 1", NULL);
	expect_description(&o, "{\"cased\": false, \"cjk\": true, \"compat\": \"google\", \"id_bytes\": 2, \"max_word\": 2, "
		"\"strip_accents\": true, \"unicode\": \"15.0\", \"vocab\": {" SHA "}}");
	o.compat = TOKENIZER_HF;			/* whose characters have no version */
	expect_description(&o, "{\"cased\": false, \"cjk\": true, \"compat\": \"hf\", \"id_bytes\": 2, \"max_word\": 2, "
		"\"strip_accents\": true, \"unicode\": null, \"vocab\": {" SHA "}}");
	o = (struct tokenizer_opts){ .model = f->folder, .max_word = 50, .unicode = "14.0" };
	expect_description(&o, "{\"cased\": false, \"cjk\": true, \"compat\": \"google\", \"id_bytes\": 2, \"max_word\": 50, "
		"\"strip_accents\": true, \"unicode\": \"14.0\", \"vocab\": {" SHA "}}");
	write_config(f, "{\"model_max_length\": 1000000000000000019884624838656, \"max_input_chars_per_word\": 2}");
	check(&(struct tokenizer_opts){ .model = f->folder }, "ab abab", "19 1", NULL);
	write_config(f, "{\"max_input_chars_per_word\": null, \"unicode_version\": null}");
	o = (struct tokenizer_opts){ .model = f->folder };
	expect_description(&o, "{\"cased\": false, \"cjk\": true, \"compat\": \"google\", \"id_bytes\": 2, \"max_word\": 200, "
		"\"strip_accents\": true, \"unicode\": \"14.0\", \"vocab\": {" SHA "}}");
}

static void a_segmenter_is_held_to_the_model_directory(void **state)
{
	const struct fixture *f = *state;
	struct tokenizer_opts o = { .model = f->folder };
	struct tokenizer *t;

	write_config(f, "{\"segmenter\": \"cut -x\"}");
	assert_int_equal(tokenizer_open(&t, &o), 0);		/* to look at its vocabulary */
	assert_null(encoder_new(t));
	assert_int_equal(err_code(), EXIT_USAGE);
	assert_string_equal(err_text(), "the model takes texts that a segmenter has cut into words: 'cut -x'");
	tokenizer_close(t);
	o.segmenter = "";
	check(&o, "ab, ab", "19 9 19", NULL);
	o.segmenter = "cut -x";
	check(&o, "ab, ab", "19 9 19", NULL);
	expect_description(&o, "{\"cased\": false, \"cjk\": true, \"compat\": \"google\", \"id_bytes\": 2, \"max_word\": 200, \"segmenter\": \"cut -x\", "
		"\"strip_accents\": true, \"unicode\": \"14.0\", \"vocab\": {" SHA "}}");
	o.segmenter = "cut -y";
	assert_int_equal(tokenizer_open(&t, &o), -1);
	assert_int_equal(err_code(), EXIT_USAGE);
	assert_non_null(strstr(err_text(), "cut into words by 'cut -x', not by 'cut -y'"));
	assert_int_equal(tokenizer_open(&t, &(struct tokenizer_opts){ .vocab = f->vocab, .segmenter = "a\xFF" }), -1);
	assert_int_equal(err_code(), EXIT_USAGE);
	write_config(f, "{\"segmenter\": null}");
	check(&o, "ab", "19", NULL);
}

static void the_japanese_tokenizer_has_other_defaults(void **state)
{
	const struct fixture *f = *state;
	const struct tokenizer_opts o = { .model = f->folder, .segmenter = "" };

	write_config(f, "{\"tokenizer_class\": \"BertJapaneseTokenizer\"}");
	check(&o, "UNwanted caf\xC3\xA9 ab\xE5\x8D\x9A", "13 6 20 1", NULL);
	write_config(f, "{\"word_tokenizer_type\": \"basic\", \"subword_tokenizer_type\": \"wordpiece\", \"do_lower_case\": true}");
	check(&o, "UNwanted CAF\xC3\x89 ab\xE5\x8D\x9A", "5 6 14 16 1", NULL);
	write_config(f, "{\"word_tokenizer_type\": \"mecab\", \"segmenter\": \"mecab -Owakati\", \"do_lower_case\": true}");
	check(&o, "UNwanted CAF\xC3\x89 ab\xE5\x8D\x9A", "5 6 20 1", NULL);
	write_config(f, "{\"tokenizer_class\": \"BertTokenizer\", \"word_tokenizer_type\": null, \"subword_tokenizer_type\": null}");
	check(&o, "UNwanted CAF\xC3\x89 ab\xE5\x8D\x9A", "5 6 14 16 19 17", NULL);
}

static void refuse(const struct tokenizer_opts *o, enum exit_code code, const char *reason)
{
	struct tokenizer *t = (void *)-1;

	assert_int_equal(tokenizer_open(&t, o), -1);
	assert_null(t);
	assert_int_equal(err_code(), code);
	if (!strstr(err_text(), reason))
		fail_msg("'%s' lacks '%s'", err_text(), reason);
}

static void what_makes_no_tokenizer_is_refused(void **state)
{
	const struct fixture *f = *state;

	refuse(&(struct tokenizer_opts){ 0 }, EXIT_USAGE, "either a vocabulary or a model directory");
	refuse(&(struct tokenizer_opts){ .vocab = f->vocab, .model = f->folder }, EXIT_USAGE, "either");
	refuse(&(struct tokenizer_opts){ .model = f->folder, .cased = true }, EXIT_USAGE, "cased");
	refuse(&(struct tokenizer_opts){ .vocab = f->vocab, .unicode = "13.0" }, EXIT_USAGE, "13.0");
	refuse(&(struct tokenizer_opts){ .vocab = f->vocab, .unicode = "14.0", .compat = TOKENIZER_HF }, EXIT_USAGE, "Unicode");
	refuse(&(struct tokenizer_opts){ .vocab = "/nonexistent/v" }, EXIT_FAILED, "/nonexistent/v");
	refuse(&(struct tokenizer_opts){ .model = "/nonexistent" }, EXIT_FAILED, "/nonexistent/vocab.txt");
	refuse(&(struct tokenizer_opts){ .vocab = f->vocab, .cased = true, .lower = TOKENIZER_YES }, EXIT_USAGE, "choose one");
	refuse(&(struct tokenizer_opts){ .vocab = f->vocab, .never_split = (const char *[]){ "a", "b c" }, .n_never_split = 2 }, EXIT_USAGE, "white space: 'b c'");
	write_config(f, "{\"never_split\": \"a\"}");
	refuse(&(struct tokenizer_opts){ .model = f->folder }, EXIT_CORRUPT, "no list");
	write_config(f, "{\"never_split\": [\"a\", 7]}");
	refuse(&(struct tokenizer_opts){ .model = f->folder }, EXIT_CORRUPT, "no string");
	write_config(f, "{\"never_split\": [\"a\", \"\"]}");
	refuse(&(struct tokenizer_opts){ .model = f->folder }, EXIT_CORRUPT, "is empty");
	write_config(f, "{\"max_input_chars_per_word\": 0}");
	refuse(&(struct tokenizer_opts){ .model = f->folder }, EXIT_CORRUPT, "\"max_input_chars_per_word\" is no number from 1 to 2147483647");
	write_config(f, "{\"max_input_chars_per_word\": 2147483648}");
	refuse(&(struct tokenizer_opts){ .model = f->folder }, EXIT_CORRUPT, "no number");
	write_config(f, "{\"max_input_chars_per_word\": 100.0}");
	refuse(&(struct tokenizer_opts){ .model = f->folder }, EXIT_CORRUPT, "no number");
	write_config(f, "{\"unicode_version\": \"13.0\"}");
	refuse(&(struct tokenizer_opts){ .model = f->folder }, EXIT_CORRUPT, "\"unicode_version\": no tables of Unicode '13.0'");
	refuse(&(struct tokenizer_opts){ .model = f->folder, .compat = TOKENIZER_HF }, EXIT_CORRUPT, "13.0");
	write_config(f, "{\"unicode_version\": 15.0}");
	refuse(&(struct tokenizer_opts){ .model = f->folder }, EXIT_CORRUPT, "no string");
	write_config(f, "{\"word_tokenizer_type\": \"mecab\", \"segmenter\": null}");
	refuse(&(struct tokenizer_opts){ .model = f->folder, .segmenter = "cat" }, EXIT_CORRUPT, "the command that cuts texts so");
	write_config(f, "{\"word_tokenizer_type\": [\"mecab\"]}");
	refuse(&(struct tokenizer_opts){ .model = f->folder }, EXIT_CORRUPT, "no string");
	write_config(f, "{\"subword_tokenizer_type\": \"sentencepiece\", \"segmenter\": \"cat\"}");
	refuse(&(struct tokenizer_opts){ .model = f->folder, .segmenter = "cat" }, EXIT_CORRUPT, "WordPiece's alone");
	write_config(f, "{\"do_lower_case\": \n 1}");
	refuse(&(struct tokenizer_opts){ .model = f->folder }, EXIT_CORRUPT, "do_lower_case");
	write_config(f, "{\"do_lower_case\": \n tru");
	refuse(&(struct tokenizer_opts){ .model = f->folder }, EXIT_CORRUPT, "line 2");
	write_config(f, "[]");
	refuse(&(struct tokenizer_opts){ .model = f->folder }, EXIT_CORRUPT, "not a JSON object");
	tokenizer_close(NULL);
	encoder_free(NULL);
}

/* Adds WORD and a space to a buffer, but refuses "stop". */
static int note_unknown(void *ctx, const char *word, size_t len)
{
	if (len == 4 && !memcmp(word, "stop", 4))
		return err_fail("told to stop");
	return buf_add(ctx, word, len) || buf_add_byte(ctx, ' ') ? -1 : 0;
}

static void unknown_words_are_told_as_often_as_they_are_met(void **state)
{
	static const char text[] = "Unwanted ODD, odd \xC3\x89t\xC3\xA9 [UNK] caf\xC3\xA9 odd \xC3\xA9t\xC3\xA9 \xF0\x9F\x98\x80 "
				   "verylongoddword, verylongoddword averyverylongoddwordthatnocachekeeps";
	const struct fixture *f = *state;
	const struct tokenizer_opts o = { .vocab = f->vocab };
	struct ids with = IDS_INIT, without = IDS_INIT;
	struct buf met = BUF_INIT;
	struct tokenizer *t;
	struct encoder *e, *plain;

	assert_int_equal(tokenizer_open(&t, &o), 0);
	e = encoder_new(t);
	plain = encoder_new(t);
	assert_true(e && plain);
	encoder_on_unknown(e, note_unknown, &met);
	for (int round = 0; round < 2; round++) {	/* the second time from the cache, where it has the words */
		buf_clear(&met);
		with.count = without.count = 0;
		assert_int_equal(encoder_encode(e, text, strlen(text), &with), 0);
		assert_int_equal(encoder_encode(plain, text, strlen(text), &without), 0);
		assert_int_equal(with.count, without.count);
		assert_memory_equal(with.items, without.items, with.count * sizeof(*with.items));
		assert_string_equal(met.data, "odd odd ete unk odd ete \xF0\x9F\x98\x80 verylongoddword verylongoddword "
				    "averyverylongoddwordthatnocachekeeps ");
	}
	assert_int_equal(encoder_encode(e, "odd stop", 8, &with), -1);
	assert_string_equal(err_text(), "told to stop");
	buf_release(&met);
	ids_release(&with);
	ids_release(&without);
	encoder_free(e);
	encoder_free(plain);
	tokenizer_close(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(text_becomes_ids_and_places, set_up, tear_down),
		cmocka_unit_test_setup_teardown(cased_text_keeps_case_and_accents, set_up, tear_down),
		cmocka_unit_test_setup_teardown(switches_are_separate, set_up, tear_down),
		cmocka_unit_test_setup_teardown(some_tokens_are_never_split, set_up, tear_down),
		cmocka_unit_test_setup_teardown(lines_keep_their_ends_beside_tokens_never_split, set_up, tear_down),
		cmocka_unit_test_setup_teardown(only_hf_takes_special_tokens_from_the_text, set_up, tear_down),
		cmocka_unit_test_setup_teardown(words_have_a_longest, set_up, tear_down),
		cmocka_unit_test_setup_teardown(unknown_words_are_told_as_often_as_they_are_met, set_up, tear_down),
		cmocka_unit_test_setup_teardown(words_come_with_their_places, set_up, tear_down),
		cmocka_unit_test_setup_teardown(places_become_bytes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_description_names_all_that_makes_ids, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_model_directory_says_how, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_caller_may_choose_otherwise, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_model_directory_says_how_long_words_are_and_which_unicode, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_segmenter_is_held_to_the_model_directory, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_japanese_tokenizer_has_other_defaults, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_makes_no_tokenizer_is_refused, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
