/*
 * show.h - instances and token documents as lines of text.
 *
 *	struct show s;
 *	show_init(&s, &(struct show_opts){ .form = SHOW_JSON, .vocab = vocab })
 *	show_instance(&s, &out, &instance, &shape, number)	(adds to OUT; any thread)
 *	show_document(&s, &out, &doc, number)
 *	show_release(&s);
 *
 * SHOW_JSON is an object a line, members in the order given here, no blanks:
 *
 *	{"input_ids":[...],"segment_ids":[...],"masked_lm_positions":[...],
 *	 "masked_lm_ids":[...],"next_sentence_label":0}
 *	{"key":"...","id":null,"title":"...","sentences":[[...],[...]]}
 *
 * With a vocabulary "tokens" follows: the strings of input_ids, or of the
 * sentences' ids. SHOW_TEXT, which needs a vocabulary, is for people: pieces
 * joined to words, a mask as [what the model sees:what stood there].
 */
#ifndef SHARDS_SHOW_H
#define SHARDS_SHOW_H

#include "base/buf.h"
#include "shards/instance.h"
#include "shards/tokdoc.h"
#include "tokenizer/vocab.h"

#include <stdint.h>

enum show_form { SHOW_JSON, SHOW_TEXT };

struct show_opts {
	enum show_form form;
	const struct vocab *vocab;	/* NULL: no strings. Must outlive the struct, and know all ids shown */
};

struct show_number;
struct show {
	struct show_opts opts;
	struct show_number *numbers;	/* as text, each with a comma */
	struct buf strings;		/* the tokens as JSON strings, each with a comma */
	size_t *ends;			/* of each in it */
};

int show_init(struct show *s, const struct show_opts *opts);
void show_release(struct show *s);

int show_instance(const struct show *s, struct buf *out, const struct instance *i, const struct instance_shape *shape,
		  uint64_t number);
int show_document(const struct show *s, struct buf *out, const struct tokdoc *d, uint64_t number);

/* SHOW_TEXT's; for show.c. */
int show_text_instance(const struct vocab *v, struct buf *out, const struct instance *i, const struct instance_shape *shape,
		       uint64_t number);
int show_text_document(const struct vocab *v, struct buf *out, const struct tokdoc *d, uint64_t number);

#endif
