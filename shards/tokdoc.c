/* Token documents: records and blocks. tokdoc_file.c has the files. */
#include "shards/tokdoc.h"
#include "base/err.h"
#include "base/utf8.h"
#include "shards/canon.h"
#include "shards/keys.h"
#include "shards/varint.h"
#include "shards/widen.h"

#include <inttypes.h>

void tokdoc_release(struct tokdoc *d)
{
	if (!d)
		return;
	free(d->lengths);
	*d = (struct tokdoc)TOKDOC_INIT;
}

/* Copies N ids of FROM bytes each at IN to N of TO bytes at OUT. 0, or 1 when one does not fit in TO bytes. */
static int copy_ids(void *out, unsigned to, const void *in, unsigned from, size_t n)
{
	const unsigned char *s = in;
	unsigned char *d = out;
	uint32_t wide, all = 0;
	uint16_t narrow;

	if (from == to) {
		if (n)
			memcpy(out, in, n * to);
		return 0;
	}
	if (from == 2) {
		for (size_t i = 0; i < n; i++) {
			memcpy(&narrow, s + 2 * i, 2);
			wide = narrow;
			memcpy(d + 4 * i, &wide, 4);
		}
		return 0;
	}
	for (size_t i = 0; i < n; i++) {
		memcpy(&wide, s + 4 * i, 4);
		all |= wide;
		narrow = (uint16_t)wide;
		memcpy(d + 2 * i, &narrow, 2);
	}
	return all > UINT16_MAX;
}

void tokdoc_ids(const struct tokdoc *d, size_t first, size_t n, uint32_t *out)
{
	const unsigned char *ids = (const unsigned char *)d->ids + first * d->id_bytes;

	if (d->id_bytes == 2)
		widen_ids(out, ids, n);
	else if (n)
		memcpy(out, ids, n * sizeof(*out));
}

/* --- totals ---------------------------------------------------------------------------- */

void tokdoc_totals_add(struct tokdoc_totals *t, const struct tokdoc_totals *more)
{
	t->documents += more->documents;
	t->sentences += more->sentences;
	t->tokens += more->tokens;
	t->text_bytes += more->text_bytes;
	t->keys = key_add(t->keys, more->keys);
}

void tokdoc_totals_count(struct tokdoc_totals *t, const struct tokdoc *d)
{
	const struct tokdoc_totals one = { 1, d->n_sentences, d->n_tokens, d->text_bytes, d->key };

	tokdoc_totals_add(t, &one);
}

json_t *tokdoc_totals_json(const struct tokdoc_totals *t)
{
	json_t *o = json_object();

	if (!o || canon_set(o, "documents", canon_of_uint(t->documents)) ||
	    canon_set(o, "sentences", canon_of_uint(t->sentences)) ||
	    canon_set(o, "tokens", canon_of_uint(t->tokens)) ||
	    canon_set(o, "text_bytes", canon_of_uint(t->text_bytes)) || canon_set(o, "keys", canon_of_key(t->keys))) {
		json_decref(o);
		err_memory();
		return NULL;
	}
	return o;
}

json_t *tokdoc_totals_array(const struct tokdoc_totals *t, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < n; i++) {
		if (json_array_append_new(list, tokdoc_totals_json(&t[i]))) {
			json_decref(list);
			list = NULL;
		}
	}
	if (!list)
		err_memory();
	return list;
}

int tokdoc_totals_parse(struct tokdoc_totals *t, const json_t *o)
{
	if (canon_uint(o, "documents", 0, INT64_MAX, &t->documents) ||
	    canon_uint(o, "sentences", 0, INT64_MAX, &t->sentences) ||
	    canon_uint(o, "tokens", 0, INT64_MAX, &t->tokens) ||
	    canon_uint(o, "text_bytes", 0, INT64_MAX, &t->text_bytes) || canon_key(o, "keys", &t->keys))
		return -1;
	return 0;
}

bool tokdoc_totals_equal(const struct tokdoc_totals *a, const struct tokdoc_totals *b)
{
	return a->documents == b->documents && a->sentences == b->sentences && a->tokens == b->tokens &&
	       a->text_bytes == b->text_bytes && !key_compare(a->keys, b->keys);
}

/* --- records ----------------------------------------------------------------------------- */

static int check_lengths(const struct tokdoc *d)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < d->n_sentences; i++)
		sum += d->lengths[i];
	if (sum != d->n_tokens)
		return err_fail("a document's sentences have %" PRIu64 " tokens, the document %zu", sum, d->n_tokens);
	if (d->n_sentences > UINT32_MAX || d->n_tokens > TOKDOC_TOKENS_MAX)
		return err_fail("a document has more than %" PRIu32 " sentences or tokens",
				(uint32_t)TOKDOC_TOKENS_MAX);
	if (d->id_len > TOKDOC_NAME_MAX || d->title_len > TOKDOC_NAME_MAX)
		return err_fail("a document's id or title has more than %d bytes", TOKDOC_NAME_MAX);
	return 0;
}

static size_t varint_len(uint64_t v)
{
	unsigned char out[VARINT_MAX];

	return varint_put(out, v);
}

static unsigned char *put_bytes(unsigned char *out, const char *bytes, size_t n)
{
	out += varint_put(out, n);
	if (n)
		memcpy(out, bytes, n);
	return out + n;
}

int tokdoc_encode(struct buf *b, const struct tokdoc *d, unsigned id_bytes)
{
	const size_t ids = d->n_tokens * id_bytes;
	size_t body = KEY_BYTES + varint_len(d->text_bytes) + varint_len(d->id_len) + d->id_len +
		      varint_len(d->title_len) + d->title_len + varint_len(d->n_sentences) + ids;
	unsigned char *out;

	if (check_lengths(d))
		return -1;
	for (size_t i = 0; i < d->n_sentences; i++)
		body += varint_len(d->lengths[i]);
	if (buf_reserve(b, body + VARINT_MAX))
		return -1;
	out = (unsigned char *)b->data + b->len;
	out += varint_put(out, body);
	key_put(d->key, out);
	out += KEY_BYTES;
	out += varint_put(out, d->text_bytes);
	out = put_bytes(out, d->id, d->id_len);
	out = put_bytes(out, d->title, d->title_len);
	out += varint_put(out, d->n_sentences);
	for (size_t i = 0; i < d->n_sentences; i++)
		out += varint_put(out, d->lengths[i]);
	if (copy_ids(out, id_bytes, d->ids, d->id_bytes, d->n_tokens))
		return err_fail("a document has an id that does not fit in %u bytes", id_bytes);
	b->len = (size_t)(out - (unsigned char *)b->data) + ids;
	b->data[b->len] = 0;
	return 0;
}

int tokdoc_split(const unsigned char **p, const unsigned char *end, const unsigned char **body, size_t *len)
{
	const unsigned char *s = *p;
	uint64_t n;

	if (varint_get(&s, end, &n) || n > (size_t)(end - s))
		return err_corrupt("a token document is longer than its block");
	if (n < KEY_BYTES)
		return err_corrupt("a token document is too short for its key");
	*body = s;
	*len = (size_t)n;
	*p = s + n;
	return 0;
}

struct key tokdoc_body_key(const unsigned char *body)
{
	return key_get(body);
}

/* A length and as many bytes of UTF-8. */
static int get_text(const unsigned char **p, const unsigned char *end, const char **text, size_t *len)
{
	uint64_t n;

	if (varint_get(p, end, &n) || n > TOKDOC_NAME_MAX || n > (size_t)(end - *p))
		return err_corrupt("a token document's id or title does not fit in it");
	*text = (const char *)*p;
	*len = (size_t)n;
	*p += n;
	if (utf8_valid_prefix(*text, *len) != *len)
		return err_corrupt("a token document's id or title is not UTF-8");
	return 0;
}

/* Number of sentences, and their lengths: each takes a byte at least, so END bounds the memory. */
static int get_lengths(const unsigned char **p, const unsigned char *end, struct tokdoc *d)
{
	uint64_t n, length, sum = 0;

	if (varint_get(p, end, &n) || n > UINT32_MAX || n > (size_t)(end - *p))
		return err_corrupt("a token document says that it has more sentences than fit in it");
	if (array_grow(&d->lengths, &d->cap_lengths, (size_t)n, sizeof(*d->lengths)))
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (varint_get(p, end, &length) || length > TOKDOC_TOKENS_MAX)
			return err_corrupt("a token document's sentence lengths do not fit in it");
		d->lengths[i] = (uint32_t)length;
		sum += length;
	}
	if (sum > TOKDOC_TOKENS_MAX)
		return err_corrupt("a token document says that it has %" PRIu64 " tokens", sum);
	d->n_sentences = (size_t)n;
	d->n_tokens = (size_t)sum;
	return 0;
}

/* Whether all N ids at IDS are below LIMIT. */
static int check_ids(const unsigned char *ids, unsigned id_bytes, size_t n, uint32_t limit)
{
	uint32_t most = 0, wide;

	if (id_bytes == 2) {
		most = widen_greatest(ids, n);
	} else {
		for (size_t i = 0; i < n; i++) {
			memcpy(&wide, ids + 4 * i, 4);
			most = wide > most ? wide : most;
		}
	}
	if (n && most >= limit)
		return err_corrupt("a token document has id %" PRIu32 ", the vocabulary %" PRIu32 " entries", most,
				   limit);
	return 0;
}

int tokdoc_decode_body(const unsigned char *body, size_t len, unsigned id_bytes, uint32_t vocab_size, struct tokdoc *d)
{
	const unsigned char *s = body + KEY_BYTES, *end = body + len;

	d->key = key_get(body);
	if (varint_get(&s, end, &d->text_bytes))
		return err_corrupt("a token document is cut short");
	if (get_text(&s, end, &d->id, &d->id_len) || get_text(&s, end, &d->title, &d->title_len) ||
	    get_lengths(&s, end, d))
		return -1;
	if ((uint64_t)d->n_tokens * id_bytes != (size_t)(end - s))
		return err_corrupt("a token document of %zu tokens has %zu bytes of ids", d->n_tokens,
				   (size_t)(end - s));
	d->ids = s;
	d->id_bytes = id_bytes;
	return check_ids(s, id_bytes, d->n_tokens, vocab_size);
}

int tokdoc_decode(const unsigned char **p, const unsigned char *end, unsigned id_bytes, uint32_t vocab_size,
		  struct tokdoc *d)
{
	const unsigned char *body;
	size_t len;

	return tokdoc_split(p, end, &body, &len) ? -1 : tokdoc_decode_body(body, len, id_bytes, vocab_size, d);
}

/* --- blocks --------------------------------------------------------------------------------- */

int tokdoc_block_add(struct tokdoc_block *b, const struct tokdoc *d, unsigned id_bytes)
{
	if (tokdoc_encode(&b->raw, d, id_bytes))
		return -1;
	b->records++;
	tokdoc_totals_count(&b->totals, d);
	return 0;
}

int tokdoc_block_put(struct tokdoc_block *b, const unsigned char *body, size_t len)
{
	unsigned char head[VARINT_MAX];
	const size_t n = varint_put(head, len);

	if (buf_reserve(&b->raw, n + len) || buf_add(&b->raw, head, n) || buf_add(&b->raw, body, len))
		return -1;
	b->records++;
	return 0;
}

bool tokdoc_block_full(const struct tokdoc_block *b)
{
	return b->raw.len >= TOKDOC_BLOCK_BYTES;
}

int tokdoc_block_pack(struct tokdoc_block *b, int level)
{
	return frame_pack(b->raw.data, b->raw.len, level, &b->packed);
}

void tokdoc_block_clear(struct tokdoc_block *b)
{
	buf_clear(&b->raw);
	buf_clear(&b->packed);
	b->records = 0;
	b->totals = (struct tokdoc_totals){ 0 };
}

void tokdoc_block_release(struct tokdoc_block *b)
{
	if (!b)
		return;
	buf_release(&b->raw);
	buf_release(&b->packed);
	*b = (struct tokdoc_block)TOKDOC_BLOCK_INIT;
}
