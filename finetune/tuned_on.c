/* tuned_on.c - how a model's sequences are made. */
#include "finetune/tuned_on.h"

#include "base/err.h"
#include "tokenizer/tokenizer.h"

#include <inttypes.h>
#include <string.h>

#define MAX_SEQ_LENGTH_DEFAULT 128

static const char *const names[] = { [TOKENIZER_GOOGLE] = "google", [TOKENIZER_HF] = "hf" };

static int settle_length(struct tuned_on *t, const struct config *c, const char *folder, uint64_t asked)
{
	const uint64_t most = (uint64_t)c->max_position_embeddings;
	uint64_t length = asked ? asked : (uint64_t)c->max_seq_length;

	if (!length)
		length = most < MAX_SEQ_LENGTH_DEFAULT ? most : MAX_SEQ_LENGTH_DEFAULT;
	if (length > most)
		return err_usage("a max_seq_length of %" PRIu64 " is more than the %" PRIu64 " positions of '%s'", length, most, folder);
	t->max_seq_length = (int)length;
	return 0;
}

static int settle_compat(struct tuned_on *t, const struct config *c, const char *folder, int asked)
{
	t->compat = asked == TUNED_ON_HF ? TOKENIZER_HF : TOKENIZER_GOOGLE;
	if (asked != TUNED_ON_MODEL || !*c->tokenizer_compat)
		return 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(c->tokenizer_compat, names[i])) {
			t->compat = (int)i;
			return 0;
		}
	}
	return err_corrupt("'%s' was tuned on ids of '%s', which are not known here", folder, c->tokenizer_compat);
}

int tuned_on_settle(struct tuned_on *t, const struct config *c, const char *folder, uint64_t max_seq_length, int compat)
{
	return settle_length(t, c, folder, max_seq_length) || settle_compat(t, c, folder, compat) ? -1 : 0;
}

void tuned_on_note(const struct tuned_on *t, struct config *c)
{
	c->max_seq_length = t->max_seq_length;
	snprintf(c->tokenizer_compat, sizeof(c->tokenizer_compat), "%s", names[t->compat]);
}
