/* What is counted, and what is warned of. */
#include "shards/stats.h"
#include "tests/unit/shards/made_folder.h"

#include <unistd.h>

static char top[] = "/tmp/bert-test-stats-XXXXXX";
static char folder[64], tokens[64];

static int make_top(void **state)
{
	(void)state;
	if (!mkdtemp(top))
		return -1;
	snprintf(folder, sizeof(folder), "%s/set", top);
	snprintf(tokens, sizeof(tokens), "%s/set/a.tok", top);
	made_folder(folder, &(struct made){ .seed = 1 });
	return 0;
}

static int remove_top(void **state)
{
	(void)state;
	return fs_remove_tree(top);
}

static json_t *count(const char *path, unsigned threads)
{
	struct stats s = { .threads = threads };
	json_t *o;

	if (stats_add(&s, &path, 1))
		fail_msg("%s", err_text());
	o = stats_json(&s);
	assert_non_null(o);
	stats_release(&s);
	return o;
}

static json_int_t integer(const json_t *o, const char *name)
{
	assert_true(json_is_integer(json_object_get(o, name)));
	return json_integer_value(json_object_get(o, name));
}

static double real(const json_t *o, const char *name)
{
	assert_true(json_is_real(json_object_get(o, name)));
	return json_real_value(json_object_get(o, name));
}

static bool close_to(double a, double b)
{
	return a > b - 1e-9 && a < b + 1e-9;
}

/* Whether a warning of O holds TEXT. */
static bool warns(const json_t *o, const char *text)
{
	const json_t *list = json_object_get(o, "warnings");

	for (size_t k = 0; k < json_array_size(list); k++)
		if (strstr(json_string_value(json_array_get(list, k)), text))
			return true;
	return false;
}

static void shards(void **state)
{
	const int documents = MADE_SHARDS * MADE_DOCUMENTS;
	json_t *o = count(folder, 2), *one = count(folder, 1), *kinds;
	char *text = json_dumps(o, JSON_SORT_KEYS), *again = json_dumps(one, JSON_SORT_KEYS);

	(void)state;
	assert_string_equal(text, again);
	assert_int_equal(integer(o, "files"), MADE_SHARDS);
	assert_int_equal(integer(o, "documents"), documents);
	assert_int_equal(integer(o, "duplicate_documents"), MADE_SHARDS);
	assert_int_equal(integer(o, "empty_documents"), 0);
	assert_int_equal(integer(o, "tokens"), documents * MADE_TOKENS);
	assert_true(close_to(real(o, "bytes_per_token"), 4));
	assert_true(close_to(real(o, "tokens_per_sentence"), 5));
	assert_true(close_to(real(o, "unk_share"), 0));
	assert_true(close_to(real(o, "special_share"), 0));
	assert_true(json_is_null(json_object_get(o, "sentence_lengths")));
	assert_int_equal(integer(o, "max_seq_length"), 23);
	assert_int_equal(integer(o, "instance_tokens"), 23 * integer(o, "instances"));
	assert_true(close_to(real(o, "padding_share"), 0));
	assert_true(real(o, "random_next_share") > 0.4 && real(o, "random_next_share") < 0.8);
	assert_int_equal(integer(json_object_get(o, "lengths"), "23"), integer(o, "instances"));
	kinds = json_object_get(o, "mask_kinds");
	assert_true(close_to(real(kinds, "mask") + real(kinds, "same") + real(kinds, "random"), 1));
	assert_true(real(kinds, "mask") > 0.7 && real(kinds, "mask") < 0.9);
	assert_true(close_to(real(o, "mask_rate"), 3 / 23.));	/* 23 * 0.15 = 3.45 */
	assert_string_equal(json_string_value(json_object_get(json_object_get(o, "largest_document"), "title")),
			    "A title");
	assert_true(warns(o, "documents repeat another one"));
	assert_true(warns(o, "no instance can have more than 3 masks"));
	assert_int_equal(json_array_size(json_object_get(o, "warnings")), 2);
	free(text);
	free(again);
	json_decref(o);
	json_decref(one);
}

/* N documents, each of SENTENCES sentences of LENGTH tokens, all with id ID; every second one with one key. */
static void make_tokens(uint32_t n, uint32_t sentences, uint32_t length, uint16_t id)
{
	char vocab_path[96];
	struct vocab *vocab;
	struct tokdoc_block b = TOKDOC_BLOCK_INIT;
	struct tokdoc_writer *w;
	struct out *out;
	uint32_t *lengths = calloc(sentences, sizeof(*lengths));
	uint16_t *ids = calloc((size_t)sentences * length + 1, sizeof(*ids));

	snprintf(vocab_path, sizeof(vocab_path), "%s/vocab.txt", folder);
	assert_int_equal(vocab_load(&vocab, vocab_path), 0);
	json_t *tokenizer = json_pack("{s:i, s:{s:s, s:i}}", "id_bytes", 2, "vocab", "sha256", vocab_sha256(vocab),
				      "size", MADE_VOCAB);

	assert_true(lengths && ids);
	for (uint32_t k = 0; k < sentences; k++)
		lengths[k] = length;
	for (uint32_t k = 0; k < sentences * length; k++)
		ids[k] = id;
	assert_int_equal(out_open(&out, tokens), 0);
	assert_int_equal(tokdoc_writer_open(&w, out, tokenizer, false), 0);
	for (uint32_t k = 0; k < n; k++) {
		const struct tokdoc d = { .key = { 7, k % 2 ? k : 0 }, .text_bytes = 10, .lengths = lengths,
					  .n_sentences = sentences, .ids = ids,
					  .n_tokens = (size_t)sentences * length, .id_bytes = 2 };

		assert_int_equal(tokdoc_block_add(&b, &d, 2), 0);
	}
	assert_int_equal(tokdoc_writer_add(w, &b), 0);
	assert_int_equal(tokdoc_writer_finish(w, NULL), 0);
	assert_int_equal(out_commit(out), 0);
	tokdoc_block_release(&b);
	json_decref(tokenizer);
	vocab_free(vocab);
	free(lengths);
	free(ids);
}

static void token_documents(void **state)
{
	json_t *o;

	(void)state;
	make_tokens(40, 10, 6, 9);
	o = count(tokens, 2);
	assert_int_equal(integer(o, "documents"), 40);
	assert_int_equal(integer(o, "duplicate_documents"), 19);
	assert_int_equal(integer(o, "tokens"), 2400);
	assert_int_equal(integer(json_object_get(o, "sentence_lengths"), "4-7"), 400);
	assert_int_equal(integer(json_object_get(o, "sentence_lengths"), "1"), 0);
	assert_true(close_to(real(o, "unk_share"), 0));
	assert_true(json_is_null(json_object_get(o, "padding_share")));
	assert_true(warns(o, "19 of 40 documents repeat"));
	assert_int_equal(json_array_size(json_object_get(o, "warnings")), 1);
	json_decref(o);
}

static void warned(uint32_t n, uint32_t sentences, uint32_t length, uint16_t id, const char *text)
{
	json_t *o;

	make_tokens(n, sentences, length, id);
	o = count(tokens, 1);
	if (!warns(o, text))
		fail_msg("no warning that '%s': %s", text, json_dumps(json_object_get(o, "warnings"), 0));
	json_decref(o);
}

static void warnings(void **state)
{
	char vocab[96], away[96];
	json_t *o;

	(void)state;
	warned(40, 1, 6, 9, "40 of 40 documents have one sentence: is there a blank line after every sentence?");
	warned(40, 3, 6, 9, "100 % of the documents have at most three sentences: are paragraphs taken for documents?");
	warned(40, 4, 6, 9, "a document has 4.0 sentences on average: are paragraphs taken for documents?");
	warned(40, 10, 70, 9, "a sentence has 70 tokens on average");
	warned(40, 10, 6, 1, "100.0 % of the tokens are [UNK]");
	warned(40, 10, 6, 4, "2400 tokens of the text are [PAD], [CLS], [SEP] or [MASK]");
	warned(1, 20000, 6, 9, "one document holds 100 % of all tokens");
	snprintf(vocab, sizeof(vocab), "%s/vocab.txt", folder);
	snprintf(away, sizeof(away), "%s/away.txt", folder);
	assert_int_equal(rename(vocab, away), 0);
	o = count(tokens, 1);
	assert_true(warns(o, "[UNK] was not counted in 1 files"));
	assert_true(json_is_null(json_object_get(o, "unk_share")));
	json_decref(o);
	assert_int_equal(rename(away, vocab), 0);
}

/* --- text ------------------------------------------------------------------------------------------ */

static const char vocab_of_text[] = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\n.\n";

/* PATHS of which two are text files of two documents that are three, joined. */
struct texts {
	char vocab[80], first[80], second[80];
	const char *paths[2];
};

static struct texts make_texts(void)
{
	static const char first[] = "a b.\nxx a.\n\nb zz xx\n", second[] = "b \xC3\x84y\n \nb yy xx ay.\n";
	struct texts t;

	snprintf(t.vocab, sizeof(t.vocab), "%s/words.txt", top);
	snprintf(t.first, sizeof(t.first), "%s/first.txt", top);
	snprintf(t.second, sizeof(t.second), "%s/second.txt", top);
	assert_int_equal(fs_write_all(t.vocab, vocab_of_text, sizeof(vocab_of_text) - 1), 0);
	assert_int_equal(fs_write_all(t.first, first, sizeof(first) - 1), 0);
	assert_int_equal(fs_write_all(t.second, second, sizeof(second) - 1), 0);
	return t;
}

static json_t *count_texts(struct texts *t, unsigned threads, size_t most)
{
	const struct tokenizer_opts o = { .vocab = t->vocab };
	struct stats s = { .threads = threads, .text = &o, .unknown_most = most };
	json_t *json;

	t->paths[0] = t->first;
	t->paths[1] = t->second;
	assert_int_equal(stats_add(&s, t->paths, 2), 0);
	json = stats_json(&s);
	assert_non_null(json);
	stats_release(&s);
	return json;
}

static void text(void **state)
{
	struct texts t = make_texts();
	json_t *o = count_texts(&t, 2, 3), *none = count_texts(&t, 1, 0);
	char *words = json_dumps(json_object_get(o, "unknown_words"), JSON_COMPACT);

	(void)state;
	assert_int_equal(integer(o, "files"), 2);
	assert_int_equal(integer(o, "bytes"), 20 + 20);
	assert_int_equal(integer(o, "documents"), 3);
	assert_int_equal(integer(o, "one_sentence_documents"), 1);
	assert_int_equal(integer(o, "sentences"), 5);
	assert_int_equal(integer(o, "tokens"), 16);
	assert_true(close_to(real(o, "unk_share"), 7. / 16));
	assert_int_equal(integer(json_object_get(o, "sentence_lengths"), "2-3"), 4);
	assert_int_equal(integer(o, "distinct_unknown_words"), 4);
	assert_string_equal(words, "[{\"word\":\"xx\",\"count\":3},{\"word\":\"ay\",\"count\":2},{\"word\":\"yy\",\"count\":1}]");
	assert_true(warns(o, "43.8 % of the tokens are [UNK]"));
	assert_int_equal(json_array_size(json_object_get(o, "warnings")), 1);
	assert_int_equal(integer(none, "distinct_unknown_words"), 4);
	assert_int_equal(json_array_size(json_object_get(none, "unknown_words")), 0);
	free(words);
	json_decref(o);
	json_decref(none);
}

static void text_needs_a_tokenizer(void **state)
{
	const struct texts t = make_texts();
	const struct tokenizer_opts absent = { .vocab = "/nonexistent/vocab.txt" };
	const char *path = t.first;
	struct stats s = { .threads = 1 };

	(void)state;
	assert_int_equal(stats_add(&s, &path, 1), -1);
	assert_int_equal(err_code(), EXIT_USAGE);
	assert_non_null(strstr(err_text(), "--vocab FILE or --model DIR"));
	s.text = &absent;
	assert_int_equal(stats_add(&s, &path, 1), -1);
	assert_int_equal(err_code(), EXIT_FAILED);
	stats_release(&s);
}

static void damage(void **state)
{
	struct stats s = { .threads = 1 };
	const char *path = tokens;

	(void)state;
	assert_int_equal(fs_write_all(tokens, "\x89" "BTF\r\n\x1A\n", 8), 0);
	assert_int_equal(stats_add(&s, &path, 1), -1);
	assert_int_equal(err_code(), EXIT_CORRUPT);
	stats_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shards), cmocka_unit_test(token_documents), cmocka_unit_test(warnings),
		cmocka_unit_test(text), cmocka_unit_test(text_needs_a_tokenizer),
		cmocka_unit_test(damage),
	};

	return cmocka_run_group_tests(tests, make_top, remove_top);
}
