/* made_words.h - words with their counts, for the tests of what learns from them. Include after cmocka.h. */
#ifndef TESTS_UNIT_TOKENIZER_MADE_WORDS_H
#define TESTS_UNIT_TOKENIZER_MADE_WORDS_H

#include "tokenizer/learn_words.h"

#include <string.h>

static inline struct learn_words make_words(const char *const *words, const uint64_t *counts, size_t n)
{
	struct learn_words w;

	learn_words_init(&w, 1 << 26);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(learn_words_add(&w, words[i], strlen(words[i]), counts[i]), 0);
	return w;
}

#endif
