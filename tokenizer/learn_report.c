#include "tokenizer/learn_report.h"

#include "base/err.h"
#include "tokenizer/wordpiece.h"

#include <stdlib.h>

static void add_word(struct learn_use *u, const struct ids *ids, uint32_t unk, uint64_t count, bool *seen)
{
	const bool unknown = ids->count == 1 && ids->items[0] == unk;

	u->tokens += count * ids->count;
	u->unknown += unknown ? count : 0;
	u->whole += ids->count == 1 && !unknown ? count : 0;
	for (size_t i = 0; i < ids->count; i++) {
		u->used += !seen[ids->items[i]];
		seen[ids->items[i]] = true;
	}
}

static int measure(struct learn_use *u, const struct learn_words *w, uint64_t too_long, const struct vocab *v)
{
	const uint32_t unk = vocab_special(v).unk;
	struct wordpiece *wordpiece = wordpiece_new(v, LEARN_WORD_MAX);
	bool *seen = calloc(vocab_size(v), sizeof(*seen));
	struct ids ids = IDS_INIT;
	int rc = -1;

	*u = (struct learn_use){ .tokens = too_long, .unknown = too_long, .used = too_long > 0 };
	if (!seen) {
		err_memory();
		goto end;
	}
	if (!wordpiece)
		goto end;
	seen[unk] = too_long > 0;
	for (size_t i = 0; i < w->count; i++) {
		ids.count = 0;
		if (wordpiece_encode(wordpiece, learn_words_text(w, i), w->items[i].len, &ids))
			goto end;
		add_word(u, &ids, unk, w->items[i].count, seen);
	}
	rc = 0;
end:
	ids_release(&ids);
	free(seen);
	wordpiece_free(wordpiece);
	return rc;
}

int learn_text_measure(struct learn_text *t, const struct learn_count *c, const struct learn_words *w,
		       const struct vocab *own, const struct vocab *beside)
{
	*t = (struct learn_text){ .words = c->words - w->dropped_count, .different = w->count, .too_long = c->long_words,
				  .dropped = w->dropped_count, .dropped_different = w->dropped, .has_beside = beside };
	if (measure(&t->own, w, t->too_long, own))
		return -1;
	return beside ? measure(&t->beside, w, t->too_long, beside) : 0;
}

static double share(uint64_t part, uint64_t all)
{
	return all ? (double)part / (double)all : 0;
}

static json_t *use_json(const struct learn_use *u, uint64_t words)
{
	return json_pack("{sI sI sf sI sf sI sf}", "tokens_used", (json_int_t)u->used, "unknown_words", (json_int_t)u->unknown,
			 "unknown_share", share(u->unknown, words), "whole_words", (json_int_t)u->whole, "whole_share",
			 share(u->whole, words), "tokens", (json_int_t)u->tokens, "tokens_per_word", share(u->tokens, words));
}

json_t *learn_text_json(const struct learn_text *t)
{
	json_t *json = json_pack("{sI sI sI sI sI so so*}", "words", (json_int_t)t->words, "different_words", (json_int_t)t->different,
				 "too_long_words", (json_int_t)t->too_long, "dropped_words", (json_int_t)t->dropped,
				 "dropped_different_words", (json_int_t)t->dropped_different, "vocabulary",
				 use_json(&t->own, t->words), "beside", t->has_beside ? use_json(&t->beside, t->words) : NULL);

	if (!json)
		err_memory();
	return json;
}
