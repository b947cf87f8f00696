#include "corpus/extract.h"

#include "base/err.h"
#include "base/fs.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static char folder[] = "/tmp/test_extract.XXXXXX";

static int set_up(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	return fs_remove_tree(folder);
}

static char *file(const char *name, const char *bytes, size_t len)
{
	char *path = fs_join(folder, name);

	assert_int_equal(fs_write_all(path, bytes, len), 0);
	return path;
}

static char *file_of(const char *name, const char *text)
{
	return file(name, text, strlen(text));
}

/* Extracts FILES; what came of it goes to TEXT even when it failed. */
static int extract(const struct extract_opts *opts, char *const *files, size_t n, struct buf *text, struct extract_report *report)
{
	char *path = fs_join(folder, "out");
	struct out *out;
	int rc;

	memset(report, 0, sizeof(*report));
	buf_clear(text);
	assert_int_equal(buf_add(text, "", 0), 0);
	assert_int_equal(out_open(&out, path), 0);
	rc = extract_run(opts, (const char *const *)files, n, out, NULL, report);
	if (rc) {
		struct err reason;

		err_get(&reason);
		assert_int_equal(out_commit(out), 0);
		err_put(&reason);
	} else {
		assert_int_equal(out_commit(out), 0);
	}
	assert_int_equal(fs_read_all(path, 1 << 30, text), 0);
	free(path);
	return rc;
}

static void expect(struct extract_opts opts, char *path, const char *want)
{
	struct extract_report report;
	struct buf text = BUF_INIT;

	if (extract(&opts, &path, 1, &text, &report))
		fail_msg("%s", err_text());
	assert_string_equal(text.data, want);
	extract_report_release(&report);
	buf_release(&text);
	free(path);
}

#define DUMP "<mediawiki xml:lang=\"en\"><page><title>Ada</title><ns>0</ns><id>5</id><revision><text>'''Ada''' \"is\".\n\n* x\n\nMore.</text></revision></page>" \
	"<page><title>Talk:Ada</title><ns>1</ns><id>6</id><revision><text>talk</text></revision></page>" \
	"<page><title>Eve</title><ns>0</ns><id>7</id><revision><text>#REDIRECT [[Ada]]</text></revision></page>" \
	"<page><title>Empty</title><ns>0</ns><id>8</id><revision><text>{{stub}}</text></revision></page>"

static void every_kind_is_found_out(void **state)
{
	(void)state;
	expect((struct extract_opts){ 0 }, file_of("a", DUMP "</mediawiki>"), "Ada \"is\".\nMore.\n\n");
	expect((struct extract_opts){ .title = true }, file_of("a", "<?xml version=\"1.0\"?>" DUMP "</mediawiki>"), "Ada\nAda \"is\".\nMore.\n\n");
	expect((struct extract_opts){ .jsonl = true }, file_of("a", DUMP "</mediawiki>"), "{\"id\": \"5\", \"title\": \"Ada\", \"text\": \"Ada \\\"is\\\".\\nMore.\"}\n");
	expect((struct extract_opts){ 0 }, file_of("a", "{\"text\": \"a\\n\\n b  c\", \"title\": \"T\\nU\"}\n\n{\"text\":\"d\"}"), "a\nb c\n\nd\n\n");
	expect((struct extract_opts){ .title = true }, file_of("a", "{\"text\": \"a\", \"title\": \"T\\nU\"}\n"), "T U\na\n\n");
	expect((struct extract_opts){ 0 }, file_of("a", "\xEF\xBB\xBF" "a  b\r\nc\r\n\r\n \r\nd"), "a b\nc\n\nd\n\n");
	expect((struct extract_opts){ 0 }, file_of("a", "{{a text}}\nbegin 644 x"), "{{a text}}\nbegin 644 x\n\n");
	expect((struct extract_opts){ 0 }, file_of("a", "A title\n\n*** START OF THE PROJECT GUTENBERG EBOOK X ***\n\na\nb\n\nc\n"), "a b\nc\n\n");
	expect((struct extract_opts){ .from = RECORD_TEXT }, file_of("a", "Project Gutenberg\na\n"), "Project Gutenberg\na\n\n");
	expect((struct extract_opts){ .from = RECORD_GUTENBERG, .jsonl = true, .chapters = true }, file_of("a", "I\n\na\n\nII\n\nb\n"),
	       "{\"id\": \"1\", \"title\": \"I\", \"text\": \"a\"}\n{\"id\": \"2\", \"title\": \"II\", \"text\": \"b\"}\n");
	expect((struct extract_opts){ 0 }, file_of("a", ""), "");
	expect((struct extract_opts){ 0 }, file("a", "a\0b\xFF\n", 5), "a b\xEF\xBF\xBD\n\n");
}

static void the_language_can_be_given(void **state)
{
	static const char dump[] = "<mediawiki xml:lang=\"en\"><page><title>A</title><ns>0</ns><revision><text>{{unité|5|km}} a</text></revision></page></mediawiki>";

	(void)state;
	expect((struct extract_opts){ 0 }, file_of("a", dump), "a\n\n");
	expect((struct extract_opts){ .lang = "fr" }, file_of("a", dump), "5 km a\n\n");
}

/* Many files of many kinds: the same bytes with one thread and with several. */
static void threads_do_not_show(void **state)
{
	struct buf big = BUF_INIT, one = BUF_INIT, many = BUF_INIT;
	struct extract_report r1, r2;
	char *files[3];

	(void)state;
	assert_int_equal(buf_adds(&big, "<mediawiki>"), 0);
	for (int i = 0; i < 3000; i++)
		assert_int_equal(buf_addf(&big, "<page><title>T%d</title><ns>%d</ns><id>%d</id><revision><text>Page %d {{drop%d}} is '''here'''.\n\nAnd {{convert|%d|km}} on "
						"&lt;ref&gt;x&lt;/ref&gt; and on and on and on and on and on and on and on and on and on and on."
						"</text></revision></page>", i, i % 7 == 0, i, i, i % 50, i), 0);
	assert_int_equal(buf_adds(&big, "</mediawiki>"), 0);
	files[0] = file("big", big.data, big.len);
	files[1] = file_of("text", "a\n\nb\n");
	files[2] = file_of("json", "{\"text\": \"c\"}\n");
	assert_int_equal(extract(&(struct extract_opts){ .threads = 1, .wikitext.count = true }, files, 3, &one, &r1), 0);
	assert_int_equal(extract(&(struct extract_opts){ .threads = 5, .wikitext.count = true }, files, 3, &many, &r2), 0);
	assert_true(one.len > 200000);
	assert_int_equal(one.len, many.len);
	assert_memory_equal(one.data, many.data, one.len);
	assert_int_equal(r1.documents, 2571 + 3);
	assert_int_equal(r1.in.other_namespaces, 429);
	assert_int_equal(r1.templates_total, 2571);
	assert_int_equal(r1.templates.count, 50);
	assert_int_equal(r2.templates.count, 50);
	assert_int_equal(r1.characters_in, r2.characters_in);
	assert_int_equal(r1.characters_out, r2.characters_out);
	assert_int_equal(r1.paragraphs, 2 * 2571 + 3);
	for (int i = 0; i < 3; i++)
		free(files[i]);
	extract_report_release(&r1);
	extract_report_release(&r2);
	buf_release(&big);
	buf_release(&one);
	buf_release(&many);
}

static void what_came_before_a_fault_is_written(void **state)
{
	static const struct {
		const char *bytes, *text, *says;
	} cases[] = {
		{ DUMP "<page>", "Ada \"is\".\nMore.\n\n", "cut short" },
		{ "{\"text\": \"a\"}\n{\"text\": \"b\"}\n{}\n{\"text\": \"c\"}\n", "", "line 3: no string \"text\"" },
		{ "{\"text\": \"a\"}\nnonsense\n", "", "line 2: not JSON" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct extract_report report;
		struct buf text = BUF_INIT;
		char *path = file_of("a", cases[i].bytes);

		assert_int_equal(extract(&(struct extract_opts){ .threads = 2 }, &path, 1, &text, &report), -1);
		assert_int_equal(err_code(), EXIT_CORRUPT);
		if (!strstr(err_text(), cases[i].says) || !strstr(err_text(), path))
			fail_msg("'%s' lacks '%s'", err_text(), cases[i].says);
		assert_string_equal(text.data, cases[i].text);
		extract_report_release(&report);
		buf_release(&text);
		free(path);
	}
}

static void missing_files_are_named(void **state)
{
	struct extract_report report;
	struct buf text = BUF_INIT;
	char *files[] = { file_of("a", "x\n"), fs_join(folder, "missing") };

	(void)state;
	assert_int_equal(extract(&(struct extract_opts){ 0 }, files, 2, &text, &report), -1);
	assert_int_equal(err_code(), EXIT_FAILED);
	assert_non_null(strstr(err_text(), files[1]));
	assert_string_equal(text.data, "x\n\n");
	extract_report_release(&report);
	buf_release(&text);
	free(files[0]);
	free(files[1]);
}

static void the_report_is_json(void **state)
{
	struct extract_report report;
	struct buf text = BUF_INIT;
	char *path = file_of("a", DUMP "<page><title>Z</title><ns>0</ns><revision><text>z {{b \"x\"}}{{a}}{{a}}{{stub}}</text></revision></page></mediawiki>"),
	     *to = fs_join(folder, "report");
	struct out *out;
	json_t *json, *top;

	(void)state;
	assert_int_equal(extract(&(struct extract_opts){ .wikitext.count = true }, &path, 1, &text, &report), 0);
	assert_int_equal(out_open(&out, to), 0);
	assert_int_equal(extract_report_write(&report, out), 0);
	assert_int_equal(out_commit(out), 0);
	json = json_load_file(to, 0, NULL);
	assert_non_null(json);
	assert_int_equal(json_integer_value(json_object_get(json, "pages")), 5);
	assert_int_equal(json_integer_value(json_object_get(json, "redirects")), 1);
	assert_int_equal(json_integer_value(json_object_get(json, "other_namespaces")), 1);
	assert_int_equal(json_integer_value(json_object_get(json, "articles")), 3);
	assert_int_equal(json_integer_value(json_object_get(json, "empty")), 1);
	assert_int_equal(json_integer_value(json_object_get(json, "documents")), 2);
	assert_int_equal(json_integer_value(json_object_get(json, "paragraphs")), 3);
	assert_int_equal(json_integer_value(json_object_get(json, "characters_out")), strlen("Ada \"is\".More.z"));
	assert_true(json_real_value(json_object_get(json, "share_lost")) > 0.5);
	top = json_object_get(json, "templates_dropped");
	assert_int_equal(json_integer_value(json_object_get(top, "total")), 5);
	assert_int_equal(json_integer_value(json_object_get(top, "names")), 3);
	top = json_object_get(top, "top");
	assert_int_equal(json_array_size(top), 3);
	assert_string_equal(json_string_value(json_object_get(json_array_get(top, 0), "name")), "a");
	assert_string_equal(json_string_value(json_object_get(json_array_get(top, 1), "name")), "stub");
	assert_string_equal(json_string_value(json_object_get(json_array_get(top, 2), "name")), "b \"x\"");
	json_decref(json);
	extract_report_release(&report);
	buf_release(&text);
	free(path);
	free(to);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_is_found_out),
		cmocka_unit_test(the_language_can_be_given),
		cmocka_unit_test(threads_do_not_show),
		cmocka_unit_test(what_came_before_a_fault_is_written),
		cmocka_unit_test(missing_files_are_named),
		cmocka_unit_test(the_report_is_json),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
