/* Two sets of shards, side by side. */
#include "shards/compare.h"
#include "base/err.h"
#include "base/fs.h"
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

int compare_run(struct compare *c)
{
	struct pair p = { .c = c };
	int rc = -1;

	c->text = (struct buf)BUF_INIT;
	if (c->progress)
		progress_start(c->progress, "instances", 0);
	if (!open_side(&p, &p.a, c->a) && !open_side(&p, &p.b, c->b) && !find_vocab(&p))
		rc = compare_all(&p);
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
