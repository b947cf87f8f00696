/* features.c - texts to the sequences that a model takes. */
#include "finetune/features.h"

#include "base/err.h"

#include <string.h>

int features_open(struct features *f, const struct tokenizer *t, int max_seq_length)
{
	const struct vocab_special special = vocab_special(tokenizer_vocab(t));

	*f = (struct features){ .max_seq_length = max_seq_length, .special = special, .a = IDS_INIT, .b = IDS_INIT };
	if (max_seq_length < 3)
		return err_usage("a max_seq_length of %d has no room for [CLS], a token and [SEP]", max_seq_length);
	if (special.cls == VOCAB_NONE || special.sep == VOCAB_NONE)
		return err_fail("the vocabulary lacks %s, which every sequence has", special.cls == VOCAB_NONE ? "[CLS]" : "[SEP]");
	f->encoder = encoder_new(t);
	if (!f->encoder && err_code() == EXIT_USAGE)
		return err_usage("%s; if these are, say so with --segmented", err_text());
	return f->encoder ? 0 : -1;
}

void features_close(struct features *f)
{
	encoder_free(f->encoder);
	ids_release(&f->a);
	ids_release(&f->b);
	*f = (struct features){ .encoder = NULL };
}

static int encode(struct features *f, const char *text, struct ids *ids)
{
	ids->count = 0;
	return text ? encoder_encode(f->encoder, text, strlen(text), ids) : 0;
}

/* Lengths of both parts that fit into ROOM: the longer one gives way, the second one first. */
static void truncate_pair(size_t *a, size_t *b, size_t room)
{
	const size_t half = room / 2;

	if (*a + *b <= room)
		return;
	if (*a <= room - half && *a <= *b)
		*b = room - *a;
	else if (*b <= half)
		*a = room - *b;
	else {
		*a = room - half;
		*b = half;
	}
}

static void copy(int32_t *to, const struct ids *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = (int32_t)from->items[i];
}

int features_add(struct features *f, const char *a, const char *b, int32_t label, struct sequences *s)
{
	const size_t specials = b ? 3 : 2;
	size_t room, na, nb;
	int32_t *ids;

	if (encode(f, a, &f->a) || encode(f, b, &f->b))
		return -1;
	room = (size_t)f->max_seq_length > specials ? (size_t)f->max_seq_length - specials : 0;
	na = f->a.count;
	nb = f->b.count;
	truncate_pair(&na, &nb, room);
	f->empty += f->a.count + f->b.count == 0;
	f->cut += na + nb < f->a.count + f->b.count;
	ids = sequences_add(s, (int)(na + nb + specials), (int)na + 2, label);
	if (!ids)
		return -1;
	*ids++ = (int32_t)f->special.cls;
	copy(ids, &f->a, na);
	ids[na] = (int32_t)f->special.sep;
	if (b) {
		copy(ids + na + 1, &f->b, nb);
		ids[na + 1 + nb] = (int32_t)f->special.sep;
	}
	return 0;
}
