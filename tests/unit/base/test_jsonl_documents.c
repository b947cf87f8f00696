#include "base/jsonl_documents.h"

#include "base/err.h"
#include "base/fs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static char path[] = "/tmp/test_jsonl_documents.XXXXXX";
static const char *const files[] = { path };
static const struct jsonl_how plain = { .strict = false };

static int set_up(void **state)
{
	const int fd = mkstemp(path);

	(void)state;
	return fd < 0 || close(fd);
}

static int tear_down(void **state)
{
	(void)state;
	return unlink(path);
}

static struct lines *open_lines(const char *text, const struct lines_opts *opts)
{
	struct lines *l;

	assert_int_equal(fs_write_all(path, text, strlen(text)), 0);
	assert_int_equal(lines_open(&l, files, 1, opts), 0);
	return l;
}

/* Reads all of TEXT by batches of BYTES: every document as "id|title|lines;" */
static void show(struct buf *to, const char *text, struct lines_opts opts, size_t bytes)
{
	struct jsonl_batch b = JSONL_BATCH_INIT;
	struct lines *l;
	int rc;

	opts.form = LINES_JSON;
	l = open_lines(text, &opts);
	while ((rc = jsonl_batch_read(&b, l, bytes)) > 0) {
		assert_int_equal(jsonl_batch_parse(&b, &plain), 0);
		for (size_t i = 0; i < b.docs.count; i++) {
			const struct jsonl_text id = jsonl_batch_id(&b, i), title = jsonl_batch_title(&b, i);

			assert_int_equal(buf_addf(to, "%.*s|%.*s|%.*s;", (int)id.len, id.text, (int)title.len, title.text,
						  (int)b.docs.items[i].len, b.docs.text.data + b.docs.items[i].start), 0);
		}
	}
	assert_int_equal(rc, 0);
	jsonl_batch_release(&b);
	lines_close(l);
}

static const char three[] = "\xEF\xBB\xBF{\"id\": 7, \"text\": \"a\\r\\n\\n \\u00a0\\n\\ufeffb\"}\r\n"
			    "\n"
			    "{\"title\": \"T\", \"text\": \" \\n\"}\n"
			    "{\"id\": \"x\", \"title\": \"U\", \"text\": \"c\\n\"}\n"
			    "{\"id\": null, \"text\": \"d\"}";

static void a_line_is_a_document(void **state)
{
	struct buf b = BUF_INIT;

	(void)state;
	for (size_t bytes = 1; bytes < 200; bytes += 30) {
		buf_clear(&b);
		show(&b, three, (struct lines_opts){ .threads = 1 }, bytes);
		assert_string_equal(b.data, "7||a\nb\n;x|U|c\n;||d\n;");
	}
	buf_release(&b);
}

/* Whatever the division, the parts give together what there is. */
static void stretches_divide_files(void **state)
{
	struct buf b = BUF_INIT;

	(void)state;
	for (uint64_t at = 1; at < sizeof(three) + 3; at++) {
		buf_clear(&b);
		show(&b, three, (struct lines_opts){ .end = at }, 64);
		show(&b, three, (struct lines_opts){ .begin = at, .end = 1000 }, 64);
		assert_string_equal(b.data, "7||a\nb\n;x|U|c\n;||d\n;");
	}
	buf_release(&b);
}

static void keys_are_those_of_text(void **state)
{
	struct document line = DOCUMENT_INIT, text = DOCUMENT_INIT;
	struct jsonl j = JSONL_INIT;
	uint64_t repaired = 0;
	struct lines *l = open_lines("One.\r\n\xEF\xBB\xBFTwo.\nThree.\n", &(struct lines_opts){ .threads = 1 });

	(void)state;
	assert_int_equal(lines_next_document(l, &text), 1);
	lines_close(l);
	l = open_lines("{\"text\": \"\\nOne.\\r\\n\\n\\ufeffTwo.\\nThree.\"}\n"
		       "{\"text\": \"\\nOne.\\r\\n\\n\\ufeffTwo.\\nThree.\"}\n", &(struct lines_opts){ .form = LINES_JSON });
	assert_int_equal(lines_next_document(l, &line), 1);
	assert_int_equal(jsonl_document(&j, &line, path, &plain, &repaired), 0);
	assert_int_equal(key_compare(line.key, text.key), 0);
	assert_int_equal(line.n_lines, 3);
	assert_int_equal(line.text.len, text.text.len);
	assert_memory_equal(line.text.data, text.text.data, text.text.len);
	assert_int_equal(lines_next_document(l, &line), 1);
	assert_int_equal(jsonl_document(&j, &line, path, &(struct jsonl_how){ .keep_marks = true }, &repaired), 0);
	assert_int_equal(line.text.len, text.text.len + 3);
	lines_close(l);
	jsonl_release(&j);
	document_release(&line);
	document_release(&text);
}

/* What is wrong with the last line of TEXT, read from byte BEGIN on. */
static void fails(const char *text, uint64_t begin, bool strict, const char *says)
{
	struct jsonl_batch b = JSONL_BATCH_INIT;
	struct lines *l = open_lines(text, &(struct lines_opts){ .form = LINES_JSON, .begin = begin, .end = begin ? 1000 : 0 });

	assert_int_equal(jsonl_batch_read(&b, l, 1000), 1);
	assert_int_equal(jsonl_batch_parse(&b, &(struct jsonl_how){ .strict = strict }), -1);
	assert_int_equal(err_code(), EXIT_CORRUPT);
	if (!strstr(err_text(), says) || !strstr(err_text(), path))
		fail_msg("%s", err_text());
	jsonl_batch_release(&b);
	lines_close(l);
}

static void faults_have_a_place(void **state)
{
	(void)state;
	fails("{\"text\": \"a\"}\n\nx\n", 0, false, "', line 3: not JSON");
	fails("{\"text\": \"a\"}\n[]\n", 5, false, "', the line at byte 14: not a JSON object");
	fails("{\"text\": \"a\"}\n{\"id\": 1, \"text\": \"b\", \"id\": 2}\n", 0, false, "', line 2: the object has \"id\" twice");
	fails("{\"text\": \"\\ud800\"}\n", 0, true, "', line 1: half of a surrogate pair stands alone");
}

static void json_is_not_taken_for_text(void **state)
{
	struct lines *l = open_lines(three, &(struct lines_opts){ .form = LINES_NO_JSON });
	struct line line;

	(void)state;
	assert_int_equal(lines_next(l, &line), -1);
	assert_int_equal(err_code(), EXIT_USAGE);
	assert_non_null(strstr(err_text(), "looks like JSON lines"));
	lines_close(l);
	l = open_lines("{a}\n", &(struct lines_opts){ .form = LINES_NO_JSON });
	assert_int_equal(lines_next(l, &line), 1);
	lines_close(l);
	l = open_lines(three, &(struct lines_opts){ .form = LINES_TEXT });
	assert_int_equal(lines_next(l, &line), 1);
	lines_close(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_is_a_document),
		cmocka_unit_test(stretches_divide_files),
		cmocka_unit_test(keys_are_those_of_text),
		cmocka_unit_test(faults_have_a_place),
		cmocka_unit_test(json_is_not_taken_for_text),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
