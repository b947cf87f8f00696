#include "shards/described.h"

#include "base/err.h"
#include "tokenizer/chars.h"

#include <stdlib.h>
#include <string.h>

static int yes_or_no(const json_t *is, const char *member, int yes, int no)
{
	return json_is_true(json_object_get(is, member)) ? yes : no;
}

int described_open(struct tokenizer **t, const char *vocab, const json_t *is, bool cut)
{
	const char *unicode = json_string_value(json_object_get(is, "unicode")), *compat = json_string_value(json_object_get(is, "compat"));
	const bool hf = compat && !strcmp(compat, "hf");
	const json_t *list = json_object_get(is, "never_split"), *item;
	const char **never = calloc(json_array_size(list) + 1, sizeof(*never));
	size_t i;
	int rc;

	*t = NULL;
	if (!never)
		return err_memory();
	if (!hf && unicode && !chars_google(unicode)) {
		free(never);
		return err_corrupt("the tokens were made by Unicode '%.20s', which is not known here", unicode);
	}
	json_array_foreach(list, i, item)
		never[i] = json_string_value(item) ? json_string_value(item) : "";
	rc = tokenizer_open(t, &(struct tokenizer_opts){
		.vocab = vocab,
		.lower = yes_or_no(is, "cased", TOKENIZER_NO, TOKENIZER_YES),
		.compat = hf ? TOKENIZER_HF : TOKENIZER_GOOGLE,
		.strip_accents = yes_or_no(is, "strip_accents", TOKENIZER_STRIP_YES, TOKENIZER_STRIP_NO),
		.split_cjk = yes_or_no(is, "cjk", TOKENIZER_YES, TOKENIZER_NO),
		.never_split = never,
		.n_never_split = json_array_size(list),
		.segmenter = cut ? json_string_value(json_object_get(is, "segmenter")) : NULL,
		.max_word = (uint64_t)json_integer_value(json_object_get(is, "max_word")),
		.unicode = hf ? NULL : unicode,
	});
	free(never);
	return rc;
}
