/*
 * tokenizer_config.h - what a model directory's tokenizer_config.json says of
 * its tokenizer.
 *
 * Of Hugging Face's fields those that change ids are read: do_lower_case
 * (default true), strip_accents (default: as text is lower-cased),
 * tokenize_chinese_chars (default true), never_split (default none), and
 * max_input_chars_per_word (default: the reference's). Two are our own: segmenter, the
 * command that cut the texts into words, and unicode_version, of google's tables. Where
 * there is no such file the defaults hold, as they do in transformers.
 *
 * A word_tokenizer_type other than basic (mecab: BertJapaneseTokenizer) needs a segmenter, and a
 * subword_tokenizer_type other than wordpiece is refused. That tokenizer has other defaults: false for
 * do_lower_case and tokenize_chinese_chars, and, beside another program, for strip_accents.
 */
#ifndef TOKENIZER_TOKENIZER_CONFIG_H
#define TOKENIZER_TOKENIZER_CONFIG_H

#include "tokenizer/never_split.h"
#include "tokenizer/tokenizer.h"

#include <stdbool.h>

struct tokenizer_config {
	bool lower;
	int strip_accents;		/* enum tokenizer_strip */
	bool split_cjk;
	struct never_split never_split;
	char *segmenter;		/* NULL: none */
	uint64_t max_word;		/* code points; 0: not said */
	const char *unicode;		/* one that chars_google() knows, a constant; NULL: not said */
};
#define TOKENIZER_CONFIG_INIT { true, TOKENIZER_STRIP_AUTO, true, NEVER_SPLIT_INIT, NULL, 0, NULL }

/* Names of fields that trainers write, too. */
#define TOKENIZER_CONFIG_MAX_WORD "max_input_chars_per_word"
#define TOKENIZER_CONFIG_UNICODE "unicode_version"

/* Reads PATH into *C; an absent file is fine. EXIT_CORRUPT: not JSON, or a field that cannot be. To be released either way. */
int tokenizer_config_read(struct tokenizer_config *c, const char *path);
void tokenizer_config_release(struct tokenizer_config *c);

/*
 * The object that the LEN bytes at TEXT are, whose reference the caller owns; NULL, EXIT_CORRUPT, with PATH in the reason.
 * Numbers of any size: transformers writes a model_max_length of 10^30 where there is none, which becomes a real.
 */
struct json_t;
struct json_t *tokenizer_config_parse(const char *text, size_t len, const char *path);
#define TOKENIZER_CONFIG_BYTES_MAX ((size_t)64 << 20)

/*
 * Copies such a file, for a directory whose vocabulary is V: as it is, but for added_tokens_decoder where that gives a token
 * another id than V. Nothing where FROM is absent.
 */
int tokenizer_config_carry(const char *from, const char *to, const struct vocab *v);

#endif
