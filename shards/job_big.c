/*
 * A shard that is larger than memory: the same draws (build.c), but what is drawn is sorted on disk instead of looked
 * up. Its documents are read three times, in the order of their keys:
 *
 *	table		the table of documents; where the ring of keys begins and ends
 *	drafts		every instance whose segments are of one document, with its tokens, to INSTANCES, which sorts them
 *			by their place in the shard; every first segment whose next is random to REQUESTS, by the point of
 *			the ring that was drawn for it; ends of documents that are to be joined to TAILS, by pass and place
 *	join		REQUESTS beside the documents: each meets the one that follows its point, and is finished
 */
#include "shards/job_impl.h"
#include "base/spill.h"
#include "shards/build_impl.h"
#include "shards/docstream.h"
#include "shards/job_table.h"

#include <inttypes.h>

/*
 * A record of INSTANCES: the head, by whose bytes they are sorted, as FORMAT.md says, "Order"; flags and number of
 * segments; the segments; their ids. One of TAILS has its pass before it.
 */
#define HEAD 34
#define AT_KEY 8
#define AT_OCCURRENCE 24
#define AT_PASS 28
#define AT_FLAGS HEAD
#define AT_SEGMENTS (HEAD + 2)
#define SEGMENT 10
#define TAIL 2			/* bytes of the pass before it */
#define BLOCKS_MOST ((uint64_t)12 << 20)	/* memory for blocks of instances on their way into the file */

/* What a record of REQUESTS begins with; the ids of the first segment follow. */
struct request {
	unsigned char point[KEY_BYTES];		/* by which they are sorted */
	struct key key;				/* of the first segment's document */
	uint32_t occurrence, pass, number, first, length, wanted;
	struct rng rng;
};

struct big {
	struct job *j;
	const struct plan *plan;
	const struct job_index *index;
	uint32_t shard;
	unsigned id_bytes;
	size_t memory;			/* of a spill */
	struct docset none;
	struct build build;		/* of no documents: for its workers */
	/* the ring: keys of documents with tokens */
	uint64_t ring_size;
	struct key ring_first, ring_last;
	/* drafts */
	uint64_t ring_seen;		/* up to the document being drafted */
	struct key ring_before, ring_here;
	struct pass pass;
	const unsigned char *ids[2];	/* what the segments are cut from: the ids from token FROM on */
	uint32_t from[2];
	struct spill *requests, *tails, *instances;
	struct buf record;
};

/* --- records ------------------------------------------------------------------------------------ */

static void put_big_endian(unsigned char *out, uint64_t v, unsigned n)
{
	for (unsigned k = 0; k < n; k++)
		out[k] = (unsigned char)(v >> (8 * (n - 1 - k)));
}

static uint32_t get_big_endian(const unsigned char *in, unsigned n)
{
	uint32_t v = 0;

	for (unsigned k = 0; k < n; k++)
		v = v << 8 | in[k];
	return v;
}

static void put_segment(unsigned char *out, const struct stretch *s)
{
	const uint16_t length = (uint16_t)s->length;

	memcpy(out, &s->document, 4);
	memcpy(out + 4, &s->first, 4);
	memcpy(out + 8, &length, 2);
}

static struct instance_segment get_segment(const unsigned char *in)
{
	struct instance_segment s;
	uint16_t length;

	memcpy(&s.document, in, 4);
	memcpy(&s.first, in + 4, 4);
	memcpy(&length, in + 8, 2);
	s.length = length;
	return s;
}

/* Bytes by which records of a spill are sorted: its CTX. */
static const size_t by_head = HEAD, by_point = KEY_BYTES, by_pass_and_head = TAIL + HEAD;

static int compare(const void *a, size_t a_len, const void *b, size_t b_len, void *ctx)
{
	(void)a_len;
	(void)b_len;
	return memcmp(a, b, *(const size_t *)ctx);
}

static int open_spill(const struct big *g, struct spill **s, const size_t *by)
{
	size_t *ctx = (size_t *)(uintptr_t)by;	/* only read */
	const struct spill_opts opts = {
		.memory = g->memory, .folder = g->j->opts.tmp, .threads = (unsigned)g->j->opts.threads,
		.compare = compare, .prefix = spill_prefix_bytes, .ctx = ctx,
	};

	return spill_open(s, &opts);
}

static int add(const struct big *g, struct spill *s)
{
	if (g->record.len <= g->memory / 4)
		return spill_add(s, g->record.data, g->record.len);
	return err_fail("shard %" PRIu32 " is larger than memory, and has a sentence that is too long to be sorted: give more "
			"--memory, or more --shards", g->shard);
}

static struct big *big_of(const struct pass *p)
{
	return p->ctx;
}

static int add_ids(struct big *g, unsigned segment, const struct stretch *s)
{
	return buf_add(&g->record, g->ids[segment] + (size_t)(s->first - g->from[segment]) * g->id_bytes,
		       (size_t)s->length * g->id_bytes);
}

static int keep(struct pass *p, const struct stretch *a, const struct stretch *b, const struct stretch *lead,
		unsigned flags)
{
	struct big *g = big_of(p);
	const bool pair = g->build.shape.pairs, tail = g->tails && flags & DRAFT_TAIL;
	unsigned char head[TAIL + HEAD + 2 + 2 * SEGMENT], *h = head + TAIL;

	put_big_endian(head, p->pass, TAIL);
	put_big_endian(h, build_order(p, lead->first), 8);
	key_put(p->doc->key, h + AT_KEY);
	put_big_endian(h + AT_OCCURRENCE, p->doc->occurrence, 4);
	put_big_endian(h + AT_PASS, p->pass, 2);
	put_big_endian(h + AT_PASS + 2, lead->first, 4);
	h[AT_FLAGS] = flags & INSTANCE_RANDOM_NEXT;
	h[AT_FLAGS + 1] = pair ? 2 : 1;
	put_segment(h + AT_SEGMENTS, a);
	if (pair)
		put_segment(h + AT_SEGMENTS + SEGMENT, b);
	buf_clear(&g->record);
	if (buf_add(&g->record, tail ? head : h, (tail ? TAIL : 0) + AT_SEGMENTS + (pair ? 2 : 1) * SEGMENT) ||
	    add_ids(g, 0, a) || (pair && add_ids(g, 1, b)))
		return -1;
	return add(g, tail ? g->tails : g->instances);
}

/* The least key whose follower on the ring is the document that docset_follow, or docset_at, finds. */
static struct key resolve(const struct big *g, const struct pass *p, uint64_t u)
{
	static const struct key zero = { 0, 0 };
	const struct key own = p->doc->key;
	const bool in_ring = g->ring_seen && !key_compare(g->ring_here, own);
	struct key point = key_point(g->shard, g->plan->shards, u);

	if (key_compare(point, g->ring_last) > 0)
		point = zero;
	if (!p->b->recipe->same_document_next && in_ring && key_compare(point, own) <= 0 &&
	    (g->ring_seen == 1 || key_compare(point, g->ring_before) > 0))
		point = key_compare(own, g->ring_last) ? key_add(own, (struct key){ 0, 1 }) : zero;
	return point;
}

static int follow(struct pass *p, const struct stretch *a, uint64_t u, uint32_t wanted)
{
	struct big *g = big_of(p);
	struct request r;

	memset(&r, 0, sizeof(r));
	key_put(resolve(g, p, u), r.point);
	r.key = p->doc->key;
	r.occurrence = p->doc->occurrence;
	r.pass = p->pass;
	r.number = p->number;
	r.first = a->first;
	r.length = a->length;
	r.wanted = wanted;
	r.rng = p->rng;
	buf_clear(&g->record);
	if (buf_add(&g->record, &r, sizeof(r)) || add_ids(g, 0, a))
		return -1;
	return add(g, g->requests);
}

static const struct build_sink to_disk = { keep, follow };

/* --- reading the documents ------------------------------------------------------------------------- */

/* Calls EACH with every document of the shard, and its number. */
static int for_documents(struct big *g, int (*each)(struct big *g, const struct docset_document *d, void *ctx), void *ctx)
{
	struct docstream *s;
	struct docset_document d;
	int rc;

	if (docstream_open(&s, g->index->files, g->index->n, &g->none))
		return -1;
	g->pass.number = 0;
	for (; (rc = docstream_next(s, &d)) > 0; g->pass.number++) {
		rc = g->pass.number == UINT32_MAX ? err_fail("a shard has more than %u documents", UINT32_MAX)
						  : each(g, &d, ctx);
		if (rc)
			break;
	}
	docstream_close(s);
	return rc;
}

static bool is_on_ring(const struct docset_document *d)
{
	return d->tokens && !d->occurrence;
}

static int tabulate(struct big *g, const struct docset_document *d, void *table)
{
	if (is_on_ring(d)) {
		g->ring_first = g->ring_size++ ? g->ring_first : d->key;
		g->ring_last = d->key;
	}
	return job_table_add(table, d->body, d->len, d->occurrence);
}

static int draft(struct big *g, const struct docset_document *d, void *ctx)
{
	(void)ctx;
	if (is_on_ring(d)) {
		g->ring_before = g->ring_here;
		g->ring_here = d->key;
		g->ring_seen++;
	}
	g->pass.doc = d;
	g->ids[0] = g->ids[1] = d->ids;
	g->from[0] = g->from[1] = 0;
	return build_draft_document(&g->pass);
}

/* --- random nexts ------------------------------------------------------------------------------------- */

/* The request that waits for its document; LEN 0: there is none. */
struct waiting {
	struct request request;
	const unsigned char *ids;
	bool none;
};

static int next_request(struct big *g, struct waiting *w)
{
	const void *record;
	size_t len;
	const int rc = spill_next(g->requests, &record, &len);

	if (rc < 0)
		return -1;
	w->none = !rc;
	if (w->none)
		return 0;
	memcpy(&w->request, record, sizeof(w->request));
	w->ids = (const unsigned char *)record + sizeof(w->request);
	return 0;
}

/* D is what follows W's first segment. */
static int finish_request(struct big *g, const struct waiting *w, const struct docset_document *d, uint32_t number)
{
	const struct request *r = &w->request;
	const struct docset_document own = { .key = r->key, .occurrence = r->occurrence };
	const struct stretch a = { r->number, r->first, r->length };
	struct pass *p = &g->pass;

	p->doc = &own;
	p->pass = r->pass;
	p->rng = r->rng;
	g->ids[0] = w->ids;
	g->from[0] = r->first;
	g->ids[1] = d->ids;
	g->from[1] = 0;
	return build_finish(p, a, build_random(p, d, number, r->wanted), INSTANCE_RANDOM_NEXT);
}

static int join(struct big *g, const struct docset_document *d, void *ctx)
{
	struct waiting *w = ctx;

	if (!is_on_ring(d))
		return 0;
	while (!w->none && key_compare(key_get(w->request.point), d->key) <= 0)
		if (finish_request(g, w, d, g->pass.number) || next_request(g, w))
			return -1;
	return 0;
}

static int finish_requests(struct big *g)
{
	struct waiting w;

	if (spill_sort(g->requests) || next_request(g, &w) || (!w.none && for_documents(g, join, &w)))
		return -1;
	if (!w.none)
		return err_corrupt("the index of shard %" PRIu32 " changed while it was read", g->shard);
	spill_close(g->requests);
	g->requests = NULL;
	return 0;
}

/* --- ends of documents that are joined ---------------------------------------------------------------------- */

/* An instance that may yet grow. */
struct growing {
	unsigned char head[TAIL + HEAD];
	uint32_t segments, room;
	struct buf list, ids;
};

static int close_growing(struct big *g, struct growing *w)
{
	const unsigned char counts[2] = { 0, (unsigned char)w->segments };
	int rc;

	if (!w->segments)
		return 0;
	buf_clear(&g->record);
	rc = buf_add(&g->record, w->head + TAIL, HEAD) || buf_add(&g->record, counts, 2) ||
	     buf_add(&g->record, w->list.data, w->list.len) || buf_add(&g->record, w->ids.data, w->ids.len);
	w->segments = 0;
	buf_clear(&w->list);
	buf_clear(&w->ids);
	return rc ? -1 : add(g, g->instances);
}

/* As join in build_sentences.c. */
static int add_tail(struct big *g, struct growing *w, const unsigned char *record, size_t len)
{
	const unsigned char *segment = record + TAIL + AT_SEGMENTS;
	const uint32_t takes = get_segment(segment).length + 1;

	if (!w->segments || memcmp(w->head, record, TAIL) || takes > w->room || w->segments == INSTANCE_SEGMENTS_MAX) {
		if (close_growing(g, w))
			return -1;
		memcpy(w->head, record, sizeof(w->head));
		w->room = g->j->recipe.max_seq_length - 1;
	}
	w->room -= takes;
	w->segments++;
	if (buf_add(&w->list, segment, SEGMENT))
		return -1;
	return buf_add(&w->ids, segment + SEGMENT, len - TAIL - AT_SEGMENTS - SEGMENT);
}

static int join_tails(struct big *g)
{
	struct growing w = { .list = BUF_INIT, .ids = BUF_INIT };
	const void *record;
	size_t len;
	int rc = spill_sort(g->tails);

	while (!rc && (rc = spill_next(g->tails, &record, &len)) > 0)
		rc = add_tail(g, &w, record, len);
	if (!rc)
		rc = close_growing(g, &w);
	buf_release(&w.list);
	buf_release(&w.ids);
	return rc;
}

/* --- what the file is written from ------------------------------------------------------------------------------ */

static int all_documents(void *ctx, struct job_table *table)
{
	struct big *g = ctx;
	const struct shard_recipe *r = &g->j->recipe;

	if (for_documents(g, tabulate, table))
		return -1;
	g->pass.others = build_has_others(r, g->ring_size);
	if (open_spill(g, &g->instances, &by_head) ||
	    (r->pairs == SHARD_NSP && open_spill(g, &g->requests, &by_point)) ||
	    (r->cross_documents && open_spill(g, &g->tails, &by_pass_and_head)) || for_documents(g, draft, NULL))
		return -1;
	if ((g->requests && finish_requests(g)) || (g->tails && join_tails(g)))
		return -1;
	return spill_sort(g->instances);
}

/* Copies a block of sorted records, each after its length. */
static int read_records(void *ctx, void *block)
{
	const struct big *g = ctx;
	struct job_block *b = block;
	const void *record;
	size_t len;
	int rc = 1;

	buf_clear(&b->in);
	for (b->records = 0; b->records < g->build.shape.block_records; b->records++) {
		rc = spill_next(g->instances, &record, &len);
		if (rc <= 0)
			break;
		if (buf_add(&b->in, &len, sizeof(len)) || buf_add(&b->in, record, len))
			return -1;
	}
	return rc < 0 ? -1 : b->records > 0;
}

/* The instance of RECORD, without masks. */
static void lay(const struct big *g, const unsigned char *record, struct instance *i)
{
	const unsigned char *segments = record + AT_SEGMENTS;
	struct tokdoc ids = { .id_bytes = g->id_bytes };

	i->n_segments = record[AT_FLAGS + 1];
	ids.ids = segments + i->n_segments * SEGMENT;
	i->flags = record[AT_FLAGS];
	i->pass = get_big_endian(record + AT_PASS, 2);
	i->predictions = 0;
	i->ids[0] = g->build.shape.cls;
	i->n = 1;
	for (uint32_t s = 0, at = 0; s < i->n_segments; s++) {
		i->segments[s] = get_segment(segments + s * SEGMENT);
		tokdoc_ids(&ids, at, i->segments[s].length, i->ids + i->n);
		at += i->segments[s].length;
		i->n += i->segments[s].length;
		i->ids[i->n++] = g->build.shape.sep;
	}
}

static int make_records(void *ctx, void *block, unsigned worker)
{
	struct big *g = ctx;
	struct job_block *b = block;
	struct build_worker *w = &g->build.workers[worker];
	size_t len;

	for (size_t at = 0; at < b->in.len; at += len) {
		const unsigned char *record = (const unsigned char *)b->in.data + at + sizeof(len);

		memcpy(&len, b->in.data + at, sizeof(len));
		lay(g, record, &w->instance);
		build_mask(&g->build, worker, key_get(record + AT_KEY), get_big_endian(record + AT_OCCURRENCE, 4));
		build_put(&g->build, worker);
		len += sizeof(len);
	}
	return instance_columns_flush(&w->columns, (int)g->j->opts.compress, &b->raw, &b->packed);
}

/* Two spills are open at a time, beside a stream of documents. */
static int share_memory(struct big *g)
{
	const uint64_t budget = job_budget(g->j), stream = docstream_memory(g->index->n);
	const uint64_t blocks = budget / 6 < BLOCKS_MOST ? budget / 6 : BLOCKS_MOST;

	if (stream > budget / 2)
		return err_fail("shard %" PRIu32 " is larger than memory, and its index has %" PRIu32
				" parts: give --memory %" PRIu64 "M, or more --shards",
				g->shard, g->index->n, ((2 * stream + 2 * job_reserve(g->j)) >> 20) + 1);
	g->memory = (size_t)((budget - stream - blocks) / 2);
	return 0;
}

int job_write_big(struct job *j, const struct plan *p, const struct job_index *x, uint32_t shard)
{
	const struct vocab *vocab = tokenizer_vocab(j->tokenizer);
	struct big g = {
		.j = j, .plan = p, .index = x, .shard = shard, .id_bytes = vocab_id_bytes(vocab), .record = BUF_INIT
	};
	const struct job_source source = {
		.documents = all_documents, .read = read_records, .make = make_records, .ctx = &g, .build = &g.build
	};
	int rc = -1;

	docset_init(&g.none, shard, p->shards, g.id_bytes, j->recipe.vocab_size, 0);
	if (!share_memory(&g) && !build_init(&g.build, &j->recipe, vocab, &g.none, (unsigned)j->opts.threads, 0)) {
		g.pass = (struct pass){ .b = &g.build, .worker = &g.build.workers[0], .sink = &to_disk, .ctx = &g };
		rc = job_write_file(j, p, shard, &source);
	}
	spill_close(g.requests);
	spill_close(g.tails);
	spill_close(g.instances);
	buf_release(&g.record);
	build_release(&g.build);
	docset_release(&g.none);
	return rc;
}
