/* Options of masks that are drawn by a reader. */
#include "shards/mask_choice.h"
#include "base/err.h"

const struct mask_choice_member mask_choice_members[] = {
	{ CHOICE_PROB, "masked-lm-prob", "masked_lm_prob" },
	{ CHOICE_PREDICTIONS, "max-predictions-per-seq", "max_predictions_per_seq" },
	{ CHOICE_WHOLE_WORD, "whole-word-mask", "whole_word_mask" },
	{ CHOICE_SPANS, "mask-spans", "mask_spans" },
	{ CHOICE_WORD_DRAWS, "word-draws", "word_draws" },
	{ CHOICE_MASK_SHARE, "mask-replace-prob", "mask_replace_prob" },
	{ CHOICE_RANDOM_SHARE, "random-replace-prob", "random_replace_prob" },
	{ 0, NULL, NULL },
};

void mask_choice_note(struct mask_choice *c)
{
	c->given = 0;
	for (const struct mask_choice_member *m = mask_choice_members; m->bit; m++)
		if (args_given(m->option))
			c->given |= m->bit;
}

json_t *mask_choice_json(const struct mask_choice *c, unsigned bit)
{
	json_t *v = bit == CHOICE_PROB		? json_real(c->masked_lm_prob)
		    : bit == CHOICE_PREDICTIONS ? json_integer((json_int_t)c->max_predictions_per_seq)
		    : bit == CHOICE_WHOLE_WORD	? json_boolean(c->whole_word_mask)
		    : bit == CHOICE_SPANS	? json_string(mask_spans_word((enum mask_spans)c->mask_spans))
		    : bit == CHOICE_WORD_DRAWS	? json_boolean(c->word_draws)
		    : bit == CHOICE_MASK_SHARE	? json_real(c->mask_replace_prob)
						: json_real(c->random_replace_prob);

	if (!v)
		err_memory();
	return v;
}
