/*
 * tokenize - texts to ids, their places, and back, by libberttools-tokenizer.
 *
 *	cc -o tokenize tokenize.c $(pkg-config --cflags --libs berttools-tokenizer)
 *	./tokenize vocab.txt 'Unaffable!' 'Each argument is a text.'
 */
#include <base/err.h>
#include <base/pool.h>
#include <base/utf8.h>
#include <tokenizer/decode.h>
#include <tokenizer/tokenizer.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 2, TEXTS = 256 };

struct job {
	struct encoder *encoders[THREADS];	/* one a thread */
	char **texts;
	struct ids ids[TEXTS];
};

static void check(int failed)
{
	if (!failed)
		return;
	fprintf(stderr, "tokenize: %s\n", err_text());
	exit(err_code());
}

static int encode_text(void *ctx, size_t i, unsigned thread)
{
	struct job *j = ctx;

	if (j->texts[i][utf8_valid_prefix(j->texts[i], strlen(j->texts[i]))])
		return err_corrupt("text %zu is no UTF-8", i + 1);
	return encoder_encode(j->encoders[thread], j->texts[i], strlen(j->texts[i]), &j->ids[i]);
}

int main(int argc, char **argv)
{
	static struct job j;
	const struct tokenizer_opts o = { .vocab = argv[1] };	/* google's ids, lower-cased */
	const size_t n = argc > 2 ? (size_t)argc - 2 : 0;
	struct tokenizer *t;
	struct ids again = IDS_INIT;
	struct span *places = NULL;
	struct buf text = BUF_INIT;
	size_t cap = 0;

	if (n < 1 || n > TEXTS) {
		fprintf(stderr, "usage: tokenize VOCAB TEXT... (%d at most)\n", TEXTS);
		return EXIT_USAGE;
	}

	/* One tokenizer for all threads. */
	check(tokenizer_open(&t, &o));
	for (unsigned i = 0; i < THREADS; i++)
		check(!(j.encoders[i] = encoder_new(t)));

	/* All texts, on threads. */
	j.texts = argv + 2;
	check(pool_for(THREADS, n, encode_text, &j));

	/* Each of them back, and once more with places: code points of the text. */
	for (size_t i = 0; i < n; i++) {
		again.count = 0;
		buf_clear(&text);
		check(encoder_encode_spans(j.encoders[0], j.texts[i], strlen(j.texts[i]), &again, &places, &cap));
		check(decode_ids(tokenizer_vocab(t), j.ids[i].items, j.ids[i].count, &text));
		for (size_t k = 0; k < j.ids[i].count; k++)
			printf("%s%" PRIu32, k ? " " : "", j.ids[i].items[k]);
		putchar('\n');
		for (size_t k = 0; k < again.count; k++)
			printf("%s%" PRIu32 ":%" PRIu64 ":%" PRIu64, k ? " " : "", again.items[k], places[k].start, places[k].end);
		printf("\n%s\n", text.len ? text.data : "");
		ids_release(&j.ids[i]);
	}

	ids_release(&again);
	free(places);
	buf_release(&text);
	for (unsigned i = 0; i < THREADS; i++)
		encoder_free(j.encoders[i]);
	tokenizer_close(t);
	return 0;
}
