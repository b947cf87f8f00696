/*
 * shard.h - one shard file: what its header says, its documents, its blocks.
 *
 *	struct shard *s;
 *	if (shard_open(&s, path))		(checks header, index and trailer)
 *		...
 *	for (uint64_t b = 0; b < shard_blocks(s); b++) {
 *		if (shard_read(s, b, &frame_block, &block))	(thread-safe: all memory is the caller's)
 *			...
 *		for (uint32_t k = 0; k < block.records; k++)
 *			instance_block_get(&block, k, &instance);
 *	}
 *	shard_close(s);				(accepts NULL)
 *
 * A shard is a frame (base/frame.h) of kind "SHRD": blocks of type 1 hold its
 * documents, blocks of type 0 its instances. Record i of type 0 is in block
 * i / block_records.
 */
#ifndef SHARDS_SHARD_H
#define SHARDS_SHARD_H

#include "base/frame.h"
#include "base/key.h"
#include "shards/instance.h"
#include "shards/keys.h"
#include "shards/mask.h"
#include "shards/read_as.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define SHARD_KIND "SHRD"
#define SHARD_VERSION 2		/* 1, which no release wrote, had other columns */
#define SHARD_MIN_SEQ_LENGTH 5		/* [CLS], a token, [SEP], a token, [SEP] */
#define SHARD_MAX_SEQ_LENGTH 65535
#define SHARD_MAX_DUPE_FACTOR 65535
#define SHARD_MAX_BLOCK_RECORDS 65536
enum shard_block_type { SHARD_INSTANCES = 0, SHARD_DOCUMENTS = 1, SHARD_LENGTHS = 2 };	/* the last: shards/lengths.h */

/*
 * Whose instances: our own (shards/FORMAT.md), those of google-research/bert's create_pretraining_data.py, or another
 * program's, of which no more is known.
 */
enum shard_rules { SHARD_OWN, SHARD_GOOGLE, SHARD_IMPORTED };
enum shard_masking { SHARD_STATIC, SHARD_DYNAMIC };
enum shard_pairs {
	SHARD_NSP,	/* what follows, or a random one */
	SHARD_SOP,	/* what follows, in order or swapped */
	SHARD_NONE,	/* full sentences, no second segment */
};

/* What decides the instances of a corpus, beside the corpus: equal recipes and corpora make equal shards. */
struct shard_recipe {
	enum shard_rules rules;
	json_t *tokenizer;		/* tokenizer_describe(); owned */
	uint32_t vocab_size;
	struct vocab_special special;
	struct id_range *never;		/* never drawn as replacement; owned */
	size_t n_never;
	uint32_t max_seq_length, max_predictions_per_seq, dupe_factor;
	double masked_lm_prob, short_seq_prob;
	bool whole_word_mask;
	enum mask_spans mask_spans;
	bool word_draws;		/* a word's tokens are replaced in one way */
	bool words_across_sep;		/* whole words may go on in the next segment */
	struct mask_shares shares;	/* of [MASK] and random tokens */
	struct {			/* words of single characters, for whole_word_mask: */
		uint64_t count;		/* 0: none are listed */
		char sha256[65];
		const struct mask_words *list;	/* borrowed; NULL where no more is known of them. It is no part of the JSON */
	} words;
	struct read_as *read_as;	/* ids that trainers get as others (shards/read_as.h); owned */
	size_t n_read_as;		/* 0: none */
	bool document_lengths;		/* a shorter length is drawn for a document and pass, not for an instance */
	enum shard_masking masking;
	enum shard_pairs pairs;
	bool exact_next;		/* SHARD_NSP: every next sentence is random with one probability, */
	double random_next;		/* this one; else one half, and always after a sentence alone */
	bool same_document_next;	/* SHARD_NSP: a random next may be of the first segment's document */
	bool cross_documents;		/* SHARD_NONE: ends of documents are joined */
	uint64_t seed;
};
json_t *shard_recipe_json(const struct shard_recipe *r);		/* NULL: out of memory */
int shard_recipe_parse(struct shard_recipe *r, const json_t *o);	/* EXIT_CORRUPT */
void shard_recipe_release(struct shard_recipe *r);
json_t *shard_recipe_tokenizer(const struct shard_recipe *r);		/* whose ids trainers get: a new reference, NULL: out of memory */
/* Refuses (EXIT_CORRUPT) the vocabulary at PATH, whose special tokens are S, without those that instances are made with. */
int shard_check_special(const struct vocab_special *s, const char *path);
/*
 * The segment whose document and first token name instance I, and with it the streams of its place and masks: the
 * one that stands first in the document where both are of one.
 */
const struct instance_segment *shard_lead(const struct shard_recipe *r, const struct instance *i);
/* Tokens beside those of the segments, where there are as few segments as may be: [CLS] and a [SEP] for each. */
uint32_t shard_overhead(const struct shard_recipe *r);
/* The rule that masks are drawn by. VOCAB is needed for whole-word masks only, and where words are listed their list. */
struct mask_rule shard_recipe_mask(const struct shard_recipe *r, const struct vocab *vocab);

/*
 * What a reader of dynamic shards wants otherwise than their recipe has it; zeroed: nothing. Members count where GIVEN
 * has their bit.
 */
enum { CHOICE_PROB = 1, CHOICE_PREDICTIONS = 2, CHOICE_WHOLE_WORD = 4, CHOICE_SPANS = 8, CHOICE_WORD_DRAWS = 16,
       CHOICE_MASK_SHARE = 32, CHOICE_RANDOM_SHARE = 64 };
struct mask_choice {
	unsigned given;
	double masked_lm_prob;		/* without a number of predictions as many as it gives, or the recipe's if that is more */
	uint64_t max_predictions_per_seq;
	bool whole_word_mask, word_draws;	/* without whole words there are neither spans nor words' draws unless these are given */
	int mask_spans;			/* enum mask_spans */
	double mask_replace_prob, random_replace_prob;
};
/* Nothing, in values that --help takes for no defaults. */
#define MASK_CHOICE_NONE { .masked_lm_prob = -1, .mask_spans = -1, .mask_replace_prob = -1, .random_replace_prob = -1 }
const char *mask_spans_word(enum mask_spans spans);	/* as the recipe has it */
/* R by CHOICE. Refused (EXIT_FAILED): static masks, which stand; and what contradicts itself (EXIT_USAGE). */
int shard_recipe_choose(struct shard_recipe *r, const struct mask_choice *choice);

struct shard_header {
	struct shard_recipe recipe;
	uint32_t shard, shards;		/* k of N */
	uint32_t block_records;
	uint64_t corpus_documents;
	struct key corpus;		/* sum of all documents' keys modulo 2^128 */
};
char *shard_header_print(const struct shard_header *h);			/* canonical JSON; the caller frees */
int shard_header_parse(struct shard_header *h, const char *json, size_t len);
/*
 * Whether the file at PATH, which cannot be opened (EXIT_CORRUPT), is so because it is of another version: 1, and the
 * reason says so and what to do; 0 it is damaged, or no shard; -1 failed.
 */
int shard_is_foreign(const char *path);
void shard_header_release(struct shard_header *h);
/* Of a table of so many */
struct instance_shape shard_header_shape(const struct shard_header *h, uint32_t documents);
uint32_t shard_block_records(uint32_t max_seq_length);			/* what bert-shard chooses */

/* The trailer's totals. */
struct shard_totals {
	uint64_t documents, sentences, tokens, text_bytes;	/* of the documents */
	uint64_t empty_documents;	/* without a token: they make no instance */
	uint64_t instances, random_next;
	uint64_t instance_tokens;	/* [CLS] and [SEP] included */
	uint64_t predictions;
	uint64_t truncated;		/* instances that lost tokens to max_seq_length */
	uint64_t dropped;		/* chunks of one sentence for which no other document was there */
};
void shard_totals_add(struct shard_totals *t, const struct shard_totals *more);
/* Adds those of the shard with header H to the sums over its set: every shard of SHARD_GOOGLE has all the documents. */
void shard_totals_join(struct shard_totals *t, const struct shard_header *h, const struct shard_totals *more);
json_t *shard_totals_json(const struct shard_totals *t);

/* Ends a shard's file with T as its trailer. FRAME is gone either way. */
int shard_finish(struct frame_writer *frame, const struct shard_totals *t);
int shard_totals_parse(struct shard_totals *t, const json_t *o);

/* "shard-00003-of-00016.shard"; NAME is "shard" unless --name said otherwise. */
void shard_file_name(char *out, size_t n, const char *name, uint32_t shard, uint32_t shards);

/* --- documents -------------------------------------------------------------------- */

struct tokdoc;
/* An entry of the table of documents, which is ordered by (key, occurrence). */
struct shard_document {
	struct key key;
	uint32_t occurrence;		/* of documents with this key, from 0 */
	uint64_t sentences, tokens, text_bytes;
	const char *id, *title;		/* not 0-ended */
	size_t id_len, title_len;
};
#define SHARD_DOCUMENT_BLOCK_BYTES (64 << 10)	/* a block of documents is closed after the record that reaches this */
/* Of the document whose record D holds; borrows its strings */
struct shard_document shard_document_of(const struct tokdoc *d, uint32_t occurrence);
int shard_document_encode(struct buf *b, const struct shard_document *d);
int shard_document_decode(const unsigned char **p, const unsigned char *end, struct shard_document *d);

/* --- files --------------------------------------------------------------------------- */

struct shard;
int shard_open(struct shard **s, const char *path);
int shard_open_access(struct shard **s, const char *path, unsigned access);	/* base/file_view.h */
bool shard_mapped(const struct shard *s);
size_t shard_memory(const struct shard *s);				/* bytes that it holds, about */
const struct shard_header *shard_header(const struct shard *s);
const struct shard_totals *shard_totals(const struct shard *s);
const struct instance_shape *shard_shape(const struct shard *s);
const struct frame_trailer *shard_trailer(const struct shard *s);
const char *shard_path(const struct shard *s);
uint64_t shard_instances(const struct shard *s);
uint64_t shard_blocks(const struct shard *s);				/* of instances */
int shard_read(const struct shard *s, uint64_t block, struct frame_block *f, struct instance_block *b);
uint64_t shard_document_blocks(const struct shard *s);
/* Then shard_document_decode over f->raw, f->records times */
int shard_read_documents(const struct shard *s, uint64_t block, struct frame_block *f);
/* The same, of several blocks that were read at once (frame_read_span) */
int shard_read_documents_span(const struct shard *s, uint64_t block, struct frame_span *span, struct frame_block *f);
void shard_close(struct shard *s);

#endif
