/* What was counted, as one JSON object. */
#include "shards/stats_impl.h"
#include "base/err.h"
#include "shards/canon.h"
#include "shards/keys.h"

#include <inttypes.h>

#define BINS 16			/* of the histogram of instance lengths */

/* --- members; each returns 0, or -1 out of memory -------------------------------------------------- */

static int set_count(json_t *o, const char *name, uint64_t n)
{
	return canon_set(o, name, canon_of_uint(n));
}

/* A / B, null where there is nothing to divide by. */
static json_t *share(uint64_t a, uint64_t b)
{
	return b ? json_real((double)a / (double)b) : json_null();
}

static int set_share(json_t *o, const char *name, uint64_t a, uint64_t b)
{
	return canon_set(o, name, share(a, b));
}

/* Adds "FROM-TO": N, "FROM" where they are the same. */
static int set_bin(json_t *o, uint64_t from, uint64_t to, uint64_t n)
{
	char name[48];

	if (from == to)
		snprintf(name, sizeof(name), "%" PRIu64, from);
	else
		snprintf(name, sizeof(name), "%" PRIu64 "-%" PRIu64, from, to);
	return set_count(o, name, n);
}

/* Sentences by length: 0, 1, 2 to 3, 4 to 7, ... up to the longest. */
static json_t *sentence_lengths(const struct stats *s)
{
	json_t *o = json_object();
	unsigned end = STATS_OCTAVES;
	int rc = o ? 0 : -1;

	while (end && !s->sum.octaves[end - 1])
		end--;
	for (unsigned k = 0; !rc && k < end; k++)
		rc = set_bin(o, k ? UINT64_C(1) << (k - 1) : 0, k ? (UINT64_C(1) << k) - 1 : 0, s->sum.octaves[k]);
	if (!rc)
		return o;
	json_decref(o);
	return NULL;
}

/* Instances by length, in even bins up to max_seq_length. */
static json_t *lengths(const struct stats *s)
{
	const uint32_t width = (s->max_seq_length + BINS - 1) / BINS;
	json_t *o = json_object();
	int rc = o ? 0 : -1;

	for (uint32_t from = 1; !rc && from <= s->max_seq_length; from += width) {
		const uint32_t last = from + width - 1, to = last < s->max_seq_length ? last : s->max_seq_length;
		uint64_t n = 0;

		for (uint32_t k = from; k <= to; k++)
			n += s->sum.lengths[k];
		rc = set_bin(o, from, to, n);
	}
	if (!rc)
		return o;
	json_decref(o);
	return NULL;
}

/* --- groups ------------------------------------------------------------------------------------------ */

static json_t *largest(const struct stats *s)
{
	const struct stats_largest *l = &s->sum.largest;
	json_t *o;

	if (!l->tokens)
		return json_null();
	o = json_object();
	if (!o || set_count(o, "tokens", l->tokens) || set_share(o, "share", l->tokens, s->sum.counts.tokens) ||
	    canon_set(o, "key", canon_of_key(l->key)) ||
	    canon_set(o, "title", l->title.len ? json_stringn(l->title.data, l->title.len) : json_null())) {
		json_decref(o);
		return NULL;
	}
	return o;
}

static int set_documents(json_t *o, const struct stats *s)
{
	const struct stats_counts *c = &s->sum.counts;
	const bool sentences = s->keys;		/* their lengths are in token documents and text only */

	if (set_count(o, "files", c->files) || set_count(o, "bytes", c->bytes) ||
	    set_count(o, "documents", c->documents) || set_count(o, "empty_documents", c->empty_documents) ||
	    set_count(o, "duplicate_documents", c->duplicate_documents) ||
	    set_count(o, "one_sentence_documents", c->one_sentence_documents) ||
	    set_count(o, "sentences", c->sentences) || set_count(o, "tokens", c->tokens) ||
	    set_count(o, "text_bytes", c->text_bytes) || set_share(o, "bytes_per_token", c->text_bytes, c->tokens) ||
	    set_share(o, "tokens_per_sentence", c->tokens, c->sentences) ||
	    set_share(o, "sentences_per_document", c->sentences, c->documents) ||
	    set_share(o, "tokens_per_document", c->tokens, c->documents) ||
	    set_share(o, "unk_share", c->unknown, c->tokens_seen) ||
	    set_share(o, "special_share", c->special, c->tokens_seen) ||
	    (s->unknown && stats_set_unknown(o, s)) || canon_set(o, "largest_document", largest(s)) ||
	    canon_set(o, "sentence_lengths", sentences ? sentence_lengths(s) : json_null()))
		return -1;
	return 0;
}

static json_t *mask_kinds(const struct stats_counts *c)
{
	json_t *o = json_object();

	if (!o || set_share(o, "mask", c->masked, c->predictions) || set_share(o, "same", c->kept, c->predictions) ||
	    set_share(o, "random", c->replaced, c->predictions)) {
		json_decref(o);
		return NULL;
	}
	return o;
}

static int set_instances(json_t *o, const struct stats *s)
{
	const struct stats_counts *c = &s->sum.counts;

	if (set_count(o, "instances", c->instances) || set_count(o, "max_seq_length", s->max_seq_length) ||
	    set_count(o, "max_predictions_per_seq", s->max_predictions) ||
	    set_count(o, "instance_tokens", c->instance_tokens) ||
	    set_share(o, "mean_length", c->instance_tokens, c->instances) ||
	    set_share(o, "padding_share", c->room - c->instance_tokens, c->room) ||
	    set_share(o, "random_next_share", c->random_next, c->instances) ||
	    set_share(o, "truncated_share", c->truncated, c->instances) || set_count(o, "dropped", c->dropped) ||
	    set_count(o, "predictions", c->predictions) ||
	    set_share(o, "mask_rate", c->predictions, c->static_tokens) || canon_set(o, "mask_kinds", mask_kinds(c)) ||
	    canon_set(o, "lengths", lengths(s)))
		return -1;
	return 0;
}

/* --- duplicates among token documents and text ---------------------------------------------------------------------- */

static int count_duplicates(struct stats *s)
{
	unsigned char before[KEY_BYTES];
	const void *key;
	bool any = false;
	size_t len;
	int rc;

	if (!s->keys)
		return 0;
	if (spill_sort(s->keys))
		return -1;
	while ((rc = spill_next(s->keys, &key, &len)) > 0) {
		s->sum.counts.duplicate_documents += any && !memcmp(before, key, KEY_BYTES);
		memcpy(before, key, KEY_BYTES);
		any = true;
	}
	return rc;
}

json_t *stats_json(struct stats *s)
{
	json_t *o = json_object();

	if (!o)
		err_memory();
	if (o && !count_duplicates(s) && !set_documents(o, s) && !set_instances(o, s) &&
	    !canon_set(o, "warnings", stats_warnings(s)))
		return o;
	json_decref(o);
	return NULL;
}
