/* bert-cat - instances and token documents as JSON lines, or as text for people. */
#include "base/args.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/out.h"
#include "base/tool.h"
#include "shards/folder.h"
#include "shards/mask_choice.h"
#include "shards/reader.h"
#include "shards/scan.h"
#include "shards/show.h"

#include <inttypes.h>

struct options {
	struct args_common common;
	const char *vocab;
	bool tokens, text;
	uint64_t epoch;			/* NO_EPOCH: masks of dynamic shards are not drawn */
	uint64_t skip, count;
	struct mask_choice masks;
};
#define NO_EPOCH UINT64_MAX

/* What each thread works with. */
struct worker {
	struct instance instance;
	struct mask mask;
	struct tokdoc document;
};

struct cat {
	const struct options *o;
	struct out *out;
	struct vocab *vocab;
	struct mask_words *words;
	struct show show;
	bool show_ready;
	struct worker *workers;		/* [threads] */
	uint64_t before;		/* instances and documents in the files before this one */
	uint64_t shown;
	struct scan *scan;
	struct folder_set set;		/* of the folder being read, */
	size_t at;			/* and the number in it of the file being read */
};

/* Which of the numbers from FIRST to END - 1 are to be shown: *FROM .. *TO - 1. */
static void stretch(const struct options *o, uint64_t first, uint64_t end, uint64_t *from, uint64_t *to)
{
	const uint64_t stop = o->count < UINT64_MAX - o->skip ? o->skip + o->count : UINT64_MAX;

	*to = end < stop ? end : stop;
	*from = first > o->skip ? first : o->skip;
	*from = *from < *to ? *from : *to;
}

/* --- what a file needs -------------------------------------------------------------------- */

static bool draws(const struct options *o, const struct shard_recipe *recipe)
{
	return o->epoch != NO_EPOCH && recipe->masking == SHARD_DYNAMIC;
}

/* Gets ready for file PATH (NAME in reasons), made with TOKENIZER. VOCAB: its vocabulary is needed in any case. */
static int prepare_show(struct cat *c, const char *path, const char *name, const json_t *tokenizer, bool vocab)
{
	const struct options *o = c->o;
	const bool strings = o->tokens || o->text;
	const bool named = strings || o->vocab;		/* one that is given is looked at, needed or not */
	const bool same = c->show_ready && (!named || folder_vocab_is(c->vocab, tokenizer));
	struct show_opts opts = { .form = o->text ? SHOW_TEXT : SHOW_JSON };

	if (named || vocab) {
		if (folder_vocab(&c->vocab, o->vocab, path, tokenizer))
			return -1;
		if (!c->vocab)
			return err_fail("the vocabulary of '%s' is needed and is not beside it: name it by --vocab",
					name);
	}
	if (same)
		return 0;
	if (c->show_ready)
		show_release(&c->show);
	opts.vocab = strings ? c->vocab : NULL;
	c->show_ready = !show_init(&c->show, &opts);
	return c->show_ready ? 0 : -1;
}

static void release_workers(struct cat *c)
{
	for (unsigned k = 0; k < c->o->common.threads; k++) {
		instance_release(&c->workers[k].instance);
		mask_release(&c->workers[k].mask);
	}
}

static int prepare_workers(struct cat *c, const struct shard_header *h)
{
	const struct instance_shape shape = shard_header_shape(h, 0);

	release_workers(c);
	for (unsigned k = 0; k < c->o->common.threads; k++)
		if (instance_init(&c->workers[k].instance, &shape) ||
		    (draws(c->o, &h->recipe) && documents_mask_init(&c->workers[k].mask, &h->recipe, c->vocab)))
			return -1;
	return 0;
}

static int begin(void *ctx, struct scan *s)
{
	struct cat *c = ctx;
	struct shard_recipe *recipe = &s->header.recipe;
	bool masks;

	c->scan = s;
	if (s->kind == SCAN_TOKENS)
		return prepare_show(c, s->path, s->name, s->tokens.tokenizer, false);
	if (folder_set_check(&c->set, s->name, c->at, &s->header))
		return -1;
	if (c->o->epoch != NO_EPOCH && shard_recipe_choose(recipe, &c->o->masks))
		return err_prefix("'%s'", s->name);
	masks = draws(c->o, recipe) && !documents_can_draw(recipe, NULL);
	if (prepare_show(c, s->path, s->name, recipe->tokenizer, masks) ||
	    (masks && folder_words(&c->words, s->path, recipe, c->vocab)))
		return -1;
	if (masks && !documents_can_draw(recipe, c->vocab))
		return err_fail("the list of words of '%s' is needed and is not beside it (%s)", s->name, MASK_WORDS_NAME);
	return prepare_workers(c, &s->header);
}

/* --- a file from its begin to its end ------------------------------------------------------- */

static int work_instances(const struct cat *c, const struct scan *s, struct scan_block *b, struct worker *w)
{
	const uint64_t first = c->before + b->frame.first_record;
	uint64_t from, to;

	stretch(c->o, first, first + b->frame.records, &from, &to);
	for (uint64_t number = from; number < to; number++) {
		instance_block_get(&b->instances, (uint32_t)(number - first), &w->instance);
		if (draws(c->o, &s->header.recipe))
			documents_draw(&s->documents, &w->mask, &s->header.recipe, RNG_DYNAMIC_MASK, c->o->epoch,
				       &w->instance);
		read_as_apply(s->header.recipe.read_as, s->header.recipe.n_read_as, &w->instance);
		if (show_instance(&c->show, &b->out, &w->instance, &s->shape, number))
			return -1;
	}
	return 0;
}

static int work(void *ctx, const struct scan *s, struct scan_block *b, unsigned worker)
{
	const struct cat *c = ctx;
	struct worker *w = &c->workers[worker];
	const uint64_t first = c->before + b->frame.first_record;
	uint64_t from, to, number;
	int rc;

	if (s->kind == SCAN_SHARD)
		return work_instances(c, s, b, w);
	stretch(c->o, first, first + b->frame.records, &from, &to);
	for (number = first; (rc = scan_next(s, b, &w->document)) > 0; number++)
		if (number >= from && number < to && show_document(&c->show, &b->out, &w->document, number))
			return -1;
	return rc;
}

static int write_out(void *ctx, const struct scan *s, struct scan_block *b)
{
	struct cat *c = ctx;
	const uint64_t first = c->before + b->frame.first_record, end = first + b->frame.records;
	uint64_t from, to;

	(void)s;
	stretch(c->o, first, end, &from, &to);
	c->shown += to - from;
	if (to < end)
		scan_stop(c->scan);
	return out_write(c->out, b->out.data, b->out.len);
}

static int cat_whole(struct cat *c, const char *path)
{
	struct scan s = { .path = path, .threads = (unsigned)c->o->common.threads, .begin = begin, .work = work,
			  .write = write_out, .ctx = c };
	const int rc = scan_run(&s);

	c->before += s.kind == SCAN_SHARD ? s.totals.instances : s.token_totals.documents;
	scan_release(&s);
	return rc;
}

/* --- a stretch of a shard, by its index -------------------------------------------------------- */

static int cat_stretch(struct cat *c, const struct reader *r, uint64_t from, uint64_t to)
{
	struct reader_cursor *cursor = reader_cursor_new(r);
	struct buf line = BUF_INIT;
	int rc = cursor ? 0 : -1;

	for (uint64_t number = from; !rc && number < to; number++) {
		const struct instance *i = reader_get(cursor, c->o->epoch, number - c->before);

		buf_clear(&line);
		if (!i || show_instance(&c->show, &line, i, reader_shape(r), number) ||
		    out_write(c->out, line.data, line.len))
			rc = -1;
	}
	c->shown += to - from;
	buf_release(&line);
	reader_cursor_free(cursor);
	return rc;
}

static int check_place(struct cat *c, const char *path)
{
	struct shard *s;
	int rc = -1;

	if (!c->set.n)
		return 0;
	if (!shard_open(&s, path)) {
		rc = folder_set_check(&c->set, path, c->at, shard_header(s));
		shard_close(s);
	}
	return rc;
}

static int cat_indexed(struct cat *c, const char *path)
{
	const struct reader_opts opts = { .vocab = c->o->vocab, .unmasked = c->o->epoch == NO_EPOCH,
					   .masks = c->o->epoch == NO_EPOCH ? NULL : &c->o->masks };
	struct reader *r;
	uint64_t from, to;
	int rc = 0;

	if (check_place(c, path) || reader_open(&r, &path, 1, &opts))
		return -1;
	stretch(c->o, c->before, c->before + reader_size(r), &from, &to);
	if (from < to)
		rc = prepare_show(c, path, path, reader_recipe(r)->tokenizer, false) || cat_stretch(c, r, from, to) ? -1
														    : 0;
	c->before += reader_size(r);
	reader_close(r);
	return rc;
}

static bool is_shard_file(const char *path)
{
	char kind[5];

	return strcmp(path, "-") && !frame_kind(path, kind) && !strcmp(kind, SHARD_KIND);
}

/* --- all files ------------------------------------------------------------------------------------- */

static bool done(const struct cat *c)
{
	return c->before >= c->o->skip && c->before - c->o->skip >= c->o->count;
}

static int cat_path(struct cat *c, const char *path)
{
	const bool some = c->o->skip || c->o->count != UINT64_MAX;
	struct buf lacks = BUF_INIT;
	char **paths = NULL;
	size_t n = 0;
	int rc = folder_shards_there(path, &paths, &n, &lacks);

	if (!rc && lacks.len)
		log_warn("%s", lacks.data);
	c->set = (struct folder_set){ .n = folder_is(path) && !lacks.len ? n : 0 };
	for (c->at = 0; !rc && c->at < n && !done(c); c->at++)
		rc = some && is_shard_file(paths[c->at]) ? cat_indexed(c, paths[c->at]) : cat_whole(c, paths[c->at]);
	folder_set_release(&c->set);
	fs_free_names(paths, n);
	buf_release(&lacks);
	return rc;
}

static int cat_all(struct cat *c, const char *const *paths, int n)
{
	int rc = 0;

	c->workers = calloc(c->o->common.threads, sizeof(*c->workers));
	if (!c->workers)
		return err_memory();
	if (out_open(&c->out, c->o->common.output))
		return -1;
	for (int k = 0; !rc && k < n; k++)
		rc = cat_path(c, paths[k]);
	if (rc || out_commit(c->out))
		return -1;
	c->out = NULL;
	return 0;
}

static void release(struct cat *c)
{
	if (c->workers)
		release_workers(c);
	for (unsigned k = 0; c->workers && k < c->o->common.threads; k++)
		tokdoc_release(&c->workers[k].document);
	free(c->workers);
	show_release(&c->show);
	vocab_free(c->vocab);
	mask_words_free(c->words);
	out_discard(c->out);
}

int main(int argc, char **argv)
{
	static struct options o = { .epoch = NO_EPOCH, .count = UINT64_MAX, .masks = MASK_CHOICE_NONE };
	const struct arg table[] = {
		ARG_FLAG("tokens", 0, &o.tokens, "add the strings of the ids"),
		ARG_FLAG("text", 0, &o.text, "text for people instead of JSON"),
		ARG_STR("vocab", 0, &o.vocab, "FILE", "the vocabulary (default: vocab.txt beside the file)"),
		ARG_UINT("epoch", 0, &o.epoch, 0, UINT32_MAX, "N", "show dynamic masks as epoch N sees them"),
		ARG_UINT("skip", 0, &o.skip, 0, INT64_MAX, "N", "pass over the first N instances or documents"),
		ARG_UINT("count", 0, &o.count, 0, INT64_MAX, "N", "show at most N (default: all)"),
		ARG_GROUP("With --epoch"),
		ARG_MASK_CHOICE(&o.masks),
		ARG_COMMON(&o.common),
		ARG_END
	};
	struct args a = { .synopsis = "bert-cat [options] [PATH...]",
			  .about = "Shows the instances of shards, and token documents, as JSON lines.",
			  .table = table, .common = &o.common, .max_operands = -1 };
	const char *const standard_input = "-";
	struct cat c = { .o = &o };
	int rc = args_parse(&a, argc, argv);

	if (rc != ARGS_RUN)
		return rc;
	tool_start();
	mask_choice_note(&o.masks);
	if (o.masks.given && o.epoch == NO_EPOCH)
		rc = err_usage("how masks are drawn goes with --epoch: without it none are");
	else
		rc = a.n_operands ? cat_all(&c, a.operands, a.n_operands) : cat_all(&c, &standard_input, 1);
	release(&c);
	if (rc)
		return tool_fail();
	return tool_finish("%" PRIu64 " instances and documents", c.shown);
}
