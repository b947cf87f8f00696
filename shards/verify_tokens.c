/* Whether token documents are in the order that their header promises. */
#include "shards/verify_impl.h"
#include "base/err.h"
#include "shards/keys.h"

#include <inttypes.h>

struct verify_tokens {
	struct verify *v;
	struct tokdoc *documents;	/* [threads] scratch */
	struct buf last;		/* sorted: the last record so far */
	struct buf first_keys;		/* sorted: of each block, as seen ... */
	struct buf said_keys;		/* ... and as the file says */
	uint64_t said;			/* blocks that say so */
};

struct verify_tokens *verify_tokens_new(struct verify *v)
{
	struct verify_tokens *c = calloc(1, sizeof(*c));

	if (!c) {
		err_memory();
		return NULL;
	}
	c->v = v;
	c->documents = calloc(v->threads, sizeof(*c->documents));
	if (c->documents)
		return c;
	verify_tokens_free(c);
	err_memory();
	return NULL;
}

void verify_tokens_free(struct verify_tokens *c)
{
	if (!c)
		return;
	for (unsigned k = 0; c->documents && k < c->v->threads; k++)
		tokdoc_release(&c->documents[k]);
	free(c->documents);
	buf_release(&c->last);
	buf_release(&c->first_keys);
	buf_release(&c->said_keys);
	free(c);
}

/* A sorted file's block of type 1: the first keys. */
int verify_tokens_other(struct verify_tokens *c, const struct scan *s, const struct scan_block *b)
{
	if (!s->tokens.sorted || b->frame.type != 1)
		return 0;
	c->said++;
	return buf_add(&c->said_keys, b->frame.raw.data, b->frame.raw.len);
}

/* Whether record A is not after B, as bytes. */
static bool in_order(const unsigned char *a, size_t a_len, const unsigned char *b, size_t b_len)
{
	const int rc = memcmp(a, b, a_len < b_len ? a_len : b_len);

	return rc < 0 || (!rc && a_len <= b_len);
}

/* A record to B: its length, its bytes. */
static int keep(struct buf *b, const unsigned char *body, size_t len)
{
	return buf_add(b, &len, sizeof(len)) || buf_add(b, body, len) ? -1 : 0;
}

static const unsigned char *kept(const struct buf *b, size_t *at, size_t *len)
{
	const unsigned char *body = (const unsigned char *)b->data + *at + sizeof(*len);

	memcpy(len, b->data + *at, sizeof(*len));
	*at += sizeof(*len) + *len;
	return body;
}

/* The order inside a block, whose records were found good. Leaves its first and last one. */
static int check_order(const struct scan *s, struct scan_block *b)
{
	const unsigned char *p = (const unsigned char *)b->frame.raw.data, *end = p + b->frame.raw.len;
	const unsigned char *body, *before = NULL;
	size_t len, before_len = 0;

	for (uint32_t k = 0; k < b->frame.records; k++) {
		if (tokdoc_split(&p, end, &body, &len))
			return scan_place(s, b, k);
		if (before && !in_order(before, before_len, body, len)) {
			err_corrupt("it comes before the one before it, in a file that says it is sorted");
			return scan_place(s, b, k);
		}
		if (!k && keep(&b->out, body, len))
			return -1;
		before = body;
		before_len = len;
	}
	return before ? keep(&b->out, before, before_len) : 0;
}

int verify_tokens_work(struct verify_tokens *c, const struct scan *s, struct scan_block *b, unsigned worker)
{
	struct tokdoc *d = &c->documents[worker];
	uint32_t number = 0;
	char key[33];
	int rc;

	for (; (rc = scan_next(s, b, d)) > 0; number++) {
		if (!verify_is_absent(c->v, d->key))
			continue;
		key_print(d->key, key);
		err_corrupt("the document with key %s is in it", key);
		return scan_place(s, b, number);
	}
	return rc || !s->tokens.sorted ? rc : check_order(s, b);
}

int verify_tokens_write(struct verify_tokens *c, const struct scan *s, const struct scan_block *b)
{
	size_t at = 0, len, last_len;
	const unsigned char *body;

	if (!s->tokens.sorted || !b->out.len)
		return 0;
	body = kept(&b->out, &at, &len);
	if (c->last.len && !in_order((const unsigned char *)c->last.data, c->last.len, body, len)) {
		err_corrupt("it comes before the one before it, in a file that says it is sorted");
		return scan_place(s, b, 0);
	}
	if (buf_add(&c->first_keys, body, KEY_BYTES))
		return -1;
	body = kept(&b->out, &at, &last_len);
	buf_clear(&c->last);
	return buf_add(&c->last, body, last_len);
}

static int check_first_keys(const struct verify_tokens *c)
{
	if (c->said == (c->first_keys.len ? 1 : 0) && c->said_keys.len == c->first_keys.len &&
	    (!c->said || !memcmp(c->said_keys.data, c->first_keys.data, c->said_keys.len)))
		return 0;
	return err_corrupt("its first keys are not those of its blocks");
}

int verify_tokens_end(struct verify_tokens *c, const struct scan *s, struct buf *text)
{
	if (s->tokens.sorted && check_first_keys(c))
		return err_prefix("'%s'", s->name);
	if (verify_add_count(text, s->token_totals.documents, "document") || buf_adds(text, ", "))
		return -1;
	return verify_add_count(text, s->token_totals.tokens, "token");
}
