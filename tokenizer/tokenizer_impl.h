/* tokenizer_impl.h - a tokenizer's insides, for tokenizer.c, encoder.c and token_print.c only. */
#ifndef TOKENIZER_TOKENIZER_IMPL_H
#define TOKENIZER_TOKENIZER_IMPL_H

#include "tokenizer/never_split.h"
#include "tokenizer/normalize.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/wordpiece.h"

#define SPECIALS_MAX 5

struct special {
	const char *text;		/* begins with '[' */
	size_t len;
	uint32_t id;
};

struct tokenizer {
	struct vocab *vocab;
	struct wordpiece *wordpiece;
	struct normalizer_opts rules;
	int compat;
	uint64_t max_word;
	struct special specials[SPECIALS_MAX];	/* taken whole where the text has them: Hugging Face's habit */
	size_t n_specials;
	struct never_split never_split;
	char *segmenter;		/* that texts are to be cut by; NULL: none */
	bool is_cut;			/* and they are */
};

#endif
