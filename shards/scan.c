/* Reading a framed file whole. */
#include "shards/scan.h"
#include "base/err.h"
#include "base/in.h"
#include "base/pool.h"
#include "shards/canon.h"
#include "shards/keys.h"

#include <assert.h>
#include <inttypes.h>

int scan_place(const struct scan *s, const struct scan_block *b, uint32_t record)
{
	const char *noun = s->kind == SCAN_SHARD ? "instance" : "document";

	if (record == SCAN_BLOCK)
		return err_prefix("'%s': block %" PRIu64, s->name, b->number);
	return err_prefix("'%s': %s %" PRIu64, s->name, noun, b->frame.first_record + record);
}

void scan_stop(struct scan *s)
{
	atomic_store(&s->stop, true);
}

/* --- opening ---------------------------------------------------------------------------- */

static int parse_header(struct scan *s)
{
	const char *kind = frame_reader_kind(s->frame);
	size_t len;
	const char *json = frame_header(s->frame, &len);
	int rc;

	if (!strcmp(kind, SHARD_KIND)) {
		s->kind = SCAN_SHARD;
		rc = shard_header_parse(&s->header, json, len);
	} else if (!strcmp(kind, TOKDOC_KIND)) {
		s->kind = SCAN_TOKENS;
		rc = tokdoc_header_parse(&s->tokens, json, len);
	} else {
		return err_corrupt("'%s' is of kind %s, neither a shard nor token documents", s->name, kind);
	}
	return rc ? err_prefix("'%s': header", s->name) : 0;
}

static int open_file(struct scan *s)
{
	if (!s->in && in_open(&s->in, s->path, s->threads))
		return -1;
	if (frame_open(&s->frame, s->in, NULL)) {	/* the frame's from here on */
		s->in = NULL;
		return -1;
	}
	s->name = frame_name(s->frame);
	return parse_header(s);
}

/* --- reading: one thread at a time --------------------------------------------------------- */

static int add_documents(struct scan *s, const struct scan_block *b)
{
	if (s->instances_begun) {
		err_corrupt("documents after instances");
		return scan_place(s, b, SCAN_BLOCK);
	}
	if (documents_add(&s->documents, &s->header, &b->frame, s->document, s->ctx))
		return scan_place(s, b, SCAN_BLOCK);
	return 0;
}

/* Records of the block must come where block_records says. */
static int begin_instances(struct scan *s, const struct scan_block *b)
{
	if (!s->instances_begun) {
		s->shape = shard_header_shape(&s->header, (uint32_t)s->documents.n);
		s->instances_begun = true;
		if (s->instances && s->instances(s->ctx, s))
			return -1;
	}
	if (b->frame.first_record % s->header.block_records == 0)
		return 0;
	err_corrupt("the block before holds fewer than %" PRIu32 " instances", s->header.block_records);
	return scan_place(s, b, SCAN_BLOCK);
}

static void show_progress(const struct scan *s, const struct scan_block *b)
{
	struct scan_progress *p = s->progress;

	if (p)
		progress_update(&p->line, p->records + b->frame.first_record, p->bytes + in_packed_offset(s->in));
}

static int read_block(void *ctx, void *item)
{
	struct scan *s = ctx;
	struct scan_block *b = item;
	int rc;

	if (atomic_load(&s->stop))
		return 0;
	while ((rc = frame_next(s->frame, &b->frame)) > 0) {
		b->number = s->blocks++;
		if (b->frame.type == 0) {
			show_progress(s, b);
			return s->kind == SCAN_SHARD && begin_instances(s, b) ? -1 : 1;
		}
		if (s->kind == SCAN_SHARD && b->frame.type == SHARD_DOCUMENTS)
			rc = add_documents(s, b);
		else
			rc = s->other ? s->other(s->ctx, s, b) : 0;
		if (rc)
			return -1;
	}
	s->whole = rc == 0;
	return rc;
}

/* --- work: any thread -------------------------------------------------------------------------- */

int scan_next(const struct scan *s, struct scan_block *b, struct tokdoc *d)
{
	const unsigned char *end = (const unsigned char *)b->frame.raw.data + b->frame.raw.len;

	if (!b->left) {
		if (b->at == end)
			return 0;
		err_corrupt("it holds %zu bytes more than its documents", (size_t)(end - b->at));
		return scan_place(s, b, SCAN_BLOCK);
	}
	if (tokdoc_decode(&b->at, end, s->tokens.id_bytes, s->tokens.vocab_size, d))
		return scan_place(s, b, b->frame.records - b->left);
	b->left--;
	tokdoc_totals_count(&b->totals, d);
	return 1;
}

static int work_block(void *ctx, void *item, unsigned worker)
{
	const struct scan *s = ctx;
	struct scan_block *b = item;
	const struct frame_block *f = &b->frame;

	buf_clear(&b->out);
	b->at = (const unsigned char *)f->raw.data;
	b->left = f->records;
	b->totals = (struct tokdoc_totals){ 0 };
	if (s->kind == SCAN_SHARD && instance_block_open(&b->instances, &s->shape, f->raw.data, f->raw.len, f->records))
		return scan_place(s, b, SCAN_BLOCK);
	return s->work(s->ctx, s, b, worker);
}

/* --- results: in order, one thread at a time -------------------------------------------------------- */

static void count_instances(struct shard_totals *t, const struct instance_block *b)
{
	t->instances += b->records;
	t->instance_tokens += b->tokens + b->segments + b->records;
	t->predictions += b->predictions;
	for (uint32_t k = 0; k < b->records; k++)
		t->random_next += b->flags[k] & INSTANCE_RANDOM_NEXT;
}

static int write_block(void *ctx, void *item)
{
	struct scan *s = ctx;
	struct scan_block *b = item;

	assert(s->kind == SCAN_SHARD || !b->left || atomic_load(&s->stop));
	if (s->kind == SCAN_SHARD)
		count_instances(&s->totals, &b->instances);
	else
		tokdoc_totals_add(&s->token_totals, &b->totals);
	return s->write ? s->write(s->ctx, s, b) : 0;
}

/* --- the end ------------------------------------------------------------------------------------------ */

/* What a trailer says, and what there is. */
struct claim {
	const char *what;
	uint64_t says, is;
};

static int check_claims(const struct claim *claims, size_t n)
{
	for (size_t k = 0; k < n; k++)
		if (claims[k].says != claims[k].is)
			return err_corrupt("says %" PRIu64 " %s, there are %" PRIu64, claims[k].says, claims[k].what,
					   claims[k].is);
	return 0;
}

static int check_shard(struct scan *s, const json_t *o)
{
	const struct shard_totals *d = &s->documents.totals, *i = &s->totals;
	struct shard_totals t;

	if (shard_totals_parse(&t, o))
		return -1;
	const struct claim claims[] = {
		{ "documents", t.documents, d->documents },
		{ "sentences", t.sentences, d->sentences },
		{ "tokens", t.tokens, d->tokens },
		{ "bytes of text", t.text_bytes, d->text_bytes },
		{ "empty documents", t.empty_documents, d->empty_documents },
		{ "instances", t.instances, i->instances },
		{ "instances with a random next", t.random_next, i->random_next },
		{ "tokens of instances", t.instance_tokens, i->instance_tokens },
		{ "predictions", t.predictions, i->predictions },
	};
	if (check_claims(claims, sizeof(claims) / sizeof(claims[0])))
		return -1;
	s->totals = t;
	return 0;
}

static int check_tokens(struct scan *s, const json_t *o)
{
	const struct tokdoc_totals *is = &s->token_totals;
	struct tokdoc_totals t;

	if (tokdoc_totals_parse(&t, o))
		return -1;
	const struct claim claims[] = {
		{ "documents", t.documents, is->documents },
		{ "sentences", t.sentences, is->sentences },
		{ "tokens", t.tokens, is->tokens },
		{ "bytes of text", t.text_bytes, is->text_bytes },
	};
	if (check_claims(claims, sizeof(claims) / sizeof(claims[0])))
		return -1;
	return key_compare(t.keys, is->keys) ? err_corrupt("the keys of its documents add up to another sum") : 0;
}

static int check_end(struct scan *s)
{
	size_t len;
	const char *json = frame_totals(s->frame, &len);
	json_t *o = canon_parse(json, len);
	int rc = -1;

	if (o)
		rc = s->kind == SCAN_SHARD ? check_shard(s, o) : check_tokens(s, o);
	json_decref(o);
	s->trailer = *frame_trailer(s->frame);
	return rc ? err_prefix("'%s': trailer", s->name) : 0;
}

static void add_progress(const struct scan *s)
{
	if (!s->progress)
		return;
	s->progress->records += s->kind == SCAN_SHARD ? s->totals.instances : s->token_totals.documents;
	s->progress->bytes += in_packed_offset(s->in);
}

int scan_run(struct scan *s)
{
	const unsigned depth = s->threads > 1 ? 2 * s->threads + 1 : 1;
	struct scan_block *blocks = calloc(depth, sizeof(*blocks));
	struct pool pool = { .threads = s->threads, .depth = depth, .items = blocks, .item_size = sizeof(*blocks),
			     .read = read_block, .work = work_block, .write = write_block, .ctx = s };
	int rc = -1;

	if (!blocks)
		return err_memory();
	if (open_file(s) || (s->begin && s->begin(s->ctx, s)) || pool_run(&pool))
		goto done;
	rc = s->whole ? check_end(s) : 0;
	add_progress(s);
done:
	for (unsigned k = 0; k < depth; k++) {
		frame_block_release(&blocks[k].frame);
		instance_block_release(&blocks[k].instances);
		buf_release(&blocks[k].out);
	}
	free(blocks);
	return rc;
}

void scan_release(struct scan *s)
{
	if (!s)
		return;
	if (!s->frame)
		in_close(s->in);		/* it was given, and never begun with */
	frame_close(s->frame);
	shard_header_release(&s->header);
	tokdoc_header_release(&s->tokens);
	documents_release(&s->documents);
	s->frame = NULL;
	s->in = NULL;
	s->name = NULL;
}

static int nothing(void *ctx, const struct scan *s, struct scan_block *b, unsigned worker)
{
	(void)ctx;
	(void)s;
	(void)b;
	(void)worker;
	return 0;
}

int scan_is_sound(const char *path, unsigned threads)
{
	struct scan s = { .path = path, .threads = threads, .work = nothing };
	int rc = 1;

	if (scan_run(&s))
		rc = err_code() == EXIT_CORRUPT ? 0 : -1;
	scan_release(&s);
	return rc;
}
