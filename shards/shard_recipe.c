/* What a shard says of itself, as JSON. shard.c has the files. */
#include "shards/shard.h"
#include "base/err.h"
#include "shards/canon.h"

#include <inttypes.h>
#include <math.h>

#define FORMAT "berttools shard"

static const char *const rules_names[] = { "berttools 1", "google 1", "imported 1" };
static const char *const masking_names[] = { "static", "dynamic" };
static const char *const spans_names[] = { "none", "ngram", "span" };
static const char *const pairs_names[] = { "nsp", "sop", "none" };

/* --- recipe: printing --------------------------------------------------------------------- */

static json_t *of_id(uint32_t id)
{
	return id == VOCAB_NONE ? json_null() : canon_of_uint(id);
}

static json_t *special_json(const struct vocab_special *s)
{
	json_t *o = json_object();

	if (!o || canon_set(o, "pad", of_id(s->pad)) || canon_set(o, "unk", of_id(s->unk)) ||
	    canon_set(o, "cls", of_id(s->cls)) || canon_set(o, "sep", of_id(s->sep)) ||
	    canon_set(o, "mask", of_id(s->mask))) {
		json_decref(o);
		return NULL;
	}
	return o;
}

static json_t *never_json(const struct id_range *never, size_t n)
{
	json_t *list = json_array();

	for (size_t k = 0; list && k < n; k++) {
		if (json_array_append_new(list,
					  json_pack("[II]", (json_int_t)never[k].first, (json_int_t)never[k].last))) {
			json_decref(list);
			list = NULL;
		}
	}
	return list;
}

static json_t *words_json(const struct shard_recipe *r)
{
	json_t *o = json_object();

	if (!o || canon_set(o, "sha256", json_string(r->words.sha256)) ||
	    canon_set(o, "words", canon_of_uint(r->words.count))) {
		json_decref(o);
		return NULL;
	}
	return o;
}

static json_t *read_as_json(const struct shard_recipe *r)
{
	json_t *list = json_array();

	for (size_t k = 0; list && k < r->n_read_as; k++) {
		const struct read_as *run = &r->read_as[k];

		if (json_array_append_new(list, json_pack("[III]", (json_int_t)run->first, (json_int_t)run->last, (json_int_t)run->to))) {
			json_decref(list);
			list = NULL;
		}
	}
	return list;
}

json_t *shard_recipe_json(const struct shard_recipe *r)
{
	json_t *o = json_object();

	if (!o || canon_set(o, "rules", json_string(rules_names[r->rules])) ||
	    canon_set(o, "tokenizer", json_deep_copy(r->tokenizer)) ||
	    canon_set(o, "special", special_json(&r->special)) ||
	    canon_set(o, "never", never_json(r->never, r->n_never)) ||
	    canon_set(o, "max_seq_length", canon_of_uint(r->max_seq_length)) ||
	    canon_set(o, "max_predictions_per_seq", canon_of_uint(r->max_predictions_per_seq)) ||
	    canon_set(o, "masked_lm_prob", json_real(r->masked_lm_prob)) ||
	    canon_set(o, "short_seq_prob", json_real(r->short_seq_prob)) ||
	    canon_set(o, "dupe_factor", canon_of_uint(r->dupe_factor)) ||
	    canon_set(o, "whole_word_mask", json_boolean(r->whole_word_mask)) ||
	    canon_set(o, "masking", json_string(masking_names[r->masking])) ||
	    canon_set(o, "pairs", json_string(pairs_names[r->pairs])) || canon_set(o, "seed", canon_of_uint(r->seed)) ||
	    (r->mask_spans != MASK_WORDS && canon_set(o, "mask_spans", json_string(spans_names[r->mask_spans]))) ||
	    (r->word_draws && canon_set(o, "word_draws", json_true())) ||
	    (r->words_across_sep && canon_set(o, "words_across_sep", json_true())) ||
	    (r->shares.given && (canon_set(o, "mask_replace_prob", json_real(r->shares.mask)) ||
				 canon_set(o, "random_replace_prob", json_real(r->shares.random)))) ||
	    (r->same_document_next && canon_set(o, "same_document_next", json_true())) ||
	    (r->words.count && canon_set(o, "masking_words", words_json(r))) ||
	    (r->n_read_as && canon_set(o, "read_as", read_as_json(r))) ||
	    (r->document_lengths && canon_set(o, "document_lengths", json_true())) ||
	    (r->exact_next && canon_set(o, "random_next", json_real(r->random_next))) ||
	    (r->pairs == SHARD_NONE && canon_set(o, "cross_documents", json_boolean(r->cross_documents)))) {
		json_decref(o);
		err_memory();
		return NULL;
	}
	return o;
}

/* --- recipe: reading ---------------------------------------------------------------------- */

/* A special token's id; only needed ones may not be null. */
static int parse_id(const json_t *o, const char *name, bool needed, uint32_t vocab_size, uint32_t *id)
{
	*id = VOCAB_NONE;
	if (!needed && json_is_null(json_object_get(o, name)))
		return 0;
	return canon_uint32(o, name, 0, vocab_size - 1, id);
}

static int parse_special(struct shard_recipe *r, const json_t *o)
{
	const json_t *special = canon_object(o, "special");
	struct vocab_special *s = &r->special;

	if (!special || parse_id(special, "pad", false, r->vocab_size, &s->pad) ||
	    parse_id(special, "unk", false, r->vocab_size, &s->unk) ||
	    parse_id(special, "cls", true, r->vocab_size, &s->cls) ||
	    parse_id(special, "sep", true, r->vocab_size, &s->sep) ||
	    parse_id(special, "mask", true, r->vocab_size, &s->mask))
		return -1;
	return 0;
}

static int parse_never(struct shard_recipe *r, const json_t *o)
{
	const json_t *list = canon_array(o, "never");
	const size_t n = json_array_size(list);
	uint64_t next = 0;

	if (!list)
		return -1;
	r->never = calloc(n ? n : 1, sizeof(*r->never));
	if (!r->never)
		return err_memory();
	for (size_t k = 0; k < n; k++) {
		const json_t *pair = json_array_get(list, k);
		const json_t *first = json_array_get(pair, 0), *last = json_array_get(pair, 1);
		const json_int_t a = json_integer_value(first), b = json_integer_value(last);

		if (!json_is_integer(first) || !json_is_integer(last) || a < 0 || (uint64_t)a < next || b < a ||
		    b >= r->vocab_size)
			return err_corrupt("'never' is no list of ascending ranges of ids");
		r->never[k] = (struct id_range){ (uint32_t)a, (uint32_t)b };
		next = (uint64_t)b + 1;
		r->n_never++;
	}
	return 0;
}

static int parse_choice(const json_t *o, const char *name, const char *const *names, size_t n)
{
	const char *text = canon_string(o, name);

	for (size_t k = 0; text && k < n; k++)
		if (!strcmp(text, names[k]))
			return (int)k;
	return text ? err_corrupt("'%s' is '%.100s', which this version does not know", name, text) : -1;
}

/* One that is absent is false. */
static int parse_flag(const json_t *o, const char *name, bool *v)
{
	*v = false;
	return json_object_get(o, name) ? canon_bool(o, name, v) : 0;
}

static int parse_tokenizer(struct shard_recipe *r, const json_t *o)
{
	const json_t *tokenizer = canon_object(o, "tokenizer");
	const json_t *vocab = tokenizer ? canon_object(tokenizer, "vocab") : NULL;

	if (!vocab || !canon_string(vocab, "sha256") || canon_uint32(vocab, "size", 1, UINT32_MAX - 1, &r->vocab_size))
		return -1;
	r->tokenizer = json_deep_copy(tokenizer);
	return r->tokenizer ? 0 : err_memory();
}

static int parse_numbers(struct shard_recipe *r, const json_t *o)
{
	const uint32_t most = SHARD_MAX_SEQ_LENGTH;

	if (canon_uint32(o, "max_seq_length", SHARD_MIN_SEQ_LENGTH, most, &r->max_seq_length) ||
	    canon_uint32(o, "max_predictions_per_seq", 1, most, &r->max_predictions_per_seq) ||
	    canon_uint32(o, "dupe_factor", 1, SHARD_MAX_DUPE_FACTOR, &r->dupe_factor) ||
	    canon_real(o, "masked_lm_prob", 0, 1, &r->masked_lm_prob) ||
	    canon_real(o, "short_seq_prob", 0, 1, &r->short_seq_prob) ||
	    canon_bool(o, "whole_word_mask", &r->whole_word_mask) || canon_uint(o, "seed", 0, INT64_MAX, &r->seed))
		return -1;
	return 0;
}

/* One that is absent was not chosen. Pairs and rules are known. */
static int parse_random_next(struct shard_recipe *r, const json_t *o)
{
	r->exact_next = json_object_get(o, "random_next") != NULL;
	if (!r->exact_next)
		return 0;
	if (r->pairs != SHARD_NSP || r->rules != SHARD_OWN)
		return err_corrupt("'random_next' is set, and 'pairs' are '%s' by rules '%s'", pairs_names[r->pairs],
				   rules_names[r->rules]);
	return canon_real(o, "random_next", 0, 1, &r->random_next);
}

/* One that is absent was not chosen. */
static int parse_share(const json_t *o, const char *name, double usual, double *v)
{
	*v = usual;
	return json_object_get(o, name) ? canon_real(o, name, 0, 1, v) : 0;
}

/* Pairs, rules and whether words are whole are known. */
static int parse_switches(struct shard_recipe *r, const json_t *o)
{
	double mask, random;

	if (parse_share(o, "mask_replace_prob", MASK_SHARE_MASK, &mask) ||
	    parse_share(o, "random_replace_prob", MASK_SHARE_RANDOM, &random) || mask_shares_set(&r->shares, mask, random) ||
	    parse_flag(o, "words_across_sep", &r->words_across_sep) ||
	    parse_flag(o, "same_document_next", &r->same_document_next))
		return -1;
	if (r->shares.given && r->rules != SHARD_OWN)
		return err_corrupt("'mask_replace_prob' or 'random_replace_prob' is set, and 'rules' are '%s'", rules_names[r->rules]);
	if (r->words_across_sep && (!r->whole_word_mask || r->rules != SHARD_OWN))
		return err_corrupt("'words_across_sep' is set, and 'whole_word_mask' is not or 'rules' are '%s'",
				   rules_names[r->rules]);
	if (r->same_document_next && (r->pairs != SHARD_NSP || r->rules != SHARD_OWN))
		return err_corrupt("'same_document_next' is set, and 'pairs' are '%s' by rules '%s'", pairs_names[r->pairs],
				   rules_names[r->rules]);
	return 0;
}

/* A list that is absent was not given. */
static int parse_words(struct shard_recipe *r, const json_t *o)
{
	const json_t *words;
	const char *sha256;

	if (!json_object_get(o, "masking_words"))
		return 0;
	words = canon_object(o, "masking_words");
	if (!words || canon_uint(words, "words", 1, INT64_MAX, &r->words.count) || !(sha256 = canon_string(words, "sha256")))
		return -1;
	if (strlen(sha256) != 64 || strspn(sha256, "0123456789abcdef") != 64)
		return err_corrupt("the sha256 of 'masking_words' is '%.100s'", sha256);
	memcpy(r->words.sha256, sha256, sizeof(r->words.sha256));
	if (!r->whole_word_mask || r->rules != SHARD_OWN)
		return err_corrupt("'masking_words' are given, and 'whole_word_mask' is not set or 'rules' are '%s'",
				   rules_names[r->rules]);
	return 0;
}

/* LIST is [first, last, to], first not below NEXT. */
static int parse_run(const json_t *list, uint64_t next, uint32_t vocab_size, struct read_as *run)
{
	json_int_t n[3];

	for (size_t k = 0; k < 3; k++) {
		const json_t *v = json_array_get(list, k);

		if (!json_is_integer(v) || json_integer_value(v) < 0 || json_integer_value(v) >= vocab_size)
			return -1;
		n[k] = json_integer_value(v);
	}
	*run = (struct read_as){ (uint32_t)n[0], (uint32_t)n[1], (uint32_t)n[2] };
	return json_array_size(list) != 3 || (uint64_t)n[0] < next || n[1] < n[0] || n[2] + (n[1] - n[0]) >= vocab_size ? -1 : 0;
}

/* Whether an id of some run is what another one is read as, or special. */
static bool is_read_twice(const struct shard_recipe *r)
{
	const struct vocab_special *s = &r->special;
	const uint32_t special[] = { s->pad, s->unk, s->cls, s->sep, s->mask };

	for (size_t k = 0; k < sizeof(special) / sizeof(special[0]); k++)
		if (special[k] != VOCAB_NONE && read_as_id(r->read_as, r->n_read_as, special[k]) != special[k])
			return true;
	for (size_t k = 0; k < r->n_read_as; k++)
		if (read_as_meets(r->read_as, r->n_read_as, r->read_as[k].to, r->read_as[k].to + (r->read_as[k].last - r->read_as[k].first)))
			return true;
	return false;
}

/* A list that is absent is one of no runs. */
static int parse_read_as(struct shard_recipe *r, const json_t *o)
{
	const json_t *list;
	uint64_t next = 0;

	if (!json_object_get(o, "read_as"))
		return 0;
	list = canon_array(o, "read_as");
	if (!list)
		return -1;
	r->read_as = calloc(json_array_size(list) + 1, sizeof(*r->read_as));
	if (!r->read_as)
		return err_memory();
	for (; r->n_read_as < json_array_size(list); r->n_read_as++) {
		struct read_as *run = &r->read_as[r->n_read_as];

		if (parse_run(json_array_get(list, r->n_read_as), next, r->vocab_size, run))
			return err_corrupt("'read_as' is no list of ascending ranges of ids and what they are read as");
		next = (uint64_t)run->last + 1;
	}
	if (is_read_twice(r))
		return err_corrupt("'read_as' has an id that another is read as, or a special one");
	if (r->rules == SHARD_IMPORTED)
		return err_corrupt("'read_as' is set, and 'rules' are '%s'", rules_names[r->rules]);
	return 0;
}

int shard_recipe_parse(struct shard_recipe *r, const json_t *o)
{
	int rules, masking, pairs;

	*r = (struct shard_recipe){ 0 };
	rules = parse_choice(o, "rules", rules_names, sizeof(rules_names) / sizeof(rules_names[0]));
	if (rules < 0 || parse_tokenizer(r, o) || parse_special(r, o) || parse_never(r, o) ||
	    parse_numbers(r, o))
		goto fail;
	masking = parse_choice(o, "masking", masking_names, sizeof(masking_names) / sizeof(masking_names[0]));
	pairs = masking < 0 ? -1 : parse_choice(o, "pairs", pairs_names, sizeof(pairs_names) / sizeof(pairs_names[0]));
	if (pairs < 0)
		goto fail;
	if (parse_flag(o, "word_draws", &r->word_draws) || parse_flag(o, "document_lengths", &r->document_lengths))
		goto fail;
	if (r->word_draws && !r->whole_word_mask) {
		err_corrupt("'word_draws' is set, and 'whole_word_mask' is not");
		goto fail;
	}
	if (json_object_get(o, "mask_spans")) {
		const int spans = parse_choice(o, "mask_spans", spans_names, sizeof(spans_names) / sizeof(spans_names[0]));

		if (spans < 0)
			goto fail;
		r->mask_spans = (enum mask_spans)spans;
		if (spans && !r->whole_word_mask) {
			err_corrupt("'mask_spans' is '%s', and 'whole_word_mask' is not set", spans_names[spans]);
			goto fail;
		}
	}
	r->rules = (enum shard_rules)rules;
	r->masking = (enum shard_masking)masking;
	r->pairs = (enum shard_pairs)pairs;
	if ((r->pairs == SHARD_NONE && canon_bool(o, "cross_documents", &r->cross_documents)) ||
	    parse_random_next(r, o) || parse_words(r, o) || parse_read_as(r, o) || parse_switches(r, o))
		goto fail;
	if (r->masking == SHARD_DYNAMIC && r->dupe_factor != 1) {
		err_corrupt("'dupe_factor' is %" PRIu32 " where masking is dynamic", r->dupe_factor);
		goto fail;
	}
	if (r->rules == SHARD_GOOGLE && (r->masking != SHARD_STATIC || r->pairs != SHARD_NSP)) {
		err_corrupt("'rules' are '%s', which know static masks of nsp pairs only", rules_names[r->rules]);
		goto fail;
	}
	if (r->rules == SHARD_IMPORTED && r->masking != SHARD_STATIC) {
		err_corrupt("'rules' are '%s', which know static masks only", rules_names[r->rules]);
		goto fail;
	}
	return 0;
fail:
	shard_recipe_release(r);
	return -1;
}

void shard_recipe_release(struct shard_recipe *r)
{
	if (!r)
		return;
	json_decref(r->tokenizer);
	free(r->never);
	free(r->read_as);
	*r = (struct shard_recipe){ 0 };
}

json_t *shard_recipe_tokenizer(const struct shard_recipe *r)
{
	json_t *t;

	if (!r->n_read_as)
		return json_incref(r->tokenizer);
	t = json_copy(r->tokenizer);
	if (!t || json_object_set_new(t, "cjk", json_true())) {
		json_decref(t);
		err_memory();
		return NULL;
	}
	json_object_del(t, "segmenter");	/* which only said where words end: there need not be one */
	return t;
}

const struct instance_segment *shard_lead(const struct shard_recipe *r, const struct instance *i)
{
	return &i->segments[r->pairs == SHARD_SOP && i->flags & INSTANCE_RANDOM_NEXT];
}

uint32_t shard_overhead(const struct shard_recipe *r)
{
	return r->pairs == SHARD_NONE ? 2 : 3;
}

struct mask_rule shard_recipe_mask(const struct shard_recipe *r, const struct vocab *vocab)
{
	return (struct mask_rule){
		.masked_lm_prob = r->masked_lm_prob,
		.max_predictions = r->max_predictions_per_seq,
		.max_seq_length = r->max_seq_length,
		.vocab_size = r->vocab_size,
		.mask_id = r->special.mask,
		.never = r->never,
		.n_never = r->n_never,
		.whole_word = r->whole_word_mask,
		.spans = r->mask_spans,
		.word_draws = r->word_draws,
		.across_sep = r->words_across_sep,
		.shares = r->shares,
		.vocab = vocab,
		.words = r->words.list,
	};
}

int shard_check_special(const struct vocab_special *s, const char *path)
{
	const char *lacks = s->cls == VOCAB_NONE ? "[CLS]" : s->sep == VOCAB_NONE ? "[SEP]" : s->mask == VOCAB_NONE ? "[MASK]" : NULL;

	return lacks ? err_corrupt("the vocabulary '%s' has no %s", path, lacks) : 0;
}

const char *mask_spans_word(enum mask_spans spans)
{
	return spans_names[spans];
}

/* --- recipe: a reader's choice ------------------------------------------------------------------- */

static bool gives(const struct mask_choice *c, unsigned member)
{
	return c->given & member;
}

/* What goes with masks of whole words only. */
static int choose_words(struct shard_recipe *r, const struct mask_choice *c)
{
	if (gives(c, CHOICE_WHOLE_WORD))
		r->whole_word_mask = c->whole_word_mask;
	if (!r->whole_word_mask && gives(c, CHOICE_WHOLE_WORD)) {
		r->mask_spans = MASK_WORDS;
		r->word_draws = r->words_across_sep = false;
		r->words.count = 0;
	}
	if (gives(c, CHOICE_SPANS))
		r->mask_spans = (enum mask_spans)c->mask_spans;
	if (gives(c, CHOICE_WORD_DRAWS))
		r->word_draws = c->word_draws;
	if (r->mask_spans != MASK_WORDS && gives(c, CHOICE_WHOLE_WORD) && !r->whole_word_mask)
		return err_usage("runs of words are masked as whole words, and these are not wanted");
	r->whole_word_mask = r->whole_word_mask || r->mask_spans != MASK_WORDS;
	if (r->word_draws && !r->whole_word_mask)
		return err_usage("what is drawn for words goes with masks of whole words");
	return 0;
}

static int choose_number(struct shard_recipe *r, const struct mask_choice *c)
{
	double most;

	if (gives(c, CHOICE_PREDICTIONS) && c->max_predictions_per_seq > r->max_seq_length)
		return err_usage("%" PRIu64 " masks are more than the %" PRIu32 " tokens of an instance", c->max_predictions_per_seq,
				 r->max_seq_length);
	if (gives(c, CHOICE_PROB))
		r->masked_lm_prob = c->masked_lm_prob;
	most = rint(r->max_seq_length * r->masked_lm_prob);
	if (gives(c, CHOICE_PREDICTIONS))
		r->max_predictions_per_seq = (uint32_t)c->max_predictions_per_seq;
	else if (gives(c, CHOICE_PROB) && most > r->max_predictions_per_seq)
		r->max_predictions_per_seq = (uint32_t)most;
	return 0;
}

int shard_recipe_choose(struct shard_recipe *r, const struct mask_choice *c)
{
	struct mask_shares shares = mask_shares_of(&r->shares);

	if (!c->given)
		return 0;
	if (r->masking != SHARD_DYNAMIC)
		return err_fail("its masks are static: they were drawn when it was made, and cannot be chosen");
	if (gives(c, CHOICE_MASK_SHARE))
		shares.mask = c->mask_replace_prob;
	if (gives(c, CHOICE_RANDOM_SHARE))
		shares.random = c->random_replace_prob;
	if (shares.mask + shares.random > 1)
		return err_usage("mask_replace_prob %g and random_replace_prob %g are more than 1 together", shares.mask, shares.random);
	return mask_shares_set(&r->shares, shares.mask, shares.random) || choose_words(r, c) || choose_number(r, c) ? -1 : 0;
}

/* --- header --------------------------------------------------------------------------------- */

uint32_t shard_block_records(uint32_t max_seq_length)
{
	const uint32_t n = 32768 / max_seq_length;

	return n ? n : 1;
}

char *shard_header_print(const struct shard_header *h)
{
	json_t *o = json_object();
	json_t *corpus = json_object();
	char *text = NULL;

	if (!o || !corpus) {
		json_decref(corpus);
		err_memory();
	} else if (!canon_set(o, "corpus", corpus) &&
		   !canon_set(corpus, "documents", canon_of_uint(h->corpus_documents)) &&
		   !canon_set(corpus, "digest", canon_of_key(h->corpus)) &&
		   !canon_set(o, "format", json_string(FORMAT)) &&
		   !canon_set(o, "version", json_integer(SHARD_VERSION)) &&
		   !canon_set(o, "shard", canon_of_uint(h->shard)) &&
		   !canon_set(o, "shards", canon_of_uint(h->shards)) &&
		   !canon_set(o, "block_records", canon_of_uint(h->block_records)) &&
		   !canon_set(o, "recipe", shard_recipe_json(&h->recipe)))
		text = canon_print(o);
	json_decref(o);
	return text;
}

int shard_header_parse(struct shard_header *h, const char *json, size_t len)
{
	json_t *o = canon_parse(json, len);
	const json_t *recipe, *corpus;
	int rc = -1;

	*h = (struct shard_header){ 0 };
	if (!o || canon_is(o, "format", FORMAT) || canon_is_version(o, SHARD_VERSION) ||
	    canon_uint32(o, "shards", 1, KEYS_SHARDS_MAX, &h->shards) ||
	    canon_uint32(o, "shard", 0, h->shards - 1, &h->shard) ||
	    canon_uint32(o, "block_records", 1, SHARD_MAX_BLOCK_RECORDS, &h->block_records))
		goto done;
	corpus = canon_object(o, "corpus");
	if (!corpus || canon_uint(corpus, "documents", 0, INT64_MAX, &h->corpus_documents) ||
	    canon_key(corpus, "digest", &h->corpus))
		goto done;
	recipe = canon_object(o, "recipe");
	if (recipe && !shard_recipe_parse(&h->recipe, recipe))
		rc = 0;
done:
	json_decref(o);
	return rc;
}

void shard_header_release(struct shard_header *h)
{
	if (!h)
		return;
	shard_recipe_release(&h->recipe);
	*h = (struct shard_header){ 0 };
}

/* --- totals ---------------------------------------------------------------------------------- */

/* Members by name, so that adding, printing and reading cannot part. */
static const struct {
	const char *name;
	size_t offset;
} totals_members[] = {
#define MEMBER(m) { #m, offsetof(struct shard_totals, m) }
	MEMBER(documents),	 MEMBER(sentences), MEMBER(tokens),	 MEMBER(text_bytes),
	MEMBER(empty_documents), MEMBER(instances), MEMBER(random_next), MEMBER(instance_tokens),
	MEMBER(predictions),	 MEMBER(truncated), MEMBER(dropped),
#undef MEMBER
};
#define N_TOTALS (sizeof(totals_members) / sizeof(totals_members[0]))
_Static_assert(N_TOTALS * sizeof(uint64_t) == sizeof(struct shard_totals),
	       "a member of struct shard_totals has no name");

static uint64_t *total(struct shard_totals *t, size_t k)
{
	return (uint64_t *)((char *)t + totals_members[k].offset);
}

void shard_totals_add(struct shard_totals *t, const struct shard_totals *more)
{
	struct shard_totals m = *more;

	for (size_t k = 0; k < N_TOTALS; k++)
		*total(t, k) += *total(&m, k);
}

json_t *shard_totals_json(const struct shard_totals *t)
{
	struct shard_totals m = *t;
	json_t *o = json_object();

	for (size_t k = 0; o && k < N_TOTALS; k++) {
		if (canon_set(o, totals_members[k].name, canon_of_uint(*total(&m, k)))) {
			json_decref(o);
			o = NULL;
		}
	}
	if (!o)
		err_memory();
	return o;
}

int shard_finish(struct frame_writer *frame, const struct shard_totals *t)
{
	json_t *o = shard_totals_json(t);
	char *text = o ? canon_print(o) : NULL;
	int rc = -1;

	if (text)
		rc = frame_finish(frame, text, strlen(text));
	else
		frame_abandon(frame);
	free(text);
	json_decref(o);
	return rc;
}

void shard_totals_join(struct shard_totals *t, const struct shard_header *h, const struct shard_totals *more)
{
	struct shard_totals m = *more;

	if (h->recipe.rules == SHARD_GOOGLE && h->shard)
		m.documents = m.sentences = m.tokens = m.text_bytes = m.empty_documents = 0;
	shard_totals_add(t, &m);
}

int shard_totals_parse(struct shard_totals *t, const json_t *o)
{
	for (size_t k = 0; k < N_TOTALS; k++)
		if (canon_uint(o, totals_members[k].name, 0, INT64_MAX, total(t, k)))
			return -1;
	return 0;
}
