/* A shard's documents merged from several files. */
#include "shards/docstream.h"
#include "base/err.h"
#include "shards/keys.h"

/* A file, and where in it the stream stands. */
struct source {
	const struct tokdoc_cells *file;
	struct frame_stretch blocks;	/* that are to come */
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
	int rc;

	s->body = NULL;
	for (;;) {
		while (s->left) {
			const unsigned char *end = (const unsigned char *)s->block.raw.data + s->block.raw.len;

			s->left--;
			if (tokdoc_split(&s->at, end, &s->body, &s->len))
				return err_prefix("'%s'", tokdoc_cells_name(s->file));
			if (key_shard(tokdoc_body_key(s->body), d->shards) == d->shard)
				return 0;
			s->body = NULL;
		}
		rc = tokdoc_cells_next(s->file, &s->blocks, &s->block);
		if (rc <= 0)
			return rc;
		s->at = (const unsigned char *)s->block.raw.data;
		s->left = s->block.records;
	}
}

static int open_source(struct docstream *d, struct source *s, const struct tokdoc_cells *f)
{
	s->file = f;
	return tokdoc_cells_find(f, d->shard, d->shards, &s->blocks) ? -1 : advance(d, s);
}

int docstream_open(struct docstream **out, struct tokdoc_cells *const *files, uint32_t n, const struct docset *like)
{
	struct docstream *d = calloc(1, sizeof(*d));

	*out = NULL;
	if (!d)
		return err_memory();
	*d = (struct docstream){ .n = n, .shard = like->shard, .shards = like->shards };
	d->sources = calloc(n, sizeof(*d->sources));
	docset_init(&d->one, like->shard, like->shards, like->id_bytes, like->vocab_size, UINT64_MAX);
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
