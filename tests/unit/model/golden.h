/* golden.h - the facts beside the tiny model (tests/data/model/make.py): inputs, outputs, losses, gradient norms. */
#ifndef TESTS_UNIT_MODEL_GOLDEN_H
#define TESTS_UNIT_MODEL_GOLDEN_H

#include "tests/unit/model/tiny.h"

/* A tensor of the file, whole; the caller frees. Returns NULL where it is absent. */
static inline void *golden_tensor(const struct safetensors *s, const char *name)
{
	const struct safetensor *t = safetensors_find(s, name);
	void *data = t ? malloc((size_t)t->bytes + 1) : NULL;

	if (t)
		OK(safetensors_read(s, t, 0, data, (size_t)t->bytes));
	return data;
}

static inline double golden_number(const struct safetensors *s, const char *name)
{
	double *x = golden_tensor(s, name), value = x ? *x : 0;

	free(x);
	return value;
}

/* Labels [B, S] of tokens: what is not -100 is asked for. */
static inline void golden_token_labels(struct batch *b, const struct config *c, int i, int n, const int32_t *labels)
{
	for (int t = 0; t < n; t++) {
		if (labels[t] == -100)
			continue;
		if (head_infos[c->head].mlm)
			batch_add_prediction(b, i, t, labels[t]);
		else
			b->host.token_labels[b->host.starts[i] + t] = labels[t];
	}
}

/* The file's sequences, packed, with its labels. */
static inline void golden_batch(struct batch *b, const struct model *m, const struct safetensors *s)
{
	const struct safetensor *shape = safetensors_find(s, "in.input_ids");
	const int B = (int)shape->shape[0], S = (int)shape->shape[1];
	const struct batch_limits max = { .B = B, .T = B * S, .P = B * S, .C = 1 };
	int32_t *ids = golden_tensor(s, "in.input_ids"), *mask = golden_tensor(s, "in.attention_mask"),
		*types = golden_tensor(s, "in.token_type_ids"), *labels = golden_tensor(s, "in.labels"),
		*next = golden_tensor(s, "in.next_sentence_label"), *first = golden_tensor(s, "in.start_positions"),
		*last = golden_tensor(s, "in.end_positions");

	OK(batch_open(b, m->k, &max, m->dtype));
	for (int i = 0; i < B; i++) {
		int n = 0;

		while (n < S && mask[i * S + n])
			n++;
		batch_add(b, n, (uint64_t)i);
		memcpy(b->host.ids + b->host.starts[i], ids + i * S, (size_t)n * sizeof(*ids));
		memcpy(b->host.types + b->host.starts[i], types + i * S, (size_t)n * sizeof(*types));
		if (labels && safetensors_find(s, "in.labels")->n_dims == 2)
			golden_token_labels(b, &m->config, i, n, labels + i * S);
		else if (labels)
			b->host.class_labels[i] = labels[i];
		if (next)
			b->host.class_labels[i] = next[i];
		if (first) {
			b->host.first[i] = first[i];
			b->host.last[i] = last[i];
		}
	}
	free(last);
	free(first);
	free(next);
	free(labels);
	free(types);
	free(mask);
	free(ids);
	OK(batch_finish(b, &m->config));
	batch_upload(b, m->q);
}

/* 1 / how many, for the last layer's loss. */
static inline double golden_factor(const struct model *m, const struct batch *b)
{
	int n = 0;

	if (m->config.head != HEAD_TOKENS)
		return 1.0 / b->B;
	for (int t = 0; t < b->T; t++)
		n += b->host.token_labels[t] >= 0;
	return 1.0 / n;
}

#endif
