#include "base/lines_impl.h"

#include "base/err.h"
#include "base/in.h"
#include "base/jsonl.h"
#include "base/stretch.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define BLOCK_BYTES ((size_t)256 << 10)
#define READ_MIN ((size_t)64 << 10)	/* room to read into */
#define STEP_LEAST ((size_t)32)	/* bytes read at once beyond a stretch */
#define CHECK_AHEAD ((size_t)4 << 10)	/* bytes beyond a line whose UTF-8 is checked with it */

/* A line in the window that is not taken yet. */
struct raw {
	size_t at, len;		/* buffer[at..at+len), without mark, CR and newline */
	size_t next;		/* where the next one begins */
	uint64_t offset;	/* of buffer[at] */
	uint64_t place;		/* of the line, mark included, in the joined files */
};

/* --- opening ------------------------------------------------------------------- */

static const char *const standard_input[] = { "-" };

/* Standard input has an end only once. */
static int check_names(const char *const *files, size_t n_files)
{
	size_t standard = 0;

	for (size_t i = 0; i < n_files; i++)
		standard += !strcmp(files[i], "-");
	return standard > 1 ? err_usage("standard input ('-') is given %zu times", standard) : 0;
}

static void measure(struct lines *l)
{
	l->disk_known = true;
	for (size_t i = 0; i < l->n_files; i++) {
		struct stat st;

		if (!strcmp(l->files[i], "-") || stat(l->files[i], &st) || !S_ISREG(st.st_mode))
			l->disk_known = false;
		else
			l->disk_total += (uint64_t)st.st_size;
	}
}

static int open_stretch(struct lines *l, const struct lines_opts *opts, const char *const *files, size_t n_files)
{
	struct stretch s = { 0 };
	uint64_t total;

	if (stretch_total(files, n_files, &total))
		return -1;
	l->has_stretch = true;
	l->begin = opts->begin;
	l->stop = opts->end;
	l->disk_known = true;
	l->disk_total = total < l->stop ? total : l->stop;
	l->disk_total = l->disk_total > l->begin ? l->disk_total - l->begin : 0;
	if (l->begin == 0)
		return 0;
	if (stretch_find(files, n_files, l->begin, &s))
		return -1;
	l->skipping = true;
	l->passing = s.inside;
	l->file = s.file;
	l->base = s.base;
	l->offset = s.offset;
	l->unnumbered = s.offset > 0;
	return s.file < n_files ? in_open_at(&l->in, files[s.file], s.offset) : 0;
}

static struct lines *new_reader(const struct lines_opts *opts)
{
	struct lines *l = calloc(1, sizeof(*l));

	if (l)
		l->buffer = malloc(BLOCK_BYTES);
	if (!l || !l->buffer) {
		free(l);
		err_memory();
		return NULL;
	}
	l->cap = BLOCK_BYTES;
	l->fresh = true;
	l->scan = clean_text_best();
	l->strict = opts->strict;
	l->longest = opts->longest;
	l->form = opts->form;
	l->keep_marks = opts->keep_marks && opts->form != LINES_JSON;
	l->document_per_file = opts->document_per_file;
	l->threads = opts->threads ? opts->threads : 1;
	return l;
}

int lines_open(struct lines **result, const char *const *files, size_t n_files, const struct lines_opts *opts)
{
	struct lines *l;

	*result = NULL;
	if (check_names(files, n_files))
		return -1;
	l = new_reader(opts);
	if (!l)
		return -1;
	l->files = n_files ? files : standard_input;
	l->n_files = n_files ? n_files : 1;
	if (!opts->begin && !opts->end) {
		measure(l);
	} else if (open_stretch(l, opts, files, n_files)) {
		lines_close(l);
		return -1;
	}
	*result = l;
	return 0;
}

int lines_open_stream(struct lines **result, struct in *in, const struct lines_opts *opts)
{
	struct lines *l = NULL;

	*result = NULL;
	if (opts->begin || opts->end)
		err_usage("cannot read a part of '%s'", in_name(in));
	else if (opts->form != LINES_NO_JSON || !jsonl_refuse(in))
		l = new_reader(opts);
	if (!l) {
		in_close(in);
		return -1;
	}
	l->single[0] = in_name(in);
	l->files = l->single;
	l->n_files = 1;
	l->in = in;
	l->offset = in_offset(in);
	l->disk_total = in_packed_size(in);
	l->disk_known = l->disk_total > 0;
	*result = l;
	return 0;
}

int lines_divide(const char *const *files, size_t n_files, uint64_t part, uint64_t parts, struct lines_opts *opts)
{
	uint64_t total;

	if (stretch_total(files, n_files, &total))
		return -1;
	opts->begin = (uint64_t)((unsigned __int128)total * part / parts);
	opts->end = (uint64_t)((unsigned __int128)total * (part + 1) / parts);
	if (opts->end == 0)
		opts->begin = opts->end = UINT64_MAX;	/* nothing, since (0, 0) means all */
	return 0;
}

static int open_file(struct lines *l)
{
	const char *path = l->files[l->file];

	if (l->has_stretch ? in_open_at(&l->in, path, 0) : in_open(&l->in, path, l->threads))
		return -1;
	l->offset = 0;
	if (l->document_per_file)
		l->fresh = true;
	return l->form == LINES_NO_JSON ? jsonl_refuse(l->in) : 0;
}

static void end_file(struct lines *l)
{
	l->base += l->offset;
	l->disk_done += in_packed_offset(l->in);
	in_close(l->in);
	l->in = NULL;
	l->offset = 0;
	l->in_ended = l->unnumbered = false;
	l->number = 0;
	l->pos = l->end = l->scanned = l->checked = 0;
	l->file++;
}

/* --- finding lines --------------------------------------------------------------- */

static size_t shifted(size_t index, size_t by)
{
	return index > by ? index - by : 0;
}

static int refuse(struct lines *l, unsigned file, uint64_t offset, uint64_t bytes)
{
	l->refused = (struct lines_refused){ file, offset, bytes };
	return err_fail("'%s': the document at byte %" PRIu64 " is too long: %" PRIu64 " bytes", l->files[file], offset, bytes);
}

/* The line that fills the window: what is left of it is read, and not kept. */
static int refuse_line(struct lines *l)
{
	const char *newline = NULL;
	uint64_t bytes = l->end - l->pos;
	ssize_t got = 1;

	while (!newline && (got = in_read_some(l->in, l->buffer, BLOCK_BYTES)) > 0) {
		newline = memchr(l->buffer, '\n', (size_t)got);
		bytes += newline ? (uint64_t)(newline - l->buffer) : (uint64_t)got;
	}
	return got < 0 ? -1 : refuse(l, (unsigned)l->file, l->offset, bytes);
}

/*
 * How many bytes to read at once. Of a stretch no more than it has, so that parts that are many read no byte twice; beyond it
 * the end of its last document is wanted, which comes in steps that grow, so that they are few and a third of them is in vain at most.
 */
static size_t read_size(const struct lines *l)
{
	const size_t free_bytes = l->cap - l->end - 1, room = free_bytes < BLOCK_BYTES ? free_bytes : BLOCK_BYTES;
	const uint64_t place = l->base + l->offset + (l->end - l->pos);
	uint64_t size = room;

	if (l->has_stretch && place < l->stop)
		size = l->stop - place;
	else if (l->has_stretch)
		size = (place - l->stop) / 2 > STEP_LEAST ? (place - l->stop) / 2 : STEP_LEAST;
	return size < room ? (size_t)size : room;
}

/* Reads on, keeping what is in the window. A line that fills the buffer doubles it. Little is read beyond a giant. */
static int fill(struct lines *l)
{
	ssize_t got;

	if (l->longest && l->end - l->pos > l->longest)
		return refuse_line(l);
	if (l->pos) {
		memmove(l->buffer, l->buffer + l->pos, l->end - l->pos);
		l->scanned = shifted(l->scanned, l->pos);
		l->checked = shifted(l->checked, l->pos);
		l->end -= l->pos;
		l->pos = 0;
	}
	if (l->cap - l->end <= READ_MIN && array_grow(&l->buffer, &l->cap, l->cap + 1, 1))
		return -1;
	got = in_read_some(l->in, l->buffer + l->end, read_size(l));
	if (got < 0)
		return -1;
	l->end += (size_t)got;
	l->in_ended = got == 0;
	return 0;
}

/*
 * Whether nothing of the stretch is to come, whatever ends the line at pos, of which no newline was read. A line that
 * is not ours leaves none for us when it reaches the stretch's end, and once ours are given, a document that begins beyond it ends them.
 */
static bool is_past(const struct lines *l)
{
	const uint64_t place = l->base + l->offset;
	const bool could_begin = l->fresh && !l->passing;

	if (l->skipping)
		return place + (l->end - l->pos) >= l->stop && !(could_begin && place >= l->begin && place < l->stop);
	return place >= l->stop && could_begin &&
	       (l->form == LINES_JSON || (l->pos < l->end && stretch_never_space((unsigned char)l->buffer[l->pos])));
}

/* The newline that ends the line at pos, NULL when the file ends first, or the stretch does (done); -1 failed. */
static int find_newline(struct lines *l, const char **newline)
{
	for (;;) {
		const size_t from = l->scanned > l->pos ? l->scanned : l->pos;

		*newline = memchr(l->buffer + from, '\n', l->end - from);
		l->scanned = l->end;
		if (*newline || l->in_ended)
			return 0;
		l->done = l->has_stretch && is_past(l);
		if (l->done)
			return 0;
		if (fill(l))
			return -1;
	}
}

/* The line at pos: 1, 0 when the file has no more, -1 failed. */
static int find_line(struct lines *l, struct raw *r)
{
	const char *newline;
	bool marked;

	if (find_newline(l, &newline))
		return -1;
	r->at = l->pos;
	r->len = (newline ? (size_t)(newline - l->buffer) : l->end) - l->pos;
	r->next = l->pos + r->len + (newline != NULL);
	r->offset = l->offset;
	r->place = l->base + l->offset;
	l->scanned = r->next;
	marked = !l->keep_marks && !l->passing && r->len >= MARK_LEN && !memcmp(l->buffer + r->at, MARK, MARK_LEN);
	if (marked) {
		r->at += MARK_LEN;
		r->len -= MARK_LEN;
		r->offset += MARK_LEN;
	}
	if (!newline && !r->len && (!marked || l->offset == 0)) {	/* a file of a mark alone has no line */
		l->bytes += r->offset - l->offset;
		l->offset = r->offset;
		return 0;
	}
	if (r->len && l->buffer[r->at + r->len - 1] == '\r')
		r->len--;
	return 1;
}

static void take_line(struct lines *l, const struct raw *r)
{
	l->bytes += r->next - l->pos;
	l->offset += r->next - l->pos;
	l->pos = r->next;
	l->number++;
}

/* Checks some lines at once, so that short ones cost no call each. */
static bool is_valid(struct lines *l, const struct raw *r)
{
	const size_t end = r->at + r->len;

	if (l->checked < r->at)
		l->checked = r->at;
	if (l->checked < end) {
		const size_t ahead = l->end - end < CHECK_AHEAD ? l->end : end + CHECK_AHEAD;

		l->checked += utf8_valid_prefix(l->buffer + l->checked, ahead - l->checked);
	}
	return l->checked >= end;
}

static int repair(struct lines *l, const struct raw *r, struct line *line)
{
	const char *text = l->buffer + r->at;
	const uint64_t at = l->strict || !l->bad_name ? r->offset + utf8_valid_prefix(text, r->len) : 0;

	if (l->strict)
		return err_corrupt("'%s': ill-formed UTF-8 at byte %" PRIu64, in_name(l->in), at);
	if (!l->bad_name) {
		l->bad_at = at;
		l->bad_name = strdup(in_name(l->in));
		if (!l->bad_name)
			return err_memory();
	}
	buf_clear(&l->repaired);
	if (utf8_repair(text, r->len, &l->repaired, &l->bad))
		return -1;
	line->text = l->repaired.data;
	line->len = l->repaired.len;
	return 0;
}

/* Whether the stretch wants this line, which begins a document or not. */
static bool is_wanted(struct lines *l, uint64_t place, bool begins)
{
	if (l->skipping && begins && place >= l->begin)
		l->skipping = false;
	if (place >= l->stop && (l->skipping || begins))
		l->done = true;
	return !l->skipping && !l->done;
}

/* Takes the line at pos, and gives it if it is wanted: 1 given, 0 not, -1 failed. */
static int give_line(struct lines *l, const struct raw *r, struct line *line)
{
	const bool valid = is_valid(l, r);
	bool begins;

	line->text = l->buffer + r->at;
	line->len = r->len;
	line->offset = r->offset;
	line->file = (unsigned)l->file;
	line->blank = valid && is_blank(line->text, line->len);
	begins = !line->blank && l->fresh;
	l->fresh = line->blank || l->form == LINES_JSON;
	take_line(l, r);
	line->number = l->form == LINES_JSON && !l->unnumbered ? l->number : 0;
	if (l->has_stretch && !is_wanted(l, r->place, begins))
		return 0;
	l->buffer[r->at + r->len] = 0;
	return valid || repair(l, r, line) == 0 ? 1 : -1;
}

int lines_next(struct lines *l, struct line *line)
{
	int rc = 0;

	if (l->pushed) {
		l->pushed = false;
		*line = l->last;
		return 1;
	}
	while (rc == 0 && !l->done) {
		struct raw r;

		if (!l->in && l->file == l->n_files)
			return 0;
		l->done = !l->in && l->has_stretch && is_past(l);
		if (l->done)
			return 0;
		if (!l->in && open_file(l))
			return -1;
		rc = find_line(l, &r);
		if (rc < 0)
			return -1;
		if (l->done)
			return 0;
		if (rc == 0) {
			end_file(l);
		} else if (l->passing) {
			l->passing = false;
			l->fresh = l->form == LINES_JSON;
			take_line(l, &r);
			rc = 0;
		} else {
			rc = give_line(l, &r, line);
		}
	}
	return rc;
}

/* --- documents ------------------------------------------------------------------- */

static int add_line(struct document *doc, const char *text, size_t len)
{
	if (array_grow(&doc->ends, &doc->cap_lines, doc->n_lines + 1, sizeof(*doc->ends)) ||
	    buf_reserve(&doc->text, len + 1))
		return -1;
	memcpy(doc->text.data + doc->text.len, text, len);
	doc->text.len += len;
	doc->text.data[doc->text.len++] = '\n';
	doc->text.data[doc->text.len] = 0;
	doc->ends[doc->n_lines++] = doc->text.len;
	return 0;
}

/* A line that is DOC's first becomes its text, with the memory that it is in; the window is a small one again. */
static int take_giant(struct lines *l, struct document *doc, const struct line *line)
{
	const size_t rest = l->end - l->pos, cap = rest + 1 > BLOCK_BYTES ? rest + 1 : BLOCK_BYTES;
	char *window = malloc(cap);

	if (!window)
		return err_memory();
	memcpy(window, l->buffer + l->pos, rest);
	buf_release(&doc->text);
	if (line->text == l->repaired.data) {
		free(l->buffer);
		doc->text = l->repaired;
		l->repaired = (struct buf)BUF_INIT;
	} else {
		memmove(l->buffer, line->text, line->len);
		doc->text = (struct buf){ l->buffer, line->len, l->cap - 1 };
	}
	l->buffer = window;
	l->cap = cap;
	l->scanned = shifted(l->scanned, l->pos);
	l->checked = shifted(l->checked, l->pos);
	l->end = rest;
	l->pos = 0;
	if (buf_add_byte(&doc->text, '\n') || array_grow(&doc->ends, &doc->cap_lines, 1, sizeof(*doc->ends)))
		return -1;
	doc->ends[doc->n_lines++] = doc->text.len;
	return 0;
}

/* DOC, which is too long already: goes through what is left of it, of which a line of JSON has nothing. */
static int refuse_document(struct lines *l, const struct document *doc)
{
	uint64_t bytes = doc->text.len;
	struct line line;
	int rc = 0;

	while (l->form != LINES_JSON && (rc = lines_next(l, &line)) > 0 && !line.blank &&
	       !(l->document_per_file && line.file != doc->file))
		bytes += line.len + 1;
	if (rc < 0 && !l->refused.bytes)
		return -1;
	return refuse(l, doc->file, doc->offset, bytes + l->refused.bytes);
}

int lines_next_document(struct lines *l, struct document *doc)
{
	struct line line;
	int rc;

	buf_clear(&doc->text);
	doc->n_lines = 0;
	while ((rc = lines_next(l, &line)) > 0) {
		if (line.blank && !doc->n_lines)
			continue;
		if (line.blank)
			break;
		if (doc->n_lines && l->document_per_file && line.file != doc->file) {
			l->last = line;
			l->pushed = true;
			break;
		}
		if (!doc->n_lines) {
			doc->offset = line.offset;
			doc->number = line.number;
			doc->file = line.file;
		}
		if (!doc->n_lines && line.len > BLOCK_BYTES ? take_giant(l, doc, &line) : add_line(doc, line.text, line.len))
			return -1;
		if (l->longest && doc->text.len > l->longest)
			return refuse_document(l, doc);
		if (l->form == LINES_JSON)
			return 1;
	}
	if (rc < 0)
		return doc->n_lines && l->refused.bytes ? refuse(l, doc->file, doc->offset, doc->text.len + l->refused.bytes) : -1;
	if (!doc->n_lines)
		return 0;
	doc->key = key_of(doc->text.data, doc->text.len - 1);
	return 1;
}

int document_of_text(struct document *doc, bool keep_marks)
{
	const char *text, *end, *next;
	char *to;

	if (buf_reserve(&doc->text, 1))		/* the last line may have no end */
		return -1;
	to = doc->text.data;
	end = to + doc->text.len;
	doc->n_lines = 0;
	for (text = to; text < end; text = next) {
		const char *newline = memchr(text, '\n', (size_t)(end - text)), *stop = newline ? newline : end;

		next = newline ? newline + 1 : end;
		if (!keep_marks && stop - text >= MARK_LEN && !memcmp(text, MARK, MARK_LEN))
			text += MARK_LEN;
		stop -= stop > text && stop[-1] == '\r';
		if (is_blank(text, (size_t)(stop - text)))
			continue;
		if (array_grow(&doc->ends, &doc->cap_lines, doc->n_lines + 1, sizeof(*doc->ends)))
			return -1;
		if (to != text)
			memmove(to, text, (size_t)(stop - text));
		to += stop - text;
		*to++ = '\n';
		doc->ends[doc->n_lines++] = (uint64_t)(to - doc->text.data);
	}
	doc->text.len = (size_t)(to - doc->text.data);
	*to = 0;
	if (doc->n_lines)
		doc->key = key_of(doc->text.data, doc->text.len - 1);
	return 0;
}

void document_release(struct document *doc)
{
	buf_release(&doc->text);
	free(doc->ends);
	*doc = (struct document)DOCUMENT_INIT;
}

/* --- accounts -------------------------------------------------------------------- */

const char *lines_name(const struct lines *l, unsigned file)
{
	return l->files[file];
}

const struct lines_refused *lines_refused(const struct lines *l)
{
	return l->refused.bytes ? &l->refused : NULL;
}

uint64_t lines_bad_bytes(const struct lines *l)
{
	return l->bad;
}

const char *lines_bad_report(const struct lines *l, char *text, size_t size)
{
	const char *places = l->bad == 1 ? "place," : "places, first";

	snprintf(text, size, "ill-formed UTF-8 was replaced by U+FFFD in %" PRIu64 " %s in '%s' at byte %" PRIu64, l->bad,
		 places, l->bad_name ? l->bad_name : "", l->bad_at);
	return text;
}

uint64_t lines_bytes(const struct lines *l)
{
	return l->bytes;
}

uint64_t lines_progress(const struct lines *l, uint64_t *total)
{
	const uint64_t place = l->base + l->offset;

	*total = l->disk_known ? l->disk_total : 0;
	if (!l->has_stretch)
		return l->disk_done + (l->in ? in_packed_offset(l->in) : 0);
	return place < l->begin ? 0 : place - l->begin < *total ? place - l->begin : *total;
}

void lines_close(struct lines *l)
{
	if (!l)
		return;
	in_close(l->in);
	buf_release(&l->repaired);
	free(l->buffer);
	free(l->bad_name);
	free(l);
}
