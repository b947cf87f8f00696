#include "base/lines.h"

#include "base/cpu.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/in.h"
#include "base/rng.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define MAX_FILES 5

static char folder[] = "/tmp/test_lines.XXXXXX";
static char *paths[MAX_FILES];
static const char *const *files;	/* PATHS, as lines_open takes them */

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	for (int i = 0; i < MAX_FILES; i++) {
		const char name[] = { (char)('a' + i), 0 };

		paths[i] = fs_join(folder, name);
		if (!paths[i])
			return -1;
	}
	files = (const char *const *)paths;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	for (int i = 0; i < MAX_FILES; i++)
		free(paths[i]);
	return fs_remove_tree(folder);
}

static void put(int file, const char *bytes, size_t n)
{
	FILE *f = fopen(paths[file], "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

#define PUT(file, literal) put((file), (literal), sizeof(literal) - 1)

/* The lines of the first N_FILES files, as "file@offset[text]" with "~" for a blank one. */
static char *lines_of(size_t n_files, const struct lines_opts *opts)
{
	struct buf b = BUF_INIT;
	struct lines *l;
	struct line line;
	int rc;

	assert_int_equal(lines_open(&l, files, n_files, opts), 0);
	while ((rc = lines_next(l, &line)) > 0) {
		assert_int_equal(line.text[line.len], 0);
		assert_int_equal(utf8_valid_prefix(line.text, line.len), line.len);
		assert_int_equal(line.blank, utf8_is_blank(line.text, line.len));
		assert_int_equal(buf_addf(&b, "%u@%" PRIu64 "%s[", line.file, line.offset, line.blank ? "~" : ""), 0);
		assert_int_equal(buf_add(&b, line.text, line.len) || buf_adds(&b, "]"), 0);
	}
	assert_int_equal(rc, 0);
	assert_int_equal(lines_next(l, &line), 0);
	lines_close(l);
	return b.data ? b.data : calloc(1, 1);
}

static void expect_lines(size_t n_files, const char *want)
{
	char *got = lines_of(n_files, &(struct lines_opts){ 0 });

	assert_string_equal(got, want);
	free(got);
}

static void test_ends(void **state)
{
	(void)state;
	PUT(0, "");
	expect_lines(1, "");
	PUT(0, "\n");
	expect_lines(1, "0@0~[]");
	PUT(0, "a\nb");
	expect_lines(1, "0@0[a]0@2[b]");
	PUT(0, "a\r\nb\r\r\nc\rd\r");
	expect_lines(1, "0@0[a]0@3[b\r]0@7[c\rd]");
	PUT(0, " \t\x1c\n\xe3\x80\x80\xe2\x80\xa8\r\n\xe2\x80\x8b\n");	/* ideographic space and line separator are blank, a zero-width space is not */
	expect_lines(1, "0@0~[ \t\x1c]0@4~[\xe3\x80\x80\xe2\x80\xa8]0@12[\xe2\x80\x8b]");
}

static void test_marks(void **state)
{
	(void)state;
	PUT(0, "\xef\xbb\xbf");
	expect_lines(1, "");
	PUT(0, "\xef\xbb\xbf\n\xef\xbb\xbfz");
	expect_lines(1, "0@3~[]0@7[z]");
	PUT(0, "\xef\xbb\xbf\xef\xbb\xbfz\r\n");
	expect_lines(1, "0@3[\xef\xbb\xbfz]");
	PUT(0, "\xef\xbb");
	expect_lines(1, "0@0[\xef\xbf\xbd]");
}

static void test_joined(void **state)
{
	(void)state;
	PUT(0, "a");
	PUT(1, "");
	PUT(2, "\xef\xbb\xbf" "b\n\n");
	PUT(3, "c\n");
	expect_lines(4, "0@0[a]2@3[b]2@5~[]3@0[c]");
}

static void test_zero_bytes(void **state)
{
	struct lines *l;
	struct line line;

	(void)state;
	PUT(0, "a\0b\n\0\n");
	assert_int_equal(lines_open(&l, files, 1, &(struct lines_opts){ 0 }), 0);
	assert_int_equal(lines_next(l, &line), 1);
	assert_int_equal(line.len, 3);
	assert_memory_equal(line.text, "a\0b", 4);
	assert_int_equal(lines_next(l, &line), 1);
	assert_int_equal(line.len, 1);
	assert_false(line.blank);
	assert_int_equal(lines_next(l, &line), 0);
	lines_close(l);
}

static void test_bad_bytes(void **state)
{
	struct lines *l;
	struct line line;
	const struct lines_opts strict = { .strict = true };
	char want[256], report[LINES_REPORT_MAX];

	(void)state;
	PUT(0, "good\nb\xff" "ad\xc3\nfine\n\xf0\x9f\x98\n");
	expect_lines(1, "0@0[good]0@5[b\xef\xbf\xbd" "ad\xef\xbf\xbd]0@11[fine]0@16[\xef\xbf\xbd]");
	assert_int_equal(lines_open(&l, files, 1, &(struct lines_opts){ 0 }), 0);
	while (lines_next(l, &line) > 0)
		;
	assert_int_equal(lines_bad_bytes(l), 3);
	assert_int_equal(lines_bytes(l), 20);
	snprintf(want, sizeof(want), "ill-formed UTF-8 was replaced by U+FFFD in 3 places, first in '%s' at byte 6", files[0]);
	assert_string_equal(lines_bad_report(l, report, sizeof(report)), want);
	lines_close(l);

	assert_int_equal(lines_open(&l, files, 1, &strict), 0);
	assert_int_equal(lines_next(l, &line), 1);
	assert_int_equal(lines_next(l, &line), -1);
	assert_int_equal(err_code(), EXIT_CORRUPT);
	snprintf(want, sizeof(want), "'%s': ill-formed UTF-8 at byte 6", files[0]);
	assert_string_equal(err_text(), want);
	lines_close(l);
}

/* The first one, when it stands in a later file. */
static void test_bad_report(void **state)
{
	char want[256], report[LINES_REPORT_MAX];
	struct lines *l;
	struct line line;

	(void)state;
	PUT(0, "good\n");
	PUT(1, "\xef\xbb\xbf" "a\xff\n");
	assert_int_equal(lines_open(&l, files, 2, &(struct lines_opts){ 0 }), 0);
	while (lines_next(l, &line) > 0)
		;
	snprintf(want, sizeof(want), "ill-formed UTF-8 was replaced by U+FFFD in 1 place, in '%s' at byte 4", files[1]);
	assert_string_equal(lines_bad_report(l, report, sizeof(report)), want);
	lines_close(l);
}

static void test_standard_input_twice(void **state)
{
	static const char *const twice[] = { "-", "/dev/null", "-" };
	struct lines *l;

	(void)state;
	assert_int_equal(lines_open(&l, twice, 3, &(struct lines_opts){ 0 }), -1);
	assert_int_equal(err_code(), EXIT_USAGE);
	assert_null(l);
}

/* A sequence, a CR and a newline in every position about the end of a block. */
static void test_block_borders(void **state)
{
	const size_t size = (size_t)256 << 10;
	char *text = malloc(size + 16);

	(void)state;
	for (size_t back = 0; back < 12; back++) {
		const size_t at = size - back;
		struct lines *l;
		struct line line;

		memset(text, 'x', size + 16);
		memcpy(text + at, "\xf0\x9f\x98\x80\r\ny\n", 8);
		put(0, text, at + 8);
		assert_int_equal(lines_open(&l, files, 1, &(struct lines_opts){ .strict = true }), 0);
		assert_int_equal(lines_next(l, &line), 1);
		assert_int_equal(line.len, at + 4);
		assert_memory_equal(line.text + at, "\xf0\x9f\x98\x80", 5);
		assert_int_equal(lines_next(l, &line), 1);
		assert_string_equal(line.text, "y");
		assert_int_equal(line.offset, at + 6);
		assert_int_equal(lines_next(l, &line), 0);
		lines_close(l);
	}
	free(text);
}

static void test_long_line(void **state)
{
	const size_t size = (size_t)20 << 20;
	char *text = malloc(size);
	struct lines *l;
	struct line line;

	(void)state;
	memset(text, 'x', size);
	text[size - 3] = '\n';
	put(0, text, size);
	assert_int_equal(lines_open(&l, files, 1, &(struct lines_opts){ 0 }), 0);
	assert_int_equal(lines_next(l, &line), 1);
	assert_int_equal(line.len, size - 3);
	assert_int_equal(lines_next(l, &line), 1);
	assert_int_equal(line.len, 2);
	lines_close(l);
	free(text);
}

static void test_missing(void **state)
{
	const char *two[2] = { files[0], "/nonexistent/x" };
	struct lines *l;
	struct line line;

	(void)state;
	PUT(0, "a\n");
	assert_int_equal(lines_open(&l, two, 2, &(struct lines_opts){ 0 }), 0);
	assert_int_equal(lines_next(l, &line), 1);
	assert_int_equal(lines_next(l, &line), -1);
	assert_int_equal(err_code(), EXIT_FAILED);
	assert_non_null(strstr(err_text(), "'/nonexistent/x'"));
	lines_close(l);
}

static void test_stream(void **state)
{
	struct lines *l;
	struct line line;
	struct in *in;
	char peeked[2];

	(void)state;
	PUT(0, "\xef\xbb\xbf" "ab\n");
	assert_int_equal(in_open(&in, files[0], 1), 0);
	assert_int_equal(in_peek(in, peeked, 2), 2);
	assert_int_equal(lines_open_stream(&l, in, &(struct lines_opts){ 0 }), 0);
	assert_int_equal(lines_next(l, &line), 1);
	assert_string_equal(line.text, "ab");
	assert_int_equal(line.file, 0);
	assert_int_equal(line.offset, 3);
	assert_int_equal(lines_next(l, &line), 0);
	lines_close(l);
}

/* --- documents ------------------------------------------------------------------- */

/* The documents, as "{file@offset text}" each, added to B. */
static void add_documents(struct buf *b, size_t n_files, const struct lines_opts *opts)
{
	struct document doc = DOCUMENT_INIT;
	struct lines *l;
	uint64_t total;
	int rc;

	assert_int_equal(lines_open(&l, files, n_files, opts), 0);
	while ((rc = lines_next_document(l, &doc)) > 0) {
		const struct key key = key_of(doc.text.data, doc.text.len - 1);

		assert_int_equal(doc.ends[doc.n_lines - 1], doc.text.len);
		for (size_t i = 0; i < doc.n_lines; i++)
			assert_int_equal(doc.text.data[doc.ends[i] - 1], '\n');
		assert_int_equal(key_compare(doc.key, key), 0);
		assert_int_equal(buf_addf(b, "{%u@%" PRIu64 " ", doc.file, doc.offset), 0);
		assert_int_equal(buf_add(b, doc.text.data, doc.text.len) || buf_adds(b, "}"), 0);
	}
	assert_int_equal(rc, 0);
	if (opts->begin || opts->end)
		assert_true(lines_progress(l, &total) <= total);
	lines_close(l);
	document_release(&doc);
}

static void test_documents(void **state)
{
	struct buf b = BUF_INIT;

	(void)state;
	PUT(0, "\n \na\nb\r\n\n\n\xe3\x80\x80\nc");
	PUT(1, "d\n\ne\n");
	PUT(2, "f\n");
	add_documents(&b, 3, &(struct lines_opts){ 0 });
	assert_string_equal(b.data, "{0@3 a\nb\n}{0@14 c\nd\n}{1@3 e\nf\n}");
	buf_clear(&b);
	add_documents(&b, 3, &(struct lines_opts){ .document_per_file = true });
	assert_string_equal(b.data, "{0@3 a\nb\n}{0@14 c\n}{1@0 d\n}{1@3 e\n}{2@0 f\n}");
	buf_release(&b);
}

/* --- stretches ------------------------------------------------------------------- */

/* Pieces of random texts: every kind of end, blank and bad byte, and some longer than what is looked at at once. */
static size_t random_piece(struct rng *r, char *out)
{
	static const struct {
		const char *text;
		size_t len;
	} pieces[] = {
		{ "\n", 1 }, { "\n", 1 }, { "\n\n", 2 }, { "\r\n", 2 }, { " ", 1 }, { "\t", 1 }, { "a", 1 }, { "b c", 3 },
		{ "\xe3\x80\x80", 3 }, { "\xc2\x85", 2 }, { "\xef\xbb\xbf", 3 }, { "\xc3\xa9", 2 }, { "\xe2\x80", 2 }, { "\xff", 1 },
		{ "\0", 1 }, { "\r", 1 }, { "\xf0\x9f\x98\x80", 4 }, { "\xe3\x81\x82", 3 }, { "\n \n", 3 },
	};
	const uint32_t kind = rng_below(r, 300);
	size_t n = 0;

	if (kind >= 3) {
		const size_t i = kind % (sizeof(pieces) / sizeof(pieces[0]));

		memcpy(out, pieces[i].text, pieces[i].len);
		return pieces[i].len;
	}
	while (n < 4090 + 3 * (size_t)rng_below(r, 10)) {
		memcpy(out + n, kind == 0 ? "   " : kind == 1 ? "\xe3\x80\x80" : "\xe3\x81\x82", 3);
		n += 3;
	}
	return n;
}

static uint64_t put_random(struct rng *r, size_t n_files)
{
	uint64_t total = 0;

	for (size_t f = 0; f < n_files; f++) {
		char text[20 * 4200];
		size_t n = 0;

		for (uint32_t k = rng_below(r, 20); k > 0; k--)
			n += random_piece(r, text + n);
		put((int)f, text, n);
		total += n;
	}
	return total;
}

static void expect_same(const struct buf *a, const struct buf *b, const char *what, uint32_t round)
{
	if (a->len != b->len || (a->len && memcmp(a->data, b->data, a->len)))
		fail_msg("round %u, %s: the parts give\n%s\ninstead of\n%s", (unsigned)round, what, b->data, a->data);
}

/* Whatever the division, the parts give the documents of the whole. */
static void test_stretches(void **state)
{
	struct buf whole = BUF_INIT, parts = BUF_INIT;
	struct rng r;

	(void)state;
	rng_open(&r, 1, RNG_TEST, 0, 0, 0, 0, 0);
	for (uint32_t round = 0; round < 400; round++) {
		const size_t n_files = 1 + rng_below(&r, MAX_FILES);
		const uint64_t total = put_random(&r, n_files);
		struct lines_opts opts = { .document_per_file = round % 3 == 0 };
		const uint64_t n = 1 + rng_below(&r, round % 5 ? 6 : 40);
		uint64_t cut = 0;

		buf_clear(&whole);
		add_documents(&whole, n_files, &opts);
		buf_clear(&parts);
		for (uint64_t i = 0; i < n; i++) {
			assert_int_equal(lines_divide(files, n_files, i, n, &opts), 0);
			add_documents(&parts, n_files, &opts);
		}
		expect_same(&whole, &parts, "equal parts", round);
		buf_clear(&parts);
		while (cut < total) {
			opts.begin = cut;
			cut += 1 + rng_below(&r, total < 50 ? 3 : (uint32_t)total);
			opts.end = cut;
			add_documents(&parts, n_files, &opts);
		}
		expect_same(&whole, &parts, "random parts", round);
	}
	buf_release(&whole);
	buf_release(&parts);
}

/* --- many documents at once -------------------------------------------------------- */

static void put_prose(struct rng *r, int file)
{
	static char text[400 * 100 + 4200 * 20];
	size_t n = 0;

	for (uint32_t k = rng_below(r, 400), long_ones = 0; k > 0; k--) {
		const uint32_t kind = rng_below(r, 40);

		if (kind < 25)
			n += (size_t)snprintf(text + n, 100, "A line of so many words, number %u.%s", (unsigned)k, kind < 8 ? "\n" : "");
		else if (kind < 30)
			n += (size_t)snprintf(text + n, 100, "\n%s", kind < 28 ? "" : "\n");
		else if (kind < 33)
			n += (size_t)snprintf(text + n, 100, "\xe2\x80\x9cQuoted\xe2\x80\x9d caf\xc3\xa9 \xf0\x9f\x98\x80 \xe3\x81\x82%s", kind < 32 ? "\n" : "");
		else if (kind < 35)
			n += (size_t)snprintf(text + n, 100, "x\r\n");
		else if (kind < 36 && rng_below(r, 8) == 0 && long_ones++ < 20)
			n += random_piece(r, text + n);
	}
	put(file, text, n);
}

/* Documents of the first N_FILES files, whole, by one way or the other; the reason of a failure, what was bad and how many bytes there were. */
static void list_documents(struct buf *b, size_t n_files, const struct lines_opts *opts, size_t at_once)
{
	struct document_list list = DOCUMENT_LIST_INIT;
	struct document doc = DOCUMENT_INIT;
	struct lines *l;
	int rc;

	buf_clear(b);
	assert_int_equal(lines_open(&l, files, n_files, opts), 0);
	while (!at_once && (rc = lines_next_document(l, &doc)) > 0)
		assert_int_equal(buf_add(b, doc.text.data, doc.text.len) || buf_adds(b, "}"), 0);
	while (at_once && (rc = lines_next_documents(l, at_once, &list)) > 0) {
		size_t bytes = 0;

		for (size_t i = 0; i < list.count; i++) {
			assert_true(bytes < at_once);
			bytes += list.items[i].len;
			assert_int_equal(buf_add(b, list.text.data + list.items[i].start, list.items[i].len) || buf_adds(b, "}"), 0);
		}
	}
	if (rc)		/* what came before it is given or not */
		buf_clear(b);
	assert_int_equal(buf_addf(b, "%d %s bad %" PRIu64 " bytes %" PRIu64, rc, rc ? err_text() : "", lines_bad_bytes(l), lines_bytes(l)), 0);
	lines_close(l);
	document_release(&doc);
	document_list_release(&list);
}

/* The same of lines. */
static void list_text(struct buf *b, size_t n_files, const struct lines_opts *opts, size_t at_once)
{
	struct buf text = BUF_INIT;
	struct line line;
	struct lines *l;
	int rc;

	buf_clear(b);
	assert_int_equal(lines_open(&l, files, n_files, opts), 0);
	while (!at_once && (rc = lines_next(l, &line)) > 0)
		assert_int_equal((!line.blank && buf_add(b, line.text, line.len)) || buf_add_byte(b, '\n'), 0);
	while (at_once && (rc = lines_next_text(l, at_once, &text)) > 0) {
		assert_true(text.len > 0 && text.data[text.len - 1] == '\n');
		assert_int_equal(buf_add(b, text.data, text.len), 0);
	}
	if (rc)
		buf_clear(b);
	assert_int_equal(buf_addf(b, "%d %s bad %" PRIu64 " bytes %" PRIu64, rc, rc ? err_text() : "", lines_bad_bytes(l), lines_bytes(l)), 0);
	lines_close(l);
	buf_release(&text);
}

static void test_many_at_once(void **state)
{
	static const char *const processors[] = { "none", "avx2", "native" };
	struct buf want = BUF_INIT, got = BUF_INIT;
	struct rng r;

	(void)state;
	rng_open(&r, 2, RNG_TEST, 0, 0, 0, 0, 0);
	for (uint32_t round = 0; round < 600; round++) {
		const size_t n_files = 1 + rng_below(&r, MAX_FILES);
		const struct lines_opts opts = { .document_per_file = round % 3 == 0, .keep_marks = round % 5 == 0, .strict = round % 7 == 0 };

		if (round % 4)
			for (size_t i = 0; i < n_files; i++)
				put_prose(&r, (int)i);
		else
			put_random(&r, n_files);
		list_documents(&want, n_files, &opts, 0);
		for (int p = 0; p < 3; p++) {
			assert_int_equal(cpu_limit(processors[p]), 0);
			list_documents(&got, n_files, &opts, 1 + rng_below(&r, 5000));
			expect_same(&want, &got, processors[p], round);
		}
		list_text(&want, n_files, &opts, 0);
		for (int p = 0; p < 3; p++) {
			assert_int_equal(cpu_limit(processors[p]), 0);
			list_text(&got, n_files, &opts, 1 + rng_below(&r, 5000));
			expect_same(&want, &got, processors[p], round);
		}
	}
	assert_int_equal(cpu_limit("native"), 0);
	buf_release(&want);
	buf_release(&got);
}

/* The same of the lines of four files, and every number of parts. */
static void expect_same_lines(void)
{
	struct buf parts = BUF_INIT;
	char *whole = lines_of(4, &(struct lines_opts){ 0 });

	for (uint64_t n = 1; n < 24; n++) {
		struct lines_opts opts = { 0 };

		buf_clear(&parts);
		for (uint64_t i = 0; i < n; i++) {
			char *part;

			assert_int_equal(lines_divide(files, 4, i, n, &opts), 0);
			part = lines_of(4, &opts);
			assert_int_equal(buf_adds(&parts, part), 0);
			free(part);
		}
		assert_string_equal(parts.data, whole);
	}
	free(whole);
	buf_release(&parts);
}

static void test_stretches_of_lines(void **state)
{
	(void)state;
	PUT(0, "\n\na\nb\n \n\nc\n");	/* blank lines go with the document before them */
	PUT(1, "d\n\n");
	PUT(2, "");
	PUT(3, "\n\xff\n\n");
	expect_same_lines();
	PUT(0, "\xef\xbb\xbf");	/* files with a mark and no line */
	PUT(1, "a\n\n");
	PUT(2, "\xef\xbb\xbf");
	PUT(3, "\xef\xbb\xbf" "b\n");
	expect_same_lines();
	PUT(1, "a");
	expect_same_lines();
	PUT(1, "\xef\xbb\xbf\na");	/* a mark and a blank line */
	expect_same_lines();
}

/* Bad bytes before a stretch are the business of the part before it. */
static void test_stretch_and_bad_bytes(void **state)
{
	struct lines_opts opts = { .strict = true, .begin = 2, .end = 100 };
	struct lines *l;
	struct line line;

	(void)state;
	PUT(0, "a\xe2\x82z\xff\n\xff\n\nb\n");
	assert_int_equal(lines_open(&l, files, 1, &opts), 0);
	assert_int_equal(lines_next(l, &line), 1);
	assert_string_equal(line.text, "b");
	assert_int_equal(lines_bad_bytes(l), 0);
	lines_close(l);
}

static void test_stretch_refusals(void **state)
{
	const struct lines_opts opts = { .begin = 0, .end = 10 };
	const char *standard[] = { "-" };
	struct lines *l;
	struct line line;
	struct lines_opts divided = { 0 };

	(void)state;
	assert_int_equal(lines_open(&l, NULL, 0, &opts), -1);
	assert_int_equal(err_code(), EXIT_USAGE);
	assert_int_equal(lines_open(&l, standard, 1, &opts), -1);
	assert_int_equal(err_code(), EXIT_USAGE);
	assert_int_equal(lines_divide(standard, 1, 0, 2, &divided), -1);
	assert_int_equal(err_code(), EXIT_USAGE);
	PUT(0, "\x1f\x8b\x08\0\0\0\0\0\0\3\3\0\0\0\0\0\0\0\0\0");
	assert_int_equal(lines_open(&l, files, 1, &opts), 0);
	assert_int_equal(lines_next(l, &line), -1);
	assert_int_equal(err_code(), EXIT_USAGE);
	assert_non_null(strstr(err_text(), "gzip"));
	lines_close(l);
}

/* Lines of some hundred thousand bytes, which are handed over with the window or, repaired, without. */
static void test_giants(void **state)
{
	static const char *const parts[] = { "x", "\xef\xbb\xbf" "y", "\xffz", "small" };
	struct buf in = BUF_INIT;

	(void)state;
	for (unsigned form = LINES_TEXT; form <= LINES_JSON; form += LINES_JSON - LINES_TEXT) {
		struct document doc = DOCUMENT_INIT;
		struct lines *l;

		buf_clear(&in);
		for (size_t i = 0; i < 40; i++)
			for (size_t k = 0; k < 2; k++) {		/* documents of two lines, but for the last line's end */
				assert_int_equal(buf_adds(&in, k ? "" : parts[i % 4]), 0);
				for (size_t n = 0; n < (k ? 7 : i % 4 == 3 ? 0 : 90000 * i); n++)
					assert_int_equal(buf_adds(&in, "abc"), 0);
				assert_int_equal(buf_adds(&in, !k ? "\r\n" : i < 39 ? "\n\n" : ""), 0);
			}
		put(0, in.data, in.len);
		assert_int_equal(lines_open(&l, files, 1, &(struct lines_opts){ .form = form }), 0);
		for (size_t i = 0; i < 40; i++) {
			const char *const begin = i % 4 == 0 ? "x" : i % 4 == 1 ? "y" : i % 4 == 2 ? "\xef\xbf\xbdz" : "small";
			const size_t len = strlen(begin) + (i % 4 == 3 ? 0 : 270000 * i);

			assert_int_equal(lines_next_document(l, &doc), 1);
			assert_int_equal(doc.ends[0], len + 1);
			assert_memory_equal(doc.text.data, begin, strlen(begin));
			assert_int_equal(doc.text.data[len], '\n');
			if (len > 10)
				assert_memory_equal(doc.text.data + len - 3, "abc", 3);
			if (form == LINES_JSON)
				assert_int_equal(lines_next_document(l, &doc), 1);
			assert_int_equal(doc.text.len, 22 + (form == LINES_JSON ? 0 : len + 1));
			assert_string_equal(doc.text.data + doc.text.len - 22, "abcabcabcabcabcabcabc\n");
		}
		assert_int_equal(lines_next_document(l, &doc), 0);
		lines_close(l);
		document_release(&doc);
	}
	buf_release(&in);
}

/* The document of N lines of LEN bytes that stands after a small one, where more than LONGEST bytes are refused: BYTES; or 0. */
static void expect_refused(enum lines_form form, size_t n, size_t len, uint64_t longest, uint64_t bytes)
{
	struct document doc = DOCUMENT_INIT;
	struct buf in = BUF_INIT;
	struct lines *l;

	assert_int_equal(buf_adds(&in, "small\n\n"), 0);
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < len; k++)
			assert_int_equal(buf_add_byte(&in, 'x'), 0);
		assert_int_equal(buf_add_byte(&in, '\n'), 0);
	}
	assert_int_equal(buf_adds(&in, form == LINES_JSON ? "next\n" : "\nnext\n"), 0);
	put(0, in.data, in.len);
	assert_int_equal(lines_open(&l, files, 1, &(struct lines_opts){ .form = form, .longest = longest }), 0);
	assert_int_equal(lines_next_document(l, &doc), 1);
	assert_null(lines_refused(l));
	if (bytes) {
		assert_int_equal(lines_next_document(l, &doc), -1);
		assert_int_equal(err_code(), EXIT_FAILED);
		assert_non_null(lines_refused(l));
		assert_int_equal(lines_refused(l)->offset, 7);
		assert_int_equal(lines_refused(l)->bytes, bytes);
	} else {
		assert_int_equal(lines_next_document(l, &doc), 1);
		assert_int_equal(doc.text.len, n * (len + 1));
	}
	lines_close(l);
	document_release(&doc);
	buf_release(&in);
}

static void test_longest(void **state)
{
	(void)state;
	expect_refused(LINES_TEXT, 100, 9, 1000, 0);
	expect_refused(LINES_TEXT, 100, 9, 999, 1000);
	expect_refused(LINES_TEXT, 1, 3000000, 500000, 3000000);	/* refused in the window, to the line's end */
	expect_refused(LINES_TEXT, 1, 3000000, 3000001, 0);
	expect_refused(LINES_JSON, 1, 3000000, 500000, 3000000);
	expect_refused(LINES_JSON, 1, 100, 50, 101);
	expect_refused(LINES_JSON, 1, 3000000, 3000001, 0);
}

/* What is refused ends with its file, where documents do. */
static void test_longest_per_file(void **state)
{
	struct document doc = DOCUMENT_INIT;
	struct lines *l;

	(void)state;
	PUT(0, "0123456789\nabc\n");
	PUT(1, "another\n");
	assert_int_equal(lines_open(&l, files, 2, &(struct lines_opts){ .document_per_file = true, .longest = 8 }), 0);
	assert_int_equal(lines_next_document(l, &doc), -1);
	assert_non_null(lines_refused(l));
	assert_int_equal(lines_refused(l)->bytes, 15);
	lines_close(l);
	document_release(&doc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_marks),
		cmocka_unit_test(test_joined),
		cmocka_unit_test(test_zero_bytes),
		cmocka_unit_test(test_bad_bytes),
		cmocka_unit_test(test_bad_report),
		cmocka_unit_test(test_standard_input_twice),
		cmocka_unit_test(test_block_borders),
		cmocka_unit_test(test_long_line),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_stream),
		cmocka_unit_test(test_documents),
		cmocka_unit_test(test_stretches),
		cmocka_unit_test(test_many_at_once),
		cmocka_unit_test(test_stretches_of_lines),
		cmocka_unit_test(test_stretch_and_bad_bytes),
		cmocka_unit_test(test_stretch_refusals),
		cmocka_unit_test(test_giants),
		cmocka_unit_test(test_longest),
		cmocka_unit_test(test_longest_per_file),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
