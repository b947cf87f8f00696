/*
 * tokenizer_config.h - what a model directory's tokenizer_config.json says of
 * its tokenizer.
 *
 * Of Hugging Face's fields those that change ids are read: do_lower_case
 * (default true), strip_accents (default: as do_lower_case), and
 * tokenize_chinese_chars (default true). Where there is no such file the
 * defaults hold, as they do in transformers.
 */
#ifndef TOKENIZER_TOKENIZER_CONFIG_H
#define TOKENIZER_TOKENIZER_CONFIG_H

#include <stdbool.h>

struct tokenizer_config {
	bool lower;
	bool strip_accents;
	bool space_cjk;
};

/* Reads PATH; an absent file is fine. EXIT_CORRUPT: not JSON, or a field of another type. */
int tokenizer_config_read(struct tokenizer_config *c, const char *path);

#endif
