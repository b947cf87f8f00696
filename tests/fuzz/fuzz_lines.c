/*
 * Any texts, divided anyhow: the documents of the parts are the documents of
 * the whole, and many at once are the documents one by one. The first byte says
 * how many files there are (1 to 4) and whether a file's end ends a document, the second and third where they begin, the fourth how
 * many parts are made and how.
 */
#include "base/err.h"
#include "base/lines.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_FILES 4

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

struct texts {
	char names[MAX_FILES][32];
	const char *files[MAX_FILES];
	int fds[MAX_FILES];
	size_t n;
	uint64_t total;
};

static void make_file(struct texts *t, const unsigned char *bytes, size_t len)
{
	const size_t i = t->n++;

	t->fds[i] = memfd_create("text", MFD_CLOEXEC);
	require(t->fds[i] >= 0 && write(t->fds[i], bytes, len) == (ssize_t)len);
	snprintf(t->names[i], sizeof(t->names[i]), "/proc/self/fd/%d", t->fds[i]);
	t->files[i] = t->names[i];
	t->total += len;
}

/* By lists of documents, the same documents; by blocks of lines, all there is between them. */
static void list_at_once(const struct texts *t, const struct lines_opts *opts, size_t bytes, struct buf *b)
{
	struct document_list list = DOCUMENT_LIST_INIT;
	struct buf text = BUF_INIT;
	struct lines *l;
	int rc = lines_open(&l, t->files, t->n, opts) ? -1 : 1;

	while (rc > 0 && (rc = lines_next_documents(l, bytes, &list)) > 0)
		for (size_t i = 0; i < list.count; i++)
			require(!buf_add(b, list.text.data + list.items[i].start, list.items[i].len) && !buf_add_byte(b, 0));
	lines_close(l);
	rc = lines_open(&l, t->files, t->n, opts) ? -1 : 1;
	while (rc > 0 && (rc = lines_next_text(l, bytes, &text)) > 0)
		require(text.data[text.len - 1] == '\n' && utf8_valid_prefix(text.data, text.len) == text.len);
	lines_close(l);
	document_list_release(&list);
	buf_release(&text);
}

/* Whether both are the same but for what LIST says before each document. */
static void compare_at_once(const struct texts *t, const struct lines_opts *opts, size_t bytes)
{
	struct document doc = DOCUMENT_INIT;
	struct buf one = BUF_INIT, all = BUF_INIT;
	struct lines *l;
	int rc = lines_open(&l, t->files, t->n, opts) ? -1 : 1;

	while (rc > 0 && (rc = lines_next_document(l, &doc)) > 0)
		require(!buf_add(&one, doc.text.data, doc.text.len) && !buf_add_byte(&one, 0));
	lines_close(l);
	document_release(&doc);
	if (rc == 0) {
		list_at_once(t, opts, bytes, &all);
		require(one.len == all.len && (!one.len || !memcmp(one.data, all.data, one.len)));
	}
	buf_release(&one);
	buf_release(&all);
}

/* Adds what there is to say of all documents to B. -1: a file looks packed, so there is nothing to compare. */
static int list(const struct texts *t, const struct lines_opts *opts, struct buf *b)
{
	struct document doc = DOCUMENT_INIT;
	struct lines *l;
	int rc = lines_open(&l, t->files, t->n, opts) ? -1 : 1;

	while (rc > 0 && (rc = lines_next_document(l, &doc)) > 0) {
		require(doc.n_lines > 0 && doc.ends[doc.n_lines - 1] == doc.text.len);
		require(utf8_valid_prefix(doc.text.data, doc.text.len) == doc.text.len);
		require(!buf_addf(b, "%u %llu ", doc.file, (unsigned long long)doc.offset));
		require(!buf_add(b, doc.text.data, doc.text.len) && !buf_add_byte(b, 0));
	}
	require(rc == 0 || err_code() != EXIT_DONE);
	lines_close(l);
	document_release(&doc);
	return rc;
}

static void compare(const struct texts *t, unsigned how, const struct lines_opts *all)
{
	struct buf whole = BUF_INIT, parts = BUF_INIT;
	const unsigned n = 1 + how % 16;
	struct lines_opts opts = *all;
	uint64_t cut = 0;

	if (list(t, all, &whole) == 0) {
		for (unsigned i = 0; how < 128 && i < n; i++) {
			require(!lines_divide(t->files, t->n, i, n, &opts));
			if (list(t, &opts, &parts))
				goto packed;
		}
		while (how >= 128 && cut < t->total) {
			opts.begin = cut;
			cut += n;
			opts.end = cut;
			if (list(t, &opts, &parts))
				goto packed;
		}
		require(whole.len == parts.len && (!whole.len || !memcmp(whole.data, parts.data, whole.len)));
	}
packed:
	buf_release(&whole);
	buf_release(&parts);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	struct texts t = { .n = 0 };
	struct lines_opts opts = { 0 };
	size_t at = 4, n_files;

	if (size < 4 || size > 4000)
		return 0;
	n_files = 1 + data[0] % MAX_FILES;
	opts.document_per_file = data[0] & 4;
	for (size_t i = 0; i < n_files; i++) {
		const size_t left = size - at;
		const size_t len = i + 1 == n_files ? left : left * data[1 + i % 2] / 256;

		make_file(&t, data + at, len);
		at += len;
	}
	compare(&t, data[3], &opts);
	compare_at_once(&t, &opts, 1 + 16 * data[3]);
	for (size_t i = 0; i < t.n; i++)
		close(t.fds[i]);
	return 0;
}
