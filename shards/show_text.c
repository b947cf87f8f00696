/* Instances and token documents as a person would read them. */
#include "shards/show.h"

#include <inttypes.h>

/* A token without what marks it: "MASK" of "[MASK]", "ing" of "##ing" where BARE. */
static int add_token(struct buf *out, const struct vocab *v, uint32_t id, bool bare)
{
	size_t len;
	const char *token = vocab_token(v, id, &len);

	if (bare && vocab_is_continuation(v, id))
		return buf_add(out, token + 2, len - 2);
	if (vocab_is_special(v, id) && len > 2 && token[0] == '[')
		return buf_add(out, token + 1, len - 2);
	return buf_add(out, token, len);
}

/* One token of a line. STOOD is what stood there before a mask, VOCAB_NONE: no mask. FIRST: of the line. */
static int add_word(struct buf *out, const struct vocab *v, uint32_t id, uint32_t stood, bool first)
{
	const bool joined = vocab_is_continuation(v, stood == VOCAB_NONE ? id : stood);

	if (!first && !joined && buf_add_byte(out, ' '))
		return -1;
	if (stood == VOCAB_NONE && !vocab_is_special(v, id))
		return add_token(out, v, id, !first);
	if (buf_add_byte(out, '[') || add_token(out, v, id, false))
		return -1;
	if (stood != VOCAB_NONE && (buf_add_byte(out, ':') || add_token(out, v, stood, false)))
		return -1;
	return buf_add_byte(out, ']');
}

/* Segment S, whose first token is at POSITION; *MASK is the first mask from there on. */
static int add_segment(struct buf *out, const struct vocab *v, const struct instance *i, uint32_t s, uint32_t position,
		       uint32_t *mask)
{
	const uint32_t end = position + i->segments[s].length;

	if (buf_addf(out, "  %c: ", s < 26 ? (int)('a' + s) : '+'))
		return -1;
	for (uint32_t at = position; at < end; at++) {
		const bool masked = *mask < i->predictions && i->positions[*mask] == at;

		if (add_word(out, v, i->ids[at], masked ? i->labels[(*mask)++] : VOCAB_NONE, at == position))
			return -1;
	}
	return buf_add_byte(out, '\n');
}

int show_text_instance(const struct vocab *v, struct buf *out, const struct instance *i, const struct instance_shape *shape,
		       uint64_t number)
{
	const char *label_1 = shape->swaps ? ", b stands before a" : ", b is random";
	const char *next = i->flags & INSTANCE_RANDOM_NEXT ? label_1 : ", b follows a";
	uint32_t position = 1, mask = 0;

	if (buf_addf(out, "instance %" PRIu64 ": %" PRIu32 " tokens, %" PRIu32 " masked%s\n", number, i->n,
		     i->predictions, shape->pairs ? next : ""))
		return -1;
	for (uint32_t s = 0; s < i->n_segments; s++) {
		if (add_segment(out, v, i, s, position, &mask))
			return -1;
		position += i->segments[s].length + 1;
	}
	return 0;
}

static int add_sentence(struct buf *out, const struct vocab *v, const struct tokdoc *d, size_t first, size_t n)
{
	if (buf_adds(out, "  "))
		return -1;
	for (size_t k = 0; k < n; k++) {
		uint32_t id;

		tokdoc_ids(d, first + k, 1, &id);
		if (add_word(out, v, id, VOCAB_NONE, !k))
			return -1;
	}
	return buf_add_byte(out, '\n');
}

/* ", NAME TEXT" with what would break the line shown as '?'. */
static int add_name(struct buf *out, const char *name, const char *text, size_t len)
{
	size_t start;

	if (!len)
		return 0;
	if (buf_addf(out, ", %s ", name))
		return -1;
	start = out->len;
	if (buf_add(out, text, len))
		return -1;
	for (size_t k = start; k < out->len; k++)
		if ((unsigned char)out->data[k] < 0x20)
			out->data[k] = '?';
	return 0;
}

int show_text_document(const struct vocab *v, struct buf *out, const struct tokdoc *d, uint64_t number)
{
	size_t first = 0;
	char key[33];

	key_print(d->key, key);
	if (buf_addf(out, "document %" PRIu64 ": key %s", number, key) || add_name(out, "id", d->id, d->id_len) ||
	    add_name(out, "title", d->title, d->title_len) || buf_add_byte(out, '\n'))
		return -1;
	for (size_t k = 0; k < d->n_sentences; k++) {
		if (add_sentence(out, v, d, first, d->lengths[k]))
			return -1;
		first += d->lengths[k];
	}
	return 0;
}
