/* From an instance to its text. */
#include "shards/trace.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/in.h"
#include "base/jsonl_documents.h"
#include "base/pool.h"
#include "shards/described.h"
#include "shards/folder.h"
#include "shards/shard.h"
#include "shards/tokdoc_encoder.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* --- the shard's side -------------------------------------------------------------------------- */

static char *copy_name(const char *text, size_t len)
{
	char *copy = len ? malloc(len) : NULL;

	return copy ? memcpy(copy, text, len) : NULL;
}

static int take_document(struct trace_segment *s, const struct shard_document *d)
{
	s->key = d->key;
	s->occurrence = d->occurrence;
	s->id = copy_name(d->id, d->id_len);
	s->id_len = d->id_len;
	s->title = copy_name(d->title, d->title_len);
	s->title_len = d->title_len;
	s->tokens = d->tokens;
	s->sentences = d->sentences;
	return (d->id_len && !s->id) || (d->title_len && !s->title) ? err_memory() : 0;
}

/* The entries of block B, whose first one is document FIRST, into the segments that are of them. */
static int take_documents(struct trace *t, const struct frame_block *b, const struct instance *i, uint64_t first)
{
	const unsigned char *p = (const unsigned char *)b->raw.data, *end = p + b->raw.len;
	struct shard_document d;

	for (uint64_t k = first; k < first + b->records; k++) {
		if (shard_document_decode(&p, end, &d))
			return -1;
		for (uint32_t s = 0; s < t->n_segments; s++)
			if (i->segments[s].document == k && take_document(&t->segments[s], &d))
				return -1;
	}
	return 0;
}

static int find_documents(struct trace *t, const struct shard *s, const struct instance *i)
{
	struct frame_block b = FRAME_BLOCK_INIT;
	const uint64_t blocks = shard_document_blocks(s);
	uint64_t first = 0;
	int rc = 0;

	t->segments = calloc(i->n_segments, sizeof(*t->segments));
	if (!t->segments)
		return err_memory();
	t->n_segments = i->n_segments;
	for (uint32_t k = 0; k < i->n_segments; k++) {
		t->segments[k].first = i->segments[k].first;
		t->segments[k].length = i->segments[k].length;
	}
	for (uint64_t k = 0; k < blocks && !rc; k++) {
		rc = shard_read_documents(s, k, &b) || take_documents(t, &b, i, first) ? -1 : 0;
		first += b.records;
	}
	frame_block_release(&b);
	return rc;
}

/* Instance NUMBER of shard S, and whose it is. */
static int find_instance(struct trace *t, const struct shard *s, uint64_t number)
{
	const uint32_t records = shard_header(s)->block_records;
	struct frame_block frame = FRAME_BLOCK_INIT;
	struct instance_block block = INSTANCE_BLOCK_INIT;
	struct instance i = { 0 };
	int rc = -1;

	if (!instance_init(&i, shard_shape(s)) && !shard_read(s, number / records, &frame, &block)) {
		instance_block_get(&block, (uint32_t)(number % records), &i);
		rc = find_documents(t, s, &i);
	}
	instance_release(&i);
	instance_block_release(&block);
	frame_block_release(&frame);
	return rc;
}

/* What the tokens were made by. *TOKENIZER NULL: the vocabulary is not there, or more was asked of the tokenizer than can be asked here. */
static int open_tokenizer(const struct trace *t, const struct shard *s, const char *path, struct tokenizer **tokenizer)
{
	const json_t *is = shard_header(s)->recipe.tokenizer;
	const char *slash = strrchr(path, '/'), *vocab;
	char beside[4096];
	json_t *made;
	int rc;

	snprintf(beside, sizeof(beside), "%.*s%s", slash ? (int)(slash - path + 1) : 0, path, FOLDER_VOCAB);
	vocab = t->vocab_path ? t->vocab_path : beside;
	rc = described_open(tokenizer, vocab, is, false);
	if (rc)
		return t->vocab_path ? -1 : 0;
	made = tokenizer_describe(*tokenizer);
	if (!made || !json_equal(made, is)) {
		tokenizer_close(*tokenizer);
		*tokenizer = NULL;
	}
	json_decref(made);
	return made && (*tokenizer || !t->vocab_path) ? 0
		: err_fail("'%s' is not the vocabulary, or not all, that '%s' was made with", vocab, path);
}

static int look_up(struct trace *t, struct tokenizer **tokenizer, bool *google)
{
	struct folder_set set = { .n = 0 };
	char **paths;
	size_t n;
	uint64_t left = t->number, all = 0;
	bool found = false;
	int rc = 0;

	if (folder_shards(t->path, &paths, &n))
		return -1;
	set.n = folder_is(t->path) ? n : 0;
	for (size_t k = 0; k < n && !rc && !found; k++) {
		struct shard *s;

		rc = shard_open(&s, paths[k]);
		if (rc)
			break;
		rc = folder_set_check(&set, paths[k], k, shard_header(s));
		if (rc) {
			shard_close(s);
			break;
		}
		found = left < shard_instances(s);
		if (found)
			*google = shard_header(s)->recipe.rules == SHARD_GOOGLE;
		if (found)
			rc = find_instance(t, s, left) || open_tokenizer(t, s, paths[k], tokenizer) ? -1 : 0;
		left -= found ? 0 : shard_instances(s);
		all += shard_instances(s);
		shard_close(s);
	}
	folder_set_release(&set);
	fs_free_names(paths, n);
	if (!rc && !found)
		rc = err_fail("'%s' has %" PRIu64 " instances: no instance %" PRIu64, t->path, all, t->number);
	return rc;
}

/* --- the text's side -------------------------------------------------------------------------------- */

struct search {
	struct trace *t;
	struct tokenizer *tokenizer;
	size_t first, n;		/* of the files: a run of text */
	unsigned parts;
	bool jsonl;
	bool keep_marks;		/* as bert-shard read the text: keys depend on it */
	pthread_mutex_t lock;		/* of the places */
};

/* A document with the place of each line. */
struct placed {
	struct buf text;		/* as struct document's */
	uint64_t *ends, *offsets, *stops;
	unsigned *files;
	size_t n, cap_ends, cap_offsets, cap_stops, cap_files;
};

static int placed_add(struct placed *d, const struct line *l)
{
	if (buf_add(&d->text, l->text, l->len) || buf_add_byte(&d->text, '\n') ||
	    array_grow(&d->ends, &d->cap_ends, d->n + 1, sizeof(*d->ends)) ||
	    array_grow(&d->offsets, &d->cap_offsets, d->n + 1, sizeof(*d->offsets)) ||
	    array_grow(&d->stops, &d->cap_stops, d->n + 1, sizeof(*d->stops)) ||
	    array_grow(&d->files, &d->cap_files, d->n + 1, sizeof(*d->files)))
		return -1;
	d->ends[d->n] = d->text.len;
	d->offsets[d->n] = l->offset;
	d->stops[d->n] = l->offset + l->len;
	d->files[d->n++] = l->file;
	return 0;
}

static void placed_clear(struct placed *d)
{
	buf_clear(&d->text);
	d->n = 0;
}

static void placed_release(struct placed *d)
{
	buf_release(&d->text);
	free(d->ends);
	free(d->offsets);
	free(d->stops);
	free(d->files);
}

static int add_place(struct search *s, struct trace_segment *segment, const struct trace_place *place)
{
	int rc;

	pthread_mutex_lock(&s->lock);
	rc = array_grow(&segment->places, &segment->cap_places, segment->n_places + 1, sizeof(*place));
	if (!rc)
		segment->places[segment->n_places++] = *place;
	pthread_mutex_unlock(&s->lock);
	return rc;
}

/* The lines of D that hold the tokens of SEGMENT. */
static int find_lines(const struct search *s, const struct placed *d, const struct trace_segment *segment,
		      struct trace_place *place)
{
	struct tokdoc_encoder e = { .encoder = NULL };
	uint64_t before = 0;
	bool begun = false;
	int rc = tokdoc_encoder_open(&e, s->tokenizer, 0);

	if (!rc)
		rc = tokdoc_encoder_run(&e, d->text.data, d->n ? d->ends[d->n - 1] : 0, segment->key);
	for (size_t k = 0; k < d->n && !rc; before += e.doc.lengths[k++]) {
		const uint64_t after = before + e.doc.lengths[k];

		if (after <= segment->first || before >= segment->first + segment->length)
			continue;
		if (!begun) {
			place->segment_first = d->offsets[k];
			place->segment_file = s->t->files[s->first + d->files[k]];
		}
		begun = true;
		place->segment_end = d->stops[k];
	}
	tokdoc_encoder_close(&e);
	return rc;
}

static int look_at(struct search *s, const struct placed *d)
{
	struct key key;

	if (!d->n)
		return 0;
	key = key_of(d->text.data, d->text.len - 1);
	for (uint32_t k = 0; k < s->t->n_segments; k++) {
		struct trace_segment *segment = &s->t->segments[k];
		struct trace_place place = { .file = s->t->files[s->first + d->files[0]], .first = d->offsets[0],
					     .end = d->stops[d->n - 1] };

		if (key_compare(segment->key, key))
			continue;
		if ((s->tokenizer && find_lines(s, d, segment, &place)) || add_place(s, segment, &place))
			return -1;
	}
	return 0;
}

static int search_lines(struct search *s, struct lines *l)
{
	struct placed d = { .text = BUF_INIT };
	struct line line;
	int rc;

	while ((rc = lines_next(l, &line)) > 0) {
		if (!line.blank) {
			rc = placed_add(&d, &line);
		} else {
			rc = look_at(s, &d);
			placed_clear(&d);
		}
		if (rc)
			break;
	}
	if (!rc)
		rc = look_at(s, &d);
	placed_release(&d);
	return rc;
}

/* The document D of a line of LEN bytes, which is where it stands: what is inside has no bytes of its own there. */
static int look_at_json(struct search *s, const struct document *d, size_t len)
{
	const struct trace_place place = { .file = s->t->files[s->first + d->file], .first = d->offset, .end = d->offset + len };

	for (uint32_t k = 0; k < s->t->n_segments; k++)
		if (!key_compare(s->t->segments[k].key, d->key) && add_place(s, &s->t->segments[k], &place))
			return -1;
	return 0;
}

static int search_json(struct search *s, struct lines *l)
{
	const struct jsonl_how how = { .keep_marks = s->keep_marks };
	struct document line = DOCUMENT_INIT;
	struct jsonl j = JSONL_INIT;
	uint64_t repaired = 0;
	int rc;

	while ((rc = lines_next_document(l, &line)) > 0) {
		const size_t len = line.text.len - 1;

		rc = jsonl_document(&j, &line, lines_name(l, line.file), &how, &repaired);
		if (!rc && line.n_lines)
			rc = look_at_json(s, &line, len);
		if (rc)
			break;
	}
	document_release(&line);
	jsonl_release(&j);
	return rc;
}

static int search_part(void *ctx, size_t part, unsigned worker)
{
	struct search *s = ctx;
	struct lines_opts opts = { .form = s->jsonl ? LINES_JSON : LINES_TEXT, .threads = 1, .keep_marks = s->keep_marks };
	struct lines *l;
	int rc;

	(void)worker;
	if ((s->parts > 1 && lines_divide(s->t->files + s->first, s->n, part, s->parts, &opts)) ||
	    lines_open(&l, s->t->files + s->first, s->n, &opts))
		return -1;
	rc = s->jsonl ? search_json(s, l) : search_lines(s, l);
	lines_close(l);
	return rc;
}

static int by_place(const void *a, const void *b)
{
	const struct trace_place *x = a, *y = b;
	const int rc = strcmp(x->file, y->file);

	return rc ? rc : x->first < y->first ? -1 : x->first > y->first;
}

/* Token documents: which number. */
static int search_tokens(struct search *s, const char *path)
{
	struct tokdoc_reader *r;
	struct tokdoc d = TOKDOC_INIT;
	struct in *in;
	uint64_t number = 0;
	int rc;

	if (in_open(&in, path, s->t->threads) || tokdoc_reader_open(&r, in))
		return -1;
	for (; (rc = tokdoc_reader_next(r, &d)) > 0; number++) {
		const struct trace_place place = { .file = path, .tokens = true, .first = number };

		for (uint32_t k = 0; k < s->t->n_segments && rc > 0; k++)
			if (!key_compare(s->t->segments[k].key, d.key) && add_place(s, &s->t->segments[k], &place))
				rc = -1;
		if (rc < 0)
			break;
	}
	tokdoc_release(&d);
	tokdoc_reader_close(r);
	return rc;
}

/* What a file is. */
struct form {
	bool tokens, packed, jsonl;
};

static int look_at_file(const char *path, int from, struct form *form)
{
	struct in *in;
	char head[64];
	ssize_t n;

	if (in_open(&in, path, 1))
		return -1;
	*form = (struct form){ .tokens = frame_sniff(in), .packed = in_is_packed(in), .jsonl = from == TRACE_JSONL };
	n = from == TRACE_AUTO ? in_peek(in, head, sizeof(head)) : 0;
	form->jsonl = form->jsonl || (n > 0 && jsonl_begins((struct jsonl_text){ head, (size_t)n }));
	in_close(in);
	return n < 0 ? -1 : 0;
}

/* Text files that stand side by side are one text, as bert-shard reads them. */
static int search_files(struct search *s)
{
	struct trace *t = s->t;
	struct form form = { 0 };

	for (size_t k = 0; k < t->n_files; k += s->n) {
		bool packed = false;

		s->first = k;
		s->n = 0;
		while (k + s->n < t->n_files) {
			if (look_at_file(t->files[k + s->n], t->from, &form))
				return -1;
			if (form.tokens || (s->n && form.jsonl != s->jsonl))
				break;
			packed = packed || form.packed;
			s->jsonl = form.jsonl;
			s->n++;
		}
		s->parts = packed || s->keep_marks || t->threads <= 1 ? 1 : 4 * t->threads;
		if (s->n ? pool_for(t->threads, s->parts, search_part, s) : search_tokens(s, t->files[k]))
			return -1;
		s->n += !s->n;
	}
	return 0;
}

int trace_run(struct trace *t)
{
	struct search s = { .t = t, .lock = PTHREAD_MUTEX_INITIALIZER };
	int rc = look_up(t, &s.tokenizer, &s.keep_marks);

	if (!rc)
		rc = search_files(&s);
	for (uint32_t k = 0; k < t->n_segments; k++)
		if (t->segments[k].n_places)
			qsort(t->segments[k].places, t->segments[k].n_places, sizeof(*t->segments[k].places), by_place);
	tokenizer_close(s.tokenizer);
	return rc;
}

void trace_release(struct trace *t)
{
	if (!t)
		return;
	for (uint32_t k = 0; k < t->n_segments; k++) {
		free(t->segments[k].id);
		free(t->segments[k].title);
		free(t->segments[k].places);
	}
	free(t->segments);
	t->segments = NULL;
	t->n_segments = 0;
}
