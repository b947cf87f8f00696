/*
 * What users fall into, read off the numbers. Every bound here stands in the
 * man page of bert-stat.
 */
#include "shards/stats.h"
#include "base/err.h"

#include <inttypes.h>
#include <stdarg.h>

#define ONE_SENTENCE 0.5	/* share of documents */
#define ALL_ONE_SENTENCE 0.9	/* so many are no accident */
#define FEW_SENTENCES 0.5	/* likewise, of at most three */
#define SHORT_DOCUMENT 5	/* sentences of a document on average: articles have more, short ones among them or not */
#define LONG_SENTENCE 64	/* tokens of a sentence on average */
#define HUGE_DOCUMENT 0.5	/* share of all tokens */
#define HUGE_TOKENS 100000	/* and no fewer tokens than this */
#define UNKNOWN 0.01		/* share of tokens */
#define DUPLICATES 0.01		/* share of documents */
#define CUT 0.01		/* share of instances */
#define ROOMY 1.5		/* times the predictions that can be needed */
#define RANDOM_NEXT 0.65	/* share of pairs */
#define FEW_RANDOM 0.4		/* likewise */
#define PADDING 0.4		/* share of room */
#define MANY 20			/* documents, instances: with fewer, shares say nothing */

struct list {
	json_t *array;		/* NULL: out of memory */
};

__attribute__((format(printf, 2, 3))) static void warn(struct list *l, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (l->array && json_array_append_new(l->array, json_string(text))) {
		json_decref(l->array);
		l->array = NULL;
	}
}

static double part(uint64_t a, uint64_t b)
{
	return b ? (double)a / (double)b : 0;
}

static void warn_of_documents(struct list *l, const struct stats_counts *c)
{
	const double one = part(c->one_sentence_documents, c->documents);
	const double few = one + part(c->few_sentence_documents, c->documents);
	const double sentences = part(c->sentences, c->documents);

	if (c->documents < MANY)
		return;
	if (one > ALL_ONE_SENTENCE)
		warn(l, "%" PRIu64 " of %" PRIu64 " documents have one sentence: "
			"is there a blank line after every sentence?", c->one_sentence_documents, c->documents);
	else if (one > ONE_SENTENCE)
		warn(l, "%" PRIu64 " of %" PRIu64 " documents have one sentence: nothing follows in them that could be predicted",
		     c->one_sentence_documents, c->documents);
	else if (few > FEW_SENTENCES)
		warn(l, "%.0f %% of the documents have at most three sentences: "
			"are paragraphs taken for documents?", 100 * few);
	else if (sentences < SHORT_DOCUMENT)
		warn(l, "a document has %.1f sentences on average: are paragraphs taken for documents?", sentences);
	if (part(c->duplicate_documents, c->documents) > DUPLICATES)
		warn(l, "%" PRIu64 " of %" PRIu64 " documents repeat another one word for word",
		     c->duplicate_documents, c->documents);
}

static void warn_of_text(struct list *l, const struct stats *s)
{
	const struct stats_counts *c = &s->sum.counts;
	const uint64_t largest = s->sum.largest.tokens;
	const double sentence = part(c->tokens, c->sentences), share = part(largest, c->tokens);
	const double unknown = part(c->unknown, c->tokens_seen);

	if (sentence > LONG_SENTENCE)
		warn(l, "a sentence has %.0f tokens on average: "
			"is a paragraph on every line? (bert-sentences splits them)", sentence);
	if (largest >= HUGE_TOKENS && share > HUGE_DOCUMENT)
		warn(l, "one document holds %.0f %% of all tokens: "
			"are the blank lines between documents missing?", 100 * share);
	if (unknown > UNKNOWN)
		warn(l, "%.1f %% of the tokens are [UNK]: "
			"is the vocabulary of this language and casing?", 100 * unknown);
	if (c->files_miscased)
		warn(l, "in %" PRIu64 " files casing and vocabulary do not go together: lower-cased text needs a vocabulary "
			"without capitals, cased text one with them", c->files_miscased);
	if (c->special)
		warn(l, "%" PRIu64 " tokens of the text are [PAD], [CLS], [SEP] or [MASK]", c->special);
	if (c->token_files_unnamed)
		warn(l, "[UNK] was not counted in %" PRIu64 " files of token documents: "
			"their vocabulary is not beside them (--vocab names it)", c->token_files_unnamed);
}

static void warn_of_instances(struct list *l, const struct stats *s)
{
	const struct stats_counts *c = &s->sum.counts;
	const double cut = part(c->cut, c->instances), random = part(c->random_pairs, c->pairs);
	const double padding = part(c->room - c->instance_tokens, c->room);
	const uint32_t needed = s->needed_predictions ? s->needed_predictions : 1;

	if (c->dropped)
		warn(l, "%" PRIu64 " chunks made no instance: no other document was in their shard, or no second sentence "
			"in the document", c->dropped);
	if (c->instances < MANY)
		return;
	if (cut > CUT)
		warn(l, "max_predictions_per_seq cuts masks from %.0f %% of the instances: "
			"masked_lm_prob needs up to %" PRIu32, 100 * cut, needed);
	if (s->needed_predictions && s->max_predictions > ROOMY * (s->needed_predictions + 1))
		warn(l, "max_predictions_per_seq is %" PRIu32 ", but no instance can have more than %" PRIu32 " masks",
		     s->max_predictions, needed);
	if (c->pairs >= MANY && random > RANDOM_NEXT)
		warn(l, "%.0f %% of the instances have a random next: most chunks are one sentence", 100 * random);
	if (c->pairs >= MANY && random < FEW_RANDOM)
		warn(l, "%.0f %% of the instances have a random next: was there no other document in a shard to draw from?", 100 * random);
	if (padding > PADDING)
		warn(l, "%.0f %% of max_seq_length would be padding: documents are short for it", 100 * padding);
}

json_t *stats_warnings(const struct stats *s)
{
	struct list l = { .array = s->notes ? json_copy(s->notes) : json_array() };

	warn_of_documents(&l, &s->sum.counts);
	warn_of_text(&l, s);
	warn_of_instances(&l, s);
	return l.array;
}
