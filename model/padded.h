/*
 * padded.h - runs a model on padded tensors, as transformers takes them and gives them.
 *
 *	struct padded_input in;
 *	struct padded_outputs out;
 *	if (padded_read(&in, "input.safetensors"))
 *		return -1;
 *	if (!padded_run(&m, &in, &wanted, &out))
 *		padded_write(&out, "output.safetensors");
 *	padded_outputs_release(&out);
 *	padded_input_release(&in);
 *
 * Only tokens that the mask shows are computed, packed: a padded sequence costs
 * what it holds. As in transformers a token's position is its column, wherever the padding
 * lies. Outputs are zero at padding; so are the pooled row and the scores of a
 * sequence whose first column is padding.
 */
#ifndef MODEL_PADDED_H
#define MODEL_PADDED_H

#include "model/model.h"
#include "model/safetensors.h"

struct padded_input {
	int B, S;
	int32_t *ids, *types;		/* [B, S] */
	unsigned char *mask;		/* [B, S] 1: a token, 0: padding */
};

/*
 * input_ids, attention_mask (all ones where absent) and token_type_ids (zeros where
 * absent) of a safetensors file; each name may begin with "in.". Others are passed over.
 */
int padded_read(struct padded_input *in, const char *path);
void padded_input_release(struct padded_input *in);

struct padded_wanted {
	bool hidden;			/* hidden_states.0 .. hidden_states.L */
	bool attention;			/* attentions.0 .. attentions.L-1, [B, A, S, S] */
};

struct padded_output {
	struct safetensor entry;	/* name, shape; F32 */
	char name[32];
	float *data;
};

/* All that the model's class in transformers puts out, under the same names. */
struct padded_outputs {
	struct padded_output *items;
	size_t count, cap;
};

/*
 * M's dtype must be F32. Memory is that of the outputs, and of a few thousand tokens. -1 with the reason
 * set where an id, a type or a column is not one that the model has.
 */
int padded_run(const struct model *m, const struct padded_input *in, const struct padded_wanted *wanted,
	       struct padded_outputs *out);
int padded_write(const struct padded_outputs *out, const char *path);
void padded_outputs_release(struct padded_outputs *out);

#endif
