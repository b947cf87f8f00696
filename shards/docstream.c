/* A shard's documents merged from several files. */
#include "shards/docstream.h"
#include "base/err.h"
#include "shards/keys.h"

/* A file, and where in it the stream stands. */
struct source {
	const struct tokdoc_file *file;
	uint64_t next, end;		/* blocks */
	struct frame_block block;
	const unsigned char *at;
	uint32_t left;			/* records of the block */
	const unsigned char *body;	/* the next document's record; NULL: there is none */
	size_t len;
};

struct docstream {
	struct source *sources;
	uint32_t n;
	uint32_t shard, shards;
	bool begun;
	struct source *last;		/* what the document before came from */
	struct key key;			/* of the document before */
	uint32_t occurrence;
	struct docset one;		/* holds the document that was given */
};

uint64_t docstream_memory(uint32_t n)
{
	return (uint64_t)n * 3 * TOKDOC_BLOCK_BYTES;
}

/* Moves on to the next record of S that belongs to the shard. */
static int advance(struct docstream *d, struct source *s)
{
	s->body = NULL;
	for (;;) {
		while (s->left) {
			const unsigned char *end = (const unsigned char *)s->block.raw.data + s->block.raw.len;

			s->left--;
			if (tokdoc_split(&s->at, end, &s->body, &s->len))
				return err_prefix("'%s'", tokdoc_file_name(s->file));
			if (key_shard(tokdoc_body_key(s->body), d->shards) == d->shard)
				return 0;
			s->body = NULL;
		}
		if (s->next == s->end)
			return 0;
		if (tokdoc_file_read(s->file, s->next++, &s->block))
			return -1;
		s->at = (const unsigned char *)s->block.raw.data;
		s->left = s->block.records;
	}
}

static int open_source(struct docstream *d, struct source *s, const struct tokdoc_file *f)
{
	const struct key from = key_shard_first(d->shard, d->shards);
	const struct key to =
		d->shard + 1 < d->shards ? key_shard_first(d->shard + 1, d->shards) : (struct key){ 0, 0 };

	s->file = f;
	tokdoc_file_stretch(f, from, to, &s->next, &s->end);
	return advance(d, s);
}

int docstream_open(struct docstream **out, struct tokdoc_file *const *files, uint32_t n, uint32_t shard, uint32_t shards)
{
	const struct tokdoc_header *h = tokdoc_file_header(files[0]);
	struct docstream *d = calloc(1, sizeof(*d));

	*out = NULL;
	if (!d)
		return err_memory();
	*d = (struct docstream){ .n = n, .shard = shard, .shards = shards, .sources = calloc(n, sizeof(*d->sources)) };
	docset_init(&d->one, shard, shards, h->id_bytes, h->vocab_size, UINT64_MAX);
	if (!d->sources) {
		docstream_close(d);
		return err_memory();
	}
	for (uint32_t i = 0; i < n; i++) {
		if (open_source(d, &d->sources[i], files[i])) {
			docstream_close(d);
			return -1;
		}
	}
	*out = d;
	return 0;
}

void docstream_close(struct docstream *d)
{
	if (!d)
		return;
	for (uint32_t i = 0; d->sources && i < d->n; i++)
		frame_block_release(&d->sources[i].block);
	free(d->sources);
	docset_release(&d->one);
	free(d);
}

/* Records are compared as bytes, which begin with the key. */
static bool is_before(const struct source *a, const struct source *b)
{
	const int rc = memcmp(a->body, b->body, a->len < b->len ? a->len : b->len);

	return rc ? rc < 0 : a->len < b->len;
}

int docstream_next(struct docstream *d, struct docset_document *doc)
{
	struct source *least = NULL;

	if (d->last && advance(d, d->last))
		return -1;
	for (uint32_t i = 0; i < d->n; i++)
		if (d->sources[i].body && (!least || is_before(&d->sources[i], least)))
			least = &d->sources[i];
	if (!least)
		return 0;
	d->last = least;
	docset_clear(&d->one);
	if (docset_add(&d->one, least->body, least->len))
		return -1;
	*doc = d->one.docs[0];
	d->occurrence = d->begun && !key_compare(doc->key, d->key) ? d->occurrence + 1 : 0;
	d->key = doc->key;
	d->begun = true;
	doc->occurrence = d->occurrence;
	return 1;
}
