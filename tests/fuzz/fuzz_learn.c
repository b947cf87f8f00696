/*
 * Any text as what a vocabulary is learnt from, in every way: the vocabularies
 * load, have no token twice and the size they say, and the words of the text
 * are known to those that keep all characters.
 */
#include "tokenizer/chars.h"
#include "tokenizer/learn_bpe.h"
#include "tokenizer/learn_extend.h"
#include "tokenizer/learn_report.h"
#include "tokenizer/learn_table.h"
#include "tokenizer/learn_topdown.h"

#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static int count_longer(void *ctx, const char *word, size_t len)
{
	return utf8_count(word, len) > LEARN_WORD_MAX ? 0 : learn_table_put(ctx, word, len, 1);
}

/* The words of TEXT, whatever its bytes. */
static struct learn_words read_words(const char *text, size_t len, bool cased)
{
	struct normalizer *n = normalizer_new(&(struct normalizer_opts){ .chars = chars_google(NULL), .lower = !cased,
									  .strip_accents = !cased, .space_cjk = true });
	struct table_walk walk = { .slot = 0 };
	struct buf repaired = BUF_INIT;
	struct learn_table t;
	struct learn_words w;
	struct words batch;
	uint64_t bad = 0;
	int rc;

	require(n && !learn_table_init(&t) && !buf_reserve(&repaired, 1) && !utf8_repair(text, len, &repaired, &bad));
	normalizer_start(n, repaired.data, repaired.len, false);
	while ((rc = normalizer_next(n, &batch)) > 0)
		require(!learn_table_count(&t, &batch, count_longer, &t));
	require(!rc);
	learn_words_init(&w, 1 << 26);
	while (learn_table_next(&t, &walk))
		require(!learn_words_add(&w, walk.word, walk.len, walk.count));
	learn_table_release(&t);
	buf_release(&repaired);
	normalizer_free(n);
	return w;
}

/* Takes L's vocabulary. */
static struct vocab *check(struct learn *l, const struct learn_words *w, bool all_known)
{
	const struct learn_count c = { .words = 0 };
	const uint64_t tokens = l->tokens;
	struct learn_text t;
	struct vocab *v;

	require(!vocab_take(&v, &l->vocab, "it") && vocab_size(v) == tokens && !vocab_duplicates(v) && !vocab_blank_lines(v));
	require(!learn_text_measure(&t, &c, w, v, NULL) && (!all_known || !t.own.unknown));
	learn_release(l);
	return v;
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	const unsigned char head[4] = { size > 0 ? data[0] : 0, size > 1 ? data[1] : 0, size > 2 ? data[2] : 0, size > 3 ? data[3] : 0 };
	const size_t skip = size < 4 ? size : 4, len = size - skip < 4096 ? size - skip : 4096;
	struct learn_words w = read_words((const char *)data + skip, len, head[0] & 1);
	struct learn l = { .words = &w, .size = 6 + (uint64_t)head[1] * 8, .min_count = 1 + head[2] % 4, .unused = head[0] >> 6,
			   .alphabet = head[0] & 2 ? 1 + head[3] % 8 : 10000 };
	struct vocab *base = NULL;

	if (w.count && head[0] & 8) {
		require(!learn_topdown_run(&l));
		vocab_free(check(&l, &w, false));
	} else if (w.count) {
		l.order = head[0] & 4 ? LEARN_BY_LIKELIHOOD : LEARN_BY_COUNT;
		if (!learn_bpe_run(&l)) {
			require(l.tokens <= l.size);
			base = check(&l, &w, !(head[0] & 2));
		}
		l.base = base;
		l.add = 1 + head[3];
		l.min_count = 1;
		l.alphabet = 10000;
		if (base) {
			require(!learn_extend_run(&l) && l.added <= l.add);
			vocab_free(check(&l, &w, l.added < l.add));
		}
	}
	vocab_free(base);
	learn_words_release(&w);
	return 0;
}
