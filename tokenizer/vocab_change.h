/*
 * vocab_change.h - from one vocabulary to another: what each token of the new
 * one is in the old.
 *
 *	struct vocab_change c;
 *	if (vocab_change_make(&c, old, new))
 *		return -1;
 *	... token i of NEW: c.pieces.items[c.ends[i-1] .. c.ends[i]), ids of OLD
 *	vocab_change_release(&c);
 *
 * A token that both have is itself. A new one is the pieces that the old
 * vocabulary cuts it into, as a word, or, where it begins with "##", as the rest of one; where it
 * cannot be cut, or is empty, it is [UNK]. Words are as long as they like here.
 */
#ifndef TOKENIZER_VOCAB_CHANGE_H
#define TOKENIZER_VOCAB_CHANGE_H

#include "tokenizer/ids.h"
#include "tokenizer/vocab.h"

enum token_origin { TOKEN_COPIED, TOKEN_AVERAGED, TOKEN_UNKNOWN };

struct vocab_change {
	struct ids pieces;		/* never none of a token */
	size_t *ends;			/* [vocab_size(new)] */
	unsigned char *origins;		/* [vocab_size(new)] enum token_origin */
	size_t counts[3];		/* tokens of each origin */
	size_t dropped;			/* tokens of the old vocabulary that the new one does not have */
};

int vocab_change_make(struct vocab_change *c, const struct vocab *old, const struct vocab *new);
void vocab_change_release(struct vocab_change *c);		/* after a failure too */

/* Whether NEW has no token of the text that ID has in OLD. */
bool vocab_change_drops(const struct vocab *old, const struct vocab *new, uint32_t id);

#endif
