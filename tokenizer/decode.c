#include "tokenizer/decode.h"

#include <string.h>

/* What the tokenizers package replaces in a token and the space before it, one after the other. */
static const struct {
	const char *from, *to;
} replaced[] = {
	{ " .", "." },	 { " ?", "?" },	    { " !", "!" },     { " ,", "," },
	{ " ' ", "'" },	 { " n't", "n't" }, { " 'm", "'m" },   { " do not", " don't" },
	{ " 's", "'s" }, { " 've", "'ve" }, { " 're", "'re" },
};

/* In the text from START on, which gets no longer. */
static void replace(struct buf *b, size_t start, const char *from, const char *to)
{
	const size_t from_len = strlen(from), to_len = strlen(to);
	size_t kept = start;

	for (size_t i = start; i < b->len;) {
		if (b->len - i >= from_len && !memcmp(b->data + i, from, from_len)) {
			memcpy(b->data + kept, to, to_len);
			kept += to_len;
			i += from_len;
		} else {
			b->data[kept++] = b->data[i++];
		}
	}
	b->len = kept;
	b->data[kept] = 0;
}

int decode_ids(const struct vocab *v, const uint32_t *ids, size_t n, struct buf *out)
{
	for (size_t i = 0; i < n; i++) {
		const size_t start = out->len;
		const char *token;
		size_t len;

		token = vocab_token(v, ids[i], &len);
		if (i && len >= 2 && !memcmp(token, "##", 2)) {
			token += 2;
			len -= 2;
		} else if (i && buf_add_byte(out, ' ')) {
			return -1;
		}
		if (buf_add(out, token, len))
			return -1;
		for (size_t k = 0;
		     k < sizeof(replaced) / sizeof(replaced[0]) && memchr(out->data + start, ' ', out->len - start);
		     k++)
			replace(out, start, replaced[k].from, replaced[k].to);
	}
	return 0;
}
