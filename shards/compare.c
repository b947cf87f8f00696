/* Two sets of shards, side by side. */
#include "shards/compare.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/jsonl.h"
#include "shards/canon.h"
#include "shards/folder.h"
#include "shards/reader.h"
#include "shards/show.h"

#include <inttypes.h>

/* One of the two. */
struct side {
	const char *path;
	struct reader *reader;
	struct reader_cursor *cursor;
	const struct instance *instance;
	struct instance plain;		/* a copy without masks, where these are not compared */
};

struct pair {
	struct compare *c;
	struct side a, b;
	struct vocab *vocab;
};

static int open_side(const struct pair *p, struct side *s, const char *path)
{
	const struct reader_opts opts = { .vocab = p->c->vocab_path, .unmasked = !p->c->draws };

	s->path = path;
	if (reader_open(&s->reader, &path, 1, &opts))
		return -1;
	s->cursor = reader_cursor_new(s->reader);
	return s->cursor && !instance_init(&s->plain, reader_shape(s->reader)) ? 0 : -1;
}

static void close_side(struct side *s)
{
	instance_release(&s->plain);
	reader_cursor_free(s->cursor);
	reader_close(s->reader);
}

/* Instance K of S; without its masks where these are not compared. */
static int get(const struct compare *c, struct side *s, uint64_t k)
{
	s->instance = reader_get(s->cursor, c->epoch, k);
	if (!s->instance)
		return -1;
	if (!c->unmasked)
		return 0;
	memcpy(s->plain.ids, s->instance->ids, s->instance->n * sizeof(*s->plain.ids));
	memcpy(s->plain.segments, s->instance->segments, s->instance->n_segments * sizeof(*s->plain.segments));
	s->plain.n = s->instance->n;
	s->plain.n_segments = s->instance->n_segments;
	s->plain.flags = s->instance->flags;
	for (uint32_t m = 0; m < s->instance->predictions; m++)
		s->plain.ids[s->instance->positions[m]] = s->instance->labels[m];
	s->instance = &s->plain;
	return 0;
}

/* --- what differs ----------------------------------------------------------------------------- */

static int say_number(const struct pair *p, uint64_t k, const char *what, uint32_t a, uint32_t b)
{
	return buf_addf(&p->c->text, "instance %" PRIu64 ": %s: %" PRIu32 ", %" PRIu32 "\n", k, what, a, b);
}

/* The number, and its token where the vocabulary is known. */
static int add_id(const struct pair *p, uint32_t id)
{
	size_t len;

	if (!p->vocab || id >= vocab_size(p->vocab))
		return buf_addf(&p->c->text, "%" PRIu32, id);
	return buf_addf(&p->c->text, "%" PRIu32 " (%s)", id, vocab_token(p->vocab, id, &len));
}

/* The first place in which two arrays of N differ: 1 said, 0 there is none, -1. */
static int say_array(const struct pair *p, uint64_t k, const char *what, const uint32_t *a, const uint32_t *b, uint32_t n,
		     bool ids)
{
	uint32_t at = 0;

	while (at < n && a[at] == b[at])
		at++;
	if (at == n)
		return 0;
	if (buf_addf(&p->c->text, "instance %" PRIu64 ": %s[%" PRIu32 "]: ", k, what, at))
		return -1;
	if (!ids)
		return buf_addf(&p->c->text, "%" PRIu32 ", %" PRIu32 "\n", a[at], b[at]) ? -1 : 1;
	return add_id(p, a[at]) || buf_adds(&p->c->text, ", ") || add_id(p, b[at]) || buf_adds(&p->c->text, "\n") ? -1 : 1;
}

static uint32_t second_of(const struct side *s)
{
	return reader_shape(s->reader)->pairs ? s->instance->segments[0].length + 2 : s->instance->n;
}

/* Says what differs in instance K: 1, 0 nothing, -1. */
static int compare_instance(const struct pair *p, uint64_t k)
{
	const struct instance *a = p->a.instance, *b = p->b.instance;
	int rc;

	if (a->n != b->n)
		return say_number(p, k, "number of input_ids", a->n, b->n) ? -1 : 1;
	rc = say_array(p, k, "input_ids", a->ids, b->ids, a->n, true);
	if (rc)
		return rc;
	if (second_of(&p->a) != second_of(&p->b))
		return say_number(p, k, "where segment_ids become 1", second_of(&p->a), second_of(&p->b)) ? -1 : 1;
	if (a->predictions != b->predictions)
		return say_number(p, k, "number of masked_lm_positions", a->predictions, b->predictions) ? -1 : 1;
	rc = say_array(p, k, "masked_lm_positions", a->positions, b->positions, a->predictions, false);
	rc = rc ? rc : say_array(p, k, "masked_lm_ids", a->labels, b->labels, a->predictions, true);
	if (rc)
		return rc;
	if ((a->flags & INSTANCE_RANDOM_NEXT) != (b->flags & INSTANCE_RANDOM_NEXT))
		return say_number(p, k, "next_sentence_label", a->flags & INSTANCE_RANDOM_NEXT,
				  b->flags & INSTANCE_RANDOM_NEXT) ? -1 : 1;
	return 0;
}

/* Both instances whole, as bert-cat --text shows them. */
static int show(const struct pair *p, const struct side *s, uint64_t k)
{
	struct show how;
	int rc;

	if (!p->vocab || reader_recipe(s->reader)->vocab_size > vocab_size(p->vocab))
		return 0;
	if (buf_addf(&p->c->text, "%s: ", s->path) ||
	    show_init(&how, &(struct show_opts){ .form = SHOW_TEXT, .vocab = p->vocab }))
		return -1;
	rc = show_instance(&how, &p->c->text, s->instance, reader_shape(s->reader), k);
	show_release(&how);
	return rc;
}

/* The reason may lie in how they were made. */
static int say_recipes(const struct pair *p)
{
	json_t *a = shard_recipe_json(reader_recipe(p->a.reader)), *b = shard_recipe_json(reader_recipe(p->b.reader));
	struct buf what = BUF_INIT;
	int rc = a && b ? canon_difference(a, b, &what) : -1;

	if (rc > 0)
		rc = buf_addf(&p->c->text, "recipes: %s\n", what.data);
	json_decref(a);
	json_decref(b);
	buf_release(&what);
	return rc;
}

static int say_sizes(const struct pair *p, uint64_t a, uint64_t b)
{
	return buf_addf(&p->c->text, "%s has %" PRIu64 " instances, %s %" PRIu64 ": the first %" PRIu64 " are the same\n",
			p->a.path, a, p->b.path, b, a < b ? a : b);
}

/* Without a vocabulary everything is told but tokens. */
static int find_vocab(struct pair *p)
{
	const char *beside = p->c->a;
	char **paths;
	size_t n;
	int rc;

	if (folder_shards(beside, &paths, &n))
		return -1;
	rc = folder_vocab(&p->vocab, p->c->vocab_path, paths[0], reader_recipe(p->a.reader)->tokenizer);
	fs_free_names(paths, n);
	return rc;
}

static int compare_all(struct pair *p)
{
	struct compare *c = p->c;
	const uint64_t a = reader_size(p->a.reader), b = reader_size(p->b.reader), n = a < b ? a : b;
	int rc = 0;

	for (; c->instances < n; c->instances++) {
		if (get(c, &p->a, c->instances) || get(c, &p->b, c->instances))
			return -1;
		if (c->progress)
			progress_update(c->progress, c->instances, 0);
		rc = compare_instance(p, c->instances);
		if (rc)
			break;
	}
	c->same = !rc && a == b;
	if (rc < 0 || c->same)
		return rc;
	if (rc ? show(p, &p->a, c->instances) || show(p, &p->b, c->instances) : say_sizes(p, a, b))
		return -1;
	return say_recipes(p);
}

/* --- names of documents ----------------------------------------------------------------------- */

/* A shard's table of documents, read one after the other. */
struct names {
	struct shard *shard;
	struct frame_block block;
	uint64_t next;			/* block */
	uint32_t left;			/* documents in BLOCK, from AT on */
	const unsigned char *at;
	struct shard_document d;	/* the one we are at, */
	uint64_t number;		/* from 1; of it */
};

/* What both tables have, and where they name it otherwise. */
struct tally {
	uint64_t both, differ;
};

/* 1, 0 after the last one, -1. */
static int next_document(struct names *n)
{
	while (!n->left) {
		if (n->next == shard_document_blocks(n->shard))
			return 0;
		if (shard_read_documents(n->shard, n->next++, &n->block))
			return -1;
		n->left = n->block.records;
		n->at = (const unsigned char *)n->block.raw.data;
	}
	n->left--;
	n->number++;
	if (shard_document_decode(&n->at, (const unsigned char *)n->block.raw.data + n->block.raw.len, &n->d))
		return err_prefix("'%s': document %" PRIu64, shard_path(n->shard), n->number - 1);
	return 1;
}

static bool same_text(struct jsonl_text a, struct jsonl_text b)
{
	return a.len == b.len && (!a.len || !memcmp(a.text, b.text, a.len));
}

static int add_name(struct buf *b, struct jsonl_text name)
{
	return name.len ? jsonl_put_string(b, name) : buf_adds(b, "null");
}

/* 1: they differ, which TEXT, unless it is NULL, is told; 0, -1. */
static int compare_name(struct buf *text, const struct names *a, size_t shard, const char *what, struct jsonl_text in_a,
			struct jsonl_text in_b)
{
	if (same_text(in_a, in_b))
		return 0;
	if (!text)
		return 1;
	return buf_addf(text, "document %" PRIu64 " of shard %zu: %s: ", a->number - 1, shard, what) || add_name(text, in_a) ||
	       buf_adds(text, ", ") || add_name(text, in_b) || buf_adds(text, "\n") ? -1 : 1;
}

/* The names of a document that both have; the first difference of all is told in full. */
static int compare_document(struct compare *c, struct tally *t, const struct names *a, const struct names *b, size_t shard)
{
	struct buf *text = t->differ ? NULL : &c->text;
	const struct shard_document *x = &a->d, *y = &b->d;
	const int id = compare_name(text, a, shard, "id", (struct jsonl_text){ x->id, x->id_len }, (struct jsonl_text){ y->id, y->id_len });
	const int title = id < 0 ? -1 : compare_name(text, a, shard, "title", (struct jsonl_text){ x->title, x->title_len },
						     (struct jsonl_text){ y->title, y->title_len });

	t->both++;
	t->differ += id > 0 || title > 0;
	return title < 0 ? -1 : 0;
}

/* Which of the documents at hand comes first in a table: by key, then by occurrence. */
static int by_document(const struct shard_document *a, const struct shard_document *b)
{
	const int order = key_compare(a->key, b->key);

	return order ? order : a->occurrence < b->occurrence ? -1 : a->occurrence > b->occurrence;
}

static int walk_tables(struct compare *c, struct tally *t, struct names *a, struct names *b, size_t shard)
{
	int in_a = next_document(a), in_b = in_a > 0 ? next_document(b) : 0;

	while (in_a > 0 && in_b > 0) {
		const int order = by_document(&a->d, &b->d);

		if (!order && compare_document(c, t, a, b, shard))
			return -1;
		if (order <= 0)
			in_a = next_document(a);
		if (order >= 0)
			in_b = next_document(b);
	}
	return in_a < 0 || in_b < 0 ? -1 : 0;
}

/* What was imported has one document, the file, whose name says nothing of its instances. */
static bool is_imported(const struct shard *s)
{
	return shard_header(s)->recipe.rules == SHARD_IMPORTED;
}

static int compare_tables(struct compare *c, struct tally *t, const char *path_a, const char *path_b, size_t shard)
{
	struct names a = { .block = FRAME_BLOCK_INIT }, b = { .block = FRAME_BLOCK_INIT };
	int rc = shard_open(&a.shard, path_a) || shard_open(&b.shard, path_b) ? -1 : 0;

	if (!rc && !is_imported(a.shard) && !is_imported(b.shard))
		rc = walk_tables(c, t, &a, &b, shard);
	frame_block_release(&a.block);
	frame_block_release(&b.block);
	shard_close(a.shard);
	shard_close(b.shard);
	return rc;
}

/* Documents are the same where their keys are. Sets of another number of shards, or of other documents, have none in common. */
static int compare_names(struct compare *c)
{
	char **a = NULL, **b = NULL;
	size_t in_a = 0, in_b = 0;
	struct tally t = { 0, 0 };
	int rc = folder_shards(c->a, &a, &in_a) || folder_shards(c->b, &b, &in_b) ? -1 : 0;

	for (size_t k = 0; in_a == in_b && k < in_a && !rc; k++)
		rc = compare_tables(c, &t, a[k], b[k], k);
	fs_free_names(a, in_a);
	fs_free_names(b, in_b);
	if (rc || !t.differ)
		return rc;
	c->same = false;
	return buf_addf(&c->text, "the instances are the same; of %" PRIu64 " documents %" PRIu64 " ha%s another id or title\n", t.both,
			t.differ, t.differ == 1 ? "s" : "ve");
}

int compare_run(struct compare *c)
{
	struct pair p = { .c = c };
	int rc = -1;

	c->text = (struct buf)BUF_INIT;
	if (c->progress)
		progress_start(c->progress, "instances", 0);
	if (!open_side(&p, &p.a, c->a) && !open_side(&p, &p.b, c->b) && !find_vocab(&p))
		rc = compare_all(&p);
	if (!rc && c->same && !c->instances_only)
		rc = compare_names(c);
	if (c->progress)
		progress_end(c->progress);
	close_side(&p.a);
	close_side(&p.b);
	vocab_free(p.vocab);
	return rc;
}

void compare_release(struct compare *c)
{
	if (c)
		buf_release(&c->text);
}
