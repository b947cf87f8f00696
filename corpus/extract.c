#include "corpus/extract.h"

#include "base/err.h"
#include "base/lines.h"
#include "base/pool.h"
#include "base/utf8.h"
#include "corpus/book.h"
#include "base/jsonl.h"
#include "corpus/tidy.h"

#include <inttypes.h>
#include <stdlib.h>

#define BATCH_BYTES ((size_t)256 << 10)	/* of records; at least one record */
#define BATCHES_A_THREAD 3

/* A record in a batch: offsets into batch.raw. */
struct entry {
	size_t id, title, text, end;
	uint64_t line;
};

struct batch {
	enum record_kind kind;
	const char *path;
	const struct wiki_site *site;
	struct buf raw;
	struct entry *entries;
	size_t n, cap;
	uint64_t offset;		/* of all input, behind this batch */
	struct buf out;
	struct extract_report report;	/* of this batch; its map unused */
};

/* What one thread needs to turn records into text. */
struct worker {
	struct wikitext *wikitext;
	struct buf id, title, text, json;
};

struct extract {
	const struct extract_opts *opts;
	const char *const *files;
	size_t n_files, next_file;
	struct records *records;	/* of the file at hand */
	struct wiki_site *sites;	/* one a file */
	uint64_t offset;		/* bytes on disk of the files before it */
	bool fault;			/* reading failed, for REASON */
	struct err reason;
	struct worker *workers;
	unsigned n_workers;
	struct out *out;
	struct progress *progress;
	struct extract_report *report;
};

/* --- reading ------------------------------------------------------------------ */

static int open_next(struct extract *x)
{
	const size_t i = x->next_file++;

	if (wiki_site_init(&x->sites[i]))
		return -1;
	if (x->opts->lang) {
		wiki_site_set_lang(&x->sites[i], x->opts->lang);
		x->sites[i].lang_is_given = true;
	}
	return records_open(&x->records, x->files[i], x->opts->from, x->opts->threads, &x->sites[i]);
}

static int add_record(struct batch *b, const struct record *r)
{
	struct entry e = { .id = b->raw.len, .line = r->line };

	if (array_grow(&b->entries, &b->cap, b->n + 1, sizeof(*b->entries)) || buf_add(&b->raw, r->id.text, r->id.len))
		return -1;
	e.title = b->raw.len;
	if (buf_add(&b->raw, r->title.text, r->title.len))
		return -1;
	e.text = b->raw.len;
	if (buf_add(&b->raw, r->text.text, r->text.len))
		return -1;
	e.end = b->raw.len;
	b->entries[b->n++] = e;
	return 0;
}

/* Fills a batch from the file at hand: 1, 0 when it has no more, -1 failed. */
static int fill(struct extract *x, struct batch *b)
{
	struct record record;

	while (b->raw.len < BATCH_BYTES) {
		const int rc = records_next(x->records, &record, &b->report.in);

		if (rc < 0)
			return -1;
		if (!rc)
			break;
		if (add_record(b, &record))
			return -1;
	}
	b->offset = x->offset + records_offset(x->records);
	return b->n > 0;
}

static void clear_batch(struct batch *b)
{
	const struct buf names = b->report.dropped.dropped;

	buf_clear(&b->raw);
	buf_clear(&b->out);
	b->n = 0;
	memset(&b->report, 0, sizeof(b->report));
	b->report.dropped.dropped = names;
	buf_clear(&b->report.dropped.dropped);
}

static int read_batch(void *ctx, void *item)
{
	struct extract *x = ctx;
	struct batch *b = item;

	if (x->fault)
		return err_put(&x->reason);
	clear_batch(b);
	while (x->records || x->next_file < x->n_files) {
		int rc;

		if (!x->records && open_next(x))
			return -1;
		b->path = x->files[x->next_file - 1];
		b->kind = records_kind(x->records);
		b->site = &x->sites[x->next_file - 1];
		rc = fill(x, b);
		if (rc < 0 && b->n) {		/* what came before the fault is put out first */
			x->fault = true;
			err_get(&x->reason);
			return 1;
		}
		if (rc)
			return rc;
		x->offset = b->offset;
		records_close(x->records);
		x->records = NULL;
	}
	/* counts of pages that came after the last article */
	return b->report.in.pages || b->report.in.repaired;
}

/* --- turning records into text --------------------------------------------------- */

static struct jsonl_text json_text(struct span s)
{
	return (struct jsonl_text){ s.text, s.len };
}

/* Puts out a document: TEXT has a line a paragraph, each ended by \n. */
static int put_document(const struct extract_opts *o, struct batch *b, struct span id, struct span title, struct span text)
{
	struct extract_report *r = &b->report;
	uint64_t lines = 0;

	if (!text.len) {
		r->empty++;
		return 0;
	}
	for (const char *p = text.text; (p = memchr(p, '\n', (size_t)(text.text + text.len - p))) != NULL; p++)
		lines++;
	r->documents++;
	r->paragraphs += lines;
	if (o->wikitext.count)
		r->characters_out += utf8_count(text.text, text.len) - lines;
	if (o->jsonl)
		return jsonl_put(&b->out, json_text(id), json_text(title), (struct jsonl_text){ text.text, text.len - 1 });
	if (o->title && title.len && (buf_add(&b->out, title.text, title.len) || buf_add_byte(&b->out, '\n')))
		return -1;
	return buf_add(&b->out, text.text, text.len) || buf_add_byte(&b->out, '\n') ? -1 : 0;
}

static struct span whole(const struct buf *b)
{
	return (struct span){ b->data ? b->data : "", b->len };
}

static int put_page(const struct extract_opts *o, struct worker *w, struct batch *b, const struct record *r)
{
	buf_clear(&w->text);
	b->report.articles++;
	if (wikitext_convert(w->wikitext, b->site, r->title, r->text, &w->text, &b->report.dropped))
		return err_prefix("'%s'", b->path);
	return put_document(o, b, r->id, whole(&w->title), whole(&w->text));
}

static int put_book(const struct extract_opts *o, struct worker *w, struct batch *b, const struct record *r)
{
	struct book book;
	unsigned chapter = 0;
	int rc = book_open(&book, r->text.text, r->text.len);

	b->report.in.repaired += book.repaired;
	while (!rc && (rc = book_next(&book, o->wikitext.headings, o->chapters, &w->title, &w->text)) > 0) {
		buf_clear(&w->id);
		rc = buf_add(&w->id, book.id.data, book.id.len);
		if (!rc && o->chapters)
			rc = buf_addf(&w->id, "%s%u", book.id.len ? "-" : "", ++chapter);
		if (!rc)
			rc = put_document(o, b, whole(&w->id), whole(&w->title), whole(&w->text));
	}
	book_close(&book);
	return rc;
}

/* Lines that are paragraphs already. */
static int put_lines(const struct extract_opts *o, struct worker *w, struct batch *b, struct span id, struct span text)
{
	buf_clear(&w->text);
	while (text.len) {
		const size_t n = span_find(text, '\n'), before = w->text.len;

		if (tidy(text.text, n, false, &w->text) || (w->text.len > before && buf_add_byte(&w->text, '\n')))
			return -1;
		text = span_skip(text, n + 1);
	}
	return put_document(o, b, id, whole(&w->title), whole(&w->text));
}

static int put_json(const struct extract_opts *o, struct worker *w, struct batch *b, const struct record *r)
{
	if (jsonl_read(json_text(r->text), &w->id, &w->title, &w->json, &b->report.in.repaired))
		return err_prefix("'%s', line %" PRIu64, b->path, r->line);
	if (o->wikitext.count)
		b->report.characters_in += utf8_count(w->json.data, w->json.len);
	buf_clear(&w->text);
	if (tidy(w->title.data, w->title.len, false, &w->text))		/* a title is one line */
		return -1;
	buf_clear(&w->title);
	if (buf_add(&w->title, w->text.data, w->text.len))
		return -1;
	return put_lines(o, w, b, whole(&w->id), whole(&w->json));
}

static int put_record(const struct extract_opts *o, struct worker *w, struct batch *b, const struct record *r)
{
	buf_clear(&w->title);
	if (tidy(r->title.text, r->title.len, false, &w->title))
		return -1;
	if (o->wikitext.count && b->kind != RECORD_JSONL)
		b->report.characters_in += utf8_count(r->text.text, r->text.len);
	switch (b->kind) {
	case RECORD_MEDIAWIKI: return put_page(o, w, b, r);
	case RECORD_GUTENBERG: return put_book(o, w, b, r);
	case RECORD_JSONL: return put_json(o, w, b, r);
	default: return put_lines(o, w, b, r->id, r->text);
	}
}

static int work_batch(void *ctx, void *item, unsigned worker)
{
	struct extract *x = ctx;
	struct batch *b = item;

	for (size_t i = 0; i < b->n; i++) {
		const struct entry *e = &b->entries[i];
		const char *raw = b->raw.data;
		const struct record r = {
			.id = { raw + e->id, e->title - e->id },
			.title = { raw + e->title, e->text - e->title },
			.text = { raw + e->text, e->end - e->text },
			.line = e->line,
		};

		if (put_record(x->opts, &x->workers[worker], b, &r))
			return -1;
	}
	return 0;
}

/* --- writing ----------------------------------------------------------------------- */

static int write_batch(void *ctx, void *item)
{
	struct extract *x = ctx;
	struct batch *b = item;

	if (out_write(x->out, b->out.data, b->out.len) || extract_report_add(x->report, &b->report))
		return -1;
	if (x->progress)
		progress_update(x->progress, x->report->documents, b->offset);
	return 0;
}

/* --- the run ------------------------------------------------------------------------- */

static int start(struct extract *x)
{
	x->sites = calloc(x->n_files + 1, sizeof(*x->sites));
	x->workers = calloc(x->n_workers, sizeof(*x->workers));
	if (!x->sites || !x->workers)
		return err_memory();
	for (unsigned i = 0; i < x->n_workers; i++)
		if (wikitext_new(&x->workers[i].wikitext, &x->opts->wikitext))
			return -1;
	return 0;
}

static void finish(struct extract *x)
{
	records_close(x->records);
	for (size_t i = 0; x->sites && i < x->n_files; i++)
		wiki_site_release(&x->sites[i]);
	for (unsigned i = 0; x->workers && i < x->n_workers; i++) {
		struct worker *w = &x->workers[i];

		wikitext_free(w->wikitext);
		buf_release(&w->id);
		buf_release(&w->title);
		buf_release(&w->text);
		buf_release(&w->json);
	}
	free(x->sites);
	free(x->workers);
}

int extract_run(const struct extract_opts *opts, const char *const *files, size_t n_files, struct out *out,
		struct progress *progress, struct extract_report *report)
{
	struct extract x = { .opts = opts, .files = files, .n_files = n_files, .out = out, .progress = progress, .report = report };
	struct batch *batches;
	unsigned depth;
	int rc;

	x.n_workers = opts->threads ? opts->threads : 1;
	depth = x.n_workers > 1 ? BATCHES_A_THREAD * x.n_workers : 1;
	batches = calloc(depth, sizeof(*batches));
	if (!batches)
		return err_memory();
	rc = start(&x);
	if (!rc)
		rc = pool_run(&(struct pool){ .threads = x.n_workers, .depth = depth, .items = batches, .item_size = sizeof(*batches),
					      .read = read_batch, .work = work_batch, .write = write_batch, .ctx = &x });
	for (unsigned i = 0; i < depth; i++) {
		buf_release(&batches[i].raw);
		buf_release(&batches[i].out);
		buf_release(&batches[i].report.dropped.dropped);
		free(batches[i].entries);
	}
	free(batches);
	finish(&x);
	return rc;
}
