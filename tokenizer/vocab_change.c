#include "tokenizer/vocab_change.h"

#include "base/err.h"
#include "tokenizer/wordpiece.h"

#include <stdlib.h>
#include <string.h>

/* Adds the pieces of TOKEN: whether it could be cut to *ORIGIN. */
static int cut(const struct wordpiece *w, const char *token, size_t len, struct ids *pieces, enum token_origin *origin)
{
	const bool continued = len > 2 && !memcmp(token, "##", 2);
	const size_t before = pieces->count;
	size_t at = continued ? 2 : 0, n;
	uint32_t id;

	*origin = TOKEN_AVERAGED;
	for (; at < len; at += n) {
		n = wordpiece_match(w, token + at, len - at, at > 0, &id);
		if (!n)
			break;
		if (ids_add(pieces, id))
			return -1;
	}
	if (at == len && len)
		return 0;
	*origin = TOKEN_UNKNOWN;
	pieces->count = before;
	return 0;
}

/* Adds what token I of NEW is. */
static int add_token(struct vocab_change *c, const struct vocab *old, const struct vocab *new, const struct wordpiece *w, uint32_t i)
{
	enum token_origin origin = TOKEN_COPIED;
	size_t len;
	const char *const token = vocab_token(new, i, &len);
	const uint32_t same = vocab_id(old, token, len);

	if (same != VOCAB_NONE ? ids_add(&c->pieces, same) : cut(w, token, len, &c->pieces, &origin))
		return -1;
	if (origin == TOKEN_UNKNOWN && ids_add(&c->pieces, vocab_special(old).unk))
		return -1;
	c->ends[i] = c->pieces.count;
	c->origins[i] = (unsigned char)origin;
	c->counts[origin]++;
	return 0;
}

bool vocab_change_drops(const struct vocab *old, const struct vocab *new, uint32_t id)
{
	size_t len;
	const char *const token = vocab_token(old, id, &len);

	return vocab_id(new, token, len) == VOCAB_NONE;
}

int vocab_change_make(struct vocab_change *c, const struct vocab *old, const struct vocab *new)
{
	const uint32_t n = vocab_size(new);
	struct wordpiece *w = wordpiece_new(old, UINT64_MAX);
	int rc = -1;

	*c = (struct vocab_change){ .pieces = IDS_INIT, .ends = calloc(n, sizeof(*c->ends)), .origins = calloc(n, 1) };
	if (!w)
		goto out;
	if (!c->ends || !c->origins) {
		err_memory();
		goto out;
	}
	for (uint32_t i = 0; i < n; i++)
		if (add_token(c, old, new, w, i))
			goto out;
	for (uint32_t id = 0; id < vocab_size(old); id++)
		c->dropped += vocab_change_drops(old, new, id);
	rc = 0;
out:
	wordpiece_free(w);
	return rc;
}

void vocab_change_release(struct vocab_change *c)
{
	ids_release(&c->pieces);
	free(c->ends);
	free(c->origins);
	*c = (struct vocab_change){ .pieces = IDS_INIT };
}
